//! An interpreter of IR3 programs: the oracle that a compiler for Adreno a6xx is held to.
//!
//! It runs a dispatch as hardware would, wave by wave, and stops with a [`Fault`] where hardware would give something else by
//! chance: a result that is read before its slots have passed, a missing (ss), (sy) or (jp), a register that is overwritten while
//! it is still read. Where the facts don't say what happens, it stops, too.
//!
//! ```
//! use eitri_ir3_interp::{Code, FaultKind, Launch, Memory, Place, run};
//! use eitri_ir3_isa::{Gen, Instr};
//!
//! let assemble = |text: &str| -> Result<Code, Box<dyn std::error::Error>> {
//!     let words = text.lines().map(|line| Instr::parse(line, Gen::A6xx).map(|instr| instr.encode(Gen::A6xx)));
//!     let words: Vec<_> = words.collect::<Result<Result<Vec<u64>, _>, _>>()??;
//!     Ok(Code::decode(words, Gen::A6xx)?)
//! };
//! let store = "stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 0\nend";
//! let mut memory = Memory::default();
//! memory.buffers.insert(Place::Slot(0), vec![0; 4 * 64]);
//!
//! // The address is known, but what is stored needs six slots.
//! let good = assemble(&format!("add.u r1.x, r0.x, 7\n(rpt5)nop\n{store}"))?;
//! run(&good, &Launch::default(), &mut memory)?;
//! assert_eq!(memory.buffers[&Place::Slot(0)][4], 8);
//!
//! let early = assemble(&format!("add.u r1.x, r0.x, 7\n(rpt4)nop\n{store}"))?;
//! let fault = run(&early, &Launch::default(), &mut memory).unwrap_err();
//! assert!(matches!(fault.kind, FaultKind::TooEarly { missing: 1, .. }), "{fault}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Never: shares how distances are counted with the compiler; only the table of delays is the same.
//! Facts: hardware/ir3-isa.md sections 2 to 15.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod launch;
mod memory;
mod run;

mod check;
mod hazards;
mod lanes;
mod registers;
mod turns;
mod wave;

mod execute;
mod number;

mod fault;

pub use fault::{Fault, FaultKind, Named};
pub use launch::{Code, Launch};
pub use memory::{Memory, Place};
pub use run::{Statistics, run};
