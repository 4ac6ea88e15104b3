//! Float operations that are more than one operator of Rust.
//!
//! Needs: nothing.  Guarantees: the semantics that `ir::alu` states.  Facts: hardware/compiler-isel.md 2 and 4.1.

/// Minimum: of a NaN and a number the number; -0 is less than +0.
pub fn min(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ if a < b => a,
        _ => b,
    }
}

/// Maximum: of a NaN and a number the number; +0 is greater than -0.
pub fn max(a: f32, b: f32) -> f32 {
    -min(-a, -b)
}

/// -1, 0 or 1.
pub fn sign(a: f32) -> f32 {
    f32::from(i8::from(a > 0.0) - i8::from(a < 0.0))
}

/// a * 2^b with one rounding: binary64 has exponents to spare.
pub fn ldexp(a: f32, b: i32) -> f32 {
    (f64::from(a) * f64::from(b.clamp(-400, 400)).exp2()) as f32
}

/// Mantissa in [0.5, 1) with the sign, and exponent.
pub fn frexp(a: f32) -> (f32, i32) {
    if a == 0.0 || !a.is_finite() {
        return (a, 0);
    }
    // In binary64 every binary32 is normal.
    let bits = f64::from(a).to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (mantissa as f32, exponent)
}
