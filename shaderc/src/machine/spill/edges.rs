//! Edges: what predecessors do so that values are where a block expects them.
//!
//! Registers first: what the block has in a register and the predecessor has not is brought back, operands of phis too.
//! Then the slots of phis in memory are written, each after all that read what it or its slot had before; where they wait
//! for each other in a circle, one operand is held in a register meanwhile.

use rustc_hash::FxHashSet as HashSet;

use super::choose::{Choice, Item};
use super::waiting::{Next, Reading, Waiting};
use super::{Need, Writer};
use crate::machine::{BlockId, Instruction, Location, Machine, Reads, Value, Word};

/// A write of the slot of a phi in memory, at the end of a predecessor.
pub(super) struct Move<M: Machine> {
    pub(super) phi: Value,
    pub(super) from: BlockId,
    source: Source<M>,
}

/// Where the operand of a phi in memory is.
enum Source<M: Machine> {
    /// In a register, by this name of a value.
    Register { name: Value, value: Value },
    /// In the slot of a value.
    Memory(Value),
    /// Nowhere: it is a constant, or something like it.
    Constant(M::Operand),
    /// Nowhere: this instruction makes the value.
    Remade(Value, Box<M::Instr>),
    /// In a register, after it was held there for a moment.
    Loaded(Value),
}

impl<M: Machine> Move<M> {
    /// The value of the program that is written.
    fn value(&self) -> Option<Value> {
        match self.source {
            Source::Register { value, .. } | Source::Memory(value) => Some(value),
            Source::Constant(_) | Source::Remade(..) | Source::Loaded(_) => None,
        }
    }

    /// The phi and its operand, if they would better have one slot.
    pub(super) fn alike(&self) -> Option<(Value, Value)> {
        Some((self.phi, self.value()?))
    }

    /// What must be there.
    pub(super) fn needs(&self) -> Option<Need> {
        match self.source {
            Source::Register { name, .. } | Source::Loaded(name) => Some(Need::Name(name)),
            Source::Memory(value) => Some(Need::Memory(value)),
            Source::Constant(_) | Source::Remade(..) => None,
        }
    }
}

impl<M: Machine> Choice<'_, M> {
    /// Brings back what blocks expect at the ends of their predecessors. Gives what has to be written to memory there.
    pub(super) fn connect(&mut self) -> Vec<Move<M>> {
        let mut repairs = std::mem::take(&mut self.repairs);
        for repair in &mut repairs {
            for &from in self.analysis.predecessors.of(repair.block.index()) {
                let name = self.at_end(from, repair.value);
                repair.sources.push((from, name));
            }
        }
        self.repairs = repairs;
        let mut moves = Vec::new();
        for id in self.function.block_ids() {
            let in_memory = self.in_memory.remove(&id).unwrap_or_default();
            let written: HashSet<Value> = in_memory.iter().map(|phi| phi.dest).collect();
            let mut phis = std::mem::take(&mut self.function.blocks[id.index()].phis);
            for phi in &mut phis {
                for (from, operand) in &mut phi.sources {
                    let values: Vec<Value> = operand.words().filter_map(Word::value).collect();
                    for value in values {
                        if !self.counts(value) {
                            continue;
                        }
                        let mut name = self.at_end(*from, value);
                        if written.contains(&value) {
                            // Its slot gets another value before the phi reads it.
                            name = self.copied(*from, name);
                        }
                        operand.map_words(|word| match word {
                            Word::Value(read) if read == value => Word::Value(name),
                            other => other,
                        });
                    }
                }
            }
            self.function.blocks[id.index()].phis = phis;
            for phi in in_memory {
                for (from, operand) in phi.sources {
                    let value = operand.words().find_map(Word::value);
                    if value == Some(phi.dest) {
                        continue;
                    }
                    let source = match value {
                        None => Source::Constant(operand),
                        Some(value) => match self.exits[from.index()].get(&value) {
                            Some(&name) => Source::Register { name, value },
                            None => match self.analysis.remakes.of(value) {
                                Some(instr) => Source::Remade(value, Box::new(instr.clone())),
                                None => Source::Memory(value),
                            },
                        },
                    };
                    moves.push(Move {
                        phi: phi.dest,
                        from,
                        source,
                    });
                }
            }
        }
        moves
    }

    fn counts(&self, value: Value) -> bool {
        super::next_use::units(self.function, value) > 0
    }

    /// The name of a value at the end of a block, which brings it back if it must.
    fn at_end(&mut self, from: BlockId, value: Value) -> Value {
        if let Some(&name) = self.exits[from.index()].get(&value) {
            return name;
        }
        let mut items = std::mem::take(&mut self.items[from.index()]);
        let name = self.bring(value, Location::default(), &mut items);
        self.items[from.index()] = items;
        self.exits[from.index()].insert(value, name);
        name
    }

    fn copied(&mut self, from: BlockId, name: Value) -> Value {
        let class = self.function.class(name);
        let copy = self.function.new_value_of(class);
        let [to, name] = [copy, name].map(Word::Value);
        let instr = M::copy(to, name, class, Location::default());
        self.items[from.index()].push(Item::Instr(instr));
        copy
    }
}

