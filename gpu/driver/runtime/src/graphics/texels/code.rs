//! Code of frame shaders that bring texels of another image into the tile: where a pixel's texels are, a fetch, and what becomes of
//! its result.
//!
//! Code is put together from the words below, which are the same on every generation.
//! Facts: hardware/graphics-framebuffer.md 5.10, graphics-compiler.md 4, 6 and 9, valhall-isa.md 11.10.

use super::super::border;
use super::super::output_code::{Kind, WAIT, blended, emitted};
use super::memory::FromMemory;
use heapless::Vec;

/// Most instructions: 16 samples with eight each, and what is around them.
const MOST_CODE: usize = 200;

/// Uniforms behind those of every frame shader: reciprocal of the number of samples, what is added to go to the next sample, and where
/// a pixel's texel lies.
pub(super) const RECIPROCAL: usize = 8;
pub(super) const NEXT_SAMPLE: usize = 9;
pub(super) const PLACE: usize = 10;
pub(super) const DEPTH: usize = 14;

/// Where the texel of a pixel lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Place {
    /// So many texels away.
    Offset,
    /// At a place in texels, of which the whole part counts.
    Nearest,
    /// At a place from 0 to 1 along each side, between texels.
    Linear,
    /// The same, in an image of three dimensions.
    LinearDeep,
    /// In memory that no texture describes.
    Memory(FromMemory),
}

/// What becomes of the samples of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Samples {
    /// There is one, or the first counts.
    First,
    Average(u32),
    Min(u32),
    Max(u32),
}

/// What the shader writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Color(Kind),
    Depth,
    Stencil,
}

impl Output {
    pub(super) const fn kind(self) -> Kind {
        match self {
            Output::Color(kind) => kind,
            Output::Depth => Kind::Float,
            Output::Stencil => Kind::Uint,
        }
    }
}

/// A shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shader {
    pub(super) place: Place,
    pub(super) samples: Samples,
    pub(super) output: Output,
    /// Pixels around those that are written keep what they hold.
    pub(super) border: bool,
}

/// The pixel (r4, r5).
const PIXEL: [u64; 2] = [
    0x00b4_c401_1084_c03b, // LSHIFT_AND.i32 r4, r59, 0x0.b00, u4
    0x00b4_c500_11c0_cc3b, // RSHIFT_OR.i32 r5, r59, 0x13121110.b00, 0x0
];

const OFFSET: [u64; 2] = [
    0x00a0_c400_0000_8a04, // IADD.u32 r4, r4, u10
    0x00a0_c500_0000_8b05, // IADD.u32 r5, r5, u11
];

const SCALE: [u64; 4] = [
    0x0090_c400_0019_0004, // U32_TO_F32 r4, r4
    0x0090_c500_0019_0005, // U32_TO_F32 r5, r5
    0x00b2_c400_008b_8a04, // FMA.f32 r4, r4, u10, u11
    0x00b2_c500_008d_8c05, // FMA.f32 r5, r5, u12, u13
];

const FLOOR: [u64; 2] = [
    0x0090_c400_800c_0004, // F32_TO_S32.rtn r4, r4
    0x0090_c500_800c_0005, // F32_TO_S32.rtn r5, r5
];

const DEEP: u64 = 0x0091_c600_0000_008e; // MOV.i32 r6, u14
const FIRST_SAMPLE: u64 = 0x0091_c600_0000_00c0; // MOV.i32 r6, 0x0
const SAMPLE_UP: u64 = 0x00a0_c600_0000_8906; // IADD.u32 r6, r6, u9

/// Fetches of floats, of integers with and without a sign.
const FETCH: [u64; 3] = [
    0x0925_4434_17c0_0086, // TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6
    0x0925_4434_1fc0_0086, // TEX_FETCH.slot0.s.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6
    0x0925_4434_1bc0_0086, // TEX_FETCH.slot0.u.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6
];

