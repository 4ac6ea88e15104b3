//! Group isolation: every run of words that an instruction reads gets fresh words, copied right before it. So does a word
//! that is tied to one that the instruction writes.
//!
//! Needs: `lower_phis`.  Guarantees: a value is in at most one group that is read, at one place of it, so that groups
//! never contradict each other; `allocate` removes the copies that turn out to be unnecessary, which is most of them.
//! Facts: hardware/compiler-backend.md 5.4.

use super::function::{Function, Word};
use super::interface::{Instruction, Machine};

/// Isolates the groups of every instruction.
pub(crate) fn isolate_groups<M: Machine>(function: &mut Function<M>) {
    for index in 0..function.blocks.len() {
        let instrs = std::mem::take(&mut function.blocks[index].instrs);
        let mut out = Vec::with_capacity(instrs.len());
        for mut instr in instrs {
            let location = instr.location();
            instr.map_bound_reads(|word| {
                let class = function.class_of(word);
                let fresh = Word::Value(function.new_value_of(class));
                out.push(M::copy(fresh, word, class, location));
                fresh
            });
            out.push(instr);
        }
        function.blocks[index].instrs = out;
    }
}

/// Gives every run of words that an instruction writes fresh words, copied right after it: so that the words need not stay
/// side by side as long as they live.
pub(crate) fn isolate_written_groups<M: Machine>(function: &mut Function<M>) {
    for index in 0..function.blocks.len() {
        let instrs = std::mem::take(&mut function.blocks[index].instrs);
        let mut out = Vec::with_capacity(instrs.len());
        for mut instr in instrs {
            let location = instr.location();
            let mut copies = Vec::new();
            if instr.writes().count() > 1 {
                instr.map_writes(|word| {
                    let class = function.class_of(word);
                    let fresh = Word::Value(function.new_value_of(class));
                    copies.push(M::copy(word, fresh, class, location));
                    fresh
                });
            }
            out.push(instr);
            out.append(&mut copies);
        }
        function.blocks[index].instrs = out;
    }
}
