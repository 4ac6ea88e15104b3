//! Faults: exception codes with their meaning, and the words that report them.
//!
//! One space of codes serves address spaces, the GPU and streams.
//! Facts: hardware/gpu-mmu.md section 8, csf-scheduling.md section 6.

pub mod exception;
pub mod fault_access;
pub mod source;

pub use exception::{Exception, ExceptionRow};
pub use source::{FaultSource, Unit};
