//! PNG files.

use crate::outcome::Failure;
use miette::Diagnostic;
use thiserror::Error;

/// Pixels that can't be a picture.
#[derive(Debug, Error, Diagnostic)]
#[error("the picture can't be written")]
struct PngError(#[source] png::EncodingError);

/// How far each component of a pixel is from another picture's, so many times; opaque, so that it can be seen.
pub(crate) fn difference(one: &[u8], other: &[u8], times: u8) -> Vec<u8> {
    let pairs = one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0);
    pairs
        .flat_map(|([r1, g1, b1, _], [r2, g2, b2, _])| {
            let [r, g, b] = [(r1, r2), (g1, g2), (b1, b2)]
                .map(|(one, other)| one.abs_diff(*other).saturating_mul(times));
            [r, g, b, 255]
        })
        .collect()
}

/// A PNG file of pixels of red, green, blue and alpha, row by row.
pub(crate) fn rgba(width: u32, height: u32, pixels: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(pixels)?;
        writer.finish()
    });
    written.map_err(|cause| Failure::refused(PngError(cause)))?;
    Ok(file)
}
