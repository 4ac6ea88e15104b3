//! List reader: the primitives of a tile, in the order in which they were drawn.
//!
//! Facts: hardware/graphics-model.md 4.1 (order of primitives in a tile), graphics.md 2.5 (layers). The form is `list`'s.

use super::bins::{Bins, Hierarchy};
use super::list::{BIN_BYTES, BLOCK_ENTRIES, BLOCK_HEAD_BYTES, ENTRY_BYTES, HEAD_BYTES};
use super::memory::{HeapMemory, read_words, read64};
use super::record::ListedPrimitive;
use crate::raster::PixelBox;
use alloc::vec::Vec;

/// Reason why a list can't be read on. Each call can be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadStop<E> {
    /// Something else than the tiler has written there.
    Malformed { address: u64 },
    /// An access to memory did not happen.
    Memory(E),
}

impl<E> From<E> for ReadStop<E> {
    fn from(refusal: E) -> ReadStop<E> {
        ReadStop::Memory(refusal)
    }
}

/// The polygon list of a tiler context, for reading.
#[derive(Clone, Debug)]
pub(crate) struct ListReader {
    root: u64,
    bins: Bins,
    layers: u64,
}

impl ListReader {
    /// Reads the head of a list, for words 0 and 1 of a tiler context. None: the list is empty.
    pub(crate) fn open<M: HeapMemory>(
        memory: &mut M,
        polygon_list: u64,
    ) -> Result<Option<ListReader>, ReadStop<M::Refusal>> {
        if polygon_list == 0 {
            return Ok(None);
        }
        let head = read_words(memory, polygon_list, 4)?;
        let [mask, width, height, layers] = head[..] else {
            return Err(ReadStop::Malformed {
                address: polygon_list,
            });
        };
        let sizes = 1..=1 << 16;
        if !sizes.contains(&width) || !sizes.contains(&height) || layers > 256 || mask >> 12 != 0 {
            return Err(ReadStop::Malformed {
                address: polygon_list,
            });
        }
        Ok(Some(ListReader {
            root: polygon_list,
            bins: Bins::new(Hierarchy {
                mask,
                width,
                height,
            }),
            layers: u64::from(layers),
        }))
    }

    /// The primitives whose bounds may meet a part of the framebuffer, in a layer of the tiler context (`internal layer
    /// index` of the framebuffer descriptor).
    pub(crate) fn tile<M: HeapMemory>(
        &self,
        memory: &mut M,
        layer: u64,
        within: PixelBox,
    ) -> Result<TilePrimitives, ReadStop<M::Refusal>> {
        let mut entries = Vec::new();
        let table = if layer < self.layers {
            read64(memory, self.root.wrapping_add(HEAD_BYTES + 8 * layer))?
        } else {
            0
        };
        if table != 0 {
            for bin in self.bins.covering(within) {
                let bin = table.wrapping_add(u64::from(bin) * BIN_BYTES);
                read_bin(memory, bin, &mut entries)?;
            }
        }
        // A primitive in several bins of the tile is entered in each.
        entries.sort_unstable_by_key(|entry| entry.number);
        entries.dedup_by_key(|entry| entry.number);
        Ok(TilePrimitives {
            entries,
            next: 0,
            within,
        })
    }
}

/// A primitive in a bin.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u32,
    record: u64,
}

fn read_bin<M: HeapMemory>(
    memory: &mut M,
    bin: u64,
    entries: &mut Vec<Entry>,
) -> Result<(), ReadStop<M::Refusal>> {
    let mut block = read64(memory, bin)?;
    let mut least = 0;
    while block != 0 {
        let malformed = Err(ReadStop::Malformed { address: block });
        let words = BLOCK_HEAD_BYTES / 4 + BLOCK_ENTRIES * ENTRY_BYTES / 4;
        let words = read_words(memory, block, words as usize)?;
        let (head, rest) = words.split_at(BLOCK_HEAD_BYTES as usize / 4);
        let count = u64::from(head[2]);
        if count == 0 || count > BLOCK_ENTRIES {
            return malformed;
        }
        let in_block = rest
            .chunks_exact(ENTRY_BYTES as usize / 4)
            .take(count as usize);
        for words in in_block {
            // Numbers grow along a list, so a circle of blocks is found out.
            let number = words[2];
            if number < least {
                return malformed;
            }
            least = number.saturating_add(1);
            let record = u64::from(words[1]) << 32 | u64::from(words[0]);
            entries.push(Entry { number, record });
        }
        block = u64::from(head[1]) << 32 | u64::from(head[0]);
    }
    Ok(())
}

/// Primitives of a tile, in order.
#[derive(Clone, Debug)]
pub(crate) struct TilePrimitives {
    entries: Vec<Entry>,
    next: usize,
    within: PixelBox,
}

impl TilePrimitives {
    /// Reads the next primitive whose bounds meet the tile. One whose memory waits stays the next.
    pub(crate) fn next<M: HeapMemory>(
        &mut self,
        memory: &mut M,
    ) -> Result<Option<ListedPrimitive>, ReadStop<M::Refusal>> {
        while let Some(entry) = self.entries.get(self.next) {
            let primitive = ListedPrimitive::read(memory, entry.record)?;
            self.next += 1;
            if primitive.bounds.intersection(self.within).is_some() {
                return Ok(Some(primitive));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::array::Array;
    use super::*;

    #[test]
    fn each_side_of_a_list_has_pixels_and_at_most_65536() {
        const LIST: u64 = 0x1000;
        let opens = |width: u64, height: u64| {
            let mut memory = Array::new(1 << 16);
            memory.put64(LIST, &[0b1000 | width << 32, height | 1 << 32]);
            let opened = ListReader::open(&mut memory, LIST);
            opened.map(|reader| reader.is_some()) == Ok(true)
        };
        for (width, height, good) in [
            (16, 16, true),
            (1 << 16, 1 << 16, true),
            (0, 16, false),
            (16, 0, false),
            ((1 << 16) + 1, 16, false),
            (16, (1 << 16) + 1, false),
        ] {
            assert_eq!(opens(width, height), good, "{width} by {height}");
        }
    }
}
