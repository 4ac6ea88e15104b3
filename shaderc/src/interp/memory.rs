//! Memory of a dispatch: buffers by handle or by address, shared memory, scratch.
//!
//! Needs: nothing.  Guarantees: no access outside; a load outside a buffer by handle gives zero (compiler-abi.md 2.4).
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

/// A buffer that a handle names.
struct BoundBuffer {
    handle: u32,
    /// Set, binding, element.
    key: (u32, u32, u32),
    bytes: Bytes,
}

/// Buffers of a dispatch as the shader reaches them.
pub(super) struct Bound {
    buffers: Vec<BoundBuffer>,
    tables: BTreeMap<u32, Vec<(u32, usize)>>,
}

impl Bound {
    /// Binds what the function declares; the first binding that isn't there is the error.
    pub(super) fn new(function: &Function, buffers: &Buffers) -> Result<Bound, (u32, u32, u32)> {
        let mut bound = Bound {
            buffers: vec![],
            tables: BTreeMap::new(),
        };
        for binding in &function.bindings {
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                let buffer = buffers.get(&key).ok_or(key)?;
                let handle = binding.handle + element;
                let table = bound.tables.entry(handle >> 24).or_default();
                table.push((handle & 0xff_ffff, bound.buffers.len()));
                bound.buffers.push(BoundBuffer {
                    handle,
                    key,
                    bytes: Bytes(buffer.bytes.clone()),
                });
            }
        }
        Ok(bound)
    }

    fn index(&self, handle: u32) -> Option<usize> {
        self.buffers
            .iter()
            .position(|buffer| buffer.handle == handle)
    }

    fn size_of(&self, index: usize) -> u32 {
        self.buffers[index].bytes.0.len() as u32
    }

    pub(super) fn size(&self, handle: u32) -> Option<u32> {
        Some(self.size_of(self.index(handle)?))
    }

    /// A word of so many bytes. Table 62 shows descriptors as data: of those the size word is known
    /// (compiler-abi.md 1.5).
    pub(super) fn load(&self, handle: u32, offset: u64, bytes: u32) -> Option<u64> {
        if handle >> 24 == 62 {
            let table = self.tables.get(&(handle & 0xff_ffff))?;
            let (_, index) = table
                .iter()
                .find(|(number, _)| u64::from(*number) == offset / 32)?;
            return (offset % 32 == 4 && bytes == 4).then(|| self.size_of(*index).into());
        }
        let buffer = &self.buffers[self.index(handle)?];
        Some(buffer.bytes.get(offset, bytes).unwrap_or(0))
    }

    /// The bytes of a buffer.
    pub(super) fn buffer(&mut self, handle: u32) -> Option<&mut Bytes> {
        let index = self.index(handle)?;
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
