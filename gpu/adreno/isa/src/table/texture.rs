//! Rows: texture and quads (category 5).
//!
//! Facts: hardware/ir3-isa.md sections 1, 11, 13 and 16.

use super::fields::{
    A, BASE_HI, D3, DESC, DST, FULL0, JP, O, P, S, S2EN, SAMP, SY, TEX, TEX_BASE, TEX_SRC1,
    TEX_SRC2, TEX_SRC3, TEX_TYPE, WRMASK, uint,
};
use super::{EMPTY, category, reads, writes};
use crate::field::Field;
use crate::layout::{
    Count, DestWidth, Latency, Layout, OperandSpec, SourceWidth, TexShape, Variant, When, Wide,
};

/// The opcode: bits 54 to 58.
pub(super) const fn cat5(opcode: u64) -> u64 {
    category(5) | opcode << 54
}

/// Exchange in a quad: which, in bits 19 and 20.
pub(super) const fn quad(which: u64) -> u64 {
    cat5(0x1f) | 1 << 53 | which << 19
}

const RESULT: OperandSpec = writes(Field::Dst, Count::WriteMask, Wide::Dest);
const COORDINATES: OperandSpec = reads(Field::Src1, Count::TexCoordinates, Wide::Source);
const EXTRA: OperandSpec = reads(Field::Src2, Count::TexExtra, Wide::Source);
const DESCRIPTOR: OperandSpec = reads(Field::Src3, Count::TexDescriptor, Wide::Full);
const ONE: Count = Count::Fixed(1);

