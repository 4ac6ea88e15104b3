//! The wrapper of a job: what the ring holds for it.
//!
//! Flush if caches hold what is older than memory, call, wait for everything, add one to the sync object, and end the range that
//! a fault affects.
//! Facts: hardware/csf-scheduling.md section 4, command-stream.md sections 6.20 and 7.6.

use super::flush::{JobFlush, Reach};
use crate::vm::GpuAddress;
use eitri_cs::builder::{BuildFault, Checked, Config, Load32, Load64};
use eitri_cs::enums::{FlushMode, OtherFlushMode};
use eitri_cs::instr::{Call, ErrorBarrier, FlushCache2, SyncAdd64, Wait};
use eitri_cs::{Arch, Layout, Slot, SlotMask};
use thiserror::Error;

/// Words of a wrapper: padded to whole lines of 64 bytes, as the prefetcher works in lines.
pub(crate) const WRAPPER_WORDS: usize = 16;

/// The instructions of a stream's wrappers, encoded and checked once: what is left to say are values.
///
/// The top four registers are the wrapper's; called code must not rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamShape {
    set_address: Load64,
    set_value: Load32,
    flush_all: Checked,
    flush_cores: Checked,
    flushed: Checked,
    call: Checked,
    /// One, to be added.
    one: Checked,
    wait_all: Checked,
    signal: Checked,
    barrier: Checked,
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
    /// The shape of streams with so many registers and scoreboards.
    pub(crate) fn new(
        arch: Arch,
        registers: u32,
        scoreboards: u32,
    ) -> Result<StreamShape, UnusableStream> {
        let unusable = UnusableStream {
            registers,
            scoreboards,
        };
        let layout = u8::try_from(registers).ok().and_then(Layout::with_count);
        let slots = u8::try_from(scoreboards).ok();
        let slots = slots.filter(|count| (1..=16).contains(count));
        let (layout, slots) = layout.zip(slots).ok_or(unusable)?;
        let config = Config {
            layout,
            slots,
            writable: layout.kernel(),
            ..Config::new(arch)
        };
        StreamShape::checked(&config).map_err(|_| unusable)
    }

    fn checked(config: &Config) -> Result<StreamShape, BuildFault> {
        let (address, value) = (config.layout.ring_address(), config.layout.ring_value());
        let slot = Slot::default();
        let wait = |wait_mask: SlotMask| {
            config.checked(Wait {
                wait_mask,
                ..Wait::default()
            })
        };
        let flush = |l2_flush_mode| {
            config.checked(FlushCache2 {
                l2_flush_mode,
                lsc_flush_mode: FlushMode::CleanAndInvalidate,
                other_flush_mode: OtherFlushMode::Invalidate,
                latest_flush_id: value.low(),
                signal_slot: slot,
                ..FlushCache2::default()
            })
        };
        let (one, _) = Load64::new(config, value)?.with(1);
        Ok(StreamShape {
            set_address: Load64::new(config, address)?,
            set_value: Load32::new(config, value.low())?,
            flush_all: flush(FlushMode::CleanAndInvalidate)?,
            flush_cores: flush(FlushMode::None)?,
            flushed: wait(slot.mask())?,
            call: config.checked(Call {
                address,
                length: value.low(),
            })?,
            one,
            wait_all: wait(config.all_slots())?,
            signal: config.checked(SyncAdd64 {
                address,
                data: value,
                error_propagate: true,
                ..SyncAdd64::default()
            })?,
            barrier: config.checked(ErrorBarrier {})?,
        })
    }
}

/// The words that flush what is to be flushed, call `bytes` of instructions at `start`, and then signal the sync object at
/// `sync`. Without a flush their places hold NOP.
pub(crate) const fn wrapper(
    shape: &StreamShape,
    (start, bytes): (GpuAddress, u32),
    sync: GpuAddress,
    flush: Option<JobFlush>,
) -> [u64; WRAPPER_WORDS] {
    let [id, flush, flushed] = match flush {
        None => [0; 3],
        Some(JobFlush { reach, id }) => {
            let flush = match reach {
                Reach::Cores => shape.flush_cores,
                Reach::All => shape.flush_all,
            };
            let id = shape.set_value.with(id);
            [id.word(), flush.word(), shape.flushed.word()]
        }
    };
    // Addresses have at most 48 bits: one instruction loads each.
    let (start, _) = shape.set_address.with(start.0);
    let (sync, _) = shape.set_address.with(sync.0);
    [
        id,
        flush,
        start.word(),
        shape.set_value.with(bytes).word(),
        flushed,
        shape.call.word(),
        sync.word(),
        shape.one.word(),
        shape.wait_all.word(),
        shape.signal.word(),
        shape.barrier.word(),
        0,
        0,
        0,
        0,
        0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked ring entry of hardware/command-stream.md section 7.6; and without a flush.
    #[test]
    fn the_worked_ring_entry() {
        let shape = StreamShape::new(Arch::V10, 96, 8).expect("G610");
        let code = (GpuAddress(0x41_0004_0000), 0x108);
        let sync = GpuAddress(0x8000_0000_1000);
        let flush = JobFlush {
            reach: Reach::All,
            id: 0x1234,
        };
        let words = wrapper(&shape, code, sync, Some(flush));
        let expected = [
            0x025e_0000_0000_1234,
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
        assert_eq!(words, expected, "{words:x?}");
        let words = wrapper(&shape, code, sync, None);
        let mut without = expected;
        (without[0], without[1], without[4]) = (0, 0, 0);
        assert_eq!(words, without, "{words:x?}");
        let cores = JobFlush {
            reach: Reach::Cores,
            id: 0,
        };
        let words = wrapper(&shape, code, sync, Some(cores));
        assert_eq!(words[..2], [0x025e_0000_0000_0000, 0x2400_5e00_0000_0230]);
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
