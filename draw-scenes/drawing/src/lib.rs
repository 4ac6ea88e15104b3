//! Drawings as data: resources, pipelines and steps, as a host compiles them and an image plays them.
//!
//! A [`Drawing`] is what is left of a scene when its shaders are compiled and its names are numbers. [`suite`] puts several of them
//! into one run of bytes, which an image carries. [`state`] is what pipelines and passes are set to, by Vulkan's names.
//!
//! Needs: nothing of ours.  Guarantees: what was cut short or damaged is an error.  Never: knows who plays.
//!
//! ```
//! use eitri_drawing::Drawing;
//! use eitri_drawing::suite::{SuiteError, encode, read};
//!
//! let bytes = encode::<Drawing>(b"firmware", &[])?;
//! let suite = read::<Drawing>(&bytes)?;
//! assert_eq!(suite.firmware, b"firmware");
//! assert!(suite.entries.is_empty());
//! assert_eq!(read::<Drawing>(b"something else").unwrap_err(), SuiteError::Magic);
//! # Ok::<(), SuiteError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod drawing;
mod image_step;
pub mod state;
pub mod suite;
mod wanted;

pub use drawing::*;
pub use image_step::{ImageStep, LevelRange};
pub use wanted::{Comparison, Nearness, Row, Verdict, Wanted};
