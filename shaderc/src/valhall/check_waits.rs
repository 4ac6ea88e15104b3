//! Checker: proves that the finished program waits for every message and flows as it must.
//!
//! Walks all paths with the flow that the instructions carry, and asks the scoreboard about each instruction; knows
//! nothing of where `insert_waits` and `insert_flow` thought that something was needed.
//! Facts: hardware/compiler-backend.md 8.2 to 8.4.

use std::fmt;

use super::insert_flow::flow_at_end;
use super::mir::{
    BlockId, Flow, Function, Instr, Message, Modifier, Op, Operand, Source, Terminator,
};
use super::scoreboard::Scoreboard;
use crate::lists::Lists;

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unsafe {
    /// An instruction may run before these slots are drained.
    NoWait {
        block: BlockId,
        text: String,
        slots: u8,
    },
    /// A message without a slot, or a barrier that does not wait.
    Message { block: BlockId, text: String },
    /// A block's last instruction lacks `end` or `reconverge`, or another has `end`.
    Flow { block: BlockId, text: String },
    /// A branch that is not the last instruction, or none where one must be, or one to the wrong block.
    Branch { block: BlockId, text: String },
}

impl fmt::Display for Unsafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsafe::NoWait { block, text, slots } => {
                write!(f, "{block}: `{text}` does not wait for slots {slots:#x}")
            }
            Unsafe::Message { block, text } => {
                write!(f, "{block}: `{text}` has no slot or no wait of its own")
            }
            Unsafe::Flow { block, text } => write!(f, "{block}: `{text}` has the wrong flow"),
            Unsafe::Branch { block, text } => write!(f, "{block}: `{text}` branches wrongly"),
        }
    }
}

/// Checks a program whose waits and flow are final.
pub(crate) fn check_waits(function: &Function) -> Result<(), Unsafe> {
    let predecessors = function.predecessors();
    for id in function.block_ids() {
        check_end(function, &predecessors, id)?;
    }
    let mut entries: Vec<Option<Scoreboard>> = vec![None; function.blocks.len()];
    let mut work: Vec<BlockId> = function
        .block_ids()
        .filter(|id| predecessors.of(id.index()).is_empty())
        .collect();
    work.iter()
        .for_each(|id| entries[id.index()] = Some(Scoreboard::default()));
    while let Some(id) = work.pop() {
        let mut scoreboard = entries[id.index()].clone().unwrap_or_default();
        for instr in &function.block(id).instrs {
            check_instr(id, instr, &scoreboard)?;
            scoreboard.issue(instr);
            scoreboard.drain(instr.flow);
        }
        for to in function.block(id).terminator.successors() {
            let mut joined = entries[to.index()].clone().unwrap_or_default();
            joined.join(&scoreboard);
            if entries[to.index()].as_ref() != Some(&joined) {
                entries[to.index()] = Some(joined);
                work.push(to);
            }
        }
    }
    Ok(())
}

fn check_instr(block: BlockId, instr: &Instr, scoreboard: &Scoreboard) -> Result<(), Unsafe> {
    let slots = scoreboard.needed(instr);
    if slots != 0 {
        return Err(Unsafe::NoWait {
            block,
            text: instr.to_string(),
            slots,
        });
    }
    let good = match instr.op.message() {
        Message::No => true,
        Message::Fence => false,
        Message::Barrier => instr.slot == Some(7) && instr.flow.drained() & Flow::BARRIER != 0,
        Message::Address | Message::Load | Message::Store | Message::Atomic => instr.slot.is_some(),
    };
    if good {
        Ok(())
    } else {
        Err(Unsafe::Message {
            block,
            text: instr.to_string(),
        })
    }
}

fn check_end(
    function: &Function,
    predecessors: &Lists<BlockId>,
    id: BlockId,
) -> Result<(), Unsafe> {
    let instrs = &function.block(id).instrs;
    let last = instrs.last();
    let text = last.map_or("(empty)".to_owned(), Instr::to_string);
    let expected = flow_at_end(function, predecessors, id);
    if expected != Flow::None && last.map(|last| last.flow) != Some(expected) {
        return Err(Unsafe::Flow { block: id, text });
    }
    let ends_early = |instr: &&Instr| instr.flow == Flow::End;
    if let Some(early) = instrs.iter().rev().skip(1).find(ends_early) {
        return Err(Unsafe::Flow {
            block: id,
            text: early.to_string(),
        });
    }
    if let Some(early) = instrs
        .iter()
        .rev()
        .skip(1)
        .find(|instr| instr.op == Op::Branchz)
    {
        return Err(Unsafe::Branch {
            block: id,
            text: early.to_string(),
        });
    }
    let follows = BlockId(id.0 + 1);
    let target = last.and_then(|last| last.target);
    // What has two ways to go may read a uniform word or a constant: only a jump goes one way whatever it reads.
    let decides = matches!(function.block(id).terminator, Terminator::Branch { .. });
    let always = !decides && last.is_some_and(is_jump);
    let mut reached: Vec<BlockId> = target
        .into_iter()
        .chain((target.is_none() || !always).then_some(follows))
        .collect();
    if expected == Flow::End {
        reached.clear();
    }
    let mut successors: Vec<BlockId> = function.block(id).terminator.successors().collect();
    successors.sort();
    reached.sort();
    reached.dedup();
    if reached == successors {
        Ok(())
    } else {
        Err(Unsafe::Branch { block: id, text })
    }
}

/// Whether a branch is always taken: it asks whether zero is zero.
fn is_jump(instr: &Instr) -> bool {
    let zero = Source::plain(Operand::Table(0));
    instr.modifiers.as_slice() == [Modifier::Eq] && instr.sources.as_slice() == [zero]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valhall::insert_flow::insert_flow;
    use crate::valhall::lower_branches::lower_branches;

    #[test]
    fn a_branch_may_decide_by_a_uniform_word() {
        for condition in ["u0", "r0", "t0", "t1"] {
            let text = format!(
                "fau u0 = push 0
                b0:
                  branch {condition}, b2, b1
                b1:
                  jump b3
                b2:
                  r1 = MOV.i32 t0
                  jump b3
                b3:
                  end"
            );
            let mut function = Function::parse(&text).expect("text is MIR");
            lower_branches(&mut function);
            insert_flow(&mut function);
            assert_eq!(check_waits(&function), Ok(()), "{function}");
        }
    }
}
