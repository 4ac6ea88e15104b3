//! Arithmetic: which instruction each operation of the IR becomes; one line each.
//!
//! Facts: hardware/ir3-isa.md 10, 15.

use super::Selector;
use crate::ir::{Alu, InstData};
use crate::ir3::mir::{Condition, Op, Type};

impl Selector<'_> {
    /// Selects a pure operation.
    #[rustfmt::skip]
    pub(super) fn alu(&mut self, alu: Alu, data: &InstData) {
        use Condition::{Eq, Ge, Lt, Ne};
        if self.wide_alu(alu, data) {
            return;
        }
        match alu {
            Alu::IAdd                => self.add(data),
            Alu::ISub                => self.plain_op(Op::SubU, data),
            Alu::IMul                => self.multiply(data),
            Alu::UMulHigh            => self.unsigned_high(data),
            Alu::SMulHigh            => self.signed_high(data),
            Alu::INeg                => self.negate(data),
            Alu::IAbs                => self.absolute(data),
            Alu::SMin                => self.plain_op(Op::MinS, data),
            Alu::SMax                => self.plain_op(Op::MaxS, data),
            Alu::UMin                => self.plain_op(Op::MinU, data),
            Alu::UMax                => self.plain_op(Op::MaxU, data),
            Alu::UDot4x8             => self.unsigned_dot(data),
            Alu::SDot4x8             => self.signed_dot(data),

            Alu::IAnd                => self.and(data),
            Alu::IOr                 => self.or(data),
            Alu::IXor                => self.bitwise(Op::XorB, data),
            Alu::INot                => self.bitwise(Op::NotB, data),
            Alu::IShl                => self.shift(Op::ShlB, data),
            Alu::UShr                => self.shift(Op::ShrB, data),
            Alu::SShr                => self.shift(Op::AshrB, data),
            Alu::RotL                => self.rotate(data),
            Alu::BitSelect           => self.bit_select(data),
            Alu::BitCount            => self.bit_count(data),
            Alu::BitReverse          => self.plain_op(Op::BfrevB, data),
            Alu::Clz                 => self.leading_zeros(data),

            Alu::IEq | Alu::REq      => self.compare(Op::CmpsU, Eq, data),
            Alu::INe                 => self.compare(Op::CmpsU, Ne, data),
            Alu::SLt                 => self.compare(Op::CmpsS, Lt, data),
            Alu::SGe                 => self.compare(Op::CmpsS, Ge, data),
            Alu::ULt                 => self.compare(Op::CmpsU, Lt, data),
            Alu::UGe                 => self.compare(Op::CmpsU, Ge, data),
            Alu::FEq                 => self.compare(Op::CmpsF, Eq, data),
            Alu::FNe                 => self.compare(Op::CmpsF, Ne, data),
            Alu::FLt                 => self.compare(Op::CmpsF, Lt, data),
            Alu::FGe                 => self.compare(Op::CmpsF, Ge, data),

            Alu::BAnd                => self.combine(Op::AndB, data),
            Alu::BOr                 => self.combine(Op::OrB, data),
            Alu::BXor                => self.combine(Op::XorB, data),
            Alu::BNot                => self.inverse(data),
            Alu::Select              => self.choose(data),
            Alu::B2I                 => self.truth_value(data),
            Alu::B2F                 => self.convert(Type::U32, Type::F32, data),

            Alu::FAdd                => self.float(Op::AddF, data),
            Alu::FSub                => self.float_subtract(data),
            Alu::FMul                => self.float(Op::MulF, data),
            Alu::FFma                => self.float_fused(data),
            Alu::FNeg | Alu::FAbs    => self.float_sign(data),
            Alu::FMin                => self.float(Op::MinF, data),
            Alu::FMax                => self.float(Op::MaxF, data),
            Alu::FSat                => self.float_saturate(data),
            Alu::FFloor              => self.float(Op::FloorF, data),
            Alu::FCeil               => self.float(Op::CeilF, data),
            Alu::FTrunc              => self.float(Op::TruncF, data),
            Alu::FRoundEven          => self.float(Op::RndneF, data),
            Alu::FRcp                => self.special(Op::Rcp, data),
            Alu::FRsq                => self.special(Op::Rsq, data),
            Alu::FExp2               => self.special(Op::Exp2, data),
            Alu::FLog2               => self.special(Op::Log2, data),
            Alu::FSin                => self.periodic(Op::Sin, data),
            Alu::FCos                => self.periodic(Op::Cos, data),
            Alu::FLdexp              => self.scale(data),
            Alu::FrexpMant           => self.mantissa(data),
            Alu::FrexpExp            => self.exponent(data),

            Alu::U2U16               => self.convert(Type::U32, Type::U16, data),
            Alu::U2U32               => self.convert(Type::U16, Type::U32, data),
            Alu::S2S32               => self.convert(Type::S16, Type::S32, data),
            Alu::F2F16               => self.narrow_float(data),
            Alu::F2F32               => self.convert(Type::F16, Type::F32, data),
            Alu::F2I                 => self.convert(Type::F32, Type::S32, data),
            Alu::F2U                 => self.convert(Type::F32, Type::U32, data),
            Alu::I2F                 => self.convert(Type::S32, Type::F32, data),
            Alu::U2F                 => self.convert(Type::U32, Type::F32, data),
            Alu::PackHalf            => self.pack_half(data),
            Alu::HalfLow             => self.unpack_half(false, data),
            Alu::HalfHigh            => self.unpack_half(true, data),
            Alu::Pack16              => self.join_halves(data),
            Alu::FAdd2               => self.on_halves(Op::AddF, data),
            Alu::FMul2               => self.on_halves(Op::MulF, data),
            Alu::FFma2               => self.on_halves(Op::MadF16, data),
            Alu::FMin2               => self.on_halves(Op::MinF, data),
            Alu::FMax2               => self.on_halves(Op::MaxF, data),
            Alu::FSat2               => self.saturate_halves(data),
            Alu::IAdd2               => self.on_halves(Op::AddU, data),
            Alu::ISub2               => self.on_halves(Op::SubU, data),
            Alu::IMul2               => self.on_halves(Op::MulS24, data),
            Alu::IAbs2               => self.absolute_halves(data),
            Alu::SMin2               => self.on_halves(Op::MinS, data),
            Alu::SMax2               => self.on_halves(Op::MaxS, data),
            Alu::UMin2               => self.on_halves(Op::MinU, data),
            Alu::UMax2               => self.on_halves(Op::MaxU, data),
            Alu::IShl2               => self.on_halves(Op::ShlB, data),
            Alu::UShr2               => self.on_halves(Op::ShrB, data),
            Alu::SShr2               => self.on_halves(Op::AshrB, data),
            Alu::IEq2                => self.compare_halves(Op::CmpsU, Eq, data),
            Alu::SLt2                => self.compare_halves(Op::CmpsS, Lt, data),
            Alu::ULt2                => self.compare_halves(Op::CmpsU, Lt, data),
            Alu::Low64               => self.half_of_wide(0, data),
            Alu::High64              => self.half_of_wide(1, data),
            Alu::Pack64              => self.join_wide(data),

            // `Level::High`: passes have replaced them; or of a width that the lowered form has not.
            other                    => self.refuse(other.name()),
        }
    }
}
