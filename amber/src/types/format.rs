//! Image formats: the names of Vulkan without `VK_FORMAT_`, taken apart into channels.

use super::{Component, Element, Numeric, Scalar};
use crate::words::{Word, words};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

words! {
    /// What a channel holds.
    ChannelName, "a channel":
    Red     = "R",
    Green   = "G",
    Blue    = "B",
    Alpha   = "A",
    Depth   = "D",
    Stencil = "S",
    Unused  = "X",
}

words! {
    /// How a channel's bits mean a number.
    Encoding, "an encoding":
    Unorm   = "UNORM",
    Snorm   = "SNORM",
    Uscaled = "USCALED",
    Sscaled = "SSCALED",
    Uint    = "UINT",
    Sint    = "SINT",
    Srgb    = "SRGB",
    Sfloat  = "SFLOAT",
    Ufloat  = "UFLOAT",
}

/// A channel of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// What it holds.
    pub name: ChannelName,
    /// Its width.
    pub bits: u8,
    /// How the bits mean a number.
    pub encoding: Encoding,
}

/// An image format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    name: String,
    /// In the order of the name.
    pub channels: Vec<Channel>,
    /// Bits of the one integer that all channels are packed into.
    pub packed: Option<u8>,
}

const WIDE: &[&str] = &["UINT", "SINT", "SFLOAT"];
const NORMAL: &[&str] = &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"];
const COLOR: &[&str] = &[
    "UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SRGB",
];
const HALF: &[&str] = &[
    "UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SFLOAT",
];
const UNORM: &[&str] = &["UNORM"];

/// Families of names: channels, encodings, what follows. Language reference, section 6.4.
#[rustfmt::skip]
const FAMILIES: &[(&[&str], &[&str], &str)] = &[
    (&["R8", "R8G8", "R8G8B8", "B8G8R8", "R8G8B8A8", "B8G8R8A8"],       COLOR,          ""),
    (&["R16", "R16G16", "R16G16B16", "R16G16B16A16"],                   HALF,           ""),
    (&["R32", "R32G32", "R32G32B32", "R32G32B32A32"],                   WIDE,           ""),
    (&["R64", "R64G64", "R64G64B64", "R64G64B64A64"],                   WIDE,           ""),
    (&["A8B8G8R8"],                                                     COLOR,          "_PACK32"),
    (&["A2R10G10B10", "A2B10G10R10"],                                   NORMAL,         "_PACK32"),
    (&["B10G11R11"],                                                    &["UFLOAT"],    "_PACK32"),
    (&["R4G4B4A4", "B4G4R4A4", "R5G6B5", "B5G6R5", "R5G5B5A1", "B5G5R5A1", "A1R5G5B5"], UNORM, "_PACK16"),
    (&["R4G4"],                                                         UNORM,          "_PACK8"),
    (&["D16"],                                                          UNORM,          ""),
    (&["X8_D24"],                                                       UNORM,          "_PACK32"),
    (&["D32"],                                                          &["SFLOAT"],    ""),
    (&["S8"],                                                           &["UINT"],      ""),
    (&["D16_UNORM_S8", "D24_UNORM_S8"],                                 &["UINT"],      ""),
    (&["D32_SFLOAT_S8"],                                                &["UINT"],      ""),
];

