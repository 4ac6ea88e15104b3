//! Planes: from a plane descriptor and the coordinates of a texel inside of it to the texel's address.
//!
//! Modelled are generic and ASTC planes, whose elements may be compressed blocks, and AFBC planes; orders of elements are
//! `tile::layout`'s, what blocks hold is `blocks`'.
//!
//! Facts: hardware/descriptors.md 9, 9.1; hardware/graphics-texture.md 7.3; hardware/graphics-compression.md 1.

use super::footprint::{CORNERS, Footprint};
use super::format::PixelFormat;
use super::texture::{BlockTexel, CompressedTexel, Found, Texel};
use crate::blocks::{Astc, BlockFormat};
use crate::tile::afbc::AfbcSurface;
use crate::tile::layout::{Order, element_offset};
use eitri_descriptors::Descriptor;
use eitri_descriptors::plane::{
    AfbcPlane, Astc2DDimension, Astc2DPlane, Astc3DDimension, Astc3DPlane, Chroma2pPlane,
    ClumpOrdering, GenericPlane, PlaneType,
};
use eitri_isa::Arch;

/// What a plane descriptor describes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plane {
    /// Nothing: reads give 0.
    Null,
    /// A compressed image.
    Afbc,
    Surface(Surface, Elements),
    NotModelled,
}

impl Plane {
    pub(super) fn of(arch: Arch, words: &[u32; 8]) -> Plane {
        let kind = words[0] >> 4 & 0xf;
        if kind == PlaneType::Null as u32 {
            return Plane::Null;
        }
        if kind == PlaneType::Afbc as u32 {
            return Plane::Afbc;
        }
        match Surface::of_plane(arch, words) {
            Some((surface, elements)) => Plane::Surface(surface, elements),
            None => Plane::NotModelled,
        }
    }
}

/// A texel of a compressed image, from the words of its plane descriptor.
pub(super) fn compressed(
    arch: Arch,
    words: &[u32; 8],
    format: &PixelFormat,
    texel: Texel,
) -> Found {
    let plane = AfbcPlane::unpack_at(arch, words, 0).ok();
    // Compressed images have one sample.
    let Some(plane) = plane.filter(|_| texel.sample == 0) else {
        return Found::NotModelled;
    };
    // Each slice has headers of its own, whose offsets count from where they begin.
    let stride =
        u64::from(plane.header_slice_stride_hi) << 32 | u64::from(plane.header_slice_stride);
    let slice = stride.wrapping_mul(texel.at[2] as u64);
    let size = u64::from(plane.size_hi) << 32 | u64::from(plane.size);
    let mut surface = AfbcSurface::of_plane(&plane, format);
    surface.header = surface.header.wrapping_add(slice);
    Found::Compressed(CompressedTexel {
        surface,
        at: [texel.at[0] as u32, texel.at[1] as u32],
        size: size.saturating_sub(slice),
    })
}

/// Plane descriptors that were decoded last, and what they describe: messages read the same ones again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecodedPlanes {
    planes: [Option<([u32; 8], Plane)>; 4],
    /// Which of them is the oldest one.
    oldest: usize,
}

impl DecodedPlanes {
    /// What a descriptor of these words describes.
    pub(super) fn plane(&mut self, arch: Arch, words: [u32; 8]) -> Plane {
        let mut known = self.planes.iter().flatten();
        if let Some((_, plane)) = known.find(|(known, _)| *known == words) {
            return *plane;
        }
        let plane = Plane::of(arch, &words);
        self.planes[self.oldest] = Some((words, plane));
        self.oldest = (self.oldest + 1) % self.planes.len();
        plane
    }
}

/// The planes of texels whose descriptors were read last, by the descriptors' addresses: most texels of a message lie in one plane, or
/// in those of two levels, whose descriptors are read once.
#[derive(Default)]
pub(crate) struct LastPlanes {
    planes: [Option<KnownPlane>; 2],
    /// Which of them is the older one.
    older: bool,
}

/// A plane whose descriptor was read.
struct KnownPlane {
    address: u64,
    surface: Surface,
    elements: Elements,
    /// The level of one texture that lies in it, where its elements are texels of the texture's format.
    level: Option<PlainLevel>,
}

