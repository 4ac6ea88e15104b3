//! What every bit of an instruction's word is: for documentation and bit diagrams.
//!
//! Guarantees: the parts of a row cover all 64 bits, each once, from bit 63 down.

use crate::field::{Field, Immediate};
use crate::row::{Access, DestKind, Row, SelectField};

/// Bits of a word that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    /// The lowest.
    pub pos: u8,
    /// How many.
    pub width: u8,
    /// What they are.
    pub what: What,
}

/// What bits of a word are.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// Must hold this value: bit 63, the placeholder of instructions without destination, bits of no field.
    Fixed(u64),
    /// Flow control.
    Flow,
    /// Page of uniforms and special values.
    Page,
    /// The opcode or a part of it, with its value.
    Opcode(u64),
    /// Number of the destination register.
    Dest,
    /// Which halves of the destination are written.
    DestMask,
    /// First register of a staging range.
    StagingFirst(Access),
    /// Count of a staging range, less its bias.
    StagingCount {
        /// Read or written.
        access: Access,
        /// What is added to the bits for the count.
        bias: u8,
    },
    /// Direction of the staging ranges: must hold this value (1 read, 2 written, 3 both).
    Direction(u8),
    /// Source byte.
    Source(u8),
    /// Negates a source.
    Neg(u8),
    /// Takes the absolute value of a source.
    Abs(u8),
    /// Inverts a source.
    Not(u8),
    /// Selects the lanes of a source.
    Select(u8, SelectField),
    /// A modifier.
    Field(&'static Field),
    /// An immediate, or one part of it.
    Immediate(&'static Immediate),
}

impl Row {
    /// All bits of the word, from bit 63 down.
    pub fn bits(&'static self) -> impl Iterator<Item = Bits> {
        let mut end = 64;
        core::iter::from_fn(move || {
            if end == 0 {
                return None;
            }
            let bits = self.bits_below(end);
            end = bits.pos;
            Some(bits)
        })
    }

    /// The bits that bit `end` - 1 belongs to.
    fn bits_below(&'static self, end: u8) -> Bits {
        let top = 1 << (end - 1);
        let what = self.what(top);
        // A part reaches down as far as its own mask does.
        let mask = match what {
            Some((_, mask)) => mask,
            None => !self.claimed(),
        };
        let mut pos = end - 1;
        while pos > 0 && (mask >> (pos - 1)) & 1 != 0 {
            pos -= 1;
        }
        let width = end - pos;
        let what = match what {
            Some((What::Opcode(_), _)) => What::Opcode(extract(self.matches.value, pos, width)),
            Some((What::Fixed(_), _)) => What::Fixed(extract(self.fixed.value, pos, width)),
            Some((what, _)) => what,
            None => What::Fixed(0),
        };
        Bits { pos, width, what }
    }

    /// What a bit belongs to, with all bits of that part; `None` for bits of no field.
    fn what(&'static self, bit: u64) -> Option<(What, u64)> {
        let one = |pos: Option<u8>| pos.map_or(0, |pos| 1 << pos);
        let mut parts = Parts { bit, found: None };
        parts.try_part(What::Flow, 0xF << 59);
        for field in self.fields {
            parts.try_part(What::Field(field), field.mask());
        }
        parts.try_part(What::Opcode(0), self.matches.mask);
        parts.try_part(What::Fixed(0), self.fixed.mask);
        for immediate in self.immediates {
            parts.try_part(What::Immediate(immediate), immediate.mask());
        }
        for (index, source) in self.sources.iter().enumerate() {
            let index = index as u8;
            parts.try_part(What::Page, 0b11 << 57);
            parts.try_part(What::Source(index), 0xFF << source.pos);
            parts.try_part(What::Neg(index), one(source.neg));
            parts.try_part(What::Abs(index), one(source.abs));
            parts.try_part(What::Not(index), one(source.not));
            if let Some(select) = source.select {
                parts.try_part(
                    What::Select(index, select),
                    ((1 << select.width) - 1) << select.pos,
                );
            }
        }
        for staging in self.staging {
            parts.try_part(What::StagingFirst(staging.access), 0x3F << staging.pos);
            if let Some(pos) = staging.count {
                parts.try_part(
                    What::StagingCount {
                        access: staging.access,
                        bias: staging.bias,
                    },
                    0x7 << pos,
                );
            }
            if let Some(control) = staging.control {
                parts.try_part(What::Direction(control), 0b11 << 46);
            }
        }
        if self.dest != DestKind::None {
            parts.try_part(What::Dest, 0x3F << 40);
            parts.try_part(What::DestMask, 0b11 << 46);
        }
        parts.found
    }
}

/// A search for the part that a bit belongs to; the first that has it counts.
struct Parts {
    bit: u64,
    found: Option<(What, u64)>,
}

impl Parts {
    fn try_part(&mut self, what: What, mask: u64) {
        if self.found.is_none() && mask & self.bit != 0 {
            self.found = Some((what, mask));
        }
    }
}

/// `width` bits of `word` from `pos` on.
const fn extract(word: u64, pos: u8, width: u8) -> u64 {
    let bits = word >> pos;
    if width >= 64 {
        bits
    } else {
        bits & ((1 << width) - 1)
    }
}
