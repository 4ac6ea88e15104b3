//! Arithmetic with one or two sources (category 2).
//!
//! Facts: hardware/ir3-isa.md sections 3, 4, 6, 10 and 16.

use eitri_ir3_isa::{Cond, Dst, Field, File, Op, Round, Width};

use super::{Reading, Step};
use crate::fault::FaultKind;
use crate::number::{bits, float, signed, truncate};

/// How a result in the width of the sources becomes one of the other width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Widening {
    /// As floats.
    Float,
    /// With zeros, or cut off.
    Zero,
    /// With the sign, or cut off.
    Sign,
    /// Not known.
    None,
}

impl Widening {
    pub(super) fn apply(self, value: u32, from: Width, to: Width) -> Result<u32, FaultKind> {
        if from == to {
            return Ok(value);
        }
        Ok(match self {
            // FACT: how a folded conversion of a float is rounded is not known (hardware/ir3-isa.md 6); to nearest even here. Settled
            // by narrowing a value between two halves with add.f on a device.
            Self::Float => bits(float(value, from), to, Round::Even),
            Self::Zero => truncate(value, to),
            Self::Sign => truncate(signed(value, from) as u32, to),
            Self::None => {
                return Err(FaultKind::Unknown(
                    "a conversion of the result of this operation",
                ));
            }
        })
    }
}

/// How sources are read and results converted.
const fn kind(op: Op) -> (Reading, Widening) {
    match op {
        Op::AddF | Op::MulF => (Reading::Float, Widening::Float),
        Op::CmpsF => (Reading::Float, Widening::Zero),
        Op::MinF
        | Op::MaxF
        | Op::SignF
        | Op::AbsnegF
        | Op::FloorF
        | Op::CeilF
        | Op::RndneF
        | Op::RndazF
        | Op::TruncF => (Reading::Float, Widening::None),
        Op::AbsnegS => (Reading::IntSign, Widening::Sign),
        Op::AddS | Op::SubS | Op::MinS | Op::MaxS | Op::MulS24 => (Reading::Int, Widening::Sign),
        Op::AndB
        | Op::OrB
        | Op::XorB
        | Op::ShlB
        | Op::ShrB
        | Op::AshrB
        | Op::GetbitB
        | Op::CbitsB => (Reading::Bits, Widening::Zero),
        Op::NotB => (Reading::Bits, Widening::Zero),
        _ => (Reading::Int, Widening::Zero),
    }
}

