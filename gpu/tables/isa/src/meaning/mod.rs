//! What each instruction does: an operation that programs can ask for, and a sentence for people.
//!
//! One row a mnemonic, whatever its types: `FADD.f32` and `FADD.v2f16` are the same operation on other lanes. In sentences A, B,
//! C, D are sources 0 to 3 after selection and modifiers, "lane" is each half or byte of a vector type, and everything but messages
//! writes its result to the destination. A row of the instruction table without a row here does not compile.
//! Facts: hardware/valhall-isa.md sections 9, 11, 12 and 17.

mod alu;
mod message;
mod operation;

pub use operation::{Access, Logic, Operation, Position, ShiftKind};

use crate::name_slot::slot_of;
use crate::row::Row;

/// What the instructions of a mnemonic do.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    /// The mnemonic, without a type.
    pub name: &'static str,
    /// The operation; types, widths and modifiers stand in the row and in the instruction.
    pub operation: Operation,
    /// The same in a sentence.
    pub sentence: &'static str,
}

const fn row(name: &'static str, operation: Operation, sentence: &'static str) -> Meaning {
    Meaning {
        name,
        operation,
        sentence,
    }
}

impl Row {
    /// What it does, in a sentence.
    pub const fn meaning(&self) -> &'static str {
        self.does.sentence
    }

    /// What it does, for programs.
    pub const fn operation(&self) -> Operation {
        self.does.operation
    }
}

/// Every meaning: those of arithmetic and control, and those of messages.
pub const TABLES: [&[Meaning]; 2] = [alu::MEANINGS, message::MEANINGS];

/// Slots of the hash table of mnemonics; far more than there are.
const SLOTS: usize = 1024;

/// The meanings by mnemonic: a hash table with linear probing, since every row asks it each time that the crate is compiled.
static BY_NAME: [Option<&Meaning>; SLOTS] = {
    let mut slots = [None; SLOTS];
    let mut tables: &[&'static [Meaning]] = &TABLES;
    while let [table, rest @ ..] = tables {
        let mut index = 0;
        while index < table.len() {
            let name = table[index].name.as_bytes();
            let mut slot = slot_of(name, name.len(), SLOTS);
            while slots[slot].is_some() {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = Some(&table[index]);
            index += 1;
        }
        tables = rest;
    }
    slots
};

/// The meaning of the longest mnemonic that `name` begins with, up to a dot or its end.
pub(crate) const fn find(name: &str) -> &'static Meaning {
    let name = name.as_bytes();
    let mut length = name.len();
    loop {
        if let Some(meaning) = of_mnemonic(name, length) {
            return meaning;
        }
        while length > 0 && name[length - 1] != b'.' {
            length -= 1;
        }
        if length == 0 {
            panic!("a mnemonic has no meaning: add a row to meaning/alu.rs or meaning/message.rs")
        }
        length -= 1;
    }
}

/// The meaning of the mnemonic that the first `length` bytes of `name` are.
const fn of_mnemonic(name: &[u8], length: usize) -> Option<&'static Meaning> {
    let mut slot = slot_of(name, length, SLOTS);
    while let Some(meaning) = BY_NAME[slot] {
        if begins_with(name, length, meaning.name.as_bytes()) {
            return Some(meaning);
        }
        slot = (slot + 1) % SLOTS;
    }
    None
}

const fn begins_with(name: &[u8], length: usize, mnemonic: &[u8]) -> bool {
    if length != mnemonic.len() {
        return false;
    }
    let mut index = 0;
    while index < length {
        if name[index] != mnemonic[index] {
            return false;
        }
        index += 1;
    }
    true
}