pub(super) const SAMPLE: Layout = Layout {
    text: "{SY}{JP}{NAME}{3D}{A}{O}{P}{S} {TYPE}({WRMASK}){DST_HALF}{DST}{SRC1}{SRC2}{SAMP}{TEX}",
    variants: &[Variant {
        when: When::Indirect,
        text: "{SY}{JP}{NAME}{3D}{A}{O}{P}{S}{S2EN}{UNIFORM}{NONUNIFORM}{BASE} {TYPE}({WRMASK}){DST_HALF}{DST}{SRC1}{SRC2}{SRC3}{A1}",
    }],
    fields: &[
        FULL0, TEX_SRC1, TEX_SRC2, SAMP, TEX, DST, WRMASK, TEX_TYPE, D3, A, S, S2EN, O, P, JP, SY,
    ],
    indirect: &[BASE_HI, TEX_SRC3, DESC, TEX_BASE],
    ignored: 0x0000_0000_0002_0000,
    sources: SourceWidth::ByFull,
    dest: DestWidth::ByType,
    tex: Some(TexShape {
        sources: 1,
        sampler: true,
        texture: true,
        typed: true,
    }),
    operands: &[COORDINATES, EXTRA, DESCRIPTOR, RESULT],
    latency: Latency::Sy,
    ..EMPTY
};
pub(super) const SAMPLE_LEVEL: Layout = Layout {
    tex: shape(2, true, true),
    ..SAMPLE
};
pub(super) const SAMPLE_MULTI: Layout = Layout {
    operands: &[
        reads(Field::Src1, Count::TexSample, Wide::Source),
        EXTRA,
        DESCRIPTOR,
        RESULT,
    ],
    ..SAMPLE
};
pub(super) const SAMPLE_GRADIENT: Layout = Layout {
    operands: &[
        reads(Field::Src1, Count::TexGradients, Wide::Source),
        EXTRA,
        DESCRIPTOR,
        RESULT,
    ],
    ..SAMPLE
};
pub(super) const TEX_QUERY: Layout = Layout {
    tex: shape(1, false, true),
    operands: &[
        reads(Field::Src1, ONE, Wide::Source),
        EXTRA,
        DESCRIPTOR,
        RESULT,
    ],
    ..SAMPLE
};
pub(super) const TEX_INFO: Layout = Layout {
    tex: shape(0, false, true),
    operands: &[EXTRA, DESCRIPTOR, RESULT],
    ..SAMPLE
};
pub(super) const DERIVATIVE: Layout = Layout {
    tex: shape(1, false, false),
    operands: &[
        reads(Field::Src1, Count::WriteMask, Wide::Source),
        EXTRA,
        DESCRIPTOR,
        RESULT,
    ],
    ..SAMPLE
};
pub(super) const DERIVATIVE_FINE: Layout = Layout {
    tex: Some(TexShape {
        sources: 1,
        sampler: false,
        texture: false,
        typed: false,
    }),
    ..DERIVATIVE
};
pub(super) const TARGET_INFO: Layout = Layout {
    tex: shape(0, false, false),
    operands: &[EXTRA, DESCRIPTOR, RESULT],
    ..SAMPLE
};
pub(super) const TEX_CACHE: Layout = Layout {
    text: "{SY}{JP}{NAME}",
    fields: &[JP, SY],
    ignored: 0x003f_ffff_ffff_ffff,
    ..EMPTY
};
pub(super) const BROADCAST: Layout = Layout {
    text: "{SY}{JP}{NAME}.w{CLUSTER_SIZE} {TYPE}({WRMASK}){DST_HALF}{DST}{SRC1}",
    variants: &[],
    fields: &[
        FULL0,
        TEX_SRC1,
        TEX_SRC2,
        uint(Field::W, 19, 20),
        SAMP,
        TEX,
        DST,
        WRMASK,
        TEX_TYPE,
        D3,
        A,
        S,
        S2EN,
        O,
        JP,
        SY,
    ],
    indirect: &[],
    zero: 1 << 47,
    tex: shape(1, false, false),
    operands: &[
        reads(Field::Src1, Count::WriteMask, Wide::Source),
        reads(Field::Dst, Count::WriteMask, Wide::Dest),
        RESULT,
    ],
    ..SAMPLE
};
pub(super) const QUAD: Layout = Layout {
    text: "{SY}{JP}{NAME} {TYPE}({WRMASK}){DST_HALF}{DST}{SRC1}{SRC2}",
    fields: &[
        FULL0, TEX_SRC1, TEX_SRC2, SAMP, TEX, DST, WRMASK, TEX_TYPE, D3, A, S, S2EN, O, JP, SY,
    ],
    operands: &[
        reads(Field::Src1, Count::WriteMask, Wide::Source),
        EXTRA,
        RESULT,
    ],
    ..BROADCAST
};
pub(super) const QUAD_INDEX: Layout = Layout {
    tex: shape(2, false, false),
    ..QUAD
};

/// The operands of an instruction whose text says a type.
const fn shape(sources: u8, sampler: bool, texture: bool) -> Option<TexShape> {
    Some(TexShape {
        sources,
        sampler,
        texture,
        typed: true,
    })
}

