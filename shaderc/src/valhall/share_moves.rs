//! Value sharing: an instruction that repeats one of its block gives the earlier result.
//!
//! Needs: SSA, legal instructions.  The IR has shared what it can see; what repeats here are moves of constants and
//! uniforms that legalisation made. Only within a block: a constant is cheaper to make again than to keep.
//! Facts: hardware/compiler-backend.md 3 (14).

use rustc_hash::FxHashMap as HashMap;

use super::mir::{
    Function, Instruction as _, Message, Modifiers, Op, Sources, Terminator, Value, Word, Words,
};

/// What tells two pure instructions apart.
type Key = (Op, Modifiers, Sources, Option<i64>);

/// Shares repeated results.
pub(crate) fn share_moves(function: &mut Function) {
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    for block in &mut function.blocks {
        let mut known: HashMap<Key, Words> = HashMap::default();
        block.instrs.retain_mut(|instr| {
            instr.map_reads(|word| substitute(&replaced, word));
            let pure = matches!(instr.op.message(), Message::No | Message::Address)
                && !instr.op.has_effect()
                && !instr.op.is_cross_lane()
                && instr.as_copy().is_none();
            if !pure {
                return true;
            }
            let key = (
                instr.op,
                instr.modifiers.clone(),
                instr.sources.clone(),
                instr.immediate,
            );
            match known.get(&key) {
                Some(earlier) => {
                    let pairs = instr
                        .written_values()
                        .zip(earlier.iter().filter_map(|word| word.value()));
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
        block
            .instrs
            .iter_mut()
            .for_each(|instr| instr.map_reads(|word| substitute(&replaced, word)));
        for (_, operand) in block.phis.iter_mut().flat_map(|phi| &mut phi.sources) {
            if let super::mir::Operand::Word(word) = operand {
                *word = substitute(&replaced, *word);
            }
        }
        if let Terminator::Branch { condition, .. } = &mut block.terminator
            && let super::mir::Operand::Word(word) = &mut condition.operand
        {
            *word = substitute(&replaced, *word);
        }
    }
}

fn substitute(replaced: &HashMap<Value, Value>, word: Word) -> Word {
    word.value()
        .and_then(|value| replaced.get(&value))
        .map_or(word, |&value| Word::Value(value))
}
