//! Operations of lanes together.
//!
//! Facts: hardware/compiler-isel.md 8, hardware/valhall-isa.md 9.9.

use super::Selector;
use crate::ir::{InstData, LaneOp};
use crate::valhall::mir::{Instr, Modifier, Op, Operand, Select, Source};
use smallvec::smallvec;

impl Selector<'_> {
    /// Masks count lanes whose word isn't zero; a true boolean is all ones. What another lane has is read from its
    /// register; the lane is a byte. Those that don't take part give zero.
    pub(super) fn lanes(&mut self, lanes: LaneOp, data: &InstData) {
        let word = self.in_register(data.args[0]);
        let value = Source::plain(Operand::Word(word));
        let instr = match lanes {
            LaneOp::Ballot => Instr {
                sources: smallvec![value],
                ..Instr::new(Op::Wmask)
            },
            LaneOp::Shuffle | LaneOp::ShuffleXor => {
                let lane = self.plain(data.args[1]).select(Select::B0);
                Instr {
                    sources: smallvec![value, lane],
                    ..Instr::new(Op::Clper)
                }
            }
        };
        let instr = match lanes {
            LaneOp::ShuffleXor => instr.with(Modifier::LaneXor),
            LaneOp::Ballot | LaneOp::Shuffle => instr,
        };
        self.define(data.results[0], instr);
    }
}
