//! Scheduling: reorders the instructions of each block so that what reads a result comes late enough.
//!
//! Needs: SSA, legal instructions.  Guarantees: definitions before uses, accesses to one memory in order where one of them
//! writes, volatile accesses, lanes' operations and barriers in order.
//! How: a list, top down. Of what may come next and need not wait, that with the longest way to the block's end comes
//! first; where more registers live than a full set of waves has, that which frees most.
//! Facts: hardware/ir3-isa.md 8, 9 (typical latencies).

use eitri_ir3_isa::Latency;
use eitri_ir3_isa::timing::{Consumer, Producer, slots};
use rustc_hash::FxHashMap as HashMap;
use rustc_hash::FxHashSet as HashSet;
use smallvec::SmallVec;

use super::insert_sync::category;
use super::mir::{Block, Class, Effect, Function, Instr, Op, Space, Value, Word};
use super::ready_list::{Candidate, Goal, ReadyList};
use crate::machine::liveness::live_at_ends;
use crate::machine::{Class as _, Instruction};

/// Slots after which a result of short latency is there, about.
const SHORT: u32 = 10;
/// The same of a long one: of what other waves don't hide.
const LONG: u32 = 40;
/// Units that may live at once before registers count more than time: with more there are fewer waves.
const PLENTY: usize = 52;

/// Schedules all blocks. True when any changed.
pub(super) fn schedule(function: &mut Function) -> bool {
    let live = live_at_ends(function);
    let preloaded: Vec<Value> = function.preloaded_values().collect();
    let classes = &function.values;
    let mut changed = false;
    for (number, block) in function.blocks.iter_mut().enumerate() {
        let mut at_end = live.of(number).to_vec();
        at_end.extend(block.terminator.read().and_then(Word::value));
        let order = List::new(block, &at_end, &preloaded, classes).order();
        changed |= order.iter().enumerate().any(|(to, from)| to != *from);
        let mut instrs: Vec<Option<Instr>> = std::mem::take(&mut block.instrs)
            .into_iter()
            .map(Some)
            .collect();
        block.instrs = order
            .iter()
            .filter_map(|&index| instrs[index].take())
            .collect();
    }
    changed
}

/// An instruction in the dependence graph.
#[derive(Clone, Default)]
struct Node {
    /// Those that must come after it, with the slots until then.
    after: Vec<(usize, u32)>,
    /// How many must still come before it.
    before: usize,
    /// The slot from which on it need not wait.
    ready: u32,
    /// Slots from its start to the end of the block, at least.
    height: u32,
    /// Units that live more after it than before, as things stand.
    pressure: isize,
}

/// Instructions of the block that have still to read a value.
#[derive(Clone, Default)]
struct Readers {
    count: usize,
    /// Exclusive or of their numbers: of the last one, its number.
    numbers: usize,
    /// Whether the value lives on behind the block.
    lives_on: bool,
}

impl Readers {
    fn change(&mut self, reader: usize, count: impl FnOnce(usize) -> usize) {
        self.count = count(self.count);
        self.numbers ^= reader;
    }

    /// The only reader that is left, with which the value dies.
    fn last(&self) -> Option<usize> {
        (self.count == 1 && !self.lives_on).then_some(self.numbers)
    }

    fn is_needed(&self) -> bool {
        self.count > 0 || self.lives_on
    }
}

/// A block that is being scheduled.
struct List<'b> {
    block: &'b Block,
    classes: &'b [Class],
    nodes: Vec<Node>,
    /// By value of the block, or that it reads.
    readers: HashMap<Value, Readers>,
    /// Units that live now.
    live: usize,
    ready: ReadyList,
}

