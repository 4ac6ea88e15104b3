//! What happens before the `eitri` command can run, and what that command shares with it: the checkout, tools that are
//! installed on demand, child processes with a clock, cargo's progress, and steps shown on standard error.
//!
//! Relies on: nothing, so that it is compiled in about a second.  Guarantees: standard output is never written to; the
//! machine is changed only through `rustup` and, as root on Debian, `apt-get`.
//!
//! ```
//! use eitri_launch::tools::{self, Tool};
//! use eitri_launch::workspace::Workspace;
//!
//! let workspace = Workspace::find()?;
//! for tool in tools::missing(&workspace, Tool::ALL) {
//!     println!("this machine lacks {tool}");
//! }
//! # Ok::<(), eitri_launch::Problem>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cargo;
pub mod images;
mod problem;
pub mod process;
pub mod progress;
pub mod tools;
pub mod workspace;

pub use problem::Problem;
