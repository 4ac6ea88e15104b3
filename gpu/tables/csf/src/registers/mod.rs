//! Registers in the GPU's window, block by block, and the search by name or offset.
//!
//! Guarantees: every register of the facts has one row here; 64-bit registers are one row.  A 64-bit register is
//! accessed as two 32-bit words, low first.  Offsets without a row are reserved.
//! Facts: hardware/csf-mmio.md sections 2 to 15, gpu-mmu.md section 2.

pub mod identity;

pub mod control;

pub mod power;

pub mod mcu;

pub mod interrupts;

pub mod address_space;

pub mod doorbell;

// Architecture 14 only.
pub mod pwr_control;

pub mod debug;

use crate::table::{Block, Register};

/// All blocks of the window, in the order of the address map.
pub static BLOCKS: [&Block; 12] = [
    &identity::GPU_IDENTITY,
    &interrupts::GPU_IRQ_BLOCK,
    &control::GPU_CONTROL,
    &power::GPU_POWER,
    &mcu::MCU,
    &pwr_control::PWR_CONTROL,
    &interrupts::JOB_CONTROL,
    &interrupts::MMU_CONTROL,
    &address_space::ADDRESS_SPACE,
    &doorbell::DOORBELLS,
    &debug::CSHW,
    &debug::IPA_CONTROL,
];

/// Bytes of the window that hold everything but the doorbells above number 23; boards may map more.
pub const WINDOW_BYTES: u32 = 0x20_0000;

/// The register at this offset of the window: which row, which number of a repeated one, and whether it is the high
/// word of a 64-bit register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The row, with its own number's offset.
    pub register: Register,
    /// Which one of a repeated register; 0 for others.
    pub index: u32,
    /// Whether the offset names the high word.
    pub high_word: bool,
}

/// The register that a 32-bit access at `offset` reaches; `None` where the offset is reserved or not aligned.
pub fn at_offset(offset: u32) -> Option<Found> {
    BLOCKS
        .iter()
        .flat_map(|block| block.registers)
        .find_map(|row| {
            let distance = offset.checked_sub(row.offset)?;
            let (index, rest) = match row.stride {
                0 => (0, distance),
                stride => (distance / stride, distance % stride),
            };
            let inside = index < row.count && rest % 4 == 0 && rest < row.width.bytes();
            inside.then(|| Found {
                register: row.at(index),
                index,
                high_word: rest == 4,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_registers_of_the_window_share_a_word() {
        let mut words = std::collections::BTreeMap::new();
        for row in BLOCKS.iter().flat_map(|block| block.registers) {
            for index in 0..row.count {
                let offset = row.at(index).offset;
                for word in (offset..offset + row.width.bytes()).step_by(4) {
                    let other = words.insert(word, row.name);
                    assert_eq!(other, None, "{:#x} is in {} too", word, row.name);
                }
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names = std::collections::BTreeSet::new();
        for row in BLOCKS.iter().flat_map(|block| block.registers) {
            assert!(names.insert(row.name), "{}", row.name);
        }
    }

    #[track_caller]
    fn check(offset: u32, expected: Option<(&str, u32, bool)>) {
        let got = at_offset(offset).map(|it| (it.register.name, it.index, it.high_word));
        assert_eq!(got, expected, "offset {offset:#x}");
    }

    #[test]
    fn an_offset_leads_to_its_register() {
        check(0x000, Some(("GPU_ID", 0, false)));
        check(0x164, Some(("L2_READY", 0, true)));
        check(0x0B8, Some(("TEXTURE_FEATURES", 2, false)));
        check(
            0x2400 + 0x40 * 15 + 0x24,
            Some(("AS_FAULTADDRESS", 15, true)),
        );
        check(0x80000 + 0x10000 * 63, Some(("DOORBELL", 63, false)));
        check(0x80000 + 0x10000 * 64, None);
        check(0x02E, None);
        check(0x134, None);
        check(0x2400 + 0x40 * 16, None);
    }
}
