//! Textures of YCbCr: luma and chroma in planes of their own, with 8 bits a component.
//!
//! The texture unit gives luma and chroma as they are stored; shaders convert them.
//! Modelled are the formats with two and three planes; packed ones are not (`Yuv::of`).
//!
//! Facts: hardware/descriptors.md 8, 9 and 10.3; hardware/graphics-texture.md 7.3 and 7.11.

use super::format::Takes;
use super::plane::Surface;
use super::texture::{Found, Texel, Texture};
use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::Refusal;
use crate::work::descriptors::descriptor_words;
use core::ops::RangeInclusive;
use eitri_descriptors::Descriptor;
use eitri_descriptors::plane::{Chroma2pPlane, GenericPlane};
use eitri_isa::Arch;

/// All codes of YCbCr, packed and with planes, and the gaps between them.
const FORMATS: RangeInclusive<u32> = 32..=55;
/// The codes with planes of 8 bits: Y8 UV8 422, Y8 U8 V8 422, Y8 UV8 420, Y8 U8 V8 420.
pub(super) const FIRST_CODE: u32 = 36;
pub(super) const LAST_CODE: u32 = 39;

/// Whether a pixel format is one of YCbCr of which no texel can be found.
pub(super) fn is_unmodelled_yuv(word: u32) -> bool {
    FORMATS.contains(&(word >> 12 & 0xff)) && Yuv::of(word).is_none()
}

/// Planes of a layer and level: luma, then chroma.
pub(super) const PLANES: u64 = 2;

/// A format of YCbCr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Yuv {
    /// Whether a chroma sample belongs to two rows of luma as well as to two columns.
    halves_rows: bool,
    /// Whether the two chroma components have a plane each, not one for both.
    split: bool,
    /// The order of components in the result.
    swizzle: u32,
    /// The first chroma component in memory is the second of the name.
    swap: bool,
}

/// A chroma sample: the address of each of its components.
type Chroma = [u64; 2];

impl Yuv {
    /// The format of a 22-bit word; `None` if it has no planes of chroma.
    // FACT: packed formats (34 YUYV8, 35 VYUY8 and wider ones) are refused: how their component order and the bytes of their
    // elements go together does not follow from the rows of hardware/descriptors.md 10.3, and no open Vulkan driver uses them.
    // Settled by sampling four bytes of each on any board.
    pub(super) fn of(word: u32) -> Option<Yuv> {
        let code = word >> 12 & 0xff;
        (FIRST_CODE..=LAST_CODE).contains(&code).then_some(Yuv {
            halves_rows: code >= 38,
            split: code & 1 != 0,
            swizzle: word & 7,
            swap: word >> 3 & 1 != 0,
        })
    }

    /// What red, green, blue and alpha take, where the stored components are luma and the two of chroma. Alpha is not stored.
    pub(super) fn order(self) -> [Takes; 4] {
        use Takes::{One, Stored, Zero};
        let y = Stored(0);
        let [u, v] = if self.swap { [2, 1] } else { [1, 2] }.map(Stored);
        match self.swizzle {
            0 => [y, u, v, One],
            1 => [y, v, u, One],
            2 => [u, y, v, One],
            3 => [u, v, y, One],
            4 => [v, u, y, One],
            5 => [v, y, u, One],
            // Y00A, and YXXA, whose green and blue mean nothing.
            _ => [y, Zero, Zero, One],
        }
    }

    /// Code of the clumps of all its planes: Y8 UV8 420 or 422.
    fn clump(self) -> u32 {
        if self.halves_rows { 72 } else { 64 }
    }

    /// The chroma sample of a texel of luma.
    // FACT: every texel of luma takes the chroma sample that covers it, and filters mix texels of luma and chroma alike: what
    // the siting bits of the format change is not published beyond their names (hardware/descriptors.md 10.3). Settled by
    // sampling a ramp of chroma with each siting on any board.
    fn chroma_at(self, [x, y]: [u32; 2]) -> [u32; 2] {
        [x / 2, if self.halves_rows { y / 2 } else { y }]
    }

    /// Where luma lies; `None`: not in such a plane.
    fn luma(self, arch: Arch, words: &[u32; 8], at: [u32; 2]) -> Option<Found> {
        let plane = GenericPlane::unpack_at(arch, words, 0).ok()?;
        if plane.clump_format as u32 != self.clump() {
            return None;
        }
        Surface::of_generic(&plane).element(at, 1)
    }

    /// Where the chroma sample lies; `None`: not in such a plane. The second value is the address of the second component.
    fn chroma(self, arch: Arch, words: &[u32; 8], at: [u32; 2]) -> Option<Result<Chroma, Found>> {
        let at = self.chroma_at(at);
        let address = |found: Found| match found {
            Found::At(address) => Ok(address),
            other => Err(other),
        };
        if !self.split {
            let plane = GenericPlane::unpack_at(arch, words, 0).ok()?;
            if plane.clump_format as u32 != self.clump() {
                return None;
            }
            let pair = address(Surface::of_generic(&plane).element(at, 2)?);
            return Some(pair.map(|first| [first, first.wrapping_add(1)]));
        }
        let plane = Chroma2pPlane::unpack_at(arch, words, 0).ok()?;
        if plane.clump_format as u32 != self.clump() {
            return None;
        }
        let surfaces = Surface::of_chroma(&plane);
        let first = surfaces[0].element(at, 1)?;
        let second = surfaces[1].element(at, 1)?;
        Some(address(first).and_then(|first| Ok([first, address(second)?])))
    }
}

impl Texture {
    /// Where the components of a texel lie that is inside of the texture.
    pub(super) fn find_yuv(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        access: Access,
        (yuv, texel): (Yuv, Texel),
    ) -> Result<Found, Refusal> {
        let arch = fabric.config.product.arch();
        let at = [texel.at[0] as u32, texel.at[1] as u32];
        let mut plane = |number: u64| {
            let access = access.to(self.plane_address(PLANES, &texel, number));
            descriptor_words::<8>(fabric, memory, access)
        };
        let (luma, chroma) = (plane(0)?, plane(1)?);
        let found = (yuv.luma(arch, &luma, at), yuv.chroma(arch, &chroma, at));
        Ok(match found {
            (Some(Found::At(luma)), Some(Ok([first, second]))) => {
                Found::Planes([luma, first, second])
            }
            (None, _) | (_, None) => Found::NotModelled,
            _ => Found::Nowhere,
        })
    }
}
