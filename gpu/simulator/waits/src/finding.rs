//! Findings: what is wrong with a program's waits, and on which path.

use crate::program::Stage;
use std::fmt;

/// What is wrong at an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// It reads a register that a message on a slot will write.
    ReadBeforeWait {
        /// The register.
        register: u8,
        /// The slot.
        slot: u8,
    },
    /// It writes a register that a message on a slot will write.
    WriteBeforeWait {
        /// The register.
        register: u8,
        /// The slot.
        slot: u8,
    },
    /// It accesses the bytes of an access on a slot that may not have happened, and one of the two writes.
    MemoryBeforeWait {
        /// The slot.
        slot: u8,
    },
    /// It replaces the hidden coordinates that loads of varyings on a slot may still use.
    VaryingBeforeWait {
        /// The slot.
        slot: u8,
    },
    /// It touches the tile buffer, or tests depth, before older fragments have signalled a slot.
    FragmentOrder {
        /// The slot.
        slot: u8,
    },
    /// It is a barrier, and a message on a general slot may be in flight.
    BarrierBeforeWait {
        /// The slot.
        slot: u8,
    },
    /// It sends a message or ends the thread before the wait for a barrier.
    AfterBarrier,
    /// It is no instruction of the generation.
    NoInstruction {
        /// The word.
        word: u64,
    },
    /// Control flow leaves the program without `end`.
    NoEnd,
}

impl Kind {
    /// Every kind's name, with a sentence.
    pub const RULES: [(&'static str, &'static str); 9] = [
        (
            "read-before-wait",
            "A register is read before the wait for the message that writes it.",
        ),
        (
            "write-before-wait",
            "A register is written before the wait for the message that writes it.",
        ),
        (
            "memory-before-wait",
            "Memory is accessed before the wait for an access to the same bytes.",
        ),
        (
            "varying-before-wait",
            "Hidden coordinates are replaced before the wait for the loads that use them.",
        ),
        (
            "fragment-order",
            "The tile buffer is accessed before the wait for older fragments.",
        ),
        (
            "barrier-before-wait",
            "A barrier is reached with messages in flight.",
        ),
        (
            "after-barrier",
            "The program goes on before the wait for its barrier.",
        ),
        (
            "no-instruction",
            "Control flow reaches a word that is no instruction.",
        ),
        ("no-end", "Control flow leaves the program without `end`."),
    ];

    /// Its name.
    pub fn name(&self) -> &'static str {
        let index = match self {
            Kind::ReadBeforeWait { .. } => 0,
            Kind::WriteBeforeWait { .. } => 1,
            Kind::MemoryBeforeWait { .. } => 2,
            Kind::VaryingBeforeWait { .. } => 3,
            Kind::FragmentOrder { .. } => 4,
            Kind::BarrierBeforeWait { .. } => 5,
            Kind::AfterBarrier => 6,
            Kind::NoInstruction { .. } => 7,
            Kind::NoEnd => 8,
        };
        Kind::RULES[index].0
    }

    /// The register, if it is about one.
    pub fn register(&self) -> Option<u8> {
        match self {
            Kind::ReadBeforeWait { register, .. } | Kind::WriteBeforeWait { register, .. } => {
                Some(*register)
            }
            _ => None,
        }
    }

    /// The slot, if it is about one.
    pub fn slot(&self) -> Option<u8> {
        match self {
            Kind::ReadBeforeWait { slot, .. }
            | Kind::WriteBeforeWait { slot, .. }
            | Kind::MemoryBeforeWait { slot }
            | Kind::VaryingBeforeWait { slot }
            | Kind::FragmentOrder { slot }
            | Kind::BarrierBeforeWait { slot } => Some(*slot),
            Kind::AfterBarrier => Some(7),
            Kind::NoInstruction { .. } | Kind::NoEnd => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::ReadBeforeWait { register, slot } => {
                write!(f, "r{register} is read before the wait for slot {slot}")
            }
            Kind::WriteBeforeWait { register, slot } => {
                write!(f, "r{register} is written before the wait for slot {slot}")
            }
            Kind::MemoryBeforeWait { slot } => {
                write!(
                    f,
                    "an access to the same bytes on slot {slot} was not waited for"
                )
            }
            Kind::VaryingBeforeWait { slot } => write!(
                f,
                "the hidden coordinates are replaced before the wait for slot {slot}"
            ),
            Kind::FragmentOrder { slot } => {
                write!(f, "older fragments were not waited for on slot {slot}")
            }
            Kind::BarrierBeforeWait { slot } => {
                write!(
                    f,
                    "a barrier is reached before the wait for a message on slot {slot}"
                )
            }
            Kind::AfterBarrier => f.write_str("the barrier on slot 7 was not waited for"),
            Kind::NoInstruction { word } => {
                write!(f, "{word:#018x} is no instruction of this architecture")
            }
            Kind::NoEnd => f.write_str("control flow leaves the program without `end`"),
        }
    }
}

/// A branch that a path takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Jump {
    /// Address of the branch.
    pub from: u64,
    /// Address that it goes to.
    pub to: u64,
}

/// Something that is wrong, at an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What.
    pub kind: Kind,
    /// Address of the instruction.
    pub address: u64,
    /// Index of its word.
    pub index: usize,
    /// Address of the message, or of the barrier, that was not waited for; none if others signal the slot.
    pub message: Option<u64>,
    /// Index of its word.
    pub message_index: Option<usize>,
    /// The branches that are taken on the shortest path from the message (or from the start) to the instruction.
    pub path: Vec<Jump>,
}

/// The result for a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The stage that was assumed.
    pub stage: Stage,
    /// What is wrong, by address.
    pub findings: Vec<Finding>,
    /// Instructions that control flow reaches.
    pub reached: usize,
    /// Addresses of jumps to what a register or a descriptor says. Where they lead is not checked; a call of a blend shader is
    /// taken to come back.
    pub unfollowed: Vec<u64>,
}
