//! Finds the row of a word: an index by opcode, built when the crate is compiled.
//!
//! Guarantees: a look-up touches only rows of the word's own opcode.

use super::{Op, ROWS};
use crate::row::Row;

const OPCODES: usize = 512;

/// True if words with this primary opcode may belong to the row.
const fn has_opcode(row: &Row, opcode: usize) -> bool {
    let mask = (row.matches.mask >> 48) & 0x1FF;
    opcode as u64 & mask == (row.matches.value >> 48) & mask
}

/// Bits that must match, what they hold, and whose row it is: all that a search reads.
#[derive(Clone, Copy)]
struct Entry {
    mask: u64,
    value: u64,
    row: u16,
}

const LENGTH: usize = {
    let (mut length, mut row) = (0, 0);
    while row < ROWS.len() {
        // Bits that the mask leaves out double the opcodes of a row.
        length += 1 << (9 - ((ROWS[row].matches.mask >> 48) & 0x1FF).count_ones());
        row += 1;
    }
    length
};

struct Index {
    /// Where the entries of an opcode start; the next opcode's start is their end.
    first: [u16; OPCODES + 1],
    entries: [Entry; LENGTH],
}

static INDEX: Index = {
    // Counts the rows of each opcode, turns counts into starts, and places the rows.
    let mut first = [0; OPCODES + 1];
    let mut entries = [Entry {
        mask: 0,
        value: 0,
        row: 0,
    }; LENGTH];
    let mut next = 0;
    let mut opcode = 0;
    while opcode < OPCODES {
        first[opcode] = next as u16;
        let mut row = 0;
        while row < ROWS.len() {
            if has_opcode(&ROWS[row], opcode) {
                entries[next] = Entry {
                    mask: ROWS[row].matches.mask,
                    value: ROWS[row].matches.value,
                    row: row as u16,
                };
                next += 1;
            }
            row += 1;
        }
        opcode += 1;
    }
    first[OPCODES] = next as u16;
    Index { first, entries }
};

/// The row whose opcode bits match `word`.
pub(crate) fn find(word: u64) -> Option<&'static Row> {
    let opcode = ((word >> 48) & 0x1FF) as usize;
    let entries = &INDEX.entries[INDEX.first[opcode] as usize..INDEX.first[opcode + 1] as usize];
    entries
        .iter()
        .find(|entry| word & entry.mask == entry.value)
        .map(|entry| &ROWS[entry.row as usize])
}

/// What decoding asks of every row, computed once.
#[derive(Clone, Copy)]
pub(crate) struct Masks {
    /// Bits that belong to something.
    pub(crate) claimed: u64,
    /// Bits of modifiers and immediates.
    pub(crate) fields: u64,
}

static MASKS: [Masks; ROWS.len()] = {
    let mut masks = [Masks {
        claimed: 0,
        fields: 0,
    }; ROWS.len()];
    let mut row = 0;
    while row < ROWS.len() {
        masks[row] = Masks {
            claimed: ROWS[row].claimed(),
            fields: ROWS[row].field_mask(),
        };
        row += 1;
    }
    masks
};

/// The masks of an instruction.
pub(crate) fn masks(op: Op) -> Masks {
    MASKS[op as usize]
}
