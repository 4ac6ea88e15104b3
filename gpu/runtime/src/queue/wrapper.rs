//! The wrapper of a job: what the ring holds for it.
//!
//! Flush, call, wait for everything, add one to the sync object, and end the range that a fault affects.
//! Facts: hardware/csf-scheduling.md section 4, command-stream.md sections 6.20 and 7.6.

use crate::vm::GpuAddress;
use eitri_cs::enums::{FlushMode, OtherFlushMode};
use eitri_cs::instr::{Call, ErrorBarrier, FlushCache2, Move32, Move48, SyncAdd64, Wait};
use eitri_cs::{Arch, EncodeError, Pair, Slot, SlotMask};
use eitri_csf::registers::doorbell::FLUSH_ALWAYS;
use thiserror::Error;

/// Words of a wrapper: padded to whole lines of 64 bytes, as the prefetcher works in lines.
pub(crate) const WRAPPER_WORDS: usize = 16;

/// What a wrapper needs to know of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamShape {
    arch: Arch,
    address: Pair,
    value: Pair,
    slots: SlotMask,
}

/// A stream that no wrapper can be written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a stream of {registers} registers and {scoreboards} scoreboards can't be used")]
pub struct UnusableStream {
    /// Work registers.
    pub registers: u32,
    /// Scoreboard entries.
    pub scoreboards: u32,
}

impl StreamShape {
    /// The top four registers are the wrapper's; called code must not rely on them.
    pub(crate) fn new(
        arch: Arch,
        registers: u32,
        scoreboards: u32,
    ) -> Result<StreamShape, UnusableStream> {
        let unusable = UnusableStream {
            registers,
            scoreboards,
        };
        let pair = |below| {
            let number = registers.checked_sub(below)?;
            Pair::new(u8::try_from(number).ok()?)
        };
        let slots = u8::try_from(scoreboards)
            .ok()
            .filter(|count| (1..=16).contains(count));
        Ok(StreamShape {
            arch,
            address: pair(4).ok_or(unusable)?,
            value: pair(2).ok_or(unusable)?,
            slots: SlotMask::first(slots.ok_or(unusable)?),
        })
    }
}

/// The words that call `bytes` of instructions at `start` and then signal the sync object at `sync`.
pub(crate) fn wrapper(
    shape: &StreamShape,
    start: GpuAddress,
    bytes: u32,
    sync: GpuAddress,
) -> Result<[u64; WRAPPER_WORDS], EncodeError> {
    let StreamShape {
        arch,
        address,
        value,
        slots,
    } = *shape;
    let flush = Slot::default();
    let set_address = |to: GpuAddress| {
        Move48 {
            destination: address,
            immediate: to.0,
        }
        .encode(arch)
    };
    let set_value = |immediate| {
        Move32 {
            destination: value.low(),
            immediate,
        }
        .encode(arch)
    };
    let wait = |wait_mask| {
        Wait {
            wait_mask,
            ..Wait::default()
        }
        .encode(arch)
    };
    Ok([
        set_value(FLUSH_ALWAYS)?,
        FlushCache2 {
            l2_flush_mode: FlushMode::CleanAndInvalidate,
            lsc_flush_mode: FlushMode::CleanAndInvalidate,
            other_flush_mode: OtherFlushMode::Invalidate,
            latest_flush_id: value.low(),
            signal_slot: flush,
            ..FlushCache2::default()
        }
        .encode(arch)?,
        set_address(start)?,
        set_value(bytes)?,
        wait(flush.mask())?,
        Call {
            address,
            length: value.low(),
        }
        .encode(arch)?,
        set_address(sync)?,
        Move48 {
            destination: value,
            immediate: 1,
        }
        .encode(arch)?,
        wait(slots)?,
        SyncAdd64 {
            address,
            data: value,
            error_propagate: true,
            ..SyncAdd64::default()
        }
        .encode(arch)?,
        ErrorBarrier {}.encode(arch)?,
        0,
        0,
        0,
        0,
        0,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked ring entry of hardware/command-stream.md section 7.6, but for the flush id.
    #[test]
    fn the_worked_ring_entry() {
        let shape = StreamShape::new(Arch::V10, 96, 8).expect("G610");
        let words = wrapper(
            &shape,
            GpuAddress(0x41_0004_0000),
            0x108,
            GpuAddress(0x8000_0000_1000),
        );
        let expected = [
            0x025e_0000_0000_0000,
            0x2400_5e00_0000_0233,
            0x015c_0041_0004_0000,
            0x025e_0000_0000_0108,
            0x0300_0000_0001_0000,
            0x2000_5c5e_0000_0000,
            0x015c_8000_0000_1000,
            0x015e_0000_0000_0001,
            0x0300_0000_00ff_0000,
            0x3300_5c5e_0000_0001,
            0x2f00_0000_0000_0000,
            0,
            0,
            0,
            0,
            0,
        ];
        assert_eq!(words, Ok(expected), "{words:x?}");
    }

    #[test]
    fn nonsense_from_the_firmware_is_refused() {
        for (registers, scoreboards) in [(3, 8), (97, 8), (96, 0), (96, 17), (256, 300)] {
            let got = StreamShape::new(Arch::V10, registers, scoreboards);
            assert_eq!(
                got,
                Err(UnusableStream {
                    registers,
                    scoreboards
                })
            );
        }
    }
}
