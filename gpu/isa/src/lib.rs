//! Valhall shader instructions: encode, decode, assemble, disassemble.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
