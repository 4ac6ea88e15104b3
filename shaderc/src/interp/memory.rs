//! Memory of a dispatch: buffers by handle, shared memory, scratch.
//!
//! Needs: nothing.  Guarantees: no access outside; a load outside a buffer gives zero (compiler-abi.md 2.4).
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

/// Words in memory, addressed by byte.
pub(super) struct Words(pub(super) Vec<u32>);

impl Words {
    pub(super) fn zeroed(bytes: u32) -> Words {
        Words(vec![0; bytes.div_ceil(4) as usize])
    }

    pub(super) fn get(&self, offset: u32) -> Option<u32> {
        self.0.get(offset as usize / 4).copied()
    }

    pub(super) fn get_mut(&mut self, offset: u32) -> Option<&mut u32> {
        self.0.get_mut(offset as usize / 4)
    }
}

/// A buffer that a handle names.
struct BoundBuffer {
    handle: u32,
    /// Set, binding, element.
    key: (u32, u32, u32),
    /// In bytes.
    size: u32,
    words: Words,
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
                let mut bytes = buffer.bytes.clone();
                let size = bytes.len() as u32;
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                let words = bytes
                    .chunks_exact(4)
                    .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                    .collect();
                let handle = binding.handle + element;
                let table = bound.tables.entry(handle >> 24).or_default();
                table.push((handle & 0xff_ffff, bound.buffers.len()));
                bound.buffers.push(BoundBuffer {
                    handle,
                    key,
                    size,
                    words: Words(words),
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

    pub(super) fn size(&self, handle: u32) -> Option<u32> {
        Some(self.buffers[self.index(handle)?].size)
    }

    /// A word. Table 62 shows descriptors as data: of those the size word is known (compiler-abi.md 1.5).
    pub(super) fn load(&self, handle: u32, offset: u32) -> Option<u32> {
        if handle >> 24 == 62 {
            let table = self.tables.get(&(handle & 0xff_ffff))?;
            let (_, index) = table.iter().find(|(number, _)| *number == offset / 32)?;
            return (offset % 32 == 4).then(|| self.buffers[*index].size);
        }
        let BoundBuffer { size, words, .. } = &self.buffers[self.index(handle)?];
        let inside = offset.checked_add(4).is_some_and(|end| end <= *size);
        Some(if inside {
            words.get(offset).unwrap_or(0)
        } else {
            0
        })
    }

    /// A word to change; none outside the buffer.
    pub(super) fn word(&mut self, handle: u32, offset: u32) -> Option<&mut u32> {
        let index = self.index(handle)?;
        let BoundBuffer { size, words, .. } = &mut self.buffers[index];
        let inside = offset.checked_add(4).is_some_and(|end| end <= *size);
        if inside { words.get_mut(offset) } else { None }
    }

    /// Copies the contents back.
    pub(super) fn save(&self, buffers: &mut Buffers) {
        for bound in &self.buffers {
            if let Some(buffer) = buffers.get_mut(&bound.key) {
                let bytes = bound.words.0.iter().flat_map(|word| word.to_le_bytes());
                buffer.bytes = bytes.take(bound.size as usize).collect();
            }
        }
    }
}