/// The same of a sample.
const FETCH_FIRST: [u64; 3] = [
    0x0925_4436_17c0_0886, // TEX_FETCH.slot0.f.32.2d.texel_offset.wait0 @r0:r1:r2:r3, @r4:r5:r6, u6
    0x0925_4436_1fc0_0886, // TEX_FETCH.slot0.s.32.2d.texel_offset.wait0 @r0:r1:r2:r3, @r4:r5:r6, u6
    0x0925_4436_1bc0_0886, // TEX_FETCH.slot0.u.32.2d.texel_offset.wait0 @r0:r1:r2:r3, @r4:r5:r6, u6
];

/// The same of further samples. Integers with a sign have one that counts.
const FETCH_NEXT: [u64; 3] = [
    0x0925_4436_17c8_0886, // TEX_FETCH.slot0.f.32.2d.texel_offset.wait0 @r8:r9:r10:r11, @r4:r5:r6, u6
    0x0925_4436_1bc8_0886, // TEX_FETCH.slot0.u.32.2d.texel_offset.wait0 @r8:r9:r10:r11, @r4:r5:r6, u6
    0x0925_4436_1bc8_0886, // TEX_FETCH.slot0.u.32.2d.texel_offset.wait0 @r8:r9:r10:r11, @r4:r5:r6, u6
];

const FILTER: u64 = 0x0928_4434_17c0_0086; // TEX_SINGLE.slot0.f.32.2d.zero.wait0 @r0:r1:r2:r3, @r4:r5, u6
const FILTER_DEEP: u64 = 0x0928_4436_27c0_0086; // TEX_SINGLE.slot0.f.32.3d.zero.wait0 @r0:r1:r2:r3, @r4:r5:r6, u6

const ADD: [u64; 4] = [
    0x00a4_c000_0000_0800, // FADD.f32 r0, r0, r8
    0x00a4_c100_0000_0901, // FADD.f32 r1, r1, r9
    0x00a4_c200_0000_0a02, // FADD.f32 r2, r2, r10
    0x00a4_c300_0000_0b03, // FADD.f32 r3, r3, r11
];

const DIVIDE: [u64; 4] = [
    0x00b2_c000_00c0_8800, // FMA.f32 r0, r0, u8, 0x0
    0x00b2_c100_00c0_8801, // FMA.f32 r1, r1, u8, 0x0
    0x00b2_c200_00c0_8802, // FMA.f32 r2, r2, u8, 0x0
    0x00b2_c300_00c0_8803, // FMA.f32 r3, r3, u8, 0x0
];

/// The smaller of two values: of depths, and of stencil values.
const LEAST: [u64; 2] = [
    0x00a4_c000_0002_0800, // FMIN.f32 r0, r0, r8
    0x0150_c004_0800_0800, // CSEL.u32.lt r0, r0, r8, r0, r8
];

/// The greater one.
const GREATEST: [u64; 2] = [
    0x00a4_c000_0003_0800, // FMAX.f32 r0, r0, r8
    0x0150_c001_0800_0800, // CSEL.u32.gt r0, r0, r8, r0, r8
];

impl Shader {
    /// A number that no other shader has, below 2^20.
    pub(super) fn key(self) -> u32 {
        let place = match self.place {
            Place::Offset => 0,
            Place::Nearest => 1,
            Place::Linear => 2,
            Place::LinearDeep => 3,
            Place::Memory(memory) => 1 << 19 | memory.key() << 14,
        };
        let (how, count) = match self.samples {
            Samples::First => (0, 1),
            Samples::Average(count) => (1, count),
            Samples::Min(count) => (2, count),
            Samples::Max(count) => (3, count),
        };
        let output = match self.output {
            Output::Color(kind) => kind as u32,
            Output::Depth => 3,
            Output::Stencil => 4,
        };
        place | how << 2 | output << 4 | count << 8 | u32::from(self.border) << 13
    }

