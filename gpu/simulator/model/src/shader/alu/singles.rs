//! Binary32 arithmetic over all lanes: loops without branches, which become the host's vector code.
//!
//! What a lane's result is stands in `float`; here modes that are the same for all lanes are decided once, before the loop, and
//! what the plain loop can't round is left to a second one.
//!
//! Facts: hardware/valhall-isa.md 8.2 and 9.6.

use super::arithmetic::RscaleMode;
use crate::shader::float::{
    self, Clamp, Float, Format, Round, add_odd, add32, canonical32, clamp32, fma_odd, fma32,
    fma32_nearest, narrow, nearest32, single_to_half, wide32,
};
use crate::shader::lanes::{Lanes, WARP, words};

/// A + B.
pub(super) fn add([a, b]: [&Lanes; 2], out: &mut Lanes, round: Round) {
    match round {
        Round::NearestEven => words([a, b], out, |[a, b]| add32(a, b, Round::NearestEven)),
        _ => words([a, b], out, |[a, b]| add32(a, b, round)),
    }
}

/// A * B + C, rounded once.
pub(super) fn multiply_add([a, b, c]: [&Lanes; 3], out: &mut Lanes, round: Round) {
    if round != Round::NearestEven {
        return words([a, b, c], out, |[a, b, c]| fma32(a, b, c, round));
    }
    let mut inexact = [0u32; WARP];
    for lane in 0..WARP {
        let (result, is_exact) = fma32_nearest(a[lane], b[lane], c[lane]);
        out[lane] = result;
        inexact[lane] = u32::from(!is_exact);
    }
    if inexact.iter().fold(0, |any, it| any | it) == 0 {
        return;
    }
    for lane in 0..WARP {
        if inexact[lane] != 0 {
            out[lane] = fma32(a[lane], b[lane], c[lane], round);
        }
    }
}

/// Most powers of two, either way, by which the plain loop of [`multiply_add_scaled`] multiplies: so far a sum stays normal in binary64.
const FAR: i32 = 512;

/// (A * B + C) * 2^D, rounded once at the final exponent.
pub(super) fn multiply_add_scaled(
    [a, b, c, d]: [&Lanes; 4],
    out: &mut Lanes,
    mode: RscaleMode,
    toward_zero: bool,
) {
    let round = match toward_zero {
        true => Round::Zero,
        false => Round::NearestEven,
    };
    let mut inexact = [u32::MAX; WARP];
    if !toward_zero {
        for lane in 0..WARP {
            let (x, y) = (wide32(a[lane]), wide32(b[lane]));
            let zero_factor = (x == 0.0) | (y == 0.0);
            let product = match mode {
                RscaleMode::Zero if zero_factor => 0.0,
                RscaleMode::Left if zero_factor => x,
                _ => x * y,
            };
            let scale = d[lane] as i32;
            let near = scale.clamp(-FAR, FAR);
            let factor = f64::from_bits(((1023 + near) as u64) << 52);
            let (result, is_exact) = nearest32((product + wide32(c[lane])) * factor);
            out[lane] = result;
            inexact[lane] = u32::from(!is_exact | (near != scale));
        }
    }
    for lane in 0..WARP {
        if inexact[lane] != 0 {
            out[lane] = scaled([a[lane], b[lane], c[lane]], d[lane] as i32, mode, round);
        }
    }
}

/// (A * B + C) * 2^`scale` of one lane.
fn scaled(sources: [u32; 3], scale: i32, mode: RscaleMode, round: Round) -> u32 {
    let [x, y, z] = sources.map(wide32);
    let zero_factor = x == 0.0 || y == 0.0;
    let exact = match mode {
        RscaleMode::Zero if zero_factor => add_odd(0.0, z, round),
        RscaleMode::Left if zero_factor => add_odd(x, z, round),
        _ => fma_odd(x, y, z, round),
    };
    narrow(exact, scale, Format::Binary32, round)
}

