//! Copy propagation: readers of a copied word read the original.
//!
//! Needs: SSA.  Copies of preloaded words stay: they are what lets the allocator move such a word away.
//! Facts: hardware/compiler-backend.md 3 (5).

use super::mir::{Function, Instr, Operand, Source, Terminator, Value, Word};

/// Propagates copies of words; `remove_dead` removes them.
pub(crate) fn propagate_copies(function: &mut Function) {
    let mut originals: Vec<Option<Value>> = vec![None; function.values as usize];
    for (to, from) in function
        .blocks
        .iter()
        .flat_map(|block| &block.instrs)
        .filter_map(Instr::as_copy)
    {
        let preloaded = function.preloads.iter().any(|preload| preload.dest == from);
        if let (Word::Value(to), Word::Value(from)) = (to, from)
            && !preloaded
        {
            originals[to.index()] = Some(from);
        }
    }
    let find = |word: Word| {
        let mut word = word;
        while let Word::Value(value) = word
            && let Some(original) = originals[value.index()]
        {
            word = Word::Value(original);
        }
        word
    };
    let find_operand = |operand: &mut Operand| {
        if let Operand::Word(word) = operand {
            *word = find(*word);
        }
    };
    for block in &mut function.blocks {
        block
            .phis
            .iter_mut()
            .flat_map(|phi| &mut phi.sources)
            .for_each(|(_, operand)| find_operand(operand));
        block
            .instrs
            .iter_mut()
            .for_each(|instr| instr.map_reads(find));
        if let Terminator::Branch {
            condition: Source { operand, .. },
            ..
        } = &mut block.terminator
        {
            find_operand(operand);
        }
    }
}
