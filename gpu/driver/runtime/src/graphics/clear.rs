//! Clear values, as the tile buffer holds them.
//!
//! Pure.  Facts: hardware/graphics-framebuffer.md 5.5, graphics-formats.md 3 and 4.

use super::rendering::ClearColor;
use eitri_descriptors::attachment_formats::{Blendable, TargetFormat};
use eitri_descriptors::formats::VkFormat;

/// The words of a target that is cleared to a colour.
pub(crate) fn words(format: &VkFormat, target: &TargetFormat, color: ClearColor) -> [u32; 4] {
    let blendable = target.internal_format().and_then(|row| row.blendable);
    if let (Some(blendable), ClearColor::Float(color)) = (blendable, color)
        && !blendable.is_float
    {
        return [unorm(format, &blendable, color); 4];
    }
    repeat(packed(format, color), format.block_bytes)
}

/// A colour of fractions, as its components stand side by side.
fn unorm(format: &VkFormat, blendable: &Blendable, color: [f32; 4]) -> u32 {
    let [red, green, blue, alpha] =
        color.map(|it| if it.is_nan() { 0.0 } else { it.clamp(0.0, 1.0) });
    let curve = |it: f32| if format.srgb { srgb(it) } else { it };
    let alpha = if has_alpha(format) { alpha } else { 1.0 };
    let components = [curve(red), curve(green), curve(blue), alpha];
    let (mut word, mut shift) = (0_u32, 0_u32);
    let parts = components
        .into_iter()
        .zip(blendable.bits)
        .zip(blendable.fraction);
    for ((value, bits), fraction) in parts {
        let most = (1_u32 << bits).wrapping_sub(1) as f32;
        let code = round(value * most);
        word |= code
            .checked_shl(shift.wrapping_add(fraction.into()))
            .unwrap_or(0);
        shift = shift
            .wrapping_add(bits.into())
            .wrapping_add(fraction.into());
    }
    word
}

fn has_alpha(format: &VkFormat) -> bool {
    // By their names: what has alpha says so.
    format.name.bytes().any(|letter| letter == b'A')
}

/// Nearest whole number, halves to even; of numbers from 0 to 2^23.
fn round(value: f32) -> u32 {
    let whole = value as u32;
    let rest = value - whole as f32;
    let up = rest > 0.5 || (rest == 0.5 && whole & 1 == 1);
    whole.wrapping_add(up.into())
}

/// The curve of sRGB, from linear (hardware/graphics-framebuffer.md 5.5).
fn srgb(linear: f32) -> f32 {
    if linear < 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * root_2_4(linear) - 0.055
    }
}

/// The 2.4th root of a number from 0.003 to 1: five steps of Newton's for x^12 = value^5 from above, which it never passes.
fn root_2_4(value: f32) -> f32 {
    let value = f64::from(value);
    let wanted = value * value * value * value * value;
    let mut root = 1.0_f64;
    for _ in 0..60 {
        let squared = root * root;
        let fourth = squared * squared;
        let eleventh = fourth * fourth * squared * root;
        root -= (eleventh * root - wanted) / (12.0 * eleventh);
    }
    root as f32
}

/// A colour in the bytes of a texel of its format, lowest first.
fn packed(format: &VkFormat, color: ClearColor) -> [u32; 4] {
    let fields = fields(format);
    let mut words = [0_u32; 4];
    let mut shift = 0_u32;
    for (channel, bits) in fields.channels() {
        let code = fields.kind.code(color, channel, bits);
        let (word, inside) = ((shift / 32) as usize, shift % 32);
        let mask = if bits >= 32 {
            u32::MAX
        } else {
            (1_u32 << bits).wrapping_sub(1)
        };
        if let Some(word) = words.get_mut(word) {
            *word |= (code & mask) << inside;
        }
        shift = shift.wrapping_add(bits);
    }
    words
}

/// What the components of a format that is not blended are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unorm,
    Snorm,
    Int,
    Float,
    /// Three floats without a sign, of 11, 11 and 10 bits.
    Small,
    /// Three fractions of 9 bits with an exponent of 5.
    Shared,
}

