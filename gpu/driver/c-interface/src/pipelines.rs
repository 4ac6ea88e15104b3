//! Graphics pipelines, and what is bound to them.

use crate::device::{EitriDevice, done, make};
use crate::draw_handles::{EitriGraphicsPipeline, EitriGraphicsSet, EitriImage};
use crate::handles::{EitriBuffer, EitriSpace, Handle};
use crate::images::format;
use crate::memory::{NO_BYTES, array};
use crate::status::{EitriStatus, Refusal};
use crate::stencil::{EitriStencil, stencil};
use core::ffi::{c_char, c_void};
use eitri_program::GraphicsProgram;
use eitri_runtime::{
    BindingElement, BlendComponent, BlendFactor, BlendOp, BufferRange, ColorBlend, DepthState,
    FrontFace, Func, GraphicsPipelineInfo, InputRate, Topology, VertexAttribute, VertexBinding,
    VkFormat,
};

/// Vertices make a point each.
pub const EITRI_TOPOLOGY_POINTS: u32 = 0;
/// Each two vertices make a line.
pub const EITRI_TOPOLOGY_LINES: u32 = 1;
/// A line goes from each vertex to the next.
pub const EITRI_TOPOLOGY_LINE_STRIP: u32 = 2;
/// Each three vertices make a triangle.
pub const EITRI_TOPOLOGY_TRIANGLES: u32 = 3;
/// Each vertex makes a triangle with the two after it.
pub const EITRI_TOPOLOGY_TRIANGLE_STRIP: u32 = 4;
/// Each two vertices that follow one another make a triangle with the first.
pub const EITRI_TOPOLOGY_TRIANGLE_FAN: u32 = 5;

/// No test of depth, and none is written.
pub const EITRI_DEPTH_NONE: u32 = 0;
/// What is nearer stays, and is written.
pub const EITRI_DEPTH_LESS: u32 = 1;
/// What is nearer or as near stays, and is written.
pub const EITRI_DEPTH_LESS_OR_EQUAL: u32 = 2;
/// What is as near is drawn, and nothing is written.
pub const EITRI_DEPTH_EQUAL: u32 = 3;
/// What is nearer is drawn, and nothing is written.
pub const EITRI_DEPTH_LESS_READ_ONLY: u32 = 4;

/// Colours are written as they are.
pub const EITRI_BLEND_NONE: u32 = 0;
/// Colours are mixed with what is there by their alpha.
pub const EITRI_BLEND_ALPHA: u32 = 1;
/// The same of colours that were multiplied with their alpha.
pub const EITRI_BLEND_PREMULTIPLIED: u32 = 2;
/// Colours are added to what is there.
pub const EITRI_BLEND_ADD: u32 = 3;

/// Front faces are left out.
pub const EITRI_CULL_FRONT: u32 = 1;
/// Back faces are left out.
pub const EITRI_CULL_BACK: u32 = 2;

/// A buffer that the vertex shader's inputs are read from.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriVertexBinding {
    /// Its number.
    pub binding: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// 0: an element for each vertex. Otherwise one for each so many instances.
    pub instances: u32,
}

/// An input of the vertex shader.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriVertexAttribute {
    /// Its location.
    pub location: u32,
    /// The binding that it is read from.
    pub binding: u32,
    /// Bytes from the start of an element.
    pub offset: u32,
    /// Vulkan's name of its format in memory: "R32G32B32_SFLOAT".
    pub format: *const c_char,
}

