//! Checker: proves that after allocation each use reads the value that the program meant.
//!
//! Follows the allocated function over all paths, knowing for every unit of registers and every spill slot which parts of
//! which values of the program it holds, whatever the allocator believed. A copy makes both places hold both values;
//! another definition makes every other place forget the value; where paths meet, only what all of them hold is held.

mod held;
mod wrong;

use std::collections::BTreeSet;
use std::fmt;

use rustc_hash::FxHashMap;

use super::Registers;
use super::spill::Spills;
use crate::machine::{
    BlockId, Class, Copies, Function, Instruction, Machine, Register, SpillAccess, Value, Word,
};

use self::held::{Held, Part, Place};
pub(crate) use self::wrong::Wrong;

struct Checker<'a, M: Machine> {
    /// By value of the original, the instruction that writes it; none if several do.
    definitions: FxHashMap<Value, Option<&'a M::Instr>>,
    function: &'a Function<M>,
    registers: &'a Registers<M>,
    spills: &'a Spills,
    /// By value of the original: the value that it is a copy of, or itself.
    roots: Vec<Value>,
}

/// By value, what it always equals: a value that is written once, by a copy of one that is written once, never
/// differs from it where both may be read, since the one's definition dominates the other's and that its uses.
fn find_roots<M: Machine>(original: &Function<M>) -> Vec<Value> {
    let mut written = vec![0; original.values.len()];
    let instrs = || original.blocks.iter().flat_map(|block| &block.instrs);
    original
        .preloaded_values()
        .chain(instrs().flat_map(|instr| instr.written_values()))
        .for_each(|value| written[value.index()] += 1);
    let mut roots: Vec<Value> = (0..original.values.len() as u32).map(Value).collect();
    for (to, from) in instrs().filter_map(Instruction::as_copy) {
        if let (Word::Value(to), Word::Value(from)) = (to, from)
            && written[to.index()] == 1
            && written[from.index()] == 1
        {
            roots[to.index()] = from;
        }
    }
    (0..roots.len()).for_each(|index| {
        while roots[roots[index].index()] != roots[index] {
            roots[index] = roots[roots[index].index()];
        }
    });
    roots
}

fn find_definitions<M: Machine>(original: &Function<M>) -> FxHashMap<Value, Option<&M::Instr>> {
    let mut definitions = FxHashMap::default();
    for instr in original.blocks.iter().flat_map(|block| &block.instrs) {
        for value in instr.written_values() {
            let known = definitions.entry(value);
            known
                .and_modify(|known| *known = None)
                .or_insert(Some(instr));
        }
    }
    definitions
}

/// Checks `function` with `registers`. `original` is what it was before anything was spilled, `program` what it was before
/// values were put into memory whole: those that this has are its own.
pub(crate) fn check<M: Machine>(
    [original, program]: [&Function<M>; 2],
    function: &Function<M>,
    registers: &Registers<M>,
    spills: &Spills,
) -> Result<(), Wrong<M>> {
    let checker = Checker {
        definitions: find_definitions(original),
        function,
        registers,
        spills,
        roots: find_roots(program),
    };
    let mut entries: Vec<Option<Held>> = vec![None; function.blocks.len()];
    let mut entry = Held::default();
    for preload in &function.preloads {
        if let Some(value) = preload.dest.value() {
            checker.define(&mut entry, value);
            if checker.register(value) != Some(preload.register) {
                let holds = vec![value];
                let text = format!("preload of {}", preload.register);
                return Err(Wrong::Holds {
                    block: BlockId(0),
                    text,
                    value,
                    register: checker.register(value),
                    holds,
                });
            }
        }
    }
    entries[0] = Some(entry);
    // In order of the layout, so that few blocks are seen before what comes before them.
    let mut work = BTreeSet::from([BlockId(0)]);
    while let Some(id) = work.pop_first() {
        let Some(mut held) = entries[id.index()].clone() else {
            continue;
        };
        let block = function.block(id);
        for instr in &block.instrs {
            checker.step(id, instr, &mut held)?;
        }
        if let Some(Word::Value(value)) = block.terminator.read() {
            checker.read(id, &block.terminator, value, &held)?;
        }
        for to in block.terminator.successors() {
            let met = match &entries[to.index()] {
                Some(known) => known.meet(&held),
                None => held.clone(),
            };
            if entries[to.index()].as_ref() != Some(&met) {
                entries[to.index()] = Some(met);
                work.insert(to);
            }
        }
    }
    Ok(())
}

