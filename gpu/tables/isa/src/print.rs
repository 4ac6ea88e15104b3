//! From an instruction to its text.
//!
//! Name, modifiers in the order of the row, flow, a blank, operands. What stands at its default prints nothing.
//! Facts: hardware/valhall-isa.md sections 7.2 to 7.5 and 19.1 to 19.3.

use core::fmt::{self, Write};

use crate::arch::Arch;
use crate::field::{Field, ImmId, Place, Words};
use crate::flow::Flow;
use crate::instr::Instr;
use crate::register::{Dest, Mask, Reg, RegRange};
use crate::row::{DestKind, Source};
use crate::source::{Half, Operand, Src};
use crate::special::Special;
use crate::syntax::Syntax;
use crate::values::FieldId;

/// An instruction, to be printed; see [`Instr::display`].
#[derive(Clone, Copy, Debug)]
pub struct Display<'a> {
    instr: &'a Instr,
    arch: Arch,
    syntax: Syntax,
}

impl Instr {
    /// The text of the instruction. The generation decides what the constants are.
    ///
    /// Mesa 26.2 text of an instruction that that tool doesn't know is empty.
    pub const fn display(&self, arch: Arch, syntax: Syntax) -> Display<'_> {
        Display {
            instr: self,
            arch,
            syntax,
        }
    }
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (instr, row) = (self.instr, self.instr.row());
        let Some(mnemonic) = self.syntax.mnemonic(row) else {
            return Ok(());
        };
        f.write_str(mnemonic)?;
        if let (Syntax::Mesa24, Some(word)) = (self.syntax, row.mesa24_word) {
            self.suffix(f, word)?;
        }
        self.modifiers(f)?;
        if instr.flow != Flow::None {
            self.suffix(f, instr.flow.word())?;
        }

        // 24.1 always writes the blank; the vectors of 26.2 have it cut off where nothing follows.
        let mut separator = " ";
        if self.syntax == Syntax::Mesa24 {
            f.write_str(separator)?;
            separator = "";
        }
        let mut next = |f: &mut fmt::Formatter<'_>| {
            f.write_str(separator)?;
            separator = ", ";
            Ok(())
        };
        for spec in row.staging {
            next(f)?;
            range(f, instr.staging(spec.access).unwrap_or(RegRange::EMPTY))?;
        }
        if let Some(dest) = instr.dest {
            next(f)?;
            self.dest(f, row.dest, dest)?;
        }
        for (index, (spec, source)) in row.sources.iter().zip(instr.sources()).enumerate() {
            next(f)?;
            self.source(f, index, spec, source)?;
        }
        for immediate in row.immediates {
            next(f)?;
            let value = immediate.extract(instr.fields);
            match immediate.id {
                ImmId::Constant => write!(f, "#0x{value:X}")?,
                id if immediate.signed => write!(f, "{}:{value}", id.name())?,
                id => write!(f, "{}:0x{value:X}", id.name())?,
            }
        }
        Ok(())
    }
}

