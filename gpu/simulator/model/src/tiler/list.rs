//! Polygon list: writes primitives into the bins of a tiler context.
//!
//! Form, in heap memory: a head (mask, size, number of layers, and for each layer the address of its bins, 0 until it has
//! any); the bins of a layer (addresses of the first and the last block, 0 for an empty bin); blocks of entries (address of
//! the next block, number of entries, entries: address of a primitive's record and its number); records.
//!
//! An entry is one allocation, for its record and every block that it needs. Either there is memory for all of it or nothing
//! has happened; the writes follow. So a primitive is never in some of its bins only when memory runs out.
//!
//! Facts: hardware/graphics-model.md 6, graphics.md 2.1, 2.5 (layers), 2.8.

use super::bins::{Bins, Hierarchy};
use super::context::{Context, OpenError, Opening};
use super::heap::TilingStop;
use super::memory::{HeapMemory, Writes, bytes_of, read_words, read64};
use super::record::{DrawState, ListedPrimitive};
use super::vertices::{VertexBatch, VertexLayout};
use crate::raster::PixelBox;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes of the list's head before the addresses of the layers' bins.
pub(super) const HEAD_BYTES: u64 = 16;
/// Bytes of a bin.
pub(super) const BIN_BYTES: u64 = 16;
/// Bytes of a block, of its head and of an entry.
const BLOCK_BYTES: u64 = 128;
pub(super) const BLOCK_HEAD_BYTES: u64 = 16;
pub(super) const ENTRY_BYTES: u64 = 16;
/// Entries of a block.
pub(super) const BLOCK_ENTRIES: u64 = (BLOCK_BYTES - BLOCK_HEAD_BYTES) / ENTRY_BYTES;
/// Bytes that one write zeroes.
const ZEROED: u64 = 4096;

/// State of a list while its tiling waited for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// The list is as it was.
    Continued,
    /// The list was rendered and emptied: vertices must be shaded again, and primitives that were entered are done.
    Emptied,
}

/// The polygon list of a tiler context, while a draw is tiled.
#[derive(Clone, Debug)]
pub(crate) struct PolygonList {
    context: Context,
    hierarchy: Hierarchy,
    bins: Bins,
    writes: Writes,
    /// Address of each layer's bins: 0 where it has none, and unknown until the head was read.
    layers: Option<Vec<u64>>,
    draw: DrawState,
    /// Address of the draw's record: 0 until a primitive needs it.
    draw_record: u64,
}

impl PolygonList {
    /// Reads a tiler context and goes on with its list.
    pub(crate) fn open<M: HeapMemory>(
        memory: &mut M,
        opening: &Opening,
    ) -> Result<PolygonList, OpenError<M::Refusal>> {
        let context = Context::open(memory, opening)?;
        let hierarchy = context.hierarchy(opening.arch, BIN_BYTES);
        Ok(PolygonList {
            bins: Bins::new(hierarchy),
            hierarchy,
            context,
            writes: Writes::default(),
            layers: None,
            draw: DrawState::default(),
            draw_record: 0,
        })
    }

    /// Primitives that follow belong to a draw with this state.
    pub(crate) fn set_draw(&mut self, state: DrawState) {
        self.draw = state;
        self.draw_record = 0;
    }

    /// All pixels of the framebuffer.
    pub(crate) fn framebuffer(&self) -> PixelBox {
        let last = |pixels: u32| pixels.clamp(1, 1 << 16).wrapping_sub(1) as u16;
        PixelBox {
            min_x: 0,
            min_y: 0,
            max_x: last(self.hierarchy.width),
            max_y: last(self.hierarchy.height),
        }
    }

    /// Allocates memory for the results of a batch of vertices.
    pub(crate) fn allocate_vertices<M: HeapMemory>(
        &mut self,
        memory: &mut M,
        layout: VertexLayout,
        vertices: u32,
    ) -> Result<VertexBatch, TilingStop<M::Refusal>> {
        let address = self.allocate(memory, layout.bytes(vertices))?;
        Ok(VertexBatch::at(address, layout, vertices))
    }

