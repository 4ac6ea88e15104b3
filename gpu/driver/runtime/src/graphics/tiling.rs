//! Tiling: the context of a pass's tiler, which the stream writes itself, as the hardware changes it each time.
//!
//! Facts: hardware/graphics.md 1.4, 2.4 and 2.7.

use super::framebuffer::Framebuffer;
use super::lane::{DEFERRED, OTHERS, TEMPORARY};
use super::samples;
use super::tile::hierarchy_mask;
use crate::command::Recorder;
use crate::error::Error;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::SubQueue;
use crate::tiler_page::{HEAP_WORDS, PAGE};
use crate::vm::GpuAddress;
use eitri_cs::enums::HeapOperationKind;
use eitri_cs::instr::{
    FinishFragment, FinishTiling, HeapOperation, LoadMultiple, Move32, StoreMultiple,
};
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
    /// The instruction that loads the word of the context which says so.
    place: PhysicalAddress,
}

/// The word of a context that says which vertex provokes.
const PROVOKING: usize = 2;

/// Bytes of a tiler context.
const CONTEXT_BYTES: u32 = 128;
/// Words of it that software writes before the first draw; the others are zero then.
const SAID: usize = 16;
/// Of these the heap's words.
const OF_HEAP: core::ops::Range<usize> = 6..10;
/// Where a context has the chunks that its pass has used up.
const COMPLETED: i16 = 40;

/// The registers that hold the words on their way, and those that hold the chunks.
const WORDS: Reg = r!(66);
const HEAP: Reg = r!(72);
const FIRST_CHUNK: Pair = d!(76);
const LAST_CHUNK: Pair = d!(78);
/// A pair for the context's address.
const CONTEXT: Pair = d!(58);
/// Of the registers of the words those that stay 0: the first two and the last six.
const ZEROS: u16 = 0xFC03;

/// The words of a context, but for those of the heap.
fn context(
    arch: Arch,
    features: u32,
    framebuffer: &Framebuffer,
    (last_provokes, chunk_bytes): (bool, u32),
) -> Result<[u32; SAID], DescriptorError> {
    let (fb_width, fb_height) = framebuffer.size;
    let tile = framebuffer.tile;
    let pattern = samples::pattern(arch, framebuffer.samples);
    let mut it = TilerContext {
        hierarchy_mask: hierarchy_mask(arch, features, framebuffer.size, tile, chunk_bytes),
        sample_pattern: pattern.unwrap_or(SamplePattern::SingleSampled),
        first_provoking_vertex: !last_provokes,
        fb_width,
        fb_height,
        layer_count: framebuffer.layers,
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
    /// Begins to tile a pass.
    pub(super) fn begin_tiling(
        &mut self,
        framebuffer: &Framebuffer,
        last_provokes: Option<bool>,
    ) -> Result<Tiling, Error> {
        self.open_lane(SubQueue::VertexTiler)?;
        let (_, at) = self.written_room(CONTEXT_BYTES)?;
        let features = self.device.hw.properties.tiler_features;
        let known = (last_provokes.unwrap_or(false), LEAST_CHUNK);
        let words = context(self.arch(), features, framebuffer, known)?;
        self.in_lane(SubQueue::VertexTiler, |it| {
            it.make_room(SAID as u32)?;
            let mut place = it.writer.end();
            for (number, word) in words.into_iter().enumerate() {
                if number == PROVOKING {
                    place = it.writer.end();
                }
                if !OF_HEAP.contains(&number) {
                    it.move_to(Reg::new(WORDS.number().wrapping_add(number as u8)), word)?;
                }
            }
            it.push(LoadMultiple {
                base_register: HEAP,
                mask: RegMask::first(4),
                address: PAGE,
                offset: HEAP_WORDS,
            })?;
            it.load_pair(CONTEXT, at.0)?;
            it.wait_slots(OTHERS.mask())?;
            for (mask, offset) in [
                (RegMask::first(SAID as u8), 0),
                (RegMask::new(ZEROS), 64),
                (RegMask::new(ZEROS), 96),
            ] {
                it.push(StoreMultiple {
                    base_register: WORDS,
                    mask,
                    address: CONTEXT,
                    offset,
                })?;
            }
            it.next_iterator(SubQueue::VertexTiler)?;
            it.push(HeapOperation {
                operation: HeapOperationKind::VertexTilerStarted,
                ..HeapOperation::default()
            })?;
            it.wait_slots(OTHERS.mask())?;
            Ok(Tiling {
                context: at,
                last_provokes,
                place,
            })
        })
    }

    /// Says which vertex provokes in the tiling of a pass, which has begun without a draw.
    pub(super) fn fix_provoking_vertex(
        &mut self,
        tiling: &mut Tiling,
        framebuffer: &Framebuffer,
        last: bool,
    ) -> Result<(), Error> {
        let features = self.device.hw.properties.tiler_features;
        let words = context(self.arch(), features, framebuffer, (last, LEAST_CHUNK))?;
        let load = self.check(Move32 {
            destination: Reg::new(WORDS.number().wrapping_add(PROVOKING as u8)),
            immediate: words[PROVOKING],
        })?;
        // The block may be closed already.
        let platform = &mut self.device.hw.platform;
        platform.store64(tiling.place, load.word());
        platform.clean(tiling.place.span(8));
        tiling.last_provokes = Some(last);
        Ok(())
    }

    /// Ends the tiling of a pass.
    pub(super) fn finish_tiling(&mut self) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::VertexTiler;
        let slot = self.iterator(STREAM);
        self.in_lane(STREAM, |it| {
            it.push(FinishTiling::default())?;
            it.push(HeapOperation {
                operation: HeapOperationKind::VertexTilerCompleted,
                wait_mask: slot.mask(),
                signal_slot: DEFERRED,
                ..HeapOperation::default()
            })?;
            it.count_up(STREAM, slot)
        })
    }

    /// Gives the chunks back that a pass has used up, in the commands of the fragments' lane: behind the work on `slot`, and
    /// counted on the slot that came after it, so that chunks come back in the order of passes.
    pub(super) fn finish_fragments(
        &mut self,
        context: GpuAddress,
        (slot, next): (eitri_cs::Slot, eitri_cs::Slot),
    ) -> Result<(), Error> {
        self.load_pair(CONTEXT, context.0)?;
        self.push(LoadMultiple {
            base_register: FIRST_CHUNK.low(),
            mask: RegMask::first(4),
            address: CONTEXT,
            offset: COMPLETED,
        })?;
        self.wait_slots(OTHERS.mask())?;
        self.push(FinishFragment {
            increment_fragment_completed: true,
            first_heap_chunk: FIRST_CHUNK,
            last_heap_chunk: LAST_CHUNK,
            wait_mask: slot.mask(),
            signal_slot: next,
            ..FinishFragment::default()
        })
    }
}

const _: () = assert!(TEMPORARY.low().number() == WORDS.number());
