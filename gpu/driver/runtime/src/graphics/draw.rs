//! Draws: what is bound in a pass. How a draw becomes words is `put_draw`'s.
//!
//! Guarantees: a draw has everything that its pipeline needs, or is refused.
//! Facts: hardware/graphics-draw.md 3.1 to 3.6.

use super::conditional::Predicate;
use super::draw_descriptors::{constants_are_one, fits};
use super::draw_words::DrawWords;
use super::dynamic::Dynamic;
use super::error::GraphicsError;
use super::pass::RenderPass;
use super::pipeline::GraphicsSet;
use super::put_draw::{Call, Indices, Source};
use super::queries::Counting;
use super::rendering::{Rect, Viewport};
use super::repeat::LastDraw;
use super::uniforms::Values;
use super::vertex_input::MOST_BINDINGS;
use crate::command::CommandError;
use crate::error::{Error, Thing};
use crate::handle::{Buffer, DescriptorSet, GraphicsPipeline};
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_descriptors::raster::IndexType as IndexCode;
use eitri_program::{DescriptorSlot, MAX_PUSH_CONSTANT_BYTES};

/// Resource tables that a program can use: the driver's, the sets', and one of vertex buffers.
pub(super) const TABLES: usize = DescriptorSlot::MAX_TABLE as usize + 2;

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

/// A buffer that draws read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

/// Stages of a pipeline.
pub(super) const VERTEX: usize = 0;
pub(super) const FRAGMENT: usize = 1;
/// Uniforms: of positions or all of vertices, of varyings, of fragments.
pub(super) const VARYINGS: usize = 1;
pub(super) const FRAGMENTS: usize = 2;

/// What a draw has to say again: what registers of the lane don't hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stale(u8);

impl Stale {
    pub(super) const NOTHING: Stale = Stale(0);
    /// Uniforms of some program.
    pub(super) const UNIFORMS: Stale = Stale(1);
    /// Resource tables.
    pub(super) const RESOURCES: Stale = Stale(2);
    /// All else, the numbers of vertices and instances aside.
    pub(super) const STATE: Stale = Stale(4);
    pub(super) const ALL: Stale = Stale(7);

    pub(super) const fn and(self, other: Stale) -> Stale {
        Stale(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Stale) -> bool {
        self.0 & other.0 != 0
    }
}

/// What is bound in a pass by its number. It is large: it stays where the commands are recorded.
#[derive(Debug)]
pub(super) struct PassBound {
    /// The sets of each stage, by their tables.
    pub(super) sets: [[Option<DescriptorSet>; TABLES]; 2],
    pub(super) vertex_buffers: [Option<Bound>; MOST_BINDINGS],
}

impl PassBound {
    pub(super) const NOTHING: PassBound = PassBound {
        sets: [[None; TABLES]; 2],
        vertex_buffers: [None; MOST_BINDINGS],
    };

    /// Binds nothing.
    pub(super) fn clear(&mut self) {
        for set in self.sets.as_flattened_mut() {
            *set = None;
        }
        for buffer in &mut self.vertex_buffers {
            *buffer = None;
        }
    }
}

/// What is set in a pass, and what of it and of what is bound stands in memory.
#[derive(Debug)]
pub(super) struct DrawState {
    pub(super) stale: Stale,
    /// The last draw, if the registers hold all of it that is not stale.
    pub(super) last: Option<LastDraw>,
    /// Words of the uniforms' plan are said that depend on viewport and blend constants, and those that depend on sets.
    pub(super) says_state: bool,
    pub(super) says_sets: bool,
    pub(super) pipeline: Option<Key>,
    pub(super) indices: Option<(Bound, IndexType)>,
    pub(super) values: Values,
    pub(super) scissor: Rect,
    pub(super) stencil_reference: Option<[u8; 2]>,
    pub(super) blend_constants: Option<[f32; 4]>,
    /// What stands in memory for what is bound: resources of each stage, uniforms of each program, tests, blending, local storage.
    pub(super) resources: [Option<u64>; 2],
    pub(super) uniforms: [Option<u64>; 3],
    pub(super) tests: Option<u64>,
    pub(super) blends: Option<u64>,
    pub(super) storage: Option<u64>,
    /// The query that counts.
    pub(super) query: Option<Counting>,
    /// What was set in place of what the pipeline says; and the words of draws with it.
    pub(super) dynamic: Dynamic,
    pub(super) words: Option<DrawWords>,
    /// What draws depend on.
    pub(super) predicate: Option<Predicate>,
}

impl DrawState {
    pub(super) fn new(size: (u32, u32)) -> DrawState {
        let (width, height) = size;
        DrawState {
            stale: Stale::ALL,
            last: None,
            says_state: false,
            says_sets: false,
            pipeline: None,
            indices: None,
            values: Values {
                viewport: Viewport::of(width, height),
                blend_constants: [0.0; 4],
                first_vertex: 0,
                base_instance: 0,
                view_index: 0,
            },
            scissor: Rect {
                x: 0,
                y: 0,
                width,
                height,
            },
            stencil_reference: None,
            blend_constants: None,
            resources: [None; 2],
            uniforms: [None; 3],
            tests: None,
            blends: None,
            storage: None,
            query: None,
            dynamic: Dynamic::default(),
            words: None,
            predicate: None,
        }
    }

