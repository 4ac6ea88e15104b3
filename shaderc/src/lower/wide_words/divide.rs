//! Division of pairs: through a reciprocal in fixed point, from an estimate in binary32 that is made exact by Newton's
//! method.
//!
//! With r below 2^64 / d by at most three, the quotient n r / 2^64 is at most three too small. The estimate is too small
//! by less than one part in 2^19; each step squares that and rounds down by less than one, so after two steps r is right
//! within three.  Facts: hardware/compiler-isel.md 4.4, 5.
use super::{Pair, arithmetic, bits};
use crate::ir::{Alu, Builder};

/// 2^64 less one part in 2^20: the estimate must not be too large.
const SCALE: f32 = 18_446_744_073_709_551_616.0 * (1.0 - 1.0 / 1_048_576.0);
/// 2^32 and its reciprocal.
const WORD: f32 = 4_294_967_296.0;

/// A quotient or remainder by its operation; by zero some value.
pub(super) fn divide(b: &mut Builder<'_>, alu: Alu, n: Pair, d: Pair) -> Pair {
    match alu {
        Alu::UDiv => unsigned(b, n, d).0,
        Alu::UMod => unsigned(b, n, d).1,
        _ => {
            let [n_sign, d_sign] = [n, d].map(|pair| b.alu_word(Alu::SShr, pair[1], 31));
            let n_abs = arithmetic::with_sign(b, n, n_sign);
            let d_abs = arithmetic::with_sign(b, d, d_sign);
            let (q, r) = unsigned(b, n_abs, d_abs);
            if alu == Alu::SDiv {
                let sign = b.alu(Alu::IXor, &[n_sign, d_sign]);
                return arithmetic::with_sign(b, q, sign);
            }
            let r = arithmetic::with_sign(b, r, n_sign);
            match alu {
                Alu::SRem => r,
                _ => modulus(b, r, d),
            }
        }
    }
}

/// The remainder with the sign of d, from that with the sign of n.
fn modulus(b: &mut Builder<'_>, r: Pair, d: Pair) -> Pair {
    let signs = b.alu(Alu::IXor, &[r[1], d[1]]);
    let differ = b.alu_word(Alu::SLt, signs, 0);
    let any = b.alu(Alu::IOr, &r);
    let not_zero = b.alu_word(Alu::INe, any, 0);
    let adjust = b.alu(Alu::BAnd, &[differ, not_zero]);
    let adjusted = arithmetic::add(b, r, d);
    arithmetic::select(b, adjust, adjusted, r)
}

fn constant(b: &Builder<'_>, pair: Pair) -> Option<u64> {
    let [low, high] = pair.map(|half| b.function.as_word(half));
    Some(u64::from(low?) | u64::from(high?) << 32)
}

fn words(b: &mut Builder<'_>, number: u64) -> Pair {
    [b.word(number as u32), b.word((number >> 32) as u32)]
}

/// Quotient and remainder.
fn unsigned(b: &mut Builder<'_>, n: Pair, d: Pair) -> (Pair, Pair) {
    let (reciprocal, short) = match constant(b, d) {
        Some(0) => {
            let zero = words(b, 0);
            return (zero, zero);
        }
        Some(power) if power.is_power_of_two() => {
            let by = b.word(power.trailing_zeros());
            let mask = words(b, power - 1);
            let rest = [0, 1].map(|half| b.alu(Alu::IAnd, &[n[half], mask[half]]));
            return (bits::right(b, Alu::UShr, n, by), rest);
        }
        // Rounded down: the quotient is at most one too small.
        Some(known) => (words(b, ((1u128 << 64) / u128::from(known)) as u64), 1),
        None => (estimate(b, d), 3),
    };
    let mut q = arithmetic::unsigned_high(b, n, reciprocal);
    let product = arithmetic::multiply(b, q, d);
    let mut r = arithmetic::subtract(b, n, product);
    for _ in 0..short {
        let more = arithmetic::compare(b, Alu::UGe, r, d);
        let one = words(b, 1);
        let (next_q, next_r) = (arithmetic::add(b, q, one), arithmetic::subtract(b, r, d));
        q = arithmetic::select(b, more, next_q, q);
        r = arithmetic::select(b, more, next_r, r);
    }
    (q, r)
}

/// 2^64 / d, less at most three.
fn estimate(b: &mut Builder<'_>, d: Pair) -> Pair {
    // The float part must keep its order.
    let exact = std::mem::replace(&mut b.exact, true);
    let [low, high] = d.map(|half| b.alu(Alu::U2F, &[half]));
    let word = b.float(WORD);
    let float = b.alu(Alu::FFma, &[high, word, low]);
    let inverse = b.alu(Alu::FRcp, &[float]);
    let scaled = b.alu_float(Alu::FMul, inverse, SCALE);
    // Split into words; the rest is exact.
    let above = b.alu_float(Alu::FMul, scaled, 1.0 / WORD);
    let above = b.alu(Alu::FTrunc, &[above]);
    let minus = b.float(-WORD);
    let rest = b.alu(Alu::FFma, &[above, minus, scaled]);
    let mut r = [rest, above].map(|part| b.alu(Alu::F2U, &[part]));
    b.exact = exact;
    let minus = arithmetic::negate(b, d);
    for _ in 0..2 {
        let error = arithmetic::multiply(b, minus, r);
        let step = arithmetic::unsigned_high(b, r, error);
        r = arithmetic::add(b, r, step);
    }
    r
}

#[cfg(test)]
mod tests {
    use super::{SCALE, WORD};

    /// The estimate as it is computed above, and two steps of Newton.
    fn reciprocal(d: u64) -> u64 {
        let float = ((d >> 32) as f32).mul_add(WORD, d as u32 as f32);
        let scaled = (1.0 / float) * SCALE;
        let above = (scaled * (1.0 / WORD)).trunc();
        let rest = above.mul_add(-WORD, scaled);
        let mut r = u64::from(rest as u32) | u64::from(above as u32) << 32;
        for _ in 0..2 {
            let error = d.wrapping_neg().wrapping_mul(r);
            r = r.wrapping_add(((u128::from(r) * u128::from(error)) >> 64) as u64);
        }
        r
    }

    #[test]
    fn the_reciprocal_is_too_small_by_at_most_three() {
        let mut seed = 1u64;
        for round in 0..200_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let d = ((seed ^ seed >> 33) >> (round % 64)).max(2);
            let exact = (1u128 << 64) / u128::from(d);
            let short = exact.wrapping_sub(u128::from(reciprocal(d)));
            assert!(short <= 3, "{d:#x}: short by {short}");
        }
    }
}
