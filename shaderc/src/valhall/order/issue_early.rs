//! Early loads: a load is issued as soon as what it needs is there, so that what it brings has arrived when it is read.
//!
//! How long a load takes is not known; the more instructions stand between it and its first reader, the fewer other warps it
//! takes to hide it. Loads come together that way, and one wait serves them all.
//! Needs: SSA.  Guarantees: the order that `order` asks for; where many words live nothing moves; nothing that a load needs
//! is itself waited for earlier than before.  Facts: hardware/compiler-optimization.md 2, row 7.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::machine::liveness::live_at_ends;
use crate::valhall::mir::{Block, Function, Instr, Instruction, Message, Value, Word};
use crate::valhall::order::graph::{Graph, reorder};

/// Words that may live where a load moves up: three quarters of half the file, since vectors need words in a row.
const REGISTER_BUDGET: usize = 24;
/// Instructions that may move up with a load: those that make its address.
const MOST_IN_SLICE: usize = 8;
/// Loads that are looked at from one place.
const WINDOW: usize = 8;

/// Moves loads up in all blocks. True when any moved.
pub(crate) fn issue_early(function: &mut Function) -> bool {
    if !function.blocks.iter().any(has_loads) {
        return false;
    }
    let live = live_at_ends(function);
    let preloads = function.preloads.iter();
    let preloaded: Vec<Word> = preloads.map(|preload| preload.dest).collect();
    let mut changed = false;
    for (number, block) in function.blocks.iter_mut().enumerate() {
        if !has_loads(block) {
            continue;
        }
        let mut at_end = live.of(number).to_vec();
        at_end.extend(block.terminator.read().and_then(Word::value));
        let order = Early::new(block, &at_end, &preloaded).order();
        if order.iter().enumerate().any(|(to, from)| to != *from) {
            reorder(block, &order);
            changed = true;
        }
    }
    changed
}

/// Whether it brings words from memory.
fn is_load(instr: &Instr) -> bool {
    instr.op.message() == Message::Load && !instr.dests.is_empty()
}

fn has_loads(block: &Block) -> bool {
    block.instrs.iter().any(is_load)
}

/// A block whose instructions are being put in order.
struct Early<'b> {
    block: &'b Block,
    graph: Graph,
    /// Loads in program order; those before `next` are done.
    loads: Vec<usize>,
    next: usize,
    done: Vec<bool>,
    order: Vec<usize>,
    /// By value: how many instructions have still to read it. What lives on has one more.
    readers: HashMap<Value, usize>,
    /// How many words live now.
    live: usize,
    /// Results of loads that nothing has read yet: whoever does waits.
    in_flight: HashSet<Value>,
}