/// What a graphics pipeline is. All that is 0 is as usual: no buffers, points, no tests.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriGraphicsPipelineInfo {
    /// The vertex shader: what `eitri compile` wrote. Programs stay until the pipeline is destroyed.
    pub vertex: *const c_void,
    /// Its bytes.
    pub vertex_bytes: usize,
    /// The fragment shader; null if there is none.
    pub fragment: *const c_void,
    /// Its bytes.
    pub fragment_bytes: usize,
    /// Buffers of vertices, and how many: at most 16.
    pub bindings: *const EitriVertexBinding,
    /// How many.
    pub binding_count: usize,
    /// Inputs of the vertex shader: at most 16.
    pub attributes: *const EitriVertexAttribute,
    /// How many.
    pub attribute_count: usize,
    /// Vulkan's names of the formats of the pass's colours, by location: at most 8.
    pub colors: *const *const c_char,
    /// How many.
    pub color_count: usize,
    /// Not 0: the pass has depth.
    pub has_depth: u32,
    /// EITRI_TOPOLOGY_…
    pub topology: u32,
    /// EITRI_DEPTH_…
    pub depth: u32,
    /// EITRI_BLEND_…, of all colours.
    pub blend: u32,
    /// EITRI_CULL_…, or both.
    pub cull: u32,
    /// Not 0: front faces have their vertices with the clock, as they are seen.
    pub front_is_clockwise: u32,
    /// Samples of a pixel; 0 is as 1.
    pub samples: u32,
    /// Not 0: the pass has stencil.
    pub has_stencil: u32,
    /// The test of stencil of front faces, and of points and lines; null: there is none.
    pub stencil: *const EitriStencil,
    /// The test of stencil of back faces; null: it is that of front faces.
    pub stencil_back: *const EitriStencil,
    /// Not 0: the largest index begins anew.
    pub primitive_restart: u32,
    /// Not 0: alpha becomes coverage.
    pub alpha_to_coverage: u32,
    /// Not 0: the fragment shader runs for each sample.
    pub sample_shading: u32,
}

const MOST_INPUTS: usize = 16;
const MOST_COLORS: usize = 8;
const TOO_MANY: &str = "more than 16 bindings or attributes, or more than 8 colours";

fn topology(number: u32) -> Result<Topology, Refusal> {
    Ok(match number {
        EITRI_TOPOLOGY_POINTS => Topology::PointList,
        EITRI_TOPOLOGY_LINES => Topology::LineList,
        EITRI_TOPOLOGY_LINE_STRIP => Topology::LineStrip,
        EITRI_TOPOLOGY_TRIANGLES => Topology::TriangleList,
        EITRI_TOPOLOGY_TRIANGLE_STRIP => Topology::TriangleStrip,
        EITRI_TOPOLOGY_TRIANGLE_FAN => Topology::TriangleFan,
        _ => return Err(Refusal::Argument("topology is none of EITRI_TOPOLOGY_…")),
    })
}

fn depth(number: u32) -> Result<Option<DepthState>, Refusal> {
    let (compare, write) = match number {
        EITRI_DEPTH_NONE => return Ok(None),
        EITRI_DEPTH_LESS => (Func::Less, true),
        EITRI_DEPTH_LESS_OR_EQUAL => (Func::Lequal, true),
        EITRI_DEPTH_EQUAL => (Func::Equal, false),
        EITRI_DEPTH_LESS_READ_ONLY => (Func::Less, false),
        _ => return Err(Refusal::Argument("depth is none of EITRI_DEPTH_…")),
    };
    Ok(Some(DepthState { compare, write }))
}

/// How the product of each factor with the new and the old colour is added.
fn blend(number: u32) -> Result<Option<ColorBlend>, Refusal> {
    use BlendFactor::{One, OneMinusSrcAlpha, SrcAlpha};
    let (src, dst) = match number {
        EITRI_BLEND_NONE => return Ok(None),
        EITRI_BLEND_ALPHA => (SrcAlpha, OneMinusSrcAlpha),
        EITRI_BLEND_PREMULTIPLIED => (One, OneMinusSrcAlpha),
        EITRI_BLEND_ADD => (One, One),
        _ => return Err(Refusal::Argument("blend is none of EITRI_BLEND_…")),
    };
    let component = |src| BlendComponent {
        src,
        dst,
        op: BlendOp::Add,
    };
    Ok(Some(ColorBlend {
        equations: Some([component(src), component(One)]),
        ..ColorBlend::default()
    }))
}

