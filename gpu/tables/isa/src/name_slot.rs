//! Where a name stands in a hash table.

/// The slot where a search for the first `length` bytes of `name` begins: FNV-1a, which scatters short names well.
pub(crate) const fn slot_of(name: &[u8], length: usize, slots: usize) -> usize {
    let (mut hash, mut index) = (0x811C_9DC5_u32, 0);
    while index < length {
        hash = (hash ^ name[index] as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    (hash ^ (hash >> 16)) as usize % slots
}
