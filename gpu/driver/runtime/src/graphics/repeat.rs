//! Repetition: draws of as many vertices as the last, with other push constants, sets, vertex buffers, or another pipeline.
//!
//! All else of such a draw is in the registers: its uniforms are written by their plan, and registers loaded, in one go. What differs
//! besides push constants is [`super::changed`]'s.
//! Facts: hardware/graphics-draw.md 3.1 and 3.5.

use super::draw::Draw;
use super::draw_state::Stale;
use super::draw_uniforms::DrawUniforms;
use super::pass::RenderPass;
use super::put_draw::load_uniforms;
use super::registers::DrawLoads;
use crate::platform::Platform;

/// Most instructions of such a draw: both halves of three addresses, and the job.
const MOST_WORDS: u32 = 6 + 1;

/// The last draw, if another may repeat it: it depends on nothing, and is drawn once.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastDraw {
    pub(super) draw: Draw,
    pub(super) indexed: bool,
    /// Its job has a program of varyings.
    pub(super) varies: bool,
    /// Its uniforms are written by a plan.
    pub(super) planned: bool,
}

impl LastDraw {
    /// Draws nothing.
    pub(super) const NOTHING: LastDraw = LastDraw {
        draw: Draw {
            count: 0,
            instances: 0,
            first: 0,
            vertex_offset: 0,
            first_instance: 0,
        },
        indexed: false,
        varies: false,
        planned: false,
    };
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws the last draw again, with the uniforms that it has now. False if it is another draw, or there is no room in the block:
    /// then nothing was done.
    #[inline]
    pub(super) fn repeat_draw(&mut self, draw: &Draw, indexed: bool) -> bool {
        let state = &mut *self.state;
        let Some(last) = &state.last else {
            return false;
        };
        if state.stale.has(Stale::STATE) || last.draw != *draw || last.indexed != indexed {
            return false;
        }
        if state.stale.has(Stale::RESOURCES.and(Stale::PIPELINE)) {
            return self.draw_changed() || self.complete_sets() && self.draw_changed();
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
}