/// The components of a format, lowest first.
#[derive(Clone, Copy, Debug)]
struct Fields {
    kind: Kind,
    /// Channel and bits of each.
    all: [(u8, u8); 4],
    count: usize,
}

impl Fields {
    fn channels(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let used = self.all.iter().take(self.count);
        used.map(|(channel, bits)| (usize::from(*channel), u32::from(*bits)))
    }
}

/// Channels of a format of colours, lowest first, each with its bits.
pub(super) fn channels(format: &VkFormat) -> heapless::Vec<(usize, u32), 4> {
    fields(format).channels().collect()
}

/// The components by the format's name: letters with their bits, highest first if it is packed, then the kind.
fn fields(format: &VkFormat) -> Fields {
    let name = format.name;
    let kind = match name {
        _ if name.starts_with("E5B9") => Kind::Shared,
        _ if format.has("UFLOAT") => Kind::Small,
        _ if format.has("SFLOAT") => Kind::Float,
        _ if format.has("SNORM") => Kind::Snorm,
        _ if format.has("UNORM") || format.has("SRGB") => Kind::Unorm,
        _ => Kind::Int,
    };
    let mut all = [(0, 0); 4];
    let mut count = 0;
    let mut bytes = name.bytes().peekable();
    while let Some(letter) = bytes.next() {
        let channel = match letter {
            b'R' => 0,
            b'G' => 1,
            b'B' => 2,
            b'A' => 3,
            // An exponent that colours share.
            b'E' => 4,
            _ => break,
        };
        let mut bits = 0_u8;
        while let Some(digit) = bytes.peek().filter(|digit| digit.is_ascii_digit()) {
            bits = bits.wrapping_mul(10).wrapping_add(digit.wrapping_sub(b'0'));
            bytes.next();
        }
        if let Some(place) = all.get_mut(count) {
            *place = (channel, bits);
            count = count.wrapping_add(1);
        }
    }
    if format.has("PACK")
        && let Some(used) = all.get_mut(..count)
    {
        used.reverse();
    }
    Fields { kind, all, count }
}

impl Kind {
    /// The bits of a channel.
    fn code(self, color: ClearColor, channel: usize, bits: u32) -> u32 {
        let (float, whole) = match color {
            ClearColor::Float(values) => {
                let value = values.get(channel).copied().unwrap_or(0.0);
                (value, value as i32 as u32)
            }
            ClearColor::Int(values) => {
                let value = values.get(channel).copied().unwrap_or(0);
                (value as f32, value as u32)
            }
            ClearColor::Uint(values) => {
                let value = values.get(channel).copied().unwrap_or(0);
                (value as f32, value)
            }
        };
        let float = if float.is_nan() { 0.0 } else { float };
        let ones = |bits: u32| 2.0_f64.powi_of(bits) - 1.0;
        match (self, bits) {
            (Kind::Int, _) => whole,
            (Kind::Float, 32) => float.to_bits(),
            (Kind::Float, _) => small_float(float, 10, true),
            (Kind::Small, 10) => small_float(float.max(0.0), 5, false),
            (Kind::Small, _) => small_float(float.max(0.0), 6, false),
            (Kind::Unorm, _) => nearest(f64::from(float.clamp(0.0, 1.0)) * ones(bits)) as u32,
            (Kind::Snorm, _) => {
                let most = ones(bits.wrapping_sub(1));
                nearest(f64::from(float.clamp(-1.0, 1.0)) * most) as i32 as u32
            }
            (Kind::Shared, _) => shared(color, channel),
        }
    }
}

trait PowerOfTwo {
    fn powi_of(self, exponent: u32) -> f64;
}

impl PowerOfTwo for f64 {
    fn powi_of(self, exponent: u32) -> f64 {
        (0..exponent).fold(1.0, |power, _| power * self)
    }
}

/// Nearest whole number, halves to even; of numbers below 2^32.
fn nearest(value: f64) -> i64 {
    let whole = value as i64;
    let rest = value - whole as f64;
    let odd = whole & 1 != 0;
    let step = i64::from(rest > 0.5 || (rest == 0.5 && odd))
        - i64::from(rest < -0.5 || (rest == -0.5 && odd));
    whole.wrapping_add(step)
}

