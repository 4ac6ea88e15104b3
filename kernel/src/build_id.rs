//! Build id: which build this is, as the linker noted it.
//!
//! The first line of an image has it, so that a log tells which ELF file it belongs to: another would decode it to nonsense.

use crate::linked;
use core::fmt;

/// Name size, descriptor size, type, and the four bytes of the name "GNU".
const NOTE_HEADER_BYTES: usize = 16;

/// The same as text, for whoever looks into a file: `eitri image` puts it in place of the dots. Nothing reads it here.
#[used]
#[unsafe(link_section = ".eitri.build")]
static AS_TEXT: [u8; 53] = *b"eitri build ........................................\0";

/// Bytes of [`ABOUT`].
const ABOUT_BYTES: usize = 128;
/// What [`ABOUT`] begins with.
const ABOUT_MARK: &str = "eitri about ";

/// What the image was made of: `eitri image` and all that boot images put it in place of the dots.
#[used]
#[unsafe(link_section = ".eitri.build")]
static ABOUT: [u8; ABOUT_BYTES] = {
    let mut bytes = [b'.'; ABOUT_BYTES];
    let mut at = 0;
    while at < ABOUT_MARK.len() {
        bytes[at] = ABOUT_MARK.as_bytes()[at];
        at += 1;
    }
    bytes[ABOUT_BYTES - 1] = 0;
    bytes
};

/// What the running image was made of, in words; `None` where nobody has said so.
pub(crate) fn about() -> Option<&'static str> {
    // The compiler knows the dots, and not what was put there since.
    let bytes = core::hint::black_box(&ABOUT);
    let text = core::str::from_utf8(bytes).ok()?;
    let text = text.strip_prefix(ABOUT_MARK)?.trim_end_matches(['.', '\0']);
    (!text.is_empty()).then_some(text)
}

/// The build id of the running image; empty when it was linked without one.
#[derive(Clone, Copy)]
pub struct BuildId(&'static [u8]);

impl BuildId {
    /// That of the running image.
    pub fn of_image() -> BuildId {
        let note = linked::build_id_note();
        // SAFETY: the linker script brackets the section with these symbols; it is constant and mapped.
        let note = unsafe { core::slice::from_raw_parts(note.base as *const u8, note.bytes) };
        BuildId(note.get(NOTE_HEADER_BYTES..).unwrap_or(&[]))
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("unknown");
        }
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
