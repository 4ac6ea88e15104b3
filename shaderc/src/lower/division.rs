//! Integer division: by constants through multiplication, else through a float reciprocal.
//!
//! Needs: constants folded, or division by them is slow.  Guarantees: no integer division is left; exact for every
//! divisor but zero, where the result is some value.  Facts: hardware/compiler-isel.md 4.4.
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Builder, Function, Op, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "division",
    what: "integer division becomes multiplication and correction",
    run,
};

/// 2^32 less 512: the reciprocal's estimate must not be too large.
const SCALE: f32 = 4_294_966_784.0;

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        let Op::Alu(alu) = data.op else { return None };
        let &[n, d] = data.args.as_slice() else {
            return None;
        };
        let value = match alu {
            Alu::UDiv => unsigned(b, n, d).0,
            Alu::UMod => unsigned(b, n, d).1,
            Alu::SDiv => signed(b, n, d).0,
            Alu::SRem => signed(b, n, d).1,
            Alu::SMod => modulus(b, n, d),
            _ => return None,
        };
        Some(vec![value])
    });
    Changed::from_bool(changed)
}

/// n - q d
fn rest(b: &mut Builder<'_>, n: Value, q: Value, d: Value) -> Value {
    let product = b.alu(Alu::IMul, &[q, d]);
    b.alu(Alu::ISub, &[n, product])
}

/// Quotient and remainder.
fn unsigned(b: &mut Builder<'_>, n: Value, d: Value) -> (Value, Value) {
    let Some(constant) = b.function.as_word(d) else {
        return unsigned_variable(b, n, d);
    };
    if constant == 0 {
        let zero = b.word(0);
        return (zero, zero);
    }
    if constant.is_power_of_two() {
        let q = b.alu_word(Alu::UShr, n, constant.trailing_zeros());
        return (q, b.alu_word(Alu::IAnd, n, constant - 1));
    }
    let q = unsigned_magic(b, n, constant);
    (q, rest(b, n, q, d))
}

/// Multiplication by 2^(32 + shift) / d, rounded up, and a shift. With e what rounding added to the multiplier times
/// d, the quotient is exact while e is at most 2^shift.
fn unsigned_magic(b: &mut Builder<'_>, n: Value, d: u32) -> Value {
    let wide = u128::from(d);
    for shift in 0..32 {
        let power = 1u128 << (32 + shift);
        let multiplier = power.div_ceil(wide);
        if multiplier >> 32 == 0 && multiplier * wide - power <= 1 << shift {
            let high = b.alu_word(Alu::UMulHigh, n, multiplier as u32);
            return b.alu_word(Alu::UShr, high, shift);
        }
    }
    // The multiplier has 33 bits: 2^32 + m. Half of the sum is formed without its carry.
    let shift = 32 - d.leading_zeros();
    let multiplier = (1u128 << (32 + shift)).div_ceil(wide) as u32;
    let high = b.alu_word(Alu::UMulHigh, n, multiplier);
    let above = b.alu(Alu::ISub, &[n, high]);
    let half = b.alu_word(Alu::UShr, above, 1);
    let sum = b.alu(Alu::IAdd, &[half, high]);
    b.alu_word(Alu::UShr, sum, shift - 1)
}

fn unsigned_variable(b: &mut Builder<'_>, n: Value, d: Value) -> (Value, Value) {
    // The float part must keep its order.
    let exact = std::mem::replace(&mut b.exact, true);
    let float = b.alu(Alu::U2F, &[d]);
    let inverse = b.alu(Alu::FRcp, &[float]);
    let scaled = b.alu_float(Alu::FMul, inverse, SCALE);
    let estimate = b.alu(Alu::F2U, &[scaled]);
    b.exact = exact;
    // One step of Newton.
    let minus = b.alu(Alu::INeg, &[d]);
    let error = b.alu(Alu::IMul, &[minus, estimate]);
    let step = b.alu(Alu::UMulHigh, &[estimate, error]);
    let reciprocal = b.alu(Alu::IAdd, &[estimate, step]);
    let mut q = b.alu(Alu::UMulHigh, &[n, reciprocal]);
    let mut r = rest(b, n, q, d);
    // The quotient is at most two too small.
    for _ in 0..2 {
        let more = b.alu(Alu::UGe, &[r, d]);
        let (next_q, next_r) = (b.alu_word(Alu::IAdd, q, 1), b.alu(Alu::ISub, &[r, d]));
        q = b.select(more, next_q, q);
        r = b.select(more, next_r, r);
    }
    (q, r)
}

