//! Memory of a dispatch: buffers by resource or by address, shared memory, scratch.
//!
//! Needs: nothing.  Guarantees: no access outside; a load outside of the buffer that a resource names gives zero.
use std::collections::BTreeMap;

use crate::ir::Function;

/// A buffer bound for a dispatch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// The buffers of a dispatch by set, binding and element of the array of descriptors.
pub type Buffers = BTreeMap<(u32, u32, u32), Buffer>;

/// Bytes, from which words are read.
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn zeroed(bytes: u32) -> Bytes {
        Bytes(vec![0; bytes as usize])
    }

    fn range(&self, offset: u64, bytes: u32) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(bytes as usize)?;
        (end <= self.0.len()).then_some(start..end)
    }

    /// So many bytes as a word; none outside.
    pub(super) fn get(&self, offset: u64, bytes: u32) -> Option<u64> {
        let range = self.range(offset, bytes)?;
        let bytes = self.0[range].iter().rev();
        Some(bytes.fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }

    /// Writes so many bytes of a word; none outside.
    pub(super) fn set(&mut self, offset: u64, bytes: u32, word: u64) -> Option<()> {
        let range = self.range(offset, bytes)?;
        for (to, from) in self.0[range].iter_mut().zip(word.to_le_bytes()) {
            *to = from;
        }
        Some(())
    }
}

/// A buffer that a resource names.
struct BoundBuffer {
    /// Set, binding, element.
    key: (u32, u32, u32),
    bytes: Bytes,
}

/// Buffers of a dispatch as the shader reaches them.
pub(super) struct Bound {
    buffers: Vec<BoundBuffer>,
    /// Of each binding: number of its first buffer, and how many it has.
    bindings: Vec<(usize, u32)>,
}

impl Bound {
    /// Binds what the function declares; the first binding that isn't there is the error.
    pub(super) fn new(function: &Function, buffers: &Buffers) -> Result<Bound, (u32, u32, u32)> {
        let mut bound = Bound {
            buffers: vec![],
            bindings: vec![],
        };
        for binding in &function.bindings {
            bound.bindings.push((bound.buffers.len(), binding.count));
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                let buffer = buffers.get(&key).ok_or(key)?;
                bound.buffers.push(BoundBuffer {
                    key,
                    bytes: Bytes(buffer.bytes.clone()),
                });
            }
        }
        Ok(bound)
    }

    /// The number of the buffer that a resource names, of which the bits are those of [`Function::resource`].
    fn index(&self, resource: u64) -> Option<usize> {
        let (first, count) = *self.bindings.get((resource >> 32) as usize)?;
        let element = resource as u32;
        (element < count).then_some(first + element as usize)
    }

    pub(super) fn size(&self, resource: u64) -> Option<u32> {
        Some(self.buffers[self.index(resource)?].bytes.0.len() as u32)
    }

    /// A word of so many bytes.
    pub(super) fn load(&self, resource: u64, offset: u64, bytes: u32) -> Option<u64> {
        let buffer = &self.buffers[self.index(resource)?];
        Some(buffer.bytes.get(offset, bytes).unwrap_or(0))
    }

    /// The bytes of a buffer.
    pub(super) fn buffer(&mut self, resource: u64) -> Option<&mut Bytes> {
        let index = self.index(resource)?;
        Some(&mut self.buffers[index].bytes)
    }

    /// The buffer in which an address lies, and the offset there.
    pub(super) fn at_address(&mut self, address: u64) -> Option<(&mut Bytes, u64)> {
        let number = (address / SPACING).checked_sub(1)?;
        let buffer = self.buffers.get_mut(usize::try_from(number).ok()?)?;
        Some((&mut buffer.bytes, address % SPACING))
    }

    /// Copies the contents back.
    pub(super) fn save(self, buffers: &mut Buffers) {
        for bound in self.buffers {
            if let Some(buffer) = buffers.get_mut(&bound.key) {
                buffer.bytes = bound.bytes.0;
            }
        }
    }
}

/// Addresses from one buffer to the next: each has all offsets of 32 bits for itself.
const SPACING: u64 = 1 << 32;

/// The address of a buffer: that of its number among the elements of the function's bindings, in their order.
pub fn address(number: u64) -> u64 {
    (number + 1) * SPACING
}
