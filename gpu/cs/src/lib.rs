//! Command-stream instructions: encode, decode, text, and the builder.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
