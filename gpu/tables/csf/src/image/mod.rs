//! Firmware images (`mali_csffw.bin`): the container's format, a checking parser, and a writer.
//!
//! Guarantees: any bytes parse or are refused with the offset of what is wrong; what the writer writes, the parser
//! reads back.  Facts: hardware/csf-firmware.md sections 1 to 3, and 5.

mod format;
mod parse;
mod released;
mod write;

pub use format::{CacheMode, EntryKind, Flag, SectionFlags, entry_header, section_flags};
pub use parse::{Entries, Entry, Image, ImageError, MAX_SECTIONS, Problem, Section, Sections};
pub use released::{RELEASES, Release};
pub use write::{ImagePlan, SectionPlan, WriteError, write};
