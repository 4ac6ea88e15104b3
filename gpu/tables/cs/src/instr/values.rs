//! Values of an instruction's fields as bits: one piece of code encodes every instruction by its row.
//!
//! [`crate::instr::Instr::encode`] is code of its own for each instruction, made to be fast, and knows all of them. A driver has
//! few, encodes each once, and wants to be small: it names only the rows that it uses.

use super::codec::{EncodeError, encode_field, start};
use crate::arch::Arch;
use crate::table::Info;

/// Most fields of an instruction.
const MOST_FIELDS: usize = 16;

/// The values of all fields, in the order of the row; a negative number is extended to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values([u64; MOST_FIELDS]);

impl Values {
    /// These.
    pub(crate) fn of<const N: usize>(values: [u64; N]) -> Values {
        const { assert!(N <= MOST_FIELDS, "MOST_FIELDS is to grow") };
        let mut all = [0; MOST_FIELDS];
        for (place, value) in all.iter_mut().zip(values) {
            *place = value;
        }
        Values(all)
    }
}

/// An instruction with its row of the tables.
pub trait Instruction {
    /// Its row.
    fn info(&self) -> &'static Info;

    /// What its fields hold.
    fn values(&self) -> Values;
}

/// The word of an instruction by its row.
///
/// # Errors
/// The architecture lacks it, or a field's value.
pub(crate) fn encode(info: &Info, values: &Values, arch: Arch) -> Result<u64, EncodeError> {
    let mut word = start(info, arch)?;
    for (field, value) in info.fields.iter().zip(values.0) {
        word |= encode_field(info.name, field, value, arch)?;
    }
    Ok(word)
}
