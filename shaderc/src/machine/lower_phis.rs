//! Phi lowering: each phi becomes a variable that the predecessors write at their ends.
//!
//! Needs: `split_edges`.  Guarantees: no phis; a value that a phi wrote is copied from its variable at the block's start.
//! Any order of the copies of one edge is correct, since the variables are fresh. The copies are ordered so that a phi's old
//! value is read before its variable is written, which lets `allocate` give both one register.
//! Facts: hardware/compiler-backend.md 7.2 (1).

use rustc_hash::FxHashMap as HashMap;

use super::function::{Function, Location, Value, Word};
use super::interface::{Machine, Reads};

/// A copy to place at the end of a predecessor.
struct EdgeCopy<M: Machine> {
    variable: Value,
    from: M::Operand,
    /// The phi's own result.
    dest: Value,
}

/// Lowers every phi. True when there were any.
pub(crate) fn lower_phis<M: Machine>(function: &mut Function<M>) -> bool {
    let mut edges: Vec<Vec<EdgeCopy<M>>> = function.blocks.iter().map(|_| Vec::new()).collect();
    let mut changed = false;
    for index in 0..function.blocks.len() {
        let phis = std::mem::take(&mut function.blocks[index].phis);
        changed |= !phis.is_empty();
        let mut starts = Vec::with_capacity(phis.len());
        for phi in phis {
            let class = function.class(phi.dest);
            let variable = function.new_value_of(class);
            starts.push(M::copy(
                Word::Value(phi.dest),
                Word::Value(variable),
                class,
                Location::default(),
            ));
            for (from, operand) in phi.sources {
                edges[from.index()].push(EdgeCopy {
                    variable,
                    from: operand,
                    dest: phi.dest,
                });
            }
        }
        function.blocks[index].instrs.splice(0..0, starts);
    }
    for (block, copies) in function.blocks.iter_mut().zip(edges) {
        block.instrs.extend(order(copies).into_iter().map(|copy| {
            let class = function.values[copy.variable.index()];
            M::move_operand(copy.variable, class, copy.from, &function.extra)
        }));
    }
    changed
}

/// Orders copies so that one that reads a phi's value stands before the one that writes this phi's variable.
/// In a cycle any order is right.
fn order<M: Machine>(copies: Vec<EdgeCopy<M>>) -> Vec<EdgeCopy<M>> {
    // A copy must wait for those that read what its phi has given so far.
    let mut waits = vec![0usize; copies.len()];
    let by_dest: HashMap<Value, usize> = copies
        .iter()
        .enumerate()
        .map(|(number, copy)| (copy.dest, number))
        .collect();
    let waiting = |number: usize| {
        let value = copies[number].from.words().find_map(Word::value)?;
        by_dest
            .get(&value)
            .copied()
            .filter(|other| *other != number)
    };
    for number in 0..copies.len() {
        if let Some(other) = waiting(number) {
            waits[other] += 1;
        }
    }
    let mut ordered = Vec::with_capacity(copies.len());
    let mut placed = vec![false; copies.len()];
    let place =
        |first: usize, waits: &mut [usize], placed: &mut [bool], ordered: &mut Vec<usize>| {
            // Each copy frees at most one other.
            let mut next = Some(first);
            while let Some(number) = next.filter(|number| !placed[*number]) {
                placed[number] = true;
                ordered.push(number);
                next = waiting(number).filter(|other| {
                    waits[*other] -= 1;
                    waits[*other] == 0
                });
            }
        };
    for number in 0..copies.len() {
        if waits[number] == 0 {
            place(number, &mut waits, &mut placed, &mut ordered);
        }
    }
    // The rest are cycles.
    for number in 0..copies.len() {
        place(number, &mut waits, &mut placed, &mut ordered);
    }
    let mut copies: Vec<Option<EdgeCopy<M>>> = copies.into_iter().map(Some).collect();
    let taken = ordered
        .into_iter()
        .filter_map(|number| copies[number].take());
    taken.collect()
}
