//! Attached: what was put behind an image that was linked without it.
//!
//! A command that has no sources to link an image from puts its job there: behind the image's memory, at its end. It puts the number of
//! bytes in place of the dots below, and makes the image so much larger in the header that loaders look at.

use crate::linked;
use crate::memory;
use eitri_boards::Region;

/// Digits of the number of bytes.
const DIGITS: usize = 12;
/// What stands before them.
const MARK: &str = "eitri parts ";

#[used]
#[unsafe(link_section = ".eitri.build")]
static ATTACHED: [u8; MARK.len() + DIGITS + 1] = *b"eitri parts ............\0";

/// The bytes; none if nothing was put there.
pub fn attached() -> &'static [u8] {
    // The compiler knows the dots, and not what was put there since.
    let bytes = core::hint::black_box(&ATTACHED);
    let text = core::str::from_utf8(bytes).ok();
    let digits = text.and_then(|text| text.strip_prefix(MARK)?.get(..DIGITS));
    let Some(bytes) = digits.and_then(|digits| digits.parse().ok()) else {
        return &[];
    };
    let region = Region {
        base: linked::image().end(),
        bytes,
    };
    // SAFETY: whoever wrote the number has put so many bytes there, in the memory that the board has for its image. Nobody writes them.
    unsafe { memory::constants(region) }
}
