//! Samplers: a script's as the runtime has them. Language reference, section 8.

use eitri_amber::script::{AddressMode, BorderColor, CompareOperation, Filter, Sampler};
use eitri_descriptors::texture::{Func, WrapMode};
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
