//! `EXPECT b IDX x y SIZE w h EQ_RGB[A]`: every pixel of a rectangle.

use super::is_close;
use crate::script::{Buffer, PixelProbe, Tolerance};
use crate::types::{ChannelName, Encoding, Number, Type};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Without a tolerance, on the scale from 0 to 1.
const DEFAULT: Tolerance = Tolerance::Absolute(0.002);

/// The first pixel that is not as it should be, and how many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelMismatch {
    /// Column and row.
    pub at: [u32; 2],
    /// Byte offset in the buffer.
    pub offset: usize,
    /// Red, green, blue and alpha that are there; none where the format has no such channel.
    pub found: [Option<f64>; 4],
    /// What they should be; none where it does not matter.
    pub wanted: [Option<f64>; 4],
    /// They are told as 0 to 255, not 0 to 1.
    pub in_bytes: bool,
    /// Pixels that are not as they should be.
    pub count: u64,
    /// Pixels that were compared.
    pub of: u64,
}

impl fmt::Display for PixelMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = if self.in_bytes { 255.0 } else { 1.0 };
        let color = |color: &[Option<f64>; 4]| {
            let channels: Vec<String> = color
                .iter()
                .map(|channel| {
                    channel.map_or("-".to_owned(), |value| {
                        format!("{}", libm::round(value * scale * 1e4) / 1e4)
                    })
                })
                .collect();
            channels.join(" ")
        };
        let [x, y] = self.at;
        write!(
            f,
            "pixel {x}, {y} at byte {} is ({}), not ({})",
            self.offset,
            color(&self.found),
            color(&self.wanted)
        )?;
        write!(f, " ({} of {} pixels differ)", self.count, self.of)
    }
}

/// A channel of a pixel: its place in memory and its meaning.
struct Part {
    /// 0 to 3: red, green, blue, alpha.
    channel: usize,
    offset: usize,
    scalar: crate::types::Scalar,
    bits: u32,
    /// None for what is its own value.
    encoding: Option<Encoding>,
}

impl Part {
    /// The channel's value, on the scale on which it is compared.
    fn value(&self, pixel: &[u8]) -> f64 {
        let stored = self.scalar.load(pixel.get(self.offset..).unwrap_or(&[]));
        let raw = stored.as_f64();
        let full = |bits: u32| ((1u64 << bits) - 1) as f64;
        match self.encoding {
            Some(Encoding::Unorm) => raw / full(self.bits),
            Some(Encoding::Snorm) => raw / full(self.bits - 1),
            Some(Encoding::Srgb) if self.channel == 3 => raw / 255.0,
            Some(Encoding::Srgb) => linear(raw / 255.0),
            _ => match stored {
                Number::Float(value) => value,
                _ => raw,
            },
        }
    }
}

fn linear(value: f64) -> f64 {
    match value <= 0.04045 {
        true => value / 12.92,
        false => libm::pow((value + 0.055) / 1.055, 2.4),
    }
}

/// The color channels of a type; depth and stencil have none.
fn parts(buffer: &Buffer) -> Vec<Part> {
    let places = buffer.element.components.iter();
    let Type::Format(format) = &buffer.ty else {
        let plain = places.take(4).enumerate().map(|(channel, place)| Part {
            channel,
            offset: place.offset,
            scalar: place.scalar,
            bits: 0,
            encoding: None,
        });
        return plain.collect();
    };
    if format.packed.is_some() {
        // One raw number: language reference, section 11.2.
        let raw = places.map(|place| Part {
            channel: 0,
            offset: place.offset,
            scalar: place.scalar,
            bits: 0,
            encoding: None,
        });
        return raw.filter(|_| !format.is_depth_stencil()).collect();
    }
    let channels = format.channels.iter().zip(places);
    channels
        .filter_map(|(channel, place)| {
            let index = match channel.name {
                ChannelName::Red => 0,
                ChannelName::Green => 1,
                ChannelName::Blue => 2,
                ChannelName::Alpha => 3,
                ChannelName::Depth | ChannelName::Stencil | ChannelName::Unused => return None,
            };
            Some(Part {
                channel: index,
                offset: place.offset,
                scalar: place.scalar,
                bits: channel.bits.into(),
                encoding: Some(channel.encoding),
            })
        })
        .collect()
}

/// Red, green, blue and alpha of a pixel as they are compared; none where its type has no such channel.
pub fn color(buffer: &Buffer, pixel: &[u8]) -> [Option<f64>; 4] {
    let mut color = [None; 4];
    for part in parts(buffer) {
        if let Some(slot) = color.get_mut(part.channel) {
            *slot = Some(part.value(pixel));
        }
    }
    color
}

