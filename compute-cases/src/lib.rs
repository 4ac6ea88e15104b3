//! Compute shaders with their inputs and expected outputs, as data: one dispatch a case.
//!
//! The format is that of `shared/kernels/README.md`. [`find`] looks for case files, [`Case::read`] reads one with all that
//! it names, and [`Case::check`] compares what a run left behind by the case's own rules. [`Growth`] is of another kind:
//! modules of any size, to measure compilers by.
//!
//! Needs: nothing of ours.  Guarantees: a case that was read is complete and consistent; a bad file is an error that names
//! the file and the place.  Never: knows who runs the shader.
//!
//! ```
//! use eitri_compute_cases::{Contents, Element};
//!
//! let contents: Contents = serde_json::from_str(r#"{"pcg32": {"seed": 1, "as": "u32"}}"#)?;
//! assert_eq!(contents.bytes(8).unwrap(), [0xa9, 0xdd, 0x6b, 0x9b, 0x48, 0xfc, 0x31, 0x0c]);
//! assert_eq!(Element::F16.show(&[0x00, 0x3c]), "1.0");
//! # Ok::<(), serde_json::Error>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
mod case;
mod find;

mod contents;
mod pcg32;

mod compare;
mod element;

mod error;

mod growth;

pub use case::{Case, Image, Module, Output, Place, Resource, ResourceKind};
pub use compare::{Comparison, Mismatch, Rule};
pub use contents::{Contents, ContentsError, Generator, hex};
pub use element::Element;
pub use error::{CaseError, Difference, FileError};
pub use find::find;
pub use growth::Growth;
