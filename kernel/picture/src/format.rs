//! Pixel formats: which bits of a little-endian pixel are red, green and blue.
//!
//! Alpha is not a colour on a screen: it is ignored when a pixel is read, and opaque when one is written.
//! Facts: Vulkan's names are the API's; those of a device tree are in `DEVICE_TREE`.

/// A component's place in a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Channel {
    low: u32,
    bits: u32,
}

impl Channel {
    const fn new(low: u32, bits: u32) -> Channel {
        Channel { low, bits }
    }

    /// Largest value.
    const fn most(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }
}

/// A pixel format of up to 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelFormat {
    bytes: usize,
    /// Red, green, blue.
    channels: [Channel; 3],
}

impl PixelFormat {
    const fn new(bytes: usize, red: Channel, green: Channel, blue: Channel) -> PixelFormat {
        let channels = [red, green, blue];
        PixelFormat { bytes, channels }
    }

    /// Bytes in memory: red, green, blue, alpha.
    pub const R8G8B8A8: PixelFormat = PixelFormat::new(
        4,
        Channel::new(0, 8),
        Channel::new(8, 8),
        Channel::new(16, 8),
    );
    /// Bytes in memory: blue, green, red, and one that is not looked at.
    pub const X8R8G8B8: PixelFormat = PixelFormat::new(
        4,
        Channel::new(16, 8),
        Channel::new(8, 8),
        Channel::new(0, 8),
    );
    const R8G8B8: PixelFormat = PixelFormat::new(
        3,
        Channel::new(16, 8),
        Channel::new(8, 8),
        Channel::new(0, 8),
    );
    const R5G6B5: PixelFormat = PixelFormat::new(
        2,
        Channel::new(11, 5),
        Channel::new(5, 6),
        Channel::new(0, 5),
    );
    const R5G5B5: PixelFormat = PixelFormat::new(
        2,
        Channel::new(10, 5),
        Channel::new(5, 5),
        Channel::new(0, 5),
    );
    const R10G10B10: PixelFormat = PixelFormat::new(
        4,
        Channel::new(20, 10),
        Channel::new(10, 10),
        Channel::new(0, 10),
    );
    const B10G10R10: PixelFormat = PixelFormat::new(
        4,
        Channel::new(0, 10),
        Channel::new(10, 10),
        Channel::new(20, 10),
    );

    /// The format that a `simple-framebuffer` node calls so.
    pub fn of_device_tree(name: &str) -> Option<PixelFormat> {
        find(DEVICE_TREE, name)
    }

    /// The format of texels that Vulkan calls so, with or without `VK_FORMAT_`, if a picture of them can be shown: 8-bit
    /// RGBA and a few packed ones. Values go to the screen as they are: sRGB stays sRGB, and an integer of 8 bits is shown as a fraction
    /// of 255.
    pub fn of_vulkan(name: &str) -> Option<PixelFormat> {
        find(VULKAN, name.strip_prefix("VK_FORMAT_").unwrap_or(name))
    }

    /// Vulkan's names of all formats that can be shown.
    pub fn vulkan_names() -> impl Iterator<Item = &'static str> {
        VULKAN.iter().map(|(name, _)| *name)
    }

    /// Bytes of a pixel.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// A pixel of this format, of one of another; one that is cut short is black.
    pub(crate) fn of_other(&self, other: &PixelFormat, pixel: &[u8]) -> [u8; 4] {
        let mut word = [0; 4];
        for (byte, given) in word.iter_mut().zip(pixel) {
            *byte = *given;
        }
        let word = u32::from_le_bytes(word);
        let mut made = self.opaque_black();
        for (to, from) in self.channels.iter().zip(&other.channels) {
            let value = word >> from.low & from.most();
            made |= scaled(value, from.most(), to.most()) << to.low;
        }
        made.to_le_bytes()
    }

    /// Every bit that is no colour's.
    pub(crate) fn opaque_black(&self) -> u32 {
        let colours = self.channels.iter();
        colours.fold(u32::MAX, |rest, channel| {
            rest & !(channel.most() << channel.low)
        })
    }
}

/// A fraction of `from` as the nearest one of `to`.
fn scaled(value: u32, from: u32, to: u32) -> u32 {
    if from == to {
        return value;
    }
    (value * to + from / 2) / from
}

fn find(names: &[(&str, PixelFormat)], wanted: &str) -> Option<PixelFormat> {
    let mut names = names.iter();
    names
        .find(|(name, _)| *name == wanted)
        .map(|(_, format)| *format)
}

