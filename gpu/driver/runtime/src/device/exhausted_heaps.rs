//! Exhausted tiler heaps: what streams are answered that ask for memory of one.
//!
//! In every build, also of a driver that only computes: a stream of the caller's own may use a heap that the device does not know, and
//! would wait for the answer for ever.
//! Facts: hardware/csf-scheduling.md 7, command-stream.md 1.12.

use super::Device;
use crate::fault::{Cause, Recovery};
use crate::group::{STREAMS, ring_streams};
use crate::platform::Platform;
use crate::queue::fail;
use crate::slab::Key;
use eitri_csf::interface::stream::{CS_TILER_HEAP_END, CS_TILER_HEAP_START, cs_req};

/// The device has no such heap, or what a stream says of it makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoSuchHeap;

impl<P: Platform> Device<'_, '_, P> {
    /// Answers the streams of a group whose heaps are exhausted. One that has left its slot meanwhile asks again.
    pub(super) fn answer_heaps(&mut self, key: Key, exhausted: u32) {
        let Some(group) = self.groups.get(key) else {
            return;
        };
        let (space, slot) = (group.space, group.slot());
        let mut bells = 0;
        for number in 0..STREAMS {
            let bit = 1_u32.checked_shl(number as u32).unwrap_or(0);
            if exhausted & bit == 0 {
                continue;
            }
            let slot = slot.and_then(|slot| self.hw.interface.slots.get(slot));
            let Some(blocks) = slot.and_then(|slot| slot.streams.get(number).copied()) else {
                continue;
            };
            let (input, output) = (blocks.input, blocks.output);
            let chunk = match self.grow_tiler_heap(space, output) {
                Ok(chunk) => chunk.unwrap_or(0),
                // No heap of ours, or counters that no heap can have: whatever the firmware does with nothing.
                Err(NoSuchHeap) => {
                    let group = self.groups.get(key);
                    let stream = group.and_then(|group| group.streams.get(number));
                    let job =
                        stream.and_then(|it| it.current_job(&mut self.hw.platform, &self.jobs));
                    if let Some(job) = job {
                        fail(&mut self.jobs, job, Cause::TilerMemory, Recovery::Continue);
                    }
                    0
                }
            };
            let it = &mut self.hw.platform;
            input.write(it, CS_TILER_HEAP_START, chunk);
            input.write(it, CS_TILER_HEAP_END, chunk);
            blocks
                .requests()
                .take_events(it, cs_req::TILER_OOM.mask32());
            bells |= bit;
        }
        if let Some(slot) = slot.and_then(|slot| self.hw.interface.slots.get(slot)) {
            ring_streams(
                &mut self.hw.platform,
                &self.hw.interface.global,
                slot,
                bells,
            );
        }
    }
}
