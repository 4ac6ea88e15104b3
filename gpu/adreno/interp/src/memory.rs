//! What a dispatch reads and writes: resources by descriptor, and memory by address.

use core::fmt;
use std::collections::BTreeMap;

use eitri_texels::{Image, Sampler};

/// Where a descriptor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In a slot.
    Slot(u32),
    /// In a set of bindless descriptors, by index.
    Bindless {
        /// The set, which the instruction has as its base.
        set: u32,
        /// The index, in descriptors of 64 bytes.
        index: u32,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slot(slot) => write!(f, "slot {slot}"),
            Self::Bindless { set, index } => write!(f, "descriptor {index} of set {set}"),
        }
    }
}

/// All that is outside of a workgroup.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Buffers, storage and uniform, by their descriptors.
    pub buffers: BTreeMap<Place, Vec<u8>>,
    /// Images and the texels of buffers, by their descriptors.
    pub images: BTreeMap<Place, Image>,
    /// Samplers, by their descriptors.
    pub samplers: BTreeMap<Place, Sampler>,
    /// Memory by its first address.
    pub regions: BTreeMap<u64, Vec<u8>>,
}

impl Memory {
    /// The bytes from `address` on, if so many lie in one region.
    pub(crate) fn at(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let (start, bytes) = self.regions.range_mut(..=address).next_back()?;
        slice(bytes, address - start, size)
    }
}

/// `size` bytes from `offset` on, if there are so many.
pub(crate) fn slice(bytes: &mut [u8], offset: u64, size: usize) -> Option<&mut [u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(size)?;
    bytes.get_mut(start..end)
}

/// The little-endian number in up to four bytes.
pub(crate) fn load(bytes: &[u8]) -> u32 {
    let little_endian = bytes.iter().rev();
    little_endian.fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// Puts the low bytes of a number, lowest first.
pub(crate) fn store(bytes: &mut [u8], value: u32) {
    for (byte, from) in bytes.iter_mut().zip(value.to_le_bytes()) {
        *byte = from;
    }
}
