//! From text to an instruction: each template of the generation is tried on the line.
//!
//! Guarantees: what was read prints as the line again, but for spaces and how numbers are written. An error names the place that
//! the best attempt came to. Facts: hardware/ir3-isa.md section 17.

mod cursor;
mod error;
mod operand;

pub use error::{ParseError, ParseErrorKind, Span};

use crate::build::Builder;
use crate::field::{Field, Kind};
use crate::generation::Gen;
use crate::instr::Instr;
use crate::layout::{DestWidth, When};
use crate::row::Row;
use crate::table::ROWS;
use crate::template::{Piece, pieces};
use crate::values::{DescMode, Type, Width};
use cursor::Cursor;

/// Where a label is, in instructions from the one that names it.
pub type Labels<'a> = dyn Fn(&str) -> Option<i32> + 'a;

impl Instr {
    /// The instruction that a line says.
    ///
    /// # Errors
    /// [`ParseError`], with the part of the line that it is about.
    pub fn parse(line: &str, generation: Gen) -> Result<Self, ParseError> {
        Self::parse_with(line, generation, &|_| None)
    }

    /// The instruction that a line says, whose branch targets may be names: `labels` tells how far away they are.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with(
        line: &str,
        generation: Gen,
        labels: &Labels<'_>,
    ) -> Result<Self, ParseError> {
        let start = Cursor::new(line);
        if start.is_end() {
            return Err(start.error(ParseErrorKind::Empty));
        }
        let mut best: Option<ParseError> = None;
        for row in ROWS.iter().filter(|row| row.gens.contains(generation)) {
            let usual = (None, row.layout.text);
            let others = row.layout.variants.iter();
            let others = others.map(|variant| (Some(variant.when), variant.text));
            for (when, text) in others.chain([usual]) {
                let attempt = Attempt::new(row, when, start, generation, labels);
                match attempt.read(text) {
                    Ok(instr) => return Ok(instr),
                    Err(error) => {
                        let better = best.is_none_or(|best| {
                            (error.span.start, error.kind.rank())
                                > (best.span.start, best.kind.rank())
                        });
                        if better {
                            best = Some(error);
                        }
                    }
                }
            }
        }
        Err(best.unwrap_or_else(|| start.error(ParseErrorKind::Mnemonic)))
    }
}

/// What the modifiers of an indirect texture instruction say of its descriptor.
#[derive(Clone, Copy, Default)]
struct Descriptor {
    indirect: bool,
    uniform: bool,
    nonuniform: bool,
    base: Option<u32>,
    /// The register, or sampler and texture.
    register: Option<(bool, u32)>,
    sampler: Option<u32>,
    texture: Option<u32>,
    a1: bool,
}

/// One template of one row, tried on a line.
struct Attempt<'a> {
    row: &'static Row,
    when: Option<When>,
    cursor: Cursor<'a>,
    builder: Builder,
    generation: Gen,
    labels: &'a Labels<'a>,
    /// The mnemonic stands before this place.
    named: bool,
    /// The width that sources said.
    source: Option<Width>,
    /// The width of a constant of the table, which counts if no source says one.
    weak_source: Option<Width>,
    /// The width that the destination said.
    dest: Option<Width>,
    descriptor: Descriptor,
}

impl<'a> Attempt<'a> {
    fn new(
        row: &'static Row,
        when: Option<When>,
        cursor: Cursor<'a>,
        generation: Gen,
        labels: &'a Labels<'a>,
    ) -> Self {
        let builder = Instr::build(row.op);
        // What a template stands for is not read again from the line.
        let to = |number, ty| {
            let builder = builder.set_bits(Field::Dst, number);
            builder.set_bits(Field::DstRel, 0).types(ty, ty)
        };
        let builder = match when {
            Some(When::Indirect) => builder.set_bits(Field::S2enBindless, 1),
            Some(When::ToA0) => to(244, Type::S16),
            Some(When::ToA1) => to(245, Type::U16),
            _ => builder,
        };
        Self {
            row,
            when,
            cursor,
            builder,
            generation,
            labels,
            named: false,
            source: None,
            weak_source: None,
            dest: None,
            descriptor: Descriptor::default(),
        }
    }

