//! Fullscreen draws: scissors, layers, depth without a program.

use super::{CLEAR, Pass, Rectangle, STORE, pixels};
use eitri_descriptors::raster::{DepthClampMode, DepthStencil};
use eitri_descriptors::texture::Func;

/// Stores the layer plus 5.
const LAYER: &str = "
    IADD_IMM.i32 r0, r62, #0x5
    OUTPUT";

#[test]
fn a_rectangle_covers_its_scissor_in_the_layers_of_its_view_mask() {
    let mut drawn = Pass {
        layers: 3,
        uniforms: STORE.to_vec(),
        draws: vec![Rectangle {
            program: LAYER,
            scissor: [[2, 3], [9, 12]],
            layers: 0b101,
            ..Rectangle::default()
        }],
        ..Pass::default()
    }
    .run();
    for [x, y] in pixels() {
        let inside = (2..=9).contains(&x) && (3..=12).contains(&y);
        let found = [0, 1, 2].map(|layer| drawn.colour([x, y], 0, layer));
        let wanted = if inside { [5, CLEAR, 7] } else { [CLEAR; 3] };
        assert_eq!(found, wanted, "({x}, {y})");
    }
}

/// Writes the depth 0.5, by bounds that hold nothing else.
fn clears_depth() -> Rectangle {
    let usual = Rectangle::default();
    Rectangle {
        depth: DepthStencil {
            depth_write_enable: true,
            depth_clamp_mode: DepthClampMode::Bounds,
            ..usual.depth
        },
        range: [0.5, 0.5],
        scissor: [[4, 4], [11, 11]],
        ..usual
    }
}

#[test]
fn a_draw_without_a_program_writes_depth() {
    let mut drawn = Pass {
        draws: vec![clears_depth()],
        ..Pass::default()
    }
    .run();
    for [x, y] in pixels() {
        let inside = (4..=11).contains(&x) && (4..=11).contains(&y);
        let wanted = if inside { 0.5 } else { 1.0 };
        assert_eq!(drawn.depth([x, y]), wanted, "({x}, {y})");
        assert_eq!(drawn.colour([x, y], 0, 0), CLEAR, "({x}, {y})");
    }
}

#[test]
fn a_rectangle_has_the_depth_bias_of_a_polygon_without_slope() {
    let biased = |units: f32, clamp: f32| Rectangle {
        depth: DepthStencil {
            depth_bias_enable: true,
            depth_units: units,
            depth_bias_clamp: clamp,
            ..clears_depth().depth
        },
        range: [0.0, 1.0],
        ..clears_depth()
    };
    let cases = [
        // As PanVK 26.2 clears depth on v12 and later.
        (f32::INFINITY, 0.375, 0.375),
        (f32::INFINITY, 0.0, 1.0),
        // The least normal number's last place, 2^-149, that many times.
        (2.0_f32.powi(100), 0.0, 2.0_f32.powi(-49)),
        (-1.0, 0.0, 0.0),
    ];
    for (units, clamp, wanted) in cases {
        let mut drawn = Pass {
            draws: vec![biased(units, clamp)],
            ..Pass::default()
        }
        .run();
        let found = [drawn.depth([7, 7]), drawn.depth([3, 3])];
        assert_eq!(found, [wanted, 1.0], "{units} units, limit {clamp}");
    }
}

#[test]
fn a_barrier_without_a_program_has_no_effect() {
    let mut barrier = clears_depth();
    barrier.flags.primitive_barrier = true;
    let mut drawn = Pass {
        draws: vec![barrier],
        ..Pass::default()
    }
    .run();
    assert!(pixels().all(|pixel| drawn.depth(pixel) == 1.0));
}

#[test]
fn a_later_rectangle_is_tested_against_an_earlier_ones_depth() {
    let usual = Rectangle::default();
    let behind = Rectangle {
        program: LAYER,
        depth: DepthStencil {
            depth_function: Func::Less,
            depth_clamp_mode: DepthClampMode::Bounds,
            ..usual.depth
        },
        range: [0.75, 0.75],
        ..usual
    };
    let mut drawn = Pass {
        uniforms: STORE.to_vec(),
        draws: vec![clears_depth(), behind],
        ..Pass::default()
    }
    .run();
    for [x, y] in pixels() {
        let nearer = (4..=11).contains(&x) && (4..=11).contains(&y);
        let wanted = if nearer { CLEAR } else { 5 };
        assert_eq!(drawn.colour([x, y], 0, 0), wanted, "({x}, {y})");
    }
}