    /// What registers hold is another's, of all of them.
    pub(super) const fn forget_registers(&mut self) {
        self.stale = Stale::ALL;
        self.last = None;
    }

    fn forget_vertex_uniforms(&mut self) {
        if let Some(uniforms) = self.uniforms.get_mut(..FRAGMENTS) {
            uniforms.fill(None);
        }
        self.stale = self.stale.and(Stale::UNIFORMS);
    }

    const fn forget_uniforms(&mut self) {
        self.uniforms = [None; 3];
        self.stale = self.stale.and(Stale::UNIFORMS);
    }

    /// State that stands in memory or in words is set again.
    pub(super) const fn forget_state(&mut self) {
        self.stale = self.stale.and(Stale::STATE);
    }

    /// The words of draws are others.
    pub(super) const fn forget_words(&mut self) {
        self.words = None;
        self.forget_state();
    }

    /// Tests are others, and so the words of draws.
    pub(super) const fn forget_tests(&mut self) {
        self.tests = None;
        self.forget_words();
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
        self.recorder.refer(key, Thing::Pipeline)?;
        let device = &*self.recorder.device;
        let made = device.graphics_pipeline(key)?;
        let colors = device.pipeline_colors(key)?;
        if !fits(made, colors, self.recorder.framebuffer()) {
            return Err(CommandError::from(GraphicsError::Compatible).into());
        }
        let state = &mut self.state;
        state.pipeline = Some(key);
        state.values.blend_constants = made.blend_constants;
        (state.stencil_reference, state.blend_constants) = (None, None);
        state.resources = [None; 2];
        state.uniforms = [None; 3];
        (state.tests, state.blends, state.storage) = (None, None, None);
        (state.dynamic, state.words) = (Dynamic::default(), None);
        state.stale = Stale::ALL;
        (state.says_state, state.says_sets) = (false, false);
        Ok(self)
    }

    /// Uses a descriptor set from here on.
    ///
    /// # Errors
    /// As [`RenderPass::bind_pipeline`].
    pub fn bind_descriptor_set(&mut self, set: GraphicsSet) -> Result<&mut Self, Error> {
        let stages = [set.vertex, set.fragment].into_iter().enumerate();
        for (stage, set) in stages {
            let Some(set) = set else { continue };
            let table = self.recorder.refer_to_set(set)?;
            let bound = self.recorder.passes.as_mut().map(|it| &mut it.bound);
            let sets = bound.and_then(|bound| bound.sets.get_mut(stage));
            if let Some(place) = sets.and_then(|sets| sets.get_mut(usize::from(table))) {
                *place = Some(set);
            }
            if let Some(resources) = self.state.resources.get_mut(stage) {
                *resources = None;
            }
        }
        let state = &mut self.state;
        (state.stale, state.says_sets) = (state.stale.and(Stale::RESOURCES), false);
        state.forget_uniforms();
        Ok(self)
    }

