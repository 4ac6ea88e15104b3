//! One dispatch as data: a program, its buffers, how to run them, and what came of it.
//!
//! A [`Bundle`] is what the host puts into an image (or hands to the same code in its own process): program, firmware,
//! push constants, buffers. A [`result`] stream is what comes back: the bring-up steps, then either the
//! saved buffers or the failure; and what else was wanted, a core dump or counters.
//!
//! Needs: `eitri-program`, `eitri-runtime`.  Guarantees: a bundle or a result that was cut short or damaged is an error.
//! Never: knows which platform it runs on.
//!
//! ```
//! use eitri_job::{Bundle, BufferParts, BundleParts, Wants};
//!
//! let parts = BundleParts {
//!     program: &[1, 2, 3],
//!     firmware: &[],
//!     push_constants: &[],
//!     groups: [1, 1, 1],
//!     limit_ms: 1000,
//!     wants: Wants::default(),
//!     buffers: &[BufferParts { set: 0, binding: 0, data: &[4, 5], bytes: 8, save: true }],
//! };
//! let bytes = parts.encode();
//! let bundle = Bundle::parse(&bytes)?;
//! assert_eq!(bundle.program(), [1, 2, 3]);
//! assert_eq!(bundle.buffers().next().map(|buffer| buffer.bytes), Some(8));
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
mod cursor;
mod extras;
pub mod result;
mod run;

pub use bundle::{Buffer, Bundle, BundleError, Wants};
#[cfg(feature = "host")]
pub use bundle::{BufferParts, BundleParts};
pub use run::{Verdict, run};

/// The sum that guards bundles and results.
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