#[rustfmt::skip]
macro_rules! texture {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest texture
            //instruction    name                 value      gens    layout          ? meaning
            Isam             "isam"               cat5(0x00) ALL     SAMPLE          P "texel fetch, integer coordinates, level 0: src1 = coordinates (x, y(0 for 1D/buffer), z or layer)";
            Isaml            "isaml"              cat5(0x01) ALL     SAMPLE_LEVEL    P "texel fetch with level: src1 = coordinates, src2 = [offsets,] level";
            Isamm            "isamm"              cat5(0x02) ALL     SAMPLE_MULTI    P "multisample fetch: src1 = coordinates then sample index";
            Sam              "sam"                cat5(0x03) ALL     SAMPLE          P "sample, implicit level (needs quads); src1 = coordinates, compare, layer, projector in this order";
            Samb             "samb"               cat5(0x04) ALL     SAMPLE_LEVEL    P "sample with bias: src2 = [offsets,] bias";
            Saml             "saml"               cat5(0x05) ALL     SAMPLE_LEVEL    P "sample with explicit level: src2 = [offsets,] level";
            Samgq            "samgq"              cat5(0x06) ALL     SAMPLE_GRADIENT P "sample with gradients: src1 = 4 coordinate slots (padded), then ddx.xy[z], ddy.xy[z]";
            Getlod           "getlod"             cat5(0x07) ALL     SAMPLE          P "level query, result signed fixed point with 8 fraction bits in .xy";
            Conv             "conv"               cat5(0x08) ALL     SAMPLE_LEVEL    U "unknown (convolution)";
            Convm            "convm"              cat5(0x09) ALL     SAMPLE_LEVEL    U "unknown (convolution)";
            Getsize          "getsize"            cat5(0x0a) ALL     TEX_QUERY       P "texture size at level src1: x, y, z, w = layer count";
            Getbuf           "getbuf"             cat5(0x0b) ALL     TEX_INFO        P "size in elements of a texel buffer";
            Getpos           "getpos"             cat5(0x0c) ALL     TEX_QUERY       I "sample position query";
            Getinfo          "getinfo"            cat5(0x0d) ALL     TEX_INFO        T "channel type, channel order, number of levels, number of samples in xyzw";
            Dsx              "dsx"                cat5(0x0e) ALL     DERIVATIVE      P "coarse derivative; type f32";
            Dsy              "dsy"                cat5(0x0f) ALL     DERIVATIVE      P "coarse derivative; type f32";
            Gather4r         "gather4r"           cat5(0x10) ALL     SAMPLE          P "gather one channel of 4 texels";
            Gather4g         "gather4g"           cat5(0x11) ALL     SAMPLE          P "gather one channel of 4 texels";
            Gather4b         "gather4b"           cat5(0x12) ALL     SAMPLE          P "gather one channel of 4 texels";
            Gather4a         "gather4a"           cat5(0x13) ALL     SAMPLE          P "gather one channel of 4 texels";
            Samgp0           "samgp0"             cat5(0x14) ALL     SAMPLE_GRADIENT P "gradient sampling split in four steps (workaround for vertex-like stages)";
            Samgp1           "samgp1"             cat5(0x15) ALL     SAMPLE_GRADIENT P "gradient sampling split in four steps (workaround for vertex-like stages)";
            Samgp2           "samgp2"             cat5(0x16) ALL     SAMPLE_GRADIENT P "gradient sampling split in four steps (workaround for vertex-like stages)";
            Samgp3           "samgp3"             cat5(0x17) ALL     SAMPLE_GRADIENT P "gradient sampling split in four steps (workaround for vertex-like stages)";
            Dsxpp1           "dsxpp.1"            cat5(0x18) ALL     DERIVATIVE_FINE P "fine derivative, done as two instructions: plain then with .p";
            Dsypp1           "dsypp.1"            cat5(0x19) ALL     DERIVATIVE_FINE P "fine derivative, done as two instructions: plain then with .p";
            Rgetpos          "rgetpos"            cat5(0x1a) ALL     DERIVATIVE      I "sample position query";
            Rgetinfo         "rgetinfo"           cat5(0x1b) ALL     TARGET_INFO     I "info of the render target";
            Tcinv            "tcinv"              cat5(0x1c) ALL     TEX_CACHE       I "texture cache invalidate";
            BrcstActive      "brcst.active"       cat5(0x1f) A6XX_ON BROADCAST       T "per cluster of W lanes: the lanes of the upper half get the value of the highest active lane of the lower half; others keep dst; no active lane in the lower half: dst unchanged (so dst is also a source)";
            QuadShuffleBrcst "quad_shuffle.brcst" quad(0)    A6XX_ON QUAD_INDEX      T "value of quad lane number src2";
            QuadShuffleHoriz "quad_shuffle.horiz" quad(1)    A6XX_ON QUAD            T "value of the lane with bit 0 of the quad index flipped";
            QuadShuffleVert  "quad_shuffle.vert"  quad(2)    A6XX_ON QUAD            T "value of the lane with bit 1 flipped";
            QuadShuffleDiag  "quad_shuffle.diag"  quad(3)    A6XX_ON QUAD            T "value of the lane with both bits flipped";
        }
    };
}
pub(crate) use texture;
