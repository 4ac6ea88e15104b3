//! What the driver calls the formats, images and samplers of a drawing.

use crate::image_steps::aspect_of;
use eitri_descriptors::Arch;
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::texture::{Func, WrapMode};
use eitri_drawing::state::{
    self, AddressMode, Border, Color, CompareOp, Filter, ImageType, ViewType,
};
use eitri_drawing::{BorderColor, Image, Sampler, View};
use eitri_program::ImageDimension;
use eitri_runtime::{Component, ImageInfo, ImageRange, SamplerInfo, Tiling, ViewInfo};

/// The format that Vulkan calls so, in lower case.
pub fn format(arch: Arch, name: &str) -> Option<&'static VkFormat> {
    VkFormat::of_name(arch, &name.to_ascii_uppercase())
}

/// The driver's description of an image; `None` if its format is unknown to the hardware.
pub fn image_info(arch: Arch, image: &Image<'_>) -> Option<ImageInfo> {
    let [width, height, depth] = image.extent;
    Some(ImageInfo {
        dimension: match image.kind {
            ImageType::D1 => ImageDimension::OneD,
            // Views make cubes of it.
            ImageType::D2 => ImageDimension::TwoD,
            ImageType::D3 => ImageDimension::ThreeD,
        },
        format: format(arch, &image.format)?,
        width,
        height,
        depth,
        layers: image.layers,
        levels: image.levels,
        samples: image.samples,
        tiling: match image.kind {
            // Blocks in tiles can't be seen as texels.
            _ if image.mutable && format(arch, &image.format)?.compressed().is_some() => {
                Tiling::Linear
            }
            ImageType::D1 => Tiling::Linear,
            ImageType::D2 | ImageType::D3 => Tiling::UInterleaved,
        },
        placed: None,
    })
}

/// The driver's description of a view of an image; `None` if its format is unknown to the hardware.
pub(crate) fn view_info(arch: Arch, view: &View, info: &ImageInfo) -> Option<ViewInfo> {
    Some(ViewInfo {
        dimension: match view.kind {
            ViewType::D1 | ViewType::D1Array => ImageDimension::OneD,
            ViewType::D2 | ViewType::D2Array => ImageDimension::TwoD,
            ViewType::D3 => ImageDimension::ThreeD,
            ViewType::Cube | ViewType::CubeArray => ImageDimension::Cube,
        },
        format: own_format(arch, view, info)?,
        aspect: view.aspect.and_then(aspect_of),
        range: ImageRange {
            level: view.level,
            levels: view.levels,
            layer: view.layer,
            layers: view.layers,
        },
        swizzle: view.swizzle.0.map(|component| match component {
            state::Component::Red => Component::Red,
            state::Component::Green => Component::Green,
            state::Component::Blue => Component::Blue,
            state::Component::Alpha => Component::Alpha,
            state::Component::Zero => Component::Zero,
            state::Component::One => Component::One,
        }),
    })
}

/// The format of a view, if it is not its image's; the outer `None` if the hardware does not know it.
pub(crate) fn own_format(
    arch: Arch,
    view: &View,
    info: &ImageInfo,
) -> Option<Option<&'static VkFormat>> {
    let of_view = format(arch, &view.format)?;
    Some((of_view != info.format).then_some(of_view))
}

/// The driver's description of a sampler.
pub fn sampler_info(sampler: &Sampler) -> SamplerInfo {
    SamplerInfo {
        magnify_linear: sampler.mag == Filter::Linear,
        minify_linear: sampler.min == Filter::Linear,
        mipmap_linear: sampler.mip == Filter::Linear,
        unnormalized: sampler.unnormalised,
        wrap: sampler.address.map(wrap),
        lod_bias: sampler.lod_bias,
        min_lod: sampler.min_lod,
        max_lod: sampler.max_lod,
        max_anisotropy: sampler.max_anisotropy,
        compare: sampler.compare.map(compare),
        border: border(sampler.border),
    }
}

fn wrap(mode: AddressMode) -> WrapMode {
    match mode {
        AddressMode::Repeat => WrapMode::Repeat,
        AddressMode::MirroredRepeat => WrapMode::MirroredRepeat,
        AddressMode::ClampToEdge => WrapMode::ClampToEdge,
        AddressMode::ClampToBorder => WrapMode::ClampToBorder,
        AddressMode::MirrorClampToEdge => WrapMode::MirroredClampToEdge,
    }
}

pub(crate) fn compare(op: CompareOp) -> Func {
    match op {
        CompareOp::Never => Func::Never,
        CompareOp::Less => Func::Less,
        CompareOp::Equal => Func::Equal,
        CompareOp::LessOrEqual => Func::Lequal,
        CompareOp::Greater => Func::Greater,
        CompareOp::NotEqual => Func::NotEqual,
        CompareOp::GreaterOrEqual => Func::Gequal,
        CompareOp::Always => Func::Always,
    }
}

/// The words of a border's colour.
fn border(color: BorderColor) -> [u32; 4] {
    let float = |color: [f32; 4]| color.map(f32::to_bits);
    match color {
        BorderColor::Named(Border::FloatTransparentBlack | Border::IntTransparentBlack) => [0; 4],
        BorderColor::Named(Border::FloatOpaqueBlack) => float([0.0, 0.0, 0.0, 1.0]),
        BorderColor::Named(Border::IntOpaqueBlack) => [0, 0, 0, 1],
        BorderColor::Named(Border::FloatOpaqueWhite) => float([1.0; 4]),
        BorderColor::Named(Border::IntOpaqueWhite) => [1; 4],
        BorderColor::Custom(Color::Float(color)) => float(color),
        BorderColor::Custom(color) => color.words(),
    }
}
