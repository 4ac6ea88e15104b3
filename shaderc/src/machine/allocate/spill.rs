//! Spilling of whole values: keeps them in a thread's own memory and brings them back for each use. Where `machine::spill`,
//! which knows better what to keep, has left words that find no place.
//!
//! All members of a bundle that sit at one place share a spill slot, as they would have shared a register; copies
//! between them become notes for the checker. A value that one cheap instruction makes (a constant, a uniform) is made
//! again instead. Every value has its own slot of 4 bytes, so no access straddles 16.
//! Facts: hardware/compiler-backend.md 7.2, 7.5.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{Function, Instruction, Location, Machine, SpillSlot, Value, Word};

/// What spilling leaves behind for the next round and for the checker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spills {
    /// Short-lived values, each with the value of the program whose bits it carries.
    pub(crate) stands_for: BTreeMap<Value, Value>,
    /// Of those, the ones that were made again, with the instruction that made the original.
    pub(crate) remade: BTreeSet<Value>,
    /// Copies between values of one slot: `(to, from, slot offset)`. A note with the index keeps their place.
    pub(crate) renames: Vec<(Value, Value, u32)>,
    /// Values that spilling made: they can't be spilled again.
    pub(crate) keep: BTreeSet<Value>,
    pub(crate) stores: usize,
    pub(crate) loads: usize,
}

impl Spills {
    /// Whether nothing was spilled.
    pub(crate) fn is_empty(&self) -> bool {
        self.stores == 0 && self.loads == 0 && self.remade.is_empty()
    }

    /// A new value that carries the bits of `value`.
    pub(crate) fn stand_in<M: Machine>(
        &mut self,
        function: &mut Function<M>,
        value: Value,
    ) -> Value {
        let fresh = function.new_value_of(function.class(value));
        let original = self.stands_for.get(&value).copied().unwrap_or(value);
        self.stands_for.insert(fresh, original);
        fresh
    }

    /// Makes values that only an access to a slot needs: they stay in registers.
    pub(crate) fn temporaries<M: Machine>(
        &mut self,
        function: &mut Function<M>,
    ) -> impl FnMut(M::Class) -> Value {
        |class| {
            let fresh = function.new_value_of(class);
            self.keep.insert(fresh);
            fresh
        }
    }
}

/// Where a spilled value is.
#[derive(Clone, Debug)]
enum Home<M: Machine> {
    /// At this offset of the thread's memory.
    Slot(u32),
    /// Nowhere: this instruction makes it.
    Remake(Box<M::Instr>),
}

/// Moves the members of `bundles` (each with its unit) out of registers. False when the memory is used up.
pub(crate) fn spill<M: Machine>(
    function: &mut Function<M>,
    spills: &mut Spills,
    bundles: &[Vec<(Value, usize)>],
) -> bool {
    let mut homes = BTreeMap::new();
    let made = Remakes::find(function);
    for members in bundles {
        let mut slots: BTreeMap<usize, u32> = BTreeMap::new();
        for &(value, unit) in members
            .iter()
            .filter(|(value, _)| !spills.keep.contains(value))
        {
            if let Some(instr) = made.of(value) {
                homes.insert(value, Home::Remake(Box::new(instr.clone())));
                continue;
            }
            let slot = *slots.entry(unit).or_insert_with(|| {
                let slot = function.scratch_bytes;
                function.scratch_bytes += 4;
                slot
            });
            homes.insert(value, Home::Slot(slot));
        }
    }
    if function.scratch_bytes > M::SPILL_REACH {
        return false;
    }
    Rewriter {
        function,
        spills,
        homes,
    }
    .run();
    true
}

/// Values that one instruction alone defines, when it reads nothing that could change or that needs a register.
pub(crate) struct Remakes<M: Machine>(Vec<Option<M::Instr>>);

impl<M: Machine> Remakes<M> {
    pub(crate) fn find(function: &Function<M>) -> Remakes<M> {
        let mut made = vec![None; function.values.len()];
        let mut written = vec![false; function.values.len()];
        for value in function.preloaded_values() {
            written[value.index()] = true;
        }
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            let cheap = instr.may_be_remade();
            for value in instr.written_values() {
                let first = !std::mem::replace(&mut written[value.index()], true);
                made[value.index()] = (first && cheap).then(|| instr.clone());
            }
        }
        Remakes(made)
    }

    /// The instruction.
    pub(crate) fn of(&self, value: Value) -> Option<&M::Instr> {
        self.0.get(value.index())?.as_ref()
    }
}

struct Rewriter<'a, M: Machine> {
    function: &'a mut Function<M>,
    spills: &'a mut Spills,
    homes: BTreeMap<Value, Home<M>>,
}