impl<M: Machine> Writer<'_, M> {
    /// Writes the slots of phis at the end of one predecessor.
    pub(super) fn move_slots(&mut self, pending: Vec<Move<M>>, items: &mut Vec<Item<M>>) {
        let reads: Vec<Reading> = pending.iter().map(|one| self.reading(one)).collect();
        let written = pending.iter().map(|one| (one.phi, (self.offset)(one.phi)));
        let mut waiting = Waiting::new(written.collect(), reads);
        let mut pending: Vec<Option<Move<M>>> = pending.into_iter().map(Some).collect();
        while let Some(next) = waiting.next() {
            match next {
                Next::Free(number) => {
                    if let Some(one) = pending[number].take() {
                        self.move_one(one, items);
                    }
                }
                Next::Circle(number) => {
                    if let Some(one) = &mut pending[number] {
                        self.hold(one, items);
                    }
                }
            }
        }
    }

    /// What a move reads that is lost when the slot of a phi is written.
    fn reading(&self, reader: &Move<M>) -> Reading {
        let slot = |value| (self.offset)(value);
        let loaded = match reader.source {
            Source::Memory(value) if slot(value) != slot(reader.phi) => Some(slot(value)),
            _ => None,
        };
        Reading {
            slot: loaded,
            value: reader.value(),
        }
    }

    /// Holds the operand of a move in a register that is known by no value of the program.
    fn hold(&mut self, one: &mut Move<M>, items: &mut Vec<Item<M>>) {
        let name = match one.source {
            Source::Register { name, .. } => name,
            Source::Memory(value) => self.load(value, items),
            Source::Constant(_) | Source::Remade(..) | Source::Loaded(_) => return,
        };
        let class = self.function.class(name);
        let held = self.function.new_value_of(class);
        let [to, from] = [held, name].map(Word::Value);
        items.push(Item::Instr(M::copy(to, from, class, Location::default())));
        one.source = Source::Loaded(held);
    }

    fn load(&mut self, value: Value, items: &mut Vec<Item<M>>) -> Value {
        let name = self.spills.stand_in(self.function, value);
        items.push(Item::Reload {
            value,
            name,
            location: Location::default(),
        });
        name
    }

    fn move_one(&mut self, one: Move<M>, items: &mut Vec<Item<M>>) {
        let phi = one.phi;
        let shared = one.value().filter(|&value| {
            self.needs.memory.contains(&value) && (self.offset)(value) == (self.offset)(phi)
        });
        if let Some(operand) = shared {
            items.push(Item::Same {
                value: phi,
                operand,
            });
            return;
        }
        let name = match one.source {
            Source::Register { name, .. } | Source::Loaded(name) => name,
            Source::Memory(value) => self.load(value, items),
            Source::Constant(operand) => {
                let class = self.function.class(phi);
                let made = self.function.new_value_of(class);
                let instr = M::move_operand(made, class, operand, &self.function.extra);
                items.push(Item::Instr(instr));
                made
            }
            Source::Remade(value, instr) => {
                let name = self.spills.stand_in(self.function, value);
                let mut again = instr.located(Location::default());
                again.map_writes(|_| Word::Value(name));
                self.spills.remade.insert(name);
                items.push(Item::Instr(again));
                name
            }
        };
        items.push(Item::Store { value: phi, name });
    }
}
