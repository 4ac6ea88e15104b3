//! Depth codes and stencil operations against vectors that were computed elsewhere, as memory has them in the end.
//!
//! Facts: data/graphics-vectors.json and graphics-vectors2.json; `about` in them explains the members.

use super::vector_files::{FIRST, float, list, number};
use super::{Pass, Rectangle};
use eitri_descriptors::framebuffer::{ZInternalFormat, ZsFormat};
use eitri_descriptors::raster::{DepthSource, DepthStencil, PixelKill, StencilOp};
use eitri_descriptors::texture::Func;

/// Gives the depth in u6.
const DEPTH: &str = "
    MOV.i32 r0, u6
    NOP.wait0126
    ZS_EMIT.z.slot0.wait0 @r60, r0, 0x0, r60
    NOP.end";

#[test]
fn depths_are_quantised_as_every_vector() {
    for vector in list(FIRST, "depth_quantise") {
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
    for vector in list(FIRST, "stencil_op") {
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
