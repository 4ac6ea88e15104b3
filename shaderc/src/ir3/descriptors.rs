//! Descriptors: where the elements of bindings stand in their sets.
//!
//! Guarantees: descriptors of a set are numbered in the order of its bindings, without holes.
//! Facts: hardware/ir3-isa.md 12 (bindless: a base for each set, an index in descriptors of 64 bytes).

use crate::ir::Binding;

/// By binding: the number of its first element's descriptor in its set; those of the others follow. Bindings are ordered by
/// set and number.
pub(super) fn number(bindings: &[Binding]) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(bindings.len());
    let mut next = (0, 0);
    for binding in bindings {
        if next.0 != binding.set {
            next = (binding.set, 0);
        }
        numbers.push(next.1);
        next.1 += binding.count;
    }
    numbers
}
