//! Repetition: draws of as many vertices as the last, with other push constants, sets, vertex buffers, or another pipeline.
//!
//! All else of such a draw is in the registers: its uniforms are written by their plan, and registers loaded, in one go. What differs
//! besides push constants is [`super::changed`]'s.
//! Facts: hardware/graphics-draw.md 3.1 and 3.5.

use super::draw::Draw;
use super::draw_state::Stale;
use super::pass::RenderPass;
use super::put_draw::{load_numbers, load_uniforms};
use super::registers::{DrawLoads, DrawRegisters};
use crate::device::Kind;
use crate::platform::Platform;

/// Most instructions of such a draw: both halves of three addresses, and the job.
const MOST_WORDS: u32 = 6 + 1;
/// Most instructions of one with other numbers: each of them, and the job.
const MOST_NUMBERS: u32 = 5 + 1;

/// What [`RenderPass::draw_changed`] looks at besides uniforms.
const CHANGED: Stale = Stale::RESOURCES.and(Stale::PIPELINE).and(Stale::INDICES);

/// The last draw, if another may repeat it: it depends on nothing, and is drawn once.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastDraw {
    pub(super) numbers: DrawNumbers,
    pub(super) kind: DrawKind,
    /// Its job has a program of varyings.
    pub(super) varies: bool,
    /// Its uniforms are written by a plan.
    pub(super) planned: bool,
}

/// The numbers of a draw as words, two in each: so they are compared and copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawNumbers([u64; 3]);

impl DrawNumbers {
    #[inline(always)]
    pub(super) const fn of(draw: &Draw) -> DrawNumbers {
        DrawNumbers([
            two(draw.count, draw.instances),
            two(draw.first, draw.vertex_offset as u32),
            draw.first_instance as u64,
        ])
    }

    /// Whether they are the same.
    #[inline(always)]
    pub(super) const fn are(&self, other: &DrawNumbers) -> bool {
        let (DrawNumbers([a, b, c]), DrawNumbers([x, y, z])) = (self, other);
        *a == *x && *b == *y && *c == *z
    }
}

const fn two(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << u32::BITS
}

/// Where a draw has its vertices and its numbers from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawKind {
    Plain,
    Indexed,
    /// The numbers are a buffer's: no draw repeats it.
    Indirect,
    IndexedIndirect,
}

impl DrawKind {
    pub(super) const fn is_indexed(self) -> bool {
        matches!(self, DrawKind::Indexed | DrawKind::IndexedIndirect)
    }
}

impl LastDraw {
    /// Draws nothing.
    pub(super) const NOTHING: LastDraw = LastDraw {
        numbers: DrawNumbers([0; 3]),
        kind: DrawKind::Plain,
        varies: false,
        planned: false,
    };
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws the last draw again, with the uniforms that it has now. False if it is another draw, or there is no room in the block:
    /// then nothing was done.
    ///
    /// Only comparisons are here: each way has a frame of its own, which is as large as it needs.
    #[inline(always)]
    pub(super) fn repeat_draw(&mut self, draw: &Draw, kind: DrawKind) -> bool {
        let state = &*self.state;
        let Some(last) = &state.last else {
            return false;
        };
        if state.stale.has(Stale::STATE) || last.kind != kind {
            return false;
        }
        if !last.numbers.are(&DrawNumbers::of(draw)) {
            return self.draw_numbers(draw);
        }
        if state.stale.has(CHANGED) {
            return self.draw_changed() || self.draw_otherwise(draw);
        }
        if state.stale.has(Stale::UNIFORMS) {
            return self.draw_uniforms();
        }
        self.draw_again()
    }

