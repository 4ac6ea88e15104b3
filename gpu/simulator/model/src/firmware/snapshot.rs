//! Snapshot: finds a stream on its slot, for tools that record what a stream runs.

use super::Mcu;
use crate::gpu::Gpu;
use alloc::vec::Vec;

impl Gpu {
    /// Instructions that bring a stream that was just started to the state of stream `stream` of the group on slot `slot`; `None` if
    /// the slot has no such stream. They issue no work and touch no memory. Nothing changes, and no time passes.
    pub fn stream_snapshot(&self, slot: u32, stream: u32) -> Option<Vec<u64>> {
        let Mcu { slots, .. } = &self.mcu;
        let group = slots.get(slot as usize)?.group.as_ref()?;
        let stream = group.streams.get(stream as usize)?.as_ref()?;
        Some(stream.snapshot(self.product().arch()))
    }
}
