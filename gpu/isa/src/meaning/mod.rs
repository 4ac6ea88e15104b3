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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;

    #[test]
    fn every_mnemonic_has_one_sentence_and_none_is_left_over() {
        for op in Op::ALL {
            assert!(
                !op.row().meaning().is_empty(),
                "{op} has no sentence, or has it in the wrong table"
            );
        }
        for (table, messages) in [(alu::MEANINGS, false), (message::MEANINGS, true)] {
            for (index, (name, _)) in table.iter().enumerate() {
                let base = |op: &&Op| op.name().split('.').next() == Some(name);
                let named = Op::ALL
                    .iter()
                    .filter(base)
                    .any(|op| op.row().kind.is_message() == messages);
                assert!(named, "{name} is no instruction of this table");
                assert!(
                    table[..index].iter().all(|(other, _)| other != name),
                    "{name} has two sentences"
                );
            }
        }
    }
}
