//! Instructions, and what a program needs from the runtime.

use std::fmt;

use eitri_isa::Arch;
use eitri_isa::preload::Stage;
use smallvec::{SmallVec, smallvec};

use super::modifier::{Flow, Modifier};
use super::op::Op;
use super::operand::{Operand, Source, Space, Word};
use super::{FauWord, UniformWork};
use crate::machine::{BlockId, Location};

/// Words that an instruction reads or writes as a run. Most are single, and then need no memory for them.
pub(crate) type Words = SmallVec<[Word; 2]>;
/// What an instruction reads. Few have more than three.
pub(crate) type Sources = SmallVec<[Source; 3]>;
/// The modifiers of an instruction.
pub(crate) type Modifiers = SmallVec<[Modifier; 8]>;

/// A machine instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Instr {
    pub(crate) op: Op,
    /// Sorted, each once.
    pub(crate) modifiers: Modifiers,
    /// Words written: the destination, or a message's written run.
    pub(crate) dests: Words,
    /// A message's read run.
    pub(crate) staging: Words,
    pub(crate) sources: Sources,
    /// Words that a program which it may call finds in registers of their own: of a BLEND that of the samples, then the second
    /// colour.
    pub(crate) held: Words,
    /// Offset of a message in bytes, or the constant of the `_IMM` forms; of a message that names a table and an entry of it, a
    /// handle.
    pub(crate) immediate: Option<i64>,
    /// Where a branch goes; only between `lower_branches` and `pack`.
    pub(crate) target: Option<BlockId>,
    /// Memory that a message touches, or that a fence is about: without one, about all that other threads see.
    pub(crate) space: Option<Space>,
    /// Whether it stays in order with the other volatile accesses.
    pub(crate) volatile: bool,
    /// Whether it is an atomic load or store: such loads of what may be one word stay in order in memory, too.
    pub(crate) atomic: bool,
    /// Slot that a message signals; set by `assign_slots`.
    pub(crate) slot: Option<u8>,
    pub(crate) flow: Flow,
    pub(crate) location: Location,
}

impl Instr {
    /// `op` with nothing on it.
    pub(crate) fn new(op: Op) -> Instr {
        Instr {
            op,
            modifiers: Modifiers::new(),
            dests: Words::new(),
            staging: Words::new(),
            sources: Sources::new(),
            held: Words::new(),
            immediate: None,
            target: None,
            space: None,
            volatile: false,
            atomic: false,
            slot: None,
            flow: Flow::None,
            location: Location::default(),
        }
    }

    /// A copy of one word to another.
    pub(crate) fn copy(to: Word, from: Word, location: Location) -> Instr {
        Instr {
            dests: smallvec![to],
            sources: smallvec![Source::plain(Operand::Word(from))],
            location,
            ..Instr::new(Op::Mov)
        }
    }

    /// The instruction with one more modifier.
    pub(crate) fn with(mut self, modifier: Modifier) -> Instr {
        self.add_modifier(modifier);
        self
    }

    /// Adds a modifier, keeping the list sorted.
    pub(crate) fn add_modifier(&mut self, modifier: Modifier) {
        if let Err(at) = self.modifiers.binary_search(&modifier) {
            self.modifiers.insert(at, modifier);
        }
    }
}

/// What functions of this machine have beside code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Extra {
    /// What they are made for.
    pub(crate) arch: Arch,
    /// What they are run as.
    pub(crate) stage: Stage,
    /// Uniform words, by number.
    pub(crate) fau: Vec<FauWord>,
    /// What some of them are worked out by.
    pub(crate) work: Vec<UniformWork>,
}

impl Default for Extra {
    /// Of the oldest architecture that code is made for.
    fn default() -> Extra {
        Extra {
            arch: Arch::V10,
            stage: Stage::Compute,
            fau: Vec::new(),
            work: Vec::new(),
        }
    }
}

impl fmt::Display for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stage {
            Stage::Compute => {}
            Stage::Vertex => writeln!(f, "stage vertex")?,
            Stage::Fragment => writeln!(f, "stage fragment")?,
        }
        for (word, fau) in self.fau.iter().enumerate() {
            writeln!(f, "fau u{word} = {fau}")?;
        }
        for (number, work) in self.work.iter().enumerate() {
            writeln!(f, "work {number} = {work}")?;
        }
        Ok(())
    }
}
