//! Checker: proves that finished words keep their distances, wait for what they use, and join where lanes may wait.
//!
//! It knows nothing of the passes that inserted slots and waits: it reads the words, finds the flow in them, and asks the tables
//! of `eitri-ir3-isa` what holds between two instructions. Where lanes wait it finds by the rules of `mark_joins`, over the flow
//! of single words: that the rules are right, the interpreter shows when it runs the program.  Facts: hardware/ir3-isa.md 7, 8, 9.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use eitri_ir3_isa::timing::{MOST_SLOTS, Sync};
use eitri_ir3_isa::{Access, Field, File, Instr, Latency, Op, Width};

use super::mark_joins::Joins;
use super::pack::GENERATION;

/// What is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Wrong {
    /// A word that is no instruction.
    Word { at: usize, word: u64 },
    /// A branch that leads out of the program, or an end that isn't the last instruction.
    Flow { at: usize, text: String },
    /// Slots that are missing between two instructions.
    Slots {
        producer: usize,
        at: usize,
        text: String,
        missing: u8,
    },
    /// A wait that is missing.
    Sync {
        at: usize,
        text: String,
        flag: &'static str,
    },
    /// No mark where lanes may wait.
    Join { at: usize, text: String },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Word { at, word } => write!(f, "{at}: {word:#018x} is no instruction"),
            Wrong::Flow { at, text } => write!(f, "{at}: `{text}` leads nowhere"),
            Wrong::Slots {
                producer,
                at,
                text,
                missing,
            } => write!(
                f,
                "{at}: `{text}` comes {missing} slots too early after instruction {producer}"
            ),
            Wrong::Sync { at, text, flag } => write!(f, "{at}: `{text}` does not wait: {flag}"),
            Wrong::Join { at, text } => write!(f, "{at}: `{text}` is no join, but lanes wait"),
        }
    }
}

/// Where a register lies, in halves of the file that both widths share; others are by themselves.
type Place = u16;

/// What is known before an instruction.
#[derive(Clone, PartialEq, Eq, Default)]
struct State {
    /// Instructions that were issued lately, with the fewest slots since their end.
    recent: BTreeMap<usize, u8>,
    short: BTreeSet<Place>,
    long: BTreeSet<Place>,
    reads: BTreeSet<Place>,
    /// What the instruction before asks of this one.
    asked: (bool, bool),
}

impl State {
    /// Takes in what holds on another path. True if that is news.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        for (producer, since) in &other.recent {
            let known = self.recent.entry(*producer).or_insert(*since);
            *known = (*known).min(*since);
        }
        self.short.extend(&other.short);
        self.long.extend(&other.long);
        self.reads.extend(&other.reads);
        self.asked = (self.asked.0 | other.asked.0, self.asked.1 | other.asked.1);
        *self != before
    }

    /// What is the wave's, and so holds for whatever comes next in the program.
    fn of_wave(&self) -> State {
        let shared = self.short.iter().copied().filter(|place| is_shared(*place));
        State {
            short: shared.collect(),
            ..State::default()
        }
    }
}

/// The first place of registers that alias nothing.
const OTHERS: Place = 2 * 192;

fn is_shared(place: Place) -> bool {
    (OTHERS..OTHERS + 32).contains(&place)
}

/// The places of an operand's registers in all steps.
fn places(instr: &Instr, access: &Access) -> Vec<Place> {
    let Some((first, count)) = access.range(instr.repeat()) else {
        return Vec::new();
    };
    let (first, file, width) = (u16::from(first.number()), first.file(), first.width());
    let each = (first..first + u16::from(count)).flat_map(move |number| match (file, width) {
        (File::Normal, Width::Full) => vec![2 * number, 2 * number + 1],
        (File::Normal, Width::Half) => vec![number],
        _ => vec![OTHERS + number - 192],
    });
    each.collect()
}

/// Checks a program.
pub(super) fn check(words: &[u64]) -> Result<(), Wrong> {
    let mut code = Vec::with_capacity(words.len());
    for (at, &word) in words.iter().enumerate() {
        let decoded = Instr::decode(word, GENERATION);
        code.push(decoded.map_err(|_| Wrong::Word { at, word })?);
    }
    let edges = edges(&code)?;
    check_joins(&code, &edges)?;
    let mut states: Vec<Option<State>> = vec![None; code.len()];
    let mut work = vec![0];
    if let Some(first) = states.first_mut() {
        *first = Some(State::default());
    }
    while let Some(at) = work.pop() {
        let Some(mut state) = states[at].clone() else {
            continue;
        };
        step(&code, at, &mut state)?;
        let mut reach = |to: usize, state: &State| {
            let known = &mut states[to];
            let news = match known {
                Some(known) => known.join(state),
                None => {
                    *known = Some(state.clone());
                    true
                }
            };
            if news {
                work.push(to);
            }
        };
        for &to in &edges[at] {
            reach(to, &state);
        }
        if at + 1 < code.len() && !edges[at].contains(&(at + 1)) {
            reach(at + 1, &state.of_wave());
        }
    }
    Ok(())
}

