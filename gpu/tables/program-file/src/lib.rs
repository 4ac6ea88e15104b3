//! What the binaries of compiled shaders have in common, whatever they run on.
//!
//! A binary is one contiguous little-endian blob: eight bytes that name its format, a header of words, tables of records,
//! the entry point's name. A [`Format`] says what the header is; [`Header`] reads it once the blob was found whole, and
//! [`Section`]s are where its [`Tables`] stand. `eitri-program` and `eitri-ir3-program` are the two formats.
//!
//! Needs: nothing.  Guarantees: no function panics or allocates, whatever the bytes.
//! Never: knows a machine.
//!
//! ```
//! use eitri_program_file::{Format, Header, ProgramError};
//!
//! const FORMAT: Format = Format { magic: *b"EXAMPLE.", version: 1, header_bytes: 0x18 };
//! let mut bytes = [0; 0x18];
//! FORMAT.write(&mut bytes, 0x18, &[7], |_| {})?;
//! assert_eq!(Header::checked(&bytes, &FORMAT)?.get(0x14), Ok(7));
//! bytes[0x14] = 8;
//! assert!(matches!(Header::checked(&bytes, &FORMAT), Err(ProgramError::Sum { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod code_lines;
mod error;
mod format;
mod header;
mod interface;
mod lines;
mod section;

pub use code_lines::{CodeLineParts, CodeLines, line_among};
pub use error::{EncodeError, ProgramError};
pub use format::{Format, Writer, seal};
pub use header::Header;
pub use interface::{Access, PushRange, WorkgroupSize};
pub use lines::{LineParts, LineRow, LineTable, without_lines};
pub use section::{CODE_WORD_BYTES, Section, Tables, code_words, read_word, records};
