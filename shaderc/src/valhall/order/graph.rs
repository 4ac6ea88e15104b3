//! Order within a block: what must stay behind what, for the passes that move instructions.
//!
//! Definitions stay before uses, accesses to one memory in order where one of them writes or a fence of it stands between,
//! and volatile accesses, cross-lane operations and barriers among themselves.

use rustc_hash::FxHashMap as HashMap;

use crate::valhall::mir::{Block, Instr, Instruction, Message, Space, Value, Word};

/// What must stay behind what.
pub(in crate::valhall) struct Graph {
    /// By instruction: those that must come before it.
    pub(in crate::valhall) before: Vec<Vec<usize>>,
    /// By instruction: how many must still come after it.
    pub(in crate::valhall) after: Vec<usize>,
    /// By instruction: the one that it was last put before, so that it is put there once.
    last: Vec<usize>,
}

impl Graph {
    /// The edges to one instruction are added one after the other.
    fn add(&mut self, earlier: usize, later: usize) {
        if std::mem::replace(&mut self.last[earlier], later) != later {
            self.before[later].push(earlier);
            self.after[earlier] += 1;
        }
    }

    /// That of a block. Copies of words that arrive in registers keep their place.
    pub(in crate::valhall) fn build(block: &Block, preloaded: &[Word]) -> Graph {
        let count = block.instrs.len();
        let mut graph = Graph {
            before: vec![Vec::new(); count],
            after: vec![0; count],
            last: vec![usize::MAX; count],
        };
        let mut definitions: HashMap<Value, usize> = HashMap::default();
        // By memory: the last write, and the reads since.
        let mut writes: HashMap<Space, usize> = HashMap::default();
        let mut reads: HashMap<Space, Vec<usize>> = HashMap::default();
        let mut last_barrier: Option<usize> = None;
        let mut last_ordered: Option<usize> = None;
        let mut last_volatile: Option<usize> = None;
        for (index, instr) in block.instrs.iter().enumerate() {
            for value in instr.read_values() {
                if let Some(&definition) = definitions.get(&value) {
                    graph.add(definition, index);
                }
            }
            instr.written_values().for_each(|value| {
                definitions.insert(value, index);
            });
            let pinned = instr
                .as_copy()
                .is_some_and(|(_, from)| preloaded.contains(&from));
            let barrier = pinned
                || instr.op.is_pinned()
                || match instr.op.message() {
                    Message::Barrier => true,
                    Message::Fence => instr.space.is_none(),
                    _ => false,
                };
            if barrier {
                // What is before the last one is before this one.
                (last_barrier.unwrap_or(0)..index).for_each(|earlier| graph.add(earlier, index));
                last_barrier = Some(index);
            } else if let Some(last) = last_barrier {
                graph.add(last, index);
            }
            if instr.op.is_cross_lane()
                && let Some(last) = last_ordered.replace(index)
            {
                graph.add(last, index);
            }
            if (instr.volatile || instr.op.message() == Message::Atomic)
                && let Some(last) = last_volatile.replace(index)
            {
                graph.add(last, index);
            }
            let Some(space) = instr.space.filter(|&space| space != Space::Constant) else {
                continue;
            };
            if let Some(&write) = writes.get(&space) {
                graph.add(write, index);
            }
            match instr.op.message() {
                Message::Load => reads.entry(space).or_default().push(index),
                // What a fence is about, it keeps in order as a write would.
                Message::Store | Message::Atomic | Message::Fence => {
                    reads
                        .remove(&space)
                        .into_iter()
                        .flatten()
                        .for_each(|read| graph.add(read, index));
                    writes.insert(space, index);
                }
                Message::No
                | Message::Address
                | Message::Barrier
                | Message::Test
                | Message::Pixel => {}
            }
        }
        graph
    }
}

/// Puts the instructions of a block into an order: the number of each, once.
pub(in crate::valhall) fn reorder(block: &mut Block, order: &[usize]) {
    let instrs = std::mem::take(&mut block.instrs);
    let mut instrs: Vec<Option<Instr>> = instrs.into_iter().map(Some).collect();
    block.instrs = order
        .iter()
        .filter_map(|&index| instrs[index].take())
        .collect();
}
