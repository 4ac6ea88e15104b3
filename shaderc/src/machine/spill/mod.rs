//! Spilling: keeps as many values in registers as there are, and the rest in a thread's own memory, while the function
//! stays in SSA form.
//!
//! Needs: SSA.  Guarantees: SSA; at most so many units live at once, but where one instruction needs more; a value is
//! stored once, where it is defined; what comes back has a new name, and where names meet there is a phi of them;
//! `check_spilled` proves that all else is as it was. What a cheap instruction makes is made again and never stored. A phi
//! whose result has no register is one in memory: the predecessors write its slot.
//! How: `choose` says what is where; names that turn out to be one become one, what nobody reads goes; then `slots`.
//! Facts: hardware/compiler-backend.md 7.2 (Braun and Hack, "Register Spilling and Live-Range Splitting for SSA-Form
//! Programs", is the method).

mod analysis;
mod check_spilled;
mod choose;
mod edges;
mod next_use;
mod slots;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap as HashMap;
use rustc_hash::FxHashSet as HashSet;

use self::choose::{Choice, Item, Repair};
use self::edges::Move;
use super::allocate::spill::Spills;
use super::{
    BlockId, Function, Instruction, Location, Machine, Phi, Reads, SpillSlot, Value, Word,
};
use crate::replaced::{Joins, Replaced, trivial_phis};

pub(crate) use self::analysis::Analysis;
pub(crate) use self::check_spilled::check_spilled;

/// Why a function can't be spilled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SpillError {
    /// Slots and variables exceed what can be addressed.
    ScratchFull,
    /// It has a form that this can't treat: its first block is a loop.
    Refused,
}

/// Spills what has no room in so many units. Gives the function without it, its edges split.
///
/// # Errors
/// The memory of a thread is too small.
pub(crate) fn spill_ssa<M: Machine>(
    analysis: &Analysis<M>,
    room: usize,
) -> Result<(Function<M>, Spills), SpillError> {
    let mut function = analysis.function.clone();
    let mut spills = Spills::default();
    let mut choice = Choice::new(analysis, &mut function, &mut spills, room);
    choice.run();
    let moves = choice.connect();
    let names = trivial_phis(&choice.repairs);
    let needs = Needs::find(&choice, &moves, &names);
    let Choice {
        items, mut repairs, ..
    } = choice;
    repairs.retain(|repair| needs.names.contains(&repair.name) && !names.has(repair.name));

    let alike = moves.iter().filter_map(Move::alike);
    let alike: Vec<(Value, Value)> = alike
        .filter(|(a, b)| needs.memory.contains(a) && needs.memory.contains(b))
        .collect();
    let assigned = slots::assign(&needs.memory, &analysis.ranges, &alike);
    let base = function.scratch_bytes.next_multiple_of(slots::BYTES);
    let offset = |value: Value| base + slots::BYTES * assigned.of.get(&value).copied().unwrap_or(0);
    let bytes = base.saturating_add(slots::BYTES.saturating_mul(assigned.count));
    if bytes > M::SPILL_REACH {
        return Err(SpillError::ScratchFull);
    }
    function.scratch_bytes = bytes;

    let in_memory: BTreeSet<Value> = moves.iter().map(|one| one.phi).collect();
    let mut by_edge: BTreeMap<BlockId, Vec<Move<M>>> = BTreeMap::new();
    for one in moves {
        if needs.memory.contains(&one.phi) {
            by_edge.entry(one.from).or_default().push(one);
        }
    }
    let mut writer = Writer {
        function: &mut function,
        spills: &mut spills,
        names: &names,
        needs: &needs,
        offset: &offset,
    };
    for (index, mut items) in items.into_iter().enumerate() {
        let id = BlockId(index as u32);
        items.retain(|item| needs.keeps(item));
        if let Some(moves) = by_edge.remove(&id) {
            writer.move_slots(moves, &mut items);
        }
        writer.write(id, items, |value| {
            needs.memory.contains(&value) && !in_memory.contains(&value)
        });
    }
    writer.phis(repairs);
    Ok((function, spills))
}

/// Names, and others that they turned out to be: a phi whose operands are all one name is that name.
type Names = Replaced<Value>;

impl Joins<Value> for Repair {
    fn result(&self) -> Value {
        self.name
    }

    fn sources(&self) -> impl Iterator<Item = Value> {
        self.sources.iter().map(|(_, source)| *source)
    }
}

/// What somebody reads.
struct Needs {
    /// Names in registers.
    names: HashSet<Value>,
    /// Values in memory.
    memory: BTreeSet<Value>,
}

/// Something that is needed.
enum Need {
    Name(Value),
    Memory(Value),
}

