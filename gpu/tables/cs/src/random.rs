//! Random legal instructions, for tests and fuzzing.

use crate::arch::Arch;
use crate::field::FieldKind;
use crate::instr::INSTRUCTIONS;
use crate::table::Info;

impl Info {
    /// A legal word of this instruction on `arch`, its fields from `random` bits; every legal word can come out.
    pub fn random_word(&self, arch: Arch, mut random: impl FnMut() -> u64) -> u64 {
        let mut word = self.fixed_bits();
        for field in self.fields {
            let Some(bits) = field.bits(arch) else {
                continue;
            };
            let any = random();
            let value = match field.kind {
                FieldKind::Enum(info) => {
                    let count = info.values.len() as u64;
                    let index = any.checked_rem(count).unwrap_or(0);
                    info.values
                        .get(index as usize)
                        .map_or(0, |value| value.code)
                }
                FieldKind::Pair => any & !1,
                _ => any,
            };
            word |= (value & bits.max()) << bits.low;
        }
        word
    }
}

/// A legal word of any instruction of `arch`, from `random` bits.
pub fn random_word(arch: Arch, mut random: impl FnMut() -> u64) -> u64 {
    let has = |info: &&&Info| info.archs.contains(arch);
    let rows = || INSTRUCTIONS.iter().filter(has);
    let index = random() % rows().count() as u64;
    match rows().nth(index as usize) {
        Some(info) => info.random_word(arch, random),
        None => 0, // every architecture has rows; 0 is NOP
    }
}
