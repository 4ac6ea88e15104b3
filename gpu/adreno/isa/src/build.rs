//! Building an instruction: each part is checked when it is given, the whole by [`Builder::finish`].
//!
//! Guarantees: what `finish` gives has all its operands, in the widths that it asks for.
//! Facts: hardware/ir3-isa.md sections 3 to 6.

use crate::codec;
use crate::error::EncodeError;
use crate::field::{Field, FieldSpec, Form, Immediate, Kind};
use crate::instr::Instr;
use crate::layout::{DestWidth, SourceWidth, Wide};
use crate::op::Op;
use crate::operand::{Dst, Operand, Src};
use crate::register::File;
use crate::values::{Cond, Round, Type, Width};

/// Sources in the order in which [`Builder::src`] fills them.
const SOURCES: [Field; 5] = [
    Field::Src,
    Field::Src0,
    Field::Src1,
    Field::Src2,
    Field::Src3,
];

/// An instruction that is being built. The first error is kept until [`Self::finish`].
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    pub(crate) instr: Instr,
    /// The bits that were given.
    pub(crate) given: u64,
    /// The width of the sources, once one of them said it.
    source: Option<Width>,
    /// The width of the destination, once it was given.
    dest: Option<Width>,
    /// The width of the data of a memory access.
    data: Option<(Field, Width)>,
    error: Option<EncodeError>,
}

impl Instr {
    /// Starts an instruction without operands, with every modifier at its default.
    pub const fn build(op: Op) -> Builder {
        Builder {
            instr: Self {
                op,
                word: op.row().value | op.row().layout.usual,
            },
            given: 0,
            source: None,
            dest: None,
            data: None,
            error: None,
        }
    }

    /// A builder that starts from this instruction, to change flags, counts or operands of it.
    pub fn edit(self) -> Builder {
        Builder {
            instr: self,
            given: !0,
            source: Some(self.source_width()),
            // Predicates have no width.
            dest: match self.bits(Field::Dst) {
                Some(number) if number > 247 && self.layout().dest == DestWidth::ByConv => None,
                _ => Some(self.dest_width()),
            },
            data: None,
            error: None,
        }
    }

    /// A move or conversion; its row follows from the kind of the source.
    pub fn mov(from: Type, to: Type, dst: impl Into<Dst>, src: impl Into<Src>) -> Builder {
        let src = src.into();
        let op = match src.operand {
            Operand::Reg(_) => Op::MovGpr,
            Operand::Const(..) => Op::MovConst,
            Operand::RelReg(..) => Op::MovRelGpr,
            Operand::RelConst(..) => Op::MovRelConst,
            Operand::Imm(..) | Operand::Float(..) => Op::MovImm,
        };
        let src = match src.operand {
            Operand::Float(value, Width::Full) => {
                Src::new(Operand::Imm(value.f32_bits() as i32, Width::Full))
            }
            Operand::Float(value, Width::Half) => {
                Src::new(Operand::Imm(i32::from(value.f16_bits()), Width::Half))
            }
            _ => src,
        };
        Self::build(op).types(from, to).dst(dst).src(src)
    }
}

impl Builder {
    fn fail(mut self, error: EncodeError) -> Self {
        self.error = self.error.or(Some(error));
        self
    }

    /// The first error, if there was one.
    pub(crate) const fn error(&self) -> Option<EncodeError> {
        self.error
    }

    /// The same with what text said of the widths of sources and destination.
    pub(crate) const fn with_widths(mut self, source: Option<Width>, dest: Option<Width>) -> Self {
        (self.source, self.dest) = (source, dest);
        self
    }

    fn op(&self) -> Op {
        self.instr.op
    }

    /// Writes the bits of a field.
    pub(crate) fn put(mut self, spec: &FieldSpec, bits: u32) -> Self {
        self.instr.word = (self.instr.word & !spec.mask()) | spec.place(bits);
        self.given |= spec.mask();
        self
    }

