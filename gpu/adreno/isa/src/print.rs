//! From an instruction to its text: the template that is in force, with its fields.
//!
//! Facts: hardware/ir3-isa.md section 17; hardware/data/ir3-isa.json, "text" and "operands".

use core::fmt;

use crate::codec::{Alu, Mad};
use crate::field::{Field, FieldSpec, Form, Immediate, Kind, sign_extend};
use crate::generation::Gen;
use crate::half;
use crate::instr::Instr;
use crate::register::{ConstReg, write_number};
use crate::template::{Piece, pieces};
use crate::values::{AbsNeg, AliasKind, AliasType, DescMode, FloatConst, Name, Type, Width};

/// The text of an instruction; [`Instr::display`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct Display {
    instr: Instr,
    generation: Gen,
}

impl Instr {
    /// Its text. The generation says how a texture instruction splits an immediate between texture and sampler.
    pub const fn display(&self, generation: Gen) -> Display {
        Display {
            instr: *self,
            generation,
        }
    }
}

impl fmt::Display for Display {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.instr.text();
        for piece in pieces(text) {
            match piece {
                Piece::Literal(text) => f.write_str(text)?,
                Piece::Field(field) => self.field(f, field)?,
            }
        }
        Ok(())
    }
}

impl Display {
    fn field(&self, f: &mut fmt::Formatter<'_>, field: Field) -> fmt::Result {
        let instr = &self.instr;
        let derived = match field {
            Field::Name => return f.write_str(instr.op().name()),
            Field::Half => Some((instr.source_width().is_half(), "h")),
            Field::DstHalf => Some((instr.dest_width().is_half(), "h")),
            Field::TypeHalf => Some((instr.data_width().is_half(), "h")),
            Field::S2en => Some((instr.desc_mode().is_some_and(DescMode::indirect), ".s2en")),
            Field::Uniform => Some((instr.desc_mode().is_some_and(DescMode::uniform), ".uniform")),
            Field::NonUniform => Some((
                instr.desc_mode().is_some_and(DescMode::nonuniform),
                ".nonuniform",
            )),
            Field::A1 => Some((instr.desc_mode().is_some_and(DescMode::reads_a1), ", a1.x")),
            _ => None,
        };
        if let Some((is_true, text)) = derived {
            return f.write_str(if is_true { text } else { "" });
        }
        let Some(spec) = instr.spec(field) else {
            // Templates that rows share mention modifiers that some of them lack.
            let Some(number) = instr.number(field) else {
                return Ok(());
            };
            return match field {
                Field::Off if number == 0 => Ok(()),
                Field::Off => write!(f, "{number:+}"),
                _ => write!(f, "{number}"),
            };
        };
        let bits = spec.extract(instr.word);
        match spec.kind {
            Kind::Flag(text) if bits != 0 => f.write_str(text),
            Kind::Flag(_) | Kind::Bit => Ok(()),
            Kind::Enum(names) => write_name(f, names, bits),
            Kind::Uint | Kind::Int | Kind::Branch => write!(f, "{}", spec.read(instr.word)),
            Kind::Offset | Kind::UOffset => match spec.read(instr.word) {
                0 => Ok(()),
                offset => write!(f, "{offset:+}"),
            },
            Kind::Operand(form) => self.operand(f, spec, form),
        }
    }

