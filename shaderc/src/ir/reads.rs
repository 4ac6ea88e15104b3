//! How often values are read: what a pass takes away must have no other reader.

use super::Function;

/// By the value's number: how often it is read, by instructions, phis and terminators.
pub(crate) fn count_reads(function: &Function) -> Vec<u32> {
    let mut reads = vec![0; function.value_count()];
    for block in &function.layout {
        let data = function.block(*block);
        let insts = data.insts.iter();
        let args = insts.flat_map(|inst| &function.inst(*inst).args);
        let sources = data.phis.iter().flat_map(|phi| &phi.sources);
        let values = args.copied().chain(sources.map(|(_, value)| *value));
        for value in values.chain(data.terminator.operand()) {
            reads[value.index()] += 1;
        }
    }
    reads
}
