//! What can be wrong with a program, with the place.

use thiserror::Error;

/// Why bytes are not a program that can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// The first bytes are not those of a program.
    #[error(
        "not an Eitri program of this kind: the first eight bytes are \"{}\", not \"{}\"",
        found.escape_ascii(),
        wanted.escape_ascii()
    )]
    Magic {
        /// What stands there; zeros where there are fewer bytes.
        found: [u8; 8],
        /// What a program begins with.
        wanted: [u8; 8],
    },
    /// Written by another version of the compiler.
    #[error(
        "program layout version {found}, but this build reads version {wanted}: compile the shader again"
    )]
    Version {
        /// Version in the header.
        found: u32,
        /// Version that can be read.
        wanted: u32,
    },
    /// More or fewer bytes than the header says.
    #[error("program of {found} bytes, but its header promises {wanted}")]
    Length {
        /// Bytes that are there.
        found: usize,
        /// Bytes that the header promises.
        wanted: usize,
    },
    /// The sum of the bytes is not the one in the header.
    #[error("program damaged: its CRC-32 is {found:#010x}, the header says {wanted:#010x}")]
    Sum {
        /// Sum of the bytes.
        found: u32,
        /// Sum in the header.
        wanted: u32,
    },
    /// A header word has a value without a meaning.
    #[error("program header word at {offset:#x} is {value:#x}, which means nothing there")]
    Header {
        /// Byte offset of the word.
        offset: usize,
        /// Its value.
        value: u32,
    },
    /// A side is 0, or too many invocations.
    #[error(
        "workgroup of {x} x {y} x {z} invocations: each side must be at least 1, and the product at most {max}",
        max = crate::WorkgroupSize::MAX_INVOCATIONS
    )]
    WorkgroupSize {
        /// Invocations along x.
        x: u32,
        /// Invocations along y.
        y: u32,
        /// Invocations along z.
        z: u32,
    },
    /// No instruction at all.
    #[error("program without code")]
    NoCode,
    /// A record of a table means nothing.
    #[error(
        "record {index} of the program's {table} is {kind:#x} {value:#x}, which means nothing there"
    )]
    Record {
        /// Which table, in words.
        table: &'static str,
        /// Which record, from 0.
        index: usize,
        /// Its first word.
        kind: u32,
        /// Its second word.
        value: u32,
    },
    /// Two parts of it contradict each other.
    #[error("the program's {what} don't fit each other")]
    Contradiction {
        /// Which.
        what: &'static str,
    },
    /// The same set and binding twice.
    #[error("binding {set}:{binding} stands twice in the program")]
    DuplicateBinding {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
    /// The entry point's name is not UTF-8.
    #[error("the entry point's name is not UTF-8 after byte {valid}")]
    EntryName {
        /// Bytes that are.
        valid: usize,
    },
}

/// Why a program could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The buffer is shorter than the program.
    #[error("buffer of {available} bytes for a program of {needed}")]
    BufferTooSmall {
        /// Bytes that the caller gave.
        available: usize,
        /// Bytes that the program takes.
        needed: usize,
    },
    /// A table has more records than its count can say.
    #[error("program too large for its format")]
    TooLarge,
    /// What would be written could not be read back.
    #[error(transparent)]
    Invalid(#[from] ProgramError),
}
