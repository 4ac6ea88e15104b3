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

/// What is known of an instruction.
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
}

/// A block that is being scheduled.
struct List<'b> {
    block: &'b Block,
    classes: &'b [Class],
    nodes: Vec<Node>,
    /// By value of the block, or that it reads: how many instructions have still to read it. What lives on has one more.
    readers: HashMap<Value, usize>,
    /// Units that live now.
    live: usize,
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
        };
        list.add_values();
        list.add_order(preloaded);
        at_end
            .iter()
            .for_each(|value| *list.readers.entry(*value).or_default() += 1);
        let written: HashSet<Value> = block
            .instrs
            .iter()
            .flat_map(|instr| instr.written_values())
            .collect();
        let entering = list.readers.keys().filter(|value| !written.contains(value));
        list.live = entering.map(|value| list.units(*value)).sum();
        // What a branch asks is wanted at the end.
        let branch = slots(Producer::Alu, Consumer::Other).into();
        for index in (0..list.nodes.len()).rev() {
            let after = list.nodes[index].after.iter();
            let heights = after.map(|(to, slots)| slots + 1 + list.nodes[*to].height);
            let asked = block.instrs[index]
                .written_values()
                .any(|value| classes[value.index()] == Class::Predicate);
            let least = if asked { branch } else { 0 };
            list.nodes[index].height = heights.max().unwrap_or(0).max(least);
        }
        list
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
            for (number, value) in instr.read_values().enumerate() {
                *self.readers.entry(value).or_default() += 1;
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
        let mut open: Vec<usize> = (0..self.nodes.len())
            .filter(|&index| self.nodes[index].before == 0)
            .collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut now = 0;
        while !open.is_empty() {
            let chosen = self.choose(&open, now);
            let index = open.swap_remove(chosen);
            now = now.max(self.nodes[index].ready) + 1;
            self.place(index);
            for (to, slots) in std::mem::take(&mut self.nodes[index].after) {
                let node = &mut self.nodes[to];
                node.ready = node.ready.max(now + slots);
                node.before -= 1;
                if node.before == 0 {
                    open.push(to);
                }
            }
            order.push(index);
        }
        order
    }

    /// The place in `open` of what comes next.
    fn choose(&self, open: &[usize], now: u32) -> usize {
        let tight = self.live > PLENTY;
        let key = |index: usize| {
            let node = &self.nodes[index];
            let waits = i64::from(node.ready.saturating_sub(now));
            let height = -i64::from(node.height);
            let gain = self.gain(index) as i64;
            // Equal ones stay in order.
            match tight {
                true => (gain, waits, height, index),
                false => (waits, height, gain, index),
            }
        };
        let best = (0..open.len()).min_by_key(|&place| key(open[place]));
        best.unwrap_or(0)
    }

    /// Units that live more after an instruction than before.
    fn gain(&self, index: usize) -> isize {
        let instr = &self.block.instrs[index];
        let mut gain = 0;
        for value in instr.written_values() {
            if self.readers.get(&value).is_some_and(|left| *left > 0) {
                gain += self.units(value) as isize;
            }
        }
        let mut seen: SmallVec<[Value; 8]> = SmallVec::new();
        for value in instr.read_values() {
            if seen.contains(&value) {
                continue;
            }
            seen.push(value);
            let own = instr.read_values().filter(|read| *read == value).count();
            if self.readers.get(&value) == Some(&own) {
                gain -= self.units(value) as isize;
            }
        }
        gain
    }

    fn place(&mut self, index: usize) {
        self.live = self.live.saturating_add_signed(self.gain(index));
        for value in self.block.instrs[index].read_values() {
            if let Some(left) = self.readers.get_mut(&value) {
                *left -= 1;
            }
        }
    }
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
