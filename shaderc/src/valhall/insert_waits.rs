//! Waits: makes every instruction wait for the messages whose results or memory it needs.
//!
//! Needs: `assign_slots`; registers.  Guarantees: no value is read or overwritten before its message has arrived, and
//! memory accesses that may meet happen in program order. A wait acts after the instruction that carries it, so it is
//! put on the one before; at the start of a block that takes a NOP.  Facts: hardware/compiler-backend.md 8.2, 8.3, 8.6.

use super::mir::{BlockId, Flow, Function, Instr, Message, Op};
use super::scoreboard::Scoreboard;

/// Inserts all waits and removes fences, which are nothing but waits.
pub(crate) fn insert_waits(function: &mut Function) {
    for (index, entry) in entries(function).into_iter().enumerate() {
        let mut scoreboard = entry;
        let mut out: Vec<Instr> = Vec::new();
        for mut instr in std::mem::take(&mut function.blocks[index].instrs) {
            let needed = scoreboard.needed(&instr);
            if needed != 0 {
                wait_before(&mut out, needed, &instr);
            }
            step(&mut scoreboard, &instr);
            match instr.op.message() {
                Message::Fence => continue,
                Message::Barrier => instr.flow = Flow::Wait(Flow::GENERAL | Flow::BARRIER),
                _ => {}
            }
            out.push(instr);
        }
        function.blocks[index].instrs = out;
    }
}

/// What an instruction does to the scoreboard, its own waits included.
fn step(scoreboard: &mut Scoreboard, instr: &Instr) {
    scoreboard.drain(Flow::Wait(scoreboard.needed(instr)));
    scoreboard.issue(instr);
}

/// Puts a wait on the last instruction, or on a new NOP where it has another flow.
fn wait_before(out: &mut Vec<Instr>, needed: u8, reason: &Instr) {
    match out.last_mut().map(|last| &mut last.flow) {
        Some(flow @ Flow::None) => *flow = Flow::Wait(needed),
        Some(Flow::Wait(mask)) => *mask |= needed,
        _ => out.push(Instr {
            flow: Flow::Wait(needed),
            location: reason.location,
            ..Instr::new(Op::Nop)
        }),
    }
}

/// What is under way at the start of each block.
fn entries(function: &Function) -> Vec<Scoreboard> {
    let mut entries = vec![Scoreboard::default(); function.blocks.len()];
    let mut work: Vec<BlockId> = function.block_ids().collect();
    work.reverse();
    while let Some(id) = work.pop() {
        let mut scoreboard = entries[id.index()].clone();
        function
            .block(id)
            .instrs
            .iter()
            .for_each(|instr| step(&mut scoreboard, instr));
        for to in function.block(id).terminator.successors() {
            let mut joined = entries[to.index()].clone();
            joined.join(&scoreboard);
            if joined != entries[to.index()] {
                entries[to.index()] = joined;
                work.push(to);
            }
        }
    }
    entries
}
