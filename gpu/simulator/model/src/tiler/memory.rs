//! Memory as the tiler sees it: by GPU address, with writes that wait where an access waits.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Memory behind GPU addresses.
pub(crate) trait HeapMemory {
    /// Reason why an access did not happen: it waits and may be made again, or it has failed.
    type Refusal;

    /// Reads the bytes from an address on.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Self::Refusal>;

    /// Writes bytes from an address on: all of them, or none that count, since the write is made again.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Self::Refusal>;
}

/// The 64-bit word at an address.
pub(super) fn read64<M: HeapMemory>(memory: &mut M, address: u64) -> Result<u64, M::Refusal> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The 32-bit words from an address on, in one access.
pub(super) fn read_words<M: HeapMemory>(
    memory: &mut M,
    address: u64,
    count: usize,
) -> Result<Vec<u32>, M::Refusal> {
    let mut bytes = vec![0; count * 4];
    memory.read(address, &mut bytes)?;
    let words = bytes.chunks_exact(4);
    Ok(words
        .map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]))
        .collect())
}

/// Bytes of words as they lie in memory.
pub(super) fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Writes that are decided and not made yet, in order.
///
/// Deciding and writing are apart so that a write that waits does not undo or repeat a decision.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    queue: VecDeque<(u64, Vec<u8>)>,
}

impl Writes {
    pub(super) fn push(&mut self, address: u64, bytes: Vec<u8>) {
        self.queue.push_back((address, bytes));
    }

    pub(super) fn push64(&mut self, address: u64, word: u64) {
        self.push(address, word.to_le_bytes().to_vec());
    }

    /// Makes the writes. One that is refused stays, with those behind it.
    pub(super) fn flush<M: HeapMemory>(&mut self, memory: &mut M) -> Result<(), M::Refusal> {
        while let Some((address, bytes)) = self.queue.front() {
            memory.write(*address, bytes)?;
            self.queue.pop_front();
        }
        Ok(())
    }
}

/// Memory for tests: an array from address 0 on.
#[cfg(test)]
pub(super) mod array {
    use super::HeapMemory;
    use alloc::vec::Vec;
    use std::vec;

    /// An access was refused.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Refused {
        /// The access may be made again.
        Waits,
        /// There is no memory at the address.
        Nothing(u64),
    }

    pub(crate) struct Array {
        bytes: Vec<u8>,
        /// Accesses that are granted before one waits, again and again.
        pub(crate) patience: Option<u32>,
        granted: u32,
    }

    impl Array {
        pub(crate) fn new(bytes: usize) -> Array {
            // Garbage, so that what relies on zeros shows.
            Array {
                bytes: vec![0xa5; bytes],
                patience: None,
                granted: 0,
            }
        }

        pub(crate) fn put64(&mut self, address: u64, words: &[u64]) {
            for (word, offset) in words.iter().zip((0..).step_by(8)) {
                self.put(address + offset, &word.to_le_bytes());
            }
        }

        pub(crate) fn put(&mut self, address: u64, bytes: &[u8]) {
            let start = address as usize;
            self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        }

        pub(crate) fn get64(&self, address: u64) -> u64 {
            let start = address as usize;
            u64::from_le_bytes(
                self.bytes[start..start + 8]
                    .try_into()
                    .expect("eight bytes"),
            )
        }

        fn grant(&mut self) -> Result<(), Refused> {
            if self
                .patience
                .is_some_and(|patience| self.granted >= patience)
            {
                self.granted = 0;
                return Err(Refused::Waits);
            }
            self.granted += 1;
            Ok(())
        }
    }

    impl HeapMemory for Array {
        type Refusal = Refused;

        fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refused> {
            self.grant()?;
            let start = address as usize;
            let from = self.bytes.get(start..start.wrapping_add(bytes.len()));
            bytes.copy_from_slice(from.ok_or(Refused::Nothing(address))?);
            Ok(())
        }

        fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
            self.grant()?;
            let start = address as usize;
            let to = self.bytes.get_mut(start..start.wrapping_add(bytes.len()));
            to.ok_or(Refused::Nothing(address))?.copy_from_slice(bytes);
            Ok(())
        }
    }
}