/// Makes a graphics pipeline.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; what `info` leads to has the sizes that it says, and names end with a zero; `pipeline`
/// may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_graphics_pipeline(
    device: *mut EitriDevice,
    space: EitriSpace,
    info: *const EitriGraphicsPipelineInfo,
    pipeline: *mut EitriGraphicsPipeline,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, pipeline, |it| {
            let info = info.as_ref().ok_or(Refusal::Argument("info is null"))?;
            let vertex = array(info.vertex.cast::<u8>(), info.vertex_bytes, NO_BYTES)?;
            let vertex = GraphicsProgram::parse(vertex)?;
            let fragment = array(info.fragment.cast::<u8>(), info.fragment_bytes, NO_BYTES)?;
            let fragment = match info.fragment.is_null() {
                true => None,
                false => Some(GraphicsProgram::parse(fragment)?),
            };
            let mut bindings = heapless::Vec::<VertexBinding, MOST_INPUTS>::new();
            for it in array(info.bindings, info.binding_count, "info.bindings is null")? {
                let rate = match it.instances {
                    0 => InputRate::Vertex,
                    divisor => InputRate::Instance { divisor },
                };
                let (binding, stride) = (it.binding, it.stride);
                let next = VertexBinding {
                    binding,
                    stride,
                    rate,
                };
                bindings
                    .push(next)
                    .map_err(|_| Refusal::Argument(TOO_MANY))?;
            }
            let mut attributes = heapless::Vec::<VertexAttribute, MOST_INPUTS>::new();
            let all = array(
                info.attributes,
                info.attribute_count,
                "info.attributes is null",
            )?;
            for from in all {
                let next = VertexAttribute {
                    location: from.location,
                    binding: from.binding,
                    offset: from.offset,
                    format: format(it, from.format)?,
                };
                attributes
                    .push(next)
                    .map_err(|_| Refusal::Argument(TOO_MANY))?;
            }
            let mut colors = heapless::Vec::<Option<&'static VkFormat>, MOST_COLORS>::new();
            let mut blends = heapless::Vec::<ColorBlend, MOST_COLORS>::new();
            for name in array(info.colors, info.color_count, "info.colors is null")? {
                let color = Some(format(it, *name)?);
                colors
                    .push(color)
                    .map_err(|_| Refusal::Argument(TOO_MANY))?;
                if let Some(blend) = blend(info.blend)? {
                    blends
                        .push(blend)
                        .map_err(|_| Refusal::Argument(TOO_MANY))?;
                }
            }
            let front_face = match info.front_is_clockwise {
                0 => FrontFace::CounterClockwise,
                _ => FrontFace::Clockwise,
            };
            let info = GraphicsPipelineInfo {
                bindings: &bindings,
                attributes: &attributes,
                topology: topology(info.topology)?,
                cull_front: info.cull & EITRI_CULL_FRONT != 0,
                cull_back: info.cull & EITRI_CULL_BACK != 0,
                front_face,
                samples: info.samples.max(1),
                depth: depth(info.depth)?,
                colors: &colors,
                blends: &blends,
                has_depth: info.has_depth != 0,
                has_stencil: info.has_stencil != 0,
                stencil: stencil(info.stencil, info.stencil_back)?,
                primitive_restart: info.primitive_restart != 0,
                alpha_to_coverage: info.alpha_to_coverage != 0,
                sample_shading: info.sample_shading != 0,
                ..GraphicsPipelineInfo::default()
            };
            let space = space.own()?;
            Ok(it.create_graphics_pipeline(space, &vertex, fragment.as_ref(), &info)?)
        })
    }
}

/// Destroys a graphics pipeline that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_graphics_pipeline(
    device: *mut EitriDevice,
    pipeline: EitriGraphicsPipeline,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            Ok(it.destroy_graphics_pipeline(pipeline.own()?)?)
        })
    }
}

/// Makes the set of this number of a graphics pipeline's bindings, with nothing bound.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `set` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_graphics_set(
    device: *mut EitriDevice,
    pipeline: EitriGraphicsPipeline,
    number: u32,
    set: *mut EitriGraphicsSet,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, set, |it| {
            Ok(it.create_graphics_set(pipeline.own()?, number)?)
        })
    }
}

/// Destroys a set that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_graphics_set(
    device: *mut EitriDevice,
    set: EitriGraphicsSet,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_graphics_set(set.own()?)?)) }
}

/// Binds bytes of a buffer, from `offset` on (a multiple of 16), in every stage that has the binding.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_bind_graphics_buffer(
    device: *mut EitriDevice,
    set: EitriGraphicsSet,
    binding: u32,
    buffer: EitriBuffer,
    offset: u64,
    bytes: u64,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let buffer = buffer.own()?;
            Ok(it.bind_in_stages(set.own()?, |it, set| {
                it.bind_range(
                    set,
                    BindingElement::first(binding),
                    buffer,
                    BufferRange { offset, bytes },
                )
            })?)
        })
    }
}

/// Binds all of an image to be sampled, in every stage that has the binding.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_bind_graphics_image(
    device: *mut EitriDevice,
    set: EitriGraphicsSet,
    binding: u32,
    image: EitriImage,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let image = image.own()?;
            Ok(it.bind_in_stages(set.own()?, |it, set| {
                it.bind_image(set, BindingElement::first(binding), image)
            })?)
        })
    }
}
