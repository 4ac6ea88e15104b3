//! Lanes: a register of a warp, and the types of the parts that one operation treats alike.
//!
//! Registers are kept as an array over the threads of the warp, so that an operation is one loop that the host's vector
//! unit can run. A *lane* is a thread's place in the warp; a *part* is a byte, half or word inside its register.

/// Threads of a warp. Facts: hardware/valhall-isa.md 14.
pub const WARP: usize = 16;

/// One 32-bit register of a warp, a word a thread.
pub type Lanes = [u32; WARP];

/// The bit of each lane in a mask of lanes.
const BITS: Lanes = {
    let mut bits = [0; WARP];
    let mut lane = 0;
    while lane < WARP {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// The lanes for which `holds`, a bit a lane.
#[inline(always)]
pub(crate) fn lanes_where(holds: impl Fn(usize) -> bool) -> u16 {
    // A sum of selected bits is what compilers turn into vector code; shifts by the lane are not.
    let bits = BITS.iter().enumerate();
    bits.fold(0, |mask, (lane, bit)| {
        mask | if holds(lane) { *bit } else { 0 }
    }) as u16
}

/// All ones in the lanes of a mask, 0 elsewhere.
#[inline(always)]
pub(crate) fn spread(lanes: u16) -> Lanes {
    BITS.map(|bit| {
        if u32::from(lanes) & bit != 0 {
            u32::MAX
        } else {
            0
        }
    })
}

/// The value of some lanes, if it is the same in all of them; `None` also of no lanes.
#[inline]
pub(crate) fn uniform(values: &Lanes, lanes: u16) -> Option<u32> {
    let value = *values.get(lanes.trailing_zeros() as usize)?;
    let differs = if lanes == u16::MAX {
        differences(values, value)
    } else {
        let running = values.iter().zip(spread(lanes));
        running.fold(0, |all, (it, runs)| all | (it ^ value) & runs)
    };
    (differs == 0).then_some(value)
}

/// Bits in which any lane differs. It stands alone, so that it is vector code.
#[inline(never)]
fn differences(values: &Lanes, value: u32) -> u32 {
    values.iter().fold(0, |all, it| all | (it ^ value))
}

/// Two registers of a warp as one 64-bit value a thread.
pub(crate) type WideLanes = [u64; WARP];

/// The integer parts of a 32-bit register that an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Four unsigned bytes.
    U8,
    /// Four signed bytes.
    S8,
    /// Two unsigned halves.
    U16,
    /// Two signed halves.
    S16,
    /// One unsigned word.
    U32,
    /// One signed word.
    S32,
}

impl Part {
    /// Bits of one part.
    pub const fn bits(self) -> u32 {
        match self {
            Part::U8 | Part::S8 => 8,
            Part::U16 | Part::S16 => 16,
            Part::U32 | Part::S32 => 32,
        }
    }

    /// Whether the parts are signed.
    pub const fn signed(self) -> bool {
        matches!(self, Part::S8 | Part::S16 | Part::S32)
    }

    /// The nearest value that a part can hold.
    pub(crate) fn saturate(self, value: i128) -> i64 {
        let bits = self.bits();
        let (low, high) = if self.signed() {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        value.clamp(low, high) as i64
    }

    /// Sets every part of `out` to `f` of the same parts of the sources; of the result only the part's bits count.
    #[inline(always)]
    pub(crate) fn map<const N: usize>(
        self,
        sources: [&Lanes; N],
        out: &mut Lanes,
        f: impl Fn([i64; N]) -> i64,
    ) {
        match self {
            Part::U32 => words(sources, out, |w| f(wide(w)) as u32),
            Part::S32 => words(sources, out, |w| f(wide(signed_words(w))) as u32),
            Part::U16 => halves(sources, out, |h| f(wide(h)) as u16),
            Part::S16 => halves(sources, out, |h| f(wide(signed_halves(h))) as u16),
            Part::U8 => bytes(sources, out, |b| f(wide(b)) as u8),
            Part::S8 => bytes(sources, out, |b| f(wide(signed_bytes(b))) as u8),
        }
    }
}

// The operations below are compiled once for each `f`; what does not depend on it stands in functions of its own.

#[inline(always)]
fn wide<const N: usize, T: Into<i64>>(parts: [T; N]) -> [i64; N] {
    parts.map(T::into)
}

#[inline(always)]
fn signed_words<const N: usize>(words: [u32; N]) -> [i32; N] {
    words.map(u32::cast_signed)
}

#[inline(always)]
fn signed_halves<const N: usize>(halves: [u16; N]) -> [i16; N] {
    halves.map(u16::cast_signed)
}

#[inline(always)]
fn signed_bytes<const N: usize>(bytes: [u8; N]) -> [i8; N] {
    bytes.map(u8::cast_signed)
}

/// The words of one lane.
#[inline(always)]
fn of_lane<const N: usize>(sources: [&Lanes; N], lane: usize) -> [u32; N] {
    sources.map(|source| source[lane])
}

/// Half 0 or 1 of each word.
#[inline(always)]
fn halves_at<const N: usize>(words: [u32; N], index: usize) -> [u16; N] {
    words.map(|word| (word >> (16 * index)) as u16)
}

/// Byte 0 to 3 of each word.
#[inline(always)]
fn bytes_at<const N: usize>(words: [u32; N], index: usize) -> [u8; N] {
    words.map(|word| (word >> (8 * index)) as u8)
}

/// Sets every word of `out` to `f` of the same words of the sources.
#[inline(always)]
pub(crate) fn words<const N: usize>(
    sources: [&Lanes; N],
    out: &mut Lanes,
    f: impl Fn([u32; N]) -> u32,
) {
    for (lane, out) in out.iter_mut().enumerate() {
        *out = f(of_lane(sources, lane));
    }
}

/// Sets every half of `out` to `f` of the same halves of the sources.
#[inline(always)]
pub(crate) fn halves<const N: usize>(
    sources: [&Lanes; N],
    out: &mut Lanes,
    f: impl Fn([u16; N]) -> u16,
) {
    words(sources, out, |w| {
        let (low, high) = (f(halves_at(w, 0)), f(halves_at(w, 1)));
        u32::from(low) | u32::from(high) << 16
    });
}

/// Sets every byte of `out` to `f` of the same bytes of the sources.
#[inline(always)]
pub(crate) fn bytes<const N: usize>(
    sources: [&Lanes; N],
    out: &mut Lanes,
    f: impl Fn([u8; N]) -> u8,
) {
    words(sources, out, |w| {
        let byte = |index| f(bytes_at(w, index));
        u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    });
}
