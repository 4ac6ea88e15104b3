//! Which registers an instruction reads and writes.
//!
//! Guarantees: operands in fields, under the conditions of their rows; staging registers (what jobs read beside their
//! fields) are told apart.  Facts: hardware/command-stream.md 3 (R and W), 4.

use crate::arch::Arch;
use crate::field::{Access, Extent, FieldInfo, FieldKind, When};
use crate::instr::{EncodeError, Instr};
use crate::register::{RegMask, RegSet};
use crate::table::Info;

/// The registers that an instruction uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read as operands.
    pub reads: RegSet,
    /// Written.
    pub writes: RegSet,
    /// Read by the job that it starts, beside its operands.
    pub staging: RegSet,
}

impl Info {
    /// The registers that `word`, which is this instruction on `arch`, uses.
    pub fn usage(&self, word: u64, arch: Arch) -> Usage {
        let mut usage = self.operands(word, arch);
        if let Some(map) = self.staging {
            usage.staging = map.registers(self, word, arch);
        }
        usage
    }

    /// The same without what a job reads beside its operands.
    pub(crate) fn operands(&self, word: u64, arch: Arch) -> Usage {
        let mut usage = Usage::default();
        for field in self.fields {
            let registers = match field.columns.access {
                Access::None => continue,
                _ if !self.is_used(field, word, arch) => continue,
                Access::Read => &mut usage.reads,
                Access::Write => &mut usage.writes,
            };
            *registers = registers.union(self.registers_of(field, word, arch));
        }
        usage
    }

    /// The bits that the named field of `word` holds; 0 where `arch` has no such field.
    pub fn field_bits(&self, name: &str, word: u64, arch: Arch) -> u64 {
        let bits = self.field(name).and_then(|field| field.bits(arch));
        bits.map_or(0, |bits| bits.of(word))
    }

    fn is_used(&self, field: &FieldInfo, word: u64, arch: Arch) -> bool {
        match field.columns.when {
            When::Always => true,
            When::Is(field, value) => self.field_bits(field, word, arch) == value,
            When::IsNot(field, value) => self.field_bits(field, word, arch) != value,
        }
    }

    fn registers_of(&self, field: &FieldInfo, word: u64, arch: Arch) -> RegSet {
        let first = field.bits(arch).map_or(0, |bits| bits.of(word)) as u16;
        let run = |count: u16| (first..first + count).fold(RegSet::EMPTY, RegSet::with);
        match field.columns.extent {
            Extent::Kind if field.kind == FieldKind::Pair => run(2),
            Extent::Kind => run(1),
            Extent::Count(count) => run(self.field_bits(count, word, arch) as u8 as u16),
            Extent::Mask(mask) => {
                let mask = RegMask::new(self.field_bits(mask, word, arch) as u16);
                let register = |offset: u8| first + u16::from(offset);
                mask.offsets()
                    .map(register)
                    .fold(RegSet::EMPTY, RegSet::with)
            }
        }
    }
}

impl Instr {
    /// The registers that it uses on `arch`.
    ///
    /// # Errors
    /// `arch` has no word for it.
    pub fn usage(&self, arch: Arch) -> Result<Usage, EncodeError> {
        Ok(self.info().usage(self.encode(arch)?, arch))
    }
}
