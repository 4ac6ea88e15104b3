//! Fields of texels: where components lie, and in which format their bits are read and written.
//!
//! Pure.  Facts: hardware/graphics-formats.md 3 and 4, data/formats.json.

use super::clear;
use eitri_descriptors::Arch;
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::plane::AfbcCompressionMode as Mode;

/// A component's bits in a texel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    /// Bits below it.
    pub(super) shift: u32,
    /// 0 of a component that is not there.
    pub(super) bits: u32,
}

impl Field {
    /// Its greatest value.
    pub(super) const fn most(self) -> u32 {
        match 1_u32.checked_shl(self.bits) {
            Some(all) => all.wrapping_sub(1),
            None => u32::MAX,
        }
    }
}

/// How texels of a format are taken to pieces, and put together again, bit by bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Packing {
    /// The format in which they are fetched and rendered: one of integers, or one whose fractions stand for the fields.
    pub(super) format: &'static VkFormat,
    /// Fields are fractions of their greatest value.
    pub(super) scaled: bool,
    /// Red, green, blue and alpha; or depth, or stencil.
    pub(super) fields: [Field; 4],
}

impl Packing {
    /// How many components there are.
    pub(super) fn count(&self) -> usize {
        self.fields.iter().filter(|field| field.bits > 0).count()
    }

    /// That of a format of attachments that are compressed; `None` of floats with fields that no format has as integers.
    pub(super) fn of(arch: Arch, format: &'static VkFormat) -> Option<Packing> {
        let mode = format.compression()?.mode;
        // Raw targets are written in the order of their fields, whatever the order of the format's components
        // (hardware/graphics-framebuffer.md 5.3).
        let integers = match mode {
            Mode::R8 => Some("R8_UINT"),
            Mode::R16 => Some("R16_UINT"),
            Mode::R16G16 => Some("R16G16_UINT"),
            Mode::R8G8B8A8 => Some("R8G8B8A8_UINT"),
            Mode::R10G10B10A2 => Some("A2B10G10R10_UINT_PACK32"),
            Mode::R16G16B16A16 => Some("R16G16B16A16_UINT"),
            Mode::R8G8 if format.target().is_some() => Some("R8G8_UINT"),
            _ => None,
        };
        let integers = integers.and_then(|name| VkFormat::of_name(arch, name));
        let single = format.target().is_none();
        let scaled = integers.is_none() && !format.has("UINT");
        if scaled && !format.has("UNORM") {
            return None;
        }
        let format = integers.unwrap_or(format);
        let mut fields = [Field::default(); 4];
        if single {
            fields[0].bits = format.block_bytes.wrapping_mul(8);
        } else {
            let mut shift = 0_u32;
            for (channel, bits) in clear::channels(format) {
                if let Some(field) = fields.get_mut(channel) {
                    *field = Field { shift, bits };
                }
                shift = shift.wrapping_add(bits);
            }
        }
        Some(Packing {
            format,
            scaled,
            fields,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str, scaled: bool, fields: [(u32, u32); 4]) {
        let format = VkFormat::of_name(Arch::V10, name).expect("a format");
        let packing = Packing::of(Arch::V10, format).expect("it can be copied");
        assert_eq!(packing.format.name, expected, "{name}");
        assert_eq!(packing.scaled, scaled, "{name}");
        let found = packing.fields.map(|it| (it.shift, it.bits));
        assert_eq!(found, fields, "{name}");
    }

    #[test]
    fn fields_are_where_formats_have_them() {
        let bytes = [(0, 8), (8, 8), (16, 8), (24, 8)];
        check("R8G8B8A8_SRGB", "R8G8B8A8_UINT", false, bytes);
        check("A8B8G8R8_UNORM_PACK32", "R8G8B8A8_UINT", false, bytes);
        check("B8G8R8A8_UNORM", "R8G8B8A8_UINT", false, bytes);
        let halves = [(0, 16), (16, 16), (32, 16), (48, 16)];
        check("R16G16B16A16_SFLOAT", "R16G16B16A16_UINT", false, halves);
        let tens = [(0, 10), (10, 10), (20, 10), (30, 2)];
        check(
            "A2B10G10R10_UNORM_PACK32",
            "A2B10G10R10_UINT_PACK32",
            false,
            tens,
        );
        let fives = [(11, 5), (5, 6), (0, 5), (0, 0)];
        check("R5G6B5_UNORM_PACK16", "R5G6B5_UNORM_PACK16", true, fives);
        check(
            "R8_SNORM",
            "R8_UINT",
            false,
            [(0, 8), (0, 0), (0, 0), (0, 0)],
        );
        check(
            "S8_UINT",
            "S8_UINT",
            false,
            [(0, 8), (0, 0), (0, 0), (0, 0)],
        );
        check(
            "D16_UNORM",
            "D16_UNORM",
            true,
            [(0, 16), (0, 0), (0, 0), (0, 0)],
        );
    }

    /// Whatever can be compressed and is to be copied has one.
    #[test]
    fn every_format_whose_copies_are_promised_has_a_packing() {
        for format in VkFormat::all(Arch::V10) {
            if format.compression().is_some() {
                let promised =
                    crate::resource::ImageInfo::two_d(format, 64, 64).copies_compressed();
                let found = Packing::of(Arch::V10, format).is_some();
                assert_eq!(found, promised, "{}", format.name);
            }
        }
    }
}
