//! What can be wrong with a value or with packed bytes, with the place.

use crate::arch::Arch;
use thiserror::Error;

/// A field whose value is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("field `{field}`: {problem}")]
pub struct FieldError {
    /// The field, as the facts spell it.
    pub field: &'static str,
    /// What is wrong.
    pub problem: FieldProblem,
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FieldProblem {
    /// More than fits.
    #[error("{value} ({value:#x}) does not fit: the most is {most} ({most:#x})")]
    TooLarge {
        /// The value.
        value: u64,
        /// The largest that fits.
        most: u64,
    },
    /// Less than the field can say.
    #[error("{value} is below {least}")]
    BelowLeast {
        /// The value.
        value: u64,
        /// The smallest value.
        least: u64,
    },
    /// Outside the range of a signed field.
    #[error("{value} does not fit {width} signed bits")]
    OutOfRange {
        /// The value.
        value: i64,
        /// Bits of the field.
        width: u32,
    },
    /// Not aligned.
    #[error("{value:#x} is not a multiple of {multiple:#x}")]
    NotMultiple {
        /// The value.
        value: u64,
        /// What it must be a multiple of.
        multiple: u64,
    },
    /// Not a power of two.
    #[error("{value} is not a power of two")]
    NotPowerOfTwo {
        /// The value.
        value: u64,
    },
    /// The field tells structures apart, and has one legal value.
    #[error("{value} is not {only}, its only legal value")]
    NotTheOnlyValue {
        /// The value.
        value: u64,
        /// The legal one.
        only: u64,
    },
    /// No value of the enumeration has this number.
    #[error("{value} is no value of `{of}`")]
    NotInEnum {
        /// The number.
        value: u64,
        /// The enumeration.
        of: &'static str,
    },
    /// Bits that mean nothing.
    #[error("stored as {stored:#x}, which means nothing")]
    NoMeaning {
        /// The bits.
        stored: u64,
    },
    /// The field does not exist there, but has a value that is not its default.
    #[error("does not exist in {arch}")]
    NotInArch {
        /// The architecture.
        arch: Arch,
    },
}

/// Why a structure could not be packed or unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DescriptorError {
    /// The structure does not exist there.
    #[error("`{structure}` does not exist in {arch}")]
    NotInArch {
        /// The structure.
        structure: &'static str,
        /// The architecture.
        arch: Arch,
    },
    /// Too few bytes.
    #[error("`{structure}` takes {needed} bytes, but there are {found}")]
    Length {
        /// The structure.
        structure: &'static str,
        /// Bytes that it takes.
        needed: usize,
        /// Bytes that are there.
        found: usize,
    },
    /// A field is wrong.
    #[error("`{structure}`: {error}")]
    Field {
        /// The structure.
        structure: &'static str,
        /// The field, and what is wrong with it.
        error: FieldError,
    },
    /// Bits are set that no field covers.
    #[error("`{structure}`: reserved bits {bits:#010x} of word {word} are set (the lowest is bit {})", bits.trailing_zeros())]
    Reserved {
        /// The structure.
        structure: &'static str,
        /// The 32-bit word, from 0.
        word: u32,
        /// The bits that should be 0.
        bits: u32,
    },
}
