//! Operations of lanes together.
//!
//! Facts: hardware/compiler-isel.md 8, hardware/valhall-isa.md 9.9.

use super::Selector;
use crate::ir::{InstData, LaneOp};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{Instr, Modifier, Op, Operand, Select, Source};
use smallvec::smallvec;

/// What the lane of the own quad has whose number is the own one xor `other`.
fn swap(value: Source, other: u32) -> Instr {
    let lane = Source::constant(other).select(Select::B0);
    let instr = Instr {
        sources: smallvec![value, lane],
        ..Instr::new(Op::Clper)
    };
    instr.with(Modifier::OfQuad).with(Modifier::LaneXor)
}

impl Selector<'_> {
    /// What another lane has is read from its register; the lane is a byte. Those that don't take part give zero.
    pub(super) fn lanes(&mut self, lanes: LaneOp, data: &InstData) -> Result<(), Unsupported> {
        let word = self.in_register(data.args[0]);
        let value = Source::plain(Operand::Word(word));
        let exchange = |selector: &mut Self| {
            let lane = selector.plain(data.args[1]).select(Select::B0);
            Instr {
                sources: smallvec![value, lane],
                ..Instr::new(Op::Clper)
            }
        };
        let instr = match lanes {
            // `Target::has_scans` says that there is none.
            LaneOp::First => return Err(self.unsupported(lanes.name())),
            LaneOp::Shuffle => exchange(self),
            LaneOp::ShuffleXor => exchange(self).with(Modifier::LaneXor),
            LaneOp::QuadSwapX => swap(value, 1),
            LaneOp::QuadSwapY => swap(value, 2),
        };
        self.define(data.results[0], instr);
        Ok(())
    }

    /// Masks count lanes whose word isn't zero; a true boolean is all ones. A warp's mask is one word.
    pub(super) fn ballot(&mut self, data: &InstData) {
        let word = self.in_register(data.args[0]);
        let instr = Instr {
            sources: smallvec![Source::plain(Operand::Word(word))],
            ..Instr::new(Op::Wmask)
        };
        self.define(data.results[0], instr);
    }
}