// FACT: no sheet has the device tree's binding of `simple-framebuffer`. Names are read from the highest bit of a little-endian pixel down,
// which is how the binding describes `a8b8g8r8`. Settled by a picture with three different colours on a board's screen.
/// What a `simple-framebuffer` node calls its formats.
#[rustfmt::skip]
const DEVICE_TREE: &[(&str, PixelFormat)] = &[
    ("r5g6b5",      PixelFormat::R5G6B5),
    ("x1r5g5b5",    PixelFormat::R5G5B5),
    ("a1r5g5b5",    PixelFormat::R5G5B5),
    ("r8g8b8",      PixelFormat::R8G8B8),
    ("x8r8g8b8",    PixelFormat::X8R8G8B8),
    ("a8r8g8b8",    PixelFormat::X8R8G8B8),
    ("x8b8g8r8",    PixelFormat::R8G8B8A8),
    ("a8b8g8r8",    PixelFormat::R8G8B8A8),
    ("x2r10g10b10", PixelFormat::R10G10B10),
    ("a2r10g10b10", PixelFormat::R10G10B10),
];

#[rustfmt::skip]
const VULKAN: &[(&str, PixelFormat)] = &[
    ("R8G8B8A8_UNORM",           PixelFormat::R8G8B8A8),
    ("R8G8B8A8_SRGB",            PixelFormat::R8G8B8A8),
    ("R8G8B8A8_UINT",            PixelFormat::R8G8B8A8),
    ("B8G8R8A8_UNORM",           PixelFormat::X8R8G8B8),
    ("B8G8R8A8_SRGB",            PixelFormat::X8R8G8B8),
    ("A8B8G8R8_UNORM_PACK32",    PixelFormat::R8G8B8A8),
    ("A8B8G8R8_SRGB_PACK32",     PixelFormat::R8G8B8A8),
    ("A8B8G8R8_UINT_PACK32",     PixelFormat::R8G8B8A8),
    ("R5G6B5_UNORM_PACK16",      PixelFormat::R5G6B5),
    ("A1R5G5B5_UNORM_PACK16",    PixelFormat::R5G5B5),
    ("A2R10G10B10_UNORM_PACK32", PixelFormat::R10G10B10),
    ("A2B10G10R10_UNORM_PACK32", PixelFormat::B10G10R10),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &str, pixel: &[u8], to: &str, expected: &[u8]) {
        let from = PixelFormat::of_vulkan(from).unwrap();
        let to = PixelFormat::of_device_tree(to).unwrap();
        let made = to.of_other(&from, pixel);
        assert_eq!(&made[..to.bytes()], expected);
    }

    #[test]
    fn components_go_to_their_places() {
        let pixel = &[0x11, 0x22, 0x33, 0x44];
        let name = "VK_FORMAT_R8G8B8A8_UNORM";
        check(name, pixel, "a8r8g8b8", &[0x33, 0x22, 0x11, 0xFF]);
        check(name, pixel, "x8b8g8r8", &[0x11, 0x22, 0x33, 0xFF]);
        check(name, pixel, "r8g8b8", &[0x33, 0x22, 0x11]);
        check(
            "B8G8R8A8_SRGB",
            pixel,
            "x8b8g8r8",
            &[0x33, 0x22, 0x11, 0xFF],
        );
    }

    #[test]
    fn components_of_other_widths_are_rounded() {
        let red = &[255, 0, 0, 0];
        check("R8G8B8A8_UNORM", red, "r5g6b5", &0xF800_u16.to_le_bytes());
        let grey = &[128, 128, 128, 0];
        // 128 of 255 is 15.56 of 31 and 31.6 of 63; of 1023 it is 513.5.
        let word = 16 << 11 | 32 << 5 | 16_u16;
        check("R8G8B8A8_UNORM", grey, "r5g6b5", &word.to_le_bytes());
        let word = 3 << 30 | 514 << 20 | 514 << 10 | 514_u32;
        check("R8G8B8A8_UNORM", grey, "x2r10g10b10", &word.to_le_bytes());
        let white = &0x7FFF_u16.to_le_bytes();
        check("A1R5G5B5_UNORM_PACK16", white, "x8r8g8b8", &[255; 4]);
    }

    #[test]
    fn all_values_of_8_bits_stay_what_they_are() {
        for value in 0..=255 {
            let pixel = &[value, value ^ 0x5A, !value, 7];
            let [r, g, b, _] = *pixel;
            check("R8G8B8A8_UINT", pixel, "x8r8g8b8", &[b, g, r, 255]);
        }
    }

    #[test]
    fn other_formats_are_refused() {
        for name in ["R32G32B32A32_SFLOAT", "R8G8B8A8", ""] {
            assert_eq!(PixelFormat::of_vulkan(name), None, "{name}");
        }
        for name in ["a8r8g8b8 ", "yuyv", "R5G6B5", ""] {
            assert_eq!(PixelFormat::of_device_tree(name), None, "{name}");
        }
    }
}