/// A level of a layer whose elements are texels.
#[derive(Clone, Copy)]
struct PlainLevel {
    layer: u32,
    level: u32,
    size: [u32; 2],
    /// Bytes of a texel.
    bytes: u8,
}

impl LastPlanes {
    pub(super) fn find(&self, plane: u64) -> Option<(&Surface, Elements)> {
        let mut known = self.planes.iter().flatten();
        let plane = known.find(|known| known.address == plane)?;
        Some((&plane.surface, plane.elements))
    }

    pub(super) fn keep(&mut self, plane: u64, surface: Surface, elements: Elements) {
        self.planes[usize::from(self.older)] = Some(KnownPlane {
            address: plane,
            surface,
            elements,
            level: None,
        });
        self.older = !self.older;
    }

    /// Notes that a level of `size` lies in a plane that is kept, if texels of `bytes` are all that the plane has. Until
    /// [`LastPlanes::forget_levels`], texels are those of one texture, which has two coordinates.
    pub(super) fn note_level(&mut self, plane: u64, texel: &Texel, size: [u32; 2], bytes: u8) {
        let mut known = self.planes.iter_mut().flatten();
        let Some(plane) = known.find(|known| known.address == plane) else {
            return;
        };
        let Elements::Texels(element) = plane.elements else {
            return;
        };
        if element.is_whole() && element.bytes == u64::from(bytes) {
            plane.level = Some(PlainLevel {
                layer: texel.layer,
                level: texel.level,
                size,
                bytes,
            });
        }
    }

    /// Texels are those of another texture from here on.
    pub(crate) fn forget_levels(&mut self) {
        for plane in self.planes.iter_mut().flatten() {
            plane.level = None;
        }
    }

    /// The plane of a level that was noted, and the level.
    #[inline]
    fn noted(&self, layer: u32, level: u32) -> Option<(&Surface, &PlainLevel)> {
        for plane in self.planes.iter().flatten() {
            if let Some(noted) = &plane.level
                && (noted.layer, noted.level) == (layer, level)
            {
                return Some((&plane.surface, noted));
            }
        }
        None
    }

    /// Where a texel lies whose level was noted: what [`Texture::find`](super::texture::Texture::find) finds. `None`: that is to be asked.
    #[inline]
    pub(crate) fn address(&self, texel: &Texel) -> Option<u64> {
        let (surface, level) = self.noted(texel.layer, texel.level)?;
        let [x, y, slice] = texel.at.map(|at| at as u64);
        let is_inside = x < level.size[0].into() && y < level.size[1].into();
        if !is_inside || slice != 0 || texel.sample != 0 {
            return None;
        }
        let at = [x as u32, y as u32];
        let offset = element_offset(surface.order?, surface.row_stride, level.bytes, at)?;
        surface
            .holds(offset, level.bytes)
            .then(|| surface.pointer.wrapping_add(offset))
    }

    /// Where the corners of a footprint lie: for each what [`LastPlanes::address`] gives. `None`: they are to be asked one by one.
    #[inline]
    pub(crate) fn addresses(&self, footprint: &Footprint) -> Option<[u64; CORNERS]> {
        let (surface, level) = self.noted(footprint.layer, footprint.level)?;
        let ([left, right], [upper, lower]) = (footprint.columns, footprint.rows);
        let (columns, rows) = ([left?, right?], [upper?, lower?]);
        let is_inside =
            columns[0].max(columns[1]) < level.size[0] && rows[0].max(rows[1]) < level.size[1];
        if !is_inside || footprint.slice != Some(0) {
            return None;
        }
        let (order, bytes) = (surface.order?, level.bytes);
        let [left, right] = [
            order.column(bytes, columns[0])?,
            order.column(bytes, columns[1])?,
        ];
        let stride = surface.row_stride;
        let upper = order.row(stride, bytes, rows[0])?;
        let lower = order.row(stride, bytes, rows[1])?;
        let offsets = [
            left.element(upper, bytes),
            right.element(upper, bytes),
            left.element(lower, bytes),
            right.element(lower, bytes),
        ];
        let last = offsets.into_iter().fold(0, u64::max);
        surface
            .holds(last, bytes)
            .then(|| offsets.map(|offset| surface.pointer.wrapping_add(offset)))
    }
}

