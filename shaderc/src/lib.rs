//! The compiler: SPIR-V to IR to machine code of Mali (Valhall) and of Adreno (IR3).
//!
//! [`compile`] goes the whole way: `spirv` builds IR, `pipeline` says which passes of `lower` and `opt` bring it into
//! the form that a back end receives (described in [`ir`]), [`valhall`] or [`ir3`] makes machine code of it, as the
//! [`Target`] says; what those two share is `machine`. `interp` runs IR of any
//! stage and so says what is right.
//!
//! ```
//! use eitri_shaderc::{Options, compile};
//!
//! let errors = compile(b"not a module at all!", &Options::default()).unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "not a SPIR-V module: it begins with 0x20746f6e, not 0x07230203"
//! );
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order: the way of a shader.
mod back_end;
mod compile;
mod front_end;
pub mod link;
mod order;
pub mod pipeline;

pub mod spirv;

pub mod reflect;

pub mod interp;
pub mod ir;

pub mod color_state;
mod dominators;
mod lists;
mod lower;
pub mod measure;
mod merged_ranges;
mod min_tree;
mod opt;
pub mod pass;
mod replaced;

mod machine;

pub mod ir3;
pub mod valhall;

#[cfg(any(test, feature = "build"))]
pub mod build;

mod options;
pub mod printf;
mod target;

pub use compile::{
    Compiled, CompiledEntry, CompiledGraphics, CompiledStage, Error, Errors, StageSource,
    Statistics, compile, compile_graphics, compile_graphics_functions, compile_lowered,
    compile_until,
};
pub use front_end::{Lowered, LoweredGraphics, front_end, graphics_front_end};
pub use machine::{IrLine, Listing, ListingRow};
pub use options::{Bindings, DescriptorCounts, Level, Options, Robust, ShaderStage, SpecIds};
pub use target::{Limits, Machine, Target};
