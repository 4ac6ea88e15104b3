//! The layout of a sample in memory: which block stands where.
//!
//! Facts: hardware/csf-perfcnt.md sections 1 and 2.

use super::BlockKind;
use crate::arch::Arch;

/// Words of a block's header. Counters follow.
pub const HEADER_WORDS: u32 = 4;

/// Words of a block's header.
pub mod header {
    /// Time of the sample, low word.
    pub const TIMESTAMP_LOW: u32 = 0;
    /// Time of the sample, high word (inferred).
    pub const TIMESTAMP_HIGH: u32 = 1;
    /// The enable mask that was in force; 0: the block was off or is absent, ignore it.
    pub const ENABLE_MASK: u32 = 2;
}

/// Where the blocks of a sample stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleLayout {
    /// Bytes of a block: a multiple of 256.
    pub block_bytes: u32,
    /// Blocks of the firmware at the front; their contents are not established.
    pub firmware_blocks: u32,
    /// Slices of the L2.
    pub l2_slices: u32,
    /// Positions of shader cores, up to the highest that is present.
    pub shader_positions: u32,
}

impl SampleLayout {
    /// From the registers: `PRFCNT_FEATURES` (ignored on v10, which lacks it), how many firmware blocks there are, slices
    /// of the L2 (`MEM_FEATURES`), and `SHADER_PRESENT`.
    pub const fn new(
        arch: Arch,
        prfcnt_features: u32,
        firmware_blocks: u32,
        l2_slices: u32,
        shader_present: u64,
    ) -> SampleLayout {
        let units = if arch as u8 >= Arch::V11 as u8 {
            prfcnt_features & 0xFF
        } else {
            1
        };
        SampleLayout {
            block_bytes: units * 256,
            firmware_blocks,
            l2_slices,
            shader_positions: u64::BITS - shader_present.leading_zeros(),
        }
    }

    /// Blocks of the hardware.
    pub const fn hardware_blocks(&self) -> u32 {
        2 + self.l2_slices + self.shader_positions
    }

    /// Bytes of the hardware part: `GLB_PRFCNT_SIZE.HARDWARE` counts them in units of 256.
    pub const fn hardware_bytes(&self) -> u32 {
        self.hardware_blocks() * self.block_bytes
    }

    /// Bytes of a sample.
    pub const fn bytes(&self) -> u32 {
        self.firmware_blocks * self.block_bytes + self.hardware_bytes()
    }

    /// How many blocks of a kind there are.
    pub const fn count(&self, kind: BlockKind) -> u32 {
        match kind {
            BlockKind::FrontEnd | BlockKind::Tiler => 1,
            BlockKind::MemorySystem => self.l2_slices,
            BlockKind::ShaderCore => self.shader_positions,
        }
    }

    /// Offset in bytes of block `instance` of a kind in a sample; `None` if there are not so many.
    pub const fn offset(&self, kind: BlockKind, instance: u32) -> Option<u32> {
        if instance >= self.count(kind) {
            return None;
        }
        let before = match kind {
            BlockKind::FrontEnd => 0,
            BlockKind::Tiler => 1,
            BlockKind::MemorySystem => 2,
            BlockKind::ShaderCore => 2 + self.l2_slices,
        };
        Some((self.firmware_blocks + before + instance) * self.block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked examples of csf-perfcnt.md 1.
    #[test]
    fn samples_of_parts_that_people_have() {
        let check = |layout: SampleLayout, blocks, units| {
            assert_eq!(layout.hardware_blocks(), blocks);
            assert_eq!(layout.hardware_bytes() / 256, units);
        };
        check(SampleLayout::new(Arch::V10, 0, 0, 4, 0x50005), 25, 25);
        check(SampleLayout::new(Arch::V10, 0, 0, 1, 1), 4, 4);
        check(SampleLayout::new(Arch::V13, 2, 0, 4, 0x00EE_0077), 30, 60);
    }

    #[test]
    fn blocks_stand_one_behind_the_other() {
        let layout = SampleLayout::new(Arch::V11, 2, 1, 2, 0x5);
        let mut expected = 512;
        for kind in BlockKind::ALL {
            for instance in 0..layout.count(kind) {
                assert_eq!(
                    layout.offset(kind, instance),
                    Some(expected),
                    "{kind} {instance}"
                );
                expected += 512;
            }
            assert_eq!(layout.offset(kind, layout.count(kind)), None);
        }
        assert_eq!(expected, layout.bytes());
    }
}
