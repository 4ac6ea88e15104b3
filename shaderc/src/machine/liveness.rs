//! Liveness: where each value holds something that is still needed.
//!
//! Points are numbered through the program: an instruction reads at an even point and writes at the next, odd one.
//! A range is half open. A word that dies in an instruction and one born in it may share a register, unless the
//! instruction still reads the one when it writes the other.
//! Facts: hardware/compiler-backend.md 7.1.

use super::function::{BlockId, Function, Value, Word};
use super::interface::{Class, Instruction, Machine, Reads, Register};
use crate::lists::Lists;
use smallvec::SmallVec;

/// Half-open range of points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Where a value lives: sorted, disjoint. Most live in one piece, and then this needs no memory of its own.
pub(crate) type Ranges = SmallVec<[Range; 2]>;

/// Live ranges of all values, and how much each is worth keeping in a register.
pub(crate) struct Liveness {
    /// By value.
    pub(crate) ranges: Vec<Ranges>,
    /// By value: reads and writes, each weighted by ten for every loop around it.
    pub(crate) uses: Vec<f64>,
    /// By value: how many instructions write it (a preload counts).
    pub(crate) definitions: Vec<u32>,
    /// Units that hold nothing at some point: the first, how many, and when.
    pub(crate) clobbers: Vec<(usize, usize, Range)>,
}

