//! Checker: proves that after allocation each use reads the value that the program meant.
//!
//! Follows the allocated function over all paths, knowing for every register and spill slot which values of the
//! program it holds, whatever the allocator believed. A copy makes both places hold both values; another definition makes
//! every other place forget the value; where paths meet, only what all of them hold is held.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Registers;
use super::spill::Spills;
use crate::valhall::mir::{BlockId, Function, Instr, Op, Operand, Register, Space, Value, Word};

/// A place that can hold values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Register(Register),
    Slot(i64),
}

/// What is wrong with an allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// The use of `value` at `text` reads a register that holds something else on some path.
    Holds {
        block: BlockId,
        text: String,
        value: Value,
        register: Option<Register>,
        holds: Vec<Value>,
    },
    /// The words of a group are not consecutive, or begin at an odd register.
    Group { block: BlockId, text: String },
    /// A value that was made again was made differently.
    Remade {
        block: BlockId,
        text: String,
        value: Value,
    },
    /// A written register is used by something that is read in the second cycle.
    Early { block: BlockId, text: String },
}

impl fmt::Display for Wrong {
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
                "{block}: `{text}` has a group that is not consecutive and even"
            ),
            Wrong::Remade { block, text, value } => {
                write!(f, "{block}: `{text}` does not make {value}")
            }
            Wrong::Early { block, text } => write!(
                f,
                "{block}: `{text}` overwrites a source between its cycles"
            ),
        }
    }
}

/// What every place holds; a place that is not listed holds nothing known.
type State = BTreeMap<Place, BTreeSet<Value>>;

struct Checker<'a> {
    original: &'a Function,
    registers: &'a Registers,
    spills: &'a Spills,
    /// By value of the original: the value that it is a copy of, or itself.
    roots: Vec<Value>,
}

