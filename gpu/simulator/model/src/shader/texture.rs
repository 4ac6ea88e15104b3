//! Textures as memory: from a texture descriptor and a texel's coordinates to the texel's address.
//!
//! Guarantees: an address that is given lies inside the plane; coordinates outside the texture give none. Planes are `plane`'s.
//!
//! Facts: hardware/descriptors.md 8, 9; hardware/graphics-texture.md 7.2, 7.3; reads outside of textures
//! hardware/graphics-model.md 5.4 and 5.5 (free choice).

use super::format::PixelFormat;
use super::plane::{DecodedPlanes, LastPlanes, Plane, compressed};
use super::sampling::Footing;
use super::yuv::{self, Yuv};
use crate::blocks::BlockFormat;
use crate::fabric::{Access, Fabric};
use crate::fidelity::Inexact;
use crate::memory::PhysicalMemory;
use crate::mmu::Refusal;
use crate::tile::afbc::AfbcSurface;
use crate::work::descriptors::descriptor_words;
use eitri_descriptors::Descriptor;
use eitri_descriptors::texture::{Texture as TextureDescriptor, TextureDimension};
use eitri_isa::Arch;

/// Bytes of a plane descriptor in the array.
const PLANE_BYTES: u64 = 32;
/// The conversion word of no texel: the constant format, whose loads give 0 and whose stores write nothing.
pub(crate) const NO_TEXEL: u32 = 95 << 12 | 231;

/// A texture as an instruction sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Texture {
    dimension: TextureDimension,
    /// The 22 bits of its format.
    pub(crate) word: u32,
    /// Three bits a component, red first: 0 to 3 a component of the format, 4 zero, 5 one.
    swizzle: u16,
    size: [u32; 3],
    layers: u32,
    levels: u32,
    samples: u32,
    /// Least and greatest level, 8 bits below the point.
    lod: [i64; 2],
    planes: u64,
}

/// Which texel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texel {
    pub(crate) at: [i64; 3],
    pub(crate) layer: u32,
    pub(crate) level: u32,
    pub(crate) sample: u32,
}

/// Where a texel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    At(u64),
    /// In a compressed image: the header of its superblock tells where.
    Compressed(CompressedTexel),
    /// In a block of a block-compressed format.
    Block(BlockTexel),
    /// In planes: luma and the two components of chroma, a byte each.
    Planes([u64; 3]),
    /// Beyond an edge of the level or the last layer: stored components are 0, and constants of the order apply.
    Outside,
    /// No such level or sample, outside of the plane's memory, or the plane is null: reads give 0.
    Nowhere,
    /// The plane or the format is not modelled.
    NotModelled,
}

/// A texel of a block-compressed image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockTexel {
    /// Where the block begins.
    pub(crate) address: u64,
    pub(crate) format: BlockFormat,
    /// Which of the block's texels.
    pub(crate) at: [u32; 3],
}

/// A texel of a compressed image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CompressedTexel {
    pub(crate) surface: AfbcSurface,
    pub(crate) at: [u32; 2],
    /// Bytes from the header area on that may be accessed.
    pub(super) size: u64,
}

impl CompressedTexel {
    /// Whether bytes lie inside the plane.
    pub(crate) fn holds(&self, address: u64, bytes: u8) -> bool {
        let offset = address.wrapping_sub(self.surface.header);
        offset
            .checked_add(bytes.into())
            .is_some_and(|end| end <= self.size)
    }
}

impl Texture {
    /// The texture of a descriptor; `None` if it is none.
    pub(crate) fn of(fabric: &Fabric, words: &[u32; 8]) -> Option<Texture> {
        let arch = fabric.config.product.arch();
        let descriptor = TextureDescriptor::unpack_at(arch, words, 0).ok()?;
        let faces = match descriptor.dimension {
            TextureDimension::Cube => 6,
            _ => 1,
        };
        let planes = if Yuv::of(descriptor.format.0).is_some() {
            yuv::PLANES as u32
        } else {
            1
        };
        Some(Texture {
            dimension: descriptor.dimension,
            word: descriptor.format.0,
            swizzle: descriptor.swizzle.0,
            size: [descriptor.width, descriptor.height, descriptor.depth],
            layers: (descriptor.array_size / planes).max(1) * faces,
            levels: descriptor.levels,
            samples: descriptor.sample_count,
            lod: [descriptor.minimum_lod, descriptor.maximum_lod]
                .map(|lod| libm::rint(f64::from(lod.0) * 256.0) as i64),
            planes: descriptor.surfaces.get(),
        })
    }

