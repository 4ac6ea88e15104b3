//! Value sharing: an instruction that repeats one of its block gives the earlier result.
//!
//! Needs: SSA, legal instructions.  The IR has shared what it can see; what repeats here are moves of constants, and what
//! selection made of addresses, halves and lanes. Only within a block: a constant is cheaper to make again than to keep.

use rustc_hash::FxHashMap as HashMap;

use super::mir::{Class, Effect, Function, Instr, Location, Value, Word, Words};
use crate::machine::{Instruction, Reads, Terminator};

/// Shares repeated results. True if there were any.
pub(super) fn share_values(function: &mut Function) -> bool {
    let mut replaced: HashMap<Value, Word> = HashMap::default();
    let classes = &function.values;
    for block in &mut function.blocks {
        let mut known: HashMap<String, Words> = HashMap::default();
        block.instrs.retain_mut(|instr| {
            instr.map_reads(|word| substitute(&replaced, word));
            let predicate = instr
                .written_values()
                .any(|value| classes[value.index()] == Class::Predicate);
            if instr.op.effect() != Effect::Pure || predicate || instr.as_copy().is_some() {
                return true;
            }
            let key = key(instr);
            match known.get(&key) {
                Some(earlier) => {
                    let pairs = instr.written_values().zip(earlier.iter().copied());
                    replaced.extend(pairs);
                    false
                }
                None => {
                    known.insert(key, instr.dests.clone());
                    true
                }
            }
        });
    }
    for block in &mut function.blocks {
        for instr in &mut block.instrs {
            instr.map_reads(|word| substitute(&replaced, word));
        }
        for (_, operand) in block.phis.iter_mut().flat_map(|phi| &mut phi.sources) {
            operand.map_words(|word| substitute(&replaced, word));
        }
        if let Terminator::Branch { condition, .. } = &mut block.terminator {
            condition.map_words(|word| substitute(&replaced, word));
        }
    }
    !replaced.is_empty()
}

/// What tells two pure instructions apart: their text without what they write, and without where they come from. The text
/// says everything that an instruction has.
fn key(instr: &Instr) -> String {
    let bare = Instr {
        dests: Words::new(),
        location: Location::default(),
        ..instr.clone()
    };
    let width = if instr.half { "half" } else { "full" };
    format!("{width} {bare}")
}

fn substitute(replaced: &HashMap<Value, Word>, word: Word) -> Word {
    match word.value().and_then(|value| replaced.get(&value)) {
        Some(earlier) => *earlier,
        None => word,
    }
}
