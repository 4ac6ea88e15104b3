//! Host bytes: what buffers hold between commands.

use crate::contents::{initial, store};
use crate::literal::Literal;
use crate::plan::Plan;
use crate::script::BufferId;
use alloc::vec::Vec;

/// What a buffer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostBuffer {
    /// Its bytes; none for one that nothing has given a size.
    pub bytes: Vec<u8>,
    /// Width and height.
    pub size: (u32, u32),
    /// Texels of an image's mip levels that were drawn to, level by level from level 1 on. A level that is missing here, or empty, takes
    /// its texels from the beginning of `bytes`.
    pub levels: Vec<Vec<u8>>,
}

impl HostBuffer {
    /// The texels that were drawn to a mip level, 1 or a smaller one; `None` if nothing was drawn to it, or for level 0, which is `bytes`.
    pub fn drawn_level(&self, level: u32) -> Option<&[u8]> {
        let drawn = self.levels.get(level.checked_sub(1)? as usize)?;
        (!drawn.is_empty()).then_some(drawn)
    }

    /// Keeps what was drawn to a level of this size.
    pub fn put_level(&mut self, level: u32, size: (u32, u32), bytes: Vec<u8>) {
        let Some(place) = level.checked_sub(1) else {
            (self.bytes, self.size) = (bytes, size);
            return;
        };
        // The parser allows as many levels as halve the size to 1.
        let place = place as usize;
        if self.levels.len() <= place {
            self.levels.resize(place + 1, Vec::new());
        }
        if let Some(known) = self.levels.get_mut(place) {
            *known = bytes;
        }
    }
}

/// The buffers of a script, by [`BufferId`].
#[derive(Clone, Debug, Default)]
pub struct Memory {
    buffers: Vec<HostBuffer>,
}

impl Memory {
    /// The buffers of a plan as they are before the first command.
    pub fn new(plan: &Plan) -> Memory {
        let filled = plan.buffers.iter().map(|buffer| HostBuffer {
            bytes: initial(buffer),
            size: buffer.size,
            levels: Vec::new(),
        });
        Memory {
            buffers: filled.collect(),
        }
    }

    /// A buffer.
    pub fn get(&self, id: BufferId) -> Option<&HostBuffer> {
        self.buffers.get(id.0)
    }

    /// A buffer, to write to.
    pub fn get_mut(&mut self, id: BufferId) -> Option<&mut HostBuffer> {
        self.buffers.get_mut(id.0)
    }

    pub(super) fn copy(&mut self, from: BufferId, to: BufferId) {
        let source = self.get(from).cloned();
        if let (Some(source), Some(to)) = (source, self.get_mut(to)) {
            *to = source;
        }
    }

    pub(super) fn resize(&mut self, plan: &Plan, id: BufferId, elements: u64) {
        if let (Some(buffer), Some(memory)) = (plan.buffer(id), self.get_mut(id)) {
            // The parser has bounded the length.
            let elements = usize::try_from(elements).unwrap_or(0);
            memory.bytes = vec![0; elements.saturating_mul(buffer.element.stride)];
        }
    }

    pub(super) fn write(&mut self, plan: &Plan, id: BufferId, offset: u64, values: &[Literal]) {
        if let (Some(buffer), Some(memory)) = (plan.buffer(id), self.get_mut(id)) {
            // The parser has bounded both.
            let offset = usize::try_from(offset).unwrap_or(0);
            let elements = values
                .len()
                .div_ceil(buffer.element.components.len().max(1));
            let end = offset.saturating_add(elements.saturating_mul(buffer.element.stride));
            if memory.bytes.len() < end {
                memory.bytes.resize(end, 0);
            }
            store(
                &buffer.element,
                values.iter().copied(),
                offset,
                &mut memory.bytes,
            );
        }
    }
}
