//! What each pure operation computes: written once, for the interpreter and for constant folding.
//!
//! Needs: operands as bits, booleans as 0 or 1, words with nothing above their width.  Guarantees: exhaustive; never
//! panics, whatever the operands; the result has nothing above its width.
//! Facts: hardware/compiler-correctness.md 1 and 2.
use super::{float, half};
use crate::ir::{Alu, Type};

/// Computes an operation at a width: the type of its operands of kinds I and F, or of those of kind N. Operands beyond
/// those that it has are ignored.
#[rustfmt::skip]
pub fn eval(alu: Alu, width: Type, args: [u64; 4]) -> u64 {
    let [a, b, c, d] = args;
    let bits = width.bits();
    // Any amount: modulo the width.
    let by = |amount: u64| (amount as u32) % bits;
    let (sa, sb) = (signed(a, bits), signed(b, bits));
    // Floats of 16 bits are computed in binary32 and rounded.
    let float = |value: u64| match width {
        Type::W16 => half::to_f32(value as u16),
        _ => f32::from_bits(value as u32),
    };
    let (fa, fb, fc) = (float(a), float(b), float(c));
    // Transcendental functions are computed in binary64 and rounded once.
    let wide = f64::from(fa);
    // Which NaN an operation gives is nobody's business: always the same, so that two ways to one result agree.
    let one_nan = |value: f32| if value.is_nan() { f32::NAN } else { value };
    let f32_bits = |value: f32| u64::from(one_nan(value).to_bits());
    let f16_bits = |value: f32| u64::from(half::from_f32(one_nan(value)));
    let f = |value: f32| match width {
        Type::W16 => f16_bits(value),
        _ => f32_bits(value),
    };
    // Those that have only one width.
    let (a32, b32, c32) = (a as u32, b as u32, c as u32);
    let f32_of = |value: u64| f32::from_bits(value as u32);
    let sign = 1u64 << (bits - 1);
    let result = match alu {
        Alu::IAdd        => a.wrapping_add(b),
        Alu::ISub        => a.wrapping_sub(b),
        Alu::IMul        => a.wrapping_mul(b),
        Alu::UMulHigh    => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        Alu::SMulHigh    => ((i128::from(sa) * i128::from(sb)) >> bits) as u64,
        Alu::INeg        => a.wrapping_neg(),
        Alu::IAbs        => sa.unsigned_abs(),
        Alu::SMin        => sa.min(sb) as u64,
        Alu::SMax        => sa.max(sb) as u64,
        Alu::UMin        => a.min(b),
        Alu::UMax        => a.max(b),
        Alu::UDiv        => a.checked_div(b).unwrap_or(0),
        Alu::UMod        => a.checked_rem(b).unwrap_or(0),
        Alu::SDiv        => if b == 0 { 0 } else { sa.wrapping_div(sb) as u64 },
        Alu::SRem        => if b == 0 { 0 } else { sa.wrapping_rem(sb) as u64 },
        Alu::SMod        => smod(sa, sb) as u64,
        Alu::SSign       => sa.signum() as u64,
        Alu::UDot4x8     => dot(a32, b32, c32, i32::from).into(),
        Alu::SDot4x8     => dot(a32, b32, c32, |byte| i32::from(byte as i8)).into(),
        Alu::IAnd        => a & b,
        Alu::IOr         => a | b,
        Alu::IXor        => a ^ b,
        Alu::INot        => !a,
        Alu::IShl        => a << by(b),
        Alu::UShr        => a >> by(b),
        Alu::SShr        => (sa >> by(b)) as u64,
        Alu::RotL        => a32.rotate_left(b32 & 31).into(),
        Alu::BitSelect   => (b & a) | (c & !a),
        Alu::BitCount    => a.count_ones().into(),
        Alu::BitReverse  => a.reverse_bits() >> (64 - bits),
        Alu::Clz         => zeros(a, bits).into(),
        Alu::FindLsb     => if a == 0 { ALL } else { a.trailing_zeros().into() },
        Alu::UFindMsb    => last(a, bits),
        Alu::SFindMsb    => last(if sa < 0 { !a & width.mask() } else { a }, bits),
        Alu::BitInsert   => {
            let mask = low_bits(d) << by(c);
            (a & !mask) | ((b << by(c)) & mask)
        }
        Alu::UBitExtract => (a >> by(b)) & low_bits(c),
        Alu::SBitExtract => match c as u32 {
            0 => 0,
            count => {
                let up = bits.wrapping_sub(b32).wrapping_sub(count) % bits;
                (signed(a << up, bits) >> (bits.wrapping_sub(count) % bits)) as u64
            }
        },
        Alu::IEq | Alu::REq => (a == b).into(),
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
        Alu::B2F         => if a != 0 { f32_bits(1.0) } else { f32_bits(0.0) },
        Alu::FAdd        => f(fa + fb),
        Alu::FSub        => f(fa - fb),
        Alu::FMul        => f(fa * fb),
        Alu::FFma        => match width {
            Type::W16 if fa.mul_add(fb, fc).is_nan() => f(f32::NAN),
            Type::W16 => half::fused(fa, fb, fc).into(),
            _ => f(fa.mul_add(fb, fc)),
        },
        Alu::FNeg        => a ^ sign,
        Alu::FAbs        => a & !sign,
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
        Alu::FLdexp      => f(float::ldexp(fa, b32 as i32)),
        Alu::FrexpMant   => f(float::frexp(fa).0),
        Alu::FrexpExp    => u64::from(float::frexp(fa).1 as u32),
        Alu::FDiv        => f(fa / fb),
        Alu::FSqrt       => f(fa.sqrt()),
        Alu::FFract      => f(fa - fa.floor()),
        Alu::FSign       => f(float::sign(fa)),
        Alu::FMod        => f(fa - fb * (fa / fb).floor()),
        Alu::FRem        => f(fa - fb * (fa / fb).trunc()),
        Alu::F2I         => u64::from((f32_of(a) as i32) as u32),
        Alu::F2U         => (f32_of(a) as u32).into(),
        Alu::I2F         => f32_bits((a32 as i32) as f32),
        Alu::U2F         => f32_bits(a32 as f32),
        Alu::PackHalf    => f16_bits(f32_of(a)) | f16_bits(f32_of(b)) << 16,
        Alu::HalfLow     => f32_bits(half::to_f32(a as u16)),
        Alu::HalfHigh    => f32_bits(half::to_f32((a >> 16) as u16)),
        Alu::Pack16      => a & 0xffff | (b & 0xffff) << 16,
        Alu::FAdd2       => in_halves(Alu::FAdd, args),
        Alu::FMul2       => in_halves(Alu::FMul, args),
        Alu::FFma2       => in_halves(Alu::FFma, args),
        Alu::FMin2       => in_halves(Alu::FMin, args),
        Alu::FMax2       => in_halves(Alu::FMax, args),
        Alu::FSat2       => in_halves(Alu::FSat, args),
        Alu::IAdd2       => in_halves(Alu::IAdd, args),
        Alu::ISub2       => in_halves(Alu::ISub, args),
        Alu::IMul2       => in_halves(Alu::IMul, args),
        Alu::IAbs2       => in_halves(Alu::IAbs, args),
        Alu::SMin2       => in_halves(Alu::SMin, args),
        Alu::SMax2       => in_halves(Alu::SMax, args),
        Alu::UMin2       => in_halves(Alu::UMin, args),
        Alu::UMax2       => in_halves(Alu::UMax, args),
        Alu::IShl2       => in_halves(Alu::IShl, args),
        Alu::UShr2       => in_halves(Alu::UShr, args),
        Alu::SShr2       => in_halves(Alu::SShr, args),
        Alu::IEq2        => 0xffff * in_halves(Alu::IEq, args),
        Alu::SLt2        => 0xffff * in_halves(Alu::SLt, args),
        Alu::ULt2        => 0xffff * in_halves(Alu::ULt, args),
        Alu::FQuantize16 => f32_bits(quantize16(f32_of(a))),
        Alu::U2U8 | Alu::U2U16 | Alu::U2U32 | Alu::U2U64 | Alu::Low64 => a,
        Alu::S2S16 | Alu::S2S32 | Alu::S2S64 => sa as u64,
        Alu::Pack64      => a | b << 32,
        Alu::High64      => a >> 32,
        Alu::F2F16       => f16_bits(f32_of(a)),
        Alu::F2F32       => f32_bits(half::to_f32(a as u16)),
        Alu::F2S64       => (f32_of(a) as i64) as u64,
        Alu::F2U64       => f32_of(a) as u64,
        Alu::S64ToF      => f32_bits((a as i64) as f32),
        Alu::U64ToF      => f32_bits(a as f32),
    };
    result & alu.result().ty().unwrap_or(width).mask()
}

