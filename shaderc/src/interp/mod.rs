//! The IR interpreter: runs a whole dispatch, vertices, or quads of fragments, at any stage of the compiler. It is the oracle.
//!
//! Needs: a function that `verify` accepts.  Guarantees: ends within the step limit; every misuse of memory is a
//! [`Trap`].  Never: shares code with the back end or the model; `eval` is shared with constant folding only.
mod drawn;
pub mod eval;
mod fair;
mod float;
mod graphics;
mod halves;
mod image_ops;
mod lanes;
mod memory;
mod observer;
mod quads;
mod run;
mod step;
mod stepper;
mod trap;
mod triangle;

pub use drawn::{ShadedDraw, ShadedWarp, ShadedWarps, interpret_warps};
pub(crate) use eitri_texels::half;
pub use eitri_texels::{Compare, Image, Sampler, Texel, TexelFormat, Wrap};
pub use graphics::{
    Draw, Fragment, Outputs, Primitive, Shaded, Vertex, interpret_quads, interpret_vertices,
};
pub use memory::{Buffer, Buffers, Key, Resources, address, located};
pub use observer::{LaneSet, Observer, Values};
pub use run::{Dispatch, interpret, interpret_observed, interpret_with};
pub use stepper::{Ahead, CodePlace, End, LanePlace, Object, Stepper, Touch};
pub use trap::Trap;
pub use triangle::Triangle;
