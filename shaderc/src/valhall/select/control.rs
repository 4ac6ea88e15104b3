//! Control: phis and the ends of blocks.
//!
//! Facts: hardware/compiler-isel.md 13.

use super::Selector;
use crate::ir;
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{BlockId, Phi, Terminator};

impl Selector<'_> {
    /// The phis and the terminator of a block.
    pub(super) fn block_end(&mut self, block: ir::BlockId) -> Result<(), Unsupported> {
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
                condition,
                then,
                otherwise,
            } => {
                let (then, otherwise) = (self.place(*then), self.place(*otherwise));
                let (condition, truth) = self.branch_word(*condition);
                let (taken, otherwise) = if truth {
                    (then, otherwise)
                } else {
                    (otherwise, then)
                };
                Terminator::Branch {
                    condition,
                    taken,
                    otherwise,
                }
            }
            ir::Terminator::Switch { .. } => return Err(self.unsupported("switch")),
            ir::Terminator::Return => {
                self.fragment_end(block);
                Terminator::End
            }
            ir::Terminator::Unreachable => Terminator::End,
        };
        self.function.blocks[self.block.index()].terminator = terminator;
        Ok(())
    }

    /// A block's place. Edges lead to blocks of the layout alone: `ir::verify` has checked it.
    fn place(&self, block: ir::BlockId) -> BlockId {
        self.places.get(&block).copied().unwrap_or(BlockId(0))
    }
}
