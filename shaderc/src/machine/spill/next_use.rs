//! Next uses: how far it is from the start and the end of each block to the next read of each value that lives there.
//!
//! Counted in instructions. What is read only behind a loop is farther away than all that the loop reads. A phi reads its
//! operands at the ends of the predecessors.  Facts: hardware/compiler-backend.md 7.2.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use crate::machine::{BlockId, Class, Function, Instruction, Machine, Reads, Value, Word};

/// What leaving a loop adds.
pub(super) const LOOP: u32 = 100_000;

/// Rounds after which distances are good enough: each inner loop takes one.
const MOST_ROUNDS: usize = 64;

/// By value that lives at a place: how far its next use is.
pub(super) type Distances = BTreeMap<Value, u32>;

/// Distances at the ends of blocks, and what each block needs.
pub(super) struct NextUses {
    /// By block: at its start, results of its phis among them.
    pub(super) starts: Vec<Distances>,
    /// By block: at its end.
    pub(super) ends: Vec<Distances>,
    /// By block: the most units that live at once.
    pub(super) pressure: Vec<usize>,
}

/// Units that a value takes of those that may be spilled.
pub(super) fn units<M: Machine>(function: &Function<M>, value: Value) -> usize {
    let class = function.class(value);
    match class.may_spill() {
        true => class.units(),
        false => 0,
    }
}

impl NextUses {
    pub(super) fn of<M: Machine>(function: &Function<M>) -> NextUses {
        let count = function.blocks.len();
        let mut uses = NextUses {
            starts: vec![Distances::new(); count],
            ends: vec![Distances::new(); count],
            pressure: vec![0; count],
        };
        let depths = function.loop_depths();
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for id in (0..count as u32).rev().map(BlockId) {
                let end = uses.end(function, id, &depths);
                let (start, pressure) = through(function, id, &end);
                changed |= uses.starts[id.index()] != start;
                uses.starts[id.index()] = start;
                uses.ends[id.index()] = end;
                uses.pressure[id.index()] = pressure;
            }
            if !changed {
                break;
            }
        }
        uses
    }

    /// The nearest of what the successors need.
    fn end<M: Machine>(&self, function: &Function<M>, id: BlockId, depths: &[u32]) -> Distances {
        let mut end = Distances::new();
        let mut need = |value: Value, distance: u32| {
            let known = end.entry(value).or_insert(distance);
            *known = (*known).min(distance);
        };
        for to in function.block(id).terminator.successors() {
            let left = depths[id.index()].saturating_sub(depths[to.index()]);
            let phis = &function.block(to).phis;
            for (&value, distance) in &self.starts[to.index()] {
                if !phis.iter().any(|phi| phi.dest == value) {
                    need(value, distance.saturating_add(left * LOOP));
                }
            }
            for phi in phis {
                let own = phi.sources.iter().filter(|(from, _)| *from == id);
                own.flat_map(|(_, operand)| operand.words())
                    .filter_map(Word::value)
                    .for_each(|value| need(value, 0));
            }
        }
        end
    }
}

/// From the end of a block to its start; and the most units that live at once in between.
fn through<M: Machine>(function: &Function<M>, id: BlockId, end: &Distances) -> (Distances, usize) {
    let block = function.block(id);
    let length = block.instrs.len() as u32;
    let mut live: HashMap<Value, u32> = end
        .iter()
        .map(|(&value, distance)| (value, distance.saturating_add(length + 1)))
        .collect();
    let mut now: usize = live.keys().map(|&value| units(function, value)).sum();
    let mut most = now;
    let read = |value: Value, at: u32, now: &mut usize, live: &mut HashMap<Value, u32>| {
        if live.insert(value, at).is_none() {
            *now += units(function, value);
        }
    };
    if let Some(value) = block.terminator.read().and_then(Word::value) {
        read(value, length, &mut now, &mut live);
    }
    most = most.max(now);
    for (at, instr) in block.instrs.iter().enumerate().rev() {
        for value in instr.written_values() {
            match live.remove(&value) {
                Some(_) => now -= units(function, value),
                // Nobody reads it, and yet it needs a place.
                None => most = most.max(now + units(function, value)),
            }
        }
        for value in instr.read_values() {
            read(value, at as u32, &mut now, &mut live);
        }
        most = most.max(now);
    }
    (live.into_iter().collect(), most)
}
