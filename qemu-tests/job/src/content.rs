//! What a resource of a bundle is: a buffer, texels of one, an image, a sampler; and the words for it.

use eitri_descriptors::formats::{Uses, VkFormat};
use eitri_descriptors::texture::{Func, WrapMode};
use eitri_descriptors::{Arch, PixelFormat};
use eitri_program::ImageDimension;
use eitri_runtime::{ImageInfo, SamplerInfo, Tiling};

/// Words of the description of a resource: the kind, and what belongs to it.
pub(crate) const DETAIL_WORDS: usize = 13;
/// Formats are named by the words that every architecture has for them.
const ARCH: Arch = Arch::V10;

const BUFFER: u32 = 0;
const TEXELS: u32 = 1;
const IMAGE: u32 = 2;
const SAMPLER: u32 = 3;

/// What a resource is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// A storage or uniform buffer.
    Buffer,
    /// A buffer of texels of this format.
    Texels(&'static VkFormat),
    /// An image, alone or beside its sampler.
    Image(ImageInfo),
    /// A sampler, alone or beside its image. It has no data.
    Sampler(SamplerInfo),
}

/// The format of a word: of those that differ in their planes only, the one of single texels.
fn format(word: u32) -> Option<&'static VkFormat> {
    VkFormat::of_pixel_format(ARCH, PixelFormat(word))
        .find(|format| format.clump_code.is_some_and(|code| code < 32))
}

/// The format of texels that Vulkan calls so, with or without `VK_FORMAT_`; `None` where images can't have it.
pub fn texel_format(name: &str) -> Option<&'static VkFormat> {
    VkFormat::of_name(ARCH, name).filter(|format| {
        let texels = format.uses.contains(Uses::TEXTURE) || format.uses.contains(Uses::IMAGE);
        texels && format.clump_code.is_some_and(|code| code < 32)
    })
}

fn wrap(code: u32) -> Option<WrapMode> {
    Some(match code {
        8 => WrapMode::Repeat,
        9 => WrapMode::ClampToEdge,
        11 => WrapMode::ClampToBorder,
        12 => WrapMode::MirroredRepeat,
        13 => WrapMode::MirroredClampToEdge,
        15 => WrapMode::MirroredClampToBorder,
        _ => return None,
    })
}

/// A comparison; 0 is none.
fn compare(code: u32) -> Option<Option<Func>> {
    Some(Some(match code {
        0 => return Some(None),
        1 => Func::Never,
        2 => Func::Less,
        3 => Func::Equal,
        4 => Func::Lequal,
        5 => Func::Greater,
        6 => Func::NotEqual,
        7 => Func::Gequal,
        8 => Func::Always,
        _ => return None,
    }))
}

impl Content {
    pub(crate) fn from_words(words: [u32; DETAIL_WORDS]) -> Option<Content> {
        let [kind, a, b, c, d, e, f, g, h, i, j, k, l] = words;
        let content = match kind {
            BUFFER => Content::Buffer,
            TEXELS => Content::Texels(format(a)?),
            IMAGE => Content::Image(ImageInfo {
                format: format(a)?,
                dimension: match b {
                    0 => ImageDimension::OneD,
                    1 => ImageDimension::TwoD,
                    2 => ImageDimension::ThreeD,
                    3 => ImageDimension::Cube,
                    _ => return None,
                },
                width: c,
                height: d,
                depth: e,
                layers: f,
                levels: g,
                samples: h,
                tiling: match i {
                    0 => Tiling::Linear,
                    1 => Tiling::UInterleaved,
                    2 => Tiling::Afbc,
                    _ => return None,
                },
                placed: None,
            }),
            SAMPLER => Content::Sampler(SamplerInfo {
                magnify_linear: a & 1 != 0,
                minify_linear: a & 2 != 0,
                mipmap_linear: a & 4 != 0,
                unnormalized: a & 8 != 0,
                wrap: [wrap(b & 0xf)?, wrap(b >> 4 & 0xf)?, wrap(b >> 8 & 0xf)?],
                lod_bias: f32::from_bits(c),
                min_lod: f32::from_bits(d),
                max_lod: f32::from_bits(e),
                max_anisotropy: f,
                compare: compare(g)?,
                border: [h, i, j, k],
            }),
            _ => return None,
        };
        // The last word is no kind's.
        (l == 0).then_some(content)
    }

    #[cfg(feature = "host")]
    pub(crate) fn to_words(self) -> [u32; DETAIL_WORDS] {
        let mut words = [0; DETAIL_WORDS];
        let mut fill = |all: &[u32]| {
            for (to, from) in words.iter_mut().zip(all) {
                *to = *from;
            }
        };
        match self {
            Content::Buffer => fill(&[BUFFER]),
            Content::Texels(format) => fill(&[TEXELS, format.pixel_format().0]),
            Content::Image(info) => {
                let dimension = match info.dimension {
                    ImageDimension::OneD => 0,
                    ImageDimension::TwoD => 1,
                    ImageDimension::ThreeD => 2,
                    ImageDimension::Cube => 3,
                };
                let tiling = match info.tiling {
                    Tiling::Linear => 0,
                    Tiling::UInterleaved => 1,
                    Tiling::Afbc => 2,
                };
                fill(&[
                    IMAGE,
                    info.format.pixel_format().0,
                    dimension,
                    info.width,
                    info.height,
                    info.depth,
                    info.layers,
                    info.levels,
                    info.samples,
                    tiling,
                ]);
            }
            Content::Sampler(info) => {
                let flags = u32::from(info.magnify_linear)
                    | u32::from(info.minify_linear) << 1
                    | u32::from(info.mipmap_linear) << 2
                    | u32::from(info.unnormalized) << 3;
                let [s, t, r] = info.wrap.map(|wrap| wrap as u32);
                let compare = info
                    .compare
                    .map_or(0, |func| (func as u32).saturating_add(1));
                let [red, green, blue, alpha] = info.border;
                fill(&[
                    SAMPLER,
                    flags,
                    s | t << 4 | r << 8,
                    info.lod_bias.to_bits(),
                    info.min_lod.to_bits(),
                    info.max_lod.to_bits(),
                    info.max_anisotropy,
                    compare,
                    red,
                    green,
                    blue,
                    alpha,
                ]);
            }
        }
        words
    }
}