    /// Uses these push constants, from byte `offset` on, from here on; what is before and behind stays. Both stages read them.
    ///
    /// # Errors
    /// If they end behind what a program can have, or `offset` or their length is no multiple of 4.
    pub fn push_constants(&mut self, offset: usize, bytes: &[u8]) -> Result<&mut Self, Error> {
        let passes = self.recorder.passes.as_mut();
        let changed = passes
            .filter(|_| offset.is_multiple_of(4) && bytes.len().is_multiple_of(4))
            .and_then(|passes| passes.uniforms.words.push(offset, bytes));
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
        let all = self.recorder.passes.as_mut().map(|it| &mut it.bound);
        let place = all.and_then(|all| all.vertex_buffers.get_mut(binding as usize));
        let most = MOST_BINDINGS;
        *place.ok_or(CommandError::from(GraphicsError::Binding { binding, most }))? = Some(bound);
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
        self.state.forget_state();
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
        self.state.values.viewport = viewport;
        self.state.says_state = false;
        self.state.forget_state();
        self.state.forget_vertex_uniforms();
        self
    }

    /// The pixels that draws may touch from here on.
    pub const fn set_scissor(&mut self, scissor: Rect) -> &mut Self {
        self.state.scissor = scissor;
        self.state.forget_state();
        self
    }

    /// What stencil values are compared with from here on, of front faces and of back faces.
    pub const fn set_stencil_reference(&mut self, front: u8, back: u8) -> &mut Self {
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
        self.state.values.blend_constants = constants;
        self.state.blend_constants = Some(constants);
        (self.state.blends, self.state.says_state) = (None, false);
        self.state.uniforms[FRAGMENTS] = None;
        self.state.stale = self.state.stale.and(Stale::UNIFORMS).and(Stale::STATE);
        Ok(self)
    }

    /// Draws vertices.
    ///
    /// # Errors
    /// If no pipeline is bound, something that it needs is not, all draws of the pass do not have the same provoking vertex, or there
    /// is no memory for more commands.
    pub fn draw(&mut self, draw: Draw) -> Result<&mut Self, Error> {
        let offset = draw.first as i32;
        let draw = Draw {
            first: 0,
            vertex_offset: offset,
            ..draw
        };
        if self.repeat_draw(&draw, false) {
            return Ok(self);
        }
        self.draw_with(draw, None)
    }

    /// Draws vertices by their indices.
    ///
    /// # Errors
    /// As [`RenderPass::draw`]; or if no index buffer is bound.
    pub fn draw_indexed(&mut self, draw: Draw) -> Result<&mut Self, Error> {
        if self.repeat_draw(&draw, true) {
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
        if self.state.last.is_none_or(|last| last.indexed != indexed) {
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
        let values = &mut self.state.values;
        let (first, base) = match &source {
            Source::Given(draw) => (draw.vertex_offset as u32, draw.first_instance),
            // The stream knows them.
            Source::Buffer(_) => (0, 0),
        };
        if (values.first_vertex, values.base_instance) != (first, base) {
            if made.instanced && values.base_instance != base {
                self.state.resources[VERTEX] = None;
                self.state.stale = self.state.stale.and(Stale::RESOURCES);
            }
            let reads = made.reads_first && values.first_vertex != first
                || made.reads_base && values.base_instance != base;
            (values.first_vertex, values.base_instance) = (first, base);
            if reads {
                self.state.forget_vertex_uniforms();
            }
        }
        let mut call = Call {
            source,
            indices,
            context,
            scissor,
            view_mask: 0,
        };
        let views = self.framebuffer().view_mask;
        let (state, recorder) = (&mut self.state, &mut *self.recorder);
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
    fn context_of_draws(&mut self, last: bool) -> Result<GpuAddress, Error> {
        let tiling = match &mut self.tiler {
            Some(tiling) => tiling,
            None => {
                let begun = self.recorder.begin_tiling(Some(last))?;
                self.tiler.insert(begun)
            }
        };
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
        let tiling = match &mut self.tiler {
            Some(tiling) => tiling,
            None => {
                let begun = self.recorder.begin_tiling(None)?;
                self.tiler.insert(begun)
            }
        };
        Ok(tiling.context)
    }

    /// The scissor with the viewport and the attachments, both corners inside; `None` if there is nothing in it.
    fn scissor_box(&self) -> Option<[u32; 4]> {
        let (width, height) = self.framebuffer().size;
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
