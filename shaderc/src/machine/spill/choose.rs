//! Choice: which values are in registers where, by Belady's rule over the blocks in their order.
//!
//! When registers run out, the value goes whose next use is farthest. At the start of a block stays what all its
//! predecessors have, then what some have and is needed soonest; at a loop's start what the loop needs soonest, and what
//! only lives through it as far as the loop leaves room. A value that is needed and is not there gets a new name there, by
//! which it is known from then on.
//! Facts: hardware/compiler-backend.md 7.2.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap as HashMap;

use super::analysis::{Analysis, ReadsOfBlock};
use super::next_use::{Distances, LOOP, units};
use crate::machine::allocate::spill::Spills;
use crate::machine::{BlockId, Function, Instruction, Location, Machine, Phi, Reads, Value, Word};

/// The values in registers at a place, and by which names.
pub(super) type Held = BTreeMap<Value, Value>;

/// What stands in a block once it is known what is spilled, and before slots are.
pub(super) enum Item<M: Machine> {
    Instr(M::Instr),
    /// Brings a value from its slot to a name.
    Reload {
        value: Value,
        name: Value,
        location: Location,
    },
    /// Puts a name into the slot of a value that is a phi in memory.
    Store {
        value: Value,
        name: Value,
    },
    /// The slot of a value has its operand already.
    Same {
        value: Value,
        operand: Value,
    },
}

/// A value that has several names at the start of a block: a phi of them.
pub(super) struct Repair {
    pub(super) block: BlockId,
    pub(super) value: Value,
    pub(super) name: Value,
    /// By predecessor.
    pub(super) sources: Vec<(BlockId, Value)>,
}

/// The choice, as it goes on.
pub(super) struct Choice<'a, M: Machine> {
    pub(super) function: &'a mut Function<M>,
    pub(super) spills: &'a mut Spills,
    /// Of the function as it was.
    pub(super) analysis: &'a Analysis<M>,
    /// Units that may be in use at once.
    room: usize,
    /// Values that are brought back from memory.
    pub(super) spilled: BTreeSet<Value>,
    /// Phis whose results are in memory from the start, by block.
    pub(super) in_memory: HashMap<BlockId, Vec<Phi<M>>>,
    pub(super) repairs: Vec<Repair>,
    /// By block.
    pub(super) items: Vec<Vec<Item<M>>>,
    pub(super) exits: Vec<Held>,
}

/// A block while it is gone through.
struct Place<'a> {
    /// Its reads.
    reads: &'a ReadsOfBlock,
    length: u32,
    end: &'a Distances,
}

impl<'a> Place<'a> {
    fn of<M: Machine>(analysis: &'a Analysis<M>, id: BlockId) -> Place<'a> {
        Place {
            reads: &analysis.reads[id.index()],
            length: analysis.function.block(id).instrs.len() as u32,
            end: &analysis.uses.ends[id.index()],
        }
    }

    /// How far it is from an instruction to the next that reads a value, itself included.
    fn next(&self, value: Value, at: u32) -> Option<u32> {
        let reads = self.reads.get(&value);
        let next = reads.and_then(|reads| reads.get(reads.partition_point(|&read| read < at)));
        let behind = || {
            let distance = self.end.get(value)?;
            Some(distance.saturating_add(self.length + 1 - at.min(self.length)))
        };
        next.map(|read| read - at).or_else(behind)
    }
}

impl<'a, M: Machine> Choice<'a, M> {
    pub(super) fn new(
        analysis: &'a Analysis<M>,
        function: &'a mut Function<M>,
        spills: &'a mut Spills,
        room: usize,
    ) -> Choice<'a, M> {
        let count = function.blocks.len();
        Choice {
            analysis,
            function,
            spills,
            room,
            spilled: BTreeSet::new(),
            in_memory: HashMap::default(),
            repairs: Vec::new(),
            items: (0..count).map(|_| Vec::new()).collect(),
            exits: vec![Held::new(); count],
        }
    }

    /// Goes through all blocks.
    pub(super) fn run(&mut self) {
        for id in self.function.block_ids() {
            let held = self.start(id);
            let place = Place::of(self.analysis, id);
            self.exits[id.index()] = self.go_through(id, held, &place);
        }
    }

    fn units(&self, value: Value) -> usize {
        units(self.function, value)
    }

    /// How much a value may rather be elsewhere: the farther its next use is and the less it costs to bring it back.
    fn dispensable(&self, value: Value, distance: Option<u32>) -> u64 {
        // A store and a load, a load alone, an instruction.
        let cheap = match (
            self.analysis.remakes.of(value),
            self.spilled.contains(&value),
        ) {
            (Some(_), _) => 8,
            (None, true) => 3,
            (None, false) => 2,
        };
        distance.map_or(u64::MAX, |distance| u64::from(distance + 1) * cheap)
    }

