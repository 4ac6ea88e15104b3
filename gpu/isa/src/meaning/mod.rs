//! What each instruction does, in a sentence: for `explain` and the reference pages.
//!
//! One sentence a mnemonic, whatever its types. A, B, C, D are sources 0 to 3 after selection and modifiers.
//! Facts: hardware/valhall-isa.md sections 9, 11 and 12.

mod alu;
mod message;

use crate::row::Row;

/// A mnemonic up to its type, and what it does.
type Meaning = (&'static str, &'static str);

impl Row {
    /// What it does, in a sentence without a full stop.
    pub fn meaning(&self) -> &'static str {
        let base = self
            .name
            .split_once('.')
            .map_or(self.name, |(base, _)| base);
        let table = if self.kind.is_message() {
            message::MEANINGS
        } else {
            alu::MEANINGS
        };
        table
            .iter()
            .find(|(name, _)| *name == base)
            .map_or("", |(_, meaning)| meaning)
    }

    /// Mnemonics that have a sentence, for the test that none is left over.
    #[doc(hidden)]
    pub fn mnemonics_with_meaning() -> impl Iterator<Item = &'static str> {
        alu::MEANINGS
            .iter()
            .chain(message::MEANINGS)
            .map(|(name, _)| *name)
    }
}
