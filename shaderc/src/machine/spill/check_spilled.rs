//! Checker: proves that a function that was spilled still does what it did.
//!
//! Every instruction, phi and branch must be there, in order, and read values by names that stand for what it read; what
//! is new may only write names that are new. Missing may be only what is made again wherever it is read, and phis that
//! predecessors write to memory. That registers and slots hold what names stand for is for `check_registers` to prove,
//! after allocation.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::allocate::spill::Spills;
use crate::machine::{Function, Instruction, Machine, Phi, Reads, Value, Word};

/// What is wrong, for people; none if nothing is. The edges of the original are split.
pub(crate) fn check_spilled<M: Machine>(
    original: &Function<M>,
    spilled: &Function<M>,
    spills: &Spills,
) -> Option<String> {
    let old = |value: Value| value.index() < original.values.len();
    if original.blocks.len() != spilled.blocks.len() {
        return Some("it has other blocks".to_owned());
    }
    let mut means: BTreeMap<Value, Value> = spills.stands_for.clone();
    for instr in spilled.blocks.iter().flat_map(|block| &block.instrs) {
        if let Some((Word::Value(to), Word::Value(from))) = instr.as_copy()
            && !old(to)
        {
            means.insert(to, means.get(&from).copied().unwrap_or(from));
        }
    }
    let meant = |value: Value| means.get(&value).copied().unwrap_or(value);
    // Names that something gives. Others were given up: what only phis read that nobody reads is nowhere.
    let mut given: BTreeSet<Value> = BTreeSet::new();
    for block in &spilled.blocks {
        given.extend(block.phis.iter().map(|phi| phi.dest));
        given.extend(block.instrs.iter().flat_map(|it| it.written_values()));
    }
    let back = |word| match word {
        Word::Value(value) => Word::Value(meant(value)),
        other => other,
    };
    for id in spilled.block_ids() {
        let (before, after) = (original.block(id), spilled.block(id));
        let mut end = after.terminator.clone();
        end.map_read(back);
        if end != before.terminator {
            return Some(format!("{id}: `{}` is another end", after.terminator));
        }
        let mut left = before.instrs.iter();
        for instr in &after.instrs {
            let mut writes = instr.written_values().peekable();
            let new = match writes.peek() {
                Some(_) => !writes.any(old),
                None => instr.note().is_some() || instr.spill_access().is_some(),
            };
            if new {
                continue;
            }
            let mut same = instr.clone();
            same.map_reads(back);
            let found = left
                .by_ref()
                .find(|next| **next == same || !next.may_be_remade());
            if found != Some(&same) {
                return Some(format!(
                    "{id}: `{instr}` is new, or something before it is gone"
                ));
            }
        }
        if let Some(gone) = left.find(|instr| !instr.may_be_remade()) {
            return Some(format!("{id}: `{gone}` is gone"));
        }
        for phi in &after.phis {
            if old(phi.dest) {
                let mut same = phi.clone();
                for (_, operand) in &mut same.sources {
                    operand.map_words(back);
                }
                if !before.phis.contains(&same) {
                    return Some(format!("{id}: {} is another phi", phi.dest));
                }
            } else {
                let reads = |(_, operand): &(_, M::Operand)| {
                    let mut values = operand.words().filter_map(Word::value);
                    values.all(|value| meant(value) == meant(phi.dest))
                };
                if !phi.sources.iter().all(reads) {
                    return Some(format!("{id}: {} joins names of several values", phi.dest));
                }
            }
        }
        let written = |phi: &Phi<M>| {
            phi.sources.iter().all(|(from, operand)| {
                let own = operand.words().find_map(Word::value) == Some(phi.dest);
                let notes = spilled
                    .block(*from)
                    .instrs
                    .iter()
                    .filter_map(|instr| instr.note());
                let mut targets = notes.filter_map(|note| spills.renames.get(note));
                own || targets.any(|&(to, ..)| to == phi.dest)
            })
        };
        let used = |phi: &Phi<M>| {
            let mut notes = spills.renames.iter();
            notes.any(|&(to, ..)| to == phi.dest)
                || (spills.stands_for.iter())
                    .any(|(name, &value)| value == phi.dest && given.contains(name))
        };
        let kept = |phi: &Phi<M>| after.phis.iter().any(|other| other.dest == phi.dest);
        let mut missing = before.phis.iter().filter(|phi| !kept(phi));
        if let Some(phi) = missing.find(|phi| used(phi) && !written(phi)) {
            return Some(format!(
                "{id}: {} has neither register nor memory",
                phi.dest
            ));
        }
    }
    None
}
