//! Values of memory, attribute, varying and tile messages.
//!
//! Facts: hardware/valhall-isa.md section 11.

use super::{Word, value};
use crate::arch::ArchSet;

value! {
    /// The scoreboard slot that a message is counted in until it is done.
    Slot, required:
    /// Slot 0.
    Slot0 = 0 "slot0",
    /// Slot 1.
    Slot1 = 1 "slot1",
    /// Slot 2.
    Slot2 = 2 "slot2",
    /// Slot 7: barriers and the tile buffer.
    Slot7 = 7 "slot7",
}

impl Slot {
    /// The number of the slot, 0, 1, 2 or 7.
    pub const fn number(self) -> u8 {
        match self {
            Self::Slot0 => 0,
            Self::Slot1 => 1,
            Self::Slot2 => 2,
            Self::Slot7 => 7,
        }
    }
}

value! {
    /// Hint of a memory access.
    MemoryAccess, None:
    /// An ordinary access.
    None = 0 "",
    /// Position output of a vertex shader.
    Istream = 1 "istream",
    /// Varying output of a vertex shader.
    Estream = 2 "estream",
    /// Thread-local memory; stores are done for helper threads too.
    Force = 3 "force",
}

value! {
    /// Number of components.
    VectorSize, V1:
    /// One.
    V1 = 0 "",
    /// Two.
    V2 = 1 "v2",
    /// Three.
    V3 = 2 "v3",
    /// Four.
    V4 = 3 "v4",
}

impl VectorSize {
    /// How many components, 1 to 4.
    pub const fn components(self) -> u8 {
        self as u8 + 1
    }
}

value! {
    /// Format of the components in registers.
    RegisterFormat, required:
    /// Raw 32 bits, type taken from the memory format.
    Auto = 0 "auto",
    /// 32-bit float.
    F32 = 2 "f32",
    /// 16-bit float.
    F16 = 3 "f16",
    /// 32-bit signed.
    S32 = 4 "s32",
    /// 16-bit signed.
    S16 = 5 "s16",
    /// 32-bit unsigned.
    U32 = 6 "u32",
    /// 16-bit unsigned.
    U16 = 7 "u16",
}

impl RegisterFormat {
    /// Bits of a component: 16 or 32.
    pub const fn bits(self) -> u8 {
        if matches!(self, Self::F16 | Self::S16 | Self::U16) {
            16
        } else {
            32
        }
    }
}

value! {
    /// Format of a varying in memory.
    SourceFormat, required:
    /// 32 bits, not interpolated.
    Flat32 = 0 "src_flat32",
    /// 16 bits, not interpolated.
    Flat16 = 1 "src_flat16",
    /// 32-bit float.
    F32 = 2 "src_f32",
    /// 16-bit float.
    F16 = 3 "src_f16",
}

value! {
    /// Format of a flat varying in memory (v14).
    FlatFormat, required:
    /// 32 bits.
    Flat32 = 2 "flat32",
    /// 16 bits.
    Flat16 = 3 "flat16",
}

value! {
    /// Which vertex of the primitive a flat varying is taken from, where it is named (v14).
    VertexId, None:
    /// The provoking vertex.
    None = 0 "",
    /// The first.
    Vertex0 = 1 "vertex0",
    /// The second.
    Vertex1 = 2 "vertex1",
    /// The third.
    Vertex2 = 3 "vertex2",
}

value! {
    /// Where a varying is sampled.
    SampleMode, required:
    /// Centre of the pixel.
    Center = 0 "center",
    /// A point of the pixel that is covered.
    Centroid = 1 "centroid",
    /// A sample.
    Sample = 2 "sample",
    /// The position in the source.
    Explicit = 3 "explicit",
}

value! {
    /// What a varying load does with the hidden barycentric coordinates.
    UpdateMode, required:
    /// Compute and keep.
    Store = 0 "store",
    /// Use those kept.
    Retrieve = 1 "retrieve",
    /// Compute; what is kept is undefined afterwards.
    Clobber = 3 "clobber",
}

value! {
    /// What an atomic does with memory and its operand.
    AtomicOp, required:
    /// 64-bit only: adds a zero-extended 32-bit value.
    Aaddu = 0 "aaddu",
    /// 64-bit only: adds a sign-extended 32-bit value.
    Aadds = 1 "aadds",
    /// Adds.
    Aadd = 2 "aadd",
    /// Signed minimum.
    Asmin = 8 "asmin",
    /// Signed maximum.
    Asmax = 9 "asmax",
    /// Unsigned minimum.
    Aumin = 10 "aumin",
    /// Unsigned maximum.
    Aumax = 11 "aumax",
    /// And.
    Aand = 12 "aand",
    /// Or.
    Aor = 13 "aor",
    /// Exclusive or.
    Axor = 14 "axor",
    /// Exchange.
    Axchg = 15 "axchg",
}

