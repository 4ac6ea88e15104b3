//! The GPU in software: registers, firmware interface, streams, shader cores.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
