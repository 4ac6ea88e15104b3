//! Drawn scenes with their inputs and expected pictures, as data: passes, draws, copies, and what must come out.
//!
//! The format is that of `shared/scenes/README.md`. [`find`] looks for scene files, [`Scene::read`] reads one with all that it
//! names, and [`Expectation::check`] compares what a run left behind by the scene's own rule.
//!
//! Needs: formats by name.  Guarantees: a scene that was read is complete and consistent: each name that it uses is there, and
//! contents have the size of what they fill; a bad file is an error that names the file and the place.
//! Never: knows who draws.
//!
//! ```
//! use eitri_draw_scenes::{Component, Swizzle};
//!
//! let swizzle: Swizzle = serde_json::from_str(r#""b=01""#)?;
//! assert_eq!(swizzle.0, [Component::Blue, Component::Green, Component::Zero, Component::One]);
//! # Ok::<(), serde_json::Error>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
mod scene;

mod expectation;
mod format;
mod wanted;

mod error;

pub use eitri_compute_cases::{Contents, find};
pub use error::{Difference, SceneError};
pub use expectation::{Comparison, Expectation, Mismatch, Picture, Rule, Target};
pub use format::ImageFormat;
pub use scene::*;
