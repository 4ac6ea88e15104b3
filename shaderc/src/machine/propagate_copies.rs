//! Copy propagation: readers of a copied word read the original.
//!
//! Needs: SSA.  Copies of preloaded words stay: they are what lets the allocator move such a word away.
//! Facts: hardware/compiler-backend.md 3 (5).

use super::function::{Function, Value, Word};
use super::interface::{Instruction, Machine, Reads, WordOf};

/// Propagates copies of words; `remove_dead` removes them.
pub(crate) fn propagate_copies<M: Machine>(function: &mut Function<M>) {
    let mut originals: Vec<Option<Value>> = vec![None; function.values.len()];
    for (to, from) in function
        .blocks
        .iter()
        .flat_map(|block| &block.instrs)
        .filter_map(Instruction::as_copy)
    {
        if let (Word::Value(to), Word::Value(from)) = (to, from)
            && !function.preloaded_values().any(|value| value == from)
        {
            originals[to.index()] = Some(from);
        }
    }
    let find = |word: WordOf<M>| {
        let mut word = word;
        while let Word::Value(value) = word
            && let Some(original) = originals[value.index()]
        {
            word = Word::Value(original);
        }
        word
    };
    for block in &mut function.blocks {
        for (_, operand) in block.phis.iter_mut().flat_map(|phi| &mut phi.sources) {
            operand.map_words(find);
        }
        block
            .instrs
            .iter_mut()
            .for_each(|instr| instr.map_reads(find));
        block.terminator.map_read(find);
    }
}
