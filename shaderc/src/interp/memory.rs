//! Memory of a dispatch: buffers by resource or by address, shared memory, scratch.
//!
//! Needs: nothing.  Guarantees: no access outside; a load outside of the buffer that a resource names gives zero.
use std::collections::BTreeMap;

use crate::ir::{BindingId, BindingKind, Function};
use eitri_texels::{Image, Sampler};

/// A buffer bound for a dispatch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Set, binding and element of the array of descriptors.
pub type Key = (u32, u32, u32);

/// The buffers of a dispatch.
pub type Buffers = BTreeMap<Key, Buffer>;

/// All that a dispatch is bound to. A combined image and sampler is one of each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Resources {
    /// Buffers.
    pub buffers: Buffers,
    /// Images, and texels of buffers.
    pub images: BTreeMap<Key, Image>,
    /// Samplers.
    pub samplers: BTreeMap<Key, Sampler>,
}

/// Bytes, from which words are read.
#[derive(Clone)]
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

/// An element of a binding: what a resource names. Of a buffer the bytes, of others image and sampler.
#[derive(Clone)]
struct Element {
    key: Key,
    bytes: Bytes,
    image: Option<Image>,
    sampler: Option<Sampler>,
}

/// What a dispatch is bound to, as the shader reaches it.
#[derive(Clone)]
pub(super) struct Bound {
    elements: Vec<Element>,
    /// Of each binding: number of its first element, and how many it has.
    bindings: Vec<(usize, u32)>,
}

impl Bound {
    /// Binds what the function declares; the first binding that isn't there is the error.
    pub(super) fn new(function: &Function, resources: &Resources) -> Result<Bound, Key> {
        let mut bound = Bound {
            elements: vec![],
            bindings: vec![],
        };
        for binding in &function.bindings {
            bound.bindings.push((bound.elements.len(), binding.count));
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                bound
                    .elements
                    .push(Element::new(binding.kind, key, resources).ok_or(key)?);
            }
        }
        Ok(bound)
    }

    /// The image that a resource names.
    pub(super) fn image(&mut self, resource: u64) -> Option<&mut Image> {
        let index = self.index(resource)?;
        self.elements[index].image.as_mut()
    }

    /// The sampler that a resource names.
    pub(super) fn sampler(&self, resource: u64) -> Option<&Sampler> {
        self.elements[self.index(resource)?].sampler.as_ref()
    }

    /// The number of the element that a resource names, of which the bits are those of [`Function::resource`].
    fn index(&self, resource: u64) -> Option<usize> {
        let (first, count) = *self.bindings.get((resource >> 32) as usize)?;
        let element = resource as u32;
        (element < count).then_some(first + element as usize)
    }

    pub(super) fn size(&self, resource: u64) -> Option<u32> {
        Some(self.elements[self.index(resource)?].bytes.0.len() as u32)
    }

    /// A word of so many bytes.
    pub(super) fn load(&self, resource: u64, offset: u64, bytes: u32) -> Option<u64> {
        let buffer = &self.elements[self.index(resource)?];
        Some(buffer.bytes.get(offset, bytes).unwrap_or(0))
    }

    /// The bytes of a buffer.
    pub(super) fn buffer(&mut self, resource: u64) -> Option<&mut Bytes> {
        let index = self.index(resource)?;
        Some(&mut self.elements[index].bytes)
    }

    /// The buffer in which an address lies, and the offset there.
    pub(super) fn at_address(&mut self, address: u64) -> Option<(&mut Bytes, u64)> {
        let (number, offset) = located(address)?;
        let buffer = self.elements.get_mut(usize::try_from(number).ok()?)?;
        Some((&mut buffer.bytes, offset))
    }

    /// The bytes of an element of a binding, if it is a buffer.
    pub(super) fn bytes_of(&self, binding: BindingId, element: u32) -> Option<&[u8]> {
        let resource = u64::from(binding.0) << 32 | u64::from(element);
        let element = &self.elements[self.index(resource)?];
        element.is_buffer().then_some(&element.bytes.0)
    }

    /// The element with that number, of all bindings.
    pub(super) fn numbered(&self, number: u64) -> Option<(BindingId, u32)> {
        let number = usize::try_from(number).ok()?;
        let holds =
            |(first, count): &(usize, u32)| (*first..first + *count as usize).contains(&number);
        let binding = self.bindings.iter().position(holds)?;
        let (first, _) = self.bindings[binding];
        Some((BindingId(binding as u32), (number - first) as u32))
    }

    /// Bytes of all contents.
    pub(super) fn bytes(&self) -> usize {
        let image = |element: &Element| element.image.as_ref().map_or(0, |it| it.bytes.len());
        let elements = self.elements.iter();
        elements
            .map(|element| element.bytes.0.len() + image(element))
            .sum()
    }

    /// Copies the contents back.
    pub(super) fn save(self, resources: &mut Resources) {
        for element in self.elements {
            match element.image {
                Some(image) => {
                    resources.images.insert(element.key, image);
                }
                None => {
                    if let Some(buffer) = resources.buffers.get_mut(&element.key) {
                        buffer.bytes = element.bytes.0;
                    }
                }
            }
        }
    }
}

impl Element {
    fn is_buffer(&self) -> bool {
        self.image.is_none() && self.sampler.is_none()
    }

    fn new(kind: BindingKind, key: Key, resources: &Resources) -> Option<Element> {
        let image = || resources.images.get(&key).cloned();
        let sampler = || resources.samplers.get(&key).cloned();
        let (bytes, image, sampler) = match kind {
            BindingKind::Storage | BindingKind::Uniform => {
                (resources.buffers.get(&key)?.bytes.clone(), None, None)
            }
            BindingKind::UniformTexels
            | BindingKind::StorageTexels
            | BindingKind::StorageImage
            | BindingKind::SampledImage => (vec![], Some(image()?), None),
            BindingKind::Sampler => (vec![], None, Some(sampler()?)),
            BindingKind::CombinedImageSampler => (vec![], Some(image()?), Some(sampler()?)),
        };
        Some(Element {
            key,
            bytes: Bytes(bytes),
            image,
            sampler,
        })
    }
}

/// Addresses from one buffer to the next: each has all offsets of 32 bits for itself.
const SPACING: u64 = 1 << 32;

/// The number of the element at whose address something lies, and the offset there.
pub fn located(address: u64) -> Option<(u64, u64)> {
    let number = (address / SPACING).checked_sub(1)?;
    Some((number, address % SPACING))
}

/// The address of a buffer: that of its number among the elements of the function's bindings, in their order.
pub fn address(number: u64) -> u64 {
    (number + 1) * SPACING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    /// Elements are numbered one binding after the other, as addresses have them.
    #[test]
    fn each_number_is_that_of_an_element() {
        let text = "function main
            workgroup 1 1 1
            binding 0 0 storage count 3
            binding 0 1 uniform
            binding 1 0 storage count 2 written
            b0:
              return";
        let function = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let elements = [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1)];
        let keys = [(0, 0), (0, 1), (1, 0)];
        let mut resources = Resources::default();
        for (binding, element) in elements {
            let (set, number) = keys[binding as usize];
            let bytes = vec![0; 4];
            resources
                .buffers
                .insert((set, number, element), Buffer { bytes });
        }
        let bound = Bound::new(&function, &resources).unwrap_or_else(|key| panic!("no {key:?}"));
        for (number, (binding, element)) in (0..).zip(elements) {
            let expected = Some((BindingId(binding), element));
            assert_eq!(bound.numbered(number), expected, "number {number}");
        }
        for number in [6, 7, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(bound.numbered(number), None, "number {number}");
        }
    }
}
