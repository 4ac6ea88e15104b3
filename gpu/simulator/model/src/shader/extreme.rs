//! The smaller and the greater of two floats, and clamps: rules that need no rounding, written once for both widths of the host.
//!
//! Facts: hardware/valhall-isa.md 8.2 (min and max, clamp).

use super::float::Clamp;

/// The smaller of two values: the other one where one is NaN, and -0 below +0.
#[inline(always)]
pub(crate) fn min<T: Float>(a: T, b: T) -> T {
    if b.is_nan() | (a < b) | ((a == b) & a.is_sign_negative()) {
        a
    } else {
        b
    }
}

/// The greater of two values, by the rules of [`min`].
#[inline(always)]
pub(crate) fn max<T: Float>(a: T, b: T) -> T {
    if b.is_nan() | (a > b) | ((a == b) & !a.is_sign_negative()) {
        a
    } else {
        b
    }
}

/// `value` after the clamp; NaN becomes the lower bound.
#[inline(always)]
pub(crate) fn clamped<T: Float>(value: T, clamp: Clamp) -> T {
    match clamp {
        Clamp::None => value,
        Clamp::ZeroToInfinity => max(value, T::ZERO),
        Clamp::MinusOneToOne => min(max(value, T::MINUS_ONE), T::ONE),
        Clamp::ZeroToOne => min(max(value, T::ZERO), T::ONE),
    }
}

/// A float of the host: rules that need no rounding are written once for both widths.
pub(crate) trait Float: Copy + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    const MINUS_ONE: Self;
    const NAN: Self;
    fn is_nan(self) -> bool;
    fn is_sign_negative(self) -> bool;
}

macro_rules! float {
    ($type:ident) => {
        impl Float for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const MINUS_ONE: Self = -1.0;
            const NAN: Self = $type::NAN;

            #[inline(always)]
            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }

            #[inline(always)]
            fn is_sign_negative(self) -> bool {
                $type::is_sign_negative(self)
            }
        }
    };
}

float!(f32);
float!(f64);
