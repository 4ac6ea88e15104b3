//! Loop-invariant motion: what gives the same in every round of a loop is computed before it.
//!
//! Needs: SSA; blocks in program order, so that a back edge leads up.  Guarantees: only instructions that touch no memory
//! move, from blocks that every round goes through, to a block before the loop that leads nowhere else.
//! It makes words live longer: `pipeline` compares what comes of it with what comes without.
//! Facts: hardware/compiler-optimization.md 2 (15).

use super::mir::{BlockId, Function, Instr, Message, Op, Value};

/// Most instructions that come to one block: there are no registers for the results of more.
const MOST: usize = 64;

/// Moves what can be moved. True when anything did.
pub(crate) fn hoist_invariants(function: &mut Function) -> bool {
    let mut home: Vec<Option<BlockId>> = vec![None; function.values as usize];
    for id in function.block_ids() {
        let block = function.block(id);
        let phis = block.phis.iter().map(|phi| phi.dest);
        let values = phis.chain(block.instrs.iter().flat_map(Instr::written_values));
        values.for_each(|value| home[value.index()] = Some(id));
    }
    // By block: how many instructions have come to it.
    let mut moved = vec![0; function.blocks.len()];
    let predecessors = function.predecessors();
    let dominators = dominators(&predecessors);
    let mut changed = false;
    // Inner loops come later: what leaves one may go on and leave the one around it.
    for header in function
        .block_ids()
        .collect::<Vec<BlockId>>()
        .into_iter()
        .rev()
    {
        let (latches, outside): (Vec<BlockId>, Vec<BlockId>) = predecessors[header.index()]
            .iter()
            .partition(|from| **from >= header);
        let (Some(&last), &[before]) = (latches.iter().max(), outside.as_slice()) else {
            continue;
        };
        if function.block(before).terminator.successors().count() != 1 {
            continue;
        }
        // The blocks that dominate every latch, from the header down.
        let mut path = vec![];
        let mut at = latches
            .iter()
            .copied()
            .reduce(|a, b| common(&dominators, a, b));
        while let Some(block) = at.filter(|block| *block >= header) {
            path.push(block);
            at = dominators[block.index()].filter(|up| *up != block);
        }
        for block in path.into_iter().rev() {
            let outside = |home: &[Option<BlockId>], value: Value| {
                home[value.index()].is_none_or(|home| home < header || home > last)
            };
            let instrs = std::mem::take(&mut function.blocks[block.index()].instrs);
            let mut kept = Vec::with_capacity(instrs.len());
            for instr in instrs {
                let room = moved[before.index()] < MOST;
                if room
                    && may_move(&instr)
                    && instr.read_values().all(|value| outside(&home, value))
                {
                    for value in instr.written_values() {
                        home[value.index()] = Some(before);
                    }
                    function.blocks[before.index()].instrs.push(instr);
                    moved[before.index()] += 1;
                    changed = true;
                } else {
                    kept.push(instr);
                }
            }
            function.blocks[block.index()].instrs = kept;
        }
    }
    changed
}

/// Whether it may run where it would not have run, and as often as it likes.
fn may_move(instr: &Instr) -> bool {
    instr.op.message() == Message::No
        && instr.op != Op::Branchz
        && instr.op != Op::Nop
        && !instr.op.is_cross_lane()
        && !instr.dests.is_empty()
}

/// The immediate dominator of each block; the entry is its own. Edges that lead up are those of loops, which change
/// nothing: so one walk down is enough.
fn dominators(predecessors: &[Vec<BlockId>]) -> Vec<Option<BlockId>> {
    let mut dominators: Vec<Option<BlockId>> = vec![None; predecessors.len()];
    for (index, from) in predecessors.iter().enumerate() {
        let own = BlockId(index as u32);
        if index == 0 {
            dominators[0] = Some(own);
            continue;
        }
        let before = from.iter().copied().filter(|from| *from < own);
        let reached = before.filter(|from| dominators[from.index()].is_some());
        dominators[index] = reached.reduce(|a, b| common(&dominators, a, b));
    }
    dominators
}

/// The nearest block that dominates both.
fn common(dominators: &[Option<BlockId>], mut a: BlockId, mut b: BlockId) -> BlockId {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        match dominators[later.index()] {
            Some(up) if up < *later => *later = up,
            _ => return BlockId(0),
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valhall::mir::{Form, verify};

    #[test]
    fn what_every_round_computes_anew_moves_out_of_all_loops() {
        let mut function = Function::parse(
            "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = phi b0 %0, b4 %6
              jump b2
            b2:
              %2 = phi b1 %1, b2 %3
              %4 = IADD.u32 %0, %0
              %5 = IADD.u32 %4, %1
              %3 = IADD.u32 %2, %5
              branch %3, b2, b3
            b3:
              branch %0, b4, b5
            b4:
              %6 = IADD.u32 %1, %0
              jump b1
            b5:
              end",
        )
        .expect("text is MIR");
        assert!(hoist_invariants(&mut function));
        assert_eq!(verify(&function, Form::Ssa), []);
        let text = function.to_string();
        assert!(
            text.contains("b0:\n  %4 = IADD.u32 %0, %0\n  jump b1"),
            "{text}"
        );
        assert!(text.contains("  %5 = IADD.u32 %4, %1\n  jump b2"), "{text}");
    }

    #[test]
    fn memory_and_what_not_every_round_does_stay() {
        let text = "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = LD_BUFFER.i32 %0, u0, space:buffer
              branch %1, b2, b3
            b2:
              %2 = IADD.u32 %0, %0
              STORE.i32 @%2, u0, imm:0, space:buffer
              jump b3
            b3:
              branch %0, b1, b4
            b4:
              end";
        let mut function = Function::parse(text).expect("text is MIR");
        assert!(!hoist_invariants(&mut function), "{function}");
    }
}
