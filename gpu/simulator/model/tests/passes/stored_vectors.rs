//! Blending, depth codes and stencil operations against vectors that were computed elsewhere, as memory has them in the end.
//!
//! Facts: data/graphics-vectors.json and graphics-vectors2.json; `about` in them explains the members.

use super::vectors::{float, list, number};
use super::{Colour, Pass, Rectangle};
use eitri_descriptors::framebuffer::{ZInternalFormat, ZsFormat};
use eitri_descriptors::raster::{DepthSource, DepthStencil, PixelKill, StencilOp};
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat};
use eitri_descriptors::texture::Func;

/// Blends the colour in u6 to u9 by the operand in u0 and u1.
const BLEND: &str = "
    MOV.i32 r0, u6
    MOV.i32 r1, u7
    MOV.i32 r2, u8
    MOV.i32 r3, u9
    BLEND.slot0.v4.f32.end @r0:r1:r2:r3, u0, r60, target:0x0";

/// Fixed function on target 0, whose memory is RGBA8.
const OPERAND: [u32; 2] = [0x1a, 0x0e_d000];

#[test]
fn equations_blend_as_every_vector() {
    for vector in list("graphics-vectors2.json", "blend_words") {
        let four = |name: &str| [0, 1, 2, 3].map(|index| vector[name][index].clone());
        let source = four("src").map(|value| float(&value).to_bits());
        let old = four("dst").map(|value| number(&value) as u8);
        let equation = vector["w1"]
            .as_str()
            .expect("a word")
            .trim_start_matches("0x");
        let equation = u32::from_str_radix(equation, 16).expect("hexadecimal digits");
        // Left-justified in 16 bits, as the driver computes it for components of 8 bits.
        let constant = (f64::from(float(&vector["constant"])) * f64::from(255 << 8)) as u32;
        let [mode, format] = OPERAND;
        let pass = Pass {
            uniforms: [&[mode, format, 0, 0, 0, 0][..], &source].concat(),
            draws: vec![Rectangle {
                program: BLEND,
                ..Rectangle::default()
            }],
            colour: Colour {
                internal: ColorBufferInternalFormat::R8G8B8A8,
                format: ColorFormat::R8G8B8A8,
                clear: u32::from_le_bytes(old),
                blend: [1 << 9 | 1 | constant << 16, equation, mode, format],
            },
            ..Pass::default()
        };
        let found = pass.run().colour([3, 5], 0, 0).to_le_bytes();
        let wanted = four("result").map(|value| number(&value) as u8);
        assert_eq!(found, wanted, "{vector}");
    }
}

/// Gives the depth in u6.
const DEPTH: &str = "
    MOV.i32 r0, u6
    NOP.wait0126
    ZS_EMIT.z.slot0.wait0 @r60, r0, 0x0, r60
    NOP.end";

#[test]
fn depths_are_quantised_as_every_vector() {
    for vector in list("graphics-vectors.json", "depth_quantise") {
        let formats = [
            ("d16", ZInternalFormat::D16, ZsFormat::D16, 2),
            ("d24", ZInternalFormat::D24, ZsFormat::D24X8, 4),
        ];
        for (name, internal, format, bytes) in formats {
            let usual = Rectangle::default();
            let mut flags = usual.flags;
            flags.pixel_kill_operation = PixelKill::ForceLate;
            flags.zs_update_operation = PixelKill::ForceLate;
            let pass = Pass {
                depth_format: (internal, format),
                uniforms: vec![0, 0, 0, 0, 0, 0, float(&vector["z"]).to_bits(), 0],
                draws: vec![Rectangle {
                    program: DEPTH,
                    flags,
                    depth: DepthStencil {
                        depth_source: DepthSource::Shader,
                        depth_write_enable: true,
                        ..usual.depth
                    },
                    ..usual
                }],
                ..Pass::default()
            };
            let code = pass.run().depth_code([6, 2], bytes);
            assert_eq!(code, number(&vector[name]), "{name}: {vector}");
        }
    }
}

#[test]
fn stencil_changes_as_every_vector() {
    for vector in list("graphics-vectors.json", "stencil_op") {
        let usual = Rectangle::default();
        let [code, old, reference, mask] =
            ["code", "old", "ref", "write_mask"].map(|name| number(&vector[name]));
        let operation = StencilOp::from_number(code).expect("a code");
        let pass = Pass {
            stencil_clear: old,
            draws: vec![Rectangle {
                depth: DepthStencil {
                    stencil_test_enable: true,
                    front_compare_function: Func::Always,
                    front_depth_pass: operation,
                    front_write_mask: mask,
                    front_value_mask: 0xff,
                    front_reference_value: reference,
                    back_compare_function: Func::Always,
                    ..usual.depth
                },
                scissor: [[0, 0], [7, 15]],
                ..usual
            }],
            ..Pass::default()
        };
        let mut drawn = pass.run();
        assert_eq!(drawn.stencil([2, 9]), number(&vector["new"]), "{vector}");
        assert_eq!(drawn.stencil([9, 9]), old, "beside the draw: {vector}");
    }
}
