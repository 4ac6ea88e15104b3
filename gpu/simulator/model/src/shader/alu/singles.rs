//! Binary32 arithmetic over all lanes: loops without branches, which become the host's vector code.
//!
//! What a lane's result is stands in `float`; here modes that are the same for all lanes are decided once, before the loop, and
//! what the plain loop can't round is left to a second one.
//!
//! Facts: hardware/valhall-isa.md 8.2 and 9.6.

use crate::shader::float::{
    self, Clamp, Float, Round, add32, canonical32, clamp32, fma32, fma32_nearest, single_to_half,
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
