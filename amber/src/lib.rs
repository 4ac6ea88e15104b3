//! The Amber script language: what GPU drivers are commonly tested with.
//!
//! [`parse`] reads either dialect into a [`script::Script`]; [`types`] says where numbers lie in memory; a [`plan::Plan`] is what
//! is left of it to carry out; [`run`] does that on anything that implements [`run::Gpu`]; [`compare`] is what `EXPECT` means.
//!
//! Needs: nothing of ours.  Guarantees: any text gives a script or an error with line and column, never a panic.
//! Never: starts a tool or a GPU; files are read through [`plan::Files`].
//! Without its feature `host` it has no parser and needs no `std`: what is left carries out a [`plan::Plan`] on bare metal.
//! Facts: the language reference, `../shared/amber-language.md`; "section" in this crate is one of that page.
//!
//! ```
//! let script = eitri_amber::parse("#!amber\nBUFFER b DATA_TYPE uint32 DATA 1 2 3 END\n")?;
//! assert_eq!(script.buffers[0].elements, Some(3));
//! let error = eitri_amber::parse("#!amber\nBUFFER b DATA_TYPE uint31 DATA 1 END\n").unwrap_err();
//! assert_eq!(error.to_string(), "2:20: `uint31` is no type");
//! # Ok::<(), eitri_amber::SyntaxError>(())
//! ```
#![cfg_attr(not(feature = "host"), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[macro_use]
extern crate alloc;

pub mod compare;
mod contents;
mod error;
#[cfg(feature = "host")]
mod lexer;
mod literal;
#[cfg(feature = "host")]
mod parse;
pub mod plan;
pub mod run;
pub mod script;
pub mod types;
mod words;

pub use error::{Position, Problem, SyntaxError};
pub use literal::Literal;
#[cfg(feature = "host")]
pub use parse::parse;
pub use words::Word;
