//! Why a program was stopped: what would have gone wrong on hardware, or what nothing is known of.

use core::fmt;

use eitri_ir3_isa::{DecodeError, Gen, Instr, Reg, Rule};

/// A program that was stopped, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The workgroup.
    pub workgroup: [u32; 3],
    /// The wave in it.
    pub wave: u32,
    /// The instruction's index.
    pub pc: u32,
    /// The instruction.
    pub instr: Option<Instr>,
    /// Its generation.
    pub generation: Gen,
    /// The lane, if it is about one.
    pub lane: Option<u32>,
    /// What is wrong.
    pub kind: FaultKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        write!(f, "workgroup {x},{y},{z}, wave {}", self.wave)?;
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        write!(f, ", instruction {}", self.pc)?;
        if let Some(instr) = self.instr {
            write!(f, " `{}`", instr.display(self.generation))?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// A register as a fault names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named(pub Reg);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A result of arithmetic is read before it is there.
    #[error(
        "{reg} was written by instruction {producer} and is read {missing} slot(s) too early: {needed} needed"
    )]
    TooEarly {
        /// The register that is read.
        reg: Named,
        /// Who wrote it.
        producer: u32,
        /// How many slots must lie between.
        needed: u8,
        /// How many of them are missing.
        missing: u8,
    },
    /// A short-latency result is used without (ss).
    #[error("{reg} is the result of instruction {producer}, which (ss) waits for; it is missing")]
    MissingSs {
        /// The register.
        reg: Named,
        /// Who writes it.
        producer: u32,
    },
    /// A long-latency result is used without (sy).
    #[error("{reg} is the result of instruction {producer}, which (sy) waits for; it is missing")]
    MissingSy {
        /// The register.
        reg: Named,
        /// Who writes it.
        producer: u32,
    },
    /// A register is written that an instruction in flight still reads.
    #[error("{reg} is still read by instruction {reader}; (ss) before it is written is missing")]
    WriteAfterRead {
        /// The register.
        reg: Named,
        /// Who reads it.
        reader: u32,
    },
    /// The instruction must wait because of what it is, or of what stands before it.
    #[error("it must carry {0}, for what it is or what stands before it")]
    MustWait(&'static str),
    /// Lanes that waited here join, or go on, at an instruction without (jp).
    #[error("lanes that waited here go on, but it lacks (jp)")]
    MissingJoin,
    /// More lanes wait in more places than the branch stack has room for.
    #[error("lanes wait in {found} places; the branch stack has {room}")]
    BranchStack {
        /// Places.
        found: u32,
        /// The depth that was stated.
        room: u32,
    },
    /// The word is no instruction.
    #[error(transparent)]
    Decode(DecodeError),
    /// Operands that no compiler puts together.
    #[error(transparent)]
    Rule(Rule),
    /// Execution left the code.
    #[error("there is no instruction here")]
    NoInstruction,
    /// More instructions than allowed.
    #[error("more than {0} instructions were executed")]
    Endless(u64),
    /// A register beyond what the program states that it uses.
    #[error("{reg} is beyond the {vec4} vec4 that the program states")]
    Footprint {
        /// The register.
        reg: Named,
        /// The footprint.
        vec4: u8,
    },
    /// A register that does not exist, or can't stand here.
    #[error("{0} can't be used here")]
    Register(Named),
    /// A word of the const file beyond its length.
    #[error("constant {number} is beyond the {length} words of the const file")]
    Constant {
        /// The word.
        number: u32,
        /// How many there are.
        length: u32,
    },
    /// A relative operand outside its file.
    #[error("a0.x leads to register or constant {0}")]
    Relative(i32),
    /// A shared register is written by several lanes.
    #[error("a shared register is written by {0} lanes; one must be active")]
    SharedWrite(u32),
    /// A value that must be the same in all lanes is not.
    #[error("a value that must be the same in all active lanes is not")]
    NotUniform,
    /// A predicate gets a value other than 0 and 1.
    #[error("a predicate is written from {0:#x}; only 0 and 1 are known to work")]
    Predicate(u32),
    /// No resource is bound there.
    #[error("no resource is bound at {0}")]
    Resource(crate::memory::Place),
    /// An access is not aligned to its size.
    #[error("address {address:#x} is not aligned to {size} bytes")]
    Alignment {
        /// The address or offset.
        address: u64,
        /// The size of an element.
        size: u32,
    },
    /// An access outside of all memory, shared memory or private memory.
    #[error("{size} bytes at {address:#x} are outside of {what}")]
    OutOfBounds {
        /// The kind of memory.
        what: &'static str,
        /// The address or offset.
        address: u64,
        /// Bytes.
        size: u32,
    },
    /// Only some lanes of a wave, or some waves of a workgroup, reach a barrier.
    #[error("not all lanes of all waves reach the barrier")]
    Barrier,
    /// Nothing is known of what it does, or of what it does with these operands.
    #[error("the facts do not say what it does: {0}")]
    Unknown(&'static str),
    /// It is known and not modelled.
    #[error("not modelled: {0}")]
    NotModelled(&'static str),
}