impl Step<'_> {
    pub(super) fn alu2(&mut self) -> Result<(), FaultKind> {
        let instr = self.instr;
        let (reading, widening) = kind(instr.op());
        let (dst, first) = (self.dest()?, self.field(Field::Src1)?);
        let second = instr.source(Field::Src2);
        let width = instr.source_width();
        let to_predicate = matches!(dst, Dst::Reg(reg) if reg.file() == File::Predicate);
        for repeat in 0..=instr.repeat() {
            self.each_lane(|step, lane| {
                let a = step.source(first, repeat, lane, reading)?;
                let b = match second {
                    Some(second) => step.source(second, repeat, lane, reading)?,
                    None => 0,
                };
                let value = step.operate(a, b, width)?;
                let value = if to_predicate {
                    value
                } else {
                    widening.apply(value, width, dst.width())?
                };
                step.write(dst, repeat, lane, value)
            })?;
        }
        Ok(())
    }

    fn operate(&self, a: u32, b: u32, width: Width) -> Result<u32, FaultKind> {
        let op = self.instr.op();
        let saturate = self.instr.flag(Field::Sat);
        let (x, y) = (float(a, width), float(b, width));
        let of_float = |value: f64| {
            // FACT: what (sat) makes of NaN is not known; 0 here, as Vulkan's clamp allows. Settled by saturating one on a device.
            let value = match saturate {
                true if value.is_nan() => 0.0,
                true => value.clamp(0.0, 1.0),
                false => value,
            };
            bits(value, width, Round::Even)
        };
        let (sx, sy) = (signed(a, width), signed(b, width));
        let (ux, uy) = (i64::from(a), i64::from(b));
        let shift = b % width.bits();
        let value = match op {
            Op::AddF => of_float(add(x, y, width)),
            Op::MulF => of_float(multiply(x, y, width)),
            Op::MinF => of_float(pick(x, y, x < y || (x == y && x.is_sign_negative()))),
            Op::MaxF => of_float(pick(x, y, x > y || (x == y && y.is_sign_negative()))),
            Op::SignF => of_float(match x.partial_cmp(&0.0) {
                Some(core::cmp::Ordering::Greater) => 1.0,
                Some(core::cmp::Ordering::Less) => -1.0,
                Some(core::cmp::Ordering::Equal) => 0.0,
                None => return Err(FaultKind::Unknown("the sign of NaN")),
            }),
            Op::AbsnegF => of_float(x),
            Op::FloorF => of_float(libm::floor(x)),
            Op::CeilF => of_float(libm::ceil(x)),
            Op::RndneF => of_float(libm::rint(x)),
            Op::RndazF => of_float(libm::round(x)),
            Op::TruncF => of_float(libm::trunc(x)),
            Op::CmpsF => self.compare(x, y)?,
            Op::CmpsU => self.compare(ux, uy)?,
            Op::CmpsS => self.compare(sx, sy)?,
            _ => {
                let value = match op {
                    Op::AddU => self.sum(ux + uy, (0, limit(width, false)))?,
                    Op::AddS => self.sum(sx + sy, (-limit(width, true) - 1, limit(width, true)))?,
                    Op::SubU => saturated(ux - uy, saturate, (0, limit(width, false))),
                    Op::SubS => saturated(
                        sx - sy,
                        saturate,
                        (-limit(width, true) - 1, limit(width, true)),
                    ),
                    _ if saturate => return Err(FaultKind::Unknown("(sat) of this operation")),
                    Op::MinU => ux.min(uy),
                    Op::MinS => sx.min(sy),
                    Op::MaxU => ux.max(uy),
                    Op::MaxS => sx.max(sy),
                    Op::AbsnegS => ux,
                    Op::AndB => i64::from(a & b),
                    Op::OrB => i64::from(a | b),
                    Op::XorB => i64::from(a ^ b),
                    Op::NotB => i64::from(!a),
                    Op::MulU24 => (ux & 0xFF_FFFF) * (uy & 0xFF_FFFF),
                    Op::MulS24 => sext24(a, width) * sext24(b, width),
                    Op::MullU if width == Width::Full => (ux & 0xFFFF) * (uy & 0xFFFF),
                    Op::BfrevB => i64::from(a.reverse_bits() >> (32 - width.bits())),
                    Op::ClzB => clz(a, width),
                    Op::ClzS => clz(if sx < 0 { truncate(!a, width) } else { a }, width),
                    Op::ShlB => i64::from(a) << shift,
                    Op::ShrB => i64::from(a >> shift),
                    Op::AshrB => sx >> shift,
                    Op::GetbitB => i64::from(a >> shift & 1),
                    Op::CbitsB if width == Width::Half => i64::from(a.count_ones()),
                    Op::CbitsB => return Err(FaultKind::Unknown("bit counts of full registers")),
                    Op::BaryF | Op::FlatB => return Err(FaultKind::NotModelled("varyings")),
                    _ => return Err(FaultKind::Unknown("this operation")),
                };
                truncate(value as u32, width)
            }
        };
        Ok(value)
    }

    /// A sum, halved by (ei), saturated by (sat).
    fn sum(&self, sum: i64, range: (i64, i64)) -> Result<i64, FaultKind> {
        let saturate = self.instr.flag(Field::Sat);
        match (self.instr.flag(Field::Ei), saturate) {
            (true, true) => Err(FaultKind::Unknown("(sat) and (ei) of one addition")),
            (true, false) => Ok(sum >> 1),
            (false, _) => Ok(saturated(sum, saturate, range)),
        }
    }

    fn compare<T: PartialOrd>(&self, a: T, b: T) -> Result<u32, FaultKind> {
        let cond = self
            .instr
            .cond()
            .ok_or(FaultKind::Unknown("this condition"))?;
        Ok(u32::from(match cond {
            Cond::Lt => a < b,
            Cond::Le => a <= b,
            Cond::Gt => a > b,
            Cond::Ge => a >= b,
            Cond::Eq => a == b,
            Cond::Ne => a != b,
        }))
    }
}

/// Sums and products of 32 bits are rounded once, from what is exact; those of 16 bits are exact in 64.
fn add(x: f64, y: f64, width: Width) -> f64 {
    match width {
        Width::Full => f64::from(x as f32 + y as f32),
        Width::Half => x + y,
    }
}

fn multiply(x: f64, y: f64, width: Width) -> f64 {
    match width {
        Width::Full => f64::from(x as f32 * y as f32),
        Width::Half => x * y,
    }
}

/// One of two floats; if one is NaN, the other.
fn pick(x: f64, y: f64, first: bool) -> f64 {
    // FACT: what min and max make of NaN is not known (hardware/ir3-isa.md 10); the other operand here. Settled by running them on a
    // device.
    if y.is_nan() || (first && !x.is_nan()) {
        x
    } else {
        y
    }
}

fn saturated(value: i64, saturate: bool, (least, greatest): (i64, i64)) -> i64 {
    if saturate {
        value.clamp(least, greatest)
    } else {
        value
    }
}

/// The greatest number of a width.
fn limit(width: Width, signed: bool) -> i64 {
    (1 << (width.bits() - u32::from(signed))) - 1
}

/// The low 24 bits with their sign; all of a half.
pub(super) fn sext24(value: u32, width: Width) -> i64 {
    match width {
        Width::Full => i64::from((value << 8) as i32 >> 8),
        Width::Half => signed(value, width),
    }
}

/// Leading zeros; -1 if there is no one.
fn clz(value: u32, width: Width) -> i64 {
    match value {
        0 => -1,
        _ => i64::from(value.leading_zeros()) - i64::from(32 - width.bits()),
    }
}
