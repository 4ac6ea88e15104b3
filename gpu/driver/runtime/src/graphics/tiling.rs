//! Tiling: the context of a pass's tiler, which the stream writes itself, as the hardware changes it each time.
//!
//! Facts: hardware/graphics.md 1.4, 2.4 and 2.7.

use super::batch::Batch;
use super::draw_state::DrawState;
use super::error::GraphicsError;
use super::framebuffer::Extent;
use super::lane::TEMPORARY;
use super::samples;
use super::tile::hierarchy_mask;
use super::tiler_page::{HEAP_WORDS, PAGE};
use crate::command::{CommandError, Recorder};
use crate::error::Error;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::SubQueue;
use crate::vm::GpuAddress;
use eitri_cs::instr::{LoadMultiple, StoreMultiple};
use eitri_cs::{Pair, Reg, RegMask, d, r};
use eitri_descriptors::framebuffer::SamplePattern;
use eitri_descriptors::tiler::TilerContext;
use eitri_descriptors::{Arch, Descriptor, DescriptorError};

/// The tiling of a pass that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    pub(super) context: GpuAddress,
    /// The last vertex of a primitive provokes, once a draw says so.
    pub(super) last_provokes: Option<bool>,
    /// Where the word of the context that says so is loaded from. Secondary commands have no context of their own.
    place: Option<PhysicalAddress>,
}

impl Tiling {
    /// That of a pass that calls the commands which are recorded: its context is in the register of contexts.
    pub(super) const INHERITED: Tiling = Tiling {
        context: GpuAddress(0),
        last_provokes: None,
        place: None,
    };
}

/// Words of the context of a pass before, which another pass may be made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastContext {
    extent: Extent,
    last_provokes: bool,
    /// Where they stand.
    room: (PhysicalAddress, GpuAddress),
}

/// The word of a context that says which vertex provokes.
const PROVOKING: usize = 2;

/// Bytes of a tiler context.
const CONTEXT_BYTES: u32 = 128;
/// Words of it that software writes before the first draw; the others are zero then.
const SAID: usize = 16;
/// Of these words 6 to 9 are the heap's: these are the others, as bits of their registers.
const OF_HEAP_COUNT: usize = 4;
const NOT_HEAP: u16 = !0x03C0;
/// Where a context has the chunks that its pass has used up.
pub(super) const COMPLETED: i16 = 40;

/// The registers that hold the words on their way, and those that hold the chunks.
const WORDS: Reg = r!(66);
const HEAP: Reg = r!(72);
const FIRST_CHUNK: Pair = d!(76);
const LAST_CHUNK: Pair = d!(78);
pub(super) const CHUNKS: [Pair; 2] = [FIRST_CHUNK, LAST_CHUNK];
/// A pair for the context's address, which no job reads.
pub(super) const CONTEXT: Pair = d!(90);
/// Of the registers of the words those that stay 0: the first two and the last six.
const ZEROS: u16 = 0xFC03;

/// The words of a context, but for those of the heap.
fn context(
    arch: Arch,
    features: u32,
    extent: &Extent,
    (last_provokes, chunk_bytes): (bool, u32),
) -> Result<[u32; SAID], DescriptorError> {
    let (fb_width, fb_height) = extent.size;
    let tile = extent.tile;
    let pattern = samples::pattern(arch, extent.samples);
    let mut it = TilerContext {
        hierarchy_mask: hierarchy_mask(arch, features, extent.size, tile, chunk_bytes),
        sample_pattern: pattern.unwrap_or(SamplePattern::SingleSampled),
        first_provoking_vertex: !last_provokes,
        fb_width,
        fb_height,
        layer_count: extent.layers,
        ..TilerContext::default()
    };
    if arch >= Arch::V12 {
        it.effective_tile_size = tile.pixels;
    }
    let mut words = [0; 32];
    it.pack(arch, &mut words)?;
    let mut said = [0; SAID];
    for (to, from) in said.iter_mut().zip(words) {
        *to = from;
    }
    Ok(said)
}

