//! Probes: what no published fact says of a GPU. Their answers are data, `@M` lines; a probe fails only where no answer can be right.
//!
//! Facts, and what they call unknown: hardware/graphics-model.md 2.1 (ties), 4.3 (alpha to coverage), 1.3 (guard band);
//! graphics-raster.md 4.3 (positions of samples).

use super::canvas::{Canvas, RGBA8, SIDE, Vertex, cleared, on_canvas, strip};
use super::picture::place;
use super::rows::{Row, What};
use super::sampled::{covered_of, means};
use super::{BLUE, HEAP, RED, RED_WORD};
use crate::bench::{Bench, words_of};
use crate::result::{Trouble, Unit, Verdict, failed, skipped};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use eitri_draw_programs::Shader;
use eitri_runtime::{Draw, GraphicsPipelineInfo, ImagePart, Platform, Tiling};

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// Which edges own the samples that lie on them.
    TieRule,
    /// Which alphas cover how many samples of two by two pixels.
    AlphaToCoverage { samples: u32 },
    /// Where the samples of a pixel are, along x.
    Positions { samples: u32 },
    /// How far out vertices may lie.
    GuardBand,
    /// Which parts of a pixel its place is rounded to.
    Snapping,
}

const fn row(name: &'static str, what: Probe) -> Row {
    Row {
        name,
        what: What::Probe(what),
    }
}

/// All of them.
#[rustfmt::skip]
pub(crate) const PROBES: &[Row] = &[
    row("probe.tie-rule",             Probe::TieRule),
    row("probe.snapping",             Probe::Snapping),
    row("probe.guard-band",           Probe::GuardBand),
    row("probe.positions.2",          Probe::Positions { samples: 2 }),
    row("probe.positions.4",          Probe::Positions { samples: 4 }),
    row("probe.positions.8",          Probe::Positions { samples: 8 }),
    row("probe.positions.16",         Probe::Positions { samples: 16 }),
    row("probe.alpha-to-coverage.2",  Probe::AlphaToCoverage { samples: 2 }),
    row("probe.alpha-to-coverage.4",  Probe::AlphaToCoverage { samples: 4 }),
    row("probe.alpha-to-coverage.8",  Probe::AlphaToCoverage { samples: 8 }),
    row("probe.alpha-to-coverage.16", Probe::AlphaToCoverage { samples: 16 }),
];

/// Asks one of them.
pub(super) fn probe<P: Platform>(it: &mut Bench<'_, '_, '_, P>, what: Probe) -> Verdict {
    let two = matches!(
        what,
        Probe::Positions { samples: 2 } | Probe::AlphaToCoverage { samples: 2 }
    );
    // hardware/graphics-raster.md 4.3: two samples came with v12.
    if two && it.programs.arch.major() < 12 {
        return Err(skipped!("{} has no two samples a pixel", it.programs.arch));
    }
    on_canvas(it, HEAP, |it, canvas| match what {
        Probe::TieRule => tie_rule(it, canvas),
        Probe::Snapping => snapping(it, canvas),
        Probe::GuardBand => guard_band(it, canvas),
        Probe::Positions { samples } => positions(it, canvas, samples),
        Probe::AlphaToCoverage { samples } => alpha_to_coverage(it, canvas, samples),
    })
}

/// Draws triangles one by one, each red in a picture of its own; gives the pictures' words.
fn pictures<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    triangles: &[[[f32; 2]; 3]],
) -> Result<Vec<Vec<u32>>, Trouble> {
    let pipeline = canvas.pipeline(it, Shader::Color, &GraphicsPipelineInfo::default())?;
    let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
    let mut pictures = Vec::new();
    for triangle in triangles {
        let vertices = triangle.map(|at| Vertex {
            at,
            depth: 0.5,
            color: RED,
        });
        canvas.scoped(it, |it, canvas| {
            let vertices = canvas.vertices(it, &vertices)?;
            let draw = (pipeline, vertices, Draw::of(3));
            canvas.draw(it, (&[cleared(image, BLUE)], None), &[draw])
        })?;
        let mut bytes = vec![0; 4 * (SIDE * SIDE) as usize];
        it.device
            .read_image(image, ImagePart::default(), &mut bytes)?;
        pictures.push(words_of(&bytes));
    }
    Ok(pictures)
}

fn is_red(picture: &[u32], [x, y]: [u32; 2]) -> bool {
    picture.get((y * SIDE + x) as usize) == Some(&RED_WORD)
}

/// Triangles on either side of an edge through the centre of a pixel, in eight directions: bit n of `inclusive` is set if the
/// triangle to whose left the edge of n times 45 degrees runs owns the centre. Each is owned by one of the two.
fn tie_rule<P: Platform>(it: &mut Bench<'_, '_, '_, P>, canvas: &mut Canvas) -> Verdict {
    const CENTRE: [i32; 2] = [32 * 256 + 128; 2];
    const LONG: i32 = 20 * 256;
    let steps = [
        [1, 0],
        [1, 1],
        [0, 1],
        [-1, 1],
        [-1, 0],
        [-1, -1],
        [0, -1],
        [1, -1],
    ];
    let triangles = steps.map(|[x, y]| {
        let at = |along: i32, aside: i32| {
            let [cx, cy] = CENTRE;
            place([cx + along * x - aside * y, cy + along * y + aside * x])
        };
        [at(-LONG, 0), at(LONG, 0), at(0, LONG)]
    });
    let pictures = pictures(it, canvas, &triangles)?;
    let owned = pictures.iter().map(|picture| is_red(picture, [32, 32]));
    let mask = owned
        .zip(0..)
        .fold(0_u64, |mask, (owned, bit)| mask | u64::from(owned) << bit);
    it.measure("inclusive", mask, Unit::Count);
    match (mask ^ mask >> 4) & 0xF {
        0xF => Ok(()),
        both => Err(failed!(
            "of edges in opposite directions both own a sample, or neither does: directions {both:#06b} of 4 are right, of {mask:#010b}"
        )),
    }
}

