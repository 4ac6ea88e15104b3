//! Texel formats: by their Vulkan names, from bytes to four words and back.
//!
//! Needs: nothing.  Guarantees: what a name says is what is done: components, their bits and their order come from it.
//! Never: knows the numbers that hardware has for formats.  Facts: hardware/graphics-texture.md 7.10; the conversions are
//! the API's.
use crate::half::{from_f32, to_f32};

/// What the bits of a component mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Unorm,
    Snorm,
    Uint,
    Sint,
    Float,
}

/// What the words of a texel are to a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Floats, also where the format holds parts of one.
    Float,
    /// Integers with a sign.
    Signed,
    /// Integers without one.
    Unsigned,
}

/// A component as it is stored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stored {
    /// The integer in its bits: 0 to 255, say, or -128 to 127; of floats, the number.
    pub code: f64,
    /// The number that it stands for: 0 to 1, say, without the curve of sRGB.
    pub value: f64,
}

/// A format.
#[derive(Clone, PartialEq, Debug)]
pub struct TexelFormat {
    /// Which of red, green, blue and alpha, and how many bits, from the lowest.
    components: Vec<(usize, u32)>,
    number: Number,
    srgb: bool,
    shared_exponent: bool,
}

impl TexelFormat {
    /// The format of a Vulkan name without `VK_FORMAT_`; `None` if it is compressed or unknown.
    pub fn of_name(name: &str) -> Option<TexelFormat> {
        let name = name.replace("X8_D24", "X8D24");
        let mut words = name.split('_');
        let mut components = vec![];
        for letters in words
            .next()?
            .split_inclusive(|letter: char| letter.is_ascii_digit())
        {
            let (letter, digits) = letters.split_at(letters.find(|c: char| c.is_ascii_digit())?);
            let bits: u32 = digits.parse().ok()?;
            match letter {
                // The next digit of a number of two.
                "" => {
                    let (_, last): &mut (usize, u32) = components.last_mut()?;
                    *last = 10 * *last + bits;
                }
                "R" | "D" | "S" => components.push((0, bits)),
                "G" => components.push((1, bits)),
                "B" => components.push((2, bits)),
                "A" => components.push((3, bits)),
                "X" => components.push((4, bits)),
                "E" => components.push((5, bits)),
                _ => return None,
            }
        }
        let kind = words.next()?;
        let number = match kind {
            "UNORM" | "SRGB" => Number::Unorm,
            "SNORM" => Number::Snorm,
            "UINT" => Number::Uint,
            "SINT" => Number::Sint,
            "SFLOAT" | "UFLOAT" => Number::Float,
            _ => return None,
        };
        // A packed format is named from the highest bit down.
        match words.next() {
            None => {}
            Some(pack) if pack.starts_with("PACK") => components.reverse(),
            Some(_) => return None,
        }
        let bits: u32 = components.iter().map(|(_, bits)| bits).sum();
        if !bits.is_multiple_of(8) || bits > 128 {
            return None;
        }
        let shared_exponent = components.iter().any(|(which, _)| *which == 5);
        Some(TexelFormat {
            components,
            number,
            srgb: kind == "SRGB",
            shared_exponent,
        })
    }

    /// Bytes of a texel.
    pub fn bytes(&self) -> usize {
        let bits: u32 = self.components.iter().map(|(_, bits)| bits).sum();
        bits as usize / 8
    }

    /// What its components are to a shader.
    pub fn kind(&self) -> Kind {
        match self.number {
            Number::Unorm | Number::Snorm | Number::Float => Kind::Float,
            Number::Uint => Kind::Unsigned,
            Number::Sint => Kind::Signed,
        }
    }

