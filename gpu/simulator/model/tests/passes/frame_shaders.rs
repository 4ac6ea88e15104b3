//! Frame shaders: before the primitives of a tile, and after them.

use super::{BUFFER, CLEAR, Pass, Rectangle, SIDE, STORE, pixels};
use eitri_descriptors::framebuffer::PrePostFrameShaderMode as Mode;
use eitri_descriptors::raster::{DcdFlags0, DepthClampMode, DepthSource, DepthStencil, PixelKill};
use eitri_descriptors::texture::Func;

/// Stores 9.
const NINE: &str = "
    IADD_IMM.i32 r0, 0x0, #0x9
    OUTPUT";

/// Adds 1 to what the tile holds: u3 names the own pixel of target 0.
const INCREMENT: &str = "
    MOV.i32 r0, u3
    NOP.wait
    LD_TILE.v4.u32.slot0.wait0 @r4:r5:r6:r7, r0, r60, u1
    IADD_IMM.i32 r0, r4, #0x1
    OUTPUT";

fn uniforms() -> Vec<u32> {
    let [mode, format] = STORE;
    vec![mode, format, 0, 0xff00_0000, BUFFER as u32, 0]
}

/// A pass whose third frame shader increments each pixel, over a rectangle of nines.
fn incremented(mode: Mode, draws: Vec<Rectangle>, clean_tiles: bool) -> super::Drawn {
    let increment = Rectangle {
        program: INCREMENT,
        ..Rectangle::default()
    };
    Pass {
        uniforms: uniforms(),
        frames: vec![(2, mode, increment)],
        draws,
        clean_tiles,
        ..Pass::default()
    }
    .run()
}

fn nines() -> Rectangle {
    Rectangle {
        program: NINE,
        scissor: [[0, 0], [7, 7]],
        ..Rectangle::default()
    }
}

#[test]
fn a_post_frame_shader_sees_what_primitives_have_left() {
    for mode in [Mode::Always, Mode::Intersect] {
        let mut drawn = incremented(mode, vec![nines()], true);
        for [x, y] in pixels() {
            let wanted = if x < 8 && y < 8 { 10 } else { CLEAR + 1 };
            assert_eq!(drawn.colour([x, y], 0, 0), wanted, "({x}, {y}) {mode:?}");
        }
    }
}

#[test]
fn a_post_frame_shader_that_intersects_leaves_tiles_without_primitives() {
    let mut drawn = incremented(Mode::Always, Vec::new(), false);
    assert_eq!(drawn.colour([3, 3], 0, 0), CLEAR + 1, "always");
    let mut drawn = incremented(Mode::Intersect, Vec::new(), true);
    assert_eq!(drawn.colour([3, 3], 0, 0), CLEAR, "intersect");
}

#[test]
fn a_frame_shader_whose_writes_are_clean_touches_no_tile() {
    for (clean, draws, written) in [
        (false, Vec::new(), true),
        (true, Vec::new(), false),
        // A primitive touches the tile, and what the frame shader left goes with it.
        (true, vec![nines()], true),
    ] {
        let usual = Rectangle::default();
        let increment = Rectangle {
            program: INCREMENT,
            flags: DcdFlags0 {
                clean_fragment_write: clean,
                ..usual.flags
            },
            ..usual
        };
        let pass = Pass {
            uniforms: uniforms(),
            frames: vec![(0, Mode::Always, increment)],
            draws,
            clean_tiles: false,
            ..Pass::default()
        };
        let mut drawn = pass.run();
        let wanted = if written { CLEAR + 1 } else { 0 };
        assert_eq!(
            drawn.colour([12, 12], 0, 0),
            wanted,
            "clean writes: {clean}"
        );
    }
}

