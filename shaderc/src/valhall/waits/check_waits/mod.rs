//! Checker: proves that the finished program waits for every message and flows as it must.
//!
//! Walks all paths with the flow that the instructions carry, and follows what is in flight by a model of its own, from the
//! facts alone (`in_flight`). It knows nothing of where `insert_waits` and `insert_flow` thought that something was needed;
//! a test of the sources holds that it names neither. Fences are no instructions and are gone from the finished program:
//! what they ask for is taken from the program before ([`Fences`]).
//! Facts: hardware/compiler-backend.md 8.1 to 8.4.

mod in_flight;
#[cfg(test)]
mod tests_removed_waits;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use self::in_flight::InFlight;
use crate::valhall::mir::{
    BlockId, Flow, Function, Instr, Message, Modifier, Op, Operand, Source, Space, Terminator,
};

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
    /// Accesses that a fence stands behind may not have happened when the next message is sent.
    NoFence { block: BlockId, slots: u8 },
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
            Unsafe::NoFence { block, slots } => {
                write!(f, "{block}: a fence does not wait for slots {slots:#x}")
            }
            Unsafe::Message { block, text } => {
                write!(f, "{block}: `{text}` has no slot or no wait of its own")
            }
            Unsafe::Flow { block, text } => write!(f, "{block}: `{text}` has the wrong flow"),
            Unsafe::Branch { block, text } => write!(f, "{block}: `{text}` branches wrongly"),
        }
    }
}

/// The fences of a program, from before they became waits.
#[derive(Clone, Default, Debug)]
pub(crate) struct Fences {
    /// By block, and number of messages before it in the block: what it is about.
    spaces: BTreeMap<(BlockId, usize), Vec<Option<Space>>>,
}

impl Fences {
    pub(crate) fn of(function: &Function) -> Fences {
        let mut fences = Fences::default();
        for id in function.block_ids() {
            let mut sent = 0;
            for instr in &function.block(id).instrs {
                match instr.op.message() {
                    Message::No => {}
                    Message::Fence => fences
                        .spaces
                        .entry((id, sent))
                        .or_default()
                        .push(instr.space),
                    _ => sent += 1,
                }
            }
        }
        fences
    }

    /// Checks those that stand behind so many messages of a block.
    fn check(&self, block: BlockId, sent: usize, in_flight: &InFlight) -> Result<(), Unsafe> {
        let spaces = self.spaces.get(&(block, sent)).into_iter().flatten();
        match spaces.fold(0, |slots, space| slots | in_flight.fenced(*space)) {
            0 => Ok(()),
            slots => Err(Unsafe::NoFence { block, slots }),
        }
    }
}

/// Checks a program whose waits and flow are final.
pub(crate) fn check_waits(function: &Function, fences: &Fences) -> Result<(), Unsafe> {
    let mut entered = vec![0usize; function.blocks.len()];
    for id in function.block_ids() {
        for to in function.block(id).terminator.successors() {
            entered[to.index()] += 1;
        }
    }
    for id in function.block_ids() {
        check_end(function, &entered, id)?;
    }
    let mut entries: Vec<Option<InFlight>> = vec![None; function.blocks.len()];
    let starts = function.block_ids().filter(|id| entered[id.index()] == 0);
    // A loop may be the first block.
    let mut work: BTreeSet<BlockId> = starts.chain(function.block_ids().take(1)).collect();
    for id in &work {
        entries[id.index()] = Some(InFlight::at_start(function.extra.stage));
    }
    while let Some(id) = work.pop_first() {
        let mut in_flight = entries[id.index()].clone().unwrap_or_default();
        let mut sent = 0;
        for instr in &function.block(id).instrs {
            if instr.op.message() != Message::No {
                fences.check(id, sent, &in_flight)?;
                sent += 1;
            }
            check_instr(id, instr, &in_flight)?;
            in_flight.send(instr);
            in_flight.drain(instr.flow.drained());
        }
        fences.check(id, sent, &in_flight)?;
        let parts = flow_at_end(function, &entered, id) == Some(Flow::Reconverge);
        if parts && in_flight.varyings() != 0 {
            let last = function.block(id).instrs.last();
            return Err(Unsafe::NoWait {
                block: id,
                text: last.map_or("(empty)".to_owned(), Instr::to_string),
                slots: in_flight.varyings(),
            });
        }
        for to in function.block(id).terminator.successors() {
            let news = match &mut entries[to.index()] {
                Some(known) => known.join(&in_flight),
                none => {
                    *none = Some(in_flight.clone());
                    true
                }
            };
            if news {
                work.insert(to);
            }
        }
    }
    Ok(())
}

fn check_instr(block: BlockId, instr: &Instr, in_flight: &InFlight) -> Result<(), Unsafe> {
    let slots = in_flight.needed(instr);
    if slots != 0 {
        return Err(Unsafe::NoWait {
            block,
            text: instr.to_string(),
            slots,
        });
    }
    let general = |slot: u8| Flow::GENERAL >> slot & 1 != 0;
    let good = match instr.op.message() {
        Message::No => true,
        Message::Fence => false,
        Message::Test => instr.slot == Some(0),
        Message::Barrier => instr.slot == Some(7) && instr.flow.drained() & Flow::BARRIER != 0,
        Message::Address | Message::Load | Message::Store | Message::Atomic | Message::Pixel => {
            instr.slot.is_some_and(general)
        }
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

/// The flow that the end of a block must have, if any: `end` where nothing follows, `reconverge` where the lanes that run may
/// change.
fn flow_at_end(function: &Function, entered: &[usize], id: BlockId) -> Option<Flow> {
    let successors: Vec<BlockId> = function.block(id).terminator.successors().collect();
    match successors.as_slice() {
        [] => Some(Flow::End),
        [only] => (entered[only.index()] > 1).then_some(Flow::Reconverge),
        _ => Some(Flow::Reconverge),
    }
}

fn check_end(function: &Function, entered: &[usize], id: BlockId) -> Result<(), Unsafe> {
    let instrs = &function.block(id).instrs;
    let last = instrs.last();
    let text = last.map_or("(empty)".to_owned(), Instr::to_string);
    let expected = flow_at_end(function, entered, id);
    if expected.is_some() && last.map(|last| last.flow) != expected {
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
    if expected == Some(Flow::End) {
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
    use crate::valhall::lower_branches::lower_branches;
    use crate::valhall::waits::insert_flow::insert_flow;

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
            let fences = Fences::default();
            assert_eq!(check_waits(&function, &fences), Ok(()), "{function}");
        }
    }
}