    /// Draws the last draw again, whose uniforms stand in memory. False if there is no room in the block.
    #[inline(never)]
    fn draw_again(&mut self) -> bool {
        let recorder = &mut *self.recorder;
        let (Some(passes), Some(last)) = (&mut recorder.passes, &self.state.last) else {
            return false;
        };
        let of_lane = passes.tiling_writer(&mut recorder.writer);
        let (Some((writer, _)), Some(drawing)) = (of_lane, &recorder.device.drawing) else {
            return false;
        };
        if !writer.has_room(1) {
            return false;
        }
        let platform = &mut recorder.device.hw.platform;
        writer.put(platform, drawing.encoded.run(last.varies));
        true
    }

    /// Draws the last draw again with other uniforms, as far as push constants say them. False if they are said by more, or there is
    /// no room in the block.
    #[inline(never)]
    fn draw_uniforms(&mut self) -> bool {
        let (recorder, state) = (&mut *self.recorder, &mut *self.state);
        let (Some(passes), Some(last)) = (&mut recorder.passes, &state.last) else {
            return false;
        };
        let parts = passes.parts_of_draws(&mut recorder.writer);
        let (Some((writer, loaded)), Some(drawing)) = (parts.tiling, &recorder.device.drawing)
        else {
            return false;
        };
        let uniforms = parts.uniforms;
        let says = last.planned & state.says_state & state.says_sets;
        if !(says && writer.has_room_for(MOST_WORDS, uniforms.bytes)) {
            return false;
        }
        let platform = &mut recorder.device.hw.platform;
        let (memory, address) = writer.take(uniforms.bytes);
        platform.write_words(memory, uniforms.fill());
        // High halves of the registers, where the numbers of uniforms are, mostly stay as they are.
        let values = uniforms.registers(address);
        let mut loads = DrawLoads::new(&drawing.encoded, loaded);
        load_uniforms(&mut loads, values, last.varies);
        loads.put(drawing.encoded.run(last.varies));
        loads.write(platform, writer);
        state.uniforms = values.map(Some);
        state.stale = Stale::NOTHING;
        true
    }

    /// Draws the last draw again with sets that are used for the first time, or with another index buffer. False as
    /// [`RenderPass::draw_numbers`].
    #[inline(never)]
    fn draw_otherwise(&mut self, draw: &Draw) -> bool {
        if self.state.stale.has(Stale::INDICES) {
            return self.draw_numbers(draw);
        }
        self.complete_sets() && self.draw_changed()
    }

    /// Draws other vertices or instances than the last draw, with what is bound now. False if that is nothing plain, or there is no room
    /// in the block: then nothing was drawn.
    #[inline(never)]
    fn draw_numbers(&mut self, draw: &Draw) -> bool {
        let (recorder, state) = (&mut *self.recorder, &mut *self.state);
        let device = &mut *recorder.device;
        let (Some(key), Some(passes)) = (state.pipeline, &mut recorder.passes) else {
            return false;
        };
        let Some(Kind::GraphicsPipeline(made, _)) =
            device.objects.get(key).map(|object| &object.kind)
        else {
            return false;
        };
        // Nothing is to be drawn.
        if draw.count == 0 || draw.instances == 0 {
            return false;
        }
        state.begin_at(made, draw.vertex_offset as u32, draw.first_instance);
        if state.stale != Stale::NOTHING {
            return self.draw_numbers_changed(draw)
                || self.complete_sets() && self.draw_numbers_changed(draw);
        }
        let of_lane = passes.tiling_writer(&mut recorder.writer);
        let (Some((writer, loaded)), Some(drawing), Some(last)) =
            (of_lane, &device.drawing, &mut state.last)
        else {
            return false;
        };
        if !writer.has_room(MOST_NUMBERS) {
            return false;
        }
        let mut loads = DrawLoads::new(&drawing.encoded, loaded);
        load_numbers(
            &mut loads,
            DrawRegisters::of(device.hw.properties.arch),
            draw,
        );
        loads.put(drawing.encoded.run(last.varies));
        loads.write(&mut device.hw.platform, writer);
        last.numbers = DrawNumbers::of(draw);
        true
    }
}