    /// Whether its components are integers.
    pub fn is_integer(&self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// The components that a texel stores, the one in the lowest bits first. Those that mean nothing are left out.
    pub fn stored(&self, bytes: &[u8]) -> Vec<Stored> {
        if self.shared_exponent {
            let [red, green, blue, _] = self.unpack(bytes);
            let number = |value| Stored { code: value, value };
            return [red, green, blue].map(number).to_vec();
        }
        let texel = whole(bytes);
        let mut low = 0;
        let mut stored = Vec::with_capacity(self.components.len());
        for (which, size) in &self.components {
            let bits = (texel >> low) as u32 & (u32::MAX >> (32 - size));
            low += size;
            if *which > 3 {
                continue;
            }
            let value = self.number(bits, *size);
            let code = match self.number {
                Number::Unorm | Number::Uint => bits.into(),
                Number::Snorm | Number::Sint => signed(bits, *size),
                Number::Float => value,
            };
            stored.push(Stored { code, value });
        }
        stored
    }

    /// The components of a texel as numbers; missing ones are 0, 0, 0, 1.
    pub(crate) fn unpack(&self, bytes: &[u8]) -> [f64; 4] {
        let mut colour = [0.0, 0.0, 0.0, 1.0];
        let texel = whole(bytes);
        if self.shared_exponent {
            let exponent = (texel >> 27) as i32;
            for (which, component) in colour.iter_mut().take(3).enumerate() {
                let fraction = (texel >> (9 * which) & 0x1ff) as u32;
                *component = f64::from(fraction) * (f64::from(exponent) - 24.0).exp2();
            }
            return colour;
        }
        let mut low = 0;
        for (which, size) in &self.components {
            let bits = (texel >> low) as u32 & (u32::MAX >> (32 - size));
            low += size;
            if let Some(component) = colour.get_mut(*which) {
                *component = self.number(bits, *size);
                if self.srgb && *which < 3 {
                    *component = linear_of_srgb(*component);
                }
            }
        }
        colour
    }

    fn number(&self, bits: u32, size: u32) -> f64 {
        let most = f64::from(u32::MAX >> (32 - size));
        let signed = signed(bits, size);
        match self.number {
            Number::Unorm => f64::from(bits) / most,
            Number::Snorm => (signed / (f64::from(u32::MAX >> (33 - size)))).max(-1.0),
            Number::Uint => f64::from(bits),
            Number::Sint => signed,
            Number::Float => match size {
                32 => f32::from_bits(bits).into(),
                16 => to_f32(bits as u16).into(),
                // Without a sign, and with a shorter fraction than a half.
                _ => to_f32((bits << (15 - size)) as u16).into(),
            },
        }
    }

    /// Numbers as the words of a shader.
    pub(crate) fn words(&self, colour: [f64; 4]) -> [u32; 4] {
        colour.map(|value| match self.is_integer() {
            true => value as i64 as u32,
            false => (value as f32).to_bits(),
        })
    }

    /// The words of a texel.
    pub fn load(&self, bytes: &[u8]) -> [u32; 4] {
        self.words(self.unpack(bytes))
    }

    /// The words that a pixel of 8 bits a component means: for integers the numbers, else 255 is 1.
    pub fn of_bytes(&self, pixel: [u8; 4]) -> [u32; 4] {
        let linear = |which: usize, byte: u8| {
            let value = f64::from(byte) / 255.0;
            match self.srgb && which < 3 {
                true => linear_of_srgb(value),
                false => value,
            }
        };
        std::array::from_fn(|which| match self.is_integer() {
            true => pixel[which].into(),
            false => (linear(which, pixel[which]) as f32).to_bits(),
        })
    }

    /// The pixel of 8 bits a component that is nearest to words.
    pub fn to_bytes(&self, words: [u32; 4]) -> [u8; 4] {
        std::array::from_fn(|which| {
            if self.is_integer() {
                return words[which].min(255) as u8;
            }
            let value = f64::from(f32::from_bits(words[which]));
            let value = match self.srgb && which < 3 {
                true => srgb_of_linear(value),
                false => value,
            };
            // What is no number becomes 0.
            (value.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
        })
    }

    /// Whether a texel has bits that mean nothing.
    pub fn is_padded(&self) -> bool {
        self.components.iter().any(|(which, _)| *which == 4)
    }

    /// The bytes of a texel that words make.
    pub fn store(&self, words: [u32; 4]) -> Vec<u8> {
        let bytes = self.bytes();
        if self.shared_exponent {
            let colour = words.map(f32::from_bits);
            return shared(colour).to_le_bytes().to_vec();
        }
        let (mut texel, mut low) = (0_u128, 0);
        for (which, size) in &self.components {
            let word = words.get(*which).copied().unwrap_or(0);
            let mask = u32::MAX >> (32 - size);
            let bits = match self.number {
                Number::Uint => word.min(mask),
                Number::Sint => {
                    let top = (mask >> 1) as i32;
                    (word as i32).clamp(-top - 1, top) as u32
                }
                _ => self.float_bits(f32::from_bits(word).into(), *which, *size),
            };
            texel |= u128::from(bits & mask) << low;
            low += size;
        }
        texel.to_le_bytes()[..bytes].to_vec()
    }

    fn float_bits(&self, value: f64, which: usize, size: u32) -> u32 {
        let value = match self.srgb && which < 3 {
            false => value,
            true => srgb_of_linear(value),
        };
        let scaled = |least: f64, most: u32| {
            let value = if value.is_nan() { 0.0 } else { value };
            (value.clamp(least, 1.0) * f64::from(most)).round_ties_even() as i64 as u32
        };
        match (self.number, size) {
            (Number::Unorm, _) => scaled(0.0, u32::MAX >> (32 - size)),
            (Number::Snorm, _) => scaled(-1.0, u32::MAX >> (33 - size)),
            (_, 32) => (value as f32).to_bits(),
            (_, 16) => from_f32(value as f32).into(),
            (_, size) => small_float(value, size - 5),
        }
    }
}

/// A texel's bytes as one number.
fn whole(bytes: &[u8]) -> u128 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |all, byte| all << 8 | u128::from(*byte))
}

/// An integer of so many bits, with a sign.
fn signed(bits: u32, size: u32) -> f64 {
    f64::from((bits << (32 - size)) as i32 >> (32 - size))
}

