//! Next uses: how far it is from the start and the end of each block to the next read of each value that lives there.
//!
//! Counted in instructions. What is read only behind a loop is farther away than all that the loop reads. A phi reads its
//! operands at the ends of the predecessors.  Facts: hardware/compiler-backend.md 7.2.
//! Lists of all that lives at the ends of blocks are as long as it is much: they are sorted, and merged in one pass.

use rustc_hash::FxHashMap as HashMap;

use crate::machine::{BlockId, Class, Function, Instruction, Machine, Reads, Value, Word};

/// What leaving a loop adds.
pub(super) const LOOP: u32 = 100_000;

/// Rounds after which distances are good enough: each inner loop takes one.
const MOST_ROUNDS: usize = 64;

/// By value that lives at a place: how far its next use is. In order of values.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct Distances(Vec<(Value, u32)>);

impl Distances {
    /// How far it is to the next use of a value; none if it does not live here.
    pub(super) fn get(&self, value: Value) -> Option<u32> {
        let at = self.0.binary_search_by_key(&value, |(value, _)| *value);
        at.ok().map(|at| self.0[at].1)
    }

    pub(super) fn contains(&self, value: Value) -> bool {
        self.get(value).is_some()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Value, u32)> {
        self.0.iter().copied()
    }

    /// The values of both, each with the nearer use. `others` are in order, a value perhaps more than once.
    fn merge(self, others: impl Iterator<Item = (Value, u32)>) -> Distances {
        let mut others = others.peekable();
        if others.peek().is_none() {
            return self;
        }
        let mut own = self.0.into_iter().peekable();
        let mut merged: Vec<(Value, u32)> = Vec::with_capacity(own.len());
        loop {
            let next = match (own.peek(), others.peek()) {
                (Some(a), Some(b)) if a.0 <= b.0 => own.next(),
                (Some(_), None) => own.next(),
                (_, Some(_)) => others.next(),
                (None, None) => return Distances(merged),
            };
            match (merged.last_mut(), next) {
                (Some(last), Some((value, distance))) if last.0 == value => {
                    last.1 = last.1.min(distance);
                }
                (_, next) => merged.extend(next),
            }
        }
    }
}

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
            starts: vec![Distances::default(); count],
            ends: vec![Distances::default(); count],
            pressure: vec![0; count],
        };
        let depths = function.loop_depths();
        // Without loops all that comes behind a block is known before it.
        let rounds = match function.loop_count() {
            0 => 1,
            _ => MOST_ROUNDS,
        };
        let predecessors = function.predecessors();
        // Blocks where something behind has changed since.
        let mut stale = vec![true; count];
        for _ in 0..rounds {
            for id in (0..count as u32).rev().map(BlockId) {
                if !std::mem::take(&mut stale[id.index()]) {
                    continue;
                }
                let end = uses.end(function, id, &depths);
                let (start, pressure) = through(function, id, &end);
                if uses.starts[id.index()] != start {
                    let before = predecessors.of(id.index());
                    before.iter().for_each(|from| stale[from.index()] = true);
                }
                uses.starts[id.index()] = start;
                uses.ends[id.index()] = end;
                uses.pressure[id.index()] = pressure;
            }
            if !stale.contains(&true) {
                break;
            }
        }
        uses
    }

    /// The nearest of what the successors need.
    fn end<M: Machine>(&self, function: &Function<M>, id: BlockId, depths: &[u32]) -> Distances {
        let mut end = Distances::default();
        // What phis read here.
        let mut read: Vec<(Value, u32)> = Vec::new();
        for to in function.block(id).terminator.successors() {
            let left = depths[id.index()].saturating_sub(depths[to.index()]);
            let phis = &function.block(to).phis;
            let mut made: Vec<Value> = phis.iter().map(|phi| phi.dest).collect();
            made.sort_unstable();
            let start = self.starts[to.index()].iter();
            let needed = start
                .filter(|(value, _)| made.binary_search(value).is_err())
                .map(|(value, distance)| (value, distance.saturating_add(left * LOOP)));
            end = end.merge(needed);
            for phi in phis {
                let own = phi.sources.iter().filter(|(from, _)| *from == id);
                let words = own.flat_map(|(_, operand)| operand.words());
                read.extend(words.filter_map(Word::value).map(|value| (value, 0)));
            }
        }
        read.sort_unstable();
        end.merge(read.into_iter())
    }
}

/// From the end of a block to its start; and the most units that live at once in between.
fn through<M: Machine>(function: &Function<M>, id: BlockId, end: &Distances) -> (Distances, usize) {
    let block = function.block(id);
    let length = block.instrs.len() as u32;
    // Of the values that the block touches: where it reads them next, unless they don't live here.
    let mut touched: HashMap<Value, Option<u32>> = HashMap::default();
    let behind = |value: Value| {
        let distance = end.get(value)?;
        Some(distance.saturating_add(length + 1))
    };
    let mut now: usize = end.iter().map(|(value, _)| units(function, value)).sum();
    let mut most = now;
    let read =
        |value: Value, at: u32, now: &mut usize, touched: &mut HashMap<Value, Option<u32>>| {
            let next = touched.entry(value).or_insert_with(|| behind(value));
            if next.replace(at).is_none() {
                *now += units(function, value);
            }
        };
    if let Some(value) = block.terminator.read().and_then(Word::value) {
        read(value, length, &mut now, &mut touched);
    }
    most = most.max(now);
    for (at, instr) in block.instrs.iter().enumerate().rev() {
        for value in instr.written_values() {
            let next = touched.entry(value).or_insert_with(|| behind(value));
            match next.take() {
                Some(_) => now -= units(function, value),
                // Nobody reads it, and yet it needs a place.
                None => most = most.max(now + units(function, value)),
            }
        }
        for value in instr.read_values() {
            read(value, at as u32, &mut now, &mut touched);
        }
        most = most.max(now);
    }
    let untouched = end
        .iter()
        .filter(|(value, _)| !touched.contains_key(value))
        .map(|(value, distance)| (value, distance.saturating_add(length + 1)));
    let untouched = Distances(untouched.collect());
    let reads = touched.iter();
    let mut reads: Vec<(Value, u32)> = reads
        .filter_map(|(value, next)| Some((*value, (*next)?)))
        .collect();
    reads.sort_unstable();
    (untouched.merge(reads.into_iter()), most)
}
