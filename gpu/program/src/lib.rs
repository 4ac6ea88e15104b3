//! A compiled shader as a binary: what shaderc writes and the runtime reads.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
