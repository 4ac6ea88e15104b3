//! Rows: tests of graphics that differ in one state of many. Each has a name that stays.
//!
//! Facts: graphics-raster.md 4 (state of draws), graphics-framebuffer.md 6 (blending), graphics-draw.md 3 (assembly).

use super::{assembled, colored, probes, sampled, tested};
use crate::bench::Bench;
use crate::result::Verdict;
use assembled::Assembly;
use colored::Format;
use eitri_descriptors::raster::StencilOp;
use eitri_descriptors::texture::Func;
use eitri_runtime::{BlendFactor, BlendOp, Occlusion, Platform};
use probes::Probe;
use sampled::Sampled;
use tested::Stencil;

/// A test.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(super) what: What,
}

/// What a test is about.
#[derive(Debug)]
pub(super) enum What {
    /// A comparison of depths.
    Depth(Func),
    /// Something else that depths have.
    Depths(tested::Depths),
    /// A comparison of stencil values.
    Compare(Func),
    /// What is done to stencil values.
    Stencil(Stencil),
    /// The factors of new and old colours, and how the products are joined.
    Blend(BlendFactor, BlendFactor, BlendOp),
    /// The channels that are written.
    Mask(u8),
    /// A target's format.
    Format(Format),
    /// How vertices become primitives, and where these go.
    Assembly(Assembly),
    /// Samples of a pixel.
    Samples(Sampled),
    /// Samples that pass are counted.
    Occlusion(Occlusion),
    /// A question that no fact answers.
    Probe(Probe),
}

/// Runs a test.
pub(crate) fn run<P: Platform>(it: &mut Bench<'_, '_, '_, P>, row: &Row) -> Verdict {
    match &row.what {
        What::Depth(func) => tested::depth(it, *func),
        What::Depths(what) => tested::depths(it, *what),
        What::Compare(func) => tested::compare(it, *func),
        What::Stencil(what) => tested::stencil(it, what),
        What::Blend(src, dst, op) => colored::blend(it, *src, *dst, *op),
        What::Mask(mask) => colored::mask(it, *mask),
        What::Format(format) => colored::format(it, format),
        What::Assembly(what) => assembled::assembly(it, *what),
        What::Samples(what) => sampled::samples(it, *what),
        What::Occlusion(how) => tested::occlusion(it, *how),
        What::Probe(what) => probes::probe(it, *what),
    }
}

const fn row(name: &'static str, what: What) -> Row {
    Row { name, what }
}

const fn blend(name: &'static str, src: BlendFactor, dst: BlendFactor) -> Row {
    row(name, What::Blend(src, dst, BlendOp::Add))
}

const fn stencil(name: &'static str, op: StencilOp, before: u8, after: u8) -> Row {
    row(
        name,
        What::Stencil(Stencil {
            op,
            before,
            after,
            ..Stencil::USUAL
        }),
    )
}

/// A target that is cleared to zeros, and drawn in with a colour whose bytes are these, the first of a texel first.
const fn format(
    name: &'static str,
    format: &'static str,
    color: [f32; 4],
    bytes: &'static [u8],
) -> Row {
    row(
        name,
        What::Format(Format {
            format,
            color,
            bytes,
        }),
    )
}

const WHITE: [f32; 4] = [1.0; 4];
const YELLOW: [f32; 4] = [1.0, 1.0, 0.0, 1.0];
const HALF: [f32; 4] = [0.5, 0.0, 1.0, 0.5];