/// Computes the ranges of all values of a function without phis.
pub(crate) fn compute<M: Machine>(function: &Function<M>) -> Liveness {
    let live_out = live_at_ends(function);
    let count = function.values.len();
    let mut liveness = Liveness {
        ranges: vec![Ranges::new(); count],
        uses: vec![0.0; count],
        definitions: vec![0; count],
        clobbers: Vec::new(),
    };
    let frequencies: Vec<u64> = function.frequencies().collect();
    // Point 0 and 1 belong to the preloads; then every instruction and every terminator has two points.
    let mut starts = Vec::with_capacity(function.blocks.len());
    let mut next = 2;
    for block in &function.blocks {
        starts.push(next);
        next += 2 * (block.instrs.len() as u32 + 1);
    }
    let mut end_of: Vec<u32> = vec![0; count];
    // Values that live in the block that is looked at.
    let mut live: Vec<Value> = Vec::new();
    for id in (0..function.blocks.len() as u32).rev().map(BlockId) {
        let block = function.block(id);
        let start = if id.index() == 0 {
            0
        } else {
            starts[id.index()]
        };
        let terminator = starts[id.index()] + 2 * block.instrs.len() as u32;
        let weight = frequencies[id.index()] as f64;
        // `end_of` holds, for each value live here, one more than the end of its range (0: not live).
        let mut extend = |value: Value, to: u32, end_of: &mut Vec<u32>| {
            if end_of[value.index()] == 0 {
                end_of[value.index()] = to + 1;
                live.push(value);
            }
        };
        live_out
            .of(id.index())
            .iter()
            .for_each(|&value| extend(value, terminator + 2, &mut end_of));
        if let Some(value) = block.terminator.read().and_then(Word::value) {
            extend(value, terminator + 1, &mut end_of);
            liveness.uses[value.index()] += weight;
        }
        for (index, instr) in block.instrs.iter().enumerate().rev() {
            let read = starts[id.index()] + 2 * index as u32;
            for register in instr.clobbers() {
                let range = Range {
                    from: read + 1,
                    to: read + 2,
                };
                let units = register.class().units();
                liveness.clobbers.push((register.unit(), units, range));
            }
            for value in instr.written_values() {
                liveness.define(value, read + 1, weight, &mut end_of);
            }
            for value in instr.read_values() {
                extend(value, read + 1, &mut end_of);
                liveness.uses[value.index()] += weight;
            }
            for word in instr.late_reads() {
                if let Some(value) = word.value()
                    && !instr.writes().any(|written| written == word)
                {
                    end_of[value.index()] = end_of[value.index()].max(read + 2 + 1);
                }
            }
        }
        if id.index() == 0 {
            for value in function.preloaded_values() {
                liveness.define(value, 1, weight, &mut end_of);
            }
        }
        for value in live.drain(..) {
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

/// The values that are live at the end of each block, in order. A phi reads its sources at the ends of the predecessors.
///
/// Each value is followed alone, up from where it is read to where it is written: that is as much work as there are reads,
/// writes and blocks through which it lives.
pub(crate) fn live_at_ends<M: Machine>(function: &Function<M>) -> Lists<Value> {
    let predecessors = function.predecessors();
    let places = Places::of(function);
    let mut live: Vec<(BlockId, Value)> = Vec::new();
    // By block: the last value that it is known to write, and that is known to live at its start and at its end.
    let mut writes: Vec<Option<Value>> = vec![None; function.blocks.len()];
    let mut enters = writes.clone();
    let mut leaves = writes.clone();
    let mut stack: Vec<BlockId> = Vec::new();
    for value in (0..function.values.len() as u32).map(Value) {
        let read = places.read.of(value.index());
        let at_end = places.at_end.of(value.index());
        // Most live in one block alone.
        if read.is_empty() && at_end.is_empty() {
            continue;
        }
        for block in places.written.of(value.index()) {
            writes[block.index()] = Some(value);
        }
        for block in read {
            enters[block.index()] = Some(value);
            stack.push(*block);
        }
        let mut leave = |block: BlockId, stack: &mut Vec<BlockId>| {
            if leaves[block.index()].replace(value) != Some(value) {
                live.push((block, value));
                if writes[block.index()] != Some(value)
                    && enters[block.index()].replace(value) != Some(value)
                {
                    stack.push(block);
                }
            }
        };
        for block in at_end {
            leave(*block, &mut stack);
        }
        while let Some(block) = stack.pop() {
            for from in predecessors.of(block.index()) {
                leave(*from, &mut stack);
            }
        }
    }
    let by_block = live.iter().map(|(block, value)| (block.index(), *value));
    Lists::gather(function.blocks.len(), by_block)
}

/// By value: blocks.
struct Places {
    /// They write it.
    written: Lists<BlockId>,
    /// They read what it has at the start.
    read: Lists<BlockId>,
    /// A phi behind them reads it.
    at_end: Lists<BlockId>,
}

impl Places {
    fn of<M: Machine>(function: &Function<M>) -> Places {
        let (mut written, mut read, mut at_end) = (Vec::new(), Vec::new(), Vec::new());
        // By value: the last block that has written it, and that has read it before.
        let mut writes: Vec<Option<BlockId>> = vec![None; function.values.len()];
        let mut reads = writes.clone();
        for id in function.block_ids() {
            let block = function.block(id);
            let mut reads = |value: Value, writes: &[Option<BlockId>]| {
                if writes[value.index()] != Some(id) && reads[value.index()].replace(id) != Some(id)
                {
                    read.push((value.index(), id));
                }
            };
            let mut write = |value: Value, writes: &mut [Option<BlockId>]| {
                if writes[value.index()].replace(id) != Some(id) {
                    written.push((value.index(), id));
                }
            };
            for phi in &block.phis {
                write(phi.dest, &mut writes);
                for (from, operand) in &phi.sources {
                    let values = operand.words().filter_map(Word::value);
                    at_end.extend(values.map(|value| (value.index(), *from)));
                }
            }
            for instr in &block.instrs {
                for value in instr.read_values() {
                    reads(value, &writes);
                }
                for value in instr.written_values() {
                    write(value, &mut writes);
                }
            }
            if let Some(value) = block.terminator.read().and_then(Word::value) {
                reads(value, &writes);
            }
        }
        let by_value =
            |list: &[(usize, BlockId)]| Lists::gather(function.values.len(), list.iter().copied());
        Places {
            written: by_value(&written),
            read: by_value(&read),
            at_end: by_value(&at_end),
        }
    }
}
