//! PNG files.

use crate::outcome::Failure;
use miette::Diagnostic;
use thiserror::Error;

/// Pixels that can't be a picture.
#[derive(Debug, Error, Diagnostic)]
#[error("the picture can't be written")]
struct PngError(#[source] png::EncodingError);

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
