//! Trivial phis: those whose sources are all one value, or themselves.
//!
//! Needs: nothing.  Guarantees: no such phi is left.
use std::collections::VecDeque;

use crate::ir::rewrite::Replaced;
use crate::ir::{Function, Phi};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "trivial_phis",
    what: "phis with only one source value become that value",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let blocks = function.layout.iter();
    let phis: Vec<&Phi> = blocks
        .flat_map(|block| &function.block(*block).phis)
        .collect();
    let mut replaced = Replaced::default();
    let mut readers = None;
    let mut work: VecDeque<usize> = (0..phis.len()).collect();
    while let Some(number) = work.pop_front() {
        let phi = phis[number];
        if replaced.has(phi.result) {
            continue;
        }
        let mut only = None;
        let trivial = phi.sources.iter().all(|(_, source)| {
            let value = replaced.end(*source);
            value == phi.result || *only.get_or_insert(value) == value
        });
        // Only itself: a loop that is never entered, so any value will do.
        if let (true, Some(value)) = (trivial, only) {
            replaced.insert(phi.result, value);
            let readers = readers.get_or_insert_with(|| Readers::new(function, &phis));
            work.extend(readers.of(number));
        }
    }
    if replaced.is_empty() {
        return Changed::No;
    }
    for block in function.layout.clone() {
        let phis = &mut function.block_mut(block).phis;
        phis.retain(|phi| !replaced.has(phi.result));
    }
    replaced.everywhere(function);
    Changed::Yes
}

/// Which phis read which, by number. Most functions have no trivial phi, and then nobody asks.
struct Readers {
    /// The phi that is read, and the one that reads it; sorted.
    pairs: Vec<(u32, u32)>,
}

impl Readers {
    fn new(function: &Function, phis: &[&Phi]) -> Readers {
        // By value: the number of the phi that it is, above zero.
        let mut numbers = vec![0; function.value_count()];
        for (number, phi) in phis.iter().enumerate() {
            numbers[phi.result.index()] = number as u32 + 1;
        }
        let mut pairs = vec![];
        for (reader, phi) in phis.iter().enumerate() {
            let read = phi
                .sources
                .iter()
                .map(|(_, source)| numbers[source.index()]);
            let read = read.filter_map(|number| number.checked_sub(1));
            pairs.extend(read.map(|number| (number, reader as u32)));
        }
        pairs.sort_unstable();
        Readers { pairs }
    }

    fn of(&self, phi: usize) -> impl Iterator<Item = usize> {
        let phi = phi as u32;
        let first = self.pairs.partition_point(|(read, _)| *read < phi);
        let own = self.pairs[first..].iter();
        own.take_while(move |(read, _)| *read == phi)
            .map(|(_, reader)| *reader as usize)
    }
}