    /// A number, a flag, or the bits of an enum. What text derives may be given, too: D, TYPE_SIZE, NOP, OFF and the like.
    #[must_use]
    pub fn set(self, field: Field, value: i64) -> Self {
        let op = self.op();
        if let Some(spec) = self.instr.spec(field)
            && !(field == Field::Base && self.instr.spec(Field::BaseHi).is_some())
        {
            let reserved = match spec.kind {
                Kind::Enum(names) => !names.iter().any(|name| i64::from(name.value) == value),
                _ => false,
            };
            return match spec.insert(value) {
                Some(_) if !reserved => self.put(spec, value as u32),
                _ => self.fail(EncodeError::Value { op, field, value }),
            };
        }
        let less_one = |field| Some((field, value - 1));
        let power = || match value {
            2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 => Some(i64::from(value.trailing_zeros()) - 1),
            _ => None,
        };
        let wrong = EncodeError::Value { op, field, value };
        let part = match field {
            Field::D => less_one(Field::DMinusOne),
            Field::TypeSize => less_one(Field::TypeSizeMinusOne),
            Field::LoadSize => less_one(Field::LoadSizeMinusOne),
            Field::Src2ByteShift | Field::DstByteShift => {
                Some((Field::Src2AddDwordShift, value - 2))
            }
            Field::ClusterSize => match power() {
                Some(power) => Some((Field::W, power)),
                None => return self.fail(wrong),
            },
            Field::W if value % 32 == 0 => Some((Field::Repeat, value / 32 - 1)),
            Field::Off if self.instr.spec(Field::OffHi).is_some() => {
                return self
                    .set(Field::OffHi, value >> 8)
                    .set(Field::OffLo, value & 0xFF);
            }
            Field::Dst if self.instr.spec(Field::DstHi).is_some() => {
                return self
                    .set(Field::DstHi, value >> 8)
                    .set(Field::DstLo, value & 0xFF);
            }
            Field::Base => {
                if !(0..8).contains(&value) {
                    return self.fail(wrong);
                }
                return self
                    .set_bits(Field::BaseHi, value as u32 >> 1)
                    .set_bits(Field::Base, value as u32 & 1);
            }
            Field::Nop => return self.nop_of(value),
            _ => None,
        };
        match part {
            Some((part, value)) if self.instr.spec(part).is_some() => self.set(part, value),
            _ => self.fail(EncodeError::NoSuch { op, field }),
        }
    }

    /// The bits of a field, as they are.
    pub(crate) fn set_bits(self, field: Field, bits: u32) -> Self {
        let op = self.op();
        match self.instr.spec(field) {
            Some(spec) => self.put(spec, bits),
            None => self.fail(EncodeError::NoSuch { op, field }),
        }
    }

    fn nop_of(self, count: i64) -> Self {
        let op = self.op();
        if !self.instr.has_idle() {
            return self.fail(EncodeError::NoSuch {
                op,
                field: Field::Nop,
            });
        }
        if !(0..=3).contains(&count) {
            return self.fail(EncodeError::Value {
                op,
                field: Field::Nop,
                value: count,
            });
        }
        if self.instr.repeat() != 0 {
            return if count == 0 {
                self
            } else {
                self.fail(EncodeError::IdleRepeat { op })
            };
        }
        self.set_bits(Field::Src1R, count as u32 & 1)
            .set_bits(Field::Src2R, count as u32 >> 1)
    }

    // What a compiler says often.

    /// Sets a flag.
    #[must_use]
    pub fn flag(self, flag: Field, value: bool) -> Self {
        self.set(flag, i64::from(value))
    }

    /// With (sy).
    #[must_use]
    pub fn sy(self) -> Self {
        self.flag(Field::Sy, true)
    }

    /// With (ss).
    #[must_use]
    pub fn ss(self) -> Self {
        self.flag(Field::Ss, true)
    }

    /// With (jp).
    #[must_use]
    pub fn jp(self) -> Self {
        self.flag(Field::Jp, true)
    }

    /// With (sat).
    #[must_use]
    pub fn sat(self) -> Self {
        self.flag(Field::Sat, true)
    }

    /// Repeated so many times more: 0 to 3, for nop to 5.
    #[must_use]
    pub fn repeat(self, count: u8) -> Self {
        self.set(Field::Repeat, i64::from(count))
    }

    /// With so many idle slots behind it: 0 to 3, not on a repeated instruction.
    #[must_use]
    pub fn nop(self, count: u8) -> Self {
        self.nop_of(i64::from(count))
    }

    /// The types of source and destination of a move.
    #[must_use]
    pub fn types(self, from: Type, to: Type) -> Self {
        self.set(Field::SrcType, i64::from(from.bits()))
            .set(Field::DstType, i64::from(to.bits()))
    }

    /// The type of what is loaded, stored or sampled.
    #[must_use]
    pub fn ty(self, ty: Type) -> Self {
        self.set_bits(Field::Type, ty.bits())
    }

    /// What is compared.
    #[must_use]
    pub fn cond(self, cond: Cond) -> Self {
        self.set(Field::Cond, i64::from(cond.bits()))
    }

    /// How a conversion rounds.
    #[must_use]
    pub fn round(self, round: Round) -> Self {
        self.set(Field::Round, i64::from(round.bits()))
    }

    /// The branch target in instructions, relative to the branch.
    #[must_use]
    pub fn target(self, target: i32) -> Self {
        self.set(Field::Immed, i64::from(target))
    }

    // Operands.

