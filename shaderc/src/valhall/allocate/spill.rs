//! Spilling: keeps values in thread-local memory and brings them back for each use.
//!
//! All members of a bundle that sit at one word share a spill slot, as they would have shared a register; copies
//! between them become notes for the checker. A value that one cheap instruction makes (a constant, a uniform) is made
//! again instead. Every word has its own slot of 4 bytes, so no access straddles 16.
//! Facts: hardware/compiler-abi.md 3.8, hardware/compiler-backend.md 7.2, 7.5.

use smallvec::smallvec;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::valhall::mir::{
    Function, Half, Instr, Location, Modifier, Op, Operand, Source, Space, Special, Value, Word,
};

/// What spilling leaves behind for the next round and for the checker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spills {
    /// Short-lived values, each with the value of the program whose bits it carries.
    pub(crate) stands_for: BTreeMap<Value, Value>,
    /// Of those, the ones that were made again, with the instruction that made the original.
    pub(crate) remade: BTreeSet<Value>,
    /// Copies between values of one slot: `(to, from, slot offset)`. A `NOP` with the index keeps their place.
    pub(crate) renames: Vec<(Value, Value, i64)>,
    /// Values that spilling made: they can't be spilled again.
    pub(crate) keep: BTreeSet<Value>,
    pub(crate) stores: usize,
    pub(crate) loads: usize,
}

/// Where a spilled value is.
#[derive(Clone, Debug)]
enum Home {
    /// At this offset of thread-local memory.
    Slot(i64),
    /// Nowhere: this instruction makes it.
    Remake(Box<Instr>),
}

/// Bytes of thread-local memory that one access can reach from the pointer.
const REACH: u32 = 0x7ffc;

/// Moves the members of `bundles` (each with its word) out of registers. False when thread-local memory is used up.
pub(crate) fn spill(
    function: &mut Function,
    spills: &mut Spills,
    bundles: &[Vec<(Value, usize)>],
) -> bool {
    let mut homes = BTreeMap::new();
    let made = Remakes::find(function);
    for members in bundles {
        let mut slots: BTreeMap<usize, i64> = BTreeMap::new();
        for &(value, word) in members
            .iter()
            .filter(|(value, _)| !spills.keep.contains(value))
        {
            if let Some(instr) = made.of(value) {
                homes.insert(value, Home::Remake(Box::new(instr.clone())));
                continue;
            }
            let slot = *slots.entry(word).or_insert_with(|| {
                let slot = i64::from(function.scratch_bytes);
                function.scratch_bytes += 4;
                slot
            });
            homes.insert(value, Home::Slot(slot));
        }
    }
    if function.scratch_bytes > REACH {
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
struct Remakes(Vec<Option<Instr>>);

impl Remakes {
    fn find(function: &Function) -> Remakes {
        let mut made = vec![None; function.values as usize];
        let mut written = vec![false; function.values as usize];
        for preload in &function.preloads {
            if let Some(value) = preload.dest.value() {
                written[value.index()] = true;
            }
        }
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            let cheap = matches!(instr.op, Op::Mov | Op::IAddImm) && instr.reads().next().is_none();
            for value in instr.written_values() {
                let first = !std::mem::replace(&mut written[value.index()], true);
                made[value.index()] = (first && cheap).then(|| instr.clone());
            }
        }
        Remakes(made)
    }

    fn of(&self, value: Value) -> Option<&Instr> {
        self.0.get(value.index())?.as_ref()
    }
}

struct Rewriter<'a> {
    function: &'a mut Function,
    spills: &'a mut Spills,
    homes: BTreeMap<Value, Home>,
}

