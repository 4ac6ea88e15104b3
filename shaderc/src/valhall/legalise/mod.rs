//! Legalisation: what the encoding demands of an instruction's operands.
//!
//! `constants` places constants, `arrange_fau` orders the uniform words, and `fau` moves out what an instruction still
//! may not read together.

pub(crate) mod arrange_fau;
pub(crate) mod constants;
pub(crate) mod fau;
