//! Several samples a pixel: where they are, which of them are written, and what alpha makes of them.
//!
//! Facts: hardware/graphics-raster.md 4.3 (positions), graphics-model.md 4.3 (alpha to coverage).

use super::canvas::{Canvas, RGBA8, SIDE, check, cleared, format_of, on_canvas, rectangle, strip};
use super::picture::place;
use super::{END, HEAP, START};
use crate::bench::{Bench, words_of};
use crate::result::{Trouble, Verdict, failed};
use alloc::vec;
use alloc::vec::Vec;
use eitri_draw_programs::Shader;
use eitri_runtime::{
    ColorAttachment, Draw, GraphicsPipelineInfo, Image, ImageInfo, ImagePart, ImageView, Platform,
    Resolve, StoreOp, Tiling,
};

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampled {
    /// An edge through a column of pixels, a 32nd behind their middle: so many of their samples are to its left.
    Edge { samples: u32, left: u32 },
    /// Samples 0 and 2 of four are written.
    Mask,
    /// No sample, all of them, and half of four by four.
    Alpha,
}

/// Draws white over black, from the left edge to a place in 1/256 pixel; gives the means of the samples.
pub(super) fn means<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    canvas: &mut Canvas,
    (samples, edge, alpha): (u32, i32, f32),
    info: &GraphicsPipelineInfo<'_>,
) -> Result<(Image, Vec<u32>), Trouble> {
    let format = format_of(it, RGBA8)?;
    let many = canvas.image_of(
        it,
        ImageInfo {
            samples,
            tiling: Tiling::UInterleaved,
            ..ImageInfo::two_d(format, SIDE, SIDE)
        },
    )?;
    let one = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
    let pipeline = canvas.pipeline(
        it,
        Shader::Color,
        &GraphicsPipelineInfo { samples, ..*info },
    )?;
    let [right, _] = place([edge; 2]);
    let color = [1.0, 1.0, 1.0, alpha];
    let vertices = canvas.vertices(it, &rectangle(START, [right, END[1]], 0.5, color))?;
    let color = cleared(many, [0.0; 4]).map(|color| ColorAttachment {
        resolve: Some(Resolve::average(ImageView::of(one))),
        store: StoreOp::DontCare,
        ..color
    });
    canvas.draw(it, (&[color], None), &[(pipeline, vertices, Draw::of(4))])?;
    let mut bytes = vec![0; 4 * (SIDE * SIDE) as usize];
    it.device
        .read_image(one, ImagePart::default(), &mut bytes)?;
    Ok((one, words_of(&bytes)))
}

/// So many of a pixel's samples, as a channel.
fn share(of: u32, samples: u32) -> u32 {
    (of * 255 * 2 + samples) / (2 * samples)
}

/// Tries one of them.
pub(super) fn samples<P: Platform>(it: &mut Bench<'_, '_, '_, P>, what: Sampled) -> Verdict {
    let all = (SIDE * 256) as i32;
    on_canvas(it, HEAP, |it, canvas| match what {
        Sampled::Edge { samples, left } => {
            let column = SIDE / 2;
            let edge = (column * 256 + 128 + 8) as i32;
            let (image, _) = means(it, canvas, (samples, edge, 1.0), &strip())?;
            check(it, (image, "the mean of samples"), 1, |x, _| {
                let inside = match () {
                    () if x < column => samples,
                    () if x == column => left,
                    () => 0,
                };
                share(inside, samples) * 0x0101_0101
            })
        }
        Sampled::Mask => {
            let info = GraphicsPipelineInfo {
                sample_mask: 0b0101,
                ..strip()
            };
            let (image, _) = means(it, canvas, (4, all, 1.0), &info)?;
            check(it, (image, "the mean of two samples of four"), 1, |_, _| {
                0x8080_8080
            })
        }
        Sampled::Alpha => {
            let info = GraphicsPipelineInfo {
                alpha_to_coverage: true,
                ..strip()
            };
            for (alpha, wanted) in [(0.0, 0), (0.5, 8), (1.0, 16)] {
                let (_, means) = means(it, canvas, (4, all, alpha), &info)?;
                let counted = covered(&means);
                if counted != wanted {
                    return Err(failed!(
                        "with an alpha of {alpha} {counted} of 16 samples of two by two pixels are covered, expected {wanted}"
                    ));
                }
            }
            Ok(())
        }
    })
}

/// Samples of the first two by two pixels that are covered, of four a pixel, from the means of red.
fn covered(means: &[u32]) -> u32 {
    covered_of(means, 4)
}

/// The same of any number of samples a pixel.
pub(super) fn covered_of(means: &[u32], samples: u32) -> u32 {
    let places = [0, 1, SIDE, SIDE + 1];
    let red = |place: u32| means.get(place as usize).map_or(0, |word| word & 0xFF);
    let samples_of = |red: u32| (red * samples * 2 + 255) / (2 * 255);
    places.into_iter().map(|place| samples_of(red(place))).sum()
}
