//! Legalisation: what the encoding demands of an instruction's operands.
//!
//! `constants` places constants, `fau` then moves out what an instruction may not read together.

pub(crate) mod constants;
pub(crate) mod fau;
