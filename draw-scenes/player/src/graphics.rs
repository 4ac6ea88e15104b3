//! Graphics pipelines and attachments, as the driver has them.
//!
//! What the driver has no word for is named by [`unsupported`] before anything is made; the rest the driver refuses itself.

use crate::formats::{compare, format};
use crate::missing;
use alloc::vec::Vec;
use eitri_descriptors::Arch;
use eitri_descriptors::raster::StencilOp;
use eitri_drawing::GraphicsPipeline;
use eitri_drawing::state::{self, BlendFactor, BlendOp, CullMode, ProvokingVertex, VertexRate};
use eitri_job::WorkError;
use eitri_program::GraphicsProgram;
use eitri_runtime::{
    BlendComponent, ColorBlend, DepthBias, DepthState, Device, FrontFace,
    GraphicsPipeline as MadePipeline, GraphicsPipelineInfo, InputRate, Platform, Space,
    StencilFace, StencilState, Topology, VertexAttribute, VertexBinding,
};

/// What of a pipeline the driver has no word for.
pub fn unsupported(pipeline: &GraphicsPipeline) -> Option<&'static str> {
    let state::Raster {
        polygon,
        line_mode,
        discard,
        ..
    } = pipeline.raster;
    let rows = [
        (
            topology(pipeline.topology).is_none(),
            "primitives with adjacency",
        ),
        (
            polygon != state::PolygonMode::Fill,
            "polygon modes LINE and POINT",
        ),
        (
            line_mode == state::LineMode::Bresenham && pipeline.multisample.samples > 1,
            "Bresenham lines of several samples",
        ),
        (
            line_mode == state::LineMode::RectangularSmooth,
            "smooth lines",
        ),
        (discard, "discarded primitives"),
    ];
    let mut found = rows.into_iter().filter(|(is, _)| *is);
    found.next().map(|(_, what)| what)
}

/// Makes a graphics pipeline.
pub(crate) fn create<'d, P: Platform>(
    device: &mut Device<'_, 'd, P>,
    space: Space,
    pipeline: &GraphicsPipeline,
    vertex: &GraphicsProgram<'d>,
    fragment: Option<&GraphicsProgram<'d>>,
) -> Result<MadePipeline, WorkError> {
    let arch = device.properties().arch;
    if let Some(what) = unsupported(pipeline) {
        return Err(WorkError::Unsupported(what.into()));
    }
    let bindings: Vec<VertexBinding> = pipeline.vertex_bindings.iter().map(binding).collect();
    let attributes = pipeline.attributes.iter();
    let attributes: Result<Vec<VertexAttribute>, WorkError> =
        attributes.map(|it| attribute(arch, it)).collect();
    let attributes = attributes?;
    let colors = pipeline.colors.iter().map(|name| {
        let known = |name| format(arch, name).ok_or_else(|| missing("format"));
        name.as_deref().map(known).transpose()
    });
    let colors = colors.collect::<Result<Vec<_>, WorkError>>()?;
    let blends = color_blends(&pipeline.blend);
    let raster = &pipeline.raster;
    let culls = |mode| [mode, CullMode::FrontAndBack].contains(&raster.cull);
    let multisample = &pipeline.multisample;
    let made = device.create_graphics_pipeline(
        space,
        vertex,
        fragment,
        &GraphicsPipelineInfo {
            bindings: &bindings,
            attributes: &attributes,
            topology: topology(pipeline.topology).unwrap_or_default(),
            primitive_restart: pipeline.restart,
            cull_front: culls(CullMode::Front),
            cull_back: culls(CullMode::Back),
            front_face: match raster.front {
                state::FrontFace::CounterClockwise => FrontFace::CounterClockwise,
                state::FrontFace::Clockwise => FrontFace::Clockwise,
            },
            depth_clamp: raster.depth_clamp,
            depth_clip: Some(raster.clips_depth()),
            depth_bias: raster.depth_bias.map(|bias| DepthBias {
                constant: bias.constant,
                slope: bias.slope,
                clamp: bias.clamp,
            }),
            line_width: raster.line_width,
            bresenham_lines: raster.line_mode == state::LineMode::Bresenham,
            samples: multisample.samples,
            // There are at most 16.
            sample_mask: multisample.mask as u16,
            sample_shading: multisample.min_sample_shading.is_some(),
            alpha_to_coverage: multisample.alpha_to_coverage,
            last_vertex_provokes: raster.provoking == ProvokingVertex::Last,
            depth: pipeline.depth.map(|depth| DepthState {
                compare: match depth.test {
                    true => compare(depth.compare),
                    false => compare(state::CompareOp::Always),
                },
                // Without a test nothing is written.
                write: depth.write && depth.test,
            }),
            stencil: pipeline.stencil.map(|stencil| StencilState {
                front: face(stencil.front),
                back: face(stencil.back.unwrap_or(stencil.front)),
            }),
            colors: &colors,
            blends: &blends,
            blend_constants: pipeline.blend.constants,
            has_depth: pipeline.depth_format.is_some(),
            has_stencil: pipeline.stencil_format.is_some(),
        },
    )?;
    Ok(made)
}

