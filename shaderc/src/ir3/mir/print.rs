//! Text of machine IR, for `--print-after`, messages and tests; `parse` reads it back.
//!
//! An instruction is `dests = (flags)name.suffixes sources, @data, keys`: runs are joined by `:`, a 64-bit source is
//! `[low:high]`, a constant that has no place yet `#0x…`.

use std::fmt;

use super::operand::{Asked, Operand, Source};
use super::{Instr, Space, Word};

/// Words joined by `:`.
fn run(words: &[Word]) -> String {
    let texts: Vec<String> = words.iter().map(Word::to_string).collect();
    texts.join(":")
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Operand::Word(word) => write!(f, "{word}"),
            Operand::Pair(low, high) => write!(f, "[{low}:{high}]"),
            Operand::Constant(bits) => write!(f, "#{bits:#x}"),
            Operand::Const(number) => {
                let component = ["x", "y", "z", "w"][usize::from(number % 4)];
                write!(f, "c{}.{component}", number / 4)
            }
            Operand::Immediate(bits) => write!(f, "{}", bits as i32),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (set, word) in [
            (self.not, "(not)"),
            (self.neg, "(neg)"),
            (self.abs, "(abs)"),
            (self.steps, "(r)"),
        ] {
            if set {
                f.write_str(word)?;
            }
        }
        self.operand.fmt(f)
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opposite = |not: &bool| if *not { "!" } else { "" };
        match self {
            Asked::Each { predicate, not } => write!(f, "{}{predicate}", opposite(not)),
            Asked::All { predicate, not } => write!(f, "all {}{predicate}", opposite(not)),
            Asked::Others => f.write_str("others"),
        }
    }
}

impl Space {
    /// All of them.
    #[cfg(test)]
    pub(super) const ALL: [Space; 5] = [
        Space::Constant,
        Space::Buffer,
        Space::Shared,
        Space::Private,
        Space::Spill,
    ];

    /// The name in the text.
    pub(super) fn name(self) -> &'static str {
        match self {
            Space::Constant => "constant",
            Space::Buffer => "buffer",
            Space::Shared => "shared",
            Space::Private => "private",
            Space::Spill => "spill",
        }
    }
}

impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.dests.is_empty() {
            write!(f, "{} = ", run(&self.dests))?;
        }
        for (set, word) in [
            (self.sync.sy, "(sy)"),
            (self.sync.ss, "(ss)"),
            (self.join, "(jp)"),
            (self.saturate, "(sat)"),
        ] {
            if set {
                f.write_str(word)?;
            }
        }
        if self.repeat > 0 {
            write!(f, "(rpt{})", self.repeat)?;
        }
        if self.nops > 0 {
            write!(f, "(nop{})", self.nops)?;
        }
        f.write_str(self.op.name())?;
        if let Some(atomic) = self.atomic {
            write!(f, ".{}", atomic.name())?;
        }
        if let Some((combine, form)) = self.scan {
            write!(f, ".{}.{}", combine.alu().name(), form.name())?;
        }
        if let Some((from, to)) = self.types {
            match from == to {
                true => write!(f, ".{}", from.name())?,
                false => write!(f, ".{}{}", from.name(), to.name())?,
            }
        }
        if let Some(condition) = self.condition {
            write!(f, ".{}", condition.name())?;
        }
        if self.predicate {
            f.write_str(".p")?;
        }
        if self.round_even {
            f.write_str(".even")?;
        }
        let mut items: Vec<String> = self.sources.iter().map(Source::to_string).collect();
        if self.not
            && let Some(first) = items.first_mut()
        {
            first.insert(0, '!');
        }
        if !self.coordinates.is_empty() {
            items.push(format!("at {}", run(&self.coordinates)));
        }
        for (set, word) in [
            (self.texture.three, "3d"),
            (self.texture.arrayed, "array"),
            (self.texture.compare, "compare"),
            (self.texture.offset, "offsets"),
        ] {
            items.extend(set.then(|| word.to_owned()));
        }
        if !self.data.is_empty() {
            items.push(format!("@{}", run(&self.data)));
        }
        items.extend((self.offset != 0).then(|| format!("offset:{}", self.offset)));
        items.extend(self.set.map(|set| format!("set:{set}")));
        items.extend(self.target.map(|block| format!("to:{block}")));
        items.extend(self.space.map(|space| format!("space:{}", space.name())));
        items.extend(self.volatile.then(|| String::from("volatile")));
        if !items.is_empty() {
            write!(f, " {}", items.join(", "))?;
        }
        Ok(())
    }
}