    /// Whether it has a third coordinate.
    pub(crate) fn is_3d(&self) -> bool {
        self.dimension == TextureDimension::ThreeD
    }

    /// What a sampler must know of it.
    pub(crate) fn footing(&self) -> Footing {
        Footing {
            size: self.size,
            levels: self.levels,
            layers: self.layers,
            lod: self.lod,
            axes: 2,
            cube: false,
            integer: false,
        }
    }

    /// A colour as the view gives it.
    pub(crate) fn swizzled(&self, colour: [f64; 4]) -> [f64; 4] {
        core::array::from_fn(|index| match self.swizzle >> (3 * index) & 7 {
            component @ 0..=3 => colour[usize::from(component)],
            5 => 1.0,
            _ => 0.0,
        })
    }

    /// Address of the descriptor of plane `number` of the texel's layer and level, which have `planes` each.
    pub(super) fn plane_address(&self, planes: u64, texel: &Texel, number: u64) -> u64 {
        let index = u64::from(texel.layer) * u64::from(self.levels) + u64::from(texel.level);
        self.planes
            .wrapping_add(PLANE_BYTES * (index * planes + number))
    }

    fn size_of_level(&self, level: u32) -> [u32; 3] {
        self.size.map(|size| (size >> level.min(31)).max(1))
    }

    /// What is known of a texel of `format` without its plane: that there is none, or that it lies outside.
    #[inline]
    fn without_plane(&self, format: &PixelFormat, texel: &Texel) -> Option<Found> {
        if texel.level >= self.levels || texel.sample >= self.samples {
            return Some(Found::Nowhere);
        }
        let inside = texel.layer < self.layers
            && (self.size_of_level(texel.level).into_iter().zip(texel.at))
                .all(|(size, at)| (0..i64::from(size)).contains(&at));
        (!inside || format.bytes() == 0).then_some(Found::Outside)
    }

    /// Where a texel of `format` is.
    pub(crate) fn find(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        access: Access,
        (format, texel): (&PixelFormat, Texel),
        last: &mut LastPlanes,
    ) -> Result<Found, Refusal> {
        if let Some(found) = self.without_plane(format, &texel) {
            return Ok(found);
        }
        if let Some(yuv) = Yuv::of(self.word) {
            return self.find_yuv(fabric, memory, access, (yuv, texel));
        }
        let plane = self.plane_address(1, &texel, 0);
        if let Some((surface, elements)) = last.find(plane) {
            return Ok(surface.find(elements, self.is_3d(), format, texel));
        }
        let words = descriptor_words::<8>(fabric, memory, access.to(plane))?;
        let arch = fabric.config.product.arch();
        match Plane::of(arch, &words) {
            Plane::Null => Ok(Found::Nowhere),
            Plane::Afbc => Ok(compressed(arch, &words, format, texel)),
            Plane::NotModelled => Ok(Found::NotModelled),
            Plane::Surface(surface, elements) => {
                if elements.are_parts() {
                    fabric.fidelity.meet(Inexact::ClumpParts);
                }
                let found = surface.find(elements, self.is_3d(), format, texel);
                last.keep(plane, surface, elements);
                Ok(found)
            }
        }
    }

    /// As [`Texture::find`], with `read` to read the words of a plane descriptor, and nothing noted. `None` if `read` gives none, or for a
    /// texel that takes more than the surface of its plane.
    #[inline]
    pub(crate) fn find_in_surface(
        &self,
        (arch, decoded): (Arch, &mut DecodedPlanes),
        (format, texel): (&PixelFormat, Texel),
        last: &mut LastPlanes,
        read: impl FnOnce(u64) -> Option<[u32; 8]>,
    ) -> Option<Found> {
        if let Some(found) = self.without_plane(format, &texel) {
            return Some(found);
        }
        if Yuv::of(self.word).is_some() {
            return None;
        }
        let plane = self.plane_address(1, &texel, 0);
        let found = match last.find(plane) {
            Some((surface, elements)) => surface.find(elements, self.is_3d(), format, texel),
            None => match decoded.plane(arch, read(plane)?) {
                Plane::Null => return Some(Found::Nowhere),
                Plane::Afbc | Plane::NotModelled => return None,
                Plane::Surface(surface, elements) => {
                    let found = surface.find(elements, self.is_3d(), format, texel);
                    last.keep(plane, surface, elements);
                    found
                }
            },
        };
        if !self.is_3d() {
            let [width, height, _] = self.size_of_level(texel.level);
            last.note_level(plane, &texel, [width, height], format.bytes());
        }
        Some(found)
    }
}
