//! Thread-local memory of graphics shaders.
//!
//! Threads of several draws are on a core at once, each with a place by its number there: all that share an area have places of one
//! size. So commands have an area for each size, beside those of their dispatches.
//! Facts: hardware/graphics.md 1.6.

use crate::command::{GRAPHICS_SCRATCH, Recorder, thread_size};
use crate::error::{Error, Thing};
use crate::handle::Space;
use crate::platform::Platform;
use crate::vm::Protection;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// An area for threads that need so many bytes: where it is, and log2 of 16ths of a thread's bytes.
    pub(super) fn scratch_memory(&mut self, bytes: u32) -> Result<(u64, u32), Error> {
        let (size, total) = thread_size(&self.device.hw.properties, bytes)?;
        let size_log2 = (size / 16).max(1).ilog2();
        let tag = GRAPHICS_SCRATCH.saturating_add(size_log2);
        let object = self.device.objects.get(self.commands);
        let known = object.and_then(|object| self.device.links.tagged(object.list, tag));
        let area = match known {
            Some(area) => area,
            None => {
                let (commands, space) = (self.commands, Space(self.space));
                let what = "thread-local memory";
                let new = (tag, None);
                let device = &mut *self.device;
                device.create_area(commands, space, new, what, total, Protection::Data)?
            }
        };
        let mapping = &self.device.object(area, Thing::CommandBuffer)?.mapping;
        Ok((mapping.address().0, size_log2))
    }
}
