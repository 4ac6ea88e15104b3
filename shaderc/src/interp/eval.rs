//! What each pure operation computes: written once, for the interpreter and for constant folding.
//!
//! Needs: operands as bits, booleans as 0 or 1.  Guarantees: exhaustive; never panics, whatever the operands.
//! Facts: hardware/compiler-correctness.md 1 and 2.
use super::{float, half};
use crate::ir::Alu;

/// Computes an operation. Operands beyond those it has are ignored.
#[rustfmt::skip]
pub fn eval(alu: Alu, args: [u32; 4]) -> u32 {
    let [a, b, c, d] = args;
    let (sa, sb) = (a as i32, b as i32);
    let (fa, fb, fc) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
    // Transcendental functions are computed in binary64 and rounded once.
    let wide = f64::from(fa);
    let f = f32::to_bits;
    match alu {
        Alu::IAdd        => a.wrapping_add(b),
        Alu::ISub        => a.wrapping_sub(b),
        Alu::IMul        => a.wrapping_mul(b),
        Alu::UMulHigh    => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        Alu::SMulHigh    => ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
        Alu::INeg        => a.wrapping_neg(),
        Alu::IAbs        => sa.wrapping_abs() as u32,
        Alu::SMin        => sa.min(sb) as u32,
        Alu::SMax        => sa.max(sb) as u32,
        Alu::UMin        => a.min(b),
        Alu::UMax        => a.max(b),
        Alu::UDiv        => a.checked_div(b).unwrap_or(0),
        Alu::UMod        => a.checked_rem(b).unwrap_or(0),
        Alu::SDiv        => if b == 0 { 0 } else { sa.wrapping_div(sb) as u32 },
        Alu::SRem        => if b == 0 { 0 } else { sa.wrapping_rem(sb) as u32 },
        Alu::SMod        => smod(sa, sb) as u32,
        Alu::SSign       => sa.signum() as u32,
        Alu::UDot4x8     => dot(a, b, c, i32::from),
        Alu::SDot4x8     => dot(a, b, c, |byte| i32::from(byte as i8)),
        Alu::IAnd        => a & b,
        Alu::IOr         => a | b,
        Alu::IXor        => a ^ b,
        Alu::INot        => !a,
        Alu::IShl        => a.wrapping_shl(b),
        Alu::UShr        => a.wrapping_shr(b),
        Alu::SShr        => sa.wrapping_shr(b) as u32,
        Alu::RotL        => a.rotate_left(b & 31),
        Alu::BitSelect   => (b & a) | (c & !a),
        Alu::BitCount    => a.count_ones(),
        Alu::BitReverse  => a.reverse_bits(),
        Alu::Clz         => a.leading_zeros(),
        Alu::FindLsb     => if a == 0 { u32::MAX } else { a.trailing_zeros() },
        Alu::UFindMsb    => 31u32.wrapping_sub(a.leading_zeros()),
        Alu::SFindMsb    => 31u32.wrapping_sub((if sa < 0 { !a } else { a }).leading_zeros()),
        Alu::BitInsert   => {
            let mask = low_bits(d).wrapping_shl(c);
            (a & !mask) | (b.wrapping_shl(c) & mask)
        }
        Alu::UBitExtract => a.wrapping_shr(b) & low_bits(c),
        Alu::SBitExtract => {
            let up = 32u32.wrapping_sub(b).wrapping_sub(c);
            if c == 0 { 0 } else { (a.wrapping_shl(up) as i32).wrapping_shr(32u32.wrapping_sub(c)) as u32 }
        }
        Alu::IEq         => (a == b).into(),
        Alu::INe         => (a != b).into(),
        Alu::SLt         => (sa < sb).into(),
        Alu::SGe         => (sa >= sb).into(),
        Alu::ULt         => (a < b).into(),
        Alu::UGe         => (a >= b).into(),
        Alu::FEq         => (fa == fb).into(),
        Alu::FNe         => (fa != fb).into(),
        Alu::FLt         => (fa < fb).into(),
        Alu::FGe         => (fa >= fb).into(),
        Alu::BAnd        => a & b,
        Alu::BOr         => a | b,
        Alu::BXor        => a ^ b,
        Alu::BNot        => a ^ 1,
        Alu::Select      => if a != 0 { b } else { c },
        Alu::B2I         => a,
        Alu::B2F         => if a != 0 { f(1.0) } else { f(0.0) },
        Alu::FAdd        => f(fa + fb),
        Alu::FSub        => f(fa - fb),
        Alu::FMul        => f(fa * fb),
        Alu::FFma        => f(fa.mul_add(fb, fc)),
        Alu::FNeg        => a ^ 0x8000_0000,
        Alu::FAbs        => a & 0x7fff_ffff,
        Alu::FMin        => f(float::min(fa, fb)),
        Alu::FMax        => f(float::max(fa, fb)),
        Alu::FSat        => f(float::min(float::max(fa, 0.0), 1.0)),
        Alu::FFloor      => f(fa.floor()),
        Alu::FCeil       => f(fa.ceil()),
        Alu::FTrunc      => f(fa.trunc()),
        Alu::FRoundEven  => f(fa.round_ties_even()),
        Alu::FRcp        => f(1.0 / fa),
        Alu::FRsq        => f((1.0 / wide.sqrt()) as f32),
        Alu::FExp2       => f(wide.exp2() as f32),
        Alu::FLog2       => f(wide.log2() as f32),
        Alu::FSin        => f(wide.sin() as f32),
        Alu::FCos        => f(wide.cos() as f32),
        Alu::FLdexp      => f(float::ldexp(fa, sb)),
        Alu::FrexpMant   => f(float::frexp(fa).0),
        Alu::FrexpExp    => float::frexp(fa).1 as u32,
        Alu::FDiv        => f(fa / fb),
        Alu::FSqrt       => f(fa.sqrt()),
        Alu::FFract      => f(fa - fa.floor()),
        Alu::FSign       => f(float::sign(fa)),
        Alu::FMod        => f(fa - fb * (fa / fb).floor()),
        Alu::FRem        => f(fa - fb * (fa / fb).trunc()),
        Alu::F2I         => (fa as i32) as u32,
        Alu::F2U         => fa as u32,
        Alu::I2F         => f(sa as f32),
        Alu::U2F         => f(a as f32),
        Alu::PackHalf    => u32::from(half::from_f32(fa)) | u32::from(half::from_f32(fb)) << 16,
        Alu::HalfLow     => f(half::to_f32(a as u16)),
        Alu::HalfHigh    => f(half::to_f32((a >> 16) as u16)),
        Alu::FQuantize16 => quantize16(fa),
    }
}

/// The low bits set: none for 0, all for 32 and more.
fn low_bits(count: u32) -> u32 {
    1u32.checked_shl(count).map_or(u32::MAX, |bit| bit - 1)
}

/// Remainder with the divisor's sign; 0 for a zero divisor.
fn smod(a: i32, b: i32) -> i32 {
    if b == 0 {
        return 0;
    }
    let rem = a.wrapping_rem(b);
    if rem != 0 && (rem < 0) != (b < 0) {
        rem.wrapping_add(b)
    } else {
        rem
    }
}

fn dot(a: u32, b: u32, c: u32, extend: impl Fn(u8) -> i32) -> u32 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.fold(c, |sum, (a, b)| {
        sum.wrapping_add((extend(a) * extend(b)) as u32)
    })
}

fn quantize16(value: f32) -> u32 {
    let half = half::from_f32(value);
    let flushed = if half & 0x7c00 == 0 {
        half & 0x8000
    } else {
        half
    };
    half::to_f32(flushed).to_bits()
}