impl Needs {
    fn find<M: Machine>(choice: &Choice<'_, M>, moves: &[Move<M>], names: &Names) -> Needs {
        let mut needs = Needs {
            names: HashSet::default(),
            memory: BTreeSet::new(),
        };
        let mut reloads: HashMap<Value, Value> = HashMap::default();
        let mut work: Vec<Need> = Vec::new();
        for (index, items) in choice.items.iter().enumerate() {
            for item in items {
                match item {
                    Item::Instr(instr) => {
                        work.extend(instr.read_values().map(Need::Name));
                    }
                    &Item::Reload { value, name, .. } => {
                        reloads.insert(name, value);
                    }
                    Item::Store { .. } | Item::Same { .. } => {}
                }
            }
            let block = &choice.function.blocks[index];
            let asked = block.terminator.read().and_then(Word::value);
            let phis = block.phis.iter().flat_map(|phi| &phi.sources);
            let words = phis.flat_map(|(_, operand)| operand.words());
            work.extend(words.filter_map(Word::value).chain(asked).map(Need::Name));
        }
        let repairs: HashMap<Value, &Repair> = choice
            .repairs
            .iter()
            .map(|repair| (repair.name, repair))
            .collect();
        let mut moves_of: HashMap<Value, Vec<&Move<M>>> = HashMap::default();
        for one in moves {
            moves_of.entry(one.phi).or_default().push(one);
        }
        while let Some(need) = work.pop() {
            match need {
                Need::Name(name) => {
                    let name = names.get(name);
                    if !needs.names.insert(name) {
                        continue;
                    }
                    if let Some(repair) = repairs.get(&name) {
                        let sources = repair.sources.iter();
                        work.extend(sources.map(|&(_, source)| Need::Name(source)));
                    }
                    if let Some(&value) = reloads.get(&name) {
                        work.push(Need::Memory(value));
                    }
                }
                Need::Memory(value) => {
                    if !needs.memory.insert(value) {
                        continue;
                    }
                    match moves_of.get(&value) {
                        Some(moves) => work.extend(moves.iter().filter_map(|one| one.needs())),
                        None => work.push(Need::Name(value)),
                    }
                }
            }
        }
        needs
    }

    /// Whether somebody reads what an item makes.
    fn keeps<M: Machine>(&self, item: &Item<M>) -> bool {
        match item {
            Item::Reload { name, .. } => self.names.contains(name),
            Item::Instr(instr) if instr.may_be_remade() => {
                let mut written = instr.written_values();
                written.any(|value| self.names.contains(&value))
            }
            Item::Instr(_) | Item::Store { .. } | Item::Same { .. } => true,
        }
    }
}

/// Writes blocks once it is known where everything is.
struct Writer<'a, M: Machine> {
    function: &'a mut Function<M>,
    spills: &'a mut Spills,
    names: &'a Names,
    needs: &'a Needs,
    offset: &'a dyn Fn(Value) -> u32,
}

impl<M: Machine> Writer<'_, M> {
    /// Fills a block. What is defined in it and for which `stores` says so is stored at once.
    fn write(&mut self, id: BlockId, items: Vec<Item<M>>, stores: impl Fn(Value) -> bool) {
        let mut out = Vec::with_capacity(items.len());
        let phis = self.function.blocks[id.index()].phis.iter();
        let mut first: Vec<Value> = phis.map(|phi| phi.dest).collect();
        if id.index() == 0 {
            first.extend(self.function.preloaded_values());
        }
        first.retain(|&value| stores(value));
        for value in first {
            self.store(value, value, Location::default(), &mut out);
        }
        for item in items {
            match item {
                Item::Instr(mut instr) => {
                    let names = self.names;
                    instr.map_reads(|word| match word {
                        Word::Value(name) => Word::Value(names.get(name)),
                        other => other,
                    });
                    let location = instr.location();
                    let written: Vec<Value> = instr.written_values().collect();
                    out.push(instr);
                    for value in written {
                        if stores(value) {
                            self.store(value, value, location, &mut out);
                        }
                    }
                }
                Item::Reload {
                    value,
                    name,
                    location,
                } => self.reload(value, name, location, &mut out),
                Item::Store { value, name } => {
                    let name = self.names.get(name);
                    self.store(value, name, Location::default(), &mut out);
                    self.note(value, name, &mut out);
                }
                Item::Same { value, operand } => self.note(value, operand, &mut out),
            }
        }
        let names = self.names;
        let block = &mut self.function.blocks[id.index()];
        let resolve = |word| match word {
            Word::Value(name) => Word::Value(names.get(name)),
            other => other,
        };
        block.terminator.map_read(resolve);
        for phi in &mut block.phis {
            for (_, operand) in &mut phi.sources {
                operand.map_words(resolve);
            }
        }
        block.instrs = out;
    }

    /// The phis of names.
    fn phis(&mut self, repairs: Vec<Repair>) {
        for repair in repairs {
            let sources = repair.sources.iter();
            let sources =
                sources.map(|&(from, name)| (from, M::value_operand(self.names.get(name))));
            let phi = Phi {
                dest: repair.name,
                sources: sources.collect(),
            };
            self.function.blocks[repair.block.index()].phis.push(phi);
        }
    }

    fn slot(&self, value: Value, name: Value, location: Location) -> SpillSlot<M> {
        SpillSlot {
            offset: (self.offset)(value),
            value: name,
            class: self.function.class(name),
            location,
        }
    }

    fn store(&mut self, value: Value, name: Value, location: Location, out: &mut Vec<M::Instr>) {
        self.spills.stores += 1;
        let slot = self.slot(value, name, location);
        M::spill(slot, &mut self.spills.temporaries(self.function), out);
    }

    fn reload(&mut self, value: Value, name: Value, location: Location, out: &mut Vec<M::Instr>) {
        self.spills.loads += 1;
        let slot = self.slot(value, name, location);
        M::reload(slot, &mut self.spills.temporaries(self.function), out);
    }

    /// Tells the checker that the slot of a phi holds its operand.
    fn note(&mut self, value: Value, operand: Value, out: &mut Vec<M::Instr>) {
        out.push(M::note(self.spills.renames.len(), Location::default()));
        let slot = (self.offset)(value);
        self.spills.renames.push((value, operand, slot));
    }
}