/// An operation on the low halves of words, and on the high ones.
fn in_halves(alu: Alu, args: [u64; 4]) -> u64 {
    let half = |shift: u32| eval(alu, Type::W16, args.map(|word| (word >> shift) & 0xffff));
    half(0) | half(16) << 16
}

/// -1 of 32 bits.
const ALL: u64 = u32::MAX as u64;

/// A word of so many bits as a signed number.
fn signed(word: u64, bits: u32) -> i64 {
    (word << (64 - bits)).cast_signed() >> (64 - bits)
}

/// Leading zeros of a word of so many bits.
fn zeros(word: u64, bits: u32) -> u32 {
    word.leading_zeros() - (64 - bits)
}

/// Number of the highest set bit; -1 of 32 bits for none.
fn last(word: u64, bits: u32) -> u64 {
    match bits - zeros(word, bits) {
        0 => ALL,
        count => u64::from(count - 1),
    }
}

/// The low bits set: none for 0, all for 64 and more.
fn low_bits(count: u64) -> u64 {
    1u64.checked_shl(count as u32)
        .map_or(u64::MAX, |bit| bit - 1)
}

/// Remainder with the divisor's sign; 0 for a zero divisor.
fn smod(a: i64, b: i64) -> i64 {
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

fn quantize16(value: f32) -> f32 {
    let half = half::from_f32(value);
    let flushed = if half & 0x7c00 == 0 {
        half & 0x8000
    } else {
        half
    };
    half::to_f32(flushed)
}