/// Where each instruction may go on.
fn edges(code: &[Instr]) -> Result<Vec<Vec<usize>>, Wrong> {
    let wrong = |at: usize| Wrong::Flow {
        at,
        text: code[at].display(GENERATION).to_string(),
    };
    let of = |(at, instr): (usize, &Instr)| {
        let mut next = Vec::new();
        if let Some(target) = instr.target() {
            let to = at.checked_add_signed(target as isize);
            next.push(to.filter(|to| *to < code.len()).ok_or_else(|| wrong(at))?);
        }
        let last = at + 1 == code.len();
        match instr.op() {
            Op::End if !last => return Err(wrong(at)),
            Op::End | Op::Jump => {}
            _ if last => return Err(wrong(at)),
            _ if !next.contains(&(at + 1)) => next.push(at + 1),
            _ => {}
        }
        Ok(next)
    };
    code.iter().enumerate().map(of).collect()
}

/// Each instruction is a block of its own here.
fn check_joins(code: &[Instr], edges: &[Vec<usize>]) -> Result<(), Wrong> {
    let joins = Joins::new(edges);
    for (at, instr) in code.iter().enumerate() {
        if joins.is_join(at) && !instr.flag(Field::Jp) {
            return Err(Wrong::Join {
                at,
                text: instr.display(GENERATION).to_string(),
            });
        }
    }
    Ok(())
}

/// Checks an instruction, and runs it.
fn step(code: &[Instr], at: usize, state: &mut State) -> Result<(), Wrong> {
    let instr = &code[at];
    let text = || instr.display(GENERATION).to_string();
    for (producer, since) in &state.recent {
        let needed = code[*producer].slots_before(instr, GENERATION);
        if needed > *since {
            return Err(Wrong::Slots {
                producer: *producer,
                at,
                text: text(),
                missing: needed - since,
            });
        }
    }
    let read: BTreeSet<Place> = instr
        .reads()
        .flat_map(|access| places(instr, &access))
        .collect();
    let written: BTreeSet<Place> = instr
        .writes()
        .flat_map(|access| places(instr, &access))
        .collect();
    let (ss, sy) = (instr.flag(Field::Ss), instr.flag(Field::Sy));
    let uses = |set: &BTreeSet<Place>| !set.is_disjoint(&read) || !set.is_disjoint(&written);
    let own = instr.needs_sync();
    let needs_ss =
        state.asked.0 || own.ss || uses(&state.short) || !state.reads.is_disjoint(&written);
    let needs_sy = state.asked.1 || own.sy || uses(&state.long);
    for (needed, given, flag) in [(needs_ss, ss, "(ss)"), (needs_sy, sy, "(sy)")] {
        if needed && !given {
            return Err(Wrong::Sync {
                at,
                text: text(),
                flag,
            });
        }
    }
    if ss {
        state.short.clear();
        state.reads.clear();
    }
    if sy {
        state.long.clear();
    }
    for access in instr.writes() {
        let places = places(instr, &access);
        match instr.latency(&access) {
            Latency::None | Latency::Slots => {}
            Latency::Ss => state.short.extend(places),
            Latency::Sy => {
                state.long.extend(places);
                // The vector of an atomic on a buffer is one.
                if instr.op().name().starts_with("atomic.b") {
                    let data = instr.reads().filter(|read| read.field == Field::Src1);
                    let data: Vec<Access> = data.collect();
                    let data = data.iter().flat_map(|read| self::places(instr, read));
                    state.long.extend(data);
                }
            }
            Latency::SsAndSy => {
                state.short.extend(&places);
                state.long.extend(places);
            }
        }
    }
    if instr.holds_sources() {
        state.reads.extend(read);
    }
    let Sync { ss, sy } = instr.needs_sync_after();
    state.asked = (ss, sy);
    let slots = instr.issue_slots();
    for since in state.recent.values_mut() {
        *since = since.saturating_add(slots);
    }
    state.recent.retain(|_, since| *since < MOST_SLOTS);
    state.recent.insert(at, instr.nop());
    Ok(())
}
