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

/// The meaning of the mnemonic that `name` begins with, up to a dot.
pub(crate) const fn find(name: &str) -> &'static Meaning {
    let mut tables: &[&'static [Meaning]] = &TABLES;
    while let [table, rest @ ..] = tables {
        let mut index = 0;
        while index < table.len() {
            if is_mnemonic(name.as_bytes(), table[index].name.as_bytes()) {
                return &table[index];
            }
            index += 1;
        }
        tables = rest;
    }
    panic!("a mnemonic has no meaning: add a row to meaning/alu.rs or meaning/message.rs")
}

/// True if `name` is `mnemonic`, alone or followed by a dot.
const fn is_mnemonic(name: &[u8], mnemonic: &[u8]) -> bool {
    if name.len() < mnemonic.len() || (name.len() > mnemonic.len() && name[mnemonic.len()] != b'.')
    {
        return false;
    }
    let mut index = 0;
    while index < mnemonic.len() {
        if name[index] != mnemonic[index] {
            return false;
        }
        index += 1;
    }
    true
}