impl List<'_> {
    fn new<'b>(
        block: &'b Block,
        at_end: &[Value],
        preloaded: &[Value],
        classes: &'b [Class],
    ) -> List<'b> {
        let mut list = List {
            block,
            classes,
            nodes: vec![Node::default(); block.instrs.len()],
            readers: HashMap::default(),
            live: 0,
            ready: ReadyList::default(),
        };
        list.add_values();
        list.add_order(preloaded);
        for value in at_end {
            list.readers.entry(*value).or_default().lives_on = true;
        }
        let written: HashSet<Value> = block
            .instrs
            .iter()
            .flat_map(|instr| instr.written_values())
            .collect();
        let entering = list.readers.keys().filter(|value| !written.contains(value));
        list.live = entering.map(|value| list.units(*value)).sum();
        list.find_pressure();
        list.find_heights();
        list
    }

    /// Finds how the number of live units changes with each instruction, as long as none is scheduled.
    fn find_pressure(&mut self) {
        for (value, readers) in &self.readers {
            if let Some(last) = readers.last() {
                self.nodes[last].pressure -= self.units(*value) as isize;
            }
        }
        for (index, instr) in self.block.instrs.iter().enumerate() {
            for value in instr.written_values() {
                if self.readers.get(&value).is_some_and(Readers::is_needed) {
                    self.nodes[index].pressure += self.units(value) as isize;
                }
            }
        }
    }

    fn find_heights(&mut self) {
        // What a branch asks is wanted at the end.
        let branch = slots(Producer::Alu, Consumer::Other).into();
        for index in (0..self.nodes.len()).rev() {
            let after = self.nodes[index].after.iter();
            let heights = after.map(|(to, slots)| slots + 1 + self.nodes[*to].height);
            let asked = self.block.instrs[index]
                .written_values()
                .any(|value| self.classes[value.index()] == Class::Predicate);
            let least = if asked { branch } else { 0 };
            self.nodes[index].height = heights.max().unwrap_or(0).max(least);
        }
    }

    fn units(&self, value: Value) -> usize {
        match self.classes[value.index()] {
            class @ (Class::Full | Class::Half) => class.units(),
            Class::Shared | Class::Predicate => 0,
        }
    }

    fn edge(&mut self, earlier: usize, later: usize, slots: u32) {
        self.nodes[earlier].after.push((later, slots));
        self.nodes[later].before += 1;
    }

    /// Readers come after definitions.
    fn add_values(&mut self) {
        let block = self.block;
        let mut definitions: HashMap<Value, usize> = HashMap::default();
        for (index, instr) in block.instrs.iter().enumerate() {
            for value in distinct_reads(instr) {
                let readers = self.readers.entry(value).or_default();
                readers.change(index, |count| count + 1);
            }
            for (number, value) in instr.read_values().enumerate() {
                if let Some(&definition) = definitions.get(&value) {
                    let slots = distance(&block.instrs[definition], instr, number);
                    self.edge(definition, index, slots);
                }
            }
            for value in instr.written_values() {
                definitions.insert(value, index);
                self.readers.entry(value).or_default();
            }
        }
    }

    /// What does more than give a result keeps its place among its like.
    fn add_order(&mut self, preloaded: &[Value]) {
        let block = self.block;
        // By memory: the last write, and the reads since.
        let mut writes: HashMap<Space, usize> = HashMap::default();
        let mut reads: HashMap<Space, Vec<usize>> = HashMap::default();
        let (mut barrier, mut lanes, mut volatile) = (None, None, None);
        for (index, instr) in block.instrs.iter().enumerate() {
            // What is there at the start leaves its register first of all.
            let pinned = instr.read_values().any(|value| preloaded.contains(&value));
            if pinned || instr.op.effect() == Effect::Order {
                let first = barrier.unwrap_or(0);
                (first..index).for_each(|earlier| self.edge(earlier, index, 0));
                barrier = Some(index);
                continue;
            }
            if let Some(barrier) = barrier {
                self.edge(barrier, index, 0);
            }
            if instr.op.effect() == Effect::Lanes
                && let Some(last) = lanes.replace(index)
            {
                self.edge(last, index, 0);
            }
            if instr.volatile
                && let Some(last) = volatile.replace(index)
            {
                self.edge(last, index, 0);
            }
            let Some(space) = instr.space.filter(|space| *space != Space::Constant) else {
                continue;
            };
            if let Some(&write) = writes.get(&space) {
                self.edge(write, index, 0);
            }
            match instr.op.effect() {
                Effect::Store => {
                    for read in reads.remove(&space).unwrap_or_default() {
                        self.edge(read, index, 0);
                    }
                    writes.insert(space, index);
                }
                _ => reads.entry(space).or_default().push(index),
            }
        }
    }

    fn order(mut self) -> Vec<usize> {
        for index in 0..self.nodes.len() {
            if self.nodes[index].before == 0 {
                self.ready.insert(self.candidate(index));
            }
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut now = 0;
        while let Some(index) = self.ready.first(self.goal()) {
            self.ready.remove(self.candidate(index));
            now = now.max(self.nodes[index].ready) + 1;
            self.ready.advance(now);
            self.place(index);
            for (to, slots) in std::mem::take(&mut self.nodes[index].after) {
                let node = &mut self.nodes[to];
                node.ready = node.ready.max(now + slots);
                node.before -= 1;
                if node.before == 0 {
                    self.ready.insert(self.candidate(to));
                }
            }
            order.push(index);
        }
        order
    }

    fn goal(&self) -> Goal {
        if self.live > PLENTY {
            Goal::Pressure
        } else {
            Goal::Latency
        }
    }

    fn candidate(&self, index: usize) -> Candidate {
        let node = &self.nodes[index];
        Candidate {
            index,
            ready: node.ready,
            height: node.height,
            pressure: node.pressure,
        }
    }

    /// Counts an instruction as scheduled: with the last reader of a value its registers are free.
    fn place(&mut self, index: usize) {
        self.live = self.live.saturating_add_signed(self.nodes[index].pressure);
        for value in distinct_reads(&self.block.instrs[index]) {
            let Some(readers) = self.readers.get_mut(&value) else {
                continue;
            };
            readers.change(index, |count| count - 1);
            let Some(last) = readers.last() else {
                continue;
            };
            let was_ready = self.ready.remove(self.candidate(last));
            self.nodes[last].pressure -= self.units(value) as isize;
            if was_ready {
                self.ready.insert(self.candidate(last));
            }
        }
    }
}

/// The values that an instruction reads, each once.
fn distinct_reads(instr: &Instr) -> SmallVec<[Value; 8]> {
    let mut distinct = SmallVec::new();
    for value in instr.read_values() {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Slots between what gives a result and what reads it as its source of that number.
fn distance(producer: &Instr, consumer: &Instr, number: usize) -> u32 {
    match producer.op.isa(producer.atomic).row().layout.latency {
        Latency::None => 0,
        Latency::Slots => {
            let third = number == 2
                && matches!(
                    consumer.op,
                    Op::MadU24 | Op::MadF16 | Op::MadF32 | Op::MadshM16
                );
            let consumer = match category(consumer) {
                1..=3 if third => Consumer::Accumulator,
                1..=3 => Consumer::Alu,
                _ => Consumer::Other,
            };
            slots(Producer::Alu, consumer).into()
        }
        Latency::Ss => SHORT,
        Latency::Sy | Latency::SsAndSy => LONG,
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