impl<M: Machine> Rewriter<'_, M> {
    fn run(mut self) {
        let mut entry = Vec::new();
        for index in 0..self.function.preloads.len() {
            if let Some(value) = self.function.preloads[index].dest.value()
                && let Some(Home::Slot(slot)) = self.homes.get(&value).cloned()
            {
                let fresh = self.stand_in(value);
                self.function.preloads[index].dest = Word::Value(fresh);
                self.store(slot, fresh, Location::default(), &mut entry);
            }
        }
        for index in 0..self.function.blocks.len() {
            let instrs = std::mem::take(&mut self.function.blocks[index].instrs);
            let mut out = if index == 0 {
                std::mem::take(&mut entry)
            } else {
                Vec::new()
            };
            for instr in instrs {
                self.rewrite(instr, &mut out);
            }
            if let Some(value) = self.function.blocks[index]
                .terminator
                .read()
                .and_then(Word::value)
                && self.homes.contains_key(&value)
            {
                let fresh = self.bring(value, Location::default(), &mut out);
                let terminator = &mut self.function.blocks[index].terminator;
                terminator.map_read(|_| Word::Value(fresh));
            }
            self.function.blocks[index].instrs = out;
        }
    }

    fn rewrite(&mut self, mut instr: M::Instr, out: &mut Vec<M::Instr>) {
        if self.rewrite_copy(&instr, out) {
            return;
        }
        let location = instr.location();
        let mut brought: BTreeMap<Value, Value> = BTreeMap::new();
        let wanted: Vec<Value> = instr
            .read_values()
            .filter(|value| self.homes.contains_key(value))
            .collect();
        for value in wanted {
            if let Entry::Vacant(entry) = brought.entry(value) {
                entry.insert(self.bring(value, location, out));
            }
        }
        instr.map_reads(|word| {
            word.value()
                .and_then(|value| brought.get(&value))
                .map_or(word, |&fresh| Word::Value(fresh))
        });
        // Every use makes it again.
        let remade = |value| matches!(self.homes.get(&value), Some(Home::Remake(_)));
        if instr.written_values().any(remade) {
            return;
        }
        let mut stores = Vec::new();
        instr.map_writes(|word| {
            let home = word
                .value()
                .and_then(|value| Some((value, self.homes.get(&value)?)));
            let Some((value, &Home::Slot(slot))) = home else {
                return word;
            };
            let fresh = self.stand_in(value);
            self.store(slot, fresh, location, &mut stores);
            Word::Value(fresh)
        });
        out.push(instr);
        out.append(&mut stores);
    }

    /// A copy from one slot to itself is nothing. True when `instr` was one.
    fn rewrite_copy(&mut self, instr: &M::Instr, out: &mut Vec<M::Instr>) -> bool {
        let Some((Word::Value(to), Word::Value(from))) = instr.as_copy() else {
            return false;
        };
        match (self.homes.get(&to), self.homes.get(&from)) {
            (Some(&Home::Slot(slot)), Some(&Home::Slot(other))) if slot == other => {
                out.push(M::note(self.spills.renames.len(), instr.location()));
                self.spills.renames.push((to, from, slot));
                true
            }
            _ => false,
        }
    }

    /// Brings a value into a register for one use.
    fn bring(&mut self, value: Value, location: Location, out: &mut Vec<M::Instr>) -> Value {
        let fresh = self.stand_in(value);
        match self.homes.get(&value).cloned() {
            Some(Home::Slot(offset)) => {
                self.spills.loads += 1;
                let slot = self.slot(offset, fresh, location);
                M::reload(slot, &mut self.spills.temporaries(self.function), out);
            }
            Some(Home::Remake(instr)) => {
                self.spills.remade.insert(fresh);
                let mut again = instr.located(location);
                again.map_writes(|_| Word::Value(fresh));
                out.push(again);
            }
            None => {}
        }
        fresh
    }

    fn store(&mut self, offset: u32, value: Value, location: Location, out: &mut Vec<M::Instr>) {
        self.spills.stores += 1;
        let slot = self.slot(offset, value, location);
        M::spill(slot, &mut self.spills.temporaries(self.function), out);
    }

    fn slot(&self, offset: u32, value: Value, location: Location) -> SpillSlot<M> {
        SpillSlot {
            offset,
            value,
            class: self.function.class(value),
            location,
        }
    }

    /// A new value that carries the bits of `value` for a moment.
    fn stand_in(&mut self, value: Value) -> Value {
        let fresh = self.spills.stand_in(self.function, value);
        self.spills.keep.insert(fresh);
        fresh
    }
}
