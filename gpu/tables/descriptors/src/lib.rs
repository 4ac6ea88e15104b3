//! Descriptors in GPU memory: pack, unpack, print.
//!
//! One row a field, with its meaning, one file a family (`table/`). From the rows come typed structures ([`Descriptor`]),
//! access by name ([`Dynamic`]), printing ([`Printed`]) and documentation ([`LAYOUTS`], [`ENUMS`]). A generation is a set
//! of attributes on rows (`since`, `until`, `moved`), never a copy. Packing costs about the stores of the words.
//!
//! Needs: nothing.  Guarantees: a packed structure has no reserved bit set, and every field within its range.
//! Facts: hardware/descriptors.md and its data files.
//!
//! ```
//! use eitri_descriptors::resource::Buffer;
//! use eitri_descriptors::{Address, Arch, Descriptor};
//!
//! let buffer = Buffer { size: 4096, address: Address(0x1_0000), ..Buffer::default() };
//! let mut words = [0; 8];
//! assert_eq!(buffer.pack(Arch::V10, &mut words)?, 32);
//! assert_eq!(words, [0x19, 4096, 0x1_0000, 0, 0, 0, 0, 0]);
//! assert_eq!(Buffer::unpack(Arch::V10, &words)?, buffer);
//! # Ok::<(), eitri_descriptors::DescriptorError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arch;
pub mod blending;
mod descriptor;
mod dynamic;
mod error;
mod member;
mod print;
mod row;
mod table;
mod words;

pub use arch::{Arch, ArchSet, SUPPORTED};
pub use descriptor::Descriptor;
pub use dynamic::{AccessError, Dynamic, Value, layout, value};
pub use error::{DescriptorError, FieldError, FieldProblem};
pub use member::{Address, Aligned, Member, PixelFormat, RawOrFloat, Slod, Swizzle, Ulod};
pub use print::Printed;
pub use row::{EnumRow, EnumTable, Kind, Layout, Modifier, Row, same_name};
pub use table::*;

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
