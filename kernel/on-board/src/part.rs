//! Part: what an image carries that was linked without it.

use eitri_job::parts;
use eitri_kernel::attached;

/// What an image is linked with in place of what it shows, if that is to be a part.
pub const ATTACHED: &str = "attached";

/// The part of a name that was put behind the image, if there is one.
pub fn part(name: &str) -> Option<&'static [u8]> {
    parts::find(attached(), name)
}

/// The part of a name, or else what is linked into the image.
pub fn part_or(name: &str, linked: &'static [u8]) -> &'static [u8] {
    part(name).unwrap_or(linked)
}
