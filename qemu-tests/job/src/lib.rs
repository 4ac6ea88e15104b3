//! One dispatch as data: a program, its resources, how to run them, and what came of it.
//!
//! A [`Bundle`] is what the host puts into an image (or hands to the same code in its own process): program, firmware,
//! push constants, buffers, images, samplers. A [`result`] stream is what comes back: the bring-up steps, then either the
//! saved resources or the failure; and what else was wanted, a core dump or counters.
//!
//! Needs: `eitri-program`, `eitri-runtime`.  Guarantees: a bundle or a result that was cut short or damaged is an error.
//! Never: knows which platform it runs on.
//!
//! ```
//! use eitri_job::{Bundle, BundleParts, Content, ResourceParts, Wants};
//!
//! let parts = BundleParts {
//!     program: &[1, 2, 3],
//!     firmware: &[],
//!     push_constants: &[],
//!     groups: [1, 1, 1],
//!     limit_ms: 1000,
//!     wants: Wants::default(),
//!     resources: &[ResourceParts {
//!         set: 0,
//!         binding: 0,
//!         element: 0,
//!         content: Content::Buffer,
//!         data: &[4, 5],
//!         bytes: 8,
//!         save: true,
//!     }],
//! };
//! let bytes = parts.encode();
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
pub mod result;
mod run;

pub use bundle::{Bundle, BundleError, Resource, Wants};
#[cfg(feature = "host")]
pub use bundle::{BundleParts, ResourceParts};
pub use content::Content;
pub use run::{Verdict, run};

/// The sum that guards bundles and results.
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