    /// Enters a primitive of the current draw. Its `draw` is filled in.
    ///
    /// Dropped are primitives of layers that the context does not have, and those outside the framebuffer. A clipped
    /// primitive is as many entries as it has pieces: the caller remembers which pieces are entered.
    pub(crate) fn add<M: HeapMemory>(
        &mut self,
        memory: &mut M,
        primitive: &ListedPrimitive,
    ) -> Result<(), TilingStop<M::Refusal>> {
        let layer = i64::from(primitive.layer) + i64::from(self.context.parameters.layer_offset);
        let layers = i64::from(self.context.parameters.layer_count);
        let bounds = primitive.bounds.intersection(self.framebuffer());
        let (Some(bounds), true) = (bounds, (0..layers).contains(&layer)) else {
            return Ok(());
        };
        let table = self.layer_bins(memory, layer as u64)?;
        let draw = self.draw_record(memory)?;
        let record = ListedPrimitive {
            bounds,
            draw,
            ..*primitive
        };
        self.enter(memory, table, &record)
    }

    /// Writes what is decided, and the words that the command stream and a later draw read.
    pub(crate) fn store<M: HeapMemory>(&mut self, memory: &mut M) -> Result<(), M::Refusal> {
        self.context.store(&mut self.writes);
        self.writes.flush(memory)
    }

    /// Goes on after [`TilingStop::Exhausted`], once there may be memory.
    pub(crate) fn resume<M: HeapMemory>(&mut self, memory: &mut M) -> Result<Resumed, M::Refusal> {
        if !self.context.was_emptied(memory)? {
            return Ok(Resumed::Continued);
        }
        self.context.empty();
        self.layers = None;
        self.draw_record = 0;
        Ok(Resumed::Emptied)
    }

    /// Allocates bytes. When there are none the list is stored first: it is about to be looked at.
    fn allocate<M: HeapMemory>(
        &mut self,
        memory: &mut M,
        bytes: u64,
    ) -> Result<u64, TilingStop<M::Refusal>> {
        self.writes.flush(memory)?;
        let allocated = self.context.heap.allocate(memory, &mut self.writes, bytes);
        if matches!(allocated, Err(TilingStop::Exhausted)) {
            self.store(memory)?;
        }
        allocated
    }

    /// Address of a layer's bins, which are made if need be.
    fn layer_bins<M: HeapMemory>(
        &mut self,
        memory: &mut M,
        layer: u64,
    ) -> Result<u64, TilingStop<M::Refusal>> {
        let mut layers = self.layer_table(memory)?;
        let known = layers.get(layer as usize).copied().unwrap_or(0);
        if known != 0 {
            self.layers = Some(layers);
            return Ok(known);
        }
        let bytes = u64::from(self.bins.count) * BIN_BYTES;
        let allocated = self.allocate(memory, bytes);
        if let (Ok(address), Some(bins)) = (&allocated, layers.get_mut(layer as usize)) {
            *bins = *address;
            self.zero(*address, bytes);
            let at = self.context.root.wrapping_add(HEAD_BYTES + 8 * layer);
            self.writes.push64(at, *address);
        }
        self.layers = Some(layers);
        allocated
    }

    /// Addresses of the layers' bins, of a list that is begun if need be.
    fn layer_table<M: HeapMemory>(
        &mut self,
        memory: &mut M,
    ) -> Result<Vec<u64>, TilingStop<M::Refusal>> {
        if let Some(layers) = self.layers.take() {
            return Ok(layers);
        }
        let count = u64::from(self.context.parameters.layer_count);
        if self.context.root != 0 {
            let at = self.context.root.wrapping_add(HEAD_BYTES);
            let words = read_words(memory, at, 2 * count as usize)?;
            let layers = words
                .chunks_exact(2)
                .map(|it| u64::from(it[1]) << 32 | u64::from(it[0]));
            return Ok(layers.collect());
        }
        let root = self.allocate(memory, HEAD_BYTES + 8 * count)?;
        let Hierarchy {
            mask,
            width,
            height,
        } = self.hierarchy;
        self.writes
            .push(root, bytes_of(&[mask, width, height, count as u32]));
        self.zero(root.wrapping_add(HEAD_BYTES), 8 * count);
        self.context.root = root;
        Ok(vec![0; count as usize])
    }

