//! Operands and their bits, both ways.
//!
//! Facts: hardware/ir3-isa.md section 3; hardware/data/ir3-isa.json, "operands".

use crate::field::{Field, Form, Immediate, sign_extend};
use crate::instr::Instr;
use crate::operand::{Dst, Operand, Src};
use crate::register::{ConstReg, Reg};
use crate::values::{AbsNeg, AliasKind, AliasType, FloatConst, Type, Width};

/// A source of category 2 or 4, apart: what bits 10 to 13 say it is.
pub(crate) enum Alu {
    Reg { number: u8, last: bool },
    Const(ConstReg),
    RelReg(i16),
    RelConst(i16),
    Imm(i16),
    Float(u32, Width),
}

impl Alu {
    /// What 14 bits say; `None` if nothing is known of them.
    pub(crate) fn of_bits(bits: u32) -> Option<Self> {
        let relative = sign_extend(bits & 0x3FF, 10) as i16;
        Some(if bits & 0x1800 == 0x1000 {
            Self::Const(ConstReg::of_bits(bits))
        } else if bits & 0x3800 == 0x2000 {
            Self::Imm(sign_extend(bits & 0x7FF, 11) as i16)
        } else if bits & 0x3C00 == 0x2800 {
            Self::Float(bits & 0x3FF, Width::Full)
        } else if bits & 0x3C00 == 0x2C00 {
            Self::Float(bits & 0x3FF, Width::Half)
        } else if bits & 0x3B00 == 0 {
            Self::Reg {
                number: bits as u8,
                last: bits & 0x400 != 0,
            }
        } else if bits & 0x3C00 == 0x0800 {
            Self::RelReg(relative)
        } else if bits & 0x3C00 == 0x0C00 {
            Self::RelConst(relative)
        } else {
            return None;
        })
    }

    /// Its bits; `None` if the operand does not fit.
    fn to_bits(operand: Operand, last: bool) -> Option<u32> {
        let last_bit = if last { 0x400 } else { 0 };
        if last && !matches!(operand, Operand::Reg(_)) {
            return None;
        }
        Some(match operand {
            Operand::Reg(reg) => u32::from(reg.number()) | last_bit,
            // Bit 13 means nothing here; as the other constants it is written as 1 on 12 alone.
            Operand::Const(constant, _) => 0x1000 | u32::from(constant.number()),
            Operand::RelReg(offset, _) => 0x0800 | signed(i32::from(offset), 10)?,
            Operand::RelConst(offset, _) => 0x0C00 | signed(i32::from(offset), 10)?,
            Operand::Imm(value, _) => 0x2000 | signed(value, 11)?,
            Operand::Float(value, Width::Full) => 0x2800 | value.bits(),
            Operand::Float(value, Width::Half) => 0x2C00 | value.bits(),
        })
    }
}

/// A source 1 or 3 of category 3, apart.
pub(crate) enum Mad {
    Reg { number: u8, last: bool },
    ConstOrImm(u32),
    RelReg(i16),
    RelConst(i16),
}

impl Mad {
    /// What 13 bits say; `None` if nothing is known of them.
    pub(crate) fn of_bits(bits: u32) -> Option<Self> {
        let relative = sign_extend(bits & 0x3FF, 10) as i16;
        Some(if bits & 0x1B00 == 0 {
            Self::Reg {
                number: bits as u8,
                last: bits & 0x400 != 0,
            }
        } else if bits & 0x1800 == 0x1000 {
            Self::ConstOrImm(bits & 0x7FF)
        } else if bits & 0x1C00 == 0x0800 {
            Self::RelReg(relative)
        } else if bits & 0x1C00 == 0x0C00 {
            Self::RelConst(relative)
        } else {
            return None;
        })
    }

    fn to_bits(operand: Operand, last: bool, immediates: bool) -> Option<u32> {
        if last && !matches!(operand, Operand::Reg(_)) {
            return None;
        }
        Some(match operand {
            Operand::Reg(reg) => u32::from(reg.number()) | if last { 0x400 } else { 0 },
            Operand::Const(constant, _) if !immediates => 0x1000 | u32::from(constant.number()),
            Operand::Imm(value, _) if immediates => {
                // Bit 11 tells constants and immediates from relative operands, so that 11 bits are left.
                0x1000 | u32::try_from(value).ok().filter(|value| *value < 0x800)?
            }
            Operand::RelReg(offset, _) => 0x0800 | signed(i32::from(offset), 10)?,
            Operand::RelConst(offset, _) => 0x0C00 | signed(i32::from(offset), 10)?,
            _ => return None,
        })
    }
}

