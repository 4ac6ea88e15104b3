//! Names of a scene in Vulkan's numbers: formats, states, factors.

use ash::vk;
use eitri_draw_scenes as scene;

/// The format of a name such as `r8g8b8a8_unorm`.
pub(super) fn format(name: &str) -> Option<vk::Format> {
    /// The last of Vulkan 1.0's formats.
    const LAST: i32 = vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw();
    let name = name.to_ascii_uppercase();
    let named = |format: &vk::Format| format!("{format:?}") == name;
    let later = [
        vk::Format::A4R4G4B4_UNORM_PACK16,
        vk::Format::A4B4G4R4_UNORM_PACK16,
    ];
    let all = (1..=LAST).map(vk::Format::from_raw).chain(later);
    all.into_iter().find(named)
}

/// The aspects that a format has.
pub(super) fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::{Format, ImageAspectFlags as Aspect};
    match format {
        Format::D16_UNORM | Format::X8_D24_UNORM_PACK32 | Format::D32_SFLOAT => Aspect::DEPTH,
        Format::S8_UINT => Aspect::STENCIL,
        Format::D16_UNORM_S8_UINT | Format::D24_UNORM_S8_UINT | Format::D32_SFLOAT_S8_UINT => {
            Aspect::DEPTH | Aspect::STENCIL
        }
        _ => Aspect::COLOR,
    }
}

pub(super) fn aspect(aspect: scene::Aspect) -> vk::ImageAspectFlags {
    use vk::ImageAspectFlags as Aspect;
    match aspect {
        scene::Aspect::Color => Aspect::COLOR,
        scene::Aspect::Depth => Aspect::DEPTH,
        scene::Aspect::Stencil => Aspect::STENCIL,
        scene::Aspect::DepthStencil => Aspect::DEPTH | Aspect::STENCIL,
    }
}

pub(super) fn samples(count: u32) -> vk::SampleCountFlags {
    vk::SampleCountFlags::from_raw(count)
}

pub(super) fn filter(filter: scene::Filter) -> vk::Filter {
    match filter {
        scene::Filter::Nearest => vk::Filter::NEAREST,
        scene::Filter::Linear => vk::Filter::LINEAR,
    }
}

pub(super) fn address_mode(mode: scene::AddressMode) -> vk::SamplerAddressMode {
    use vk::SamplerAddressMode as Mode;
    match mode {
        scene::AddressMode::Repeat => Mode::REPEAT,
        scene::AddressMode::MirroredRepeat => Mode::MIRRORED_REPEAT,
        scene::AddressMode::ClampToEdge => Mode::CLAMP_TO_EDGE,
        scene::AddressMode::ClampToBorder => Mode::CLAMP_TO_BORDER,
        scene::AddressMode::MirrorClampToEdge => Mode::MIRROR_CLAMP_TO_EDGE,
    }
}

pub(super) fn border(border: scene::Border) -> vk::BorderColor {
    use vk::BorderColor as Border;
    match border {
        scene::Border::FloatTransparentBlack => Border::FLOAT_TRANSPARENT_BLACK,
        scene::Border::IntTransparentBlack => Border::INT_TRANSPARENT_BLACK,
        scene::Border::FloatOpaqueBlack => Border::FLOAT_OPAQUE_BLACK,
        scene::Border::IntOpaqueBlack => Border::INT_OPAQUE_BLACK,
        scene::Border::FloatOpaqueWhite => Border::FLOAT_OPAQUE_WHITE,
        scene::Border::IntOpaqueWhite => Border::INT_OPAQUE_WHITE,
    }
}

pub(super) fn color(color: scene::Color) -> vk::ClearColorValue {
    match color {
        scene::Color::Float(float32) => vk::ClearColorValue { float32 },
        scene::Color::Int(int32) => vk::ClearColorValue { int32 },
        scene::Color::Uint(uint32) => vk::ClearColorValue { uint32 },
    }
}

pub(super) fn compare(compare: scene::CompareOp) -> vk::CompareOp {
    use vk::CompareOp as Op;
    match compare {
        scene::CompareOp::Never => Op::NEVER,
        scene::CompareOp::Less => Op::LESS,
        scene::CompareOp::Equal => Op::EQUAL,
        scene::CompareOp::LessOrEqual => Op::LESS_OR_EQUAL,
        scene::CompareOp::Greater => Op::GREATER,
        scene::CompareOp::NotEqual => Op::NOT_EQUAL,
        scene::CompareOp::GreaterOrEqual => Op::GREATER_OR_EQUAL,
        scene::CompareOp::Always => Op::ALWAYS,
    }
}

pub(super) fn swizzle(swizzle: scene::Swizzle) -> vk::ComponentMapping {
    use vk::ComponentSwizzle as To;
    let [r, g, b, a] = swizzle.0.map(|component| match component {
        scene::Component::Red => To::R,
        scene::Component::Green => To::G,
        scene::Component::Blue => To::B,
        scene::Component::Alpha => To::A,
        scene::Component::Zero => To::ZERO,
        scene::Component::One => To::ONE,
    });
    vk::ComponentMapping { r, g, b, a }
}