    fn operand(&self, f: &mut fmt::Formatter<'_>, spec: &FieldSpec, form: Form) -> fmt::Result {
        let instr = &self.instr;
        let bits = spec.extract(instr.word);
        let number = bits as u8;
        let source = instr.source_width().prefix();
        let shape = instr.tex_shape();
        let r = |field| if instr.flag(field) { "(r)" } else { "" };
        match form {
            Form::Gpr8 => write_number(f, number),
            Form::MovDst8 if instr.flag(Field::DstRel) => write_relative(f, "r", bits as i32),
            Form::MovDst8 => write_number(f, number),
            Form::MovGpr8 => {
                let last = if instr.flag(Field::Last) {
                    "(last)"
                } else {
                    ""
                };
                write!(f, "{last}{}{source}", r(Field::SrcR))?;
                write_number(f, number)
            }
            Form::MovConst11 => {
                write!(f, "{}{source}{}", r(Field::SrcR), ConstReg::of_bits(bits))
            }
            Form::MovRelGpr10 | Form::MovRelConst10 => {
                write!(f, "{}{source}", r(Field::SrcR))?;
                let file = if form == Form::MovRelGpr10 { "r" } else { "c" };
                write_relative(f, file, sign_extend(bits, 10))
            }
            Form::MovImm32 => write_mov_immediate(f, instr.type_of(Field::SrcType), bits),
            Form::MultiSrc8 => {
                f.write_str(source)?;
                write_number(f, number)
            }
            Form::MultiDst8 => {
                f.write_str(instr.dest_width().prefix())?;
                write_number(f, number)
            }
            Form::AluSrc16(advance) => self.alu(f, bits, advance),
            Form::MadSrc13 | Form::MadImm13 => match Mad::of_bits(bits) {
                Some(Mad::Reg { number, last }) => {
                    write!(f, "{}{source}", if last { "(last)" } else { "" })?;
                    write_number(f, number)
                }
                Some(Mad::ConstOrImm(value)) if form == Form::MadImm13 => write!(f, "{value}"),
                Some(Mad::ConstOrImm(value)) => write!(f, "{source}{}", ConstReg::of_bits(value)),
                Some(Mad::RelReg(offset)) => write!(f, "{source}r<a0.x + {offset}>"),
                Some(Mad::RelConst(offset)) => write!(f, "{source}c<a0.x + {offset}>"),
                None => write!(f, "{bits:#x}"),
            },
            Form::TexSrc1 if shape.sources == 0 => Ok(()),
            Form::TexSrc2 if shape.sources < 2 && !instr.flag(Field::O) => Ok(()),
            Form::TexSrc1 | Form::TexSrc2 => {
                write!(f, ", {source}")?;
                write_number(f, number)
            }
            Form::TexSrc3 => self.descriptor(f, bits),
            Form::TexSamp4 if shape.sampler => write!(f, ", s#{bits}"),
            Form::TexTex7 if shape.texture => write!(f, ", t#{bits}"),
            Form::TexSamp4 | Form::TexTex7 => Ok(()),
            Form::TexType3 if shape.typed => match Type::from_bits(bits) {
                Some(ty) => write!(f, "({ty})"),
                None => write!(f, "({bits})"),
            },
            Form::TexType3 => Ok(()),
            Form::TexBase1 => match instr.desc_mode() {
                Some(mode) if mode.bindless() => {
                    write!(f, ".base{}", instr.bindless_base())
                }
                _ => Ok(()),
            },
            Form::MemBase3 if instr.flag(Field::Bindless) => write!(f, ".base{bits}"),
            Form::MemBase3 => Ok(()),
            Form::MemSrc8(immediate) if instr.is_immediate(immediate) => write!(f, "{bits}"),
            Form::MemSrc8(Immediate::Always) => write!(f, "{bits}"),
            Form::MemAddr8 if instr.flag(Field::Src1Const) => {
                write!(f, "{}", ConstReg::of_bits(bits))
            }
            // These write the numbers of address and predicate registers as such.
            Form::MemSrc8(_) | Form::MemAddr8 => {
                let constant = ConstReg::of_bits(bits);
                write!(f, "r{}.{}", constant.number() / 4, constant.comp())
            }
            Form::MemTyped1 => f.write_str(if bits != 0 { "typed" } else { "untyped" }),
            Form::ConstDst9 => match (bits & 0x100 != 0, bits & 0xFF) {
                (false, offset) => write!(f, "{offset}"),
                (true, 0) => f.write_str("a1.x"),
                (true, offset) => write!(f, "a1.x+{offset}"),
            },
            Form::AliasSrc => self.alias(f, bits),
        }
    }

    fn alu(&self, f: &mut fmt::Formatter<'_>, bits: u32, advance: Field) -> fmt::Result {
        let instr = &self.instr;
        let operand = Alu::of_bits(bits & 0x3FFF);
        if let Some(Alu::Reg { last: true, .. }) = operand {
            f.write_str("(last)")?;
        }
        write_name(f, AbsNeg::NAMES, bits >> 14)?;
        if instr.advances(advance) {
            f.write_str("(r)")?;
        }
        let width = instr.source_width();
        let half = width.prefix();
        match operand {
            Some(Alu::Reg { number, .. }) => {
                f.write_str(half)?;
                write_number(f, number)
            }
            Some(Alu::Const(constant)) => write!(f, "{half}{constant}"),
            Some(Alu::RelReg(offset)) => {
                f.write_str(half)?;
                write_relative(f, "r", i32::from(offset))
            }
            Some(Alu::RelConst(offset)) => {
                f.write_str(half)?;
                write_relative(f, "c", i32::from(offset))
            }
            Some(Alu::Imm(value)) if width == Width::Half => write!(f, "h({value})"),
            Some(Alu::Imm(value)) => write!(f, "{value}"),
            Some(Alu::Float(index, width)) => {
                f.write_str(width.prefix())?;
                write_name(f, FloatConst::NAMES, index)
            }
            None => write!(f, "{bits:#x}"),
        }
    }

