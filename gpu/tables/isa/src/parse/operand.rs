//! Operands: registers, destinations, staging ranges, sources.

use super::{Expected, ParseError, ParseErrorKind, Token};
use crate::arch::Arch;
use crate::constants::Constant;
use crate::field::Place;
use crate::instr::Instr;
use crate::register::{Dest, Mask, Reg, RegRange};
use crate::row::{DestKind, Source};
use crate::select::SelectTable;
use crate::source::{Half, Operand, Src, Uniform};
use crate::special::Special;
use crate::syntax::Syntax;

/// A decimal number without sign, at most 255.
fn small(text: &str) -> Option<u8> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

fn register(token: Token<'_>) -> Result<Reg, ParseError> {
    let number = token
        .text
        .strip_prefix('r')
        .and_then(small)
        .and_then(Reg::new);
    number.ok_or(token.error(ParseErrorKind::Expected(Expected::Register)))
}

/// `[r0:r1]`, or `[r0^:r1^]` for a last use.
fn pair(token: Token<'_>) -> Result<(Reg, bool), ParseError> {
    let wrong = token.error(ParseErrorKind::Expected(Expected::Pair));
    let inner = token
        .text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or(wrong)?;
    let (low, high) = inner.split_once(':').ok_or(wrong)?;
    let (low, high, last_use) = match (low.strip_suffix('^'), high.strip_suffix('^')) {
        (Some(low), Some(high)) => (low, high, true),
        (None, None) => (low, high, false),
        _ => return Err(wrong),
    };
    let number = |text: &str| text.strip_prefix('r').and_then(small).ok_or(wrong);
    let (low, high) = (number(low)?, number(high)?);
    let reg = Reg::new(low).ok_or(wrong)?;
    if low + 1 == high {
        Ok((reg, last_use))
    } else {
        Err(wrong)
    }
}

/// `@r0:r1:r2`; `@` alone is empty.
pub(super) fn staging(token: Token<'_>) -> Result<RegRange, ParseError> {
    let wrong = token.error(ParseErrorKind::Expected(Expected::Staging));
    if !token.text.starts_with('@') {
        return Err(wrong);
    }
    let registers = token.from(1);
    if registers.text.is_empty() {
        return Ok(RegRange::EMPTY);
    }
    let mut range: Option<RegRange> = None;
    for item in registers.split(':') {
        let reg = register(item)?;
        range = Some(match range {
            None => RegRange::one(reg),
            Some(range) if range.first().index() + range.count() == reg.index() => {
                RegRange::new(range.first(), range.count() + 1).ok_or(wrong)?
            }
            Some(_) => return Err(token.error(ParseErrorKind::NotConsecutive)),
        });
    }
    range.ok_or(wrong)
}

/// A register or a half of it; a pair in 26.2 text.
pub(super) fn dest(token: Token<'_>, kind: DestKind, syntax: Syntax) -> Result<Dest, ParseError> {
    let (base, mask) = match token.split_once('.') {
        None => (token, Mask::Full),
        Some((base, word)) => {
            let mask = match (word.text, kind) {
                ("h0", _) => Mask::H0,
                ("h1", _) => Mask::H1,
                // Printed as h1 by both dialects; the name is the newer tables'.
                ("h01", DestKind::Narrowing | DestKind::Replicating) => Mask::Both,
                _ => return Err(word.error(ParseErrorKind::Expected(Expected::Destination))),
            };
            (base, mask)
        }
    };
    let reg = match (kind, syntax) {
        (DestKind::Pair, Syntax::Mesa26) => pair(base)?.0,
        _ => register(base).map_err(|error| ParseError {
            kind: ParseErrorKind::Expected(Expected::Destination),
            ..error
        })?,
    };
    Ok(Dest { reg, mask })
}