    /// Removes what is most dispensable until so many units are left, but nothing of `stays`.
    fn make_room(&self, held: &mut Held, room: usize, stays: &[Value], place: &Place<'_>, at: u32) {
        let mut total: usize = held.keys().map(|&value| self.units(value)).sum();
        while total > room {
            let candidates = held.keys().filter(|value| !stays.contains(value));
            let Some(&victim) =
                candidates.max_by_key(|&&value| self.dispensable(value, place.next(value, at)))
            else {
                return;
            };
            held.remove(&victim);
            total -= self.units(victim);
        }
    }

    fn go_through(&mut self, id: BlockId, mut held: Held, place: &Place<'_>) -> Held {
        let instrs = std::mem::take(&mut self.function.blocks[id.index()].instrs);
        let mut items = Vec::with_capacity(instrs.len());
        for (at, instr) in instrs.into_iter().enumerate() {
            self.step(instr, &mut held, place, at as u32, &mut items);
        }
        if let Some(value) = self
            .function
            .block(id)
            .terminator
            .read()
            .and_then(Word::value)
            && self.units(value) > 0
        {
            let at = place.length;
            let room = self.room.saturating_sub(self.units(value));
            if !held.contains_key(&value) {
                self.make_room(&mut held, room, &[], place, at);
                let name = self.bring(value, Location::default(), &mut items);
                held.insert(value, name);
            }
            let name = held[&value];
            let terminator = &mut self.function.blocks[id.index()].terminator;
            terminator.map_read(|_| Word::Value(name));
        }
        held.retain(|value, _| place.end.contains(*value));
        self.items[id.index()] = items;
        held
    }

    fn step(
        &mut self,
        mut instr: M::Instr,
        held: &mut Held,
        place: &Place<'_>,
        at: u32,
        items: &mut Vec<Item<M>>,
    ) {
        let counted = |this: &Self, mut values: Vec<Value>| {
            values.sort();
            values.dedup();
            values.retain(|&value| this.units(value) > 0);
            values
        };
        let reads = counted(self, instr.read_values().collect());
        let writes = counted(self, instr.written_values().collect());
        let written: usize = writes.iter().map(|&value| self.units(value)).sum();
        // What lives on beside the copy that a group reads takes its place twice.
        let mut copied = 0;
        let mut bound: Vec<Value> = Vec::new();
        instr.map_bound_reads(|word| {
            if let Some(value) = word.value() {
                if bound.contains(&value) || place.next(value, at + 1).is_some() {
                    copied += units(self.function, value);
                }
                bound.push(value);
            }
            word
        });
        let late = match instr.late_reads().next() {
            Some(_) => written,
            None => 0,
        };
        let missing: Vec<Value> = reads
            .iter()
            .copied()
            .filter(|value| !held.contains_key(value))
            .collect();
        let brought: usize = missing.iter().map(|&value| self.units(value)).sum();
        let room = self.room.saturating_sub(copied + late + brought);
        self.make_room(held, room, &reads, place, at);
        for value in missing {
            let name = self.bring(value, instr.location(), items);
            held.insert(value, name);
        }
        instr.map_reads(|word| {
            let name = word.value().and_then(|value| held.get(&value));
            name.map_or(word, |&name| Word::Value(name))
        });
        items.push(Item::Instr(instr));
        for value in reads {
            if place.next(value, at + 1).is_none() {
                held.remove(&value);
            }
        }
        let room = self.room.saturating_sub(written);
        self.make_room(held, room, &[], place, at + 1);
        for value in writes {
            if place.next(value, at + 1).is_some() {
                held.insert(value, value);
            }
        }
    }

    /// Brings a value into a register, by a new name.
    pub(super) fn bring(
        &mut self,
        value: Value,
        location: Location,
        items: &mut Vec<Item<M>>,
    ) -> Value {
        let name = self.spills.stand_in(self.function, value);
        match self.analysis.remakes.of(value) {
            Some(instr) => {
                let mut again = instr.clone().located(location);
                again.map_writes(|_| Word::Value(name));
                self.spills.remade.insert(name);
                items.push(Item::Instr(again));
            }
            None => {
                self.spilled.insert(value);
                items.push(Item::Reload {
                    value,
                    name,
                    location,
                });
            }
        }
        name
    }

