//! Origins: which values hold the same bits, because one is a copy of the other and each is written once.
//!
//! Needs: liveness, which knows how often a value is written.
//! Facts: hardware/compiler-backend.md 7.4.

use crate::machine::liveness::Liveness;
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

    fn index(&self, (value, unit): Part) -> usize {
        self.starts[value.index()] as usize + unit
    }

    /// What a part is a copy of, or itself.
    pub(super) fn of(&self, part: Part) -> Part {
        self.parts[self.index(part)]
    }
}