/// Loads a float for the pixel from the buffer and gives it as depth: u4 is the buffer.
const DEPTHS: &str = "
    U16_TO_U32 r0, r59.h00
    U16_TO_U32 r1, r59.h10
    LSHIFT_OR.i32 r1, r1, 0x7060504.b00, r0
    LSHIFT_OR.i32 r0, r1, 0x3020100.b22, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i32.unsigned.slot0.wait0126 @r0, r2, offset:0
    ZS_EMIT.z.slot0.wait0 @r60, r0, 0x0, r60
    NOP.end";

#[test]
fn depth_that_a_frame_shader_loads_is_what_primitives_are_tested_against() {
    let usual = Rectangle::default();
    let load = Rectangle {
        program: DEPTHS,
        flags: DcdFlags0 {
            pixel_kill_operation: PixelKill::ForceLate,
            zs_update_operation: PixelKill::ForceLate,
            clean_fragment_write: true,
            ..usual.flags
        },
        depth: DepthStencil {
            depth_source: DepthSource::Shader,
            depth_write_enable: true,
            ..usual.depth
        },
        ..usual.clone()
    };
    let half = Rectangle {
        depth: DepthStencil {
            depth_function: Func::Less,
            depth_write_enable: true,
            depth_clamp_mode: DepthClampMode::Bounds,
            ..usual.depth
        },
        range: [0.5, 0.5],
        ..nines()
    };
    let stored = |[x, y]: [u32; 2]| (x + SIDE * y) as f32 / (SIDE * SIDE) as f32;
    let modes = [Mode::Always, Mode::EarlyZsAlways];
    for mode in modes {
        let pass = Pass {
            uniforms: uniforms(),
            frames: vec![(1, mode, load.clone())],
            draws: vec![Rectangle {
                scissor: [[0, 0], [7, SIDE - 1]],
                ..half.clone()
            }],
            ..Pass::default()
        };
        let mut drawn = pass.run_with(|bench| {
            for [x, y] in pixels() {
                let address = BUFFER + 4 * u64::from(x + SIDE * y);
                bench.put(1, address, &stored([x, y]).to_bits().to_le_bytes());
            }
        });
        for [x, y] in pixels() {
            let before = stored([x, y]);
            let nearer = x < 8 && before > 0.5;
            let (colour, depth) = if nearer { (9, 0.5) } else { (CLEAR, before) };
            assert_eq!(drawn.depth([x, y]), depth, "({x}, {y}) {mode:?}");
            assert_eq!(drawn.colour([x, y], 0, 0), colour, "({x}, {y}) {mode:?}");
        }
    }
}

/// Stores the two components of the attribute, as integers, in the low bytes.
const COORDINATES: &str = "
    LD_VAR_IMM.slot0.v2.f32.center.store.wait0 @r0:r1, r61, table:0x0, index:0x0
    F32_TO_U32.rtz r0, r0
    F32_TO_U32.rtz r1, r1
    LSHIFT_OR.i32 r0, r1, 0x7060504.b00, r0
    OUTPUT";

#[test]
fn the_vertices_of_a_frame_shader_are_corners_of_the_framebuffer() {
    let load = Rectangle {
        program: COORDINATES,
        ..Rectangle::default()
    };
    let side = SIDE as f32;
    let pass = Pass {
        // Three steps a row, from 5 on, so that no column looks like a row.
        attribute: Some([
            [0.0, 5.0, 0.0, 1.0],
            [side, 5.0, 0.0, 1.0],
            [0.0, 5.0 + 3.0 * side, 0.0, 1.0],
            [side, 5.0 + 3.0 * side, 0.0, 1.0],
        ]),
        uniforms: uniforms(),
        frames: vec![(0, Mode::Always, load)],
        // What is rendered is a part of the framebuffer, which the corners are not those of.
        boxes: vec![[[4, 0], [15, 15]]],
        ..Pass::default()
    };
    let mut drawn = pass.run();
    for [x, y] in pixels().filter(|[x, _]| *x >= 4) {
        let wanted = x | (3 * y + 6) << 4;
        assert_eq!(drawn.colour([x, y], 0, 0), wanted, "({x}, {y})");
    }
}