impl Display<'_> {
    fn modifiers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.instr.row();
        let twice = row
            .fields
            .iter()
            .find(|field| field.place == Place::HeadTwiceIn26);
        for field in row.fields {
            self.modifier(f, field)?;
            if let (FieldId::Clamp, Syntax::Mesa26, Some(twice)) = (field.id, self.syntax, twice) {
                self.modifier(f, twice)?;
            }
        }
        Ok(())
    }

    fn modifier(&self, f: &mut fmt::Formatter<'_>, field: &Field) -> fmt::Result {
        let mut value = field.extract(self.instr.fields);
        match (field.place, self.syntax) {
            (Place::FirstSourceIn24(_), _) | (Place::NotIn26, Syntax::Mesa26) => return Ok(()),
            (Place::HeadTwoBitsIn26, Syntax::Mesa26) => value &= 0b11,
            _ => {}
        }
        match field.words {
            Words::Flag(word) if value != 0 => self.suffix(f, word),
            Words::Flag(_) => Ok(()),
            Words::Enum { default, .. } if default == Some(value) => Ok(()),
            Words::Enum { .. } => {
                self.suffix(f, field.word(value).map_or("reserved", |word| word.text))
            }
        }
    }

    fn dest(&self, f: &mut fmt::Formatter<'_>, kind: DestKind, dest: Dest) -> fmt::Result {
        match (kind, self.syntax) {
            (DestKind::Pair, Syntax::Mesa26) => pair(f, dest.reg, "")?,
            _ => register(f, dest.reg)?,
        }
        f.write_str(match dest.mask {
            Mask::Full => "",
            Mask::H0 => ".h0",
            // Neither dialect tells these two apart.
            Mask::H1 | Mask::Both => ".h1",
        })
    }

    fn source(
        &self,
        f: &mut fmt::Formatter<'_>,
        index: usize,
        spec: &Source,
        source: &Src,
    ) -> fmt::Result {
        match source.operand {
            Operand::Register { reg, last_use } => self.register(f, spec, reg, last_use)?,
            Operand::Uniform(uniform) => match (self.syntax, spec.size) {
                (Syntax::Mesa24, _) => write!(f, "u{}", uniform.0)?,
                (Syntax::Mesa26, 64) => write!(f, "u{}", uniform.0 / 2)?,
                (Syntax::Mesa26, _) => write!(f, "u{}.w{}", uniform.0 / 2, uniform.0 % 2)?,
            },
            Operand::Constant(constant) => write!(f, "0x{:X}", constant.value(self.arch))?,
            Operand::Special { special, word } => {
                let name = match (self.syntax, special) {
                    (Syntax::Mesa26, Special::PrepassState) => "reserved",
                    _ => special.row().name,
                };
                write!(f, "{name}.w{}", u8::from(word == Half::W1))?;
            }
        }
        if source.neg {
            f.write_str(".neg")?;
        }
        if source.abs {
            f.write_str(".abs")?;
        }
        let selected = spec
            .select
            .and_then(|select| select.table.by_select(source.select));
        let word = match (selected, self.syntax) {
            (None, _) => "",
            (Some(row), Syntax::Mesa24) => row.mesa24,
            (Some(row), Syntax::Mesa26) => row.mesa26,
        };
        self.suffix(f, word)?;
        if index == 0 && self.syntax == Syntax::Mesa24 {
            for field in self.instr.row().fields {
                if let Place::FirstSourceIn24(words) = field.place {
                    let value = usize::from(field.extract(self.instr.fields));
                    self.suffix(f, words.get(value).copied().unwrap_or("reserved"))?;
                }
            }
        }
        if source.not {
            f.write_str(".not")
        } else {
            Ok(())
        }
    }

    fn suffix(&self, f: &mut fmt::Formatter<'_>, word: &str) -> fmt::Result {
        if word.is_empty() {
            return Ok(());
        }
        f.write_char('.')?;
        f.write_str(word)
    }

    fn register(
        &self,
        f: &mut fmt::Formatter<'_>,
        spec: &Source,
        reg: Reg,
        last_use: bool,
    ) -> fmt::Result {
        match (self.syntax, spec.size) {
            (Syntax::Mesa24, _) => {
                f.write_str(if last_use { "^" } else { "" })?;
                register(f, reg)
            }
            (Syntax::Mesa26, 64) => pair(f, reg, if last_use { "^" } else { "" }),
            (Syntax::Mesa26, _) => {
                register(f, reg)?;
                f.write_str(if last_use { "^" } else { "" })
            }
        }
    }
}

/// A register. Listings are mostly registers, so this goes around the formatting machinery.
fn register(f: &mut fmt::Formatter<'_>, reg: Reg) -> fmt::Result {
    let (tens, ones) = (reg.index() / 10, reg.index() % 10);
    f.write_char('r')?;
    if tens != 0 {
        f.write_char(char::from(b'0' + tens))?;
    }
    f.write_char(char::from(b'0' + ones))
}

/// A pair of registers; an odd one prints as it stands.
fn pair(f: &mut fmt::Formatter<'_>, low: Reg, mark: &str) -> fmt::Result {
    write!(f, "[{low}{mark}:r{}{mark}]", low.index() + 1)
}

fn range(f: &mut fmt::Formatter<'_>, range: RegRange) -> fmt::Result {
    f.write_char('@')?;
    for (index, reg) in range.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ":" })?;
        register(f, reg)?;
    }
    Ok(())
}
