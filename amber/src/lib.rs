//! The Amber script language: what GPU drivers are commonly tested with.
//!
//! [`parse`] reads either dialect into a [`script::Script`]; [`types`] says where numbers lie in memory; [`compare`] is what
//! `EXPECT` means; [`run`] carries a script out on anything that implements [`run::Gpu`].
//!
//! Needs: nothing of ours.  Guarantees: any text gives a script or an error with line and column, never a panic.
//! Never: starts a tool or a GPU; files are read through [`run::Files`].
//! Facts: the language reference, `../shared/amber-language.md`; "section" in this crate is one of that page.
//!
//! ```
//! let script = eitri_amber::parse("#!amber\nBUFFER b DATA_TYPE uint32 DATA 1 2 3 END\n")?;
//! assert_eq!(script.buffers[0].elements, Some(3));
//! let error = eitri_amber::parse("#!amber\nBUFFER b DATA_TYPE uint31 DATA 1 END\n").unwrap_err();
//! assert_eq!(error.to_string(), "2:20: `uint31` is no type");
//! # Ok::<(), eitri_amber::SyntaxError>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod compare;
mod contents;
mod error;
mod lexer;
mod literal;
mod parse;
pub mod run;
pub mod script;
pub mod types;
mod words;

pub use error::{Position, Problem, SyntaxError};
pub use literal::Literal;
pub use parse::parse;
pub use words::Word;
