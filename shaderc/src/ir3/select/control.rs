//! Control: phis and the ends of blocks.

use super::Selector;
use crate::ir;
use crate::ir3::mir::{Asked, BlockId, Phi, Terminator};

impl Selector<'_> {
    /// The phis and the terminator of a block.
    pub(super) fn block_end(&mut self, block: ir::BlockId) {
        let data = self.ir.block(block);
        for phi in &data.phis {
            let dest = self.word(phi.result);
            let sources = phi
                .sources
                .iter()
                .map(|&(from, value)| (self.place(from), self.operand(value)))
                .collect();
            self.function.blocks[self.block.index()]
                .phis
                .push(Phi { dest, sources });
        }
        let terminator = match &data.terminator {
            ir::Terminator::Jump(to) => Terminator::Jump(self.place(*to)),
            ir::Terminator::Branch {
                then, otherwise, ..
            } => match self.asked_predicate() {
                Some((predicate, not)) => Terminator::Branch {
                    condition: Asked::Each { predicate, not },
                    taken: self.place(*then),
                    otherwise: self.place(*otherwise),
                },
                // A branch asks something.
                None => Terminator::End,
            },
            ir::Terminator::Switch { .. } => {
                self.refuse("switch");
                Terminator::End
            }
            ir::Terminator::Return | ir::Terminator::Unreachable => Terminator::End,
        };
        self.function.blocks[self.block.index()].terminator = terminator;
    }

    /// A block's place. Edges lead to blocks of the layout alone: `ir::verify` has checked it.
    fn place(&self, block: ir::BlockId) -> BlockId {
        self.places.get(&block).copied().unwrap_or(BlockId(0))
    }
}
