//! The driver: from power-off to a finished job.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
