//! IR3 shader instructions (Adreno a5xx to a7xx): encode, decode, assemble, disassemble.
//!
//! Everything derives from one table (`table`), a row an encoding. An [`Instr`] is an instruction as a value: built by a compiler,
//! read from text, or decoded from a word.
//!
//! ```
//! use eitri_ir3_isa::{Gen, Instr, Op, Operand, Reg, Type, Width};
//!
//! let r = |number| Reg::full(number).expect("below 192");
//! let mul = Instr::build(Op::MulS24)
//!     .dst(r(1))
//!     .src(Reg::shared(0).expect("below 32"))
//!     .src(Operand::Imm(64, Width::Full))
//!     .nop(3)
//!     .finish()?;
//! let word = mul.encode(Gen::A6xx)?;
//! assert_eq!(word, 0x4638_0801_2040_00c0);
//! assert_eq!(Instr::decode(word, Gen::A6xx), Ok(mul));
//! # Ok::<(), eitri_ir3_isa::EncodeError>(())
//! ```
//!
//! Facts: hardware/ir3-isa.md, data/ir3-isa.json.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// The parts of an instruction, from the smallest up.
mod generation;
mod operand;
mod register;
pub mod values;

// The table.
pub mod field;
pub mod layout;
mod op;
pub mod row;
mod table;

// The instruction and its word.
mod build;
mod codec;
mod decode;
mod error;
mod instr;

// What there is to run it.
pub mod device;

// What others ask of an instruction.
mod access;
mod describe;
mod random;
mod rules;
pub mod timing;

// The instruction and its text.
mod half;
mod loss;
mod parse;
mod print;
mod template;
mod text;

pub use access::{Access, Place};
pub use build::Builder;
pub use describe::{Bits, What};
pub use error::{DecodeError, EncodeError};
pub use field::Field;
pub use generation::{Gen, Gens, UnknownGen};
pub use instr::Instr;
pub use layout::{Latency, Role};
pub use loss::Loss;
pub use op::Op;
pub use operand::{Dst, Operand, Src};
pub use parse::{Labels, ParseError, ParseErrorKind, Span};
pub use print::Display;
pub use register::{ConstReg, File, Reg};
pub use rules::Rule;
pub use values::{Comp, Cond, DescMode, FloatConst, IndexMode, Round, Type, Width};

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
