//! Descriptors of images, samplers and texel buffers.
//!
//! Facts: hardware/descriptors.md sections 5, 7, 8 and 9; hardware/graphics-texture.md 7.2 to 7.5 and 7.8.

use super::descriptors::pack;
use super::image::{ImageError, ImageInfo, Level, PLANE_BYTES};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::plane::{Astc2DPlane, ClumpFormat, GenericPlane};
use eitri_descriptors::resource::Buffer;
use eitri_descriptors::texture::{Func, LodAlgorithm, MipmapMode, Sampler, WrapMode};
use eitri_descriptors::{Address, Arch, DescriptorError, RawOrFloat, Slod, Ulod};

/// How an image is sampled. Names and meaning are Vulkan's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerInfo {
    /// Whether texels are mixed where the image is made larger.
    pub magnify_linear: bool,
    /// Whether texels are mixed where the image is made smaller.
    pub minify_linear: bool,
    /// Whether levels are mixed.
    pub mipmap_linear: bool,
    /// What coordinates outside read, along each axis.
    pub wrap: [WrapMode; 3],
    /// Added to the level.
    pub lod_bias: f32,
    /// Least level.
    pub min_lod: f32,
    /// Greatest level.
    pub max_lod: f32,
    /// Probes along the longer axis, 1 to 16; 1 is none.
    pub max_anisotropy: u32,
    /// Comparison of a reference with texels: reference, then texel.
    pub compare: Option<Func>,
    /// Coordinates count texels.
    pub unnormalized: bool,
    /// What lies outside of an image with a border: bits of floats or integers.
    pub border: [u32; 4],
}

impl Default for SamplerInfo {
    /// Nearest texel of the nearest level, clamped to the edge.
    fn default() -> SamplerInfo {
        SamplerInfo {
            magnify_linear: false,
            minify_linear: false,
            mipmap_linear: false,
            wrap: [WrapMode::ClampToEdge; 3],
            lod_bias: 0.0,
            min_lod: 0.0,
            max_lod: 32.0,
            max_anisotropy: 1,
            compare: None,
            unnormalized: false,
            border: [0; 4],
        }
    }
}

/// The texels of a buffer of `bytes` at `address`.
pub(crate) fn texel_buffer(
    arch: Arch,
    (address, bytes): (u64, u32),
    format: &VkFormat,
) -> Result<[u32; 8], DescriptorError> {
    let mut words: [u32; 8] = pack(
        arch,
        Buffer {
            size: bytes,
            address: Address(address),
            stride: format.block_bytes,
            ..Buffer::default()
        },
    )?;
    // The last word is software's own: the shader reads its conversion word there (compiler-abi.md 1.5).
    words[7] = format.pixel_format().0;
    Ok(words)
}

/// Writes the plane descriptors of an image at `address`: each by its offset.
pub(crate) fn planes(
    arch: Arch,
    info: &ImageInfo,
    address: u64,
    mut write: impl FnMut(u64, [u32; 8]),
) -> Result<(), DescriptorError> {
    for (_, plane) in info.planes() {
        let mut offset = plane.descriptors;
        for layer in 0..info.layers {
            for level in 0..info.levels {
                let lies = plane.level(level, layer);
                let at = address.wrapping_add(lies.offset);
                let part = PlanePart::of(&plane.info, level, &lies);
                write(offset, part.words(arch, at)?);
                offset = offset.saturating_add(PLANE_BYTES);
            }
        }
    }
    Ok(())
}

/// What a plane descriptor says besides its address: a level of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanePart<'a> {
    /// The plane as an image of its own.
    pub(crate) info: &'a ImageInfo,
    /// Texels along x and y.
    pub(crate) size: [u32; 2],
    /// Bytes from row to row, and from slice to slice.
    pub(crate) strides: [u64; 2],
    /// Bytes of all slices.
    pub(crate) bytes: u64,
}

