//! Text of machine IR, for `--print-after`, messages and tests; `parse` reads it back.
//!
//! An instruction is `dests = MNEMONIC.words @staging, sources, keys`: runs are joined by `:`, a 64-bit source is
//! `[low:high]`, a constant `#0x…`, and the keys are `imm:`, `to:`, `space:` and `slot:`; `volatile` is one too.

use std::fmt;

use super::instr::Instr;
use super::modifier::Flow;
use super::operand::{Half, Operand, Source, Word};
use eitri_isa::Select;

/// Words joined by `:`.
fn run(words: &[Word]) -> String {
    words
        .iter()
        .map(Word::to_string)
        .collect::<Vec<_>>()
        .join(":")
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Operand::Word(word) => write!(f, "{word}"),
            Operand::Pair(low, high) => write!(f, "[{low}:{high}]"),
            Operand::Constant(bits) => write!(f, "#{bits:#x}"),
            Operand::Fau(word) => write!(f, "u{word}"),
            Operand::Table(entry) => write!(f, "t{entry}"),
            Operand::Special(special, Half::Low) => f.write_str(special.name()),
            Operand::Special(special, Half::High) => write!(f, "{}.high", special.name()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.last {
            f.write_str("^")?;
        }
        write!(f, "{}", self.operand)?;
        for (set, word) in [(self.neg, "neg"), (self.abs, "abs"), (self.not, "not")] {
            if set {
                write!(f, ".{word}")?;
            }
        }
        match self.select {
            Select::Identity => Ok(()),
            select => write!(f, ".{}", format!("{select:?}").to_lowercase()),
        }
    }
}

impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.dests.is_empty() {
            write!(f, "{} = ", run(&self.dests))?;
        }
        f.write_str(self.op.mnemonic())?;
        for modifier in &self.modifiers {
            write!(f, ".{}", modifier.text())?;
        }
        if self.flow != Flow::None {
            write!(f, ".{}", self.flow.isa().word())?;
        }
        let mut items = Vec::new();
        if !self.staging.is_empty() {
            items.push(format!("@{}", run(&self.staging)));
        }
        items.extend(self.sources.iter().map(Source::to_string));
        items.extend((!self.held.is_empty()).then(|| format!("held:{}", run(&self.held))));
        items.extend(self.immediate.map(|value| format!("imm:{value}")));
        items.extend(self.target.map(|block| format!("to:{block}")));
        items.extend(self.space.map(|space| format!("space:{}", space.name())));
        items.extend(self.volatile.then(|| String::from("volatile")));
        items.extend(self.atomic.then(|| String::from("atomic")));
        items.extend(self.slot.map(|slot| format!("slot:{slot}")));
        if !items.is_empty() {
            write!(f, " {}", items.join(", "))?;
        }
        Ok(())
    }
}
