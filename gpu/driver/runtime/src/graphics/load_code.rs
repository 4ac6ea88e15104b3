//! Code of frame shaders that load attachments: a beginning, a block for each colour, and an end.
//!
//! It is put together from the words below, which are the same on every generation.
//! Facts: hardware/graphics-framebuffer.md 5.10, graphics-compiler.md 4, 6 and 9, graphics-raster.md 4.6 and 4.14.

use super::border;
use super::framebuffer::MOST_COLORS;
use super::load::HANDLE_STEP;
use super::output_code::{Kind, WAIT, blended, emitted};
use heapless::Vec;

/// Most instructions: a beginning, a block for each colour.
const MOST_CODE: usize = 16 + 10 * MOST_COLORS;
/// The words of the code, without what differs.
mod word {
    /// `LSHIFT_AND.i32 r4, r59, 0x0.b00, u4`: x of the pixel.
    pub(super) const PIXEL_X: u64 = 0x00b4_c401_1084_c03b;
    /// `RSHIFT_OR.i32 r5, r59, 0x13121110.b00, 0x0`: y of it.
    pub(super) const PIXEL_Y: u64 = 0x00b4_c500_11c0_cc3b;
    /// `RSHIFT_AND.i32 r6, r61, 0x13121110.b00, u5`: the number of the sample.
    pub(super) const SAMPLE: u64 = 0x00b4_c600_1085_cc3d;
    /// `LSHIFT_OR.i32 r6, r6, 0x13121110.b00, 0x0`: where a fetch has it.
    pub(super) const SAMPLE_UP: u64 = 0x00b4_c601_11c0_cc06;
    /// `TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6`: a texel of floats, whose handle is that uniform.
    pub(super) const FETCH: u64 = 0x0925_4434_17c0_0086;
    /// The same with `.s` and `.u` in place of `.f`, without the rest.
    pub(super) const FETCH_INT: u64 = 0x0925_4434_1fc0_0086 ^ FETCH;
    pub(super) const FETCH_UINT: u64 = 0x0925_4434_1bc0_0086 ^ FETCH;
    /// The same with `.texel_offset` and `@r4:r5:r6`, without the rest.
    pub(super) const OF_SAMPLE: u64 = 0x0925_4436_17c0_0886 ^ FETCH;
    /// `TEX_FETCH.slot0.u.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u8`: a stencil value.
    pub(super) const FETCH_STENCIL: u64 = 0x0925_4434_1bc8_0088;
}

/// Places of depth and stencil among the handles.
pub(super) const DEPTH_PLACE: usize = 0;
pub(super) const STENCIL_PLACE: usize = 1;

/// The code that loads colours; `cleared`: a bit for each that is cleared inside of a border.
pub(super) fn color_code(
    kinds: &[Option<Kind>; MOST_COLORS],
    samples: bool,
    cleared: u32,
) -> Vec<u64, MOST_CODE> {
    let mut code = Vec::new();
    // There is room: MOST_CODE counts all of them.
    let mut put = |word: u64| {
        let _ = code.push(word);
    };
    put(word::PIXEL_X);
    put(word::PIXEL_Y);
    if samples {
        put(word::SAMPLE);
        put(word::SAMPLE_UP);
    }
    if cleared != 0 {
        border::row_inside().iter().for_each(|word| put(*word));
    }
    let last = kinds.iter().rposition(Option::is_some);
    for (target, kind) in kinds.iter().enumerate() {
        let Some(kind) = kind else { continue };
        let fetch = match kind {
            Kind::Float => 0,
            Kind::Int => word::FETCH_INT,
            Kind::Uint => word::FETCH_UINT,
        };
        let step = (target as u64).wrapping_mul(HANDLE_STEP as u64);
        let of_sample = if samples { word::OF_SAMPLE } else { 0 };
        put(WAIT);
        put((word::FETCH ^ fetch ^ of_sample).wrapping_add(step));
        if cleared >> target & 1 != 0 {
            put(WAIT);
            border::clear_inside(target, 0..4).for_each(&mut put);
        }
        blended(target, *kind, last == Some(target))
            .into_iter()
            .for_each(&mut put);
    }
    code
}

