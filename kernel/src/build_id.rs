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
