//! Origins: which values hold the same bits, because one is a copy of the other and each is written once.
//!
//! Needs: liveness, which knows how often a value is written.
//! Facts: hardware/compiler-backend.md 7.4.

use crate::machine::liveness::{Liveness, Range};
use crate::machine::{Class, Function, Instruction, Machine, Value};

/// A unit of a value.
pub(super) type Part = (Value, usize);

/// For each unit of each value the one whose bits it always holds: itself, or what it was copied from.
pub(super) struct Origins {
    /// By value: where its units begin in `parts`.
    starts: Vec<u32>,
    parts: Vec<Part>,
}

impl Origins {
    pub(super) fn find<M: Machine>(
        function: &Function<M>,
        liveness: &Liveness,
        grain: usize,
    ) -> Origins {
        let mut origins = Origins {
            starts: Vec::with_capacity(function.values.len()),
            parts: Vec::with_capacity(function.values.len()),
        };
        for (index, class) in function.values.iter().enumerate() {
            origins.starts.push(origins.parts.len() as u32);
            let units = 0..class.units() / grain;
            let own = units.map(|unit| (Value(index as u32), unit));
            origins.parts.extend(own);
        }
        let once = |value: Value| liveness.definitions[value.index()] == 1;
        let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
        for copy in instrs.flat_map(|instr| instr.copies(function)) {
            if once(copy.to) && once(copy.from) {
                for unit in 0..function.class(copy.from).units() / grain {
                    let to = origins.index((copy.to, copy.unit / grain + unit));
                    origins.parts[to] = (copy.from, unit);
                }
            }
        }
        // What a chain of copies leads to is written down for all of them, so that none is followed again.
        let mut chain = Vec::new();
        for index in 0..origins.parts.len() {
            let (mut at, mut root) = (index, origins.parts[index]);
            while origins.index(root) != at {
                chain.push(at);
                at = origins.index(root);
                root = origins.parts[at];
            }
            chain.drain(..).for_each(|at| origins.parts[at] = root);
        }
        origins
    }

    /// The most units that hold different bits at one point: no fewer registers can hold the values, however they are joined.
    pub(super) fn most_live(&self, liveness: &Liveness) -> usize {
        let mut sharers = vec![0_u32; self.parts.len()];
        for root in &self.parts {
            sharers[self.index(*root)] += 1;
        }
        let ranges = |value: usize| &liveness.ranges[value];
        let ends = liveness.ranges.iter().flatten().map(|range| range.to);
        // By point, how many more units hold something from there on.
        let mut more = vec![0_isize; ends.max().unwrap_or(0) as usize + 1];
        let mut add = |range: Range| {
            more[range.from as usize] += 1;
            more[range.to as usize] -= 1;
        };
        // Several parts with the same bits count once wherever more than one of them lives.
        let mut shared: Vec<(usize, Range)> = Vec::new();
        for value in 0..self.starts.len() {
            let end = self.starts.get(value + 1);
            let end = end.map_or(self.parts.len(), |end| *end as usize);
            for root in &self.parts[self.starts[value] as usize..end] {
                let root = self.index(*root);
                match sharers[root] {
                    1 => ranges(value).iter().for_each(|range| add(*range)),
                    _ => shared.extend(ranges(value).iter().map(|range| (root, *range))),
                }
            }
        }
        shared.sort_unstable_by_key(|(root, range)| (*root, range.from));
        let mut shared = shared.into_iter();
        if let Some((mut root, mut whole)) = shared.next() {
            for (other, range) in shared {
                if other == root && range.from <= whole.to {
                    whole.to = whole.to.max(range.to);
                } else {
                    add(whole);
                    (root, whole) = (other, range);
                }
            }
            add(whole);
        }
        let mut live = 0;
        let counts = more.into_iter().map(|more| {
            live += more;
            live
        });
        counts.max().unwrap_or(0).unsigned_abs()
    }

    fn index(&self, (value, unit): Part) -> usize {
        self.starts[value.index()] as usize + unit
    }

    /// What a part is a copy of, or itself.
    pub(super) fn of(&self, part: Part) -> Part {
        self.parts[self.index(part)]
    }
}