pub(super) fn descriptor(kind: scene::DescriptorKind) -> vk::DescriptorType {
    use vk::DescriptorType as Type;
    match kind {
        scene::DescriptorKind::Sampler => Type::SAMPLER,
        scene::DescriptorKind::CombinedImageSampler => Type::COMBINED_IMAGE_SAMPLER,
        scene::DescriptorKind::SampledImage => Type::SAMPLED_IMAGE,
        scene::DescriptorKind::StorageImage => Type::STORAGE_IMAGE,
        scene::DescriptorKind::UniformTexelBuffer => Type::UNIFORM_TEXEL_BUFFER,
        scene::DescriptorKind::StorageTexelBuffer => Type::STORAGE_TEXEL_BUFFER,
        scene::DescriptorKind::UniformBuffer => Type::UNIFORM_BUFFER,
        scene::DescriptorKind::StorageBuffer => Type::STORAGE_BUFFER,
        scene::DescriptorKind::InputAttachment => Type::INPUT_ATTACHMENT,
    }
}

pub(super) fn topology(topology: scene::Topology) -> vk::PrimitiveTopology {
    use scene::Topology as From;
    use vk::PrimitiveTopology as To;
    match topology {
        From::PointList => To::POINT_LIST,
        From::LineList => To::LINE_LIST,
        From::LineStrip => To::LINE_STRIP,
        From::TriangleList => To::TRIANGLE_LIST,
        From::TriangleStrip => To::TRIANGLE_STRIP,
        From::TriangleFan => To::TRIANGLE_FAN,
        From::LineListWithAdjacency => To::LINE_LIST_WITH_ADJACENCY,
        From::LineStripWithAdjacency => To::LINE_STRIP_WITH_ADJACENCY,
        From::TriangleListWithAdjacency => To::TRIANGLE_LIST_WITH_ADJACENCY,
        From::TriangleStripWithAdjacency => To::TRIANGLE_STRIP_WITH_ADJACENCY,
    }
}

pub(super) fn cull(cull: scene::CullMode) -> vk::CullModeFlags {
    use vk::CullModeFlags as Mode;
    match cull {
        scene::CullMode::None => Mode::NONE,
        scene::CullMode::Front => Mode::FRONT,
        scene::CullMode::Back => Mode::BACK,
        scene::CullMode::FrontAndBack => Mode::FRONT_AND_BACK,
    }
}

pub(super) fn polygon(mode: scene::PolygonMode) -> vk::PolygonMode {
    match mode {
        scene::PolygonMode::Fill => vk::PolygonMode::FILL,
        scene::PolygonMode::Line => vk::PolygonMode::LINE,
        scene::PolygonMode::Point => vk::PolygonMode::POINT,
    }
}

pub(super) fn line_mode(mode: scene::LineMode) -> vk::LineRasterizationModeEXT {
    use vk::LineRasterizationModeEXT as Mode;
    match mode {
        scene::LineMode::Default => Mode::DEFAULT,
        scene::LineMode::Rectangular => Mode::RECTANGULAR,
        scene::LineMode::Bresenham => Mode::BRESENHAM,
        scene::LineMode::RectangularSmooth => Mode::RECTANGULAR_SMOOTH,
    }
}

fn stencil_op(op: scene::StencilOp) -> vk::StencilOp {
    use vk::StencilOp as Op;
    match op {
        scene::StencilOp::Keep => Op::KEEP,
        scene::StencilOp::Zero => Op::ZERO,
        scene::StencilOp::Replace => Op::REPLACE,
        scene::StencilOp::IncrementAndClamp => Op::INCREMENT_AND_CLAMP,
        scene::StencilOp::DecrementAndClamp => Op::DECREMENT_AND_CLAMP,
        scene::StencilOp::Invert => Op::INVERT,
        scene::StencilOp::IncrementAndWrap => Op::INCREMENT_AND_WRAP,
        scene::StencilOp::DecrementAndWrap => Op::DECREMENT_AND_WRAP,
    }
}

pub(super) fn stencil(face: &scene::StencilFace) -> vk::StencilOpState {
    vk::StencilOpState {
        fail_op: stencil_op(face.fail),
        pass_op: stencil_op(face.pass),
        depth_fail_op: stencil_op(face.depth_fail),
        compare_op: compare(face.compare),
        compare_mask: face.compare_mask,
        write_mask: face.write_mask,
        reference: face.reference,
    }
}

