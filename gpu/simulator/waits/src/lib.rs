//! Waits: proves, without running it, that a Valhall program waits for its messages.
//!
//! A message (a load, a texture, an atomic) finishes some time after it was issued; the program must wait for the message's slot
//! before it touches the result. The check is one forward data flow over the decoded words from the first instruction on, whatever
//! compiler wrote them; paths that meet are joined. Each finding names a path that leads to it.
//!
//! The compiler judges its own code by another analysis, `valhall/waits/check_waits`, which sees what was meant and not the words:
//! each finds what the other may have forgotten.
//!
//! Needs: words of a program, its generation, and whose threads run it.  Guarantees: on every path that the branches allow, a
//! register is touched only after the wait for the message that writes it, or there is a finding.  Never: runs anything; knows the
//! compiler.  Facts: hardware/valhall-isa.md 6, 11 and 12; hardware/compiler-backend.md 8.
//!
//! ```
//! use eitri_waits::{Arch, Code, Kind, Stage, check};
//!
//! let text = ["LOAD.i32.unsigned.slot1 @r2, r0, offset:0", "FADD.f32.end r3, r2, r2"];
//! let words = text.map(|line| {
//!     eitri_isa::Instr::assemble(line, Arch::V10, eitri_isa::Syntax::Mesa24).unwrap()
//! });
//! let report = check(&Code { arch: Arch::V10, stage: Stage::Compute, base: 0x1000, words: &words });
//! assert_eq!(report.findings[0].kind, Kind::ReadBeforeWait { register: 2, slot: 1 });
//! assert_eq!(report.findings[0].message, Some(0x1000));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod analysis;
mod finding;
mod in_flight;
mod memory;
mod origin;
mod program;

pub use analysis::check;
pub use eitri_isa::Arch;
pub use finding::{Finding, Jump, Kind, Report};
pub use program::{Code, Stage};
