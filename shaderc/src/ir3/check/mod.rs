//! Checker: proves that finished words keep their distances, wait for what they use, and join where lanes may wait.
//!
//! A model of its own, from the facts alone: it reads the words, finds the flow in them, follows what each register waits
//! for, and lets waves park and go on by the wave's rule (`wave`). It knows nothing of the passes; a test of the sources
//! holds that it names none.  Facts: hardware/ir3-isa.md 7, 8, 9.

mod flow;
mod hazards;
mod places;
#[cfg(test)]
mod tests;
mod wave;

use std::collections::BTreeSet;
use std::fmt;

use eitri_ir3_isa::{Field, Instr};

use self::flow::Flow;
use self::hazards::State;
use self::wave::Resumes;
use super::pack::GENERATION;

/// What is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// A word that is no instruction.
    Word {
        /// Its number.
        at: usize,
        /// Its bits.
        word: u64,
    },
    /// A branch that leads out of the program, or an end that isn't the last instruction.
    Flow {
        /// Number of the instruction.
        at: usize,
        /// The instruction.
        text: String,
    },
    /// A register that a0.x chooses: nothing is known of those.
    Relative {
        /// Number of the instruction.
        at: usize,
        /// The instruction.
        text: String,
    },
    /// Slots that are missing between two instructions.
    Slots {
        /// Number of the instruction that writes the register.
        producer: usize,
        /// Number of the one that reads it.
        at: usize,
        /// The one that reads it.
        text: String,
        /// How many are missing.
        missing: u8,
    },
    /// A wait that is missing.
    Sync {
        /// Number of the instruction.
        at: usize,
        /// The instruction.
        text: String,
        /// The flag.
        flag: &'static str,
    },
    /// No mark where lanes may wait.
    Join {
        /// Number of the instruction.
        at: usize,
        /// The instruction.
        text: String,
    },
    /// Lanes may wait in more places at once than the branch stack has room for.
    BranchStack {
        /// How many places.
        places: u32,
        /// How many there is room for.
        room: u32,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Word { at, word } => write!(f, "{at}: {word:#018x} is no instruction"),
            Wrong::Flow { at, text } => write!(f, "{at}: `{text}` leads nowhere"),
            Wrong::Relative { at, text } => {
                write!(f, "{at}: `{text}` uses a register that a0.x chooses")
            }
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
            Wrong::BranchStack { places, room } => write!(
                f,
                "lanes may wait in {places} places at once, the branch stack has {room}"
            ),
        }
    }
}

impl std::error::Error for Wrong {}

/// The text of an instruction.
fn text(instr: &Instr) -> String {
    instr.display(GENERATION).to_string()
}

/// Checks a program, and that its branch stack suffices.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(words: &[u64], branch_stack: u32) -> Result<(), Wrong> {
    let mut code = Vec::with_capacity(words.len());
    for (at, &word) in words.iter().enumerate() {
        let decoded = Instr::decode(word, GENERATION);
        code.push(decoded.map_err(|_| Wrong::Word { at, word })?);
    }
    let flow = Flow::of(&code)?;
    let since = wave::waits_since(&flow.next);
    for (at, _) in flow
        .starts
        .iter()
        .zip(&since)
        .filter(|(_, since)| since.is_some())
    {
        let instr = &code[*at];
        if !instr.flag(Field::Jp) {
            let text = text(instr);
            return Err(Wrong::Join { at: *at, text });
        }
    }
    let places = wave::most_waiting(&since);
    if places > branch_stack {
        let room = branch_stack;
        return Err(Wrong::BranchStack { places, room });
    }
    check_hazards(&code, &flow, Resumes::new(&since))
}

/// Follows what is outstanding along all ways that a wave may take.
fn check_hazards(code: &[Instr], flow: &Flow, mut resumes: Resumes) -> Result<(), Wrong> {
    let mut entries: Vec<Option<State>> = vec![None; flow.starts.len()];
    let mut work = BTreeSet::new();
    if let Some(first) = entries.first_mut() {
        *first = Some(State::default());
        work.insert(0);
    }
    while let Some(from) = work.pop_first() {
        let Some(mut state) = entries[from].clone() else {
            continue;
        };
        for at in flow.instrs(from) {
            state.step(at, &code[at])?;
        }
        for &to in &flow.next[from] {
            let news = match &mut entries[to] {
                Some(known) => known.join(&state),
                none => {
                    *none = Some(state.clone());
                    true
                }
            };
            if news {
                work.insert(to);
            }
        }
        for (pending, place) in state.of_wave() {
            for to in resumes.after(from, &flow.next[from], (pending, place)) {
                entries[to].get_or_insert_default().add(pending, place);
                work.insert(to);
            }
        }
    }
    Ok(())
}
