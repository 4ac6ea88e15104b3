//! Dynamic state: what a pass sets in place of what the bound pipeline says.
//!
//! A pipeline's words are taken apart, changed and put together again when the next draw needs them, and kept until something else
//! is set.
//! Facts: hardware/graphics-draw.md 3.3, graphics-raster.md 4.8, 4.9 and 4.13.

use super::draw_words::{self, DrawWords};
use super::error::GraphicsError;
use super::pass::RenderPass;
use super::pipeline::GraphicsPipelined;
use super::state::{DepthBias, DepthState, FrontFace, StencilState, Topology};
use crate::command::CommandError;
use crate::error::Error;
use crate::platform::Platform;
use eitri_descriptors::raster::{
    DcdFlags0, DcdFlags2, DepthStencil, HsrUpdate, PixelKill, PrimitiveFlags,
};
use eitri_descriptors::{Arch, Descriptor, DescriptorError};
use eitri_program::FragmentFacts;

/// What was set since the pipeline was bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dynamic {
    /// Something was.
    any: bool,
    /// Front faces are left out, and back faces.
    cull: Option<[bool; 2]>,
    front_face: Option<FrontFace>,
    topology: Option<Topology>,
    restart: Option<bool>,
    depth: Option<Option<DepthState>>,
    bias: Option<Option<DepthBias>>,
    stencil: Option<Option<StencilState>>,
    pub(super) line_width: Option<f32>,
}

impl Dynamic {
    /// Nothing was set.
    pub(super) const NOTHING: Dynamic = Dynamic {
        any: false,
        cull: None,
        front_face: None,
        topology: None,
        restart: None,
        depth: None,
        bias: None,
        stencil: None,
        line_width: None,
    };

    /// Sets nothing, field by field: a copy of [`Dynamic::NOTHING`] is a call.
    #[inline]
    pub(super) const fn clear(&mut self) {
        if !self.any {
            return;
        }
        self.any = false;
        (self.cull, self.front_face) = (None, None);
        (self.topology, self.restart) = (None, None);
        (self.depth, self.bias, self.stencil) = (None, None, None);
        self.line_width = None;
    }

    /// Whether nothing was set.
    #[inline]
    pub(super) const fn is_nothing(&self) -> bool {
        !self.any
    }

    /// To set something.
    const fn set(&mut self) -> &mut Dynamic {
        self.any = true;
        self
    }

    /// Whether the descriptor of the tests is another than the pipeline's.
    pub(super) const fn changes_tests(&self) -> bool {
        self.depth.is_some() || self.bias.is_some() || self.stencil.is_some()
    }

    /// Whether the words of a draw are.
    pub(super) const fn changes_words(&self) -> bool {
        self.changes_tests()
            || self.cull.is_some()
            || self.front_face.is_some()
            || self.topology.is_some()
            || self.restart.is_some()
    }

    /// The descriptor of tests, from the pipeline's.
    pub(super) fn tests(
        &self,
        made: &GraphicsPipelined,
        arch: Arch,
        words: &[u32; 8],
        facts: Option<FragmentFacts>,
    ) -> Result<[u32; 8], DescriptorError> {
        let mut tests = DepthStencil::unpack(arch, words)?;
        if let Some(depth) = self.depth {
            let depth = depth.filter(|_| made.has_depth);
            draw_words::set_depth(&mut tests, depth.unwrap_or(DepthState::NONE));
        }
        if let Some(bias) = self.bias {
            draw_words::set_bias(&mut tests, bias);
        }
        if let Some(stencil) = self.stencil {
            draw_words::set_stencil(&mut tests, stencil.filter(|_| made.has_stencil));
        }
        draw_words::set_read_only(&mut tests, arch, facts);
        let mut words = [0; 8];
        tests.pack(arch, &mut words)?;
        Ok(words)
    }

