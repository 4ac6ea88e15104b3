//! Operands: the counterpart of what `print` writes.
//!
//! Facts: hardware/data/ir3-isa.json, "operands".

use super::error::{ParseError, ParseErrorKind};
use super::{Attempt, When};
use crate::field::{Field, FieldSpec, Form, Immediate};
use crate::half;
use crate::values::{AbsNeg, AliasKind, AliasType, FloatConst, Type, Width};

impl Attempt<'_> {
    pub(super) fn operand(&mut self, spec: &FieldSpec, form: Form) -> Result<(), ParseError> {
        let field = spec.field;
        let shape = self.builder.instr.tex_shape();
        let bits = match form {
            Form::Gpr8 => self.cursor.register()?,
            Form::MovDst8 => {
                let relative = self.cursor.rest().starts_with("r<");
                self.put(Field::DstRel, u32::from(relative));
                if relative {
                    self.cursor.take("r");
                    self.cursor.relative(false, 8)?
                } else {
                    self.cursor.register()?
                }
            }
            Form::MovGpr8 => {
                let last = self.cursor.take("(last)");
                self.put(Field::Last, u32::from(last));
                self.advance(Field::SrcR);
                self.source_prefix()?;
                self.cursor.register()?
            }
            Form::MovConst11 => {
                self.advance(Field::SrcR);
                self.source_prefix()?;
                self.constant()?
            }
            Form::MovRelGpr10 | Form::MovRelConst10 => {
                self.advance(Field::SrcR);
                self.source_prefix()?;
                let file = if form == Form::MovRelGpr10 { "r" } else { "c" };
                if !self.cursor.take(file) {
                    return Err(self.cursor.expected("a source"));
                }
                self.cursor.relative(true, 10)?
            }
            Form::MovImm32 => self.mov_immediate()?,
            Form::MultiSrc8 => {
                self.source_prefix()?;
                self.cursor.register()?
            }
            Form::MultiDst8 => {
                self.dest_prefix()?;
                self.cursor.register()?
            }
            Form::AluSrc16(advance) => self.alu(advance)?,
            Form::MadSrc13 | Form::MadImm13 => self.mad(form == Form::MadImm13)?,
            Form::TexSrc1 if shape.sources == 0 => return Ok(()),
            Form::TexSrc2 if shape.sources < 2 && !self.has_offsets() => return Ok(()),
            Form::TexSrc1 | Form::TexSrc2 => {
                self.cursor.literal(", ", "`,` and another operand")?;
                self.source_prefix()?;
                self.cursor.register()?
            }
            Form::TexSrc3 => return self.descriptor(),
            Form::TexSamp4 | Form::TexTex7 => {
                let has = if form == Form::TexSamp4 {
                    shape.sampler
                } else {
                    shape.texture
                };
                if !has {
                    return Ok(());
                }
                let what = if form == Form::TexSamp4 { "s#" } else { "t#" };
                self.cursor.literal(", ", "`,` and another operand")?;
                if !self.cursor.take(what) {
                    return Err(self.cursor.expected("a sampler (s#) or texture (t#)"));
                }
                self.cursor.uint(spec.width())?
            }
            Form::TexType3 => {
                if !shape.typed {
                    return Ok(());
                }
                let what = "a type in brackets";
                if !self.cursor.take("(") {
                    return Err(self.cursor.expected(what));
                }
                let ty = self.cursor.name(Type::NAMES, what)?;
                if !self.cursor.take(")") {
                    return Err(self.cursor.expected(what));
                }
                ty
            }
            Form::TexBase1 => {
                if self.cursor.take(".base") {
                    self.descriptor.base = Some(self.cursor.uint(3)?);
                }
                return Ok(());
            }
            Form::MemBase3 => {
                let bindless = self.cursor.take(".base");
                self.put(Field::Bindless, u32::from(bindless));
                if !bindless {
                    return Ok(());
                }
                self.cursor.uint(3)?
            }
            Form::MemSrc8(immediate) => self.mem_source(immediate)?,
            Form::MemAddr8 => {
                let constant = self.cursor.rest().starts_with('c');
                if self.builder.instr.spec(Field::Src1Const).is_some() {
                    self.put(Field::Src1Const, u32::from(constant));
                } else if constant {
                    return Err(self.cursor.expected("a register such as r0.x"));
                }
                if constant {
                    self.cursor.take("c");
                    self.cursor.indexed(64)?
                } else {
                    self.cursor.register()?
                }
            }
            Form::MemTyped1 => {
                let typed = self.cursor.take("typed");
                if !typed && !self.cursor.take("untyped") {
                    return Err(self.cursor.expected("typed or untyped"));
                }
                u32::from(typed)
            }
            Form::ConstDst9 => {
                if self.cursor.take("a1.x") {
                    self.cursor.skip_spaces();
                    if self.cursor.take("+") {
                        self.cursor.skip_spaces();
                        0x100 | self.cursor.uint(8)?
                    } else {
                        0x100
                    }
                } else {
                    self.cursor.uint(8)?
                }
            }
            Form::AliasSrc => self.alias()?,
        };
        self.put(field, bits);
        Ok(())
    }

    /// True if a second source follows that is there because of the flag O. Where the text has no place for the flag, the source
    /// says it.
    fn has_offsets(&mut self) -> bool {
        if !self.row.layout.text.contains("{O}") && self.cursor.rest().trim_start().starts_with(',')
        {
            self.put(Field::O, 1);
        }
        self.builder.instr.flag(Field::O)
    }

    /// (r), unless its bit counts idle slots here.
    fn advance(&mut self, field: Field) {
        if self.when != Some(When::Idle) {
            let taken = self.cursor.take("(r)");
            if self.builder.instr.spec(field).is_some() {
                self.put(field, u32::from(taken));
            }
        }
    }

    fn constant(&mut self) -> Result<u32, ParseError> {
        if !self.cursor.take("c") {
            return Err(self.cursor.expected("a constant such as c0.x"));
        }
        self.cursor.indexed(512)
    }

    fn mov_immediate(&mut self) -> Result<u32, ParseError> {
        let ty = self.builder.instr.type_of(Field::SrcType);
        match ty {
            Some(Type::F16) if self.cursor.take("h(") => {
                Ok(u32::from(half::of_f32(self.cursor.float()?)))
            }
            Some(Type::F32) if self.cursor.take("(") => Ok(self.cursor.float()?.to_bits()),
            Some(Type::F16 | Type::F32) => Err(self.cursor.expected("a float in brackets")),
            Some(Type::S16) => {
                let value = self.cursor.number_in(-0x8000, 0xFFFF)?;
                Ok(value as u32 & 0xFFFF)
            }
            _ => {
                let value = self.cursor.number_in(-0x8000_0000, 0xFFFF_FFFF)?;
                Ok(value as u32)
            }
        }
    }

    /// A source of category 2 or 4: 16 bits.
    fn alu(&mut self, advance: Field) -> Result<u32, ParseError> {
        let last = self.cursor.take("(last)");
        let before = self.cursor;
        let sign = self.cursor.name(AbsNeg::NAMES, "a source")?;
        self.advance(advance);
        if let Some((width, index)) = self.float_constant() {
            self.weak_source = self.weak_source.or(Some(width));
            let form = if width.is_half() { 0x2C00 } else { 0x2800 };
            return Ok(sign << 14 | form | index);
        }
        let bits = self.alu_operand(last)?;
        if last && bits & 0x400 == 0 {
            return Err(before.expected("a register"));
        }
        Ok(sign << 14 | bits)
    }

    fn alu_operand(&mut self, last: bool) -> Result<u32, ParseError> {
        let rest = self.cursor.rest();
        let is_number =
            |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-');
        if is_number(rest) {
            self.source_prefix()?;
            return Ok(0x2000 | self.cursor.int(11)?);
        }
        if let Some(inner) = rest.strip_prefix("h(")
            && is_number(inner.trim_start())
        {
            self.source_prefix()?;
            self.cursor.take("(");
            self.cursor.skip_spaces();
            let value = self.cursor.int(11)?;
            self.cursor.skip_spaces();
            if !self.cursor.take(")") {
                return Err(self.cursor.expected("`)`"));
            }
            return Ok(0x2000 | value);
        }
        self.source_prefix()?;
        self.named_or_relative(0x1000, if last { 0x400 } else { 0 })
    }

    /// A register, a constant, or one that is relative to a0.x.
    fn named_or_relative(&mut self, constant: u32, last: u32) -> Result<u32, ParseError> {
        let rest = self.cursor.rest();
        if rest.starts_with("r<") || rest.starts_with("c<") {
            let form = if rest.starts_with('r') {
                0x0800
            } else {
                0x0C00
            };
            self.cursor.pos += 1;
            return Ok(form | self.cursor.relative(true, 10)?);
        }
        if rest.starts_with('c') {
            return Ok(constant | self.constant()?);
        }
        let before = self.cursor;
        let register = self.cursor.register();
        Ok(last | register.map_err(|error| source_expected(&before, error))?)
    }

    /// A constant of the table of floats.
    fn float_constant(&mut self) -> Option<(Width, u32)> {
        let mut cursor = self.cursor;
        let width = Width::half_if(cursor.take("h"));
        let index = cursor.name(FloatConst::NAMES, "a constant").ok()?;
        self.cursor = cursor;
        Some((width, index))
    }

    /// A source 1 or 3 of category 3: 13 bits.
    fn mad(&mut self, immediates: bool) -> Result<u32, ParseError> {
        let last = self.cursor.take("(last)");
        let is_number = self
            .cursor
            .rest()
            .starts_with(|letter: char| letter.is_ascii_digit());
        if immediates && is_number {
            return Ok(0x1000 | self.cursor.uint(11)?);
        }
        let before = self.cursor;
        self.source_prefix()?;
        let bits = self.named_or_relative(0x1000, if last { 0x400 } else { 0 })?;
        let is_constant = bits & 0x1800 == 0x1000;
        if (immediates && is_constant) || (last && bits & 0x400 == 0) {
            return Err(before.expected("a register"));
        }
        Ok(bits)
    }

    /// The descriptor of an indirect texture instruction.
    fn descriptor(&mut self) -> Result<(), ParseError> {
        let shape = self.builder.instr.tex_shape();
        if self.descriptor.indirect {
            self.cursor.literal(", ", "`,` and another operand")?;
            let half = self.cursor.take("h");
            self.descriptor.register = Some((half, self.cursor.register()?));
            return Ok(());
        }
        for (has, what) in [(shape.sampler, "s#"), (shape.texture, "t#")] {
            let before = self.cursor;
            let comma = self.cursor.literal(", ", "`,`");
            if !has || comma.is_err() || !self.cursor.take(what) {
                self.cursor = before;
                continue;
            }
            let number = Some(self.cursor.uint(8)?);
            if what == "s#" {
                self.descriptor.sampler = number;
            } else {
                self.descriptor.texture = number;
            }
        }
        Ok(())
    }

    fn mem_source(&mut self, immediate: Immediate) -> Result<u32, ParseError> {
        let is_number = self
            .cursor
            .rest()
            .starts_with(|letter: char| letter.is_ascii_digit());
        let is_immediate = match immediate {
            Immediate::By(field) => {
                self.put(field, u32::from(is_number));
                is_number
            }
            // The mode was read before.
            Immediate::ByMode | Immediate::Always => self.builder.instr.is_immediate(immediate),
        };
        if is_immediate {
            self.cursor.uint(8)
        } else {
            self.cursor.register()
        }
    }

    fn alias(&mut self) -> Result<u32, ParseError> {
        let half = self.builder.instr.bits(Field::SrcType) == Some(AliasType::B16.bits());
        let before = self.cursor;
        let width = Width::half_if(self.cursor.take("h"));
        let expected = Width::half_if(half);
        let rest = self.cursor.rest();
        let (kind, bits) = if self.cursor.take("(") {
            let value = self.cursor.float()?;
            let bits = if half {
                u32::from(half::of_f32(value))
            } else {
                value.to_bits()
            };
            (AliasKind::Imm, bits)
        } else if rest.starts_with('c') {
            (AliasKind::Const, self.constant()?)
        } else {
            (AliasKind::Gpr, self.cursor.register()?)
        };
        if width != expected {
            let name = if half { "half" } else { "full" };
            return Err(before.error(ParseErrorKind::Width(name)));
        }
        self.put(Field::SrcRegType, kind.bits());
        Ok(bits)
    }
}

/// An error of a register, where anything else may stand, too.
fn source_expected(before: &super::cursor::Cursor<'_>, error: ParseError) -> ParseError {
    if error.span.start == before.pos {
        before.expected("a register, constant or immediate")
    } else {
        error
    }
}