/// Quotient towards zero, and remainder with the sign of n.
fn signed(b: &mut Builder<'_>, n: Value, d: Value) -> (Value, Value) {
    if let Some(constant) = b.function.as_word(d) {
        let q = signed_constant(b, n, constant as i32);
        return (q, rest(b, n, q, d));
    }
    let (n_sign, d_sign) = (b.alu_word(Alu::SShr, n, 31), b.alu_word(Alu::SShr, d, 31));
    let (n_abs, d_abs) = (b.alu(Alu::IAbs, &[n]), b.alu(Alu::IAbs, &[d]));
    let (q, r) = unsigned_variable(b, n_abs, d_abs);
    let q_sign = b.alu(Alu::IXor, &[n_sign, d_sign]);
    (with_sign(b, q, q_sign), with_sign(b, r, n_sign))
}

/// Negated where the sign word is all ones.
fn with_sign(b: &mut Builder<'_>, value: Value, sign: Value) -> Value {
    let flipped = b.alu(Alu::IXor, &[value, sign]);
    b.alu(Alu::ISub, &[flipped, sign])
}

fn signed_constant(b: &mut Builder<'_>, n: Value, d: i32) -> Value {
    let size = d.unsigned_abs();
    let q = match size {
        0 => return b.word(0),
        1 => n,
        _ if size.is_power_of_two() => {
            // Added to a negative n, so that the shift rounds towards zero.
            let bits = size.trailing_zeros();
            let sign = b.alu_word(Alu::SShr, n, 31);
            let bias = b.alu_word(Alu::UShr, sign, 32 - bits);
            let biased = b.alu(Alu::IAdd, &[n, bias]);
            b.alu_word(Alu::SShr, biased, bits)
        }
        _ => signed_magic(b, n, size),
    };
    if d < 0 { b.alu(Alu::INeg, &[q]) } else { q }
}

/// As `unsigned_magic`; since |n| is at most 2^31 the rounding may be twice as large, and 32 bits always suffice.
fn signed_magic(b: &mut Builder<'_>, n: Value, size: u32) -> Value {
    let wide = u128::from(size);
    let (mut shift, mut multiplier) = (0, 0);
    for candidate in 0..32 {
        let power = 1u128 << (32 + candidate);
        (shift, multiplier) = (candidate, power.div_ceil(wide));
        if multiplier * wide - power <= 1 << (candidate + 1) {
            break;
        }
    }
    let multiplier = multiplier as u32;
    let mut q = b.alu_word(Alu::SMulHigh, n, multiplier);
    if (multiplier as i32) < 0 {
        // As a signed number it was 2^32 too small.
        q = b.alu(Alu::IAdd, &[q, n]);
    }
    q = b.alu_word(Alu::SShr, q, shift);
    let sign = b.alu_word(Alu::SShr, n, 31);
    b.alu(Alu::ISub, &[q, sign])
}

/// Remainder with the sign of d.
fn modulus(b: &mut Builder<'_>, n: Value, d: Value) -> Value {
    if let Some(constant) = b.function.as_word(d)
        && constant.is_power_of_two()
        && constant as i32 > 0
    {
        return b.alu_word(Alu::IAnd, n, constant - 1);
    }
    let (_, r) = signed(b, n, d);
    let signs = b.alu(Alu::IXor, &[r, d]);
    let differ = b.alu_word(Alu::SLt, signs, 0);
    let not_zero = b.alu_word(Alu::INe, r, 0);
    let adjust = b.alu(Alu::BAnd, &[differ, not_zero]);
    let adjusted = b.alu(Alu::IAdd, &[r, d]);
    b.select(adjust, adjusted, r)
}