/// A float with an exponent of 5 bits, rounded to nearest even.
fn small_float(value: f32, mantissa: u32, signed: bool) -> u32 {
    let bits = value.to_bits();
    let sign = if signed { bits >> 31 } else { 0 };
    let sign = sign << mantissa.wrapping_add(5);
    let magnitude = bits & 0x7FFF_FFFF;
    let infinity = 31 << mantissa;
    if magnitude >= 0x7F80_0000 {
        return sign | infinity;
    }
    // What is dropped, and where the exponent of 2^-14 begins.
    let drop = 23_u32.wrapping_sub(mantissa);
    let code = if magnitude >= 0x3880_0000 {
        let rebiased = magnitude.wrapping_sub(0x3800_0000);
        rounded(rebiased.into(), drop)
    } else {
        // Subnormal: units of 2^(-14 - mantissa).
        // A subnormal number has no leading one, but it is far below half a unit and becomes 0 anyway.
        let exponent = magnitude >> 23;
        let fraction = u64::from(magnitude & 0x7F_FFFF) | 1 << 23;
        let shift = drop.wrapping_add(113_u32.saturating_sub(exponent));
        if shift > 60 {
            0
        } else {
            rounded(fraction, shift)
        }
    };
    sign | code.min(infinity)
}

/// A number without its low bits, rounded to nearest even.
fn rounded(value: u64, drop: u32) -> u32 {
    let kept = value >> drop;
    let rest = value & (1_u64 << drop).wrapping_sub(1);
    let half = 1_u64 << drop.saturating_sub(1);
    let up = rest > half || (rest == half && kept & 1 == 1);
    kept.wrapping_add(up.into()) as u32
}

/// A colour with a shared exponent (`VK_FORMAT_E5B9G9R9_UFLOAT_PACK32`): fractions of 9 bits, and the exponent as channel 4.
fn shared(color: ClearColor, channel: usize) -> u32 {
    let ClearColor::Float([red, green, blue, _]) = color else {
        return 0;
    };
    const MOST: f32 = 65_408.0;
    let all = [red, green, blue].map(|it| {
        if it.is_nan() {
            0.0
        } else {
            it.clamp(0.0, MOST)
        }
    });
    let largest = all.into_iter().fold(0.0_f32, f32::max);
    let floor = (largest.to_bits() >> 23) as i32 - 127;
    let mut exponent = floor.max(-16).wrapping_add(16);
    let unit = |exponent: i32| {
        let power = exponent.wrapping_sub(24);
        f64::from_bits((1023_i64.wrapping_add(power.into()) as u64) << 52)
    };
    if nearest(f64::from(largest) / unit(exponent)) == 512 {
        exponent = exponent.wrapping_add(1);
    }
    match all.get(channel) {
        Some(value) => nearest(f64::from(*value) / unit(exponent)) as u32,
        None => exponent as u32,
    }
}

