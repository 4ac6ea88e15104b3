//! What every bit of an instruction's word is: for documentation and bit diagrams.
//!
//! Guarantees: the parts of a row cover all 64 bits, each once, from bit 63 down.

use crate::arch::Arch;
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
    /// Ignored by the hardware; written as 0.
    Ignored,
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
    /// All bits of the word on `arch`, from bit 63 down.
    pub fn bits(&'static self, arch: Arch) -> impl Iterator<Item = Bits> {
        let mut end = 64;
        core::iter::from_fn(move || {
            if end == 0 {
                return None;
            }
            let bits = self.bits_below(end, arch);
            end = bits.pos;
            Some(bits)
        })
    }

    /// The bits that bit `end` - 1 belongs to.
    fn bits_below(&'static self, end: u8, arch: Arch) -> Bits {
        let top = 1 << (end - 1);
        let (mut found, mut claimed) = (None, 0);
        self.parts(arch, |what, mask| {
            claimed |= mask;
            if found.is_none() && mask & top != 0 {
                found = Some((what, mask));
            }
        });
        // A part reaches down as far as its own mask does.
        let mask = found.map_or(!claimed, |(_, mask)| mask);
        let mut pos = end - 1;
        while pos > 0 && (mask >> (pos - 1)) & 1 != 0 {
            pos -= 1;
        }
        let width = end - pos;
        let what = match found {
            Some((What::Opcode(_), _)) => What::Opcode(extract(self.matches.value, pos, width)),
            Some((What::Fixed(_), _)) => What::Fixed(extract(self.fixed.value, pos, width)),
            Some((what, _)) => what,
            None => What::Fixed(0),
        };
        Bits { pos, width, what }
    }

    /// Gives `part` every part of the word on `arch` with its bits; of two that share a bit the first counts. What the hardware
    /// demands to be 0 is no part.
    fn parts(&'static self, arch: Arch, mut part: impl FnMut(What, u64)) {
        let one = |pos: Option<u8>| pos.map_or(0, |pos| 1 << pos);
        part(What::Flow, 0xF << 59);
        for field in self.fields_on(arch) {
            if field.exists(arch) {
                part(What::Field(field), field.mask());
            }
        }
        part(What::Opcode(0), self.matches.mask);
        part(What::Fixed(0), self.fixed.mask);
        part(What::Ignored, self.ignored);
        for immediate in self.immediates_on(arch) {
            part(What::Immediate(immediate), immediate.mask());
        }
        for (index, source) in self.sources.iter().enumerate() {
            let index = index as u8;
            part(What::Page, 0b11 << 57);
            part(What::Source(index), 0xFF << source.pos);
            part(What::Neg(index), one(source.neg));
            part(What::Abs(index), one(source.abs));
            part(What::Not(index), one(source.not));
            if let Some(select) = source.select
                && select.legal.on_arch(arch) != 1
            {
                let mask = ((1 << select.width) - 1) << select.pos;
                part(What::Select(index, select), mask);
            }
        }
        for staging in self.staging {
            part(What::StagingFirst(staging.access), 0x3F << staging.pos);
            if let Some(pos) = staging.count {
                let what = What::StagingCount {
                    access: staging.access,
                    bias: staging.bias,
                };
                part(what, ((1 << staging.count_width) - 1) << pos);
            }
            if let Some(control) = staging.control {
                part(What::Direction(control), 0b11 << 46);
            }
        }
        if self.dest != DestKind::None {
            part(What::Dest, 0x3F << 40);
            part(What::DestMask, 0b11 << 46);
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
