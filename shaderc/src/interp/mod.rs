//! The IR interpreter: runs a whole dispatch at any stage of the compiler. It is the oracle.
//!
//! Needs: a function that `verify` accepts.  Guarantees: ends within the step limit; every misuse of memory is a
//! [`Trap`].  Never: shares code with the back end or the model; `eval` is shared with constant folding only.
pub mod eval;
mod float;
mod image_ops;
mod lanes;
mod memory;
mod run;
mod step;
mod trap;

pub(crate) use eitri_texels::half;
pub use eitri_texels::{Compare, Image, Sampler, TexelFormat, Wrap};
pub use memory::{Buffer, Buffers, Key, Resources, address};
pub use run::{Dispatch, interpret, interpret_with};
pub use trap::Trap;