/// A texel of so many bytes, over and over.
fn repeat(words: [u32; 4], bytes: u32) -> [u32; 4] {
    let [a, b, ..] = words;
    match bytes {
        1 => [(a & 0xff).wrapping_mul(0x0101_0101); 4],
        2 => [(a & 0xffff).wrapping_mul(0x0001_0001); 4],
        3 | 4 => [a; 4],
        5..=8 => [a, b, a, b],
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Arch;

    #[track_caller]
    fn check(name: &str, color: [f32; 4], expected: [u32; 4]) {
        let format = VkFormat::of_name(Arch::V10, name).expect("a format");
        let target = format.target().expect("a target");
        let found = words(format, target, ClearColor::Float(color));
        assert_eq!(found, expected, "{name}: {found:x?}");
    }

    /// The test vectors of hardware/graphics-framebuffer.md 5.5, not dithered.
    #[test]
    fn clear_words_are_as_the_facts_say() {
        check("R8G8B8A8_UNORM", [1.0, 0.0, 0.0, 1.0], [0xFF00_00FF; 4]);
        let color = [0.127, 2.4, -1.0, 0.5];
        check("R4G4B4A4_UNORM_PACK16", color, [0x8000_F020; 4]);
        check("A1R5G5B5_UNORM_PACK16", color, [0x000F_8080; 4]);
        check("R5G6B5_UNORM_PACK16", color, [0x000F_C080; 4]);
        check("A2B10G10R10_UNORM_PACK32", color, [0x800F_FC82; 4]);
        check("R8G8B8A8_SRGB", color, [0x8000_FF64; 4]);
        let color = [0.718, 0.18, 1.0, 2.0];
        check("B8G8R8A8_UNORM", color, [0xFFFF_2EB7; 4]);
        check("R8G8B8A8_SRGB", color, [0xFFFF_76DC; 4]);
        check("A2R10G10B10_UNORM_PACK32", color, [0xFFF2_E2DF; 4]);
    }

    #[test]
    fn raw_and_float_formats_hold_their_texels() {
        let ones = [1.0, 0.5, -2.0, 1.0];
        let (a, b) = (0x3800_3C00, 0x3C00_C000);
        check("R16G16B16A16_SFLOAT", ones, [a, b, a, b]);
        check("R32_SFLOAT", ones, [0x3F80_0000; 4]);
        check("R8G8_SNORM", [1.0, -1.0, 0.0, 0.0], [0x817F_817F; 4]);
        check(
            "B10G11R11_UFLOAT_PACK32",
            [1.0, 1.0, 1.0, 1.0],
            [0x781E_03C0; 4],
        );
        check(
            "E5B9G9R9_UFLOAT_PACK32",
            [1.0, 0.5, 0.0, 1.0],
            [0x8001_0100; 4],
        );
        let format = VkFormat::of_name(Arch::V10, "R16G16B16A16_UINT").expect("a format");
        let target = format.target().expect("a target");
        let found = words(format, target, ClearColor::Uint([0, 0, 0, 65_535]));
        // hardware/worked/mrt.md: target 1.
        assert_eq!(found, [0, 0xFFFF_0000, 0, 0xFFFF_0000]);
    }

    /// Numbers to both sides of each half, and of each quarter.
    #[test]
    fn numbers_are_rounded_to_the_nearest_and_halves_to_even() {
        for quarter in -40..=40 {
            let value = f64::from(quarter) / 4.0;
            assert_eq!(nearest(value), value.round_ties_even() as i64, "{value}");
            if quarter >= 0 {
                let expected = value.round_ties_even() as u32;
                assert_eq!(round(value as f32), expected, "{value}");
            }
        }
        for value in 0..64_u64 {
            let expected = (value as f64 / 8.0).round_ties_even() as u32;
            assert_eq!(rounded(value, 3), expected, "{value} / 8");
        }
    }

    /// What a float of 16 bits, or a smaller one, means.
    fn meaning(code: u32, mantissa: u32) -> f64 {
        let (exponent, fraction) = (code >> mantissa, code & ((1 << mantissa) - 1));
        let unit = |exponent: i32| 2.0_f64.powi(exponent - 15 - mantissa as i32);
        match exponent {
            0 => f64::from(fraction) * unit(1),
            exponent => f64::from(fraction | 1 << mantissa) * unit(exponent as i32),
        }
    }

    /// Each float of 16, 11 and 10 bits becomes itself; what lies between two becomes the nearer one, and of halves the even one.
    #[test]
    fn small_floats_are_the_nearest() {
        for mantissa in [10, 6, 5] {
            let infinity = 31_u32 << mantissa;
            for code in 0..infinity {
                let (here, next) = (meaning(code, mantissa), meaning(code + 1, mantissa));
                let middle = (here + next) / 2.0;
                let small = |value: f64| small_float(value as f32, mantissa, true);
                assert_eq!(small(here), code);
                assert_eq!(small(-here), code | 1 << (mantissa + 5));
                assert_eq!(
                    small(middle),
                    code + (code & 1),
                    "{middle} of {mantissa} bits"
                );
                assert_eq!(small((here + middle) / 2.0), code);
                assert_eq!(small((next + middle) / 2.0), code + 1);
            }
            for large in [65_536.0, 1e10, f32::MAX, f32::INFINITY] {
                assert_eq!(small_float(large, mantissa, false), infinity);
            }
            for tiny in [f32::from_bits(1), f32::MIN_POSITIVE, 1e-20] {
                assert_eq!(small_float(tiny, mantissa, true), 0);
            }
        }
        assert_eq!(small_float(-1.0, 10, true), 0xBC00);
    }

    /// hardware/graphics-framebuffer.md 5.5: the curve, to a fraction of 8 bits.
    #[test]
    fn the_curve_is_that_of_srgb() {
        for step in 0..=1000 {
            let linear = step as f32 / 1000.0;
            let expected = if linear < 0.003_130_8 {
                12.92 * f64::from(linear)
            } else {
                1.055 * f64::from(linear).powf(1.0 / 2.4) - 0.055
            };
            let found = f64::from(srgb(linear));
            assert!((found - expected).abs() < 1e-6, "{linear}: {found}");
        }
    }

    /// A NaN is stored as 0. The alpha of a format without one is the greatest.
    #[test]
    fn fractions_are_from_0_to_1() {
        check(
            "R8G8B8A8_UNORM",
            [f32::NAN, -1.0, 2.0, f32::NAN],
            [0x00FF_0000; 4],
        );
        check("R8_UNORM", [1.0, 0.0, 0.0, 0.0], [0xFF00_00FF; 4]);
        check("R8G8_SNORM", [-0.5, 0.5, 0.0, 0.0], [0x40C0_40C0; 4]);
        check("R16_SFLOAT", [f32::NAN, 0.0, 0.0, 0.0], [0; 4]);
        check("B10G11R11_UFLOAT_PACK32", [-1.0; 4], [0; 4]);
    }

    /// hardware/graphics-framebuffer.md 5.5: texels are repeated to 16 bytes.
    #[test]
    fn texels_are_repeated() {
        let words = [0x0403_0201, 0x0807_0605, 0x0C0B_0A09, 0x100F_0E0D];
        let [a, b, ..] = words;
        assert_eq!(repeat(words, 1), [0x0101_0101; 4]);
        assert_eq!(repeat(words, 2), [0x0201_0201; 4]);
        assert_eq!(repeat(words, 4), [a; 4]);
        assert_eq!(repeat(words, 6), [a, b, a, b]);
        assert_eq!(repeat(words, 8), [a, b, a, b]);
        assert_eq!(repeat(words, 12), words);
        assert_eq!(repeat(words, 16), words);
    }

    /// Three fractions of 9 bits times a power of two: the one with which the largest has 9 bits.
    #[test]
    fn shared_exponents_fit_the_largest_component() {
        let name = "E5B9G9R9_UFLOAT_PACK32";
        let texel = |fractions: [u32; 3], exponent: u32| {
            let [red, green, blue] = fractions;
            [red | green << 9 | blue << 18 | exponent << 27; 4]
        };
        check(name, [0.0, 0.0, 0.0, 1.0], texel([0, 0, 0], 0));
        check(name, [3.0, 0.75, 1.5, 1.0], texel([384, 96, 192], 17));
        check(name, [-3.0, f32::NAN, 1e9, 0.0], texel([0, 0, 511], 31));
        // It would have ten bits once it is rounded.
        check(name, [1.999_9, 0.0, 0.0, 0.0], texel([256, 0, 0], 17));
        // The least exponent.
        let tiny = 2.0_f32.powi(-20);
        check(name, [tiny, 0.0, 0.0, 0.0], texel([16, 0, 0], 0));
    }

    /// Whole numbers stay what they are, whichever way they are given.
    #[test]
    fn whole_numbers_are_the_formats_own() {
        let found = |name: &str, color| {
            let format = VkFormat::of_name(Arch::V10, name).expect("a format");
            let target = format.target().expect("a target");
            words(format, target, color)
        };
        let int = ClearColor::Int([-2, 3, 0, 0]);
        assert_eq!(found("R8G8_SINT", int), [0x03FE_03FE; 4]);
        let uint = ClearColor::Uint([0x1234, 7, 0, 0]);
        assert_eq!(found("R16G16_UINT", uint), [0x0007_1234; 4]);
        assert_eq!(found("R32_SINT", int), [-2_i32 as u32; 4]);
        let four = ClearColor::Uint([1, 2, 3, 4]);
        assert_eq!(found("R32G32B32A32_UINT", four), [1, 2, 3, 4]);
        assert_eq!(
            found("A2B10G10R10_UINT_PACK32", four),
            [1 | 2 << 10 | 3 << 20; 4]
        );
    }
}
