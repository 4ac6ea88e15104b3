//! Group isolation: every run of words that an instruction reads gets fresh words, copied right before it.
//!
//! Needs: `lower_phis`.  Guarantees: a value is in at most one group that is read, at one place of it, so that groups
//! never contradict each other; `allocate` removes the copies that turn out to be unnecessary, which is most of them.
//! Facts: hardware/compiler-backend.md 5.4.

use super::mir::{Function, Instr, Operand, Word};

/// Isolates the groups of every instruction.
pub(crate) fn isolate_groups(function: &mut Function) {
    for index in 0..function.blocks.len() {
        let instrs = std::mem::take(&mut function.blocks[index].instrs);
        let mut out = Vec::with_capacity(instrs.len());
        for mut instr in instrs {
            let mut copies = Vec::new();
            let mut isolate = |word: Word| {
                let fresh = Word::Value(function.new_value());
                copies.push(Instr::copy(fresh, word, instr.location));
                fresh
            };
            for source in &mut instr.sources {
                if let Operand::Pair(low, high) = source.operand {
                    source.operand = Operand::Pair(isolate(low), isolate(high));
                }
            }
            if instr.staging.len() > 1 {
                instr
                    .staging
                    .iter_mut()
                    .for_each(|word| *word = isolate(*word));
            }
            out.append(&mut copies);
            out.push(instr);
        }
        function.blocks[index].instrs = out;
    }
}
