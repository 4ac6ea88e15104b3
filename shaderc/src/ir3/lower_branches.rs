//! Branch lowering: terminators become instructions.
//!
//! Needs: registers; `end_once`, which comes before jumps are threaded, since it makes some.  Guarantees: a block ends in
//! at most one `br` and one `jump`, with `target` set, and falls through only to the next; the last block is the only one
//! that ends the program, and all lanes come there.
//! Facts: hardware/ir3-isa.md 7.

use super::mir::{Asked, Block, BlockId, Function, Instr, Op, Source, Terminator, Word};
use smallvec::smallvec;

/// Adds the branches.
pub(super) fn lower_branches(function: &mut Function) {
    // What never ends has lost its end when jumps were threaded.
    end_once(function);
    for index in 0..function.blocks.len() {
        let next = BlockId(index as u32 + 1);
        let block = &mut function.blocks[index];
        let before = block.instrs.len();
        match block.terminator {
            Terminator::Jump(to) => block.instrs.extend(jump(to, next)),
            Terminator::Branch {
                condition: Asked::Each { predicate, not },
                taken,
                otherwise,
            } if taken == next => {
                let opposite = Asked::Each {
                    predicate,
                    not: !not,
                };
                block.instrs.push(branch(opposite, otherwise));
            }
            Terminator::Branch {
                condition,
                taken,
                otherwise,
            } => {
                block.instrs.push(branch(condition, taken));
                block.instrs.extend(jump(otherwise, next));
            }
            Terminator::End => block.instrs.push(Instr::new(Op::End)),
        }
        let location = block.end;
        let added = block.instrs.iter_mut().skip(before);
        added.for_each(|instr| instr.location = location);
    }
}

/// Makes the last block the only end. True if it wasn't.
pub(super) fn end_once(function: &mut Function) -> bool {
    let last = BlockId(function.blocks.len().saturating_sub(1) as u32);
    let early = function
        .block_ids()
        .any(|id| id != last && matches!(function.block(id).terminator, Terminator::End));
    let ends = function
        .blocks
        .last()
        .is_some_and(|block| matches!(block.terminator, Terminator::End));
    if !early && ends {
        return false;
    }
    let end = BlockId(function.blocks.len() as u32);
    for block in &mut function.blocks {
        if matches!(block.terminator, Terminator::End) {
            block.terminator = Terminator::Jump(end);
        }
    }
    function.blocks.push(Block::new(Terminator::End));
    true
}

fn branch(condition: Asked, target: BlockId) -> Instr {
    let asking = |op: Op, predicate: Word, not: bool| Instr {
        sources: smallvec![Source::word(predicate)],
        not,
        ..Instr::new(op)
    };
    let instr = match condition {
        Asked::Each { predicate, not } => asking(Op::Branch, predicate, not),
        Asked::All { predicate, not } => asking(Op::BranchAll, predicate, not),
        Asked::Others => Instr::new(Op::BranchOthers),
    };
    Instr {
        target: Some(target),
        ..instr
    }
}

/// A jump, where it doesn't lead to what follows.
fn jump(to: BlockId, next: BlockId) -> Option<Instr> {
    (to != next).then(|| Instr {
        target: Some(to),
        ..Instr::new(Op::Jump)
    })
}