/// `value` as `width` bits; `None` if it does not fit.
fn signed(value: i32, width: u32) -> Option<u32> {
    let limit = 1 << (width - 1);
    (-limit <= value && value < limit).then_some(value as u32 & ((1 << width) - 1))
}

/// What a source needs beside its own bits: modifiers that have bits of their own.
pub(crate) struct Encoded {
    /// The operand's bits.
    pub(crate) bits: u32,
    /// Modifiers that the bits do not hold.
    pub(crate) neg: bool,
    pub(crate) r: bool,
    pub(crate) last: bool,
}

/// The bits of a source; `None` if the form can't hold it.
pub(crate) fn encode(form: Form, src: Src) -> Option<Encoded> {
    let Src {
        operand,
        neg,
        abs,
        r,
        last,
    } = src;
    let plain = |bits| Some(Encoded { bits, neg, r, last });
    if let Form::AluSrc16(_) = form {
        let sign = u32::from(neg) | u32::from(abs) << 1;
        let bits = Alu::to_bits(operand, last)? | sign << 14;
        return Some(Encoded {
            bits,
            neg: false,
            r,
            last: false,
        });
    }
    if abs {
        return None;
    }
    let register = |operand| match operand {
        Operand::Reg(reg) => Some(u32::from(reg.number())),
        _ => None,
    };
    match (form, operand) {
        (Form::MadSrc13 | Form::MadImm13, _) => {
            let bits = Mad::to_bits(operand, last, form == Form::MadImm13)?;
            Some(Encoded {
                bits,
                neg,
                r,
                last: false,
            })
        }
        (Form::MovImm32, Operand::Imm(value, _)) => plain(value as u32),
        (Form::MovConst11, Operand::Const(constant, _)) => plain(u32::from(constant.number())),
        (Form::MovRelGpr10, Operand::RelReg(offset, _))
        | (Form::MovRelConst10, Operand::RelConst(offset, _)) => {
            plain(signed(i32::from(offset), 10)?)
        }
        (Form::MemSrc8(_), Operand::Imm(value, _)) => plain(u32::from(u8::try_from(value).ok()?)),
        (Form::MemAddr8, Operand::Const(constant, _)) => {
            plain(u32::from(u8::try_from(constant.number()).ok()?))
        }
        (
            Form::Gpr8
            | Form::MovGpr8
            | Form::MultiSrc8
            | Form::MultiDst8
            | Form::TexSrc1
            | Form::TexSrc2
            | Form::TexSrc3
            | Form::MemSrc8(_)
            | Form::MemAddr8,
            _,
        ) => plain(register(operand)?),
        _ => None,
    }
}

