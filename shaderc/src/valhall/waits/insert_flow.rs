//! Flow: where threads end and where lanes may come together again.
//!
//! Needs: `insert_waits`.  Guarantees: `end` after the last instruction of every block without successors;
//! `reconverge` after the last of every block after which the set of running lanes may change. One instruction has
//! one flow, so a NOP carries the second.  Facts: hardware/compiler-backend.md 8.4, hardware/valhall-isa.md 12.3.

use crate::lists::Lists;
use crate::valhall::mir::{BlockId, Flow, Function, Instr, Op};

/// The flow that the end of a block needs.
pub(crate) fn flow_at_end(function: &Function, predecessors: &Lists<BlockId>, id: BlockId) -> Flow {
    let mut successors = function.block(id).terminator.successors();
    match (successors.next(), successors.next()) {
        (None, _) => Flow::End,
        (Some(only), None) if predecessors.of(only.index()).len() < 2 => Flow::None,
        _ => Flow::Reconverge,
    }
}

/// Puts `end` and `reconverge` in place.
pub(crate) fn insert_flow(function: &mut Function) {
    let predecessors = function.predecessors();
    for id in function.block_ids() {
        let flow = flow_at_end(function, &predecessors, id);
        if flow == Flow::None {
            continue;
        }
        let block = &mut function.blocks[id.index()];
        let (instrs, end) = (&mut block.instrs, block.end);
        match instrs.last_mut() {
            Some(last) if last.flow == Flow::None => last.flow = flow,
            last => {
                let location = last.map_or(end, |last| last.location);
                instrs.push(Instr {
                    flow,
                    location,
                    ..Instr::new(Op::Nop)
                });
            }
        }
    }
}