/// All of them.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    row("graphics.depth.never",          What::Depth(Func::Never)),
    row("graphics.depth.less",           What::Depth(Func::Less)),
    row("graphics.depth.equal",          What::Depth(Func::Equal)),
    row("graphics.depth.less-equal",     What::Depth(Func::Lequal)),
    row("graphics.depth.greater",        What::Depth(Func::Greater)),
    row("graphics.depth.not-equal",      What::Depth(Func::NotEqual)),
    row("graphics.depth.greater-equal",  What::Depth(Func::Gequal)),
    row("graphics.depth.always",         What::Depth(Func::Always)),
    row("graphics.depth.read-only",      What::Depths(tested::Depths::ReadOnly)),
    row("graphics.depth.bias",           What::Depths(tested::Depths::Bias)),
    row("graphics.depth.bias-slope",     What::Depths(tested::Depths::Slope)),
    row("graphics.depth.clip",           What::Depths(tested::Depths::Clip)),
    row("graphics.depth.clamp",          What::Depths(tested::Depths::Clamp)),
    row("graphics.depth.range",          What::Depths(tested::Depths::Range)),

    row("graphics.stencil.never",         What::Compare(Func::Never)),
    row("graphics.stencil.less",          What::Compare(Func::Less)),
    row("graphics.stencil.equal",         What::Compare(Func::Equal)),
    row("graphics.stencil.less-equal",    What::Compare(Func::Lequal)),
    row("graphics.stencil.greater",       What::Compare(Func::Greater)),
    row("graphics.stencil.not-equal",     What::Compare(Func::NotEqual)),
    row("graphics.stencil.greater-equal", What::Compare(Func::Gequal)),
    row("graphics.stencil.always",        What::Compare(Func::Always)),
    stencil("graphics.stencil.keep",           StencilOp::Keep,     0xA5, 0xA5),
    stencil("graphics.stencil.zero",           StencilOp::Zero,     0xA5, 0x00),
    stencil("graphics.stencil.replace",        StencilOp::Replace,  0xA5, 0x3C),
    stencil("graphics.stencil.invert",         StencilOp::Invert,   0xA5, 0x5A),
    stencil("graphics.stencil.increment-wrap", StencilOp::IncrWrap, 0xFF, 0x00),
    stencil("graphics.stencil.decrement-wrap", StencilOp::DecrWrap, 0x00, 0xFF),
    stencil("graphics.stencil.increment",      StencilOp::IncrSat,  0xFF, 0xFF),
    stencil("graphics.stencil.decrement",      StencilOp::DecrSat,  0x00, 0x00),
    row("graphics.stencil.fail",       What::Stencil(Stencil { compare: Func::Never, op: StencilOp::Zero, on: tested::On::Fail, ..Stencil::USUAL })),
    row("graphics.stencil.depth-fail", What::Stencil(Stencil { op: StencilOp::Zero, on: tested::On::DepthFail, ..Stencil::USUAL })),
    row("graphics.stencil.back",       What::Stencil(Stencil { op: StencilOp::Zero, on: tested::On::Back, ..Stencil::USUAL })),
    row("graphics.stencil.write-mask", What::Stencil(Stencil { op: StencilOp::Replace, write_mask: 0x0F, after: 0xAC, ..Stencil::USUAL })),
    row("graphics.stencil.value-mask", What::Stencil(Stencil { op: StencilOp::Zero, compare: Func::Equal, compare_mask: 0x24, after: 0x00, ..Stencil::USUAL })),

    blend("graphics.blend.zero",                     BlendFactor::Zero,                  BlendFactor::One),
    blend("graphics.blend.one",                      BlendFactor::One,                   BlendFactor::Zero),
    blend("graphics.blend.src-color",                BlendFactor::SrcColor,              BlendFactor::Zero),
    blend("graphics.blend.one-minus-src-color",      BlendFactor::OneMinusSrcColor,      BlendFactor::Zero),
    blend("graphics.blend.dst-color",                BlendFactor::DstColor,              BlendFactor::Zero),
    blend("graphics.blend.one-minus-dst-color",      BlendFactor::OneMinusDstColor,      BlendFactor::Zero),
    blend("graphics.blend.src-alpha",                BlendFactor::SrcAlpha,              BlendFactor::Zero),
    blend("graphics.blend.one-minus-src-alpha",      BlendFactor::OneMinusSrcAlpha,      BlendFactor::Zero),
    blend("graphics.blend.dst-alpha",                BlendFactor::DstAlpha,              BlendFactor::Zero),
    blend("graphics.blend.one-minus-dst-alpha",      BlendFactor::OneMinusDstAlpha,      BlendFactor::Zero),
    blend("graphics.blend.constant",                 BlendFactor::Constant,              BlendFactor::Zero),
    blend("graphics.blend.one-minus-constant",       BlendFactor::OneMinusConstant,      BlendFactor::Zero),
    blend("graphics.blend.over",                     BlendFactor::SrcAlpha,              BlendFactor::OneMinusSrcAlpha),
    blend("graphics.blend.under",                    BlendFactor::OneMinusDstAlpha,      BlendFactor::DstAlpha),
    row("graphics.blend.subtract",         What::Blend(BlendFactor::One, BlendFactor::One, BlendOp::Subtract)),
    row("graphics.blend.reverse-subtract", What::Blend(BlendFactor::One, BlendFactor::One, BlendOp::ReverseSubtract)),

    row("graphics.mask.red",   What::Mask(1)),
    row("graphics.mask.green", What::Mask(2)),
    row("graphics.mask.blue",  What::Mask(4)),
    row("graphics.mask.alpha", What::Mask(8)),
    row("graphics.mask.none",  What::Mask(0)),

    format("graphics.format.r8-unorm",             "R8_UNORM",                 WHITE,  &[0xFF]),
    format("graphics.format.r8g8-unorm",           "R8G8_UNORM",               YELLOW, &[0xFF, 0xFF]),
    format("graphics.format.b8g8r8a8-unorm",       "B8G8R8A8_UNORM",           YELLOW, &[0x00, 0xFF, 0xFF, 0xFF]),
    format("graphics.format.r8g8b8a8-srgb",        "R8G8B8A8_SRGB",            HALF,   &[188, 0x00, 0xFF, 0x80]),
    format("graphics.format.r5g6b5-unorm",         "R5G6B5_UNORM_PACK16",      YELLOW, &[0xE0, 0xFF]),
    format("graphics.format.a2b10g10r10-unorm",    "A2B10G10R10_UNORM_PACK32", YELLOW, &[0xFF, 0xFF, 0x0F, 0xC0]),
    format("graphics.format.r16-sfloat",           "R16_SFLOAT",               HALF,   &[0x00, 0x38]),
    format("graphics.format.r16g16b16a16-sfloat",  "R16G16B16A16_SFLOAT",      HALF,   &[0x00, 0x38, 0x00, 0x00, 0x00, 0x3C, 0x00, 0x38]),
    format("graphics.format.r32-sfloat",           "R32_SFLOAT",               HALF,   &[0x00, 0x00, 0x00, 0x3F]),
    format("graphics.format.r32g32-sfloat",        "R32G32_SFLOAT",            HALF,   &[0x00, 0x00, 0x00, 0x3F, 0x00, 0x00, 0x00, 0x00]),

    row("graphics.topology.list",        What::Assembly(Assembly::List)),
    row("graphics.topology.fan",         What::Assembly(Assembly::Fan)),
    row("graphics.topology.lines",       What::Assembly(Assembly::Lines)),
    row("graphics.topology.line-strip",  What::Assembly(Assembly::LineStrip)),
    row("graphics.draw.first-vertex",    What::Assembly(Assembly::FirstVertex)),
    row("graphics.index.8-bit",          What::Assembly(Assembly::Index8)),
    row("graphics.index.16-bit",         What::Assembly(Assembly::Index16)),
    row("graphics.index.32-bit",         What::Assembly(Assembly::Index32)),
    row("graphics.index.first",          What::Assembly(Assembly::FirstIndex)),
    row("graphics.index.vertex-offset",  What::Assembly(Assembly::VertexOffset)),
    row("graphics.index.restart",        What::Assembly(Assembly::Restart)),
    row("graphics.instance.each",        What::Assembly(Assembly::Instances { divisor: 1 })),
    row("graphics.instance.divisor",     What::Assembly(Assembly::Instances { divisor: 2 })),
    row("graphics.instance.divisor-3",   What::Assembly(Assembly::Instances { divisor: 3 })),
    row("graphics.instance.first",       What::Assembly(Assembly::FirstInstance)),
    row("graphics.cull.front",           What::Assembly(Assembly::Cull { front: true, back: false, clockwise: false })),
    row("graphics.cull.back",            What::Assembly(Assembly::Cull { front: false, back: true, clockwise: false })),
    row("graphics.cull.both",            What::Assembly(Assembly::Cull { front: true, back: true, clockwise: false })),
    row("graphics.cull.turned",          What::Assembly(Assembly::Cull { front: true, back: false, clockwise: true })),
    row("graphics.cull.back-turned",     What::Assembly(Assembly::Cull { front: false, back: true, clockwise: true })),
    row("graphics.scissor",              What::Assembly(Assembly::Scissor)),
    row("graphics.viewport",             What::Assembly(Assembly::Viewport)),
    row("graphics.viewport.turned",      What::Assembly(Assembly::Turned)),
    row("graphics.push-constants",       What::Assembly(Assembly::Push)),
    row("graphics.load",                 What::Assembly(Assembly::Load)),
    row("graphics.target.level",         What::Assembly(Assembly::Level)),
    row("graphics.target.layer",         What::Assembly(Assembly::Layer)),

    row("graphics.samples.4",            What::Samples(Sampled::Edge { samples: 4, left: 2 })),
    row("graphics.samples.8",            What::Samples(Sampled::Edge { samples: 8, left: 4 })),
    row("graphics.samples.16",           What::Samples(Sampled::Edge { samples: 16, left: 9 })),
    row("graphics.samples.mask",         What::Samples(Sampled::Mask)),
    row("graphics.samples.alpha",        What::Samples(Sampled::Alpha)),
    row("graphics.occlusion.any",        What::Occlusion(Occlusion::Any)),
    row("graphics.occlusion.count",      What::Occlusion(Occlusion::Precise)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_and_each_has_a_name_of_its_own() {
        let all: alloc::vec::Vec<&Row> = ROWS.iter().chain(probes::PROBES).collect();
        assert!(ROWS.len() >= 60, "{}", ROWS.len());
        for (number, row) in all.iter().enumerate() {
            let again = all.iter().skip(number + 1).any(|it| it.name == row.name);
            assert!(!again, "{} is there twice", row.name);
        }
    }
}
