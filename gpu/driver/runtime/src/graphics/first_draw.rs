//! First draws of a pass that go on from the last draw of a pass before, in the same commands.
//!
//! Registers of the vertex lane keep their values from pass to pass: such a draw loads the tiler's context and the scissor, and all
//! that another pipeline, set or push constants change, as [`super::changed`] does.
//! Never: goes on from a pass that set something in place of what its pipeline says, or that was not ended.
//! Facts: hardware/graphics-draw.md 3.1.

use super::draw::{Draw, IndexType};
use super::draw_state::{DrawState, Stale};
use super::pass::RenderPass;
use super::pass_bound::Bound;
use super::put_draw::{depths, scissor_of};
use super::repeat::{DrawKind, DrawNumbers, LastDraw};
use crate::command::Recorder;
use crate::error::Error;
use crate::platform::Platform;
use crate::slab::Key;

/// State of the last draw of a pass that was ended, which registers of the vertex lane hold.
#[derive(Debug)]
pub(super) struct LanePassState {
    /// They do, and there was such a draw.
    known: bool,
    pipeline: Key,
    last: LastDraw,
    /// Apart from what they are: together they would be copied by a call.
    indices: Bound,
    kind: Option<IndexType>,
    /// Depths that are clipped to, as their bits.
    depths: [u32; 2],
}

impl LanePassState {
    /// That of no pass.
    pub(super) const NOTHING: LanePassState = LanePassState {
        known: false,
        pipeline: Key::NONE,
        last: LastDraw::NOTHING,
        indices: Bound {
            address: 0,
            bytes: 0,
        },
        kind: None,
        depths: [0; 2],
    };

    /// Registers are about to be loaded for another pass.
    pub(super) const fn forget(&mut self) {
        self.known = false;
    }

    /// Notes the state of a pass that ends and has drawn, if the registers hold it.
    pub(super) fn note(&mut self, state: &DrawState) {
        let stale = Stale::STATE.and(Stale::PIPELINE).and(Stale::INDICES);
        let loaded = !state.stale.has(stale);
        let (Some(pipeline), Some(last)) = (state.pipeline, &state.last) else {
            return;
        };
        if !(loaded && state.is_of_pipeline()) {
            return;
        }
        self.known = true;
        self.pipeline = pipeline;
        self.last = *last;
        self.kind = None;
        if let (true, Some((indices, kind))) = (last.kind.is_indexed(), &state.indices) {
            (self.indices, self.kind) = (*indices, Some(*kind));
        }
        self.depths = depths(&state.values.viewport).map(f32::to_bits);
    }

    fn is_indices(&self, other: Option<&(Bound, IndexType)>) -> bool {
        other.is_some_and(|(indices, kind)| self.indices == *indices && self.kind == Some(*kind))
    }

    /// Whether a draw of a pass is the same, the pipeline, sets and push constants aside.
    fn is_of(&self, state: &DrawState, draw: &Draw, kind: DrawKind) -> bool {
        self.known
            && self.last.numbers.are(&DrawNumbers::of(draw))
            && self.last.kind == kind
            && (!kind.is_indexed() || self.is_indices(state.indices.as_ref()))
            && state.is_of_pipeline()
            && self.depths == depths(&state.values.viewport).map(f32::to_bits)
    }
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws the first draw of a pass, if it can go on from the last draw of a pass before; whether it was drawn.
    ///
    /// # Errors
    /// If there is no memory for more commands.
    #[inline(never)]
    pub(super) fn draw_first(&mut self, draw: &Draw, kind: DrawKind) -> Result<bool, Error> {
        let Some(scissor) = self.scissor_box() else {
            return Ok(false);
        };
        let state = &mut *self.state;
        if !self.recorder.goes_on(state, draw, kind, scissor)? {
            return Ok(false);
        }
        let drawn = self.draw_changed() || self.complete_sets() && self.draw_changed();
        if !drawn {
            self.state.forget_registers();
        }
        Ok(drawn)
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Begins to tile a pass with the state of the last draw of a pass before, if its first draw has the same. Whether it has; then the
    /// registers hold all that `state` does not have as stale.
    fn goes_on(
        &mut self,
        state: &mut DrawState,
        draw: &Draw,
        kind: DrawKind,
        scissor: [u32; 4],
    ) -> Result<bool, Error> {
        let (Some(key), Some(passes)) = (state.pipeline, &self.passes) else {
            return Ok(false);
        };
        let last = &passes.last_state;
        if !last.is_of(state, draw, kind) || passes.targets.last().framebuffer.view_mask != 0 {
            return Ok(false);
        }
        let made = self.device.graphics_pipeline(key)?;
        // What has no plan is found out the long way.
        if made.plan.is_none() {
            return Ok(false);
        }
        let (provokes, stale) = (made.last_provokes, last.pipeline != key);
        state.last = Some(last.last);
        self.tiling(state, Some(provokes))?;
        state.scissor_box = scissor_of(scissor);
        state.values.first_vertex = draw.vertex_offset as u32;
        state.values.base_instance = draw.first_instance;
        state.stale = Stale::UNIFORMS.and(Stale::RESOURCES).and(Stale::CONTEXT);
        if stale {
            state.stale = state.stale.and(Stale::PIPELINE);
        }
        self.unflushed = true;
        Ok(true)
    }
}
