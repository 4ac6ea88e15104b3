//! Repetition: draws of as many vertices as the last, with other push constants, sets, vertex buffers, or another pipeline.
//!
//! All else of such a draw is in the registers: its uniforms are written by their plan, and registers loaded, in one go. What differs
//! besides push constants is [`super::changed`]'s.
//! Facts: hardware/graphics-draw.md 3.1 and 3.5.

use super::draw::Draw;
use super::draw_state::Stale;
use super::draw_uniforms::DrawUniforms;
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
    pub(super) draw: Draw,
    pub(super) kind: DrawKind,
    /// Its job has a program of varyings.
    pub(super) varies: bool,
    /// Its uniforms are written by a plan.
    pub(super) planned: bool,
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
    /// Notes the numbers of a draw, one by one: a copy of all of them costs more.
    #[inline(always)]
    pub(super) const fn note_numbers(&mut self, draw: &Draw) {
        (self.draw.count, self.draw.instances) = (draw.count, draw.instances);
        (self.draw.first, self.draw.vertex_offset) = (draw.first, draw.vertex_offset);
        self.draw.first_instance = draw.first_instance;
    }

    /// Draws nothing.
    pub(super) const NOTHING: LastDraw = LastDraw {
        draw: Draw {
            count: 0,
            instances: 0,
            first: 0,
            vertex_offset: 0,
            first_instance: 0,
        },
        kind: DrawKind::Plain,
        varies: false,
        planned: false,
    };
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws the last draw again, with the uniforms that it has now. False if it is another draw, or there is no room in the block:
    /// then nothing was done.
    #[inline]
    pub(super) fn repeat_draw(&mut self, draw: &Draw, kind: DrawKind) -> bool {
        let state = &mut *self.state;
        let Some(last) = &state.last else {
            return false;
        };
        if state.stale.has(Stale::STATE) || last.kind != kind {
            return false;
        }
        if last.draw != *draw {
            return self.draw_numbers(draw);
        }
        if state.stale.has(CHANGED) {
            return self.draw_changed() || self.draw_otherwise(draw);
        }
        let recorder = &mut *self.recorder;
        let Some(passes) = &mut recorder.passes else {
            return false;
        };
        let (Some(lane), Some(drawing)) = (&mut passes.tiling, &recorder.device.drawing) else {
            return false;
        };
        let platform = &mut recorder.device.hw.platform;
        let varies = last.varies;
        let run = drawing.encoded.run(varies);
        if !state.stale.has(Stale::UNIFORMS) {
            if !lane.writer.has_room(1) {
                return false;
            }
            lane.writer.put(platform, run);
            return true;
        }
        let DrawUniforms { words, places, .. } = &mut passes.uniforms;
        let says = last.planned && state.says_state && state.says_sets;
        if !(says && lane.writer.has_room_for(MOST_WORDS, places.bytes)) {
            return false;
        }
        let (memory, address) = lane.writer.take(places.bytes);
        platform.write_words(memory, words.again());
        // High halves of the registers, where the numbers of uniforms are, mostly stay as they are.
        let values = places.registers(address);
        let mut loads = DrawLoads::new(&drawing.encoded, &mut lane.loaded);
        load_uniforms(&mut loads, values, varies);
        loads.put(run);
        loads.write(platform, &mut lane.writer);
        state.uniforms = values.map(Some);
        state.stale = Stale::NOTHING;
        true
    }

    /// Draws the last draw again with sets that are used for the first time, with another index buffer, or from another instance than
    /// the first on. False as [`RenderPass::draw_numbers`].
    #[inline(never)]
    fn draw_otherwise(&mut self, draw: &Draw) -> bool {
        if self.state.stale.has(Stale::INDICES) || draw.first_instance != 0 {
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
        let (Some(lane), Some(drawing), Some(last)) =
            (&mut passes.tiling, &device.drawing, &mut state.last)
        else {
            return false;
        };
        if !lane.writer.has_room(MOST_NUMBERS) {
            return false;
        }
        let mut loads = DrawLoads::new(&drawing.encoded, &mut lane.loaded);
        load_numbers(
            &mut loads,
            DrawRegisters::of(device.hw.properties.arch),
            draw,
        );
        loads.put(drawing.encoded.run(last.varies));
        loads.write(&mut device.hw.platform, &mut lane.writer);
        last.note_numbers(draw);
        true
    }
}
