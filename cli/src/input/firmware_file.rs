//! A firmware image that a person names: read, and looked at before anything is built or run with it.
//!
//! Facts: hardware/csf-firmware.md 1 to 3.

use crate::input::buffer_source;
use crate::outcome::Failure;
use eitri_csf::image::{Image, ImageError};
use miette::Diagnostic;
use thiserror::Error;

/// A file that is no firmware image.
#[derive(Debug, Error, Diagnostic)]
#[error("{path}: {cause}")]
#[diagnostic(help(
    "the vendor's image is mali_csffw.bin, of Debian's package firmware-misc-nonfree"
))]
struct NoFirmware {
    path: String,
    cause: ImageError,
}

/// The bytes of the image at `path`; `-` is standard input.
pub(crate) fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let bytes = buffer_source::read(path)?;
    match Image::parse(&bytes) {
        Ok(_) => Ok(bytes),
        Err(cause) => Err(Failure::refused(NoFirmware {
            path: path.to_owned(),
            cause,
        })),
    }
}
