//! Last-use marks: tells the hardware which registers are dead after an instruction.
//!
//! Needs: the final order and all waits.  Guarantees: a mark only where no path reads the register again before it is
//! written; never on a staging register, nor on one that a message under way may still be reading; on both halves of
//! a pair or on none. A register that is written in part is needed as one that is read is: the rest stays. A missing mark costs power, a wrong one the value.  Facts: hardware/compiler-backend.md 5.7.

use std::collections::BTreeSet;

use crate::valhall::mir::{BlockId, Function, Instr, Instruction as _, Op, Part, Word};
use crate::valhall::waits::scoreboard::{GENERAL_SLOTS, register_mask};

/// By slot: registers that messages may still be reading as staging.
type Reading = [u64; GENERAL_SLOTS];

/// Marks the last uses.
pub(crate) fn mark_last_use(function: &mut Function) {
    let live = live_at_ends(function);
    let reading = reading_at_starts(function);
    for id in function.block_ids() {
        let instrs = &mut function.blocks[id.index()].instrs;
        let mut blocked = Vec::with_capacity(instrs.len());
        let mut state = reading[id.index()];
        for instr in instrs.iter() {
            blocked.push(
                state
                    .iter()
                    .fold(register_mask(instr.staging.iter().copied()), |all, mask| {
                        all | mask
                    }),
            );
            step_reading(&mut state, instr);
        }
        let mut live = live[id.index()];
        for (instr, blocked) in instrs.iter_mut().zip(blocked).rev() {
            live &= !whole_writes(instr);
            for source in &mut instr.sources {
                let read = register_mask(source.operand.words());
                // A blend shader reads what BLEND does.
                source.last = read != 0 && read & (live | blocked) == 0 && instr.op != Op::Blend;
            }
            live |= needed(instr);
        }
    }
}

/// Registers of which an instruction needs what they hold: what it reads, and what it writes in part.
fn needed(instr: &Instr) -> u64 {
    register_mask(instr.reads()) | (register_mask(instr.writes()) & !whole_writes(instr))
}

/// Registers that an instruction writes as a whole.
fn whole_writes(instr: &Instr) -> u64 {
    let whole = |word: &Word| {
        word.register()
            .is_some_and(|register| register.part() == Part::WHOLE)
    };
    register_mask(instr.writes().filter(whole))
}

fn step_reading(state: &mut Reading, instr: &Instr) {
    if let Some(slot) = instr
        .slot
        .map(usize::from)
        .filter(|&slot| slot < GENERAL_SLOTS)
    {
        state[slot] |= register_mask(instr.staging.iter().copied());
    }
    let drained = instr.flow.drained();
    for (slot, mask) in state.iter_mut().enumerate() {
        if drained >> slot & 1 != 0 {
            *mask = 0;
        }
    }
}

fn reading_at_starts(function: &Function) -> Vec<Reading> {
    let mut starts = vec![Reading::default(); function.blocks.len()];
    let mut work: BTreeSet<BlockId> = function.block_ids().collect();
    while let Some(id) = work.pop_first() {
        let mut state = starts[id.index()];
        function
            .block(id)
            .instrs
            .iter()
            .for_each(|instr| step_reading(&mut state, instr));
        for to in function.block(id).terminator.successors() {
            let old = starts[to.index()];
            starts[to.index()]
                .iter_mut()
                .zip(state)
                .for_each(|(mine, theirs)| *mine |= theirs);
            if starts[to.index()] != old {
                work.insert(to);
            }
        }
    }
    starts
}

/// Registers that are read after each block before they are written.
fn live_at_ends(function: &Function) -> Vec<u64> {
    // What each block reads before it writes it, and what it writes.
    let own: Vec<(u64, u64)> = function
        .blocks
        .iter()
        .map(|block| {
            let instrs = block.instrs.iter().rev();
            instrs.fold((0, 0), |(read, written), instr| {
                let writes = whole_writes(instr);
                (read & !writes | needed(instr), written | writes)
            })
        })
        .collect();
    let predecessors = function.predecessors();
    let mut live_out = vec![0u64; function.blocks.len()];
    let mut work: BTreeSet<BlockId> = function.block_ids().collect();
    while let Some(id) = work.pop_last() {
        let (read, written) = own[id.index()];
        let before = live_out[id.index()] & !written | read;
        for from in predecessors.of(id.index()) {
            let live = &mut live_out[from.index()];
            if *live | before != *live {
                *live |= before;
                work.insert(*from);
            }
        }
    }
    live_out
}
