//! Finds the row of a word or of a mnemonic: indexes by opcode and by name, built when the crate is compiled.
//!
//! Guarantees: a look-up touches only rows of the word's own opcode, or names with the same hash.

use super::{Op, ROWS};
use crate::name_slot::slot_of;
use crate::row::Row;
use crate::syntax::Syntax;

const OPCODES: usize = 512;

/// The primary opcodes of a row: several, where its mask leaves bits of them out.
struct Opcodes {
    value: usize,
    /// The bits that may be anything.
    free: usize,
    /// What they hold next.
    next: Option<usize>,
}

impl Opcodes {
    const fn of(row: &Row) -> Self {
        let mask = (row.matches.mask >> 48) as usize & (OPCODES - 1);
        Self {
            value: (row.matches.value >> 48) as usize & mask,
            free: (OPCODES - 1) & !mask,
            next: Some(0),
        }
    }

    const fn next(&mut self) -> Option<usize> {
        let Some(bits) = self.next else {
            return None;
        };
        // Counts within the free bits; after the last comes 0 again.
        let after = bits.wrapping_sub(self.free) & self.free;
        self.next = if after == 0 { None } else { Some(after) };
        Some(self.value | bits)
    }
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
    // Counts the rows of each opcode one place further on, so that the sums are starts. Row by row: this runs each time that the
    // crate is compiled.
    let mut first = [0; OPCODES + 1];
    let mut row = 0;
    while row < ROWS.len() {
        let mut opcodes = Opcodes::of(&ROWS[row]);
        while let Some(opcode) = opcodes.next() {
            first[opcode + 1] += 1;
        }
        row += 1;
    }
    let mut opcode = 0;
    while opcode < OPCODES {
        first[opcode + 1] += first[opcode];
        opcode += 1;
    }
    let mut entries = [Entry {
        mask: 0,
        value: 0,
        row: 0,
    }; LENGTH];
    let mut free = first;
    row = 0;
    while row < ROWS.len() {
        let mut opcodes = Opcodes::of(&ROWS[row]);
        while let Some(opcode) = opcodes.next() {
            entries[free[opcode] as usize] = Entry {
                mask: ROWS[row].matches.mask,
                value: ROWS[row].matches.value,
                row: row as u16,
            };
            free[opcode] += 1;
        }
        row += 1;
    }
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

/// Slots of a name index; far more than there are names, so that few share one.
const SLOTS: usize = 2048;
const FREE: u16 = u16::MAX;

/// Rows by mnemonic: a hash table with linear probing.
struct Names {
    slots: [u16; SLOTS],
    kind: NameKind,
}

/// Which name of a row an index holds.
#[derive(Clone, Copy)]
enum NameKind {
    /// Mesa 24.1, rows whose mnemonic says all.
    Mesa24,
    /// Mesa 24.1, rows that a word after the mnemonic tells from another.
    Mesa24WithWord,
    /// Mesa 26.2.
    Mesa26,
}

impl NameKind {
    const fn of(self, row: &Row) -> Option<&'static str> {
        match self {
            Self::Mesa24 if row.mesa24_word.is_none() => Some(row.mesa24),
            Self::Mesa24WithWord if row.mesa24_word.is_some() => Some(row.mesa24),
            Self::Mesa26 => row.mesa26,
            Self::Mesa24 | Self::Mesa24WithWord => None,
        }
    }
}

impl Names {
    const fn new(kind: NameKind) -> Self {
        let mut slots = [FREE; SLOTS];
        let mut row = 0;
        while row < ROWS.len() {
            if let Some(name) = kind.of(&ROWS[row]) {
                let mut slot = slot_of(name.as_bytes(), name.len(), SLOTS);
                while slots[slot] != FREE {
                    slot = (slot + 1) % SLOTS;
                }
                slots[slot] = row as u16;
            }
            row += 1;
        }
        Self { slots, kind }
    }

    fn find(&self, name: &str) -> Option<&'static Row> {
        let mut slot = slot_of(name.as_bytes(), name.len(), SLOTS);
        while self.slots[slot] != FREE {
            let row = &ROWS[self.slots[slot] as usize];
            if self.kind.of(row) == Some(name) {
                return Some(row);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }
}

static MESA24: Names = Names::new(NameKind::Mesa24);
static MESA24_WITH_WORD: Names = Names::new(NameKind::Mesa24WithWord);
static MESA26: Names = Names::new(NameKind::Mesa26);

/// The row with this mnemonic.
pub(crate) fn find_mnemonic(name: &str, syntax: Syntax) -> Option<&'static Row> {
    match syntax {
        Syntax::Mesa24 => MESA24.find(name),
        Syntax::Mesa26 => MESA26.find(name),
    }
}

/// The row that Mesa 24.1 text writes with this mnemonic and a word of its own.
pub(crate) fn find_mnemonic_with_word(name: &str) -> Option<&'static Row> {
    MESA24_WITH_WORD.find(name)
}