impl<M: Machine> Checker<'_, M> {
    fn register(&self, value: Value) -> Option<M::Register> {
        self.registers[value.index()]
    }

    /// The units of a value, each by its place; none while it has no register.
    fn places(&self, value: Value) -> impl Iterator<Item = (u32, Place)> + use<M> {
        let units = self.function.class(value).units() as u32;
        let first = self.register(value).map(|register| register.unit() as u32);
        let places =
            first.map(|first| (0..units).map(move |unit| (unit, Place::Unit(first + unit))));
        places.into_iter().flatten()
    }

    /// The program's value whose bits `value` carries, by its root.
    fn meant(&self, value: Value) -> Value {
        let value = self.spills.stands_for.get(&value).copied().unwrap_or(value);
        self.roots.get(value.index()).copied().unwrap_or(value)
    }

    fn read(
        &self,
        block: BlockId,
        text: &dyn fmt::Display,
        value: Value,
        held: &Held,
    ) -> Result<(), Wrong<M>> {
        let meant = self.meant(value);
        let register = self.register(value);
        let mut places = self.places(value);
        let wrong = places.find(|(unit, place)| !held.holds(*place, (meant, *unit)));
        if register.is_some() && wrong.is_none() {
            return Ok(());
        }
        let there = wrong.into_iter().flat_map(|(_, place)| held.at(place));
        Err(Wrong::Holds {
            block,
            text: text.to_string(),
            value: meant,
            register,
            holds: there.map(|(value, _)| value).collect(),
        })
    }

    /// A new definition: this register holds it, and it is nowhere else any more.
    fn define(&self, held: &mut Held, value: Value) {
        let meant = self.meant(value);
        held.forget(meant);
        for (unit, place) in self.places(value) {
            held.set(place, [(meant, unit)]);
        }
    }

    fn step(&self, block: BlockId, instr: &M::Instr, held: &mut Held) -> Result<(), Wrong<M>> {
        if let Some(note) = instr.note() {
            self.rename(note, held);
            return Ok(());
        }
        for value in instr.read_values() {
            self.read(block, instr, value, held)?;
        }
        self.check_places(block, instr)?;
        match instr.spill_access() {
            Some(SpillAccess::Store {
                offset,
                from: Word::Value(from),
            }) => {
                for (unit, place) in self.places(from) {
                    held.copy(Place::Slot(offset, unit), place);
                }
                return Ok(());
            }
            Some(SpillAccess::Load {
                offset,
                to: Word::Value(to),
            }) => {
                for (unit, place) in self.places(to) {
                    held.copy(place, Place::Slot(offset, unit));
                }
                return Ok(());
            }
            _ => {}
        }
        for register in instr.clobbers() {
            let first = register.unit() as u32;
            for unit in first..first + register.class().units() as u32 {
                held.set(Place::Unit(unit), []);
            }
        }
        let copies = instr.copies(self.function);
        if !copies.is_empty() {
            self.copy(held, &copies);
            return Ok(());
        }
        for value in instr.written_values() {
            if self.spills.remade.contains(&value) {
                self.check_remade(block, instr, value)?;
                let meant = self.meant(value);
                for (unit, place) in self.places(value) {
                    // Whatever stands together with the value somewhere has the same bits.
                    let part = (meant, unit);
                    let together = held.together_with(part);
                    held.set(place, together.into_iter().chain([part]));
                }
            } else {
                self.define(held, value);
            }
        }
        Ok(())
    }

    /// Each unit of the value written becomes what is copied there, wherever that is held, and in its own register.
    fn copy(&self, held: &mut Held, copies: &Copies) {
        let mut forgotten = None;
        let mut written = Vec::new();
        for copy in copies {
            let (meant, source) = (self.meant(copy.to), self.meant(copy.from));
            if meant != source {
                if forgotten.replace(meant) != Some(meant) {
                    held.forget(meant);
                }
                held.rename((meant, copy.unit as u32), source, |_| true);
            }
            let to = self.places(copy.to).skip(copy.unit);
            written.extend(self.places(copy.from).zip(to));
        }
        // All are read before one is written.
        let copied = written
            .iter()
            .map(|((_, from), (_, to))| (*to, held.at(*from).collect()))
            .collect::<Vec<(Place, Vec<Part>)>>();
        for (to, parts) in copied {
            held.set(to, parts);
        }
    }

    /// A copy between values of one slot, which is no instruction.
    fn rename(&self, note: usize, held: &mut Held) {
        let Some(&(to, from, slot)) = self.spills.renames.get(note) else {
            return;
        };
        let (to, from) = (self.meant(to), self.meant(from));
        if to == from {
            return;
        }
        held.forget(to);
        held.rename(
            (to, 0),
            from,
            |place| matches!(place, Place::Slot(at, _) if at == slot),
        );
    }

    /// Whether every word lies where its class may, and groups and ties are what they must be.
    fn check_places(&self, block: BlockId, instr: &M::Instr) -> Result<(), Wrong<M>> {
        let text = || instr.to_string();
        let units = |value: Value| {
            self.places(value).filter_map(|(_, place)| match place {
                Place::Unit(unit) => Some(unit as usize),
                Place::Slot(..) => None,
            })
        };
        for value in instr.read_values().chain(instr.written_values()) {
            let class = self.function.class(value);
            let span = class.span();
            let good = units(value).all(|unit| span.contains(&unit))
                && units(value)
                    .next()
                    .is_none_or(|first| first % class.units() == 0);
            if !good {
                return Err(Wrong::Misplaced {
                    block,
                    text: text(),
                });
            }
        }
        for group in instr.groups() {
            let values = group.iter().filter_map(|word| word.value());
            let all: Vec<usize> = values.flat_map(units).collect();
            let aligned = all.first().is_none_or(|first| first % M::GROUP_UNITS == 0);
            let whole = group.iter().all(|word| {
                word.value()
                    .is_some_and(|value| self.register(value).is_some())
            });
            if !aligned || !whole || all.windows(2).any(|two| two[1] != two[0] + 1) {
                return Err(Wrong::Group {
                    block,
                    text: text(),
                });
            }
        }
        for (written, read) in instr.ties() {
            let register =
                |word: Word<M::Register>| word.value().and_then(|value| self.register(value));
            if register(written) != register(read) {
                return Err(Wrong::Untied {
                    block,
                    text: text(),
                });
            }
        }
        let elsewhere = |(word, register): (Word<M::Register>, M::Register)| {
            word.value()
                .is_some_and(|value| self.register(value) != Some(register))
        };
        if instr.fixed().any(elsewhere) {
            return Err(Wrong::Misplaced {
                block,
                text: text(),
            });
        }
        let written: Vec<usize> = instr.written_values().flat_map(units).collect();
        let mut late = instr.late_reads().filter_map(Word::value).flat_map(units);
        if late.any(|unit| written.contains(&unit)) {
            return Err(Wrong::Early {
                block,
                text: text(),
            });
        }
        Ok(())
    }

    fn check_remade(&self, block: BlockId, instr: &M::Instr, value: Value) -> Result<(), Wrong<M>> {
        let meant = self.spills.stands_for.get(&value).copied().unwrap_or(value);
        match self.definitions.get(&meant) {
            Some(Some(first)) if first.makes_same(instr) => Ok(()),
            _ => Err(Wrong::Remade {
                block,
                text: instr.to_string(),
                value: meant,
            }),
        }
    }
}
