//! Registers, firmware interface and page tables of CSF GPUs.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
