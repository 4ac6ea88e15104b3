//! Draws: what is bound and set in a pass, and what is drawn. How a draw becomes words is `put_draw`'s.
//!
//! Guarantees: a draw has everything that its pipeline needs, or is refused.
//! Facts: hardware/graphics-draw.md 3.1 to 3.6.

use super::draw_descriptors::constants_are_one;
use super::draw_state::{FRAGMENT, FRAGMENTS, Stale, VERTEX};
use super::error::GraphicsError;
use super::pass::RenderPass;
use super::pass_bound::{Bound, BoundTable};
use super::pipeline::GraphicsSet;
use super::put_draw::{Call, Indices, Source};
use super::rendering::{Rect, Viewport};
use super::repeat::DrawKind;
use super::vertex_input::MOST_BINDINGS;
use crate::command::CommandError;
use crate::error::Error;
use crate::handle::{Buffer, DescriptorSet, GraphicsPipeline};
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::vm::GpuAddress;
use eitri_descriptors::raster::IndexType as IndexCode;
use eitri_program::MAX_PUSH_CONSTANT_BYTES;

/// What indices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexType {
    /// 8 bits.
    Uint8,
    /// 16 bits.
    Uint16,
    /// 32 bits.
    Uint32,
}

impl IndexType {
    pub(super) const fn bytes(self) -> u64 {
        match self {
            IndexType::Uint8 => 1,
            IndexType::Uint16 => 2,
            IndexType::Uint32 => 4,
        }
    }

    pub(super) const fn code(self) -> u32 {
        let code = match self {
            IndexType::Uint8 => IndexCode::UINT8,
            IndexType::Uint16 => IndexCode::UINT16,
            IndexType::Uint32 => IndexCode::UINT32,
        };
        // hardware/graphics-draw.md 3.3.
        code.number() << 8
    }
}

/// Vertices and instances of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Vertices, or indices.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// The first vertex, or the first index.
    pub first: u32,
    /// What is added to each index; of a draw without indices nothing.
    pub vertex_offset: i32,
    /// The first instance.
    pub first_instance: u32,
}

impl Draw {
    /// So many vertices or indices, once, from the first on.
    pub const fn of(count: u32) -> Draw {
        Draw {
            count,
            instances: 1,
            first: 0,
            vertex_offset: 0,
            first_instance: 0,
        }
    }
}