    /// The destination, or the next one of a multiple move.
    #[must_use]
    pub fn dst(self, dst: impl Into<Dst>) -> Self {
        let dsts = [
            Field::Dst,
            Field::Dst0,
            Field::Dst1,
            Field::Dst2,
            Field::Dst3,
        ];
        match self.next(&dsts) {
            Some(spec) => self.dst_at(spec, dst.into()),
            None => {
                let op = self.op();
                self.fail(EncodeError::NoSuch {
                    op,
                    field: Field::Dst,
                })
            }
        }
    }

    /// The next source.
    #[must_use]
    pub fn src(self, src: impl Into<Src>) -> Self {
        match self.next(&SOURCES) {
            Some(spec) => self.operand(spec.field, src),
            None => {
                let op = self.op();
                self.fail(EncodeError::NoSuch {
                    op,
                    field: Field::Src,
                })
            }
        }
    }

    /// The first of these fields that was not given yet.
    fn next(&self, fields: &[Field]) -> Option<&'static FieldSpec> {
        let specs = fields.iter().filter_map(|field| self.instr.spec(*field));
        let mut open = specs.filter(|spec| self.given & spec.mask() == 0);
        open.next()
    }

    fn dst_at(mut self, spec: &'static FieldSpec, dst: Dst) -> Self {
        let (op, field) = (self.op(), spec.field);
        let wrong = EncodeError::Operand { op, field };
        let Kind::Operand(form) = spec.kind else {
            return self.fail(wrong);
        };
        match (form, dst) {
            (Form::MovDst8, Dst::Rel(offset, width)) => {
                self.dest = Some(width);
                self.put(spec, u32::from(offset)).flag(Field::DstRel, true)
            }
            (Form::MovDst8, Dst::Reg(reg)) => {
                self.dest = Some(reg.width());
                self.put(spec, u32::from(reg.number()))
                    .set_bits(Field::DstRel, 0)
            }
            (Form::MultiDst8 | Form::Gpr8, Dst::Reg(reg)) => self.operand(field, reg),
            _ => self.fail(wrong),
        }
    }

    /// The operand in a field.
    #[must_use]
    pub fn operand(mut self, field: Field, src: impl Into<Src>) -> Self {
        let (op, src) = (self.op(), src.into());
        let wrong = EncodeError::Operand { op, field };
        let Some(spec) = self.instr.spec(field) else {
            return self.fail(EncodeError::NoSuch { op, field });
        };
        let Kind::Operand(form) = spec.kind else {
            return self.fail(wrong);
        };
        if form == Form::MovDst8 {
            let Operand::Reg(reg) = src.operand else {
                return self.fail(wrong);
            };
            return self.dst_at(spec, Dst::Reg(reg));
        }
        if let Err(error) = self.note_width(field, form, src.operand) {
            return self.fail(error);
        }
        let Some(encoded) = codec::encode(form, src) else {
            return self.fail(wrong);
        };
        self = self.put(spec, encoded.bits);
        let is_immediate = matches!(src.operand, Operand::Imm(..));
        match form {
            Form::MemSrc8(Immediate::By(flag)) => {
                self = self.set_bits(flag, u32::from(is_immediate))
            }
            Form::MemSrc8(Immediate::ByMode) => {
                // A register needs a mode that says how far it is uniform: a given one is kept.
                let mode = self.instr.bits(Field::Mode).unwrap_or(0);
                let mode = match (is_immediate, mode) {
                    (true, _) => 0,
                    (false, 0) => 2,
                    (false, mode) => mode,
                };
                self = self.set_bits(Field::Mode, mode);
            }
            Form::MemSrc8(Immediate::Always) if !is_immediate => return self.fail(wrong),
            Form::MemAddr8 => {
                let constant = matches!(src.operand, Operand::Const(..));
                if self.instr.spec(Field::Src1Const).is_some() {
                    self = self.set_bits(Field::Src1Const, u32::from(constant));
                } else if constant {
                    return self.fail(wrong);
                }
            }
            _ => {}
        }
        let (neg, r) = match (form, field) {
            (Form::AluSrc16(r), _) => (None, Some(r)),
            (_, Field::Src1) => (Some(Field::Src1Neg), Some(Field::Src1R)),
            (_, Field::Src2) => (Some(Field::Src2Neg), Some(Field::Src2R)),
            (_, Field::Src3) => (Some(Field::Src3Neg), Some(Field::Src3R)),
            (_, Field::Src) => (None, Some(Field::SrcR)),
            _ => (None, None),
        };
        for (modifier, value) in [
            (neg, encoded.neg),
            (r, encoded.r),
            (Some(Field::Last), encoded.last),
        ] {
            match modifier.and_then(|modifier| self.instr.spec(modifier)) {
                // Bits that count idle slots are not cleared by a source without (r).
                Some(spec) if value || modifier != r => self = self.put(spec, u32::from(value)),
                None if value => return self.fail(wrong),
                _ => {}
            }
        }
        self
    }

    /// Notes or checks how wide an operand is.
    fn note_width(
        &mut self,
        field: Field,
        form: Form,
        operand: Operand,
    ) -> Result<(), EncodeError> {
        let has_width = match operand {
            // Only normal and unnamed registers come in two widths; shared ones are read as the instruction asks.
            Operand::Reg(reg) => matches!(reg.file(), File::Normal | File::Unknown),
            Operand::Imm(..) => matches!(form, Form::AluSrc16(_) | Form::MadImm13),
            _ => true,
        };
        let mut operands = self.instr.layout().operands.iter();
        let Some(wide) = operands.find(|operand| operand.field == field) else {
            return Ok(());
        };
        let width = operand.width();
        let op = self.op();
        let must = |must: Width| {
            if must == width {
                Ok(())
            } else {
                Err(EncodeError::Width {
                    op,
                    field,
                    width: must,
                })
            }
        };
        match wide.wide {
            Wide::Dest => {
                self.dest = Some(width);
                if let Operand::Reg(reg) = operand
                    && reg.number() > 247
                {
                    self.dest = None;
                }
                Ok(())
            }
            _ if !has_width => Ok(()),
            // The descriptor of a texture is checked with its mode, by nobody else.
            Wide::Full if form == Form::TexSrc3 => Ok(()),
            Wide::Full => must(Width::Full),
            Wide::Source => match self.source {
                Some(source) if self.given != !0 => must(source),
                _ => {
                    self.source = Some(width);
                    Ok(())
                }
            },
            Wide::Data => {
                self.data = Some((field, width));
                Ok(())
            }
        }
    }

    /// The instruction, if it is whole.
    ///
    /// # Errors
    /// The first error of any part; [`EncodeError::Missing`] for one that was never given; [`EncodeError::Width`] if a register
    /// has another width than the types or the other operands ask for.
    pub fn finish(self) -> Result<Instr, EncodeError> {
        let this = self.resolve_widths()?;
        this.check_given()?;
        Ok(this.instr)
    }

    /// Sets the fields that say how wide sources and destination are.
    fn resolve_widths(mut self) -> Result<Self, EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (op, layout) = (self.op(), self.instr.layout());
        let wrong = |field, width| EncodeError::Width { op, field, width };
        if let Some(width) = self.source {
            match layout.sources {
                SourceWidth::ByFull => {
                    self = self.set_bits(Field::Full, u32::from(!width.is_half()));
                }
                _ if width != self.instr.source_width() => {
                    let field = if self.instr.spec(Field::Src).is_some() {
                        Field::Src
                    } else {
                        Field::Src1
                    };
                    return Err(wrong(field, self.instr.source_width()));
                }
                _ => {}
            }
        } else if layout.sources == SourceWidth::ByFull
            && let Some(spec) = self.instr.spec(Field::Full)
            && self.given & spec.mask() == 0
            && layout.tex.is_none()
        {
            self = self.put(spec, 1);
        }
        if let Some(width) = self.dest {
            match layout.dest {
                DestWidth::ByConv => {
                    let converts = width != self.instr.source_width();
                    self = self.set_bits(Field::DstConv, u32::from(converts));
                }
                DestWidth::ByDstFull => {
                    self = self.set_bits(Field::DstFull, u32::from(!width.is_half()));
                }
                _ if width != self.instr.dest_width()
                    && self
                        .instr
                        .reg(Field::Dst)
                        .is_none_or(|reg| reg.file() == File::Normal) =>
                {
                    return Err(wrong(Field::Dst, self.instr.dest_width()));
                }
                _ => {}
            }
        }
        if let Some((field, width)) = self.data
            && width != self.instr.width_of(field)
        {
            return Err(wrong(field, self.instr.width_of(field)));
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        Ok(self)
    }

    /// Checks that nothing is missing.
    fn check_given(&self) -> Result<(), EncodeError> {
        let instr = &self.instr;
        let text = instr.text();
        for spec in instr.row().fields(instr.word) {
            let optional = match spec.kind {
                Kind::Operand(form) => match form {
                    Form::TexSrc1 | Form::TexSrc2 => instr.registers_in(spec.field) == 0,
                    Form::TexSamp4
                    | Form::TexTex7
                    | Form::TexType3
                    | Form::TexBase1
                    | Form::MemBase3
                    | Form::MemTyped1 => true,
                    _ => false,
                },
                Kind::Branch => false,
                _ => !matches!(
                    spec.field,
                    Field::SrcType | Field::DstType | Field::Type | Field::Cond | Field::Size
                ),
            };
            if !optional && instr.mentions(text, spec) && self.given & spec.mask() != spec.mask() {
                return Err(EncodeError::Missing {
                    op: instr.op,
                    field: spec.field,
                });
            }
        }
        Ok(())
    }
}
