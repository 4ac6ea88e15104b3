//! BC1 to BC5: two end points and indices, of colours or of one component.
//!
//! Facts: hardware/graphics-compression.md 4.
// FACT: how thirds of BC1 to BC3 colours are rounded is not established; they are cut off (graphics-compression.md 4, free choice).
// Settled by sampling a BC1 block of end points 0 and 1 of 31 on any board.

/// The colour of a texel. A block that stands alone, without alpha of its own, has a transparent colour if it asks for it.
pub(super) fn colour(block: u64, alone: bool, [x, y]: [u32; 2]) -> [u8; 4] {
    let ends = [block as u16, (block >> 16) as u16];
    let [first, second] = ends.map(expanded);
    let index = block >> (32 + 2 * (4 * y + x)) & 3;
    let four = !alone || ends[0] > ends[1];
    let mixed = |first_part: u32, second_part: u32| {
        let component = |at: usize| {
            let sum = u32::from(first[at]) * first_part + u32::from(second[at]) * second_part;
            (sum / (first_part + second_part)) as u8
        };
        [component(0), component(1), component(2), 255]
    };
    match index {
        0 => mixed(1, 0),
        1 => mixed(0, 1),
        2 if four => mixed(2, 1),
        2 => mixed(1, 1),
        _ if four => mixed(1, 2),
        _ => [0; 4],
    }
}

/// A colour of 5, 6 and 5 bits, red in the highest.
fn expanded(colour: u16) -> [u8; 3] {
    let five = |value: u16| (value << 3 | value >> 2) as u8;
    let green = colour >> 5 & 0x3f;
    [
        five(colour >> 11),
        (green << 2 | green >> 4) as u8,
        five(colour & 0x1f),
    ]
}

/// A component of BC4, exactly: a numerator and a denominator, in 255ths, or 127ths if it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    pub(super) numerator: i32,
    pub(super) denominator: i32,
}

impl Ratio {
    /// 255ths, cut off as the colours beside it are. It is not signed.
    // FACT: graphics-compression.md 4 says that BC3's alpha is rounded, its vectors cut it off. Settled by sampling a BC3 block
    // whose alpha is between two of 255ths on any board.
    pub(super) fn byte(self) -> u8 {
        (self.numerator / self.denominator) as u8
    }

    /// The nearest number of 16 bits.
    pub(super) fn word(self, signed: bool) -> u16 {
        if signed {
            self.nearest(32767, 127) as u16
        } else {
            self.nearest(257, 1) as u16
        }
    }

    /// The integer nearest to this times `up` over `down`.
    fn nearest(self, up: i32, down: i32) -> i32 {
        let denominator = 2 * self.denominator * down;
        (2 * self.numerator * up + self.denominator * down).div_euclid(denominator)
    }
}

/// The component of a texel.
pub(super) fn single(block: u64, signed: bool, [x, y]: [u32; 2]) -> Ratio {
    let end = |byte: u8| {
        if signed {
            i32::from(byte as i8).max(-127)
        } else {
            byte.into()
        }
    };
    let (first, second) = (end(block as u8), end((block >> 8) as u8));
    let index = (block >> (16 + 3 * (4 * y + x)) & 7) as i32;
    let whole = |numerator| Ratio {
        numerator,
        denominator: 1,
    };
    let mixed = |steps: i32| Ratio {
        numerator: (steps + 1 - index) * first + (index - 1) * second,
        denominator: steps,
    };
    match index {
        0 => whole(first),
        1 => whole(second),
        _ if first > second => mixed(7),
        6 => whole(if signed { -127 } else { 0 }),
        7 => whole(if signed { 127 } else { 255 }),
        _ => mixed(5),
    }
}