impl<'d, P: Platform> RenderPass<'_, '_, '_, 'd, P> {
    /// Uses a pipeline from here on, with its own state: what was set in its place before does not count any more.
    ///
    /// # Errors
    /// If it was destroyed, is in another space, was made for other attachments, or there is no place for the reference.
    pub fn bind_pipeline(&mut self, pipeline: GraphicsPipeline) -> Result<&mut Self, Error> {
        let key = pipeline.0;
        if self.state.pipeline == Some(key) {
            return Ok(self);
        }
        let constants = self.recorder.refer_to_graphics_pipeline(key)?;
        let Some(constants) = constants else {
            return Err(CommandError::from(GraphicsError::Compatible).into());
        };
        let state = &mut *self.state;
        state.pipeline = Some(key);
        state.set_blend_constants(constants);
        (state.stencil_reference, state.blend_constants) = (None, None);
        state.resources = [None; 2];
        state.uniforms = [None; 3];
        (state.tests, state.blends, state.storage) = (None, None, None);
        state.dynamic.clear();
        state.words = None;
        let more = if state.query.is_some() {
            Stale::ALL
        } else {
            Stale::PIPELINE
        };
        let resources = Stale::UNIFORMS.and(Stale::RESOURCES);
        state.stale = state.stale.and(resources).and(more);
        (state.says_state, state.says_sets) = (false, false);
        Ok(self)
    }

    /// Uses a descriptor set from here on.
    ///
    /// # Errors
    /// As [`RenderPass::bind_pipeline`].
    pub fn bind_descriptor_set(&mut self, set: GraphicsSet) -> Result<&mut Self, Error> {
        // First, so that a stage counts that was bound before another is refused.
        let state = &mut *self.state;
        (state.stale, state.says_sets) = (state.stale.and(Stale::RESOURCES), false);
        state.forget_uniforms();
        if let Some(set) = set.vertex {
            self.state.resources[VERTEX] = None;
            self.bind_set_of_stage(VERTEX, set)?;
        }
        if let Some(set) = set.fragment {
            self.state.resources[FRAGMENT] = None;
            self.bind_set_of_stage(FRAGMENT, set)?;
        }
        Ok(self)
    }

    #[inline(always)]
    fn bind_set_of_stage(&mut self, stage: usize, set: DescriptorSet) -> Result<(), Error> {
        let (table, part) = self.recorder.refer_to_set(set)?;
        let recorder = &mut *self.recorder;
        if let (Some(drawing), Some(passes)) = (&recorder.device.drawing, &mut recorder.passes) {
            let bound = BoundTable { set, part };
            passes
                .bound
                .bind_set((stage, table), bound, &drawing.shapes);
        }
        Ok(())
    }

    /// Uses these push constants, from byte `offset` on, from here on; what is before and behind stays. Both stages read them.
    ///
    /// # Errors
    /// If they end behind what a program can have, or `offset` or their length is no multiple of 4.
    pub fn push_constants(&mut self, offset: usize, bytes: &[u8]) -> Result<&mut Self, Error> {
        let passes = self.recorder.passes.as_mut();
        let changed = passes
            .filter(|_| offset.is_multiple_of(4) && bytes.len().is_multiple_of(4))
            .and_then(|passes| passes.uniforms.values.push(offset, bytes));
        match changed {
            Some(true) => self.state.forget_uniforms(),
            Some(false) => {}
            None => {
                let given = offset.saturating_add(bytes.len());
                let wanted = MAX_PUSH_CONSTANT_BYTES;
                return Err(CommandError::PushConstants { given, wanted }.into());
            }
        }
        Ok(self)
    }

    /// Reads the elements of a binding from `offset` on of a buffer.
    ///
    /// # Errors
    /// If the buffer was destroyed, is in another space or ends before; there is no such binding; or there is no place for the
    /// reference.
    pub fn bind_vertex_buffer(
        &mut self,
        binding: u32,
        buffer: Buffer,
        offset: u64,
    ) -> Result<&mut Self, Error> {
        let bound = self.bound(buffer, offset)?;
        let recorder = &mut *self.recorder;
        let done = match (&recorder.device.drawing, &mut recorder.passes) {
            (Some(drawing), Some(passes)) => {
                let all = &mut passes.bound;
                all.bind_vertex_buffer(binding, bound, &drawing.shapes)
            }
            _ => None,
        };
        if done.is_none() {
            let most = MOST_BINDINGS;
            return Err(CommandError::from(GraphicsError::Binding { binding, most }).into());
        }
        self.state.resources[VERTEX] = None;
        self.state.stale = self.state.stale.and(Stale::RESOURCES);
        Ok(self)
    }

    /// Reads indices from `offset` on of a buffer, a multiple of an index's bytes.
    ///
    /// # Errors
    /// As [`RenderPass::bind_vertex_buffer`].
    pub fn bind_index_buffer(
        &mut self,
        buffer: Buffer,
        offset: u64,
        kind: IndexType,
    ) -> Result<&mut Self, Error> {
        if !offset.is_multiple_of(kind.bytes()) {
            return Err(Error::Misaligned { offset });
        }
        self.state.indices = Some((self.bound(buffer, offset)?, kind));
        self.state.stale = self.state.stale.and(Stale::INDICES);
        Ok(self)
    }

    fn bound(&mut self, buffer: Buffer, offset: u64) -> Result<Bound, Error> {
        let (address, size) = self.recorder.refer_to_buffer(buffer)?;
        let bytes = size.checked_sub(offset).ok_or(Error::Outside {
            offset,
            bytes: 0,
            size,
        })?;
        Ok(Bound {
            address: address.offset(offset).0,
            bytes,
        })
    }

    /// Where vertices go from here on.
    pub fn set_viewport(&mut self, viewport: Viewport) -> &mut Self {
        self.state.set_viewport(viewport);
        self.state.whole = false;
        self.state.forget_state();
        self.state.forget_vertex_uniforms();
        self
    }

    /// The pixels that draws may touch from here on.
    pub fn set_scissor(&mut self, scissor: Rect) -> &mut Self {
        (self.state.scissor, self.state.whole) = (scissor, false);
        self.state.forget_state();
        self
    }

    /// What stencil values are compared with from here on, of front faces and of back faces.
    pub fn set_stencil_reference(&mut self, front: u8, back: u8) -> &mut Self {
        self.state.stencil_reference = Some([front, back]);
        self.state.tests = None;
        self.state.forget_state();
        self
    }

    /// What is blended with from here on.
    ///
    /// # Errors
    /// If the pipeline's equations use constants that differ: the hardware has one.
    pub fn set_blend_constants(&mut self, constants: [f32; 4]) -> Result<&mut Self, Error> {
        if let Some(key) = self.state.pipeline {
            let made = self.recorder.device.graphics_pipeline(key)?;
            if !constants_are_one(made.constants, constants) {
                let what = super::error::Unsupported::BlendConstants;
                return Err(CommandError::from(GraphicsError::unsupported(what)).into());
            }
        }
        self.state.set_blend_constants(constants);
        self.state.blend_constants = Some(constants);
        self.state.blends = None;
        self.state.uniforms[FRAGMENTS] = None;
        self.state.stale = self.state.stale.and(Stale::UNIFORMS).and(Stale::STATE);
        Ok(self)
    }

    /// Draws vertices.
    ///
    /// # Errors
    /// If no pipeline is bound, something that it needs is not, all draws of the pass do not have the same provoking vertex, or there
    /// is no memory for more commands.
    #[inline]
    pub fn draw(&mut self, draw: Draw) -> Result<&mut Self, Error> {
        let offset = draw.first as i32;
        let draw = Draw {
            first: 0,
            vertex_offset: offset,
            ..draw
        };
        if self.repeat_draw(&draw, DrawKind::Plain) {
            return Ok(self);
        }
        self.draw_with(draw, None)
    }

    /// Draws vertices by their indices.
    ///
    /// # Errors
    /// As [`RenderPass::draw`]; or if no index buffer is bound.
    #[inline]
    pub fn draw_indexed(&mut self, draw: Draw) -> Result<&mut Self, Error> {
        if self.repeat_draw(&draw, DrawKind::Indexed) {
            return Ok(self);
        }
        let indices = self.bound_indices()?;
        self.draw_with(draw, Some(indices))
    }

    /// The indices that are bound.
    pub(super) fn bound_indices(&self) -> Result<Indices, Error> {
        let missing = CommandError::from(GraphicsError::NoIndexBuffer);
        Ok(self.state.indices.ok_or(missing)?)
    }

    #[inline(never)]
    fn draw_with(&mut self, draw: Draw, indices: Option<Indices>) -> Result<&mut Self, Error> {
        if draw.count == 0 || draw.instances == 0 {
            return Ok(self);
        }
        let alone = self.state.in_turn;
        let kind = match indices {
            Some(_) => DrawKind::Indexed,
            None => DrawKind::Plain,
        };
        if self.state.tiler.is_none() && !alone && self.draw_first(&draw, kind)? {
            return Ok(self);
        }
        self.draw_from(Source::Given(draw), indices)
    }

    /// Draws what the host or a buffer says.
    pub(super) fn draw_from(
        &mut self,
        source: Source,
        indices: Option<Indices>,
    ) -> Result<&mut Self, Error> {
        let missing = CommandError::from(GraphicsError::NoPipeline);
        let key = self.state.pipeline.ok_or(missing)?;
        let made = *self.recorder.device.graphics_pipeline(key)?;
        let indexed = indices.is_some();
        if self.state.stale.has(Stale::PIPELINE) {
            self.state.stale = Stale::ALL;
        }
        let last = self.state.last.as_ref();
        let others = indexed && self.state.stale.has(Stale::INDICES);
        if others || last.is_none_or(|last| last.kind.is_indexed() != indexed) {
            self.state.forget_state();
        }
        let (mut scissor, mut context) = ([0; 4], GpuAddress(0));
        if self.state.stale.has(Stale::STATE) {
            let Some(inside) = self.scissor_box() else {
                return Ok(self);
            };
            scissor = inside;
            context = self.context_of_draws(made.last_provokes)?;
        }
        let (first, base) = match &source {
            Source::Given(draw) => (draw.vertex_offset as u32, draw.first_instance),
            // The stream knows them.
            Source::Buffer(_) => (0, 0),
        };
        self.state.begin_at(&made, first, base);
        let mut call = Call {
            source,
            indices,
            context,
            scissor,
            view_mask: 0,
        };
        let views = self.framebuffer().view_mask;
        let (state, recorder) = (&mut *self.state, &mut *self.recorder);
        recorder.in_lane(SubQueue::VertexTiler, |it| {
            if views == 0 {
                return it.put_draw(state, key, &made, &call);
            }
            // Once for each: a vertex has the position of one view.
            // FACT: whether multiview needs records of the extended format is stated in two ways (hardware/graphics-draw.md 3.3 and
            // the descriptor table of primitive flags). With one view in the mask a vertex has one record either way, so the
            // program's own format is taken. Settled by a draw of one view with the basic format, on any board.
            for view in (0..u32::BITS).filter(|view| views >> view & 1 != 0) {
                if made.reads_view && state.values.view_index != view {
                    state.forget_vertex_uniforms();
                }
                state.values.view_index = view;
                call.view_mask = 1 << view;
                state.stale = state.stale.and(Stale::STATE);
                it.put_draw(state, key, &made, &call)?;
            }
            state.last = None;
            Ok(())
        })?;
        Ok(self)
    }

    /// The tiler's context for draws whose last or first vertex provokes.
    pub(super) fn context_of_draws(&mut self, last: bool) -> Result<GpuAddress, Error> {
        let state = &mut *self.state;
        let tiling = self.recorder.tiling(state, Some(last))?;
        match tiling.last_provokes {
            None => {
                self.recorder.fix_provoking_vertex(tiling, last)?;
            }
            Some(known) if known != last => {
                return Err(CommandError::from(GraphicsError::ProvokingVertex).into());
            }
            Some(_) => {}
        }
        Ok(tiling.context)
    }

    /// The tiler's context for what has no vertices.
    pub(super) fn context_of_clears(&mut self) -> Result<GpuAddress, Error> {
        Ok(self.recorder.tiling(&mut self.state, None)?.context)
    }

    /// The scissor with the viewport and the attachments, both corners inside; `None` if there is nothing in it.
    pub(super) fn scissor_box(&self) -> Option<[u32; 4]> {
        let (width, height) = self.framebuffer().size;
        if self.state.whole {
            return Some([0, 0, width.checked_sub(1)?, height.checked_sub(1)?]);
        }
        let Viewport {
            x,
            y,
            width: across,
            height: down,
            ..
        } = self.state.values.viewport;
        let least = |a: f32, length: f32| (if length < 0.0 { a + length } else { a }) as i64;
        let most = |a: f32, length: f32| (if length < 0.0 { a } else { a + length }) as i64;
        let Rect {
            x: left,
            y: top,
            width: wide,
            height: high,
        } = self.state.scissor;
        let end = |start: i32, length: u32| i64::from(start).saturating_add(length.into());
        let min_x = least(x, across).max(left.into()).max(0);
        let min_y = least(y, down).max(top.into()).max(0);
        let max_x = most(x, across).min(end(left, wide)).min(width.into());
        let max_y = most(y, down).min(end(top, high)).min(height.into());
        let inside = min_x < max_x && min_y < max_y;
        let last = |end: i64| end.saturating_sub(1) as u32;
        inside.then_some([min_x as u32, min_y as u32, last(max_x), last(max_y)])
    }
}