fn linear_of_srgb(value: f64) -> f64 {
    match value {
        value if value <= 0.04045 => value / 12.92,
        value => ((value + 0.055) / 1.055).powf(2.4),
    }
}

fn srgb_of_linear(value: f64) -> f64 {
    match value.clamp(0.0, 1.0) {
        value if value <= 0.003_130_8 => value * 12.92,
        value => 1.055 * value.powf(1.0 / 2.4) - 0.055,
    }
}

/// A float without sign: five bits of exponent and so many of fraction.
fn small_float(value: f64, fraction: u32) -> u32 {
    let most = (0x1f << fraction) - 1;
    if value.is_nan() {
        return most | 0x1f << fraction;
    }
    if value <= 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return 0x1f << fraction;
    }
    // Count in units of the last place, of at least the subnormals'.
    let exponent = (value.log2().floor() as i32).max(-14);
    let units = (value * f64::from(fraction as i32 - exponent).exp2()).round_ties_even() as u32;
    (units + ((exponent + 14) as u32) * (1 << fraction)).min(most)
}

/// Three numbers with one exponent.
fn shared(colour: [f32; 4]) -> u32 {
    let most = 511.0 / 512.0 * 65536.0;
    let limited = |value: f32| {
        if value.is_nan() {
            0.0
        } else {
            f64::from(value).clamp(0.0, most)
        }
    };
    let colour = [colour[0], colour[1], colour[2]].map(limited);
    let top = colour.into_iter().fold(0.0, f64::max);
    let mut exponent = (if top > 0.0 {
        top.log2().floor() as i32
    } else {
        -16
    })
    .max(-16)
        + 16;
    let unit = |exponent: i32| f64::from(exponent - 24).exp2();
    if (top / unit(exponent) + 0.5).floor() >= 512.0 {
        exponent += 1;
    }
    let fraction = colour.map(|value| (value / unit(exponent) + 0.5).floor() as u32);
    fraction[0] | fraction[1] << 9 | fraction[2] << 18 | (exponent as u32) << 27
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, colour: [f32; 4], bytes: &[u8]) {
        let format = TexelFormat::of_name(name).expect(name);
        assert_eq!(format.bytes(), bytes.len(), "{name}");
        assert_eq!(format.store(colour.map(f32::to_bits)), bytes, "{name}");
        assert_eq!(format.load(bytes).map(f32::from_bits), colour, "{name}");
    }

    #[test]
    fn names_say_where_components_lie() {
        check("R8G8B8A8_UNORM", [1.0, 0.0, 0.0, 1.0], &[255, 0, 0, 255]);
        check("B8G8R8A8_UNORM", [1.0, 0.0, 0.0, 1.0], &[0, 0, 255, 255]);
        check("R5G6B5_UNORM_PACK16", [1.0, 0.0, 0.0, 1.0], &[0x00, 0xf8]);
        check("R16G16_SFLOAT", [1.0, -2.0, 0.0, 1.0], &[0, 0x3c, 0, 0xc0]);
        check("R16_SNORM", [-1.0, 0.0, 0.0, 1.0], &[0x01, 0x80]);
        let rgb = [1.0, 1.0, 1.0, 1.0];
        check("B10G11R11_UFLOAT_PACK32", rgb, &[0xc0, 0x03, 0x1e, 0x78]);
        let shared = [1.0, 0.5, 0.25, 1.0];
        check("E5B9G9R9_UFLOAT_PACK32", shared, &[0x00, 0x01, 0x01, 0x81]);
        let packed = TexelFormat::of_name("A2B10G10R10_UINT_PACK32").unwrap();
        assert_eq!(packed.store([1, 2, 0, 9]), [0x01, 0x08, 0x00, 0xc0]);
        assert_eq!(packed.load(&[0x01, 0x08, 0x00, 0xc0]), [1, 2, 0, 3]);
        assert_eq!(TexelFormat::of_name("BC1_RGB_UNORM_BLOCK"), None);
        assert_eq!(TexelFormat::of_name("R9_UNORM"), None);
    }

    #[test]
    fn components_are_seen_as_they_are_stored() {
        let codes = |name: &str, bytes: &[u8]| -> Vec<f64> {
            let format = TexelFormat::of_name(name).expect(name);
            let stored = format.stored(bytes).into_iter();
            stored.map(|component| component.code).collect()
        };
        assert_eq!(codes("R8G8_SNORM", &[0xff, 0x7f]), [-1.0, 127.0]);
        assert_eq!(codes("B8G8R8A8_SRGB", &[1, 2, 3, 4]), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(codes("R16_SFLOAT", &[0, 0x3c]), [1.0]);
        let depth = codes("X8_D24_UNORM_PACK32", &[1, 0, 0, 0xff]);
        assert_eq!(depth, [1.0], "the upper byte means nothing");
        let half = TexelFormat::of_name("R8_SRGB").expect("a name");
        assert_eq!(half.stored(&[51])[0].value, 0.2, "the curve is left out");
    }
}