impl<'b> Early<'b> {
    fn new(block: &'b Block, at_end: &[Value], preloaded: &[Word]) -> Early<'b> {
        let mut readers: HashMap<Value, usize> = HashMap::default();
        let mut written: HashSet<Value> = HashSet::default();
        for instr in &block.instrs {
            each_once(instr.read_values(), |value| {
                *readers.entry(value).or_default() += 1;
            });
            written.extend(instr.written_values());
        }
        for value in at_end {
            *readers.entry(*value).or_default() += 1;
        }
        let entering = readers.keys().filter(|value| !written.contains(value));
        let instrs = block.instrs.iter().enumerate();
        let loads = instrs.filter(|(_, instr)| is_load(instr));
        Early {
            block,
            graph: Graph::build(block, preloaded),
            loads: loads.map(|(index, _)| index).collect(),
            next: 0,
            done: vec![false; block.instrs.len()],
            order: Vec::with_capacity(block.instrs.len()),
            live: entering.count(),
            readers,
            in_flight: HashSet::default(),
        }
    }

    fn order(mut self) -> Vec<usize> {
        for index in 0..self.block.instrs.len() {
            if self.done[index] {
                continue;
            }
            self.issue_loads(index);
            if !self.done[index] {
                self.emit(index);
            }
        }
        self.order
    }

    /// Issues the loads behind `place` that need not wait and have room.
    fn issue_loads(&mut self, place: usize) {
        while self
            .loads
            .get(self.next)
            .is_some_and(|load| self.done[*load])
        {
            self.next += 1;
        }
        let end = self.loads.len().min(self.next + WINDOW);
        for number in self.next..end {
            let load = self.loads[number];
            if self.done[load] || load < place {
                continue;
            }
            let Some(slice) = self.address_slice(load) else {
                continue;
            };
            let written = slice
                .iter()
                .map(|index| self.block.instrs[*index].dests.len());
            if self.live + written.sum::<usize>() > REGISTER_BUDGET {
                return;
            }
            slice.into_iter().for_each(|index| self.emit(index));
        }
    }

    /// A load and what must still come before it, in order; none where that is much, or would wait for a load.
    fn address_slice(&self, load: usize) -> Option<Vec<usize>> {
        let mut slice = vec![load];
        let mut seen = 0;
        while let Some(&index) = slice.get(seen) {
            seen += 1;
            let instr = &self.block.instrs[index];
            if instr
                .read_values()
                .any(|value| self.in_flight.contains(&value))
            {
                return None;
            }
            for earlier in &self.graph.before[index] {
                if self.done[*earlier] || slice.contains(earlier) {
                    continue;
                }
                if self.block.instrs[*earlier].op.message() != Message::No
                    || slice.len() > MOST_IN_SLICE
                {
                    return None;
                }
                slice.push(*earlier);
            }
        }
        slice.sort_unstable();
        Some(slice)
    }

    fn emit(&mut self, index: usize) {
        self.done[index] = true;
        self.order.push(index);
        let instr = &self.block.instrs[index];
        each_once(instr.read_values(), |value| {
            self.in_flight.remove(&value);
            if let Some(readers) = self.readers.get_mut(&value) {
                *readers -= 1;
                self.live -= usize::from(*readers == 0);
            }
        });
        for value in instr.written_values() {
            if self.readers.get(&value).is_some_and(|readers| *readers > 0) {
                self.live += 1;
            }
            if instr.op.message() == Message::Load {
                self.in_flight.insert(value);
            }
        }
    }
}

/// Calls `each` once for each value.
fn each_once(values: impl Iterator<Item = Value>, mut each: impl FnMut(Value)) {
    let mut values: smallvec::SmallVec<[Value; 8]> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.into_iter().for_each(&mut each);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut function = Function::parse(text).expect("text is MIR");
        issue_early(&mut function);
        let dests = function.blocks[0].instrs.iter().map(|instr| {
            let dest = instr.dests.first();
            dest.map_or_else(|| instr.op.mnemonic().to_lowercase(), ToString::to_string)
        });
        let got: Vec<String> = dests.collect();
        assert_eq!(got.join(" "), expected, "{function}");
    }

    #[test]
    fn loads_come_first_with_what_makes_their_addresses() {
        check(
            "b0:
              %0 = LD_BUFFER.i32 t0, u0, space:buffer
              %1 = IADD.u32 %0, %0
              %2 = IADD.u32 u2, u2
              %3 = LD_BUFFER.i32 %2, u0, space:buffer
              %4 = IADD.u32 %3, %1
              branch %4, b1, b1
            b1:
              end",
            "%0 %2 %3 %1 %4",
        );
    }

    #[test]
    fn a_load_that_needs_another_waits_where_it_would_have() {
        check(
            "b0:
              %0 = LD_BUFFER.i32 t0, u0, space:buffer
              %1 = IADD.u32 u2, u2
              %2 = LD_BUFFER.i32 %0, u0, space:buffer
              %3 = IADD.u32 %2, %1
              branch %3, b1, b1
            b1:
              end",
            "%0 %1 %2 %3",
        );
    }

    #[test]
    fn no_load_passes_a_store_to_its_memory() {
        check(
            "b0:
              %0 = IADD.u32 u2, u2
              STORE.i32 @%0, u0, imm:0, space:buffer
              %1 = LD_BUFFER.i32 t1, u0, space:buffer
              %2 = LD_BUFFER.i32 t1, u0, space:constant
              %3 = IADD.u32 %2, %1
              branch %3, b1, b1
            b1:
              end",
            "%2 %0 store.i32 %1 %3",
        );
    }

    #[test]
    fn no_load_passes_a_fence_of_its_memory() {
        check(
            "b0:
              %0 = IADD.u32 u2, u2
              FENCE space:shared
              %1 = LD_BUFFER.i32 t1, u0, space:buffer
              FENCE space:buffer
              %2 = LD_BUFFER.i32 t1, u0, space:buffer
              %3 = IADD.u32 %2, %1
              %4 = IADD.u32 %3, %0
              branch %4, b1, b1
            b1:
              end",
            "%1 %0 fence fence %2 %3 %4",
        );
    }

    #[test]
    fn what_is_volatile_passes_no_fence() {
        check(
            "b0:
              %0 = IADD.u32 u2, u2
              FENCE space:shared, volatile
              %1 = LD_BUFFER.i32 t1, u0, space:buffer, volatile
              %2 = LD_BUFFER.i32 t1, u0, space:buffer
              %3 = IADD.u32 %2, %1
              %4 = IADD.u32 %3, %0
              branch %4, b1, b1
            b1:
              end",
            "%2 %0 fence %1 %3 %4",
        );
    }
}