impl Instr {
    /// The source in this field; `None` if the instruction lacks it, or it is not a source, or reserved.
    pub fn source(&self, field: Field) -> Option<Src> {
        let spec = self.spec(field)?;
        let crate::field::Kind::Operand(form) = spec.kind else {
            return None;
        };
        let bits = spec.extract(self.word);
        let width = self.source_width();
        let reg = |width| Operand::Reg(Reg::of_number(bits as u8, width));
        let mut src = match form {
            Form::AluSrc16(r) => {
                let mut src = alu_source(bits, width)?;
                src.r = self.advances(r);
                return Some(src);
            }
            Form::MadSrc13 | Form::MadImm13 => {
                let operand = match Mad::of_bits(bits)? {
                    Mad::Reg { number, last } => {
                        let reg = Operand::Reg(Reg::of_number(number, width));
                        return Some(self.with_modifiers(
                            field,
                            Src {
                                last,
                                ..Src::new(reg)
                            },
                        ));
                    }
                    Mad::ConstOrImm(bits) if form == Form::MadImm13 => {
                        Operand::Imm(bits as i32, width)
                    }
                    Mad::ConstOrImm(bits) => Operand::Const(ConstReg::of_bits(bits), width),
                    Mad::RelReg(offset) => Operand::RelReg(offset, width),
                    Mad::RelConst(offset) => Operand::RelConst(offset, width),
                };
                Src::new(operand)
            }
            Form::MovGpr8 | Form::MultiSrc8 | Form::TexSrc1 | Form::TexSrc2 => Src::new(reg(width)),
            Form::MovConst11 => Src::new(Operand::Const(ConstReg::of_bits(bits), width)),
            Form::MovRelGpr10 => Src::new(Operand::RelReg(sign_extend(bits, 10) as i16, width)),
            Form::MovRelConst10 => Src::new(Operand::RelConst(sign_extend(bits, 10) as i16, width)),
            Form::MovImm32 => Src::new(Operand::Imm(bits as i32, width)),
            Form::Gpr8 => Src::new(reg(self.width_of(field))),
            Form::TexSrc3 => {
                let mode = self.desc_mode()?;
                if mode.indirect() {
                    Src::new(reg(Width::half_if(!mode.bindless())))
                } else {
                    Src::new(Operand::Imm(bits as i32, Width::Full))
                }
            }
            Form::MemSrc8(immediate) if self.is_immediate(immediate) => {
                Src::new(Operand::Imm(bits as i32, Width::Full))
            }
            Form::MemSrc8(_) => Src::new(reg(self.width_of(field))),
            Form::MemAddr8 if self.flag(Field::Src1Const) => {
                Src::new(Operand::Const(ConstReg::of_bits(bits), Width::Full))
            }
            Form::MemAddr8 => Src::new(reg(Width::Full)),
            Form::AliasSrc => self.alias_source(bits),
            _ => return None,
        };
        src = self.with_modifiers(field, src);
        Some(src)
    }

    /// Its sources, in the order of the text for arithmetic.
    pub fn sources(&self) -> impl Iterator<Item = Src> + use<> {
        let instr = *self;
        let fields = [
            Field::Src,
            Field::Src0,
            Field::Src1,
            Field::Src2,
            Field::Src3,
        ];
        fields
            .into_iter()
            .filter_map(move |field| instr.source(field))
    }

    /// Adds the modifiers that have bits of their own.
    fn with_modifiers(&self, field: Field, mut src: Src) -> Src {
        match field {
            Field::Src => {
                src.r = self.advances(Field::SrcR);
                src.last |= self.flag(Field::Last);
            }
            Field::Src1 => {
                src.neg = self.flag(Field::Src1Neg);
                src.r = self.advances(Field::Src1R);
            }
            Field::Src2 => {
                src.neg = self.flag(Field::Src2Neg);
                src.r = self.advances(Field::Src2R);
            }
            Field::Src3 => {
                src.neg = self.flag(Field::Src3Neg);
                src.r = self.flag(Field::Src3R);
            }
            _ => {}
        }
        src
    }

    /// True if the bit means (r), and not idle slots.
    pub(crate) fn advances(&self, r: Field) -> bool {
        self.flag(r) && !self.is_idle()
    }

    /// True if a source of category 6 is an immediate.
    pub(crate) fn is_immediate(&self, immediate: Immediate) -> bool {
        match immediate {
            Immediate::By(field) => self.flag(field),
            Immediate::ByMode => self.bits(Field::Mode) == Some(0),
            Immediate::Always => true,
        }
    }

    /// What an alias stands for. Its bits above those of a register or constant mean nothing.
    fn alias_source(&self, bits: u32) -> Src {
        let half = self.bits(Field::SrcType) == Some(AliasType::B16.bits());
        let width = Width::half_if(half);
        Src::new(match self.alias_kind() {
            AliasKind::Gpr => Operand::Reg(Reg::of_number(bits as u8, width)),
            AliasKind::Const => Operand::Const(ConstReg::of_bits(bits), width),
            AliasKind::Imm => Operand::Imm(bits as i32, width),
        })
    }

    /// What kind of thing an alias stands for; the value without a name reads as an immediate.
    pub(crate) fn alias_kind(&self) -> AliasKind {
        let kind = self.bits(Field::SrcRegType).unwrap_or(0);
        AliasKind::from_bits(kind).unwrap_or(AliasKind::Imm)
    }

