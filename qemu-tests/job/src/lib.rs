//! One dispatch as data: a program, its resources, how to run them, and what came of it.
//!
//! A [`Job`] is program, firmware, push constants, buffers, images, samplers; a [`Bundle`] is that in the form in which the
//! host puts it into an image (or hands it to the same code in its own process). A [`result`] stream is what comes back: the bring-up steps, then either the
//! saved resources or the failure; and what else was wanted, a core dump or counters.
//!
//! Needs: `eitri-program`, `eitri-runtime`.  Guarantees: a bundle or a result that was cut short or damaged is an error.
//! Never: knows which platform it runs on.
//!
//! ```
//! use eitri_job::{Bundle, Content, Job, Part, Resource, Wants};
//!
//! let job = Job {
//!     program: &[1, 2, 3],
//!     firmware: &[],
//!     push_constants: &[],
//!     groups: [1, 1, 1],
//!     limit_ms: 1000,
//!     wants: Wants::default(),
//!     resources: &[Resource {
//!         set: 0,
//!         binding: 0,
//!         element: 0,
//!         content: Content::Buffer,
//!         data: &[4, 5],
//!         bytes: 8,
//!         save: true,
//!         part: Part::Whole,
//!     }],
//! };
//! let bytes = job.encode();
//! let bundle = Bundle::parse(&bytes)?;
//! assert_eq!(bundle.program(), [1, 2, 3]);
//! assert_eq!(bundle.resources().next().map(|resource| resource.bytes), Some(8));
//! # Ok::<(), eitri_job::BundleError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen; a job fails once"
)]

extern crate alloc;

mod bundle;
mod content;
mod cursor;
mod extras;
mod job;
pub mod parts;
pub mod result;
mod run;
mod session;

pub use bundle::{Bundle, BundleError};
pub use content::{Content, texel_format};
pub use job::{CoreDump, Job, Part, Resource, Wants};
pub use run::{run, run_again_while, run_and_keep, run_here};
pub use session::{Ended, Failure, Saved, Session, Verdict, Work, WorkError, run_unread, run_work};

/// What an image prints when a picture is on its display.
pub const SHOWN: &str = "display: shown";

/// The sum that guards bundles and results.
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
