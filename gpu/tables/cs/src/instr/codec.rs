//! Bits of a word from a field's value and back, and what can be wrong with them.

use core::fmt;

use crate::arch::{Arch, ArchSet};
use crate::field::{Bits, FieldInfo, FieldKind, Value, sign_extend};
use crate::table::Info;

/// Why an instruction has no word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The architecture does not have the instruction.
    NoSuchInstruction {
        /// Its name.
        instruction: &'static str,
        /// Where it exists.
        exists: ArchSet,
        /// Where it was asked for.
        arch: Arch,
    },
    /// The architecture does not have the field, and its value is not the one that goes without saying.
    NoSuchField {
        /// The name of the instruction, or of the staging word.
        instruction: &'static str,
        /// The field's name.
        field: &'static str,
        /// Where the field was asked for.
        arch: Arch,
    },
    /// The field's bits can't hold the value.
    OutOfRange {
        /// The name of the instruction, or of the staging word.
        instruction: &'static str,
        /// The field's name.
        field: &'static str,
        /// The value.
        value: i128,
        /// The least value that fits.
        min: i64,
        /// The largest value that fits.
        max: i64,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EncodeError::NoSuchInstruction {
                instruction,
                exists,
                arch,
            } => write!(f, "{arch} has no {instruction}: it exists on {exists}"),
            EncodeError::NoSuchField {
                instruction,
                field,
                arch,
            } => write!(f, "{instruction} has no field {field} on {arch}"),
            EncodeError::OutOfRange {
                instruction,
                field,
                value,
                min,
                max,
            } => write!(
                f,
                "{value} does not fit {field} of {instruction}: it takes {min} to {max}"
            ),
        }
    }
}

impl core::error::Error for EncodeError {}

/// What is wrong with the bits of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldFault {
    /// The value is not defined.
    Undefined,
    /// A register pair is named by an odd number.
    OddPair,
}

/// Why a word is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The architecture does not define the opcode.
    UnknownOpcode {
        /// Bits 63:56.
        opcode: u8,
        /// Where it was looked up.
        arch: Arch,
    },
    /// The architecture does not define the second opcode.
    UnknownSubOpcode {
        /// The name of the opcode.
        group: &'static str,
        /// The second opcode.
        sub_opcode: u8,
        /// Where it was looked up.
        arch: Arch,
    },
    /// A field's bits mean nothing.
    BadField {
        /// The name of the instruction, or of the staging word.
        instruction: &'static str,
        /// The field's name.
        field: &'static str,
        /// Its highest bit.
        high: u8,
        /// Its lowest bit.
        low: u8,
        /// What it holds.
        value: u64,
        /// What is wrong with that.
        fault: FieldFault,
    },
    /// Reserved bits are set.
    ReservedBits {
        /// The instruction's name.
        instruction: &'static str,
        /// The bits.
        bits: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::UnknownOpcode { opcode, arch } => {
                write!(f, "{arch} has no opcode {opcode} ({opcode:#04x})")
            }
            DecodeError::UnknownSubOpcode {
                group,
                sub_opcode,
                arch,
            } => write!(f, "{arch} has no second opcode {sub_opcode} of {group}"),
            DecodeError::BadField {
                instruction,
                field,
                high,
                low,
                value,
                fault,
            } => {
                let fault = match fault {
                    FieldFault::Undefined => "which means nothing",
                    FieldFault::OddPair => "but a register pair is even",
                };
                write!(
                    f,
                    "{field} of {instruction} (bits {high}:{low}) is {value}, {fault}"
                )
            }
            DecodeError::ReservedBits { instruction, bits } => {
                write!(f, "reserved bits of {instruction} are set: {bits:#x}")
            }
        }
    }
}

impl core::error::Error for DecodeError {}

/// The word of an instruction whose fields are all 0.
#[inline]
pub(super) const fn start(info: &Info, arch: Arch) -> Result<u64, EncodeError> {
    if info.archs.contains(arch) {
        return Ok(info.fixed_bits());
    }
    Err(EncodeError::NoSuchInstruction {
        instruction: info.name,
        exists: info.archs,
        arch,
    })
}

