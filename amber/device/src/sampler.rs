//! Samplers: a script's as the runtime has them. Language reference, section 8.

use eitri_amber::script::{AddressMode, BorderColor, CompareOperation, Filter, Sampler};
use eitri_descriptors::texture::{Func, WrapMode};
use eitri_drawing::{Sampler as Drawn, state};
use eitri_runtime::SamplerInfo;

/// 1.0 as bits.
const ONE: u32 = 0x3f80_0000;

/// A sampler of a script.
pub(crate) fn info(sampler: &Sampler) -> SamplerInfo {
    SamplerInfo {
        magnify_linear: sampler.magnify == Filter::Linear,
        minify_linear: sampler.minify == Filter::Linear,
        mipmap_linear: false,
        wrap: sampler.address.map(wrap),
        min_lod: sampler.min_lod as f32,
        max_lod: sampler.max_lod as f32,
        compare: sampler.compare.then(|| compare(sampler.operation)),
        unnormalized: !sampler.normalized,
        border: border(sampler.border),
        ..SamplerInfo::default()
    }
}

/// The same for a drawing.
pub(crate) fn drawn(sampler: &Sampler) -> Drawn {
    let filter = |filter| match filter {
        Filter::Linear => state::Filter::Linear,
        Filter::Nearest => state::Filter::Nearest,
    };
    Drawn {
        mag: filter(sampler.magnify),
        min: filter(sampler.minify),
        mip: state::Filter::Nearest,
        address: sampler.address.map(|mode| match mode {
            AddressMode::Repeat => state::AddressMode::Repeat,
            AddressMode::MirroredRepeat => state::AddressMode::MirroredRepeat,
            AddressMode::ClampToEdge => state::AddressMode::ClampToEdge,
            AddressMode::ClampToBorder => state::AddressMode::ClampToBorder,
            AddressMode::MirrorClampToEdge => state::AddressMode::MirrorClampToEdge,
        }),
        border: eitri_drawing::BorderColor::Named(match sampler.border {
            BorderColor::FloatTransparentBlack => state::Border::FloatTransparentBlack,
            BorderColor::IntTransparentBlack => state::Border::IntTransparentBlack,
            BorderColor::FloatOpaqueBlack => state::Border::FloatOpaqueBlack,
            BorderColor::IntOpaqueBlack => state::Border::IntOpaqueBlack,
            BorderColor::FloatOpaqueWhite => state::Border::FloatOpaqueWhite,
            BorderColor::IntOpaqueWhite => state::Border::IntOpaqueWhite,
        }),
        lod_bias: 0.0,
        min_lod: sampler.min_lod as f32,
        max_lod: sampler.max_lod as f32,
        compare: sampler.compare.then_some(match sampler.operation {
            CompareOperation::Never => state::CompareOp::Never,
            CompareOperation::Less => state::CompareOp::Less,
            CompareOperation::Equal => state::CompareOp::Equal,
            CompareOperation::LessOrEqual => state::CompareOp::LessOrEqual,
            CompareOperation::Greater => state::CompareOp::Greater,
            CompareOperation::NotEqual => state::CompareOp::NotEqual,
            CompareOperation::GreaterOrEqual => state::CompareOp::GreaterOrEqual,
            CompareOperation::Always => state::CompareOp::Always,
        }),
        unnormalised: !sampler.normalized,
        max_anisotropy: 1,
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

fn compare(operation: CompareOperation) -> Func {
    match operation {
        CompareOperation::Never => Func::Never,
        CompareOperation::Less => Func::Less,
        CompareOperation::Equal => Func::Equal,
        CompareOperation::LessOrEqual => Func::Lequal,
        CompareOperation::Greater => Func::Greater,
        CompareOperation::NotEqual => Func::NotEqual,
        CompareOperation::GreaterOrEqual => Func::Gequal,
        CompareOperation::Always => Func::Always,
    }
}

fn border(color: BorderColor) -> [u32; 4] {
    match color {
        BorderColor::FloatTransparentBlack | BorderColor::IntTransparentBlack => [0; 4],
        BorderColor::FloatOpaqueBlack => [0, 0, 0, ONE],
        BorderColor::FloatOpaqueWhite => [ONE; 4],
        BorderColor::IntOpaqueBlack => [0, 0, 0, 1],
        BorderColor::IntOpaqueWhite => [1; 4],
    }
}