/// The code that loads depth and stencil; `cleared`: which are cleared inside of a border.
pub(super) fn depth_code(
    [depth, stencil]: [bool; 2],
    samples: bool,
    cleared: [bool; 2],
) -> Vec<u64, MOST_CODE> {
    let mut code = Vec::new();
    let mut put = |word: u64| {
        let _ = code.push(word);
    };
    put(word::PIXEL_X);
    put(word::PIXEL_Y);
    let mut of_sample = 0;
    if samples {
        put(word::SAMPLE);
        put(word::SAMPLE_UP);
        of_sample = word::OF_SAMPLE;
    }
    if cleared != [false; 2] {
        border::row_inside().iter().for_each(|word| put(*word));
    }
    if depth {
        put(word::FETCH ^ of_sample);
    }
    if stencil {
        put(word::FETCH_STENCIL ^ of_sample);
    }
    put(WAIT);
    let [clears_depth, clears_stencil] = cleared;
    if clears_depth {
        border::clear_inside(DEPTH_PLACE, 0..1).for_each(&mut put);
    }
    if clears_stencil {
        border::clear_inside(STENCIL_PLACE, 8..9).for_each(&mut put);
    }
    emitted([depth, stencil], 8).into_iter().for_each(&mut put);
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Arch;
    use eitri_isa::{Instr, Syntax};
    use std::vec::Vec;

    fn text(code: &[u64], arch: eitri_isa::Arch) -> Vec<std::string::String> {
        let line = |word: &u64| {
            let instr = Instr::decode(*word, arch).expect("legal");
            std::format!("{}", instr.display(arch, Syntax::Mesa24))
        };
        code.iter().map(line).collect()
    }

    #[test]
    fn the_code_is_what_it_is_said_to_be() {
        for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
            let arch = eitri_isa::Arch::ALL
                .into_iter()
                .find(|it| it.major() == arch.major())
                .expect("the same generations");
            let mut kinds = [None; MOST_COLORS];
            (kinds[0], kinds[5]) = (Some(Kind::Uint), Some(Kind::Float));
            let code = text(&color_code(&kinds, true, 0), arch);
            let expected = [
                "LSHIFT_AND.i32 r4, r59, 0x0.b00, u4",
                "RSHIFT_OR.i32 r5, r59, 0x13121110.b00, 0x0",
                "RSHIFT_AND.i32 r6, r61, 0x13121110.b00, u5",
                "LSHIFT_OR.i32 r6, r6, 0x13121110.b00, 0x0",
                "NOP.wait0126",
                "TEX_FETCH.slot0.u.32.2d.texel_offset.wait0 @r0:r1:r2:r3, @r4:r5:r6, u6",
                "BLEND.slot0.v4.u32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2",
                "IADD_IMM.i32 r48, program_counter.w0, #0x8",
                "BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
                "NOP.wait0126",
                "TEX_FETCH.slot0.f.32.2d.texel_offset.wait0 @r0:r1:r2:r3, @r4:r5:r6, u16",
                "BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_5.w0, r60, target:0x0",
                "IADD_IMM.i32 r48, 0x0, #0x0",
                "BRANCHZI.eq.absolute 0x0, blend_descriptor_5.w1",
            ];
            let trimmed: Vec<&str> = code.iter().map(|line| line.trim()).collect();
            assert_eq!(trimmed, expected, "{arch}");
            let code = text(&depth_code([true, true], false, [false; 2]), arch);
            let trimmed: Vec<&str> = code.iter().map(|line| line.trim()).collect();
            let expected = [
                "LSHIFT_AND.i32 r4, r59, 0x0.b00, u4",
                "RSHIFT_OR.i32 r5, r59, 0x13121110.b00, 0x0",
                "TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6",
                "TEX_FETCH.slot0.u.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u8",
                "NOP.wait0126",
                "ATEST.wait0126 @r60, r60, 0x3F800000, atest_datum.w0",
                "ZS_EMIT.z.stencil.slot0.end @r60, r0, r8, r60",
            ];
            assert_eq!(trimmed, expected, "{arch}");
        }
    }

    /// Of colours 0 and 3 the second is cleared: behind its fetch each component is chosen.
    #[test]
    fn clears_inside_of_a_border_are_chosen_component_by_component() {
        let arch = eitri_isa::Arch::ALL
            .into_iter()
            .find(|it| it.major() == 10)
            .expect("v10");
        let mut kinds = [None; MOST_COLORS];
        (kinds[0], kinds[3]) = (Some(Kind::Float), Some(Kind::Float));
        let code = text(&color_code(&kinds, false, 0b1000), arch);
        let trimmed: Vec<&str> = code.iter().map(|line| line.trim()).collect();
        let expected = [
            "TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u12",
            "NOP.wait0126",
            "CSEL.u32.lt r0, r56, r57, u36, r0",
            "CSEL.u32.lt r1, r56, r57, u37, r1",
            "CSEL.u32.lt r2, r56, r57, u38, r2",
            "CSEL.u32.lt r3, r56, r57, u39, r3",
        ];
        let second = trimmed.iter().position(|line| *line == expected[0]);
        let second = second.expect("the second colour is fetched");
        assert_eq!(trimmed[second..second + 6], expected);
        let code = text(&depth_code([true, true], false, [true, true]), arch);
        let stencil = code
            .iter()
            .any(|line| line.trim() == "CSEL.u32.lt r8, r56, r57, u28, r8");
        assert!(
            stencil,
            "stencil has the second colour's uniforms: {code:?}"
        );
    }
}
