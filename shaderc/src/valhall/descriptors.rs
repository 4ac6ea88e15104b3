//! Descriptors: where the elements of bindings stand, and the handles by which instructions name them.
//!
//! Guarantees: descriptors of a set are numbered in the order of its bindings, without holes.
//! Facts: hardware/compiler-abi.md 1.2 (handles), 1.4 (a descriptor a binding), 1.5 (descriptors as data).
use crate::ir::{Binding, BindingKind};

/// Bits of a handle below the number of its table.
const INDEX_BITS: u32 = 24;
/// The table that shows descriptors as data; its index is a table.
const AS_DATA: u32 = 62;
/// Bytes of a descriptor.
const BYTES: u32 = 1 << BYTES_SHIFT;
/// The power of two that they are.
const BYTES_SHIFT: u32 = 5;
/// Byte offset of the size in a buffer's descriptor.
pub(crate) const SIZE_OFFSET: u32 = 4;

/// Descriptors of an element of a binding: an image with its sampler has two, the image first.
pub(crate) fn of_element(kind: BindingKind) -> u32 {
    match kind {
        BindingKind::CombinedImageSampler => 2,
        _ => 1,
    }
}

/// The handle of the first element of each binding; that of element n is n times [`of_element`] more. Bindings are ordered
/// by set and number.
pub(crate) fn handles(bindings: &[Binding]) -> Vec<u32> {
    let mut handles = Vec::with_capacity(bindings.len());
    let mut next = (0, 0);
    for binding in bindings {
        if next.0 != binding.set {
            next = (binding.set, 0);
        }
        handles.push((binding.set + 1) << INDEX_BITS | next.1);
        next.1 += binding.count * of_element(binding.kind);
    }
    handles
}

/// The handle under which the descriptors of that handle's table are data, and the offset of its own there.
pub(crate) fn as_data(handle: u32) -> (u32, u32) {
    let index = handle & ((1 << INDEX_BITS) - 1);
    (AS_DATA << INDEX_BITS | handle >> INDEX_BITS, BYTES * index)
}

/// How that is computed where the handle isn't known: the shift that leaves the table, what is added to it, and the shifts
/// to the left and to the right that make the offset of the rest.
pub(crate) struct AsData {
    pub(crate) table_shift: u32,
    pub(crate) table: u32,
    pub(crate) left: u32,
    pub(crate) right: u32,
}

/// See [`AsData`].
pub(crate) const COMPUTED: AsData = AsData {
    table_shift: INDEX_BITS,
    table: AS_DATA << INDEX_BITS,
    left: 32 - INDEX_BITS,
    right: 32 - INDEX_BITS - BYTES_SHIFT,
};

#[cfg(test)]
mod tests {
    use super::{COMPUTED, as_data};

    #[test]
    fn both_ways_to_the_size_are_one() {
        for handle in [0x0100_0000, 0x0100_0003, 0x0b0f_fffe] {
            let offset = handle << COMPUTED.left >> COMPUTED.right;
            let table = (handle >> COMPUTED.table_shift) + COMPUTED.table;
            assert_eq!((table, offset), as_data(handle), "{handle:#x}");
        }
        assert_eq!(as_data(0x0100_0003), (0x3e00_0001, 96));
    }
}