    fn descriptor(&self, f: &mut fmt::Formatter<'_>, bits: u32) -> fmt::Result {
        let Some(mode) = self.instr.desc_mode() else {
            return Ok(());
        };
        if mode.indirect() {
            write!(f, ", {}", Width::half_if(!mode.bindless()).prefix())?;
            return write_number(f, bits as u8);
        }
        let shape = self.instr.tex_shape();
        let (sampler, texture) = split_descriptor(mode, self.generation, bits);
        if let Some(sampler) = sampler.filter(|_| shape.sampler) {
            write!(f, ", s#{sampler}")?;
        }
        match texture.filter(|_| shape.texture) {
            Some(texture) => write!(f, ", t#{texture}"),
            None => Ok(()),
        }
    }

    fn alias(&self, f: &mut fmt::Formatter<'_>, bits: u32) -> fmt::Result {
        let instr = &self.instr;
        let half = instr.bits(Field::SrcType) == Some(AliasType::B16.bits());
        let prefix = Width::half_if(half).prefix();
        match instr.alias_kind() {
            AliasKind::Gpr => {
                f.write_str(prefix)?;
                write_number(f, bits as u8)
            }
            AliasKind::Const => write!(f, "{prefix}{}", ConstReg::of_bits(bits)),
            AliasKind::Imm if half => write_half(f, bits),
            AliasKind::Imm => write_float(f, f32::from_bits(bits)),
        }
    }
}

/// Sampler and texture in the immediate of a bindless texture instruction; what is missing is in a1.x.
pub(crate) fn split_descriptor(
    mode: DescMode,
    generation: Gen,
    bits: u32,
) -> (Option<u32>, Option<u32>) {
    match (mode.reads_a1(), generation) {
        (true, Gen::A6xx) => (Some(bits), None),
        (true, Gen::A7xx) => (None, Some(bits)),
        _ => (Some(bits & 0xF), Some(bits >> 4)),
    }
}

/// The immediate of a bindless texture instruction; `None` if sampler or texture don't fit.
pub(crate) fn join_descriptor(
    mode: DescMode,
    generation: Gen,
    sampler: Option<u32>,
    texture: Option<u32>,
) -> Option<u32> {
    let (low, high) = (sampler.unwrap_or(0), texture.unwrap_or(0));
    match (mode.reads_a1(), generation) {
        (true, Gen::A6xx) => texture.is_none().then_some(low),
        (true, Gen::A7xx) => sampler.is_none().then_some(high),
        _ => (low < 16 && high < 16).then_some(low | high << 4),
    }
}

fn write_name(f: &mut fmt::Formatter<'_>, names: &[Name], bits: u32) -> fmt::Result {
    match names.iter().find(|name| name.value == bits) {
        Some(name) => f.write_str(name.text),
        None => write!(f, "{bits}"),
    }
}

fn write_relative(f: &mut fmt::Formatter<'_>, file: &str, offset: i32) -> fmt::Result {
    match offset {
        0 => write!(f, "{file}<a0.x>"),
        _ => write!(f, "{file}<a0.x + {offset}>"),
    }
}

fn write_mov_immediate(f: &mut fmt::Formatter<'_>, ty: Option<Type>, bits: u32) -> fmt::Result {
    match ty {
        Some(Type::F16) => write_half(f, bits),
        Some(Type::F32) => write_float(f, f32::from_bits(bits)),
        Some(Type::U32) if bits > 0x1000 => write!(f, "{bits:#x}"),
        Some(Type::S16) => write!(f, "{}", bits as i16),
        Some(Type::S32) => write!(f, "{}", bits as i32),
        _ => write!(f, "{bits}"),
    }
}

fn write_half(f: &mut fmt::Formatter<'_>, bits: u32) -> fmt::Result {
    f.write_str("h")?;
    write_float(f, half::to_f32(bits as u16))
}

/// A float in brackets, with six digits behind the point.
fn write_float(f: &mut fmt::Formatter<'_>, value: f32) -> fmt::Result {
    if value.is_nan() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return write!(f, "({sign}nan)");
    }
    write!(f, "({value:.6})")
}
