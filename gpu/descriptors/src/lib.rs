//! Descriptors in GPU memory: pack, unpack, print.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