/// The bits that a value puts into the word.
#[inline]
pub(crate) fn put<V: Value>(
    of: &'static str,
    field: &FieldInfo,
    value: V,
    arch: Arch,
) -> Result<u64, EncodeError> {
    encode_field(of, field, value.to_bits(), arch)
}

/// The same, for a value as bits.
#[inline]
pub(crate) fn encode_field(
    of: &'static str,
    field: &FieldInfo,
    raw: u64,
    arch: Arch,
) -> Result<u64, EncodeError> {
    match place(of, field, raw, arch) {
        Ok(placed) => Ok(placed),
        // A default that is not 0 goes without saying where there is no field.
        Err(EncodeError::NoSuchField { .. }) if raw == field.columns.default => Ok(0),
        Err(error) => Err(error),
    }
}

/// The bits that `raw` (a negative number extended to 64 bits) puts into the word.
#[inline]
pub(crate) fn place(
    of: &'static str,
    field: &FieldInfo,
    raw: u64,
    arch: Arch,
) -> Result<u64, EncodeError> {
    let Some(bits) = field.bits(arch) else {
        if raw == 0 {
            return Ok(0);
        }
        return Err(EncodeError::NoSuchField {
            instruction: of,
            field: field.name,
            arch,
        });
    };
    let cut = raw & bits.max();
    let back = match field.kind {
        FieldKind::Signed => sign_extend(cut, bits.width()).cast_unsigned(),
        _ => cut,
    };
    if back == raw {
        return Ok(cut << bits.low);
    }
    let value = match field.kind {
        FieldKind::Signed => raw.cast_signed().into(),
        FieldKind::Bytes8 => i128::from(raw) * 8,
        _ => raw.into(),
    };
    Err(out_of_range(of, field, bits, value))
}

/// The error for a value, as people write it, that the field's bits can't hold.
#[cold]
pub(crate) fn out_of_range(
    of: &'static str,
    field: &FieldInfo,
    bits: Bits,
    value: i128,
) -> EncodeError {
    let max = bits.max().cast_signed(); // a field has 58 bits at most
    let (min, max) = match field.kind {
        FieldKind::Signed => (-(max / 2) - 1, max / 2),
        FieldKind::Bytes8 => (0, max * 8),
        _ => (0, max),
    };
    EncodeError::OutOfRange {
        instruction: of,
        field: field.name,
        value,
        min,
        max,
    }
}

/// The value that a field of the word holds.
#[inline]
pub(crate) fn get<V: Value>(
    of: &'static str,
    field: &FieldInfo,
    word: u64,
    arch: Arch,
) -> Result<V, DecodeError> {
    let Some(bits) = field.bits(arch) else {
        return Ok(V::default());
    };
    let value = bits.of(word);
    V::from_bits(value, bits.width()).ok_or(DecodeError::BadField {
        instruction: of,
        field: field.name,
        high: bits.high,
        low: bits.low,
        value,
        fault: match field.kind {
            FieldKind::Pair => FieldFault::OddPair,
            _ => FieldFault::Undefined,
        },
    })
}

/// The value of a field that nobody set.
pub(crate) fn default<V: Value>(bits: u64) -> V {
    V::from_bits(bits, 64).unwrap_or_default()
}

/// Why no row took the word.
#[cold]
pub(super) fn unknown(opcode: u8, word: u64, arch: Arch) -> DecodeError {
    let same_opcode = |info: &&&Info| info.opcode == opcode && info.archs.contains(arch);
    let sub = super::INSTRUCTIONS
        .iter()
        .find(same_opcode)
        .and_then(|info| info.sub_opcode);
    match sub {
        Some(sub) => DecodeError::UnknownSubOpcode {
            group: sub.group.name(),
            sub_opcode: (word >> sub.low) as u8,
            arch,
        },
        None => DecodeError::UnknownOpcode { opcode, arch },
    }
}
