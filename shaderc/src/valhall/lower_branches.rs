//! Branch lowering: terminators become branch instructions.
//!
//! Needs: registers.  Guarantees: at most one branch a block, last, with `target` set; a block falls through only to
//! the next; some block ends the program even when no path leads there, because the fetcher runs ahead.
//! Facts: hardware/compiler-backend.md 8.4, hardware/valhall-isa.md 12.1, hardware/compiler-correctness.md 5.5.

use super::mir::{Block, BlockId, Function, Instr, Modifier, Op, Operand, Source, Terminator};
use smallvec::smallvec;

/// Adds the branches.
pub(crate) fn lower_branches(function: &mut Function) {
    add_jump_blocks(function);
    if !matches!(
        function.blocks.last(),
        Some(Block {
            terminator: Terminator::End,
            ..
        })
    ) {
        function.blocks.push(Block::new(Terminator::End));
    }
    for index in 0..function.blocks.len() {
        let next = BlockId(index as u32 + 1);
        let block = &mut function.blocks[index];
        let branch = match block.terminator {
            Terminator::Jump(to) if to == next => None,
            Terminator::Jump(to) => Some(always(to)),
            Terminator::Branch {
                condition,
                taken,
                otherwise,
            } if otherwise == next => Some(when(condition, taken)),
            Terminator::Branch {
                condition,
                otherwise,
                ..
            } => Some(when(condition, otherwise).with(Modifier::Eq)),
            Terminator::End => None,
        };
        let location = block.end;
        let branch = branch.map(|branch| Instr { location, ..branch });
        block.instrs.extend(branch);
    }
}

/// To `target` when `condition` is not zero; with `eq`, when it is zero.
fn when(condition: Source, target: BlockId) -> Instr {
    Instr {
        sources: smallvec![condition],
        target: Some(target),
        ..Instr::new(Op::Branchz)
    }
}

fn always(target: BlockId) -> Instr {
    when(Source::plain(Operand::Table(0)), target).with(Modifier::Eq)
}

/// Gives a branch that has neither successor next to it a block to fall into.
fn add_jump_blocks(function: &mut Function) {
    let mut new_id = Vec::with_capacity(function.blocks.len());
    let mut next = 0;
    let far: Vec<bool> = function
        .block_ids()
        .map(|id| {
            let follows = BlockId(id.0 + 1);
            matches!(function.block(id).terminator,
                Terminator::Branch { taken, otherwise, .. } if taken != follows && otherwise != follows)
        })
        .collect();
    for far in &far {
        new_id.push(BlockId(next));
        next += 1 + u32::from(*far);
    }
    for (mut block, far) in std::mem::take(&mut function.blocks).into_iter().zip(far) {
        block.terminator.map_successors(|to| new_id[to.index()]);
        let jump = BlockId(function.blocks.len() as u32 + 1);
        let mut extra = None;
        if far && let Terminator::Branch { otherwise, .. } = &mut block.terminator {
            let jump = Terminator::Jump(std::mem::replace(otherwise, jump));
            extra = Some(Block {
                end: block.end,
                ..Block::new(jump)
            });
        }
        function.blocks.push(block);
        function.blocks.extend(extra);
    }
}
