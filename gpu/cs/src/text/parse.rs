//! Parses an instruction by its template.

use core::ops::Range;

use super::cursor::{Cursor, Fault, is_word};
use super::error::TextFault;
use super::mnemonic::{self, Form};
use super::print::has_fields;
use super::template::{Base, Piece, Pieces};
use crate::arch::Arch;
use crate::field::{Bits, FieldInfo, FieldKind};
use crate::instr::{EncodeError, Instr, codec};
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
    run: Option<Run>,
}

/// Registers that the text names one by one.
#[derive(Clone, Copy)]
struct Run {
    first: i128,
    /// Counted from the first.
    mask: i128,
    /// The register from which the mask of the word counts.
    base: i128,
    /// Where the text that says so begins and ends.
    at: (usize, usize),
}

impl<L: Labels> Parser<'_, L> {
    fn line(&mut self, form: &Form) -> Result<u64, Fault> {
        let start = self.cursor.at();
        for field in self.info.fields {
            self.set(field, field.default.cast_signed().into(), start)?;
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
            None => Err(does_not_fit(self.info, field, bits, value)),
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
                let error = bits.map(|bits| does_not_fit(self.info, field, bits, value));
                let fault = error.map_or(TextFault::Trailing, TextFault::Encode);
                Err(self.cursor.fault_since(start, fault))
            }
            _ => self.set(field, value, start),
        }
    }

    fn special(&mut self, special: &str) -> Result<(), Fault> {
        match special {
            "regs" => self.registers(),
            "mem" => self.memory(),
            "last_reg" => {
                let start = self.cursor.at();
                let Some(last) = self.cursor.take_number(false) else {
                    return Err(self.cursor.fault(TextFault::ExpectedRegisters));
                };
                let first = self.info.field_bits("base_register", self.word, self.arch);
                self.set_named("register_count", last + 1 - i128::from(first), start)
            }
            "imm32" => self.immediate32(),
            "wait_list" => self.wait_list(),
            _ => self.target(),
        }
    }

    fn register_number(&mut self, class: &str) -> Option<i128> {
        let start = self.cursor;
        let number = self
            .cursor
            .take(class)
            .then(|| self.cursor.take_number(false));
        if number.flatten().is_none() {
            self.cursor = start;
        }
        number.flatten()
    }

    /// `r66:r67`, or `_`.
    fn registers(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        if self.cursor.take("_") {
            return self.set_named("mask", 0, start);
        }
        let Some(first) = self.register_number("r") else {
            return Err(self.cursor.fault(TextFault::ExpectedRegisters));
        };
        let (mut mask, mut last) = (1, first);
        while self.cursor.take(":") {
            let at = self.cursor.at();
            let Some(next) = self.register_number("r") else {
                return Err(self.cursor.fault(TextFault::ExpectedRegisters));
            };
            if next <= last || next > first + 15 {
                return Err(self.cursor.fault_since(at, TextFault::RegistersOutOfOrder));
            }
            mask |= 1 << (next - first);
            last = next;
        }
        self.run = Some(Run {
            first,
            mask,
            base: first,
            at: (start, self.cursor.at()),
        });
        Ok(())
    }

    /// Puts the registers that were named into the word, now that their base is known.
    fn place_run(&mut self) -> Result<(), Fault> {
        let Some(Run {
            first,
            mask,
            base,
            at: (start, end),
        }) = self.run
        else {
            return Ok(());
        };
        let in_front = u32::try_from(first - base).ok().filter(|&by| by < 16);
        let moved = in_front.map(|by| mask << by).filter(|mask| mask >> 16 == 0);
        let placed = match moved {
            Some(mask) => {
                let base = self.set_named("base_register", base, start);
                base.and_then(|()| self.set_named("mask", mask, start))
            }
            None => Err(self.cursor.fault_since(start, TextFault::BaseOutOfReach)),
        };
        placed.map_err(|fault| Fault {
            at: start..end,
            ..fault
        })
    }

    /// `[d66]`, `[d66 + 8]`, `[d66 - 8]`.
    fn memory(&mut self) -> Result<(), Fault> {
        self.cursor.take_literal("[")?;
        self.cursor.skip_spaces();
        self.cursor.take_literal("d")?;
        if let Some(field) = self.info.field("address") {
            self.value(field, Base::Decimal)?;
        }
        self.cursor.skip_spaces();
        let start = self.cursor.at();
        let sign = match (self.cursor.take("+"), self.cursor.take("-")) {
            (false, false) => None,
            (plus, _) => Some(if plus { 1 } else { -1 }),
        };
        if let Some(sign) = sign {
            self.cursor.skip_spaces();
            let Some(offset) = self.cursor.take_number(false) else {
                let field = "offset";
                return Err(self.cursor.fault(TextFault::ExpectedNumber { field }));
            };
            self.set_named("offset", sign * offset, start)?;
            self.cursor.skip_spaces();
        }
        self.cursor.take_literal("]")
    }

    /// Bits 31:0 as one number, for all the fields there.
    fn immediate32(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        let Some(value) = self.cursor.take_number(false) else {
            let field = "immediate";
            return Err(self.cursor.fault(TextFault::ExpectedNumber { field }));
        };
        let here = |field: &&FieldInfo| field.bits(self.arch).is_some_and(|bits| bits.high < 32);
        let mut fields = self.info.fields.iter().filter(here);
        let (first, second) = (fields.next(), fields.next());
        if let (Some(only), None) = (first, second) {
            // UMIN_IMM prints as a signed number what is an unsigned one.
            let wraps = only.kind == FieldKind::Unsigned
                && only.bits(self.arch).is_some_and(|bits| bits.width() == 32);
            let value = match i32::try_from(value) {
                Ok(signed) if wraps => signed.cast_unsigned().into(),
                _ => value,
            };
            return self.set(only, value, start);
        }
        let bits = u32::try_from(value)
            .or(i32::try_from(value).map(i32::cast_unsigned))
            .map_or(1 << 32, u64::from);
        let mut rest = bits;
        for field in self.info.fields {
            if let Some(place) = field.bits(self.arch).filter(|bits| bits.high < 32) {
                self.set(field, place.of(bits).into(), start)?;
                rest &= !place.mask();
            }
        }
        match (rest, first) {
            (0, _) | (_, None) => Ok(()),
            (_, Some(field)) => {
                let max = self.info.defined_bits(self.arch) as u32;
                Err(self.cursor.fault_since(
                    start,
                    TextFault::Encode(EncodeError::OutOfRange {
                        instruction: self.info.name,
                        field: field.name,
                        value,
                        min: 0,
                        max: max.into(),
                    }),
                ))
            }
        }
    }

    /// `0,1,3`, or nothing.
    fn wait_list(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        let mut mask = 0;
        while let Some(slot) = self.cursor.take_number(false) {
            if !(0..16).contains(&slot) {
                let field = "wait_mask";
                return Err(self
                    .cursor
                    .fault_since(start, TextFault::ExpectedNumber { field }));
            }
            mask |= 1 << slot;
            let mut probe = self.cursor;
            probe.skip_spaces();
            if !probe.take(",") {
                break;
            }
            probe.skip_spaces();
            self.cursor = probe;
        }
        self.set_named("wait_mask", mask, start)
    }

    /// `#-7`, or a label.
    fn target(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        if self.cursor.take("#") {
            return match self.info.field("offset") {
                Some(field) => self.value(field, Base::Decimal),
                None => Ok(()),
            };
        }
        let label = self.cursor.take_while(is_label);
        if label.is_empty() {
            return Err(self.cursor.fault(TextFault::Expected { text: "#" }));
        }
        match self.labels.offset_to(label) {
            Ok(offset) if i16::try_from(offset).is_err() => {
                let fault = TextFault::BranchTooFar { offset };
                Err(self.cursor.fault_since(start, fault))
            }
            Ok(offset) => self.set_named("offset", offset.into(), start),
            Err(fault) => Err(self.cursor.fault_since(start, fault)),
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

fn does_not_fit(info: &Info, field: &FieldInfo, bits: Bits, value: i128) -> EncodeError {
    let max = bits.max().cast_signed(); // a field has 56 bits at most
    let (min, max) = match field.kind {
        FieldKind::Signed => (-(max / 2) - 1, max / 2),
        FieldKind::Bytes8 => (0, max * 8),
        _ => (0, max),
    };
    EncodeError::OutOfRange {
        instruction: info.name,
        field: field.name,
        value,
        min,
        max,
    }
}

/// The fields of a range, for [`Fault`].
pub(super) fn characters(line: &str, bytes: &Range<usize>) -> (usize, usize) {
    let before = line.get(..bytes.start).unwrap_or(line);
    let wrong = line.get(bytes.clone()).unwrap_or("");
    (before.chars().count() + 1, wrong.chars().count())
}
