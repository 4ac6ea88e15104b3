//! 16-bit floats as text needs them: to 32 bits without loss, and back to the nearest.

/// The value of the bits of a 16-bit float.
pub(crate) fn to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10 & 0x1F);
    let fraction = u32::from(bits & 0x3FF);
    f32::from_bits(match exponent {
        0 => {
            // The fraction counts steps of 2^-24.
            let magnitude = fraction as f32 / 16_777_216.0;
            sign | magnitude.to_bits()
        }
        31 => sign | 0x7F80_0000 | fraction << 13,
        _ => sign | (exponent + 112) << 23 | fraction << 13,
    })
}

/// The bits of the 16-bit float that is nearest, to even in the middle.
pub(crate) fn of_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7FFF_FFFF;
    if magnitude > 0x7F80_0000 {
        return sign | 0x7E00;
    }
    if magnitude >= 0x477F_F000 {
        return sign | 0x7C00;
    }
    if magnitude < 0x3880_0000 {
        // A denormal: steps of 2^-24, which adding 0.5 leaves in the low bits, rounded.
        let rounded = f32::from_bits(magnitude) + 0.5;
        return sign | (rounded.to_bits() - 0x3F00_0000) as u16;
    }
    let rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
    sign | ((rounded - (112 << 23)) >> 13) as u16
}
