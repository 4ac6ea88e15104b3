//! Verifier: what every pass up to allocation may rely on.
//!
//! Checks that block references exist, that phi edges are the predecessors, that every value has one definition, and
//! that it dominates each use. After `lower_phis` (`Form::Variables`) a value may be written several times; then it
//! must have been written on every path to each use.
//!
//! What an instruction of a machine may read, and where, is for its back end to check.

use std::collections::BTreeSet;
use std::fmt;

use super::function::{BlockId, Function, Value, Word};
use super::interface::{Instruction, Machine, Reads};
use super::liveness::live_at_ends;
use crate::pass::IrUnit;

/// What a function may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Form {
    /// Phis, one definition a value.
    #[default]
    Ssa,
    /// No phis, several definitions a value.
    Variables,
    /// No values.
    Registers,
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Broken {
    /// A successor or phi edge names a block that is not there, or not a predecessor.
    Edge { block: BlockId, other: BlockId },
    /// Two definitions of one value.
    DefinedTwice { block: BlockId, value: Value },
    /// A use that some path reaches without a definition.
    Undefined {
        block: BlockId,
        value: Value,
        text: String,
    },
    /// A phi where there must be none.
    Phi { block: BlockId },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Edge { block, other } => write!(f, "{block}: no edge with {other}"),
            Broken::DefinedTwice { block, value } => {
                write!(f, "{block}: second definition of {value}")
            }
            Broken::Undefined { block, value, text } => {
                write!(f, "{block}: {value} is not defined on every path: {text}")
            }
            Broken::Phi { block } => write!(f, "{block}: phi after lower_phis"),
        }
    }
}

impl<M: Machine> IrUnit for Function<M> {
    fn broken(&self) -> Vec<String> {
        match self.form {
            // The checkers have seen to it.
            Form::Registers => Vec::new(),
            Form::Ssa | Form::Variables => {
                let broken = verify(self, self.form);
                broken.iter().map(ToString::to_string).collect()
            }
        }
    }
}

/// Every broken rule of `function`.
pub(crate) fn verify<M: Machine>(function: &Function<M>, form: Form) -> Vec<Broken> {
    let mut broken = check_edges(function, form);
    if !broken.is_empty() {
        return broken;
    }
    if form == Form::Ssa {
        check_definitions(function, &mut broken);
    }
    check_uses(function, &mut broken);
    broken
}

fn check_edges<M: Machine>(function: &Function<M>, form: Form) -> Vec<Broken> {
    let mut broken = Vec::new();
    let count = function.blocks.len();
    for id in function.block_ids() {
        for other in function
            .block(id)
            .terminator
            .successors()
            .filter(|other| other.index() >= count)
        {
            broken.push(Broken::Edge { block: id, other });
        }
    }
    if !broken.is_empty() {
        return broken;
    }
    let predecessors = function.predecessors();
    for id in function.block_ids() {
        for phi in &function.block(id).phis {
            if form == Form::Variables {
                broken.push(Broken::Phi { block: id });
            }
            let edges: Vec<BlockId> = phi.sources.iter().map(|&(from, _)| from).collect();
            let expected = predecessors.of(id.index());
            let strange = edges.iter().find(|from| !expected.contains(from));
            let missing = expected.iter().find(|from| !edges.contains(from));
            if let Some(&other) = strange.or(missing) {
                broken.push(Broken::Edge { block: id, other });
            }
        }
    }
    broken
}

fn check_definitions<M: Machine>(function: &Function<M>, broken: &mut Vec<Broken>) {
    let mut defined = vec![false; function.values.len()];
    let mut define = |block: BlockId, value: Value| {
        if std::mem::replace(&mut defined[value.index()], true) {
            broken.push(Broken::DefinedTwice { block, value });
        }
    };
    function
        .preloaded_values()
        .for_each(|value| define(BlockId(0), value));
    for id in function.block_ids() {
        let block = function.block(id);
        block.phis.iter().for_each(|phi| define(id, phi.dest));
        block
            .instrs
            .iter()
            .flat_map(|instr| instr.written_values())
            .for_each(|value| define(id, value));
    }
}

/// No value may be read where some path has not written it: then it lives at the start of the program. Only of such values
/// is it asked where that is.
fn check_uses<M: Machine>(function: &Function<M>, broken: &mut Vec<Broken>) {
    let suspects = live_at_start(function);
    if suspects.is_empty() {
        return;
    }
    let number = |value: Value| suspects.binary_search(&value).ok();
    // Forward: which of them are written on every path to the end of each block.
    let predecessors = function.predecessors();
    let mut at_end: Vec<Option<Vec<bool>>> = vec![None; function.blocks.len()];
    let entry_of = |id: BlockId, at_end: &[Option<Vec<bool>>]| -> Vec<bool> {
        let mut defined = vec![id.index() != 0; suspects.len()];
        for from in predecessors.of(id.index()) {
            if let Some(other) = &at_end[from.index()] {
                let both = defined.iter_mut().zip(other);
                both.for_each(|(mine, theirs)| *mine &= theirs);
            }
        }
        defined
    };
    let define = |defined: &mut [bool], value: Value| {
        if let Some(number) = number(value) {
            defined[number] = true;
        }
    };
    let mut changed = true;
    while changed {
        changed = false;
        for id in function.block_ids() {
            let mut defined = entry_of(id, &at_end);
            let block = function.block(id);
            let phis = block.phis.iter().map(|phi| phi.dest);
            let written = block.instrs.iter().flat_map(|instr| instr.written_values());
            phis.chain(written)
                .for_each(|value| define(&mut defined, value));
            if at_end[id.index()].as_ref() != Some(&defined) {
                at_end[id.index()] = Some(defined);
                changed = true;
            }
        }
    }
    let mut undefined =
        |block: BlockId, value: Value, defined: Option<&[bool]>, text: &dyn Fn() -> String| {
            let known =
                number(value).is_none_or(|number| defined.is_some_and(|known| known[number]));
            if !known {
                let text = text();
                broken.push(Broken::Undefined { block, value, text });
            }
        };
    for id in function.block_ids() {
        let mut defined = entry_of(id, &at_end);
        let block = function.block(id);
        for phi in &block.phis {
            for (from, operand) in &phi.sources {
                let known = at_end[from.index()].as_deref();
                for value in operand.words().filter_map(Word::value) {
                    undefined(id, value, known, &|| format!("{} = phi {from}", phi.dest));
                }
            }
            define(&mut defined, phi.dest);
        }
        for instr in &block.instrs {
            for value in instr.read_values() {
                undefined(id, value, Some(&defined), &|| instr.to_string());
            }
            instr
                .written_values()
                .for_each(|value| define(&mut defined, value));
        }
        if let Some(value) = block.terminator.read().and_then(Word::value) {
            undefined(id, value, Some(&defined), &|| block.terminator.to_string());
        }
    }
}

/// The values that some path reads and has not written before, but those that are preloaded; in order.
fn live_at_start<M: Machine>(function: &Function<M>) -> Vec<Value> {
    let Some(block) = function.blocks.first() else {
        return Vec::new();
    };
    let mut live: BTreeSet<Value> = live_at_ends(function).of(0).iter().copied().collect();
    live.extend(block.terminator.read().and_then(Word::value));
    for instr in block.instrs.iter().rev() {
        instr.written_values().for_each(|value| {
            live.remove(&value);
        });
        live.extend(instr.read_values());
    }
    for phi in &block.phis {
        live.remove(&phi.dest);
    }
    for value in function.preloaded_values() {
        live.remove(&value);
    }
    live.into_iter().collect()
}