fn topology(topology: state::Topology) -> Option<Topology> {
    Some(match topology {
        state::Topology::PointList => Topology::PointList,
        state::Topology::LineList => Topology::LineList,
        state::Topology::LineStrip => Topology::LineStrip,
        state::Topology::TriangleList => Topology::TriangleList,
        state::Topology::TriangleStrip => Topology::TriangleStrip,
        state::Topology::TriangleFan => Topology::TriangleFan,
        state::Topology::LineListWithAdjacency
        | state::Topology::LineStripWithAdjacency
        | state::Topology::TriangleListWithAdjacency
        | state::Topology::TriangleStripWithAdjacency => return None,
    })
}

fn binding(binding: &state::VertexBinding) -> VertexBinding {
    VertexBinding {
        binding: binding.binding,
        stride: binding.stride,
        rate: match binding.rate {
            VertexRate::Vertex => InputRate::Vertex,
            VertexRate::Instance => InputRate::Instance {
                divisor: binding.divisor,
            },
        },
    }
}

fn attribute(arch: Arch, attribute: &state::Attribute) -> Result<VertexAttribute, WorkError> {
    let format = format(arch, &attribute.format);
    Ok(VertexAttribute {
        location: attribute.location,
        binding: attribute.binding,
        offset: attribute.offset,
        format: format.ok_or_else(|| missing("format"))?,
    })
}

/// How each colour is blended. Where there is a logic operation nothing is: the fragment program has combined bits.
pub fn color_blends(blend: &state::Blend) -> Vec<ColorBlend> {
    let attachments = blend.attachments.iter();
    let blends = attachments.map(|attachment| ColorBlend {
        equations: match blend.logic_op {
            Some(_) => None,
            None => equations(attachment),
        },
        write_mask: attachment.write.0,
    });
    blends.collect()
}

fn equations(attachment: &state::BlendAttachment) -> Option<[BlendComponent; 2]> {
    attachment.color.map(|color| {
        let alpha = attachment.alpha.unwrap_or(color);
        [color, alpha].map(component)
    })
}

fn component(equation: state::BlendEquation) -> BlendComponent {
    use eitri_runtime::BlendOp as Op;
    BlendComponent {
        src: factor(equation.0),
        dst: factor(equation.1),
        op: match equation.2 {
            BlendOp::Add => Op::Add,
            BlendOp::Subtract => Op::Subtract,
            BlendOp::ReverseSubtract => Op::ReverseSubtract,
            BlendOp::Min => Op::Min,
            BlendOp::Max => Op::Max,
        },
    }
}

fn factor(factor: BlendFactor) -> eitri_runtime::BlendFactor {
    use eitri_runtime::BlendFactor as Made;
    match factor {
        BlendFactor::Zero => Made::Zero,
        BlendFactor::One => Made::One,
        BlendFactor::SrcColor => Made::SrcColor,
        BlendFactor::OneMinusSrcColor => Made::OneMinusSrcColor,
        BlendFactor::DstColor => Made::DstColor,
        BlendFactor::OneMinusDstColor => Made::OneMinusDstColor,
        BlendFactor::SrcAlpha => Made::SrcAlpha,
        BlendFactor::OneMinusSrcAlpha => Made::OneMinusSrcAlpha,
        BlendFactor::DstAlpha => Made::DstAlpha,
        BlendFactor::OneMinusDstAlpha => Made::OneMinusDstAlpha,
        BlendFactor::ConstantColor => Made::Constant,
        BlendFactor::OneMinusConstantColor => Made::OneMinusConstant,
        BlendFactor::ConstantAlpha => Made::ConstantAlpha,
        BlendFactor::OneMinusConstantAlpha => Made::OneMinusConstantAlpha,
        BlendFactor::SrcAlphaSaturate => Made::SrcAlphaSaturate,
        BlendFactor::Src1Color => Made::Src1Color,
        BlendFactor::OneMinusSrc1Color => Made::OneMinusSrc1Color,
        BlendFactor::Src1Alpha => Made::Src1Alpha,
        BlendFactor::OneMinusSrc1Alpha => Made::OneMinusSrc1Alpha,
    }
}

fn face(face: state::StencilFace) -> StencilFace {
    // A stencil value has 8 bits.
    StencilFace {
        compare: compare(face.compare),
        fail: stencil_op(face.fail),
        depth_fail: stencil_op(face.depth_fail),
        pass: stencil_op(face.pass),
        compare_mask: face.compare_mask as u8,
        write_mask: face.write_mask as u8,
        reference: face.reference as u8,
    }
}

fn stencil_op(op: state::StencilOp) -> StencilOp {
    match op {
        state::StencilOp::Keep => StencilOp::Keep,
        state::StencilOp::Zero => StencilOp::Zero,
        state::StencilOp::Replace => StencilOp::Replace,
        state::StencilOp::IncrementAndClamp => StencilOp::IncrSat,
        state::StencilOp::DecrementAndClamp => StencilOp::DecrSat,
        state::StencilOp::Invert => StencilOp::Invert,
        state::StencilOp::IncrementAndWrap => StencilOp::IncrWrap,
        state::StencilOp::DecrementAndWrap => StencilOp::DecrWrap,
    }
}