/// By value, what it always equals: a value that is written once, by a copy of one that is written once, never
/// differs from it where both may be read, since the one's definition dominates the other's and that its uses.
fn find_roots(original: &Function) -> Vec<Value> {
    let mut written = vec![0; original.values as usize];
    let preloads = original
        .preloads
        .iter()
        .filter_map(|preload| preload.dest.value());
    let instrs = || original.blocks.iter().flat_map(|block| &block.instrs);
    preloads
        .chain(instrs().flat_map(|instr| instr.written_values()))
        .for_each(|value| written[value.index()] += 1);
    let mut roots: Vec<Value> = (0..original.values).map(Value).collect();
    for (to, from) in instrs().filter_map(Instr::as_copy) {
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

/// Checks `function` with `registers`; `original` is what it was before anything was spilled.
pub(crate) fn check(
    original: &Function,
    function: &Function,
    registers: &Registers,
    spills: &Spills,
) -> Result<(), Wrong> {
    let checker = Checker {
        original,
        registers,
        spills,
        roots: find_roots(original),
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
    let common = |(place, held): (&Place, &BTreeSet<Value>)| {
        let both: BTreeSet<Value> = b.get(place)?.intersection(held).copied().collect();
        (!both.is_empty()).then_some((*place, both))
    };
    a.iter().filter_map(common).collect()
}

impl Checker<'_> {
    fn register(&self, value: Value) -> Option<Register> {
        self.registers[value.index()]
    }

    /// The program's value whose bits `value` carries, by its root.
    fn meant(&self, value: Value) -> Value {
        let value = self.spills.stands_for.get(&value).copied().unwrap_or(value);
        self.roots.get(value.index()).copied().unwrap_or(value)
    }

    fn read(&self, block: BlockId, text: &str, value: Value, state: &State) -> Result<(), Wrong> {
        let register = self.register(value);
        let held = register.and_then(|register| state.get(&Place::Register(register)));
        if held.is_some_and(|held| held.contains(&self.meant(value))) {
            return Ok(());
        }
        let holds = held
            .map(|held| held.iter().copied().collect())
            .unwrap_or_default();
        Err(Wrong::Holds {
            block,
            text: text.to_owned(),
            value: self.meant(value),
            register,
            holds,
        })
    }

    /// A new definition: this register holds it, and it is nowhere else any more.
    fn define(&self, state: &mut State, value: Value) {
        let meant = self.meant(value);
        state.values_mut().for_each(|held| {
            held.remove(&meant);
        });
        if let Some(register) = self.register(value) {
            state.insert(Place::Register(register), BTreeSet::from([meant]));
        }
    }

    fn step(&self, block: BlockId, instr: &Instr, state: &mut State) -> Result<(), Wrong> {
        let text = instr.to_string();
        if instr.op == Op::Nop {
            self.rename(instr, state);
            return Ok(());
        }
        for value in instr.read_values() {
            self.read(block, &text, value, state)?;
        }
        self.check_groups(block, &text, instr)?;
        match (
            instr.space,
            instr.immediate,
            instr.dests.first(),
            instr.staging.first(),
        ) {
            (Some(Space::Spill), Some(slot), None, Some(&Word::Value(from))) => {
                let held = self
                    .register(from)
                    .and_then(|register| state.get(&Place::Register(register)).cloned());
                state.insert(Place::Slot(slot), held.unwrap_or_default());
                return Ok(());
            }
            (Some(Space::Spill), Some(slot), Some(&Word::Value(to)), None) => {
                let held = state.get(&Place::Slot(slot)).cloned().unwrap_or_default();
                if let Some(register) = self.register(to) {
                    state.insert(Place::Register(register), held);
                }
                return Ok(());
            }
            _ => {}
        }
        if let Some((Word::Value(to), Word::Value(from))) = instr.as_copy() {
            self.copy(state, to, from);
            return Ok(());
        }
        for value in instr.written_values() {
            if self.spills.remade.contains(&value) {
                self.check_remade(block, &text, instr, value)?;
                // Whatever stands together with the value somewhere has the same bits.
                let meant = self.meant(value);
                let equal = state
                    .values()
                    .filter(|held| held.contains(&meant))
                    .flatten()
                    .copied();
                let held = equal.chain([meant]).collect();
                if let Some(register) = self.register(value) {
                    state.insert(Place::Register(register), held);
                }
            } else {
                self.define(state, value);
            }
        }
        Ok(())
    }

    /// `to` becomes what `from` is, wherever that is held, and in its own register.
    fn copy(&self, state: &mut State, to: Value, from: Value) {
        let (meant, source) = (self.meant(to), self.meant(from));
        for held in state.values_mut().filter(|_| meant != source) {
            held.remove(&meant);
            if held.contains(&source) {
                held.insert(meant);
            }
        }
        let held = self
            .register(from)
            .and_then(|register| state.get(&Place::Register(register)).cloned());
        if let (Some(register), Some(held)) = (self.register(to), held) {
            state.insert(Place::Register(register), held);
        }
    }

    /// A copy between values of one slot, which is no instruction.
    fn rename(&self, instr: &Instr, state: &mut State) {
        let note = instr.immediate.and_then(|note| usize::try_from(note).ok());
        let Some(&(to, from, slot)) = note.and_then(|note| self.spills.renames.get(note)) else {
            return;
        };
        let (to, from) = (self.meant(to), self.meant(from));
        if to == from {
            return;
        }
        state.values_mut().for_each(|held| {
            held.remove(&to);
        });
        if let Some(held) = state.get_mut(&Place::Slot(slot))
            && held.contains(&from)
        {
            held.insert(to);
        }
    }

    fn check_groups(&self, block: BlockId, text: &str, instr: &Instr) -> Result<(), Wrong> {
        let number = |word: &Word| {
            word.value()
                .and_then(|value| self.register(value))
                .map(Register::number)
        };
        for group in instr.groups() {
            let numbers: Option<Vec<u8>> = group.iter().map(number).collect();
            let good = numbers.is_some_and(|numbers| {
                numbers[0].is_multiple_of(2) && numbers.windows(2).all(|two| two[1] == two[0] + 1)
            });
            if !good {
                return Err(Wrong::Group {
                    block,
                    text: text.to_owned(),
                });
            }
        }
        let wide = instr.op.message() == crate::valhall::mir::Message::No && instr.dests.len() > 1;
        let written: Vec<u8> = instr.dests.iter().filter_map(number).collect();
        let early = instr.sources.iter().any(|source| match source.operand {
            Operand::Word(word) => number(&word).is_some_and(|number| written.contains(&number)),
            _ => false,
        });
        if wide && early {
            return Err(Wrong::Early {
                block,
                text: text.to_owned(),
            });
        }
        Ok(())
    }

    fn check_remade(
        &self,
        block: BlockId,
        text: &str,
        instr: &Instr,
        value: Value,
    ) -> Result<(), Wrong> {
        let meant = self.spills.stands_for.get(&value).copied().unwrap_or(value);
        let word = Word::Value(meant);
        let mut definitions = self
            .original
            .blocks
            .iter()
            .flat_map(|block| &block.instrs)
            .filter(|instr| instr.dests.contains(&word));
        let alike = definitions.next().is_some_and(|first| {
            (first.op, &first.sources, first.immediate)
                == (instr.op, &instr.sources, instr.immediate)
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "preload %0 = r60
        b0:
          %1 = IADD.u32 %0, %0
          %2 = IADD.u32 %1, %0
          %3:%4 = LEA_PKA %2, t0
          STORE.i32 @%1, [%3:%4], imm:0, space:buffer
          end";

    /// Checks `SUM` with these registers for %0 to %4.
    fn judge(registers: [u8; 5]) -> Result<(), Wrong> {
        let function = Function::parse(SUM).expect("text is MIR");
        let registers = registers.map(Register::new).to_vec();
        check(&function, &function, &registers, &Spills::default())
    }

    #[test]
    fn a_right_allocation_passes() {
        assert_eq!(judge([60, 0, 1, 2, 3]), Ok(()));
        assert_eq!(judge([60, 0, 60, 2, 3]), Ok(()));
    }

    #[test]
    fn a_value_that_was_overwritten_is_found() {
        let Err(Wrong::Holds {
            value, register, ..
        }) = judge([60, 60, 1, 2, 3])
        else {
            panic!("passed")
        };
        assert_eq!((value, register), (Value(0), Register::new(60)));
        let Err(Wrong::Holds { value, .. }) = judge([60, 0, 1, 0, 1]) else {
            panic!("passed")
        };
        assert_eq!(value, Value(1));
    }

    #[test]
    fn a_pair_must_be_even_and_consecutive() {
        assert!(matches!(judge([60, 0, 1, 3, 4]), Err(Wrong::Group { .. })));
        assert!(matches!(judge([60, 0, 1, 2, 4]), Err(Wrong::Group { .. })));
    }

    #[test]
    fn paths_that_differ_hold_nothing_where_they_meet() {
        let function = Function::parse(
            "preload %0 = r60
            b0:
              %1 = IADD.u32 %0, %0
              branch %0, b1, b2
            b1:
              %2 = IADD.u32 %0, %0
              jump b2
            b2:
              branch %1, b3, b3
            b3:
              end",
        )
        .expect("text is MIR");
        let good = [60, 0, 1].map(Register::new).to_vec();
        assert_eq!(
            check(&function, &function, &good, &Spills::default()),
            Ok(())
        );
        let bad = [60, 0, 0].map(Register::new).to_vec();
        assert!(matches!(
            check(&function, &function, &bad, &Spills::default()),
            Err(Wrong::Holds { .. })
        ));
    }
}
