//! Code of clears within a pass: every pixel is given the same values, which are uniforms.
//!
//! Facts: hardware/graphics-draw.md 3.17, graphics-raster.md 4.14.

use super::framebuffer::MOST_COLORS;
use super::output_code::{Kind, WAIT, blended, emitted};
use heapless::Vec;

/// Most instructions: those of as many colours as there are.
pub(super) const MOST_CODE: usize = 8 * MOST_COLORS;
/// Words of uniforms: those of each colour.
pub(super) const UNIFORMS: usize = 4 * MOST_COLORS;
/// Places of depth and stencil among the uniforms.
pub(super) const DEPTH: usize = 0;
pub(super) const STENCIL: usize = 1;
/// `MOV.i32 r0, u0`; the register is in bits 40 to 45, the uniform in bits 0 to 5.
const MOVE: u64 = 0x0091_c000_0000_0080;

/// `MOV.i32` of a uniform into a register.
const fn mov(register: u8, uniform: usize) -> u64 {
    MOVE | (register as u64) << 40 | uniform as u64
}

/// The code that clears colours: the kind of each.
pub(super) fn color_code(kinds: &[Option<Kind>; MOST_COLORS]) -> Vec<u64, MOST_CODE> {
    let mut code = Vec::new();
    // There is room: MOST_CODE counts all of them.
    let mut put = |word: u64| {
        let _ = code.push(word);
    };
    let last = kinds.iter().rposition(Option::is_some);
    for (target, kind) in kinds.iter().enumerate() {
        let Some(kind) = kind else { continue };
        // Blending before may still read the registers.
        put(WAIT);
        for component in 0..4_u8 {
            let uniform = target.saturating_mul(4).saturating_add(component.into());
            put(mov(component, uniform));
        }
        for word in blended(target, *kind, last == Some(target)) {
            put(word);
        }
    }
    code
}

/// The code that clears depth and stencil.
pub(super) fn depth_code(aspects: [bool; 2]) -> Vec<u64, MOST_CODE> {
    let [test, emit] = emitted(aspects, 8);
    let words = [mov(0, DEPTH), mov(8, STENCIL), WAIT, test, emit];
    Vec::from_slice(&words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Arch;
    use eitri_isa::{Instr, Syntax};
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn text(code: &[u64], arch: eitri_isa::Arch) -> Vec<String> {
        let line = |word: &u64| {
            let instr = Instr::decode(*word, arch).expect("legal");
            let text = std::format!("{}", instr.display(arch, Syntax::Mesa24));
            text.trim().to_string()
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
            let expected = [
                "NOP.wait0126",
                "MOV.i32 r0, u0",
                "MOV.i32 r1, u1",
                "MOV.i32 r2, u2",
                "MOV.i32 r3, u3",
                "BLEND.slot0.v4.u32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2",
                "IADD_IMM.i32 r48, program_counter.w0, #0x8",
                "BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
                "NOP.wait0126",
                "MOV.i32 r0, u20",
                "MOV.i32 r1, u21",
                "MOV.i32 r2, u22",
                "MOV.i32 r3, u23",
                "BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_5.w0, r60, target:0x0",
                "IADD_IMM.i32 r48, 0x0, #0x0",
                "BRANCHZI.eq.absolute 0x0, blend_descriptor_5.w1",
            ];
            assert_eq!(text(&color_code(&kinds), arch), expected, "{arch}");
            let expected = [
                "MOV.i32 r0, u0",
                "MOV.i32 r8, u1",
                "NOP.wait0126",
                "ATEST.wait0126 @r60, r60, 0x3F800000, atest_datum.w0",
                "ZS_EMIT.z.stencil.slot0.end @r60, r0, r8, r60",
            ];
            assert_eq!(text(&depth_code([true; 2]), arch), expected, "{arch}");
        }
    }
}