/// min(A, B) or max(A, B) by `choose`; `propagate` prefers NaN.
#[inline(always)]
pub(super) fn extreme(
    [a, b]: [&Lanes; 2],
    out: &mut Lanes,
    propagate: bool,
    choose: impl Fn(f32, f32) -> f32,
) {
    words([a, b], out, |[a, b]| {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        canonical32(extreme_of(a, b, propagate, &choose))
    });
}

/// The chosen one of two values, or NaN if one is and NaN is preferred.
#[inline(always)]
pub(super) fn extreme_of<T: Float>(a: T, b: T, propagate: bool, choose: impl Fn(T, T) -> T) -> T {
    if propagate & (a.is_nan() | b.is_nan()) {
        T::NAN
    } else {
        choose(a, b)
    }
}

/// Clamps results, and converts them to binary16 in both halves where the destination narrows.
/// The narrowing rounds by the instruction's own mode (hardware/valhall-isa.md 3).
pub(super) fn finish(out: &mut Lanes, clamp: Clamp, to_half: bool, round: Round) {
    macro_rules! each {
        ($clamp:expr) => {
            for bits in out.iter_mut() {
                *bits = clamp32(*bits, $clamp);
            }
        };
    }
    match clamp {
        Clamp::None => {}
        Clamp::ZeroToInfinity => each!(Clamp::ZeroToInfinity),
        Clamp::MinusOneToOne => each!(Clamp::MinusOneToOne),
        Clamp::ZeroToOne => each!(Clamp::ZeroToOne),
    }
    if to_half {
        for bits in out {
            *bits = u32::from(single_to_half(*bits, round)) * 0x0001_0001;
        }
    }
}

/// The smaller of A and B.
pub(super) fn minimum(sources: [&Lanes; 2], out: &mut Lanes, propagate: bool) {
    extreme(sources, out, propagate, float::min::<f32>);
}

/// The greater of A and B.
pub(super) fn maximum(sources: [&Lanes; 2], out: &mut Lanes, propagate: bool) {
    extreme(sources, out, propagate, float::max::<f32>);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Floats of all kinds; most are near 1, so that sums cancel and results are in range.
    fn float(random: &mut Random) -> u32 {
        let bits = random.below(1 << 32) as u32;
        match random.below(8) {
            0 => bits,
            1 => bits & 0x807f_ffff,
            2 => [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000][random.below(5) as usize],
            // Few bits, so that sums lie half way between two results.
            3 => bits & 0x83ff_f000 | 0x3c00_0000,
            _ => bits & 0x83ff_ffff | 0x3c00_0000,
        }
    }

    #[test]
    fn scaled_sums_are_those_of_one_lane_after_the_other() {
        let mut random = Random::new(5);
        for time in 0..6_000 {
            let mode = [RscaleMode::None, RscaleMode::Zero, RscaleMode::Left][time % 3];
            let toward_zero = time % 7 == 0;
            let [a, b, c]: [Lanes; 3] =
                core::array::from_fn(|_| core::array::from_fn(|_| float(&mut random)));
            let d: Lanes = core::array::from_fn(|_| match random.below(4) {
                0 => random.below(1 << 32) as u32,
                1 => (random.below(300) as i32 - 150) as u32,
                _ => (random.below(60) as i32 - 30) as u32,
            });
            let mut out = [0; WARP];
            multiply_add_scaled([&a, &b, &c, &d], &mut out, mode, toward_zero);
            let round = match toward_zero {
                true => Round::Zero,
                false => Round::NearestEven,
            };
            for lane in 0..WARP {
                let sources = [a[lane], b[lane], c[lane]];
                let expected = scaled(sources, d[lane] as i32, mode, round);
                assert_eq!(
                    out[lane], expected,
                    "{sources:#010x?} by 2^{}, {mode:?}, {round:?}",
                    d[lane] as i32
                );
            }
        }
    }
}
