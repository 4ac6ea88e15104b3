//! Local value numbering: an instruction that repeats one of its block gives the earlier result.
//!
//! Needs: SSA, legal instructions.  The IR has shared what it can see; what repeats here are moves of constants and
//! uniforms that legalisation made, and parts of addresses that selection made. Only within a block: a constant is cheaper
//! to make again than to keep. What can't be kept in memory is made again, too.
//! Facts: hardware/compiler-backend.md 3 (14).

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use super::function::{Function, Value, Word};
use super::interface::{Class, Instruction, Machine, Reads};

/// Shares repeated results. True if there were any.
pub(crate) fn share_moves<M: Machine>(function: &mut Function<M>) -> bool {
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    let classes = &function.values;
    for block in &mut function.blocks {
        let mut known: HashMap<_, Vec<Value>> = HashMap::default();
        block.instrs.retain_mut(|instr| {
            instr.map_reads(|word| substitute(&replaced, word));
            let mut written = instr.written_values();
            if instr.as_copy().is_some() || written.any(|value| !classes[value.index()].may_spill())
            {
                return true;
            }
            // The same in registers of another kind is something else.
            let kinds = instr.written_values().map(|value| classes[value.index()]);
            let kinds: SmallVec<[M::Class; 2]> = kinds.collect();
            let Some(key) = instr.repeats().map(|key| (key, kinds)) else {
                return true;
            };
            match known.get(&key) {
                Some(earlier) => {
                    let pairs = instr.written_values().zip(earlier.iter().copied());
                    replaced.extend(pairs);
                    false
                }
                None => {
                    known.insert(key, instr.written_values().collect());
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
            operand.map_words(|word| substitute(&replaced, word));
        }
        block
            .terminator
            .map_read(|word| substitute(&replaced, word));
    }
    !replaced.is_empty()
}

fn substitute<R>(replaced: &HashMap<Value, Value>, word: Word<R>) -> Word<R> {
    match word {
        Word::Value(value) => Word::Value(replaced.get(&value).copied().unwrap_or(value)),
        register @ Word::Register(_) => register,
    }
}
