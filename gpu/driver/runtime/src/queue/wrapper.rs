//! The wrapper of a job: what the ring holds for it.
//!
//! Wait for semaphores, flush if caches hold what is older than memory, call, wait for everything, signal semaphores, add one to
//! the sync object, and end the range that a fault affects.
//! Facts: hardware/csf-scheduling.md sections 4 and 5, command-stream.md sections 1.9, 6.20 and 7.6.

use super::flush::{Begin, Reach};
use super::job::Code;
use super::points::{Points, SyncPoint};
use super::ring::Block;
use crate::platform::Platform;
use crate::vm::GpuAddress;
use eitri_cs::builder::{BuildFault, Checked, Config, Load32, Load64};
use eitri_cs::enums::{Condition, ErrorReject, FlushMode, OtherFlushMode};
use eitri_cs::instr::{Call, ErrorBarrier, FlushCache2, SyncAdd64, SyncSet64, SyncWait64, Wait};
use eitri_cs::{Arch, Layout, Slot, SlotMask};
use thiserror::Error;

/// Words of a wrapper without semaphores: two lines of 64 bytes, as the prefetcher works in lines. Others are padded to a multiple
/// of it, so that every wrapper begins where such a one did.
pub(crate) const WRAPPER_WORDS: usize = 16;
/// The first words of it, which differ from job to job; and the others, which are a stream's.
pub(crate) const OWN: usize = 5;
pub(crate) const SAME: usize = WRAPPER_WORDS - OWN;
/// Words behind the semaphore signals.
pub(super) const TAIL: usize = 5;
/// Words for a semaphore: its address, two halves of a value, and what is done with it.
pub(super) const POINT_WORDS: usize = 4;
/// The instructions of a stream's wrappers, encoded and checked once: what is left to say are values.
///
/// The top four registers are the wrapper's; called code must not rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamShape {
    set_address: Load64,
    set_value: Load32,
    set_high: Load32,
    flush_all: Checked,
    flush_cores: Checked,
    flush_read_only: Checked,
    flushed: Checked,
    pub(super) call: Checked,
    /// One, to be added.
    one: Checked,
    pub(super) wait_all: Checked,
    signal: Checked,
    barrier: Checked,
    wait_point: Checked,
    signal_point: Checked,
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
        let flush = |l2_flush_mode, lsc_flush_mode| {
            config.checked(FlushCache2 {
                l2_flush_mode,
                lsc_flush_mode,
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
            set_high: Load32::new(config, value.high())?,
            flush_all: flush(FlushMode::CleanAndInvalidate, FlushMode::CleanAndInvalidate)?,
            flush_cores: flush(FlushMode::None, FlushMode::CleanAndInvalidate)?,
            flush_read_only: flush(FlushMode::None, FlushMode::None)?,
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
            wait_point: config.checked(SyncWait64 {
                address,
                data: value,
                condition: Condition::Greater,
                // Whose work failed is told by its own status.
                error_reject: ErrorReject::Reject,
            })?,
            signal_point: config.checked(SyncSet64 {
                address,
                data: value,
                ..SyncSet64::default()
            })?,
        })
    }

    /// The words that wait until a sync object has a value, which is not 0: greater than one less, as "greater or equal" is not
    /// known to every firmware.
    pub(super) const fn wait_for(&self, object: GpuAddress, value: u64) -> [u64; POINT_WORDS] {
        self.sync(object, value.wrapping_sub(1), self.wait_point)
    }

    /// The words that give a semaphore its value.
    pub(super) const fn signal_point(&self, point: SyncPoint) -> [u64; POINT_WORDS] {
        self.sync(point.address, point.value, self.signal_point)
    }

    const fn sync(&self, object: GpuAddress, value: u64, then: Checked) -> [u64; POINT_WORDS] {
        let address = self.set_address.with_address(object.0);
        [
            address.word(),
            self.set_value.with(value as u32).word(),
            self.set_high.with((value >> 32) as u32).word(),
            then.word(),
        ]
    }
}