    /// The words of a draw, from the pipeline's; `counts`: a query counts samples.
    pub(super) fn words(
        &self,
        made: &GraphicsPipelined,
        (arch, counts): (Arch, bool),
        tests: &[u32; 8],
        facts: Option<FragmentFacts>,
    ) -> Result<DrawWords, DescriptorError> {
        let words = made.words_of(counts);
        let mut primitive = PrimitiveFlags::unpack(arch, &[words.primitive])?;
        let mut flags_0 = DcdFlags0::unpack(arch, &[words.flags_0])?;
        let mut flags_2 = DcdFlags2::unpack(arch, &[words.flags_2])?;
        if let Some(topology) = self.topology {
            primitive.draw_mode = topology.draw_mode();
        }
        if let Some(restart) = self.restart {
            primitive.primitive_restart = restart;
        }
        if let Some(cull) = self.cull {
            let cull = cull.map(|culls| culls && made.topology_class == Class::Triangles);
            [flags_0.cull_front_face, flags_0.cull_back_face] = cull;
        }
        if let Some(front_face) = self.front_face {
            flags_0.front_face_ccw = front_face == FrontFace::CounterClockwise;
        }
        if self.changes_tests() {
            let tests = DepthStencil::unpack(arch, tests)?;
            let tested = draw_words::Tested::of(&tests);
            if let Some(facts) = facts {
                let alpha = flags_0.alpha_to_coverage;
                let (kill, update) = draw_words::operations(arch, facts, (alpha, counts), tested);
                (flags_0.pixel_kill_operation, flags_0.zs_update_operation) = (kill, update);
            }
            if arch >= Arch::V13 {
                let late = flags_0.shader_modifies_coverage
                    || flags_0.zs_update_operation == PixelKill::ForceLate;
                flags_2.z_write_or_stencil = tested.writes || tests.stencil_test_enable;
                flags_2.hsr_update_operation = if late {
                    HsrUpdate::Late
                } else {
                    HsrUpdate::Early
                };
            }
        }
        Ok(DrawWords {
            primitive: draw_words::word(arch, &primitive)?,
            flags_0: draw_words::word(arch, &flags_0)?,
            flags_1: words.flags_1,
            flags_2: draw_words::word(arch, &flags_2)?,
        })
    }
}

/// Topologies among which a pipeline's may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Points.
    Points,
    /// Lines.
    Lines,
    /// Triangles.
    Triangles,
}

impl Class {
    pub(super) const fn of(topology: Topology) -> Class {
        match topology {
            Topology::PointList => Class::Points,
            Topology::LineList | Topology::LineStrip => Class::Lines,
            Topology::TriangleList | Topology::TriangleStrip | Topology::TriangleFan => {
                Class::Triangles
            }
        }
    }
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Leaves out front faces, back faces or both from here on, until a pipeline is bound.
    pub fn set_cull_mode(&mut self, front: bool, back: bool) -> &mut Self {
        self.state.dynamic.set().cull = Some([front, back]);
        self.state.forget_words();
        self
    }

    /// Which faces are front from here on, until a pipeline is bound.
    pub fn set_front_face(&mut self, front_face: FrontFace) -> &mut Self {
        self.state.dynamic.set().front_face = Some(front_face);
        self.state.forget_words();
        self
    }

    /// What vertices make up from here on, until a pipeline is bound.
    ///
    /// # Errors
    /// If no pipeline is bound, or its own topology is of another kind: points, lines or triangles.
    pub fn set_topology(&mut self, topology: Topology) -> Result<&mut Self, Error> {
        let missing = CommandError::from(GraphicsError::NoPipeline);
        let key = self.state.pipeline.ok_or(missing)?;
        let made = self.recorder.device.graphics_pipeline(key)?;
        if made.topology_class != Class::of(topology) {
            return Err(CommandError::from(GraphicsError::Topology).into());
        }
        self.state.dynamic.set().topology = Some(topology);
        self.state.forget_words();
        Ok(self)
    }

    /// Whether the largest index begins anew from here on, until a pipeline is bound.
    pub fn set_primitive_restart(&mut self, restart: bool) -> &mut Self {
        self.state.dynamic.set().restart = Some(restart);
        self.state.forget_words();
        self
    }

    /// The test of depth from here on, until a pipeline is bound.
    pub fn set_depth_test(&mut self, depth: Option<DepthState>) -> &mut Self {
        self.state.dynamic.set().depth = Some(depth);
        self.state.forget_tests();
        self
    }

    /// What is added to depths from here on, until a pipeline is bound.
    pub fn set_depth_bias(&mut self, bias: Option<DepthBias>) -> &mut Self {
        self.state.dynamic.set().bias = Some(bias);
        self.state.forget_tests();
        self
    }

    /// The test of stencil from here on, until a pipeline is bound; its references, too.
    pub fn set_stencil_test(&mut self, stencil: Option<StencilState>) -> &mut Self {
        self.state.dynamic.set().stencil = Some(stencil);
        self.state.stencil_reference = None;
        self.state.forget_tests();
        self
    }

    /// Width of lines from here on, in pixels, until a pipeline is bound.
    pub fn set_line_width(&mut self, width: f32) -> &mut Self {
        self.state.dynamic.set().line_width = Some(width);
        self.state.forget_words();
        self
    }
}

#[cfg(test)]
pub(super) mod tests;