    /// The destination; `None` if there is none. Multiple moves have several: [`Self::reg`].
    pub fn dest(&self) -> Option<Dst> {
        let field = if self.spec(Field::Dst0).is_some() {
            Field::Dst0
        } else {
            Field::Dst
        };
        if self.flag(Field::DstRel) {
            let offset = self.bits(field)? as u8;
            return Some(Dst::Rel(offset, self.dest_width()));
        }
        self.reg(field).map(Dst::Reg)
    }

    /// The register in this field; `None` if it holds none.
    pub fn reg(&self, field: Field) -> Option<Reg> {
        let spec = self.spec(field)?;
        let crate::field::Kind::Operand(form) = spec.kind else {
            return None;
        };
        if matches!(form, Form::MovDst8 | Form::MultiDst8) {
            let relative = form == Form::MovDst8 && self.flag(Field::DstRel);
            let reg = Reg::of_number(spec.extract(self.word) as u8, self.dest_width());
            return (!relative).then_some(reg);
        }
        match self.source(field)?.operand {
            Operand::Reg(reg) => Some(reg),
            _ => None,
        }
    }

    /// The width of the sources.
    pub fn source_width(&self) -> Width {
        use crate::layout::SourceWidth as By;
        match self.layout().sources {
            By::Half => Width::Half,
            By::Full => Width::Full,
            By::ByFull => Width::half_if(!self.flag(Field::Full)),
            By::ByType => self
                .type_of(Field::SrcType)
                .map_or(Width::Full, Type::width),
        }
    }

    /// The width of the destination.
    pub fn dest_width(&self) -> Width {
        use crate::layout::DestWidth as By;
        match self.layout().dest {
            By::Full => Width::Full,
            By::ByDstType => self
                .type_of(Field::DstType)
                .map_or(Width::Full, Type::width),
            By::ByType => self.type_of(Field::Type).map_or(Width::Full, Type::width),
            By::ByDstFull => Width::half_if(!self.flag(Field::DstFull)),
            By::ByConv if self.bits(Field::Dst).is_some_and(|number| number > 247) => Width::Full,
            By::ByConv if self.flag(Field::DstConv) => self.source_width().other(),
            By::ByConv => self.source_width(),
        }
    }

    /// The width of what is loaded, stored or sampled.
    pub fn data_width(&self) -> Width {
        self.type_of(Field::Type).map_or(Width::Full, Type::width)
    }

    /// The set of a bindless texture descriptor.
    pub(crate) fn bindless_base(&self) -> u32 {
        self.bits(Field::BaseHi).unwrap_or(0) << 1 | self.bits(Field::Base).unwrap_or(0)
    }

    /// The width of the registers in a field.
    pub(crate) fn width_of(&self, field: Field) -> Width {
        use crate::layout::Wide;
        let operands = self.layout().operands.iter();
        let mut of_field = operands.filter(|operand| operand.field == field);
        match of_field.next().map(|operand| operand.wide) {
            Some(Wide::Source) => self.source_width(),
            Some(Wide::Dest) => self.dest_width(),
            Some(Wide::Data) => self.data_width(),
            Some(Wide::Full) | None => Width::Full,
        }
    }

    /// A type in a field.
    pub fn type_of(&self, field: Field) -> Option<Type> {
        Type::from_bits(self.bits(field)?)
    }
}

/// The source that 16 bits of categories 2 and 4 say, without (r).
fn alu_source(bits: u32, width: Width) -> Option<Src> {
    let sign = AbsNeg::from_bits(bits >> 14)?;
    let mut is_last = false;
    let operand = match Alu::of_bits(bits & 0x3FFF)? {
        Alu::Reg { number, last } => {
            is_last = last;
            Operand::Reg(Reg::of_number(number, width))
        }
        Alu::Const(constant) => Operand::Const(constant, width),
        Alu::RelReg(offset) => Operand::RelReg(offset, width),
        Alu::RelConst(offset) => Operand::RelConst(offset, width),
        Alu::Imm(value) => Operand::Imm(i32::from(value), width),
        Alu::Float(index, width) => Operand::Float(FloatConst::from_bits(index)?, width),
    };
    Some(Src {
        operand,
        neg: matches!(sign, AbsNeg::Neg | AbsNeg::AbsNeg),
        abs: matches!(sign, AbsNeg::Abs | AbsNeg::AbsNeg),
        r: false,
        last: is_last,
    })
}
