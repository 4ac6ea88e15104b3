//! Liveness: where each value holds something that is still needed.
//!
//! Points are numbered through the program: an instruction reads at an even point and writes at the next, odd one.
//! A range is half open. A word that dies in an instruction and one born in it may share a register, except in
//! 64-bit arithmetic, which takes two cycles: its 32-bit sources live to the end of the instruction.
//! Facts: hardware/compiler-backend.md 7.1.

use super::mir::{BlockId, Function, Instr, Message, Operand, Value, Word};

/// Half-open range of points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// A set of values as bits.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ValueSet(Vec<u64>);

impl ValueSet {
    fn new(values: u32) -> ValueSet {
        ValueSet(vec![0; (values as usize).div_ceil(64)])
    }

    pub(super) fn insert(&mut self, value: Value) {
        self.0[value.index() / 64] |= 1 << (value.index() % 64);
    }

    pub(super) fn contains(&self, value: Value) -> bool {
        self.0[value.index() / 64] >> (value.index() % 64) & 1 != 0
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn remove(&mut self, value: Value) {
        self.0[value.index() / 64] &= !(1 << (value.index() % 64));
    }

    fn union(&mut self, other: &ValueSet) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(mine, theirs)| *mine |= theirs);
    }

    fn iter(&self) -> impl Iterator<Item = Value> {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 != 0)
                .map(move |bit| Value(word as u32 * 64 + bit))
        })
    }
}

/// Live ranges of all values, and how much each is worth keeping in a register.
pub(crate) struct Liveness {
    /// By value: sorted, disjoint.
    pub(crate) ranges: Vec<Vec<Range>>,
    /// By value: reads and writes, each weighted by ten for every loop around it.
    pub(crate) uses: Vec<f64>,
    /// By value: how many instructions write it (a preload counts).
    pub(crate) definitions: Vec<u32>,
}

/// Values that `instr` reads until its end.
fn reads_late(instr: &Instr) -> bool {
    instr.op.message() == Message::No && instr.dests.len() > 1
}

/// Computes the ranges of all values of a function without phis.
pub(crate) fn compute(function: &Function) -> Liveness {
    let live_out = live_at_ends(function);
    let count = function.values as usize;
    let mut liveness = Liveness {
        ranges: vec![Vec::new(); count],
        uses: vec![0.0; count],
        definitions: vec![0; count],
    };
    let depths = function.loop_depths();
    // Point 0 and 1 belong to the preloads; then every instruction and every terminator has two points.
    let mut starts = Vec::with_capacity(function.blocks.len());
    let mut next = 2;
    for block in &function.blocks {
        starts.push(next);
        next += 2 * (block.instrs.len() as u32 + 1);
    }
    let mut end_of: Vec<u32> = vec![0; count];
    for id in (0..function.blocks.len() as u32).rev().map(BlockId) {
        let block = function.block(id);
        let start = if id.index() == 0 {
            0
        } else {
            starts[id.index()]
        };
        let terminator = starts[id.index()] + 2 * block.instrs.len() as u32;
        let weight = 10f64.powi(depths[id.index()].min(6) as i32);
        // `end_of` holds, for each value live here, one more than the end of its range (0: not live).
        let mut live: Vec<Value> = Vec::new();
        let mut extend = |value: Value, to: u32, end_of: &mut Vec<u32>| {
            if end_of[value.index()] == 0 {
                end_of[value.index()] = to + 1;
                live.push(value);
            }
        };
        live_out[id.index()]
            .iter()
            .for_each(|value| extend(value, terminator + 2, &mut end_of));
        if let Some(value) = block.terminator.read().and_then(|word| word.value()) {
            extend(value, terminator + 1, &mut end_of);
            liveness.uses[value.index()] += weight;
        }
        for (index, instr) in block.instrs.iter().enumerate().rev() {
            let read = starts[id.index()] + 2 * index as u32;
            for value in instr.written_values() {
                liveness.define(value, read + 1, weight, &mut end_of);
            }
            for value in instr.read_values() {
                extend(value, read + 1, &mut end_of);
                liveness.uses[value.index()] += weight;
            }
            if reads_late(instr) {
                for source in &instr.sources {
                    if let Operand::Word(word) = source.operand
                        && let Some(value) = word.value()
                        && !instr.dests.contains(&word)
                    {
                        end_of[value.index()] = end_of[value.index()].max(read + 2 + 1);
                    }
                }
            }
        }
        if id.index() == 0 {
            for value in function
                .preloads
                .iter()
                .filter_map(|preload| preload.dest.value())
            {
                liveness.define(value, 1, weight, &mut end_of);
            }
        }
        for value in live {
            let end = std::mem::take(&mut end_of[value.index()]);
            if end != 0 {
                liveness.prepend(
                    value,
                    Range {
                        from: start,
                        to: end - 1,
                    },
                );
            }
        }
    }
    liveness.sorted()
}

impl Liveness {
    /// A definition at an odd point: closes the range that reaches up to it, or makes a short one when nobody reads.
    fn define(&mut self, value: Value, at: u32, weight: f64, end_of: &mut [u32]) {
        let end = std::mem::take(&mut end_of[value.index()]);
        let to = if end == 0 { at + 1 } else { end - 1 };
        self.prepend(value, Range { from: at, to });
        self.uses[value.index()] += weight;
        self.definitions[value.index()] += 1;
    }

    /// Blocks and instructions are visited backwards, so a new range lies before all others.
    fn prepend(&mut self, value: Value, range: Range) {
        let ranges = &mut self.ranges[value.index()];
        match ranges.last_mut() {
            Some(next) if next.from <= range.to => next.from = range.from,
            _ => ranges.push(range),
        }
    }

    /// Ranges were gathered backwards.
    fn sorted(mut self) -> Liveness {
        self.ranges.iter_mut().for_each(|ranges| ranges.reverse());
        self
    }
}

/// The values that are live at the end of each block, by backward dataflow to a fixed point. A phi reads its sources
/// at the ends of the predecessors.
pub(super) fn live_at_ends(function: &Function) -> Vec<ValueSet> {
    let mut live_in: Vec<ValueSet> = function
        .blocks
        .iter()
        .map(|_| ValueSet::new(function.values))
        .collect();
    let mut live_out = live_in.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..function.blocks.len()).rev() {
            let block = &function.blocks[index];
            let mut live = ValueSet::new(function.values);
            for to in block.terminator.successors() {
                live.union(&live_in[to.index()]);
                let phis = function.block(to).phis.iter().flat_map(|phi| &phi.sources);
                let edge = phis.filter(|(from, _)| from.index() == index);
                edge.flat_map(|(_, operand)| operand.words())
                    .filter_map(Word::value)
                    .for_each(|value| live.insert(value));
            }
            live_out[index] = live.clone();
            if let Some(value) = block.terminator.read().and_then(Word::value) {
                live.insert(value);
            }
            for instr in block.instrs.iter().rev() {
                instr.written_values().for_each(|value| live.remove(value));
                instr.read_values().for_each(|value| live.insert(value));
            }
            block.phis.iter().for_each(|phi| live.remove(phi.dest));
            if live != live_in[index] {
                live_in[index] = live;
                changed = true;
            }
        }
    }
    live_out
}