    /// What is in registers at the start of a block.
    fn start(&mut self, id: BlockId) -> Held {
        let predecessors = self.analysis.predecessors.of(id.index());
        let phis = std::mem::take(&mut self.function.blocks[id.index()].phis);
        if predecessors.is_empty() {
            self.function.blocks[id.index()].phis = phis;
            return self.preloaded();
        }
        let starts = &self.analysis.uses.starts[id.index()];
        if let ([from], true) = (predecessors, phis.is_empty()) {
            let mut held = self.exits[from.index()].clone();
            held.retain(|value, _| starts.contains(*value));
            return held;
        }
        let header = predecessors.iter().any(|&from| from >= id);
        let before: Vec<BlockId> = predecessors
            .iter()
            .copied()
            .filter(|&from| from < id)
            .collect();
        let chosen = self.chosen(id, &phis, starts, &before, header);
        let mut held = Held::new();
        let mut kept = Vec::new();
        for phi in phis {
            let counts = self.units(phi.dest) > 0;
            let used = starts.contains(phi.dest);
            if chosen.contains(&phi.dest) {
                held.insert(phi.dest, phi.dest);
            }
            if !counts || !used || chosen.contains(&phi.dest) {
                kept.push(phi);
            } else {
                self.spilled.insert(phi.dest);
                self.in_memory.entry(id).or_default().push(phi);
            }
        }
        self.function.blocks[id.index()].phis = kept;
        for value in chosen {
            if held.contains_key(&value) {
                continue;
            }
            let names: BTreeSet<Option<Value>> = before
                .iter()
                .map(|from| self.exits[from.index()].get(&value).copied())
                .collect();
            let name = match (names.len(), names.first(), header) {
                (1, Some(&Some(name)), false) => name,
                _ => {
                    let name = self.spills.stand_in(self.function, value);
                    self.repairs.push(Repair {
                        block: id,
                        value,
                        name,
                        sources: Vec::new(),
                    });
                    name
                }
            };
            held.insert(value, name);
        }
        held
    }

    /// Preloaded values are there at the start of the program.
    fn preloaded(&mut self) -> Held {
        let starts = &self.analysis.uses.starts[0];
        let place = Place::of(self.analysis, BlockId(0));
        let values: Vec<Value> = self.function.preloaded_values().collect();
        let mut held: Held = values
            .into_iter()
            .filter(|value| {
                self.units(*value) > 0
                    && (starts.contains(*value) || place.next(*value, 0).is_some())
            })
            .map(|value| (value, value))
            .collect();
        self.make_room(&mut held, self.room, &[], &place, 0);
        held
    }

    /// Which of the values that live at the start of a block are in registers there.
    fn chosen(
        &self,
        id: BlockId,
        phis: &[Phi<M>],
        starts: &Distances,
        before: &[BlockId],
        header: bool,
    ) -> BTreeSet<Value> {
        let phis: HashMap<Value, &Phi<M>> = phis.iter().map(|phi| (phi.dest, phi)).collect();
        let there = |from: BlockId, value: Value| match phis.get(&value) {
            // A constant is as good as in a register.
            Some(phi) => phi
                .sources
                .iter()
                .filter(|(source, _)| *source == from)
                .flat_map(|(_, operand)| operand.words())
                .filter_map(Word::value)
                .all(|value| {
                    self.exits[from.index()].contains_key(&value)
                        || self.analysis.remakes.of(value).is_some()
                }),
            None => self.exits[from.index()].contains_key(&value),
        };
        let mut ranked: Vec<(u8, u64, Value)> = Vec::new();
        let mut through: Vec<(u64, Value)> = Vec::new();
        let mut all_through = 0;
        let candidates: Vec<(Value, u32)> = match header {
            true => starts.iter().collect(),
            // What no predecessor has is brought where it is read.
            false => {
                let exits = before.iter().map(|from| &self.exits[from.index()]);
                let held = exits.flat_map(|held| held.keys().copied());
                let values: BTreeSet<Value> = held.chain(phis.keys().copied()).collect();
                let living = values.into_iter();
                living
                    .filter_map(|value| Some((value, starts.get(value)?)))
                    .collect()
            }
        };
        for (value, distance) in candidates {
            if self.units(value) == 0 {
                continue;
            }
            let count = before.iter().filter(|&&from| there(from, value)).count();
            let far = self.dispensable(value, Some(distance));
            let remade = self.analysis.remakes.of(value).is_some();
            match (header, count) {
                (true, _) if distance >= LOOP => {
                    all_through += self.units(value);
                    if count == before.len() {
                        through.push((far, value));
                    }
                }
                (true, count) if !remade || count == before.len() => ranked.push((0, far, value)),
                (false, count) if count == before.len() => ranked.push((0, far, value)),
                (false, 1..) if !remade => ranked.push((1, far, value)),
                _ => {}
            }
        }
        ranked.sort();
        let mut chosen = BTreeSet::new();
        let mut left = self.room;
        let mut take = |value: Value, left: &mut usize| {
            if let Some(rest) = left.checked_sub(self.units(value)) {
                *left = rest;
                chosen.insert(value);
            }
        };
        for (_, _, value) in ranked {
            take(value, &mut left);
        }
        // What lives through a loop may stay as far as the loop itself leaves room.
        let latches = self.analysis.predecessors.of(id.index()).iter();
        let last = latches.filter(|from| **from >= id).max();
        let blocks = last.map_or(0..0, |last| id.index()..last.index() + 1);
        let pressure = self.analysis.uses.pressure[blocks]
            .iter()
            .max()
            .copied()
            .unwrap_or(0);
        let inner = pressure.saturating_sub(all_through);
        let mut left = left.min(self.room.saturating_sub(inner));
        through.sort();
        for (_, value) in through {
            take(value, &mut left);
        }
        chosen
    }
}
