//! What can go wrong while building.

use core::fmt;

use crate::instr::EncodeError;
use crate::register::Reg;
use crate::scoreboard::Slot;

/// Why a stream could not be built: the first thing that went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// How many instructions were appended before, links between chunks aside.
    pub index: usize,
    /// The instruction or construct that failed.
    pub what: &'static str,
    /// What is wrong with it.
    pub fault: BuildFault,
}

/// What is wrong with an instruction or construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildFault {
    /// There is no word for it.
    Encode(EncodeError),
    /// It uses a register that the GPU does not have.
    NoSuchRegister {
        /// The register; `None`: one beyond 255.
        register: Option<Reg>,
        /// How many there are.
        count: u8,
    },
    /// It writes a register that may not be written here.
    NotWritable {
        /// The register.
        register: Reg,
    },
    /// It names a scoreboard slot that the GPU does not have.
    NoSuchSlot {
        /// The slot.
        slot: Slot,
        /// How many there are.
        slots: u8,
    },
    /// It waits for the slot that counts it: it would wait for ever.
    WaitsForItself {
        /// The slot.
        slot: Slot,
    },
    /// It selects another slot for loads and stores than the one that the builder waits for.
    OtherSlotChanged {
        /// The slot that the builder waits for.
        expected: Slot,
    },
    /// The chunk is full and there is no other.
    ChunkFull {
        /// The words that the chunk has.
        capacity: usize,
    },
    /// A chunk is too small for a link and one instruction.
    ChunkTooSmall {
        /// The words that the chunk has.
        capacity: usize,
    },
    /// A chunk's address is not a multiple of 64.
    ChunkMisaligned {
        /// The address.
        address: u64,
    },
    /// A block does not fit an empty chunk; branches can't leave their chunk.
    BlockTooLong {
        /// The words of the block so far.
        length: usize,
        /// The words that a chunk has for it.
        capacity: usize,
    },
    /// The instruction can't stand in a block, which may still move.
    InsideBlock,
    /// A label is used outside the block in which it was used first.
    LabelOutsideBlock,
    /// A label is bound twice.
    LabelBoundTwice,
    /// A block ends, and branches lead to labels that were not bound.
    UnresolvedLabel {
        /// How many labels.
        labels: usize,
    },
    /// A branch leads further than its offset can say.
    BranchOutOfRange {
        /// The distance in instructions, from the one after the branch.
        offset: i64,
    },
    /// A match has a case, or a second default, behind its default.
    CaseAfterDefault,
}

impl From<EncodeError> for BuildFault {
    fn from(error: EncodeError) -> BuildFault {
        BuildFault::Encode(error)
    }
}

impl fmt::Display for BuildFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildFault::Encode(error) => error.fmt(f),
            BuildFault::NoSuchRegister {
                register: Some(register),
                count,
            } => write!(f, "uses {register}, but there are {count} registers"),
            BuildFault::NoSuchRegister {
                register: None,
                count,
            } => write!(
                f,
                "uses a register beyond r255, but there are {count} registers"
            ),
            BuildFault::NotWritable { register } => {
                write!(f, "writes {register}, which may not be written here")
            }
            BuildFault::NoSuchSlot { slot, slots } => {
                write!(f, "names slot {slot}, but there are {slots} slots")
            }
            BuildFault::WaitsForItself { slot } => write!(
                f,
                "waits for slot {slot}, which counts it: it would wait for ever"
            ),
            BuildFault::OtherSlotChanged { expected } => write!(
                f,
                "selects another slot for loads and stores than {expected}, which the builder waits for"
            ),
            BuildFault::ChunkFull { capacity } => write!(
                f,
                "does not fit: the chunk of {capacity} words is full and there is no other"
            ),
            BuildFault::ChunkTooSmall { capacity } => write!(
                f,
                "a chunk of {capacity} words has no room for a link and an instruction"
            ),
            BuildFault::ChunkMisaligned { address } => {
                write!(f, "a chunk's address is a multiple of 64, not {address:#x}")
            }
            BuildFault::BlockTooLong { length, capacity } => write!(
                f,
                "the block has {length} words so far, but a chunk has room for {capacity}"
            ),
            BuildFault::InsideBlock => f.write_str("can't stand in a block, which may still move"),
            BuildFault::LabelOutsideBlock => {
                f.write_str("the label belongs to a block that is not open")
            }
            BuildFault::LabelBoundTwice => f.write_str("the label is bound already"),
            BuildFault::UnresolvedLabel { labels } => {
                write!(f, "{labels} labels with branches to them were never bound")
            }
            BuildFault::BranchOutOfRange { offset } => write!(
                f,
                "leads {offset} instructions on, but a branch reaches -32768 to 32767"
            ),
            BuildFault::CaseAfterDefault => f.write_str("stands behind the match's default"),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "instruction {} ({}): {}",
            self.index, self.what, self.fault
        )
    }
}

impl core::error::Error for BuildError {}