/// Bytes of a chunk for which bins are chosen: those of [`crate::TilerHeapConfig::default`]'s smallest sibling. The commands do
/// not know which heap they will have.
const LEAST_CHUNK: u32 = 128 << 10;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The tiling of a pass, which begins with this if there was none.
    #[inline]
    pub(super) fn tiling<'s>(
        &mut self,
        state: &'s mut DrawState,
        last_provokes: Option<bool>,
    ) -> Result<&'s mut Tiling, Error> {
        if state.tiler.is_none() {
            self.begin_tiling(state, last_provokes)?;
        }
        let missing = CommandError::from(GraphicsError::Area);
        Ok(state.tiler.as_mut().ok_or(missing)?)
    }

    /// Begins to tile a pass.
    #[inline(never)]
    fn begin_tiling(
        &mut self,
        state: &mut DrawState,
        last_provokes: Option<bool>,
    ) -> Result<(), Error> {
        self.open_lane(SubQueue::VertexTiler)?;
        if let Some(passes) = &mut self.passes {
            passes.last_state.forget();
        }
        let (_, context) = self.written_room(CONTEXT_BYTES)?;
        let (place, from) = self.context_words(last_provokes)?;
        self.room_for_batch(SubQueue::VertexTiler)?;
        let mut batch = Batch::new();
        let wait = self.words()?.wait_others();
        let of = &self.encoded()?.tiling;
        let started = of.started;
        batch.put_all([
            of.context.with_address(from.0),
            of.load_words,
            of.load_heap,
            wait,
            of.context.with_address(context.0),
        ]);
        batch.put_all(of.store);
        self.add_next_iterator(SubQueue::VertexTiler, &mut batch)?;
        batch.put_all([started, wait]);
        self.write_batch(SubQueue::VertexTiler, &mut batch)?;
        if let Some(passes) = &mut self.passes {
            passes.unfinished = Some(context);
        }
        state.tiler = Some(Tiling {
            context,
            last_provokes,
            place: Some(place.offset(PROVOKING as u64 * 4)),
        });
        Ok(())
    }

    /// Where the words of the pass's context stand from which the stream makes it: those of the pass before, if they are the same.
    fn context_words(
        &mut self,
        last_provokes: Option<bool>,
    ) -> Result<(PhysicalAddress, GpuAddress), Error> {
        let extent = self.framebuffer().extent();
        let last = self.passes.as_ref().and_then(|passes| passes.context);
        if let Some(last) = last
            && last_provokes == Some(last.last_provokes)
            && last.extent == extent
        {
            return Ok(last.room);
        }
        let features = self.device.hw.properties.tiler_features;
        let known = (last_provokes.unwrap_or(false), LEAST_CHUNK);
        let words = context(self.arch(), features, &extent, known)?;
        let bytes = (SAID - OF_HEAP_COUNT) as u32 * 4;
        let room = self.in_lane(SubQueue::VertexTiler, |it| it.room(bytes))?;
        let [a, b, c, d, e, f, _, _, _, _, k, l, m, n, o, p] = words;
        let double = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let loaded = [
            double(a, b),
            double(c, d),
            double(e, f),
            double(k, l),
            double(m, n),
            double(o, p),
        ];
        self.device.hw.platform.write_words(room.0, &loaded);
        // Words that may yet be changed are one pass's alone.
        if let (Some(passes), Some(last_provokes)) = (&mut self.passes, last_provokes) {
            passes.context = Some(LastContext {
                extent,
                last_provokes,
                room,
            });
        }
        Ok(room)
    }

    /// Says which vertex provokes in the tiling of a pass, which has begun without a draw.
    pub(super) fn fix_provoking_vertex(
        &mut self,
        tiling: &mut Tiling,
        last: bool,
    ) -> Result<(), Error> {
        tiling.last_provokes = Some(last);
        let Some(place) = tiling.place else {
            // The pass that calls these commands says so.
            return Ok(());
        };
        let features = self.device.hw.properties.tiler_features;
        let extent = self.framebuffer().extent();
        let words = context(self.arch(), features, &extent, (last, LEAST_CHUNK))?;
        // The block may be closed already.
        let platform = &mut self.device.hw.platform;
        platform.store32(place, words[PROVOKING]);
        platform.clean(place.span(4));
        Ok(())
    }

    /// Ends the tiling of a pass that was dropped, if it has one: nothing of it is rendered, and its chunks go back to the heap.
    #[inline]
    pub(super) fn finish_dropped(&mut self) -> Result<(), Error> {
        match self.passes.as_ref().and_then(|passes| passes.unfinished) {
            Some(context) => self.finish_without_fragments(context),
            None => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_without_fragments(&mut self, context: GpuAddress) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::Fragment;
        self.finish_tiling()?;
        self.room_for_batch(STREAM)?;
        let mut batch = Batch::new();
        self.wait_until_dropped_is_tiled(context, &mut batch)?;
        self.add_next_iterator(STREAM, &mut batch)?;
        self.finish_fragments(true, &mut batch)?;
        self.write_batch(STREAM, &mut batch)
    }

    /// Ends the tiling of a pass.
    pub(super) fn finish_tiling(&mut self) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::VertexTiler;
        if let Some(passes) = &mut self.passes {
            passes.unfinished = None;
        }
        let mut batch = Batch::new();
        let of = self.own_iterator(STREAM)?;
        batch.put_all([self.encoded()?.tiling.finish, of.tiled, of.count_up]);
        self.write_batch(STREAM, &mut batch)?;
        self.note_count(STREAM);
        Ok(())
    }

    /// Ends the work of a pass on the slot of the fragments' iterator. Of one that was `tiled` the chunks that it has used up come back
    /// behind that, counted on the slot that comes after it, so that they come back in the order of passes: the register of contexts
    /// holds the pass's since [`Recorder::add_wait_until_tiled`].
    #[inline(always)]
    pub(super) fn finish_fragments(&mut self, tiled: bool, batch: &mut Batch) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::Fragment;
        let of = self.own_iterator(STREAM)?;
        let (finish, count_up) = (of.finish_fragments, of.count_up);
        if tiled {
            self.add_next_iterator(STREAM, batch)?;
            let load = self.encoded()?.tiling.load_completed;
            batch.put_all([load, self.words()?.wait_others(), finish]);
        }
        batch.put(count_up);
        self.note_count(STREAM);
        Ok(())
    }
}

/// Loads of the words of a context, but for the heap's; of these; and of the chunks that a pass has used up.
pub(super) fn loads() -> [LoadMultiple; 3] {
    [
        LoadMultiple {
            base_register: WORDS,
            mask: RegMask::new(NOT_HEAP),
            address: CONTEXT,
            offset: 0,
        },
        LoadMultiple {
            base_register: HEAP,
            mask: RegMask::first(OF_HEAP_COUNT as u8),
            address: PAGE,
            offset: HEAP_WORDS,
        },
        LoadMultiple {
            base_register: FIRST_CHUNK.low(),
            mask: RegMask::first(4),
            address: CONTEXT,
            offset: COMPLETED,
        },
    ]
}

/// Stores of the words of a context, and of the zeros behind them.
pub(super) fn stores() -> [StoreMultiple; 3] {
    let store = |mask, offset| StoreMultiple {
        base_register: WORDS,
        mask,
        address: CONTEXT,
        offset,
    };
    [
        store(RegMask::first(SAID as u8), 0),
        store(RegMask::new(ZEROS), 64),
        store(RegMask::new(ZEROS), 96),
    ]
}

const _: () = assert!(TEMPORARY.low().number() == WORDS.number());