    fn read(mut self, text: &'static str) -> Result<Instr, ParseError> {
        let start = self.cursor;
        for piece in pieces(text) {
            match piece {
                Piece::Literal(text) => self.literal(text)?,
                Piece::Field(Field::Name) => self.mnemonic(self.row.name)?,
                Piece::Field(field) => self.field(field)?,
            }
        }
        if !self.cursor.is_end() {
            return Err(self.cursor.error(ParseErrorKind::TooMuch));
        }
        let instr = self.finish(start)?;
        // A text that is meant for another state of the instruction: idle slots of none, a shift by the usual two.
        if instr.text() != text {
            return Err(start.error(ParseErrorKind::Mnemonic));
        }
        Ok(instr)
    }

    fn mnemonic(&mut self, name: &str) -> Result<(), ParseError> {
        if !self.cursor.take(name) {
            return Err(self.cursor.error(ParseErrorKind::Mnemonic));
        }
        self.named = true;
        Ok(())
    }

    /// Literal text; in some templates it has the mnemonic.
    fn literal(&mut self, text: &'static str) -> Result<(), ParseError> {
        let what = match text.trim() {
            "" => "a space",
            "," => "`,` and another operand",
            other => other,
        };
        let before = self.cursor;
        let taken = self.cursor.literal(text, what);
        if self.named {
            return taken;
        }
        self.named = text.starts_with(|letter: char| letter.is_ascii_lowercase());
        taken.map_err(|_| before.error(ParseErrorKind::Mnemonic))
    }

    fn put(&mut self, field: Field, bits: u32) {
        self.builder = self.builder.set_bits(field, bits);
    }

    fn field(&mut self, field: Field) -> Result<(), ParseError> {
        match field {
            Field::Half => return self.source_prefix(),
            Field::DstHalf => return self.dest_prefix(),
            Field::TypeHalf => {
                let half = self.cursor.take("h");
                let width = self.builder.instr.data_width();
                return self.must_be(Width::half_if(half), width);
            }
            Field::S2en => self.descriptor.indirect = self.cursor.word(".s2en"),
            Field::Uniform => self.descriptor.uniform = self.cursor.word(".uniform"),
            Field::NonUniform => self.descriptor.nonuniform = self.cursor.word(".nonuniform"),
            Field::A1 => {
                let before = self.cursor;
                let comma = self.cursor.literal(", ", "`, a1.x`");
                self.descriptor.a1 = comma.is_ok() && self.cursor.take("a1.x");
                if !self.descriptor.a1 {
                    self.cursor = before;
                }
            }
            _ => return self.stored(field),
        }
        Ok(())
    }

    fn stored(&mut self, field: Field) -> Result<(), ParseError> {
        let Some(spec) = self.builder.instr.spec(field) else {
            return self.derived(field);
        };
        let bits = match spec.kind {
            Kind::Flag(text) => u32::from(self.cursor.word(text)),
            Kind::Bit => return Ok(()),
            Kind::Enum(names) => self.cursor.name(names, enum_kind(field))?,
            Kind::Uint => self.cursor.uint(spec.width())?,
            Kind::Int => self.cursor.int(spec.width())?,
            Kind::Offset => self.cursor.offset(spec.width())? as u32,
            Kind::UOffset => {
                if self.cursor.take("+") {
                    self.cursor.uint(spec.width())?
                } else {
                    0
                }
            }
            Kind::Branch => self.target()? as u32,
            Kind::Operand(form) => return self.operand(spec, form),
        };
        self.put(field, bits);
        Ok(())
    }

    /// A number that text derives from fields.
    fn derived(&mut self, field: Field) -> Result<(), ParseError> {
        if self.builder.instr.number(field).is_none() {
            // A modifier that this row lacks.
            return Ok(());
        }
        let before = self.cursor;
        let value = match field {
            Field::Off => self.cursor.offset(13)?,
            _ => self.cursor.number()?,
        };
        let built = self.builder.set(field, value);
        match built.error() {
            Some(error) => Err(before.error(ParseErrorKind::Encode(error))),
            None => {
                self.builder = built;
                Ok(())
            }
        }
    }

