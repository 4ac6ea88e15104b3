//! Parses an instruction by its template.

mod special;

use core::ops::Range;

use super::cursor::{Cursor, Fault, is_word};
use super::error::TextFault;
use super::mnemonic::{self, Form};
use super::print::has_fields;
use super::template::{Base, Piece, Pieces};
use crate::arch::Arch;
use crate::field::{FieldInfo, FieldKind};
use crate::instr::{Instr, codec};
use crate::table::Info;

/// Where labels lead.
pub(super) trait Labels {
    /// The offset of a branch to the label.
    fn offset_to(&self, label: &str) -> Result<i64, TextFault>;
}

/// No labels.
pub(super) struct NoLabels;

impl Labels for NoLabels {
    fn offset_to(&self, _: &str) -> Result<i64, TextFault> {
        Err(TextFault::UnknownLabel)
    }
}

/// The word for the instruction that the rest of the line holds.
pub(super) fn instruction(cursor: Cursor, arch: Arch, labels: &impl Labels) -> Result<u64, Fault> {
    let mut first_fault: Option<Fault> = None;
    for form in mnemonic::candidates(&cursor, arch)? {
        let mut parser = Parser {
            cursor,
            info: form.info,
            arch,
            labels,
            word: form.info.fixed_bits(),
            run: None,
        };
        match parser.line(&form) {
            Ok(word) => return Ok(word),
            // The form that came further is the one that was meant; the first on a tie.
            Err(fault) => match &first_fault {
                Some(first) if first.at.start >= fault.at.start => {}
                _ => first_fault = Some(fault),
            },
        }
    }
    // There is a candidate where `candidates` gives any.
    Err(first_fault
        .unwrap_or_else(|| cursor.fault(TextFault::UnknownInstruction { nearest: None })))
}

struct Parser<'s, L> {
    cursor: Cursor<'s>,
    info: &'static Info,
    arch: Arch,
    labels: &'s L,
    word: u64,
    run: Option<special::Run>,
}

