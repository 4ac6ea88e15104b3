//! What is told of a pass whose pixels rest on less than an established fact.

use super::vertices::{LINES, NINE, TRIANGLES, at_places, vertices};
use super::{BUFFER, Pass, Rectangle, STORE};
use eitri_descriptors::framebuffer::SamplePattern;
use eitri_descriptors::raster::DcdFlags0;
use eitri_model::Inexact;

/// A pass that is followed, with one draw.
fn followed(rectangle: Rectangle) -> Pass {
    let [mode, format] = STORE;
    Pass {
        uniforms: vec![mode, format, 0, 1.0_f32.to_bits(), BUFFER as u32, 0],
        draws: vec![rectangle],
        fidelity: true,
        ..Pass::default()
    }
}

/// Whether pixels of a primitive with corners at these places are told to rest on something.
#[track_caller]
fn tells_of_corners<const N: usize>(mode: u32, places: [[f32; 2]; N], of: Inexact) -> bool {
    let pass = followed(Rectangle {
        vertices: vertices(mode, N as u32, 1.0),
        program: NINE,
        layers: 0,
        ..Rectangle::default()
    });
    let places: Vec<(u64, [f32; 2])> = (0..).zip(places).collect();
    let drawn = at_places(&pass, &places);
    let mut met = drawn.bench.gpu.fidelity().met();
    met.any(|(one, met)| one == of && met.reached.pixel)
}

/// Whether pixels of a pass are told to rest on something.
#[track_caller]
fn tells(pass: &Pass, of: Inexact) -> bool {
    let drawn = pass.run();
    let mut met = drawn.bench.gpu.fidelity().met();
    met.any(|(one, met)| one == of && met.reached.pixel)
}

#[test]
fn edges_on_samples_are_told() {
    let tells = |places| tells_of_corners(TRIANGLES, places, Inexact::TieRule);
    assert!(
        !tells([[0.0, 0.0], [8.0, 0.25], [0.0, 8.125]]),
        "between centres"
    );
    assert!(
        tells([[0.0, 0.0], [8.0, 8.0], [0.0, 8.0]]),
        "a diagonal through centres"
    );
    assert!(
        tells([[0.5, 0.0], [8.0, 0.25], [0.5, 8.0]]),
        "a side on a column of centres"
    );
}

#[test]
fn triangles_over_more_pixels_than_are_known_to_be_exact_are_told() {
    let tells = |places| tells_of_corners(TRIANGLES, places, Inexact::WideRamp);
    assert!(!tells([[0.0, 0.25], [8192.0, 0.25], [0.0, 64.0]]), "exact");
    assert!(tells([[0.0, 0.25], [8193.0, 0.25], [0.0, 64.0]]), "wider");
    assert!(tells([[0.25, 0.0], [64.0, 0.0], [0.25, 8193.0]]), "higher");
}

#[test]
fn primitives_that_the_guard_band_clips_are_told() {
    let triangles = |places| tells_of_corners(TRIANGLES, places, Inexact::GuardBand);
    assert!(!triangles([[0.0, 0.25], [2_000_000.0, 0.25], [0.0, 64.0]]));
    assert!(triangles([[0.0, 0.25], [3_000_000.0, 0.25], [0.0, 64.0]]));
    let lines = |places| tells_of_corners(LINES, places, Inexact::GuardBand);
    assert!(!lines([[0.0, 8.25], [2_000_000.0, 8.25]]));
    assert!(lines([[0.0, 8.25], [3_000_000.0, 8.25]]));
}

#[test]
fn draws_without_multisampling_to_several_samples_are_told() {
    let usual = Rectangle::default();
    for (samples, multisample_enable, told) in [
        (1, false, false),
        (2, false, true),
        (2, true, false),
        (4, false, true),
    ] {
        let pass = Pass {
            // Two samples are of v12.
            gpu: "G720",
            samples,
            pattern: match samples {
                2 => SamplePattern::Rotated2xGrid,
                _ => SamplePattern::Rotated4xGrid,
            },
            ..followed(Rectangle {
                program: NINE,
                flags: DcdFlags0 {
                    multisample_enable,
                    ..usual.flags
                },
                ..usual.clone()
            })
        };
        let told_of = tells(&pass, Inexact::OneOfManySamples);
        assert_eq!(
            told_of, told,
            "{samples} samples, multisampling: {multisample_enable}"
        );
    }
}

#[test]
fn alpha_that_covers_other_than_four_samples_is_told() {
    const TESTED: &str = "
        NOP.wait0126
        ATEST.wait0126 @r60, r60, u3, atest_datum.w0
        IADD_IMM.i32 r0, 0x0, #0x9
        OUTPUT";
    let usual = Rectangle::default();
    for (samples, pattern, alpha_to_coverage, told) in [
        (1, SamplePattern::SingleSampled, true, false),
        (4, SamplePattern::Rotated4xGrid, true, false),
        (8, SamplePattern::D3D8xGrid, true, true),
        (8, SamplePattern::D3D8xGrid, false, false),
    ] {
        let pass = Pass {
            samples,
            pattern,
            ..followed(Rectangle {
                program: TESTED,
                flags: DcdFlags0 {
                    alpha_to_coverage,
                    ..usual.flags
                },
                ..usual.clone()
            })
        };
        let told_of = tells(&pass, Inexact::AlphaToCoverage);
        assert_eq!(
            told_of, told,
            "{samples} samples, by alpha: {alpha_to_coverage}"
        );
    }
}
