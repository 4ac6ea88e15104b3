//! State of a graphics pipeline besides its programs, by Vulkan's names. Its words are in [`super::draw_words`].
//!
//! Pure.  Facts: hardware/graphics-raster.md 4.2, 4.5 and 4.8.

use super::blend::ColorBlend;
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::raster::{DrawMode, StencilOp};
use eitri_descriptors::texture::Func;

/// What vertices make up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// A point each.
    PointList,
    /// A line of each two.
    LineList,
    /// A line from each to the next.
    LineStrip,
    /// A triangle of each three.
    #[default]
    TriangleList,
    /// A triangle of each and the two after it.
    TriangleStrip,
    /// A triangle of each two that follow one another, and the first.
    TriangleFan,
}

impl Topology {
    pub(super) const fn draw_mode(self) -> DrawMode {
        match self {
            Topology::PointList => DrawMode::Points,
            Topology::LineList => DrawMode::Lines,
            Topology::LineStrip => DrawMode::LineStrip,
            Topology::TriangleList => DrawMode::Triangles,
            Topology::TriangleStrip => DrawMode::TriangleStrip,
            Topology::TriangleFan => DrawMode::TriangleFan,
        }
    }

    pub(super) const fn is_triangles(self) -> bool {
        matches!(
            self,
            Topology::TriangleList | Topology::TriangleStrip | Topology::TriangleFan
        )
    }
}

/// How often a vertex binding goes on to its next element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputRate {
    /// With each vertex.
    Vertex,
    /// With each so many instances; 0 is never.
    Instance {
        /// So many instances.
        divisor: u32,
    },
}

/// A buffer of elements for vertices or instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexBinding {
    /// Its number.
    pub binding: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// When it goes on.
    pub rate: InputRate,
}

impl VertexBinding {
    /// A buffer of vertices.
    pub const fn vertices(binding: u32, stride: u32) -> VertexBinding {
        VertexBinding {
            binding,
            stride,
            rate: InputRate::Vertex,
        }
    }
}

/// An input of the vertex shader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexAttribute {
    /// Its location.
    pub location: u32,
    /// The binding that it is read from.
    pub binding: u32,
    /// Bytes from the start of an element.
    pub offset: u32,
    /// Its format in memory.
    pub format: &'static VkFormat,
}

/// Which way round the vertices of a front face are, as they are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrontFace {
    /// Against the clock.
    #[default]
    CounterClockwise,
    /// With the clock.
    Clockwise,
}

/// What is added to depths of triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthBias {
    /// Units.
    pub constant: f32,
    /// Times the slope.
    pub slope: f32,
    /// At most, if it is not 0; of a negative one at least.
    pub clamp: f32,
}

/// Test of depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthState {
    /// How the new depth has to compare with the one that is there.
    pub compare: Func,
    /// Whether it is written.
    pub write: bool,
}

impl DepthState {
    /// What is nearest stays.
    pub const NEAREST: DepthState = DepthState {
        compare: Func::Less,
        write: true,
    };

    /// All pass, and nothing is written.
    pub(super) const NONE: DepthState = DepthState {
        compare: Func::Always,
        write: false,
    };
}

/// Test of stencil, of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// How the reference has to compare with the value that is there.
    pub compare: Func,
    /// If it does not.
    pub fail: StencilOp,
    /// If it does, and the test of depth fails.
    pub depth_fail: StencilOp,
    /// If both are passed.
    pub pass: StencilOp,
    /// Bits that are compared.
    pub compare_mask: u8,
    /// Bits that are written.
    pub write_mask: u8,
    /// What is compared: [`crate::RenderPass::set_stencil_reference`] changes it.
    pub reference: u8,
}

/// Test of stencil, of front and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilState {
    /// Front faces, and what has none.
    pub front: StencilFace,
    /// Back faces.
    pub back: StencilFace,
}

/// What a graphics pipeline is besides its programs. Names and meaning are Vulkan's; viewport and scissor are the pass's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphicsPipelineInfo<'a> {
    /// Buffers of vertices; at most 16.
    pub bindings: &'a [VertexBinding],
    /// Inputs of the vertex shader; at most 16.
    pub attributes: &'a [VertexAttribute],
    /// What vertices make up.
    pub topology: Topology,
    /// The largest index begins anew.
    pub primitive_restart: bool,
    /// Front faces are left out.
    pub cull_front: bool,
    /// Back faces are left out.
    pub cull_back: bool,
    /// Which faces are front.
    pub front_face: FrontFace,
    /// Depths are clamped to the viewport's.
    pub depth_clamp: bool,
    /// Primitives are clipped at the near and the far plane; if it does not say, they are unless depths are clamped.
    pub depth_clip: Option<bool>,
    /// What is added to depths.
    pub depth_bias: Option<DepthBias>,
    /// Width of lines, in pixels.
    pub line_width: f32,
    /// Lines cover the pixels whose diamonds they leave (Bresenham), and not a rectangle. With one sample a pixel.
    pub bresenham_lines: bool,
    /// Samples of a pixel.
    pub samples: u32,
    /// Samples that are written.
    pub sample_mask: u16,
    /// The fragment shader runs for each sample.
    pub sample_shading: bool,
    /// Alpha becomes coverage.
    pub alpha_to_coverage: bool,
    /// Values of flat inputs are those of the last vertex, not of the first. All draws of a pass agree in it.
    pub last_vertex_provokes: bool,
    /// Test of depth; without it none, and nothing is written.
    pub depth: Option<DepthState>,
    /// Test of stencil; without it none.
    pub stencil: Option<StencilState>,
    /// Formats of the colours of the pass, by location; at most 8.
    pub colors: &'a [Option<&'static VkFormat>],
    /// How each is blended; what is missing is written as it is.
    pub blends: &'a [ColorBlend],
    /// What equations with constants blend with: [`crate::RenderPass::set_blend_constants`] changes it.
    pub blend_constants: [f32; 4],
    /// The pass has depth.
    pub has_depth: bool,
    /// The pass has stencil.
    pub has_stencil: bool,
}

impl GraphicsPipelineInfo<'_> {
    /// Whether primitives are clipped at the near and the far plane.
    pub(crate) fn clips_depth(&self) -> bool {
        self.depth_clip.unwrap_or(!self.depth_clamp)
    }
}

impl Default for GraphicsPipelineInfo<'_> {
    /// Triangles with no inputs, one sample, no tests, and nothing that is rendered to.
    fn default() -> Self {
        GraphicsPipelineInfo {
            bindings: &[],
            attributes: &[],
            topology: Topology::TriangleList,
            primitive_restart: false,
            cull_front: false,
            cull_back: false,
            front_face: FrontFace::CounterClockwise,
            depth_clamp: false,
            depth_clip: None,
            depth_bias: None,
            line_width: 1.0,
            bresenham_lines: false,
            samples: 1,
            sample_mask: u16::MAX,
            sample_shading: false,
            alpha_to_coverage: false,
            last_vertex_provokes: false,
            depth: None,
            stencil: None,
            colors: &[],
            blends: &[],
            blend_constants: [0.0; 4],
            has_depth: false,
            has_stencil: false,
        }
    }
}