    /// The target of a branch: a number, or the name of a label.
    fn target(&mut self) -> Result<i32, ParseError> {
        let rest = self.cursor.rest();
        let is_name =
            rest.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        if !is_name {
            let least = i64::from(i32::MIN);
            return Ok(self.cursor.number_in(least, i64::from(i32::MAX))? as i32);
        }
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        let target = (self.labels)(name);
        let target = target.ok_or_else(|| self.cursor.error(ParseErrorKind::Label))?;
        self.cursor.pos += name.len();
        Ok(target)
    }

    fn must_be(&self, found: Width, width: Width) -> Result<(), ParseError> {
        if found == width {
            return Ok(());
        }
        let width = match width {
            Width::Half => "half",
            Width::Full => "full",
        };
        Err(self.cursor.error(ParseErrorKind::Width(width)))
    }

    /// `h` before a source, or nothing.
    fn source_prefix(&mut self) -> Result<(), ParseError> {
        use crate::layout::SourceWidth as By;
        let width = Width::half_if(self.cursor.take("h"));
        match self.row.layout.sources {
            By::ByFull => match self.source {
                Some(source) => self.must_be(width, source),
                None => {
                    self.source = Some(width);
                    Ok(())
                }
            },
            _ => self.must_be(width, self.builder.instr.source_width()),
        }
    }

    /// `h` before a destination, or nothing.
    fn dest_prefix(&mut self) -> Result<(), ParseError> {
        use crate::layout::DestWidth as By;
        let width = Width::half_if(self.cursor.take("h"));
        let typed = self.row.layout.tex.is_none_or(|shape| shape.typed);
        match self.row.layout.dest {
            By::ByType if !typed => {
                // The text has no type: one of the width.
                self.put(Field::Type, u32::from(!width.is_half()));
                Ok(())
            }
            By::ByType | By::ByDstType | By::Full => {
                self.must_be(width, self.builder.instr.dest_width())
            }
            By::ByConv | By::ByDstFull => {
                self.dest = Some(width);
                Ok(())
            }
        }
    }

    fn finish(mut self, start: Cursor<'a>) -> Result<Instr, ParseError> {
        if self.when == Some(When::Indirect) {
            self.place_descriptor()?;
        }
        let source = self.source.or(self.weak_source);
        // Predicates have no width.
        let is_predicate = |number: u32| number > 247;
        let to_predicate = self
            .builder
            .instr
            .bits(Field::Dst)
            .is_some_and(is_predicate);
        if to_predicate && self.row.layout.dest == DestWidth::ByConv {
            self.dest = None;
        }
        let built = self.builder.with_widths(source, self.dest).finish();
        built.map_err(|error| start.error(ParseErrorKind::Encode(error)))
    }

    /// Finds the kind of descriptor that has all that was read, and puts it.
    fn place_descriptor(&mut self) -> Result<(), ParseError> {
        let Descriptor {
            indirect,
            uniform,
            nonuniform,
            base,
            register,
            sampler,
            texture,
            a1,
        } = self.descriptor;
        let wrong = self.cursor.error(ParseErrorKind::Descriptor);
        let mut modes = DescMode::ALL.iter().filter(|mode| {
            mode.indirect() == indirect
                && mode.uniform() == uniform
                && mode.nonuniform() == nonuniform
                && mode.bindless() == base.is_some()
                && mode.reads_a1() == a1
        });
        let mode = *modes.next().ok_or(wrong)?;
        let bits = match register {
            // The width of the registers says again whether it is bindless.
            Some((half, _)) if half == mode.bindless() => return Err(wrong),
            Some((_, number)) => number,
            None => crate::print::join_descriptor(mode, self.generation, sampler, texture)
                .ok_or(wrong)?,
        };
        self.put(Field::DescMode, mode.bits());
        self.put(Field::Src3, bits);
        let base = base.unwrap_or(0);
        self.put(Field::BaseHi, base >> 1);
        self.put(Field::Base, base & 1);
        Ok(())
    }
}

/// What a field with several values is, for an error.
const fn enum_kind(field: Field) -> &'static str {
    match field {
        Field::Type | Field::SrcType | Field::DstType => "a type",
        Field::Cond => "a condition: lt, le, gt, ge, eq or ne",
        Field::Comp1 | Field::Comp2 => "a component: x, y, z or w",
        Field::Mode => "imm, uniform or nonuniform",
        Field::WrMask => "components, such as xyzw",
        _ => "a modifier",
    }
}