/// Compares a rectangle of a picture `width` pixels wide, which lies within it.
pub fn probe(
    buffer: &Buffer,
    bytes: &[u8],
    width: u32,
    probe: &PixelProbe,
) -> Option<PixelMismatch> {
    let parts = parts(buffer);
    let stride = buffer.element.stride;
    let mut first: Option<PixelMismatch> = None;
    let [left, top] = probe.origin;
    let [columns, rows] = probe.size;
    for y in top..top.saturating_add(rows) {
        for x in left..left.saturating_add(columns) {
            let index = (y as usize)
                .saturating_mul(width as usize)
                .saturating_add(x as usize);
            let offset = index.saturating_mul(stride);
            let pixel = bytes.get(offset..).unwrap_or(&[]);
            let mut found = [None; 4];
            let mut wanted = [None; 4];
            let mut good = true;
            for part in &parts {
                let value = part.value(pixel);
                let (Some(slot), Some(color)) =
                    (found.get_mut(part.channel), probe.color.get(part.channel))
                else {
                    continue;
                };
                *slot = Some(value);
                if part.channel == 3 && !probe.alpha {
                    continue;
                }
                if let Some(slot) = wanted.get_mut(part.channel) {
                    *slot = Some(*color);
                }
                good &= is_close(
                    *color,
                    value,
                    tolerance(&probe.tolerances, part.channel),
                    value,
                );
            }
            if good {
                continue;
            }
            let mismatch = first.get_or_insert(PixelMismatch {
                at: [x, y],
                offset,
                found,
                wanted,
                in_bytes: parts.iter().any(|part| {
                    matches!(
                        part.encoding,
                        Some(Encoding::Unorm | Encoding::Snorm | Encoding::Srgb)
                    )
                }),
                count: 0,
                of: u64::from(columns) * u64::from(rows),
            });
            mismatch.count += 1;
        }
    }
    first
}

/// Four tolerances are one for each channel; fewer are the first for all.
fn tolerance(tolerances: &[Tolerance], channel: usize) -> Tolerance {
    let index = if tolerances.len() == 4 { channel } else { 0 };
    tolerances.get(index).copied().unwrap_or(DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(format: &str) -> Buffer {
        let source = format!("#!amber\nIMAGE b FORMAT {format} WIDTH 2 HEIGHT 1\n");
        crate::parse(&source).unwrap().buffers.remove(0)
    }

    fn of(color: [u8; 4], tolerances: &[Tolerance]) -> PixelProbe {
        PixelProbe {
            buffer: crate::script::BufferId(0),
            origin: [0, 0],
            size: [2, 1],
            color: color.map(|value| f64::from(f32::from(value) / 255.0)),
            alpha: true,
            tolerances: tolerances.to_vec(),
        }
    }

    #[test]
    fn eight_bits_must_be_exact_by_default() {
        let buffer = picture("B8G8R8A8_UNORM");
        let bytes = [3, 2, 1, 4, 3, 2, 2, 4];
        let mismatch = probe(&buffer, &bytes, 2, &of([1, 2, 3, 4], &[])).unwrap();
        assert_eq!(
            mismatch.to_string(),
            "pixel 1, 0 at byte 4 is (2 2 3 4), not (1 2 3 4) (1 of 2 pixels differ)"
        );
        let one = Tolerance::Absolute(0.005);
        assert_eq!(probe(&buffer, &bytes, 2, &of([1, 2, 3, 4], &[one])), None);
        let none = Tolerance::Absolute(1e-6);
        let only_red = [one, none, none, none];
        assert_eq!(
            probe(&buffer, &bytes, 2, &of([1, 2, 3, 4], &only_red)),
            None
        );
        assert!(probe(&buffer, &bytes, 2, &of([1, 3, 3, 4], &only_red)).is_some());
    }

    #[test]
    fn srgb_is_compared_linearly_and_alpha_is_not() {
        let buffer = picture("R8G8B8A8_SRGB");
        // 188 is half of the light: ((188/255 + 0.055) / 1.055)^2.4 = 0.5029.
        let bytes = [188, 0, 255, 128, 188, 0, 255, 128];
        assert_eq!(
            probe(&buffer, &bytes, 2, &of([128, 0, 255, 128], &[])),
            None
        );
    }

    #[test]
    fn depth_has_no_color() {
        let buffer = picture("D32_SFLOAT");
        assert_eq!(probe(&buffer, &[1; 8], 2, &of([9, 9, 9, 9], &[])), None);
    }
}