fn factor(factor: scene::BlendFactor) -> vk::BlendFactor {
    use scene::BlendFactor as From;
    use vk::BlendFactor as To;
    match factor {
        From::Zero => To::ZERO,
        From::One => To::ONE,
        From::SrcColor => To::SRC_COLOR,
        From::OneMinusSrcColor => To::ONE_MINUS_SRC_COLOR,
        From::DstColor => To::DST_COLOR,
        From::OneMinusDstColor => To::ONE_MINUS_DST_COLOR,
        From::SrcAlpha => To::SRC_ALPHA,
        From::OneMinusSrcAlpha => To::ONE_MINUS_SRC_ALPHA,
        From::DstAlpha => To::DST_ALPHA,
        From::OneMinusDstAlpha => To::ONE_MINUS_DST_ALPHA,
        From::ConstantColor => To::CONSTANT_COLOR,
        From::OneMinusConstantColor => To::ONE_MINUS_CONSTANT_COLOR,
        From::ConstantAlpha => To::CONSTANT_ALPHA,
        From::OneMinusConstantAlpha => To::ONE_MINUS_CONSTANT_ALPHA,
        From::SrcAlphaSaturate => To::SRC_ALPHA_SATURATE,
        From::Src1Color => To::SRC1_COLOR,
        From::OneMinusSrc1Color => To::ONE_MINUS_SRC1_COLOR,
        From::Src1Alpha => To::SRC1_ALPHA,
        From::OneMinusSrc1Alpha => To::ONE_MINUS_SRC1_ALPHA,
    }
}

fn blend_op(op: scene::BlendOp) -> vk::BlendOp {
    match op {
        scene::BlendOp::Add => vk::BlendOp::ADD,
        scene::BlendOp::Subtract => vk::BlendOp::SUBTRACT,
        scene::BlendOp::ReverseSubtract => vk::BlendOp::REVERSE_SUBTRACT,
        scene::BlendOp::Min => vk::BlendOp::MIN,
        scene::BlendOp::Max => vk::BlendOp::MAX,
    }
}

/// The state of one attachment; without one, colours are written as they come.
pub(super) fn blend(
    attachment: Option<&scene::BlendAttachment>,
) -> vk::PipelineColorBlendAttachmentState {
    let write = attachment.map_or(0xF, |attachment| attachment.write.0);
    let state = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::from_raw(write.into()));
    let Some((color, alpha)) = attachment.and_then(|it| Some((it.color?, it.alpha.or(it.color)?)))
    else {
        return state;
    };
    state
        .blend_enable(true)
        .src_color_blend_factor(factor(color.0))
        .dst_color_blend_factor(factor(color.1))
        .color_blend_op(blend_op(color.2))
        .src_alpha_blend_factor(factor(alpha.0))
        .dst_alpha_blend_factor(factor(alpha.1))
        .alpha_blend_op(blend_op(alpha.2))
}

pub(super) fn logic(op: scene::LogicOp) -> vk::LogicOp {
    use scene::LogicOp as From;
    use vk::LogicOp as To;
    match op {
        From::Clear => To::CLEAR,
        From::And => To::AND,
        From::AndReverse => To::AND_REVERSE,
        From::Copy => To::COPY,
        From::AndInverted => To::AND_INVERTED,
        From::NoOp => To::NO_OP,
        From::Xor => To::XOR,
        From::Or => To::OR,
        From::Nor => To::NOR,
        From::Equivalent => To::EQUIVALENT,
        From::Invert => To::INVERT,
        From::OrReverse => To::OR_REVERSE,
        From::CopyInverted => To::COPY_INVERTED,
        From::OrInverted => To::OR_INVERTED,
        From::Nand => To::NAND,
        From::Set => To::SET,
    }
}

pub(super) fn load_op(op: scene::LoadOp) -> vk::AttachmentLoadOp {
    match op {
        scene::LoadOp::Load => vk::AttachmentLoadOp::LOAD,
        scene::LoadOp::Clear => vk::AttachmentLoadOp::CLEAR,
        scene::LoadOp::DontCare => vk::AttachmentLoadOp::DONT_CARE,
    }
}

pub(super) fn store_op(op: scene::StoreOp) -> vk::AttachmentStoreOp {
    match op {
        scene::StoreOp::Store => vk::AttachmentStoreOp::STORE,
        scene::StoreOp::DontCare => vk::AttachmentStoreOp::DONT_CARE,
    }
}

pub(super) fn resolve_mode(mode: scene::ResolveMode) -> vk::ResolveModeFlags {
    match mode {
        scene::ResolveMode::SampleZero => vk::ResolveModeFlags::SAMPLE_ZERO,
        scene::ResolveMode::Average => vk::ResolveModeFlags::AVERAGE,
        scene::ResolveMode::Min => vk::ResolveModeFlags::MIN,
        scene::ResolveMode::Max => vk::ResolveModeFlags::MAX,
    }
}

pub(super) fn index_type(kind: scene::IndexType) -> vk::IndexType {
    match kind {
        scene::IndexType::U8 => vk::IndexType::UINT8_EXT,
        scene::IndexType::U16 => vk::IndexType::UINT16,
        scene::IndexType::U32 => vk::IndexType::UINT32,
    }
}

pub(super) fn rect(rect: scene::Rect) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D {
            x: rect.x,
            y: rect.y,
        },
        extent: vk::Extent2D {
            width: rect.width,
            height: rect.height,
        },
    }
}

pub(super) fn extent([width, height, depth]: [u32; 3]) -> vk::Extent3D {
    vk::Extent3D {
        width,
        height,
        depth,
    }
}

pub(super) fn offset([x, y, z]: [i32; 3]) -> vk::Offset3D {
    vk::Offset3D { x, y, z }
}
