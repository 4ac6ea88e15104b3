//! The IR interpreter: runs a whole dispatch at any stage of the compiler. It is the oracle.
//!
//! Needs: a function that `verify` accepts.  Guarantees: ends within the step limit; every misuse of memory is a
//! [`Trap`].  Never: shares code with the back end or the model; `eval` is shared with constant folding only.
//! Facts: hardware/compiler-abi.md 2.4 (bounds), 3.6 (compute).
pub mod eval;
mod float;
mod half;
mod lanes;
mod memory;
mod run;

pub use memory::{Buffer, Buffers, address};
pub use run::{Dispatch, Trap, interpret};