/// What the elements of a plane are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Elements {
    Texels(Element),
    Blocks(BlockFormat),
}

impl Elements {
    /// Whether texels are parts of elements.
    pub(super) fn are_parts(self) -> bool {
        matches!(self, Elements::Texels(element) if !element.is_whole())
    }
}

/// A texel of a clump, and what lies beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// Bytes from one element to the next.
    bytes: u64,
    /// First byte of the texel.
    first: u64,
    /// Bytes of the texel.
    texel: u64,
}

impl Element {
    /// Whether nothing lies beside the texel.
    fn is_whole(&self) -> bool {
        self.first == 0 && self.texel == self.bytes
    }
}

/// Where the elements of a plane lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    pointer: u64,
    /// Bytes that may be accessed.
    size: u64,
    order: Option<Order>,
    row_stride: u64,
    slice_stride: u64,
}

/// The surface of a plane descriptor; the kinds of planes name the fields alike.
macro_rules! surface_of {
    ($plane:expr) => {
        Surface {
            pointer: $plane.pointer.0,
            size: u64::from($plane.size_hi) << 32 | u64::from($plane.size),
            order: order_of($plane.clump_ordering),
            row_stride: $plane.row_stride.into(),
            slice_stride: u64::from($plane.slice_stride_hi) << 32 | u64::from($plane.slice_stride),
        }
    };
}

impl Surface {
    /// The surface of a generic plane.
    pub(super) fn of_generic(plane: &GenericPlane) -> Surface {
        surface_of!(plane)
    }

    /// The surfaces of the two components of chroma.
    pub(super) fn of_chroma(plane: &Chroma2pPlane) -> [Surface; 2] {
        [plane.pointer.0, plane.secondary_pointer.0].map(|pointer| Surface {
            pointer,
            size: u64::from(plane.size_hi) << 32 | u64::from(plane.size),
            order: order_of(plane.clump_ordering),
            row_stride: plane.row_stride.into(),
            slice_stride: 0,
        })
    }

    /// Whether bytes at an offset lie inside.
    #[inline]
    fn holds(&self, offset: u64, bytes: u8) -> bool {
        let end = offset.checked_add(bytes.into());
        end.is_some_and(|end| end <= self.size)
    }

    /// Where an element of so many bytes lies; `None` if the order is not modelled.
    pub(super) fn element(&self, [x, y]: [u32; 2], bytes: u8) -> Option<Found> {
        let offset = self.offset([x, y, 0], bytes, false)?;
        let end = offset.checked_add(bytes.into());
        Some(match end {
            Some(end) if end <= self.size => Found::At(self.pointer.wrapping_add(offset)),
            _ => Found::Nowhere,
        })
    }

    /// The surface of a generic or ASTC plane and its elements; `None`: they are not modelled.
    fn of_plane(arch: Arch, words: &[u32; 8]) -> Option<(Surface, Elements)> {
        let astc = |footprint, wide, hdr| {
            Elements::Blocks(BlockFormat::Astc(Astc {
                footprint,
                wide,
                hdr,
            }))
        };
        if let Ok(plane) = GenericPlane::unpack_at(arch, words, 0) {
            let clump = plane.clump_format as u32;
            let elements = match BlockFormat::of_clump(clump) {
                Some(format) => Elements::Blocks(format),
                None => Elements::Texels(element_of(clump)?),
            };
            return Some((Surface::of_generic(&plane), elements));
        }
        if let Ok(plane) = Astc2DPlane::unpack_at(arch, words, 0) {
            let [width, height] = [plane.block_width, plane.block_height].map(|side| match side {
                Astc2DDimension::Four => 4,
                Astc2DDimension::Five => 5,
                Astc2DDimension::Six => 6,
                Astc2DDimension::Eight => 8,
                Astc2DDimension::Ten => 10,
                Astc2DDimension::Twelve => 12,
            });
            let elements = astc([width, height, 1], plane.decode_wide, plane.decode_hdr);
            return Some((surface_of!(plane), elements));
        }
        let plane = Astc3DPlane::unpack_at(arch, words, 0).ok()?;
        let sides = [plane.block_width, plane.block_height, plane.block_depth];
        let footprint = sides.map(|side| match side {
            Astc3DDimension::Three => 3,
            Astc3DDimension::Four => 4,
            Astc3DDimension::Five => 5,
            Astc3DDimension::Six => 6,
        });
        let elements = astc(footprint, plane.decode_wide, plane.decode_hdr);
        Some((surface_of!(plane), elements))
    }

