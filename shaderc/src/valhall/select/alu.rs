//! Arithmetic: which instruction each operation of the IR becomes; one line each.
//!
//! Facts: hardware/compiler-isel.md 4.

use super::Selector;
use super::boolean::Compare;
use crate::ir::{Alu, InstData, Type};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{Modifier, Op};

impl Selector<'_> {
    /// Selects a pure operation.
    pub(super) fn alu(&mut self, alu: Alu, data: &InstData) -> Result<(), Unsupported> {
        if self.ir.ty(data.results[0]) == Type::W64 && alu != Alu::Pack64 {
            return self.wide_alu(alu, data);
        }
        if let Some(compare) = Compare::of(alu) {
            self.compare(compare, data);
            return Ok(());
        }
        match alu {
            Alu::IAdd => self.add(data),
            Alu::ISub => self.integer([Op::ISub, Op::ISubS], data),
            Alu::IMul => self.integer([Op::IMul, Op::IMulS], data),
            Alu::UMulHigh => self.unsigned_high(data),
            Alu::SMulHigh => self.signed_high(data),
            Alu::INeg => self.negate(data),
            Alu::IAbs => self.absolute(data),
            Alu::SMin => self.minimum(Op::CselS, Modifier::Lt, data),
            Alu::SMax => self.minimum(Op::CselS, Modifier::Gt, data),
            Alu::UMin => self.minimum(Op::CselU, Modifier::Lt, data),
            Alu::UMax => self.minimum(Op::CselU, Modifier::Gt, data),
            Alu::UDot4x8 => self.ternary(Op::DotU, data),
            Alu::SDot4x8 => self.ternary(Op::DotS, data),
            Alu::IAnd | Alu::IOr | Alu::IXor | Alu::INot | Alu::IShl | Alu::UShr | Alu::SShr | Alu::RotL => {
                self.bitwise(alu, data);
            }
            Alu::BitSelect => self.bit_select(data),
            Alu::BitCount => self.unary(Op::PopCount, data),
            Alu::BitReverse => self.unary(Op::BitRev, data),
            Alu::Clz => self.unary(Op::Clz, data),
            Alu::BAnd => self.conjunction(data),
            Alu::BOr => self.disjunction(data),
            Alu::BXor => self.difference(data),
            Alu::BNot => self.inverse(data),
            Alu::Select => self.choose(data),
            Alu::B2I => self.truth_value(Modifier::ResultInt, data),
            Alu::B2F => self.truth_value(Modifier::ResultFloat, data),
            Alu::FAdd | Alu::FSub => self.float_add(alu == Alu::FSub, data),
            Alu::FMul => self.float_multiply(data),
            Alu::FFma => self.float_fused(data),
            Alu::FNeg | Alu::FAbs => self.float_sign(data),
            Alu::FSat => self.float_saturate(data),
            Alu::FMin => self.float_extreme(Op::FMin, data),
            Alu::FMax => self.float_extreme(Op::FMax, data),
            Alu::FFloor => self.float_unary(Op::FRound, &[Modifier::RoundDown], data),
            Alu::FCeil => self.float_unary(Op::FRound, &[Modifier::RoundUp], data),
            Alu::FTrunc => self.float_unary(Op::FRound, &[Modifier::RoundZero], data),
            Alu::FRoundEven => self.float_unary(Op::FRound, &[], data),
            Alu::FRcp => self.float_unary(Op::FRcp, &[], data),
            Alu::FRsq => self.float_unary(Op::FRsq, &[], data),
            Alu::FrexpMant => self.unary(Op::FrexpM, data),
            Alu::FrexpExp => self.unary(Op::FrexpE, data),
            Alu::FExp2 => self.exp2(data),
            Alu::FLog2 => self.log2(data),
            Alu::FSin => self.sine(data),
            Alu::FCos => self.cosine(data),
            Alu::FLdexp => self.scale(data),
            Alu::F2I => self.float_to_integer(Op::F32ToS32, data),
            Alu::F2U => self.float_to_integer(Op::F32ToU32, data),
            Alu::I2F => self.signed_to_float(data),
            Alu::U2F => self.unsigned_to_float(data),
            Alu::PackHalf => self.pack_half(data),
            Alu::HalfLow | Alu::HalfHigh => self.half_to_float(data),
            Alu::Pack16 => self.join_halves(data),
            Alu::FAdd2 => self.on_halves(Op::FAdd2, data),
            Alu::FMul2 => self.multiply_halves(data),
            Alu::FFma2 => self.on_halves(Op::Fma2, data),
            Alu::FMin2 => self.on_halves(Op::FMin2, data),
            Alu::FMax2 => self.on_halves(Op::FMax2, data),
            Alu::FSat2 => self.saturate_halves(data),
            Alu::IAdd2 => self.integers_of_halves(Op::IAdd2, data),
            Alu::ISub2 => self.integers_of_halves(Op::ISub2, data),
            Alu::IMul2 => self.integers_of_halves(Op::IMul2, data),
            Alu::IAbs2 => self.integers_of_halves(Op::IAbs2, data),
            Alu::SMin2 => self.minimum(Op::CselS2, Modifier::Lt, data),
            Alu::SMax2 => self.minimum(Op::CselS2, Modifier::Gt, data),
            Alu::UMin2 => self.minimum(Op::CselU2, Modifier::Lt, data),
            Alu::UMax2 => self.minimum(Op::CselU2, Modifier::Gt, data),
            Alu::IShl2 => self.shift_halves(Op::LShiftOr2, data),
            Alu::UShr2 => self.shift_halves(Op::RShiftOr2, data),
            Alu::SShr2 => self.shift_halves(Op::ARShiftOr2, data),
            Alu::IEq2 | Alu::SLt2 | Alu::ULt2 => self.compare_halves(alu, data),
            // Those that read it take the halves.
            Alu::Pack64 => {}
            Alu::Low64 | Alu::High64 => self.half_of_wide(alu == Alu::High64, data),
            // `Compare::of` has taken these.
            Alu::REq
            | Alu::IEq
            | Alu::INe
            | Alu::SLt
            | Alu::SGe
            | Alu::ULt
            | Alu::UGe
            | Alu::FEq
            | Alu::FNe
            | Alu::FLt
            | Alu::FGe
            // A pass in `lower` has replaced these.
            | Alu::UDiv
            | Alu::UMod
            | Alu::SDiv
            | Alu::SRem
            | Alu::SMod
            | Alu::SSign
            | Alu::FindLsb
            | Alu::UFindMsb
            | Alu::SFindMsb
            | Alu::BitInsert
            | Alu::UBitExtract
            | Alu::SBitExtract
            | Alu::FDiv
            | Alu::FSqrt
            | Alu::FFract
            | Alu::FSign
            | Alu::FMod
            | Alu::FRem
            | Alu::FQuantize16
            | Alu::U2U8
            | Alu::U2U16
            | Alu::U2U32
            | Alu::U2U64
            | Alu::S2S16
            | Alu::S2S32
            | Alu::S2S64
            | Alu::F2F16
            | Alu::F2F32
            | Alu::F2S64
            | Alu::F2U64
            | Alu::S64ToF
            | Alu::U64ToF => return Err(self.unsupported(alu.name())),
        }
        Ok(())
    }
}
