//! How code that the driver has as data ends: a colour is blended into its target, depth and stencil become the fragment's.
//!
//! Code of clears, of loads and of passes that bring texels is put together of these words, which are the same on every generation.
//! Facts: hardware/graphics-compiler.md 6 and 9, graphics-raster.md 4.14.

use eitri_descriptors::formats::VkFormat;

/// `NOP.wait0126`.
pub(super) const WAIT: u64 = 0x4000_c000_0000_0000;
/// `BLEND.slot0.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2`: goes on behind the call that follows.
const BLEND: u64 = 0x007f_4008_323c_02f0;
/// The same with `.s32` and `.u32`, and with `.end` and `target:0x0`, without the rest.
const BLEND_INT: u64 = 0x007f_4008_343c_02f0 ^ BLEND;
const BLEND_UINT: u64 = 0x007f_4008_363c_02f0 ^ BLEND;
const BLEND_END: u64 = 0x787f_4008_323c_00f0 ^ BLEND;
/// `IADD_IMM.i32 r48, program_counter.w0, #0x8`, and with no address to come back to.
const CALL_FROM: u64 = 0x0710_f000_0000_08fe;
const CALL_LAST: u64 = 0x0110_f000_0000_00c0;
/// `BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1`.
const CALL: u64 = 0x002f_c110_0000_f1c0;
/// `ATEST.wait0126 @r60, r60, 0x3F800000, atest_datum.w0`.
const TEST: u64 = 0x407d_bc02_00ea_d03c;
/// `ZS_EMIT.z.slot0.end @r60, r0, 0x0, r60`; `.stencil @r60, 0x0, r0, r60`; both `@r60, r0, r0, r60`. The stencil value's register is in
/// bits 8 to 13.
const EMIT_DEPTH: u64 = 0x787e_bc02_023c_c000;
const EMIT_STENCIL: u64 = 0x787e_bc02_013c_00c0;
const EMIT_BOTH: u64 = 0x787e_bc02_033c_0000;

/// What the components of a colour are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Int,
    Uint,
}

impl Kind {
    pub(super) fn of(format: &VkFormat) -> Kind {
        if format.has("UINT") {
            Kind::Uint
        } else if format.has("SINT") {
            Kind::Int
        } else {
            Kind::Float
        }
    }
}

/// Blends r0 to r3 into a target. Behind the last one the code ends.
pub(super) fn blended(target: usize, kind: Kind, is_last: bool) -> [u64; 3] {
    let of_kind = match kind {
        Kind::Float => 0,
        Kind::Int => BLEND_INT,
        Kind::Uint => BLEND_UINT,
    };
    let (end, from) = match is_last {
        true => (BLEND_END, CALL_LAST),
        false => (0, CALL_FROM),
    };
    // Two words of the table of blend descriptors for each target.
    let step = (target as u64).wrapping_mul(2);
    let blend = (BLEND ^ of_kind ^ end).wrapping_add(step);
    [blend, from, CALL.wrapping_add(step << 8)]
}

/// Ends with depth from r0, with stencil from a register, or with both.
pub(super) fn emitted([depth, stencil]: [bool; 2], register: u8) -> [u64; 2] {
    let value = u64::from(register) << 8;
    let emit = match (depth, stencil) {
        (true, true) => EMIT_BOTH | value,
        (true, false) => EMIT_DEPTH,
        (false, _) => EMIT_STENCIL | value,
    };
    [TEST, emit]
}