/// The words of a job that flush what is to be flushed, and load where `code` is. Without a flush
/// their places hold NOP.
#[inline]
pub(crate) const fn own_words(shape: &StreamShape, code: Code, begin: &Begin) -> [u64; OWN] {
    let flush = match begin.reach {
        None => None,
        Some(Reach::ReadOnly) => Some(shape.flush_read_only),
        Some(Reach::Cores) => Some(shape.flush_cores),
        Some(Reach::All) => Some(shape.flush_all),
    };
    let [id, flush, flushed] = match flush {
        None => [0; 3],
        Some(flush) => {
            let id = shape.set_value.with(begin.id);
            [id.word(), flush.word(), shape.flushed.word()]
        }
    };
    let start = shape.set_address.with_address(code.start.0);
    let bytes = shape.set_value.with(code.bytes);
    [id, flush, start.word(), bytes.word(), flushed]
}

/// The words behind them, which are the same for every job without semaphores: they call, and then signal the sync object at
/// `sync`.
pub(crate) const fn same_words(shape: &StreamShape, sync: GpuAddress) -> [u64; SAME] {
    let [a, b, c, d, e] = tail(shape, sync);
    [shape.call.word(), a, b, c, d, e, 0, 0, 0, 0, 0]
}

/// How many words [`wrapper_with`] writes: whole slots of a ring.
#[inline]
pub(crate) fn words_with(points: &Points) -> usize {
    let waits = points.waits.len().wrapping_mul(POINT_WORDS);
    let mut words = (OWN + 1 + TAIL).wrapping_add(waits);
    if !points.signals.is_empty() {
        let signals = points.signals.len().wrapping_mul(POINT_WORDS);
        words = words.wrapping_add(1).wrapping_add(signals);
    }
    // They are few: each kind has at most MOST_POINTS.
    words.next_multiple_of(WRAPPER_WORDS)
}

/// Writes all words of a job with semaphores: it waits for them first, and signals them before its sync object, so that a job
/// which is over has signalled.
#[inline(never)]
pub(crate) fn wrapper_with<P: Platform>(
    shape: &StreamShape,
    code: Code,
    sync: GpuAddress,
    begin: &Begin,
    points: &Points,
    block: &mut Block<'_, P>,
) {
    let [a, b, c, d, e] = own_words(shape, code, begin);
    let (call, wait) = (shape.call.word(), shape.wait_all.word());
    // Most jobs with semaphores have one: it fills a slot, which is written in one go.
    match (points.waits.as_slice(), points.signals.as_slice()) {
        ([point], []) => {
            let [w, x, y, z] = shape.wait_for(point.address, point.value);
            let [f, g, h, i, j] = tail(shape, sync);
            block.put(&[w, x, y, z, a, b, c, d, e, call, f, g, h, i, j, 0]);
            return;
        }
        ([], [point]) => {
            let [w, x, y, z] = shape.signal_point(*point);
            let [f, g, h, i, j] = tail(shape, sync);
            block.put(&[a, b, c, d, e, call, wait, w, x, y, z, f, g, h, i, j]);
            return;
        }
        _ => {}
    }
    for point in &points.waits {
        block.put(&shape.wait_for(point.address, point.value));
    }
    if points.signals.is_empty() {
        block.put(&[a, b, c, d, e, call]);
    } else {
        block.put(&[a, b, c, d, e, call, wait]);
        for point in &points.signals {
            block.put(&shape.signal_point(*point));
        }
    }
    block.put(&tail(shape, sync));
    const NOTHING: [u64; WRAPPER_WORDS] = [0; WRAPPER_WORDS];
    let rest = block.offset().wrapping_neg() as usize / 8 % WRAPPER_WORDS;
    block.put(NOTHING.get(..rest).unwrap_or_default());
}

