//! Prints an instruction by its template.

use core::fmt::{self, Write};

use super::Syntax;
use super::template::{Base, Piece, Pieces};
use crate::arch::Arch;
use crate::field::{FieldInfo, FieldKind, sign_extend};
use crate::instr::{DecodeError, Instr};
use crate::register::RegMask;
use crate::scoreboard::SlotMask;
use crate::table::Info;

/// An instruction, to be printed.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    word: u64,
    info: &'static Info,
    arch: Arch,
    syntax: Syntax,
    /// What a branch says instead of its offset: bytes from the start of the listing.
    pub(super) target: Option<u64>,
}

/// The text of the instruction that `word` holds.
///
/// # Errors
/// As [`Instr::decode`].
pub fn disassemble(word: u64, arch: Arch, syntax: Syntax) -> Result<Text, DecodeError> {
    let info = Instr::decode(word, arch)?.info();
    Ok(Text {
        word,
        info,
        arch,
        syntax,
        target: None,
    })
}

impl Info {
    /// The template of its text.
    pub(super) fn template(&self, arch: Arch, syntax: Syntax) -> &'static str {
        let text = &self.text;
        let template = match (syntax, text.mesa24, text.mesa26_on) {
            (Syntax::Mesa24, Some(mesa24), _) => mesa24,
            (_, _, Some((archs, mesa26))) if archs.contains(arch) => mesa26,
            _ => text.mesa26,
        };
        template.text()
    }
}

/// The fields that a template has shown: bit i is field i.
#[derive(Default)]
struct Shown(u32);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.syntax == Syntax::Mesa26 && self.info.text.unknown_to_mesa26 {
            let payload = self.word & u64::MAX >> 8;
            return write!(f, "UNKNOWN_{} {payload:#X}", self.info.opcode);
        }
        let mut shown = Shown::default();
        self.pieces(f, self.info.template(self.arch, self.syntax), &mut shown)?;
        if self.syntax == Syntax::Eitri {
            self.not_shown(f, &shown)?;
        }
        Ok(())
    }
}

impl Text {
    fn pieces(&self, f: &mut fmt::Formatter<'_>, template: &str, shown: &mut Shown) -> fmt::Result {
        for piece in Pieces(template) {
            match piece {
                Piece::Literal(text) => f.write_str(text)?,
                Piece::Field(name, base) => {
                    if let Some(field) = self.show(name, shown) {
                        self.value(f, field, base)?;
                    }
                }
                Piece::IfSet(name, inner) => {
                    self.show(name, shown);
                    if self.bits(name) != 0 {
                        self.pieces(f, inner, shown)?;
                    }
                }
                Piece::IfClear(name, inner) => {
                    self.show(name, shown);
                    if self.bits(name) == 0 {
                        self.pieces(f, inner, shown)?;
                    }
                }
                Piece::Group(inner) => {
                    if has_fields(self.info, inner, self.arch) {
                        self.pieces(f, inner, shown)?;
                    }
                }
                Piece::Special(special) => self.special(f, special, shown)?,
            }
        }
        Ok(())
    }

    fn bits(&self, name: &str) -> u64 {
        self.info.field_bits(name, self.word, self.arch)
    }

    fn signed(&self, name: &str) -> i64 {
        let bits = self.info.field(name).and_then(|f| f.bits(self.arch));
        bits.map_or(0, |bits| sign_extend(bits.of(self.word), bits.width()))
    }