impl<'a> PlanePart<'a> {
    /// All of a level, which lies so.
    pub(crate) fn of(info: &'a ImageInfo, level: u32, lies: &Level) -> PlanePart<'a> {
        let [width, height, _] = info.level_size(level);
        PlanePart {
            info,
            size: [width, height],
            strides: [lies.row, lies.slice],
            bytes: lies.bytes(),
        }
    }

    /// The descriptor of the part at `address`.
    pub(crate) fn words(&self, arch: Arch, address: u64) -> Result<[u32; 8], DescriptorError> {
        let [width, height] = self.size;
        let [row, slice] = self.strides;
        if self.info.is_afbc() {
            let part = (self.size, row, self.bytes);
            return self.info.compressed_plane(arch, part, address);
        }
        let row_stride = u32::try_from(row).unwrap_or(u32::MAX);
        let family = self.info.format.compressed();
        if let Some([block_width, block_height]) = family.and_then(|family| family.astc()) {
            return pack(
                arch,
                Astc2DPlane {
                    clump_ordering: self.info.ordering(),
                    decode_hdr: false,
                    // sRGB decodes to 8 bits.
                    decode_wide: !self.info.format.srgb,
                    block_width,
                    block_height,
                    size: self.bytes as u32,
                    size_hi: (self.bytes >> 32) as u32,
                    pointer: Address(address),
                    row_stride,
                    slice_stride: slice as u32,
                    slice_stride_hi: (slice >> 32) as u32,
                    width,
                    height,
                    ..Astc2DPlane::default()
                },
            );
        }
        pack(
            arch,
            GenericPlane {
                clump_ordering: self.info.ordering(),
                // `ImageInfo::check` has looked at the format.
                clump_format: self.info.clump().unwrap_or(ClumpFormat::RAW8),
                size: self.bytes as u32,
                size_hi: (self.bytes >> 32) as u32,
                pointer: Address(address),
                row_stride,
                slice_stride: slice as u32,
                slice_stride_hi: (slice >> 32) as u32,
                width,
                height,
                ..GenericPlane::default()
            },
        )
    }
}

/// The reference is the second operand of the hardware's comparison, and the first of Vulkan's.
const fn swapped(func: Func) -> Func {
    match func {
        Func::Less => Func::Greater,
        Func::Greater => Func::Less,
        Func::Lequal => Func::Gequal,
        Func::Gequal => Func::Lequal,
        Func::Never | Func::Equal | Func::NotEqual | Func::Always => func,
    }
}

/// The sampler of fetches, which is [`SamplerInfo::default`]'s on every generation. It is written as it is so that a program
/// without samplers needs no code that makes them.
pub(crate) const FETCHES: [u32; 8] = [0x1a89_9901, 0x1fff_0000, 0, 0, 0, 0, 0, 0];

/// A sampler.
pub(crate) fn sampler(arch: Arch, info: &SamplerInfo) -> Result<[u32; 8], DescriptorError> {
    let anisotropic = info.max_anisotropy > 1;
    let [s, t, r] = info.wrap;
    let [red, green, blue, alpha] = info.border.map(RawOrFloat);
    pack(
        arch,
        Sampler {
            wrap_mode_s: s,
            wrap_mode_t: t,
            wrap_mode_r: if info.unnormalized {
                WrapMode::ClampToEdge
            } else {
                r
            },
            round_to_nearest_even: info.magnify_linear || info.minify_linear,
            normalized_coordinates: !info.unnormalized,
            clamp_integer_array_indices: false,
            minify_nearest: !info.minify_linear,
            magnify_nearest: !info.magnify_linear,
            mipmap_mode: match (info.mipmap_linear, anisotropic) {
                (false, _) => MipmapMode::Nearest,
                (true, false) => MipmapMode::Trilinear,
                (true, true) => MipmapMode::PerformanceTrilinear,
            },
            minimum_lod: Ulod(info.min_lod),
            maximum_lod: Ulod(info.max_lod),
            lod_bias: Slod(info.lod_bias),
            compare_function: info.compare.map_or(Func::Never, swapped),
            maximum_anisotropy: info.max_anisotropy.clamp(1, 16),
            lod_algorithm: if anisotropic {
                LodAlgorithm::Anisotropic
            } else {
                LodAlgorithm::Isotropic
            },
            border_color_r: red,
            border_color_g: green,
            border_color_b: blue,
            border_color_a: alpha,
            ..Sampler::default()
        },
    )
}

/// Something else stands at the binding.
pub(crate) const fn wrong_kind(set: u32, binding: u32, what: &'static str) -> ImageError {
    ImageError::Kind { set, binding, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Descriptor as _;

    /// hardware/graphics-texture.md 7.13: 256 by 256 RGBA8, linear, at P = 0x2000_0000, its plane in front of it.
    #[test]
    fn planes_are_as_the_facts_say() {
        let format = VkFormat::of_name(Arch::V10, "R8G8B8A8_UNORM").expect("a format");
        let info = ImageInfo::two_d(format, 256, 256);
        let mut found = [0; 8];
        planes(Arch::V11, &info, 0x2000_0000 - 64, |_, words| found = words).expect("packs");
        let expected = [
            0x0200_021a,
            0x4_0000,
            0x2000_0000,
            0,
            0x400,
            0,
            0x4_0000,
            0x00ff_00ff,
        ];
        assert_eq!(found, expected);
    }

    /// Sizes and strides of 64 bits keep their high words.
    #[test]
    fn planes_may_be_larger_than_4_gib() {
        const BYTES: u64 = 0x7_8000_1000;
        const SLICE: u64 = 0x3_4000_0800;
        fn part(info: &ImageInfo) -> PlanePart<'_> {
            PlanePart {
                info,
                size: [256, 256],
                strides: [1024, SLICE],
                bytes: BYTES,
            }
        }
        let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        for arch in [Arch::V12, Arch::V13] {
            let info = |name| {
                let format = VkFormat::of_name(arch, name).expect("a format");
                ImageInfo::two_d(format, 256, 256)
            };
            let (plain, blocks) = (info("R8G8B8A8_UNORM"), info("ASTC_4x4_UNORM_BLOCK"));
            let generic = part(&plain).words(arch, 0x1000);
            let plane = GenericPlane::unpack(arch, &generic.expect("packs")).expect("unpacks");
            assert_eq!(wide(plane.size, plane.size_hi), BYTES, "{arch}");
            let stride = wide(plane.slice_stride, plane.slice_stride_hi);
            assert_eq!(stride, SLICE, "{arch}");
            let astc = part(&blocks).words(arch, 0x1000);
            let plane = Astc2DPlane::unpack(arch, &astc.expect("packs")).expect("unpacks");
            assert_eq!(wide(plane.size, plane.size_hi), BYTES, "{arch}");
            let stride = wide(plane.slice_stride, plane.slice_stride_hi);
            assert_eq!(stride, SLICE, "{arch}");
        }
    }

    /// hardware/graphics-texture.md 7.13.
    #[test]
    fn samplers_are_as_the_facts_say() {
        let trilinear = SamplerInfo {
            magnify_linear: true,
            minify_linear: true,
            mipmap_linear: true,
            wrap: [WrapMode::Repeat; 3],
            ..SamplerInfo::default()
        };
        let words = sampler(Arch::V10, &trilinear).expect("packs");
        // Bits 21 (rounding), 23 (seamless) and 25 (normalised) are those of newer drivers.
        assert_eq!(words[0] & !0x02a0_0000, 0xc088_8801 & !0x02a0_0000);
        assert_eq!(words[1..4], [0x1fff_0000, 0, 0]);
        let nearest = sampler(Arch::V10, &SamplerInfo::default()).expect("packs");
        assert_eq!(nearest[0], 0x1a89_9901);
    }

    #[test]
    fn the_sampler_of_fetches_is_the_default() {
        for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
            let words = sampler(arch, &SamplerInfo::default());
            assert_eq!(words, Ok(FETCHES), "{arch}");
        }
    }

    #[test]
    fn a_comparison_has_its_operands_swapped() {
        let info = SamplerInfo {
            compare: Some(Func::Less),
            ..SamplerInfo::default()
        };
        let words = sampler(Arch::V10, &info).expect("packs");
        assert_eq!(words[1] >> 13 & 7, Func::Greater as u32);
    }
}