impl Format {
    /// Every format's name.
    pub fn names() -> impl Iterator<Item = String> {
        FAMILIES.iter().flat_map(|(channels, encodings, suffix)| {
            channels.iter().flat_map(move |channels| {
                encodings
                    .iter()
                    .map(move |encoding| format!("{channels}_{encoding}{suffix}"))
            })
        })
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Format> {
        if !Format::names().any(|known| known == name) {
            return None;
        }
        let mut format = Format {
            name: name.to_owned(),
            channels: Vec::new(),
            packed: None,
        };
        // `R8G8`, `UNORM`, `PACK32`: an encoding is that of the channels before it that have none yet.
        let mut open = 0;
        for part in name.split('_') {
            if let Some(encoding) = Encoding::from_text(part) {
                for channel in format.channels.iter_mut().skip(open) {
                    channel.encoding = encoding;
                }
                open = format.channels.len();
            } else if let Some(bits) = part.strip_prefix("PACK") {
                format.packed = bits.parse().ok();
            } else {
                format.channels.extend(channels(part));
            }
        }
        Some(format)
    }

    /// Its name, without `VK_FORMAT_`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has depth or stencil.
    pub fn is_depth_stencil(&self) -> bool {
        let names = [ChannelName::Depth, ChannelName::Stencil];
        self.channels
            .iter()
            .any(|channel| names.contains(&channel.name))
    }

    /// Whether every channel is eight unsigned bits, four of them, each in its own byte.
    pub fn is_four_bytes(&self) -> bool {
        let byte = |channel: &Channel| channel.bits == 8 && !channel.scalar().is_signed();
        self.packed.is_none() && self.channels.len() == 4 && self.channels.iter().all(byte)
    }

    /// Where the components of an element of this format lie.
    pub fn element(&self) -> Element {
        if let Some(bits) = self.packed {
            let scalar = match bits {
                8 => Scalar::Uint8,
                16 => Scalar::Uint16,
                _ => Scalar::Uint32,
            };
            return Element {
                components: vec![Component { offset: 0, scalar }],
                stride: scalar.bytes(),
            };
        }
        let mut offset = 0;
        let mut components = Vec::new();
        for channel in &self.channels {
            let scalar = channel.scalar();
            components.push(Component { offset, scalar });
            offset += scalar.bytes();
        }
        // Three channels stride as four.
        let padding = match &self.channels[..] {
            [first, _, _] => first.scalar().bytes(),
            _ => 0,
        };
        Element {
            components,
            stride: offset + padding,
        }
    }

    /// The vector that this format is another name of.
    pub(crate) fn as_numeric(&self) -> Option<Numeric> {
        let order = [
            ChannelName::Red,
            ChannelName::Green,
            ChannelName::Blue,
            ChannelName::Alpha,
        ];
        let plain = |(channel, name): (&Channel, &ChannelName)| {
            channel.name == *name
                && matches!(
                    channel.encoding,
                    Encoding::Uint | Encoding::Sint | Encoding::Sfloat
                )
        };
        let first = self.channels.first()?;
        let is_plain = self.packed.is_none() && self.channels.iter().zip(&order).all(plain);
        let rows = u8::try_from(self.channels.len()).ok()?;
        is_plain.then(|| Numeric::vector(first.scalar(), rows))
    }
}

impl Channel {
    /// The type that one channel of its own has in memory.
    fn scalar(&self) -> Scalar {
        use Encoding::{Sfloat, Sint, Snorm, Sscaled};
        let signed = matches!(self.encoding, Snorm | Sscaled | Sint);
        match (self.bits, self.encoding == Sfloat, signed) {
            (16, true, _) => Scalar::Float16,
            (64, true, _) => Scalar::Double,
            (_, true, _) => Scalar::Float,
            (8, _, true) => Scalar::Int8,
            (16, _, true) => Scalar::Int16,
            (64, _, true) => Scalar::Int64,
            (_, _, true) => Scalar::Int32,
            (8, ..) => Scalar::Uint8,
            (16, ..) => Scalar::Uint16,
            (24, ..) => Scalar::Uint24,
            (64, ..) => Scalar::Uint64,
            _ => Scalar::Uint32,
        }
    }
}

/// `R8G8` to its channels; their encoding follows later in the name.
fn channels(part: &str) -> Vec<Channel> {
    let mut channels = Vec::new();
    let mut rest = part;
    while let Some(name) = rest.get(..1).and_then(ChannelName::from_text) {
        let digits = &rest[1..];
        let length = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        channels.push(Channel {
            name,
            bits: digits[..length].parse().unwrap_or(0),
            encoding: Encoding::Unorm,
        });
        rest = &digits[length..];
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_formats_as_in_the_reference() {
        let names: std::collections::BTreeSet<String> = Format::names().collect();
        assert_eq!(names.len(), 129);
        for name in names {
            let format = Format::named(&name).unwrap();
            let bits: u32 = format
                .channels
                .iter()
                .map(|channel| u32::from(channel.bits))
                .sum();
            match format.packed {
                Some(packed) => assert_eq!(bits, u32::from(packed), "{name}"),
                None => assert!(
                    format.channels.iter().all(|channel| channel.bits % 8 == 0),
                    "{name}"
                ),
            }
        }
        assert_eq!(Format::named("R8G8B8_UFLOAT"), None);
    }

    #[track_caller]
    fn check(name: &str, stride: usize, values: usize) {
        let element = Format::named(name).unwrap().element();
        assert_eq!(
            (element.stride, element.components.len()),
            (stride, values),
            "{name}"
        );
    }

    /// The table of the language reference, section 6.4.
    #[test]
    fn strides_and_values_are_those_of_the_reference() {
        check("R8_UNORM", 1, 1);
        check("B8G8R8_SRGB", 4, 3);
        check("B8G8R8A8_UNORM", 4, 4);
        check("R16G16B16_SFLOAT", 8, 3);
        check("R32G32_SINT", 8, 2);
        check("R64G64B64_UINT", 32, 3);
        check("A2B10G10R10_USCALED_PACK32", 4, 1);
        check("R5G6B5_UNORM_PACK16", 2, 1);
        check("R4G4_UNORM_PACK8", 1, 1);
        check("X8_D24_UNORM_PACK32", 4, 1);
        check("D16_UNORM_S8_UINT", 3, 2);
        check("D24_UNORM_S8_UINT", 4, 2);
        check("D32_SFLOAT_S8_UINT", 5, 2);
    }

    #[test]
    fn plain_formats_are_vectors() {
        let plain = |name: &str| {
            Format::named(name)
                .unwrap()
                .as_numeric()
                .map(|n| n.to_string())
        };
        assert_eq!(plain("R32G32_SFLOAT").as_deref(), Some("vec2<float>"));
        assert_eq!(plain("R8_UINT").as_deref(), Some("uint8"));
        assert_eq!(plain("R8_UNORM"), None);
        assert_eq!(plain("B8G8R8A8_UINT"), None);
        assert_eq!(plain("D32_SFLOAT"), None);
    }
}