    /// Notes that a field is shown.
    fn show(&self, name: &str, shown: &mut Shown) -> Option<&'static FieldInfo> {
        let index = self.info.fields.iter().position(|f| f.name == name)?;
        shown.0 |= 1 << index;
        self.info.fields.get(index)
    }

    fn value(&self, f: &mut fmt::Formatter<'_>, field: &FieldInfo, base: Base) -> fmt::Result {
        let Some(bits) = field.bits(self.arch) else {
            return f.write_char('0');
        };
        let value = bits.of(self.word);
        match (field.kind, base) {
            (FieldKind::Enum(info), _) => {
                // Only words that decode are printed, so the value has a name.
                let named = info.values.iter().find(|known| known.code == value);
                f.write_str(named.map_or("INVALID", |known| known.word))
            }
            (FieldKind::Signed, Base::Decimal) => write!(f, "{}", sign_extend(value, bits.width())),
            (FieldKind::Bytes8, Base::Decimal) => write!(f, "{}", value * 8),
            (_, Base::Decimal) => write!(f, "{value}"),
            (_, Base::LowerHex) => write!(f, "{value:x}"),
            (_, Base::UpperHex) => write!(f, "{value:X}"),
            (_, Base::PrefixedHex) => write!(f, "{value:#X}"),
        }
    }

    fn special(&self, f: &mut fmt::Formatter<'_>, name: &str, shown: &mut Shown) -> fmt::Result {
        match name {
            "regs" => {
                self.show("mask", shown);
                let (base, mask) = (self.bits("base_register"), self.bits("mask") as u16);
                // The first register is the base only when bit 0 is set; without registers it is 0.
                if mask & 1 != 0 || mask == 0 && base == 0 {
                    self.show("base_register", shown);
                }
                if mask == 0 {
                    return f.write_char('_');
                }
                for (i, offset) in RegMask::new(mask).offsets().enumerate() {
                    let separator = if i == 0 { "" } else { ":" };
                    write!(f, "{separator}r{}", base + u64::from(offset))?;
                }
                Ok(())
            }
            "mem" => {
                self.show("address", shown);
                self.show("offset", shown);
                write!(f, "[d{}", self.bits("address"))?;
                let offset = self.signed("offset");
                if offset != 0 {
                    write!(f, " + {offset}")?;
                }
                f.write_char(']')
            }
            "last_reg" => {
                self.show("register_count", shown);
                let end = self.bits("base_register") + self.bits("register_count");
                write!(f, "{}", end.cast_signed() - 1)
            }
            "imm32" => {
                for field in self.info.fields {
                    if field.bits(self.arch).is_some_and(|bits| bits.high < 32) {
                        self.show(field.name, shown);
                    }
                }
                write!(f, "{}", self.word as i32)
            }
            "wait_list" => {
                self.show("wait_mask", shown);
                let mask = SlotMask::new(self.bits("wait_mask") as u16);
                for (i, slot) in mask.slots().enumerate() {
                    let separator = if i == 0 { "" } else { "," };
                    write!(f, "{separator}{slot}")?;
                }
                Ok(())
            }
            _ => {
                self.show("offset", shown);
                match self.target {
                    Some(offset) => write!(f, "label_{offset:x}"),
                    None => write!(f, "#{}", self.signed("offset")),
                }
            }
        }
    }

    /// What the template has left out and is not the default, in braces.
    fn not_shown(&self, f: &mut fmt::Formatter<'_>, shown: &Shown) -> fmt::Result {
        let mut separator = " {";
        for (index, field) in self.info.fields.iter().enumerate() {
            let Some(bits) = field.bits(self.arch) else {
                continue;
            };
            let value = bits.of(self.word);
            let is_base = field.name == "base_register"; // the base of a mask with a hole at its start
            if shown.0 >> index & 1 != 0 || value == field.columns.default && !is_base {
                continue;
            }
            f.write_str(separator)?;
            separator = ", ";
            f.write_str(field.name)?;
            match field.kind {
                FieldKind::Bool if value == 1 => continue,
                FieldKind::Reg => f.write_str("=r")?,
                FieldKind::Pair => f.write_str("=d")?,
                _ => f.write_char('=')?,
            }
            self.value(f, field, Base::Decimal)?;
        }
        if separator == ", " {
            f.write_char('}')?;
        }
        Ok(())
    }
}

/// Whether `arch` has the fields of a group.
pub(super) fn has_fields(info: &Info, template: &str, arch: Arch) -> bool {
    Pieces(template).all(|piece| match piece {
        Piece::Field(name, _) | Piece::IfSet(name, _) | Piece::IfClear(name, _) => {
            info.field(name).is_some_and(|f| f.bits(arch).is_some())
        }
        Piece::Literal(_) | Piece::Group(_) | Piece::Special(_) => true,
    })
}
