//! Valhall shader instructions: encode, decode, assemble, disassemble.
//!
//! Everything derives from one table (`table`), a row an instruction. An [`Instr`] is an instruction as a value:
//! built by a compiler, read from text, or decoded from a word; only a legal one encodes.
//!
//! ```
//! use eitri_isa::{Arch, Constant, Instr, Op, Reg, Src};
//!
//! let r = |index| Reg::new(index).expect("below 64");
//! let add = Instr::new(Op::FaddF32)
//!     .with_dest(r(0))
//!     .with_sources(&[Src::reg(r(1)), Src::constant(Constant::ONE_F32).neg()])?;
//! let word = add.encode(Arch::V10)?;
//! assert_eq!(word, 0x00a4_c010_0000_d001);
//! assert_eq!(Instr::decode(word, Arch::V10), Ok(add));
//! # Ok::<(), eitri_isa::EncodeError>(())
//! ```
//!
//! Facts: hardware/valhall-isa.md, data/valhall-isa.json.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// The parts of an instruction, from the smallest up.
mod arch;
mod constants;
mod flow;
mod register;
mod select;
mod select_tables;
mod source;
mod special;
pub mod values;

// The table.
pub mod field;
mod name_slot;
mod op;
pub mod row;
mod table;

// The instruction and its word.
mod decode;
mod encode;
mod error;
mod instr;
mod layout;
mod rules;

// What others ask of an instruction.
mod access;
mod describe;
pub mod meaning;
pub mod preload;
mod random;
pub mod rates;

// The instruction and its text.
mod loss;
mod parse;
mod print;
mod syntax;

pub use access::{OperandKind, RegAccess};
pub use arch::{Arch, ArchSet, UnknownArch};
pub use constants::Constant;
pub use describe::{Bits, What};
pub use error::{DecodeError, EncodeError, Part, Rule};
pub use field::ImmId;
pub use flow::Flow;
pub use instr::{Instr, MAX_SOURCES};
pub use loss::Loss;
pub use op::Op;
pub use parse::{Expected, ParseError, ParseErrorKind, Span};
pub use print::Display;
pub use register::{Dest, Mask, Reg, RegRange};
pub use select::{Lanes, Select, SelectRow, SelectTable};
pub use source::{Half, Operand, Src, Uniform};
pub use special::{RenderTarget, Special, SpecialRow};
pub use syntax::{Syntax, UnknownSyntax};
pub use values::Flag;

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