    /// Address of the current draw's record, which is written if need be.
    fn draw_record<M: HeapMemory>(
        &mut self,
        memory: &mut M,
    ) -> Result<u64, TilingStop<M::Refusal>> {
        if self.draw_record == 0 {
            let bytes = bytes_of(&self.draw.words());
            let address = self.allocate(memory, bytes.len() as u64)?;
            self.writes.push(address, bytes);
            self.draw_record = address;
        }
        Ok(self.draw_record)
    }

    /// Enters a record into the bins that its bounds touch.
    fn enter<M: HeapMemory>(
        &mut self,
        memory: &mut M,
        table: u64,
        record: &ListedPrimitive,
    ) -> Result<(), TilingStop<M::Refusal>> {
        self.writes.flush(memory)?;
        let mut tails = Vec::new();
        for bin in self.bins.entered(record.bounds) {
            let address = table.wrapping_add(u64::from(bin) * BIN_BYTES);
            tails.push(Tail::read(memory, address)?);
        }
        let bytes = record.bytes();
        let record_bytes = (bytes.len() as u64).next_multiple_of(ENTRY_BYTES);
        let full = tails.iter().filter(|tail| tail.is_full()).count() as u64;
        let address = self.allocate(memory, record_bytes + full * BLOCK_BYTES)?;
        // From here on nothing is refused: what is left are writes.
        self.writes.push(address, bytes);
        let number = self.context.primitives;
        self.context.primitives = number.wrapping_add(1);
        let mut block = address.wrapping_add(record_bytes);
        for tail in tails {
            let new = tail.is_full().then_some(block);
            if new.is_some() {
                block = block.wrapping_add(BLOCK_BYTES);
            }
            tail.append(new, entry(address, number), &mut self.writes);
        }
        Ok(())
    }

    /// Zeroes memory that was allocated.
    fn zero(&mut self, address: u64, bytes: u64) {
        let mut done = 0;
        while done < bytes {
            let part = (bytes - done).min(ZEROED);
            self.writes
                .push(address.wrapping_add(done), vec![0; part as usize]);
            done += part;
        }
    }
}

/// An entry of a block.
fn entry(record: u64, number: u32) -> Vec<u8> {
    bytes_of(&[record as u32, (record >> 32) as u32, number, 0])
}

/// The end of a bin's list.
struct Tail {
    /// Address of the bin.
    bin: u64,
    /// The last block; 0 for an empty bin.
    last: u64,
    /// Entries of the last block.
    entries: u64,
}

impl Tail {
    fn read<M: HeapMemory>(memory: &mut M, bin: u64) -> Result<Tail, M::Refusal> {
        let last = read64(memory, bin.wrapping_add(8))?;
        let entries = if last == 0 {
            0
        } else {
            read64(memory, last.wrapping_add(8))?
        };
        Ok(Tail {
            bin,
            last,
            entries: entries & u64::from(u32::MAX),
        })
    }

    fn is_full(&self) -> bool {
        self.last == 0 || self.entries >= BLOCK_ENTRIES
    }

    /// Appends an entry: to the last block, or to a new one behind it.
    fn append(&self, new: Option<u64>, entry: Vec<u8>, writes: &mut Writes) {
        let Some(block) = new else {
            let at = self
                .last
                .wrapping_add(BLOCK_HEAD_BYTES + self.entries * ENTRY_BYTES);
            writes.push(at, entry);
            writes.push64(self.last.wrapping_add(8), self.entries + 1);
            return;
        };
        writes.push64(block, 0);
        writes.push64(block.wrapping_add(8), 1);
        writes.push(block.wrapping_add(BLOCK_HEAD_BYTES), entry);
        if self.last == 0 {
            writes.push64(self.bin, block);
        } else {
            writes.push64(self.last, block);
        }
        writes.push64(self.bin.wrapping_add(8), block);
    }
}