value! {
    /// An atomic with an implied operand of 1.
    AtomicOp1, required:
    /// Increment.
    Ainc = 0 "ainc",
    /// Decrement.
    Adec = 1 "adec",
    /// Unsigned maximum with 1.
    Aumax1 = 2 "aumax1",
    /// Signed maximum with 1.
    Asmax1 = 3 "asmax1",
    /// Or with 1.
    Aor1 = 4 "aor1",
}

value! {
    /// Which counter LD_GCLK reads.
    GclkSource, required:
    /// Cycles.
    CycleCounter = 6 "cycle_counter",
    /// System time.
    SystemTimestamp = 7 "system_timestamp",
}

value! {
    /// Width of a checked access (v12 and later).
    MemoryWidth, required:
    /// 8 bits.
    I8 = 0 "i8",
    /// 16 bits.
    I16 = 1 "i16",
    /// 24 bits.
    I24 = 2 "i24",
    /// 32 bits.
    I32 = 3 "i32",
    /// 48 bits.
    I48 = 4 "i48",
    /// 64 bits.
    I64 = 5 "i64",
    /// 96 bits.
    I96 = 6 "i96",
    /// 128 bits.
    I128 = 7 "i128",
}

value! {
    /// Where a load puts its value. What each width offers, and its number there, is in the tables of [`LoadLane`].
    LoadLane, Whole:
    /// All of it, nothing widened.
    Whole = 0 "identity",
    /// Byte 0 of one register; the other bytes are kept.
    B0 = 0 "b0",
    /// Byte 1.
    B1 = 0 "b1",
    /// Byte 2.
    B2 = 0 "b2",
    /// Byte 3.
    B3 = 0 "b3",
    /// The low half, widened to 16 bits; the other is kept.
    H0 = 0 "h0",
    /// The high half, widened to 16 bits.
    H1 = 0 "h1",
    /// One register, widened to 32 bits.
    W0 = 0 "w0",
    /// Two registers, widened to 64 bits.
    D0 = 0 "d0",
}

value! {
    /// Which part of its register a narrow store takes. What each width offers is in the tables of [`StoreLane`].
    StoreLane, B0:
    /// Byte 0.
    B0 = 0 "",
    /// Byte 1.
    B1 = 1 "b1",
    /// Byte 2.
    B2 = 2 "b2",
    /// Byte 3.
    B3 = 3 "b3",
    /// The low half.
    H0 = 0 "",
    /// The high half.
    H1 = 1 "h1",
}

#[rustfmt::skip]
impl StoreLane {
    /// Parts that an 8-bit store takes.
    pub(crate) const I8: &'static [Word] = &[
        word(0, Self::B0 as u8, ""), word(1, Self::B1 as u8, "b1"), word(2, Self::B2 as u8, "b2"), word(3, Self::B3 as u8, "b3"),
    ];
    /// Parts that a 16-bit store takes.
    pub(crate) const I16: &'static [Word] = &[word(0, Self::H0 as u8, ""), word(1, Self::H1 as u8, "h1")];
}

const fn lane(value: u8, lane: LoadLane, text: &'static str) -> Word {
    word(value, lane as u8, text)
}

const fn word(value: u8, tag: u8, text: &'static str) -> Word {
    Word {
        value,
        tag,
        text,
        archs: ArchSet::ALL,
    }
}

#[rustfmt::skip]
impl LoadLane {
    /// Places of an 8-bit load.
    pub(crate) const I8: &'static [Word] = &[
        lane(0, Self::B0, "b0"), lane(1, Self::B1, "b1"), lane(2, Self::B2, "b2"), lane(3, Self::B3, "b3"),
        lane(4, Self::H0, "h0"), lane(5, Self::H1, "h1"), lane(6, Self::W0, "w0"), lane(7, Self::D0, "d0"),
    ];
    /// Places of a 16-bit load.
    pub(crate) const I16: &'static [Word] = &[lane(0, Self::H0, "h0"), lane(1, Self::H1, "h1"), lane(2, Self::W0, "w0"), lane(3, Self::D0, "d0")];
    /// Places of a 32-bit load.
    pub(crate) const I32: &'static [Word] = &[lane(0, Self::W0, "w0"), lane(1, Self::D0, "d0")];
    /// The one place of a 24-bit load.
    pub(crate) const I24: &'static [Word] = &[lane(0, Self::Whole, "identity")];
    /// The one place of a 48-bit load.
    pub(crate) const I48: &'static [Word] = &[lane(4, Self::Whole, "identity")];
    /// The one place of a 64-bit or 128-bit load.
    pub(crate) const I64: &'static [Word] = &[lane(7, Self::Whole, "identity")];
    /// The one place of a 96-bit load.
    pub(crate) const I96: &'static [Word] = &[lane(6, Self::Whole, "identity")];
}