/// An edge moves to the right over the centres of a column in steps of a 4096th pixel: `places-in-a-64th` is how many places it has had
/// after a 64th.
fn snapping<P: Platform>(it: &mut Bench<'_, '_, '_, P>, canvas: &mut Canvas) -> Verdict {
    const STEPS: u32 = 64;
    let pipeline = canvas.pipeline(it, Shader::Color, &strip())?;
    let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
    // The edge leans by a 16th of a pixel from the first row to the last of 64: each row that it passes is a 1024th of a pixel.
    let mut places: Vec<u32> = Vec::new();
    for step in 0..STEPS {
        let x = 32.5 + 1.0 / 32.0 + step as f32 / 4096.0 - 1.0 / 128.0;
        let clip = |pixels: f32| pixels / (SIDE as f32 / 2.0) - 1.0;
        let corners = [
            [-1.0, -1.0],
            [-1.0, 1.0],
            [clip(x), -1.0],
            [clip(x - 1.0 / 16.0), 1.0],
        ];
        let vertices = corners.map(|at| Vertex {
            at,
            depth: 0.5,
            color: RED,
        });
        canvas.scoped(it, |it, canvas| {
            let vertices = canvas.vertices(it, &vertices)?;
            let draw = (pipeline, vertices, Draw::of(4));
            canvas.draw(it, (&[cleared(image, BLUE)], None), &[draw])
        })?;
        let mut bytes = vec![0; 4 * (SIDE * SIDE) as usize];
        it.device
            .read_image(image, ImagePart::default(), &mut bytes)?;
        let covered = words_of(&bytes)
            .iter()
            .filter(|word| **word == RED_WORD)
            .count() as u32;
        if !places.contains(&covered) {
            places.push(covered);
        }
    }
    // Within a 64th of a pixel.
    it.measure("places-in-a-64th", places.len() as u64, Unit::Count);
    match places.len() {
        0 | 1 => Err(failed!(
            "an edge that moves by a 64th of a pixel changes nothing"
        )),
        _ => Ok(()),
    }
}

/// A triangle that holds the picture, with vertices further and further out: `pixels` is the furthest, a power of two, with which
/// all of the picture is covered.
fn guard_band<P: Platform>(it: &mut Bench<'_, '_, '_, P>, canvas: &mut Canvas) -> Verdict {
    let far: Vec<u32> = (6..=24).collect();
    let triangles: Vec<[[f32; 2]; 3]> = far
        .iter()
        .map(|power| {
            let out = (1_u64 << power) as f32 / (SIDE as f32 / 2.0) + 4.0;
            [[-out, -out], [-out, 3.0 * out], [3.0 * out, -out]]
        })
        .collect();
    let pictures = pictures(it, canvas, &triangles)?;
    let all = |picture: &Vec<u32>| picture.iter().all(|word| *word == RED_WORD);
    let good = far
        .iter()
        .zip(&pictures)
        .take_while(|(_, picture)| all(picture));
    let furthest = good.last().map(|(power, _)| 1 << power);
    let pixels =
        furthest.ok_or_else(|| failed!("a triangle around the picture does not cover it"))?;
    it.measure("pixels", pixels, Unit::Count);
    Ok(())
}

/// An edge moves to the right through a pixel in 16 steps: `left-of-N` is how many samples are to its left then.
fn positions<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    samples: u32,
) -> Verdict {
    let mut before = 0;
    for step in 0..=16_u32 {
        // Between the places that samples can have.
        let edge = (step * 16 + 8) as i32 - 16;
        let (_, means) = canvas.scoped(it, |it, canvas| {
            means(it, canvas, (samples, edge.max(0), 1.0), &strip())
        })?;
        let left = covered_of(&[means.first().copied().unwrap_or(0)], samples);
        it.measure(&format!("left-of-{step}"), left.into(), Unit::Count);
        if left < before {
            return Err(failed!(
                "{left} samples are to the left of {edge}/256 pixel, and {before} were further to the left"
            ));
        }
        before = left;
    }
    match before == samples {
        true => Ok(()),
        false => Err(failed!("{before} of {samples} samples are in their pixel")),
    }
}

/// The least alpha, of 256, that covers so many samples of two by two pixels, for each number that there is: `alpha-for-N`.
fn alpha_to_coverage<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    samples: u32,
) -> Verdict {
    let info = GraphicsPipelineInfo {
        alpha_to_coverage: true,
        ..strip()
    };
    let all = (SIDE * 256) as i32;
    let mut before = None;
    for alpha in (0..=256_u32).step_by(4) {
        let (_, means) = canvas.scoped(it, |it, canvas| {
            means(it, canvas, (samples, all, alpha as f32 / 256.0), &info)
        })?;
        let covered = covered_of(&means, samples);
        if before.is_some_and(|before| covered < before) {
            return Err(failed!(
                "an alpha of {alpha}/256 covers {covered} samples, a lower one more"
            ));
        }
        if before != Some(covered) {
            it.measure(&format!("alpha-for-{covered}"), alpha.into(), Unit::Count);
        }
        before = Some(covered);
    }
    match before == Some(4 * samples) {
        true => Ok(()),
        false => Err(failed!(
            "an alpha of 1 covers {before:?} of {} samples",
            4 * samples
        )),
    }
}