impl Rewriter<'_> {
    fn run(mut self) {
        let mut entry = Vec::new();
        for index in 0..self.function.preloads.len() {
            if let Some(value) = self.function.preloads[index].dest.value()
                && let Some(Home::Slot(slot)) = self.homes.get(&value).cloned()
            {
                let fresh = self.stand_in(value);
                self.function.preloads[index].dest = Word::Value(fresh);
                entry.push(self.store(slot, fresh, Location::default()));
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
                if let crate::valhall::mir::Terminator::Branch { condition, .. } =
                    &mut self.function.blocks[index].terminator
                {
                    condition.operand = Operand::Word(Word::Value(fresh));
                }
            }
            self.function.blocks[index].instrs = out;
        }
    }

    fn rewrite(&mut self, mut instr: Instr, out: &mut Vec<Instr>) {
        if self.rewrite_copy(&instr, out) {
            return;
        }
        let mut brought: BTreeMap<Value, Value> = BTreeMap::new();
        let wanted: Vec<Value> = instr
            .read_values()
            .filter(|value| self.homes.contains_key(value))
            .collect();
        for value in wanted {
            if let Entry::Vacant(entry) = brought.entry(value) {
                entry.insert(self.bring(value, instr.location, out));
            }
        }
        instr.map_reads(|word| {
            word.value()
                .and_then(|value| brought.get(&value))
                .map_or(word, |&fresh| Word::Value(fresh))
        });
        let mut stores = Vec::new();
        for index in 0..instr.dests.len() {
            let Some(value) = instr.dests[index].value() else {
                continue;
            };
            match self.homes.get(&value).cloned() {
                Some(Home::Slot(slot)) => {
                    let fresh = self.stand_in(value);
                    instr.dests[index] = Word::Value(fresh);
                    stores.push(self.store(slot, fresh, instr.location));
                }
                // Every use makes it again.
                Some(Home::Remake(_)) => return,
                None => {}
            }
        }
        out.push(instr);
        out.append(&mut stores);
    }

    /// A copy from or to memory is a load or a store alone. True when `instr` was one.
    fn rewrite_copy(&mut self, instr: &Instr, out: &mut Vec<Instr>) -> bool {
        let Some((Word::Value(to), Word::Value(from))) = instr.as_copy() else {
            return false;
        };
        match (self.homes.get(&to).cloned(), self.homes.get(&from).cloned()) {
            (Some(Home::Slot(slot)), Some(Home::Slot(other))) if slot == other => {
                let note = self.spills.renames.len() as i64;
                self.spills.renames.push((to, from, slot));
                out.push(Instr {
                    immediate: Some(note),
                    location: instr.location,
                    ..Instr::new(Op::Nop)
                });
                true
            }
            _ => false,
        }
    }

    /// Brings a value into a register for one use.
    fn bring(&mut self, value: Value, location: Location, out: &mut Vec<Instr>) -> Value {
        let fresh = self.stand_in(value);
        match self.homes.get(&value).cloned() {
            Some(Home::Slot(slot)) => {
                self.spills.loads += 1;
                let load = Instr {
                    dests: smallvec![Word::Value(fresh)],
                    ..spill_access(Op::Load32, slot, location)
                };
                out.push(load.with(Modifier::Unsigned));
            }
            Some(Home::Remake(instr)) => {
                self.spills.remade.insert(fresh);
                out.push(Instr {
                    dests: smallvec![Word::Value(fresh)],
                    location,
                    ..*instr
                });
            }
            None => {}
        }
        fresh
    }

    fn store(&mut self, slot: i64, value: Value, location: Location) -> Instr {
        self.spills.stores += 1;
        Instr {
            staging: smallvec![Word::Value(value)],
            ..spill_access(Op::Store32, slot, location)
        }
    }

    /// A new value that carries the bits of `value` for a moment.
    fn stand_in(&mut self, value: Value) -> Value {
        let fresh = self.function.new_value();
        let original = self.spills.stands_for.get(&value).copied().unwrap_or(value);
        self.spills.stands_for.insert(fresh, original);
        self.spills.keep.insert(fresh);
        fresh
    }
}

/// An access to a spill slot. Lanes that the shader discarded need their slots too: hence `force`.
fn spill_access(op: Op, slot: i64, location: Location) -> Instr {
    let pointer = Source::plain(Operand::Special(Special::ThreadLocalPointer, Half::Low));
    Instr {
        sources: smallvec![pointer],
        immediate: Some(slot),
        space: Some(Space::Spill),
        location,
        ..Instr::new(op)
    }
    .with(Modifier::Force)
}