    /// The code.
    pub(super) fn code(self) -> Vec<u64, MOST_CODE> {
        let mut code = Vec::new();
        // There is room: a pass has at most 16 samples.
        let mut put = |words: &[u64]| {
            let _ = code.extend_from_slice(words);
        };
        let kind = self.output.kind();
        let of_kind = |words: &[u64; 3]| words.get(kind as usize).copied().unwrap_or_default();
        put(&PIXEL);
        if self.border {
            put(border::row_inside());
            put(&[border::fetch_old(kind as usize)]);
        }
        match self.place {
            Place::Memory(memory) => memory.code().iter().for_each(|word| put(&[*word])),
            Place::Offset => put(&OFFSET),
            Place::Nearest => {
                put(&SCALE);
                put(&FLOOR);
            }
            Place::Linear => put(&SCALE),
            Place::LinearDeep => {
                put(&SCALE);
                put(&[DEEP]);
            }
        }
        let (count, each) = match self.samples {
            Samples::First => (1, &[][..]),
            Samples::Average(count) => (count, &ADD[..]),
            Samples::Min(count) => (count, least_of(&LEAST, kind)),
            Samples::Max(count) => (count, least_of(&GREATEST, kind)),
        };
        match (self.place, self.samples) {
            (Place::Memory(_), _) => {}
            (Place::Linear, _) => put(&[FILTER]),
            (Place::LinearDeep, _) => put(&[FILTER_DEEP]),
            (_, Samples::First) => put(&[of_kind(&FETCH)]),
            _ => put(&[FIRST_SAMPLE, of_kind(&FETCH_FIRST)]),
        }
        for _ in 1..count {
            put(&[WAIT, SAMPLE_UP, of_kind(&FETCH_NEXT), WAIT]);
            put(each);
        }
        put(&[WAIT]);
        if let Samples::Average(_) = self.samples {
            put(&DIVIDE);
        }
        if self.border {
            let single = !matches!(self.output, Output::Color(_));
            put(border::keep_inside(single));
        }
        match self.output {
            Output::Color(_) => put(&blended(0, kind, true)),
            Output::Depth => put(&emitted([true, false], 0)),
            Output::Stencil => put(&emitted([false, true], 0)),
        }
        code
    }
}

/// The comparison for values of a kind.
fn least_of(words: &'static [u64; 2], kind: Kind) -> &'static [u64] {
    let [floats, integers] = words.each_ref();
    core::slice::from_ref(if kind == Kind::Float {
        floats
    } else {
        integers
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Element, Order};
    use crate::testing::check_commented_words;

    #[test]
    fn the_words_are_what_their_comments_say() {
        let checked = check_commented_words(include_str!("code.rs"));
        assert!(checked >= 4 * 36, "only {checked} words have comments");
    }

    #[test]
    fn keys_are_apart() {
        let kinds = [Kind::Float, Kind::Int, Kind::Uint];
        let outputs = kinds.map(Output::Color);
        let outputs = outputs.into_iter().chain([Output::Depth, Output::Stencil]);
        let mut keys = std::collections::BTreeSet::new();
        for output in outputs {
            for place in [
                Place::Offset,
                Place::Nearest,
                Place::Linear,
                Place::LinearDeep,
                Place::Memory(FromMemory {
                    order: Order::Tiles,
                    element: Element::Eight,
                    scaled: true,
                }),
                Place::Memory(FromMemory {
                    order: Order::Rows,
                    element: Element::One,
                    scaled: false,
                }),
            ] {
                for samples in [
                    Samples::First,
                    Samples::Average(16),
                    Samples::Min(4),
                    Samples::Max(4),
                ] {
                    for border in [false, true] {
                        let shader = Shader {
                            place,
                            samples,
                            output,
                            border,
                        };
                        let code = shader.code();
                        assert!(code.len() < MOST_CODE, "{shader:?} is cut short");
                        assert!(
                            shader.key() < 1 << 20 && keys.insert(shader.key()),
                            "{shader:?}"
                        );
                    }
                }
            }
        }
    }
}
