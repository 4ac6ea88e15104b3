//! Checker: proves that after allocation each use reads the value that the program meant.
//!
//! Follows the allocated function over all paths, knowing for every unit of registers and every spill slot which parts of
//! which values of the program it holds, whatever the allocator believed. A copy makes both places hold both values; another definition makes
//! every other place forget the value; where paths meet, only what all of them hold is held.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Registers;
use super::spill::Spills;
use crate::machine::{
    BlockId, Class, Copies, Function, Instruction, Machine, Register, SpillAccess, Value, Word,
};

/// A place that can hold a unit's worth of values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Unit(usize),
    /// A unit of the value in the slot at this offset.
    Slot(u32, usize),
}

/// A unit's worth of a value: the value, and which of its units.
type Part = (Value, usize);

/// What is wrong with an allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong<M: Machine> {
    /// The use of `value` at `text` reads a register that holds something else on some path.
    Holds {
        block: BlockId,
        text: String,
        value: Value,
        register: Option<M::Register>,
        holds: Vec<Value>,
    },
    /// The words of a group are not consecutive, or begin where no group may.
    Group { block: BlockId, text: String },
    /// A value lies where none of its class can.
    Misplaced { block: BlockId, text: String },
    /// A word written and the one that it is tied to are different registers.
    Untied { block: BlockId, text: String },
    /// A value that was made again was made differently.
    Remade {
        block: BlockId,
        text: String,
        value: Value,
    },
    /// A written register is also read after it was written.
    Early { block: BlockId, text: String },
    /// What was spilled is not the same program any more.
    Spilled(String),
}

impl<M: Machine> fmt::Display for Wrong<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Holds {
                block,
                text,
                value,
                register,
                holds,
            } => {
                let place =
                    register.map_or("no register".to_owned(), |register| register.to_string());
                write!(
                    f,
                    "{block}: `{text}` wants {value} from {place}, which holds {holds:?}"
                )
            }
            Wrong::Group { block, text } => write!(
                f,
                "{block}: `{text}` has a group that is not consecutive or begins where none may"
            ),
            Wrong::Misplaced { block, text } => write!(
                f,
                "{block}: `{text}` has a word in a register that can't hold it"
            ),
            Wrong::Untied { block, text } => write!(
                f,
                "{block}: `{text}` writes another register than the one it is tied to"
            ),
            Wrong::Remade { block, text, value } => {
                write!(f, "{block}: `{text}` does not make {value}")
            }
            Wrong::Early { block, text } => write!(
                f,
                "{block}: `{text}` overwrites a source between its cycles"
            ),
            Wrong::Spilled(what) => write!(f, "spilled: {what}"),
        }
    }
}

/// What every place holds; a place that is not listed holds nothing known.
type State = BTreeMap<Place, BTreeSet<Part>>;

struct Checker<'a, M: Machine> {
    original: &'a Function<M>,
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

/// Checks `function` with `registers`. `original` is what it was before anything was spilled, `program` what it was before
/// values were put into memory whole: those that this has are its own.
pub(crate) fn check<M: Machine>(
    [original, program]: [&Function<M>; 2],
    function: &Function<M>,
    registers: &Registers<M>,
    spills: &Spills,
) -> Result<(), Wrong<M>> {
    let checker = Checker {
        original,
        function,
        registers,
        spills,
        roots: find_roots(program),
    };
    let mut entries: Vec<Option<State>> = vec![None; function.blocks.len()];
    let mut entry = State::new();
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
    let mut work = vec![BlockId(0)];
    while let Some(id) = work.pop() {
        let Some(mut state) = entries[id.index()].clone() else {
            continue;
        };
        for instr in &function.block(id).instrs {
            checker.step(id, instr, &mut state)?;
        }
        if let Some(Word::Value(value)) = function.block(id).terminator.read() {
            checker.read(
                id,
                &function.block(id).terminator.to_string(),
                value,
                &state,
            )?;
        }
        for to in function.block(id).terminator.successors() {
            let met = match &entries[to.index()] {
                Some(known) => meet(known, &state),
                None => state.clone(),
            };
            if entries[to.index()].as_ref() != Some(&met) {
                entries[to.index()] = Some(met);
                work.push(to);
            }
        }
    }
    Ok(())
}

fn meet(a: &State, b: &State) -> State {
    let common = |(place, held): (&Place, &BTreeSet<Part>)| {
        let both: BTreeSet<Part> = b.get(place)?.intersection(held).copied().collect();
        (!both.is_empty()).then_some((*place, both))
    };
    a.iter().filter_map(common).collect()
}