/// What a source names, before its modifiers.
fn base(
    token: Token<'_>,
    spec: &Source,
    arch: Arch,
    syntax: Syntax,
) -> Result<Operand, ParseError> {
    let text = token.text;
    let wrong = token.error(ParseErrorKind::Expected(Expected::Source));
    let numbered = |prefix: char| {
        text.strip_prefix(prefix)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if let Some(digits) = text.strip_prefix("0x") {
        let value = u32::from_str_radix(digits, 16).map_err(|_| wrong)?;
        let constant =
            Constant::find(value, arch).ok_or(token.error(ParseErrorKind::NotInTable(value)))?;
        return Ok(Operand::Constant(constant));
    }
    if let Some(digits) = numbered('u') {
        let uniform = token.error(ParseErrorKind::Expected(Expected::Uniform));
        let number = small(digits).ok_or(uniform)?;
        // 26.2 counts slots of two words; which of the two comes as a modifier.
        return match syntax {
            Syntax::Mesa24 => Ok(Operand::Uniform(Uniform(number))),
            Syntax::Mesa26 if number < 128 => Ok(Operand::Uniform(Uniform(number * 2))),
            Syntax::Mesa26 => Err(uniform),
        };
    }
    if let Some(special) = Special::from_name(text) {
        return Ok(Operand::Special {
            special,
            word: Half::W0,
        });
    }
    match syntax {
        Syntax::Mesa24 => {
            if let Some(rest) = text.strip_prefix('^') {
                return Ok(Operand::Register {
                    reg: register(token.from(text.len() - rest.len()))?,
                    last_use: true,
                });
            }
            if numbered('r').is_some() {
                return Ok(Operand::Register {
                    reg: register(token)?,
                    last_use: false,
                });
            }
            // An entry of the constant table by number: the letter i, any two characters, the number.
            let entry = text.strip_prefix('i').and_then(|rest| {
                let mut characters = rest.chars();
                characters.next().and(characters.next())?;
                small(characters.as_str()).filter(|_| !characters.as_str().is_empty())
            });
            entry
                .and_then(Constant::new)
                .map(Operand::Constant)
                .ok_or(wrong)
        }
        Syntax::Mesa26 if spec.size == 64 && text.starts_with('[') => {
            let (reg, last_use) = pair(token)?;
            Ok(Operand::Register { reg, last_use })
        }
        Syntax::Mesa26 if spec.size == 64 => Err(wrong),
        Syntax::Mesa26 => {
            let (number, last_use) = match text.strip_suffix('^') {
                Some(number) => (number, true),
                None => (text, false),
            };
            if !number.starts_with('r') {
                return Err(wrong);
            }
            Ok(Operand::Register {
                reg: register(token.until(number.len()))?,
                last_use,
            })
        }
    }
}

/// A source with its modifiers, in any order.
pub(super) fn source(
    token: Token<'_>,
    instr: &mut Instr,
    index: usize,
    spec: &Source,
    arch: Arch,
    syntax: Syntax,
) -> Result<Src, ParseError> {
    let mut pieces = token.split('.');
    let operand = base(pieces.next().unwrap_or(token), spec, arch, syntax)?;
    let mut source = Src::new(operand);
    let mut selected = false;
    // A special value, and in 26.2 text a 32-bit uniform, take a word first.
    let mut word_seen = match operand {
        Operand::Special { .. } => false,
        Operand::Uniform(_) => syntax == Syntax::Mesa24 || spec.size == 64,
        _ => true,
    };
    let shown = if index == 0 && syntax == Syntax::Mesa24 {
        inf_mode(instr)
    } else {
        None
    };
    for word in pieces {
        let twice = word.error(ParseErrorKind::RepeatedSourceModifier);
        let set = |flag: &mut bool| {
            if *flag {
                return Err(twice);
            }
            *flag = true;
            Ok(())
        };
        match word.text {
            "neg" if spec.neg.is_some() => set(&mut source.neg)?,
            "abs" if spec.abs.is_some() => set(&mut source.abs)?,
            "not" if spec.not.is_some() => set(&mut source.not)?,
            "w0" if !word_seen => word_seen = true,
            "w1" if !word_seen => {
                word_seen = true;
                match &mut source.operand {
                    Operand::Special { word, .. } => *word = Half::W1,
                    Operand::Uniform(uniform) => uniform.0 += 1,
                    _ => {}
                }
            }
            _ => {
                if let Some((position, words)) = shown {
                    // The infinity mode, which 24.1 takes for a selection of lanes.
                    let value = words
                        .iter()
                        .position(|other| !other.is_empty() && *other == word.text);
                    let value = value.ok_or(word.error(ParseErrorKind::SourceModifier))?;
                    set(&mut selected)?;
                    instr.put(position, &instr.row().fields[position], value as u8);
                    continue;
                }
                let table = spec
                    .select
                    .ok_or(word.error(ParseErrorKind::SourceModifier))?
                    .table;
                source.select = select(word, table, syntax)?;
                set(&mut selected)?;
            }
        }
    }
    if syntax == Syntax::Mesa26 && !word_seen && matches!(operand, Operand::Uniform(_)) {
        return Err(token.error(ParseErrorKind::Expected(Expected::Uniform)));
    }
    if let (false, Some((position, words))) = (selected, shown) {
        let value = words.iter().position(|word| word.is_empty()).unwrap_or(0);
        instr.put(position, &instr.row().fields[position], value as u8);
    }
    if let (false, Some(field)) = (selected, spec.select) {
        let default = field
            .table
            .default()
            .ok_or(token.error(ParseErrorKind::MissingSelection(field.table.name)))?;
        source.select = default.select;
    }
    Ok(source)
}

/// Where the row has the modifier that 24.1 shows on the first source, and its words.
fn inf_mode(instr: &Instr) -> Option<(usize, &'static [&'static str])> {
    instr
        .row()
        .fields
        .iter()
        .enumerate()
        .find_map(|(index, field)| match field.place {
            Place::FirstSourceIn24(words) => Some((index, words)),
            _ => None,
        })
}

fn select(
    word: Token<'_>,
    table: &'static SelectTable,
    syntax: Syntax,
) -> Result<crate::select::Select, ParseError> {
    let unknown = word.error(ParseErrorKind::SourceModifier);
    if word.text.is_empty() {
        return Err(unknown);
    }
    match syntax {
        Syntax::Mesa24 => {
            let mut rows = table.rows.iter().chain(table.also_read);
            rows.find(|row| row.mesa24 == word.text)
                .map(|row| row.select)
                .ok_or(unknown)
        }
        Syntax::Mesa26 if word.text == "reserved" => {
            Err(word.error(ParseErrorKind::Ambiguous("reserved")))
        }
        Syntax::Mesa26 => table
            .rows
            .iter()
            .find(|row| row.mesa26 == word.text)
            .map(|row| row.select)
            .ok_or(unknown),
    }
}