pub(super) const fn tail(shape: &StreamShape, sync: GpuAddress) -> [u64; TAIL] {
    let sync = shape.set_address.with_address(sync.0);
    [
        sync.word(),
        shape.one.word(),
        shape.wait_all.word(),
        shape.signal.word(),
        shape.barrier.word(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::SharedBlock;
    use crate::queue::points::MOST_POINTS;
    use crate::queue::ring::Ring;
    use crate::testing::Fake;
    use std::vec::Vec;

    /// The words of a job with semaphores, as they stand in a ring.
    fn words_of(shape: &StreamShape, code: Code, sync: GpuAddress, points: &Points) -> Vec<u64> {
        let mut fake = Fake::new(Ring::BYTES + 0x2000);
        let memory = fake.allocate(Ring::BYTES + 0x2000, 4096).expect("memory");
        let start = memory.start();
        let page = |offset| SharedBlock::new(start.offset(Ring::BYTES + offset));
        let mut ring = Ring::new(start, page(0), page(0x1000));
        let words = words_with(points);
        let mut end = 0;
        ring.push(&mut fake, words, |block| {
            wrapper_with(shape, code, sync, &Begin::NOTHING, points, block);
            end = block.offset();
        });
        assert_eq!(end, words as u64 * 8, "as many words as were counted");
        let at = |word: u64| start.offset(word * 8);
        (0..words as u64)
            .map(|word| fake.load64(at(word)))
            .collect()
    }

    fn wrapper(
        shape: &StreamShape,
        code: Code,
        sync: GpuAddress,
        begin: Begin,
    ) -> [u64; WRAPPER_WORDS] {
        let (own, same) = (own_words(shape, code, &begin), same_words(shape, sync));
        let words: std::vec::Vec<u64> = own.into_iter().chain(same).collect();
        words.try_into().expect("all of them")
    }

    const fn code(bytes: u32) -> Code {
        Code {
            start: GpuAddress(0x41_0004_0000),
            bytes,
        }
    }

    /// The worked ring entry of hardware/command-stream.md section 7.6; and without a flush.
    #[test]
    fn the_worked_ring_entry() {
        let shape = StreamShape::new(Arch::V10, 96, 8).expect("G610");
        let code = code(0x108);
        let sync = GpuAddress(0x8000_0000_1000);
        let flush = Begin {
            reach: Some(Reach::All),
            id: 0x1234,
            stamp: 0,
        };
        let words = wrapper(&shape, code, sync, flush);
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
        let words = wrapper(&shape, code, sync, Begin::NOTHING);
        let mut without = expected;
        (without[0], without[1], without[4]) = (0, 0, 0);
        assert_eq!(words, without, "{words:x?}");
        let cores = Begin {
            reach: Some(Reach::Cores),
            ..Begin::NOTHING
        };
        let words = wrapper(&shape, code, sync, cores);
        assert_eq!(words[..2], [0x025e_0000_0000_0000, 0x2400_5e00_0000_0230]);
        let read_only = Begin {
            reach: Some(Reach::ReadOnly),
            ..Begin::NOTHING
        };
        let words = wrapper(&shape, code, sync, read_only);
        assert_eq!(words[..2], [0x025e_0000_0000_0000, 0x2400_5e00_0000_0200]);
    }

    #[test]
    fn a_wrapper_with_all_its_semaphores_fits() {
        let shape = StreamShape::new(Arch::V10, 96, 8).expect("G610");
        let sync = GpuAddress(0x8000_0000_1000);
        let mut points = Points::default();
        for _ in 0..MOST_POINTS {
            let point = SyncPoint {
                semaphore: crate::slab::Key::NONE,
                address: GpuAddress(0xFFFF_FFFF_E000),
                value: u64::MAX,
            };
            points.waits.push(point).expect("room");
            points.signals.push(point).expect("room");
        }
        let code = code(8);
        let words = words_of(&shape, code, sync, &points);
        assert!(words.len().is_multiple_of(WRAPPER_WORDS));
        let count = |op: u64| words.iter().filter(|word| **word >> 56 == op).count();
        // SYNC_WAIT64, SYNC_SET64, SYNC_ADD64: hardware/command-stream.md 3.5.
        assert_eq!([0x35, 0x34, 0x33].map(count), [MOST_POINTS, MOST_POINTS, 1]);
        // With one it fills a slot, and has the words of a longer one.
        let one = |waits: &[SyncPoint], signals: &[SyncPoint]| {
            let mut points = Points::default();
            let fits = points.waits.extend_from_slice(waits).is_ok();
            assert!(fits && points.signals.extend_from_slice(signals).is_ok());
            words_of(&shape, code, sync, &points)
        };
        let point = points.waits[0];
        let words = one(&[point], &[point]);
        let (first, rest) = words[..20].split_at(10);
        let waits = [first, &rest[5..], &[0]].concat();
        assert_eq!(one(&[point], &[]), waits, "{waits:x?}");
        let signals = [&first[4..], rest].concat();
        assert_eq!(one(&[], &[point]), signals, "{signals:x?}");
        assert_eq!([waits.len(), signals.len()], [WRAPPER_WORDS; 2]);
        // Without any it is the plain one.
        let plain = wrapper(&shape, code, sync, Begin::NOTHING);
        let none = Points::default();
        let words = words_of(&shape, code, sync, &none);
        assert_eq!(words.as_slice(), plain);
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