    /// Where a texel that is inside of the texture lies.
    pub(super) fn find(
        &self,
        elements: Elements,
        is_3d: bool,
        format: &PixelFormat,
        texel: Texel,
    ) -> Found {
        // Coordinates that are inside are neither negative nor above 16 bits.
        let mut at = texel.at.map(|coordinate| coordinate as u32);
        if !is_3d {
            at[2] = texel.sample;
        }
        let (element, bytes, blocks) = match elements {
            Elements::Texels(element) => (at, element.bytes, None),
            Elements::Blocks(format) => {
                let sides = format.texels();
                let element = core::array::from_fn(|axis| at[axis] / sides[axis]);
                let within = core::array::from_fn(|axis| at[axis] % sides[axis]);
                (element, format.bytes().into(), Some((format, within)))
            }
        };
        let (first, texel_bytes) = match elements {
            Elements::Texels(element) => (element.first, element.texel),
            Elements::Blocks(format) => (0, format.texel_bytes().into()),
        };
        let place = self.offset(element, bytes as u8, blocks.is_some());
        // What a clump holds and what the format says must fit together.
        let (Some(offset), true) = (place, texel_bytes == u64::from(format.bytes())) else {
            return Found::NotModelled;
        };
        match offset.checked_add(bytes) {
            Some(end) if end <= self.size => {
                let address = self.pointer.wrapping_add(offset + first);
                blocks.map_or(Found::At(address), |(format, at)| {
                    Found::Block(BlockTexel {
                        address,
                        format,
                        at,
                    })
                })
            }
            _ => Found::Nowhere,
        }
    }

    /// The byte where an element begins; `None` if the order is not modelled, or has no elements of this size.
    fn offset(&self, [x, y, slice]: [u32; 3], bytes: u8, blocks: bool) -> Option<u64> {
        let order = match self.order? {
            Order::UInterleaved if blocks => Order::UInterleavedBlocks,
            order => order,
        };
        let within = element_offset(order, self.row_stride, bytes, [x, y])?;
        u64::from(slice)
            .checked_mul(self.slice_stride)?
            .checked_add(within)
    }
}

/// The order of single elements; `None` if it is not modelled.
fn order_of(ordering: ClumpOrdering) -> Option<Order> {
    match ordering {
        ClumpOrdering::Linear => Some(Order::Linear),
        ClumpOrdering::TiledUInterleaved => Some(Order::UInterleaved),
        ClumpOrdering::Interleaved64k => Some(Order::Interleaved64k),
        ClumpOrdering::BlockLinearInterleaved16x16
        | ClumpOrdering::BlockLinearInterleaved8x16
        | ClumpOrdering::BlockLinearInterleaved8x8 => None,
    }
}

/// The element of a clump format that holds single texels.
// FACT: which end the parts of a clump's name begin at is not stated; the lowest, as in Z24X8 and in the write-back's X24S8
// (hardware/graphics-formats.md 3). Settled by sampling the stencil of an interleaved image on any board.
fn element_of(clump: u32) -> Option<Element> {
    let whole = |bytes| Element {
        bytes,
        first: 0,
        texel: bytes,
    };
    let part = |bytes, first, texel| Element {
        bytes,
        first,
        texel,
    };
    Some(match clump {
        // RAW8, S8, L4A4, A8; RAW16, L8A8.
        0 | 22 | 24 | 26 => whole(1),
        1 | 25 => whole(2),
        2 => whole(4),
        3 => whole(8),
        4 => whole(16),
        8 => whole(3),
        9 => whole(6),
        10 => whole(12),
        // D32X32, X32D32, X32S8X24, X24S8X32, X24S8, S8X24.
        16 => part(8, 0, 4),
        17 => part(8, 4, 4),
        18 => part(8, 4, 1),
        19 => part(8, 3, 1),
        20 => part(4, 3, 1),
        21 => part(4, 0, 1),
        _ => return None,
    })
}