impl<M: Machine> Checker<'_, M> {
    fn register(&self, value: Value) -> Option<M::Register> {
        self.registers[value.index()]
    }

    /// The units of a value, each by its place; none while it has no register.
    fn places(&self, value: Value) -> impl Iterator<Item = (usize, Place)> + use<M> {
        let units = self.function.class(value).units();
        let first = self.register(value).map(Register::unit);
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
        text: &str,
        value: Value,
        state: &State,
    ) -> Result<(), Wrong<M>> {
        let meant = self.meant(value);
        let register = self.register(value);
        let wrong = self.places(value).find(|(unit, place)| {
            let held = state.get(place);
            !held.is_some_and(|held| held.contains(&(meant, *unit)))
        });
        if register.is_some() && wrong.is_none() {
            return Ok(());
        }
        let held = wrong.and_then(|(_, place)| state.get(&place));
        Err(Wrong::Holds {
            block,
            text: text.to_owned(),
            value: meant,
            register,
            holds: held
                .into_iter()
                .flatten()
                .map(|&(value, _)| value)
                .collect(),
        })
    }

    /// A new definition: this register holds it, and it is nowhere else any more.
    fn define(&self, state: &mut State, value: Value) {
        let meant = self.meant(value);
        forget(state, meant);
        for (unit, place) in self.places(value) {
            state.insert(place, BTreeSet::from([(meant, unit)]));
        }
    }

    fn step(&self, block: BlockId, instr: &M::Instr, state: &mut State) -> Result<(), Wrong<M>> {
        let text = instr.to_string();
        if let Some(note) = instr.note() {
            self.rename(note, state);
            return Ok(());
        }
        for value in instr.read_values() {
            self.read(block, &text, value, state)?;
        }
        self.check_places(block, &text, instr)?;
        match instr.spill_access() {
            Some(SpillAccess::Store {
                offset,
                from: Word::Value(from),
            }) => {
                for (unit, place) in self.places(from) {
                    let held = state.get(&place).cloned().unwrap_or_default();
                    state.insert(Place::Slot(offset, unit), held);
                }
                return Ok(());
            }
            Some(SpillAccess::Load {
                offset,
                to: Word::Value(to),
            }) => {
                for (unit, place) in self.places(to) {
                    let held = state.get(&Place::Slot(offset, unit)).cloned();
                    state.insert(place, held.unwrap_or_default());
                }
                return Ok(());
            }
            _ => {}
        }
        let copies = instr.copies(self.function);
        if !copies.is_empty() {
            self.copy(state, &copies);
            return Ok(());
        }
        for value in instr.written_values() {
            if self.spills.remade.contains(&value) {
                self.check_remade(block, &text, instr, value)?;
                let meant = self.meant(value);
                for (unit, place) in self.places(value) {
                    // Whatever stands together with the value somewhere has the same bits.
                    let part = (meant, unit);
                    let together = state.values().filter(|held| held.contains(&part));
                    let held = together.flatten().copied().chain([part]).collect();
                    state.insert(place, held);
                }
            } else {
                self.define(state, value);
            }
        }
        Ok(())
    }

    /// Each unit of the value written becomes what is copied there, wherever that is held, and in its own register.
    fn copy(&self, state: &mut State, copies: &Copies) {
        let mut forgotten = None;
        let mut written = Vec::new();
        for copy in copies {
            let (meant, source) = (self.meant(copy.to), self.meant(copy.from));
            if meant != source {
                if forgotten.replace(meant) != Some(meant) {
                    forget(state, meant);
                }
                rename(state.values_mut(), (meant, copy.unit), source);
            }
            let to = self.places(copy.to).skip(copy.unit);
            written.extend(self.places(copy.from).zip(to));
        }
        let held = written
            .iter()
            .filter_map(|((_, from), (_, to))| Some((*to, state.get(from)?.clone())))
            .collect::<Vec<_>>();
        state.extend(held);
    }

    /// A copy between values of one slot, which is no instruction.
    fn rename(&self, note: usize, state: &mut State) {
        let Some(&(to, from, slot)) = self.spills.renames.get(note) else {
            return;
        };
        let (to, from) = (self.meant(to), self.meant(from));
        if to == from {
            return;
        }
        forget(state, to);
        let slots = state.iter_mut();
        let of_slot = slots.filter(|(place, _)| matches!(place, Place::Slot(at, _) if *at == slot));
        rename(of_slot.map(|(_, held)| held), (to, 0), from);
    }

    /// Whether every word lies where its class may, and groups and ties are what they must be.
    fn check_places(&self, block: BlockId, text: &str, instr: &M::Instr) -> Result<(), Wrong<M>> {
        let text = || text.to_owned();
        let units = |value: Value| {
            self.places(value).filter_map(|(_, place)| match place {
                Place::Unit(unit) => Some(unit),
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

    fn check_remade(
        &self,
        block: BlockId,
        text: &str,
        instr: &M::Instr,
        value: Value,
    ) -> Result<(), Wrong<M>> {
        let meant = self.spills.stands_for.get(&value).copied().unwrap_or(value);
        let mut definitions = self
            .original
            .blocks
            .iter()
            .flat_map(|block| &block.instrs)
            .filter(|instr| instr.written_values().any(|value| value == meant));
        let alike = definitions
            .next()
            .is_some_and(|first| first.makes_same(instr));
        if alike && definitions.next().is_none() {
            return Ok(());
        }
        Err(Wrong::Remade {
            block,
            text: text.to_owned(),
            value: meant,
        })
    }
}

/// No place holds any part of `value`.
fn forget(state: &mut State, value: Value) {
    for held in state.values_mut() {
        held.retain(|(other, _)| *other != value);
    }
}

/// Of these places, those that hold `from` hold it as part of `to` as well, from this unit of it on.
fn rename<'s>(
    places: impl Iterator<Item = &'s mut BTreeSet<Part>>,
    (to, first): Part,
    from: Value,
) {
    for held in places {
        let parts: Vec<Part> = held
            .iter()
            .filter(|(other, _)| *other == from)
            .copied()
            .collect();
        held.extend(parts.into_iter().map(|(_, unit)| (to, first + unit)));
    }
}