impl<L: Labels> Parser<'_, L> {
    fn line(&mut self, form: &Form) -> Result<u64, Fault> {
        let start = self.cursor.at();
        for field in self.info.fields {
            self.set(field, field.columns.default.cast_signed().into(), start)?;
        }
        if let Some(alias) = form.alias {
            self.set_named("mode", alias.mode as i128, start)?;
            self.set_named("index", alias.index as i128, start)?;
        }
        self.pieces(form.template)?;
        self.fields_in_braces()?;
        self.place_run()?;
        if !self.cursor.is_done() {
            self.cursor.skip_spaces();
            return Err(self.cursor.fault(TextFault::Trailing));
        }
        match Instr::decode(self.word, self.arch) {
            Ok(_) => Ok(self.word),
            Err(error) => Err(self.cursor.fault_since(start, TextFault::Decode(error))),
        }
    }

    fn pieces(&mut self, template: &'static str) -> Result<(), Fault> {
        for piece in Pieces(template) {
            match piece {
                Piece::Literal(text) => self.cursor.take_literal(text)?,
                Piece::Field(name, base) => {
                    if let Some(field) = self.info.field(name) {
                        self.value(field, base)?;
                    }
                }
                Piece::IfSet(name, inner) => {
                    let is_there = self.optional(inner)?;
                    let has_value =
                        |piece| matches!(piece, Piece::Field(field, _) if field == name);
                    if !is_there || !Pieces(inner).any(has_value) {
                        self.set_named(name, is_there.into(), self.cursor.at())?;
                    }
                }
                Piece::IfClear(name, inner) => {
                    let is_there = self.optional(inner)?;
                    self.set_named(name, (!is_there).into(), self.cursor.at())?;
                }
                Piece::Group(inner) => {
                    if has_fields(self.info, inner, self.arch) {
                        self.pieces(inner)?;
                    }
                }
                Piece::Special(special) => self.special(special)?,
            }
        }
        Ok(())
    }

    /// Whether the inner template is here; it is read if it is.
    fn optional(&mut self, inner: &'static str) -> Result<bool, Fault> {
        let Some(Piece::Literal(text)) = Pieces(inner).next() else {
            return Ok(false);
        };
        let mut probe = self.cursor;
        let ends_in_word = text.ends_with(is_word) && text == inner;
        if probe.take_literal(text).is_err() || ends_in_word && probe.rest().starts_with(is_word) {
            return Ok(false);
        }
        self.pieces(inner)?;
        Ok(true)
    }

    fn set_named(&mut self, name: &str, value: i128, start: usize) -> Result<(), Fault> {
        match self.info.field(name) {
            Some(field) => self.set(field, value, start),
            None => Ok(()),
        }
    }

    /// Puts a value into the word. `start` is where its text begins.
    fn set(&mut self, field: &FieldInfo, value: i128, start: usize) -> Result<(), Fault> {
        let Some(bits) = field.bits(self.arch) else {
            return Ok(()); // templates leave absent fields out; a default goes without saying
        };
        let fault = |fault| self.cursor.fault_since(start, fault);
        if field.kind == FieldKind::Pair && value % 2 != 0 {
            return Err(fault(TextFault::OddPair));
        }
        let raw = match field.kind {
            FieldKind::Signed => i64::try_from(value).map(i64::cast_unsigned).ok(),
            _ => u64::try_from(value).ok(),
        };
        let placed = match raw {
            Some(raw) => codec::place(self.info.name, field, raw, self.arch),
            None => Err(codec::out_of_range(self.info.name, field, bits, value)),
        };
        match placed {
            Ok(placed) => {
                self.word = self.word & !bits.mask() | placed;
                Ok(())
            }
            Err(error) => Err(fault(TextFault::Encode(error))),
        }
    }

    /// Reads a field's value.
    fn value(&mut self, field: &'static FieldInfo, base: Base) -> Result<(), Fault> {
        let start = self.cursor.at();
        if let FieldKind::Enum(info) = field.kind {
            let mut longest: Option<(u64, Cursor)> = None;
            for value in info.values {
                for word in [value.word, value.name] {
                    let mut probe = self.cursor;
                    let best = longest.map_or(self.cursor.at(), |(_, behind)| behind.at());
                    if probe.take(word) && probe.at() > best {
                        longest = Some((value.code, probe));
                    }
                }
            }
            let field_name = field.name;
            let Some((code, behind)) = longest else {
                return Err(self.cursor.fault(TextFault::ExpectedWord {
                    field: field_name,
                    words: info,
                }));
            };
            self.cursor = behind;
            return self.set(field, code.into(), start);
        }
        let hex = matches!(base, Base::LowerHex | Base::UpperHex);
        let Some(value) = self.cursor.take_number(hex) else {
            let field = field.name;
            return Err(self.cursor.fault(TextFault::ExpectedNumber { field }));
        };
        match field.kind {
            FieldKind::Bytes8 if value % 8 == 0 => self.set(field, value / 8, start),
            FieldKind::Bytes8 => {
                let bits = field.bits(self.arch);
                let error =
                    bits.map(|bits| codec::out_of_range(self.info.name, field, bits, value));
                let fault = error.map_or(TextFault::Trailing, TextFault::Encode);
                Err(self.cursor.fault_since(start, fault))
            }
            _ => self.set(field, value, start),
        }
    }

    /// `{name, name=value}`: fields that the template does not show.
    fn fields_in_braces(&mut self) -> Result<(), Fault> {
        let mut probe = self.cursor;
        probe.skip_spaces();
        if !probe.take("{") {
            return Ok(());
        }
        self.cursor = probe;
        loop {
            self.cursor.skip_spaces();
            let (info, arch) = (self.info, self.arch);
            let before = self.cursor;
            let name = self.cursor.take_while(is_word);
            let has = |field: &&FieldInfo| field.bits(arch).is_some();
            let Some(field) = info.field(name).filter(has) else {
                let instruction = info.name;
                return Err(before.fault(TextFault::NoSuchField { instruction }));
            };
            self.cursor.skip_spaces();
            if self.cursor.take("=") {
                self.cursor.skip_spaces();
                self.field_in_braces(field)?;
            } else {
                self.set(field, 1, before.at())?;
            }
            self.cursor.skip_spaces();
            if !self.cursor.take(",") {
                return self.cursor.take_literal("}");
            }
        }
    }

    fn field_in_braces(&mut self, field: &'static FieldInfo) -> Result<(), Fault> {
        match field.kind {
            FieldKind::Reg => self.cursor.take_literal("r")?,
            FieldKind::Pair => self.cursor.take_literal("d")?,
            _ => {}
        }
        let start = self.cursor.at();
        if let (Some(run), "base_register") = (&mut self.run, field.name) {
            let Some(base) = self.cursor.take_number(false) else {
                let field = field.name;
                return Err(self.cursor.fault(TextFault::ExpectedNumber { field }));
            };
            run.base = base;
            run.at = (start, self.cursor.at());
            return Ok(());
        }
        self.value(field, Base::Decimal)
    }
}

pub(super) fn is_label(character: char) -> bool {
    is_word(character) || character == '.' || character == '$'
}

/// The character at which `bytes` of the line begin, from 1 on, and how many characters they are.
pub(super) fn characters(line: &str, bytes: &Range<usize>) -> (usize, usize) {
    let before = line.get(..bytes.start).unwrap_or(line);
    let wrong = line.get(bytes.clone()).unwrap_or("");
    (before.chars().count() + 1, wrong.chars().count())
}
