//! The driver for C: functions and types that `eitri.h` declares, each a thin layer over one of the runtime's.
//!
//! The header is generated from these sources (`tests/header.rs`), doc comments and all: so they are written for its reader.
//! The static library is `gpu/driver/c-library`. docs/c.md says how to use both.
//!
//! Needs: the pointers that callers give are good, as each function says.  Guarantees: a bad handle, a bad number or a call at the
//! wrong time is an answer of the call; nothing is allocated; no value of a C enumeration is believed, and no float is passed in a
//! register, so that callers may be compiled without floating point.
//!
//! ```
//! use eitri_c_interface::status::EitriStatus;
//! use eitri_runtime::{Error, Thing};
//!
//! // A kind of error is a number for C.
//! let gone = Error::Gone { what: Thing::Buffer };
//! assert_eq!(EitriStatus::from(&gone) as u32, 7);
//! ```
#![no_std]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen, and there is no heap to put it on"
)]

// In the order of the header.
pub mod status;

pub mod platform;

pub mod handles;

#[cfg(feature = "draw")]
pub mod draw_handles;

pub mod device;

pub mod memory;

pub mod compute;

pub mod record;

pub mod transfers;

pub mod events;

pub mod semaphores;

pub mod queries;

pub mod dump;

#[cfg(feature = "draw")]
pub mod images;

#[cfg(feature = "draw")]
pub mod imports;

#[cfg(feature = "draw")]
pub mod image_commands;

#[cfg(feature = "draw")]
pub mod comparison;
#[cfg(feature = "draw")]
pub mod stencil;

#[cfg(feature = "draw")]
pub mod samplers;

#[cfg(feature = "draw")]
pub mod pipelines;

#[cfg(feature = "draw")]
pub mod passes;

#[cfg(feature = "draw")]
pub mod pass_state;

#[cfg(feature = "draw")]
pub mod indirect;

#[cfg(feature = "draw")]
pub mod pass_queries;

#[cfg(feature = "draw")]
pub mod draws;

#[cfg(feature = "draw")]
pub mod failed;
