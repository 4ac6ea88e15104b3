//! Finds the pixel of an image from an address in it.

use crate::device::{Kind, Object};
use crate::graphics::failed_pass::PixelRange;
use crate::resource::{ImageInfo, Tiling, in_tile};
use crate::slab::Key;

/// The pixels whose memory is at `address` of an image: one, or one block of a compressed format.
pub(super) fn pixels_at(key: Key, object: &Object<'_>, address: u64) -> Option<PixelRange> {
    let Kind::Image { info, .. } = &object.kind else {
        return None;
    };
    let offset = address.checked_sub(object.mapping.address().0)?;
    let (level, layer, [x, y]) = element_at(info, offset)?;
    let block = info.format.block();
    let corner = |element: u32, block: u32, last: u32| {
        let pixel = element.saturating_mul(block).saturating_add(last);
        u16::try_from(pixel).ok()
    };
    let [across, down] = block;
    Some(PixelRange {
        image: key.index() as u16,
        first: [corner(x, across, 0)?, corner(y, down, 0)?],
        last: [
            corner(x, across, across.saturating_sub(1))?,
            corner(y, down, down.saturating_sub(1))?,
        ],
        level: level.try_into().ok()?,
        layer: layer.try_into().ok()?,
    })
}

/// The level, the layer or slice, and the element in it to which a byte of an image's memory belongs.
fn element_at(info: &ImageInfo, offset: u64) -> Option<(u32, u32, [u32; 2])> {
    for (_, plane) in info.planes() {
        for layer in 0..info.layers {
            for level in 0..info.levels {
                let lies = plane.level(level, layer);
                let Some(inside) = offset.checked_sub(lies.offset) else {
                    continue;
                };
                if inside >= lies.bytes() {
                    continue;
                }
                let slice = u32::try_from(inside.checked_div(lies.slice)?).ok()?;
                let inside = inside.checked_rem(lies.slice)?;
                let row = u32::try_from(inside.checked_div(lies.row)?).ok()?;
                let in_row = inside.checked_rem(lies.row)?;
                let place = in_row.checked_div(plane.info.texel_bytes().into())?;
                let place = u32::try_from(place).ok()?;
                let [x, y] = match plane.info.tiling {
                    Tiling::Linear => [place, row],
                    Tiling::UInterleaved => interleaved(&plane.info, place, row)?,
                    // What a byte of a superblock is of is the hardware's own.
                    Tiling::Afbc => return None,
                };
                // Rows and tiles may be longer than the image.
                let is_element = x < lies.width && y < lies.height;
                return is_element.then_some((level, layer.max(slice), [x, y]));
            }
        }
    }
    None
}

/// The element at a place of a row of tiles.
fn interleaved(info: &ImageInfo, place: u32, row: u32) -> Option<[u32; 2]> {
    let log2 = info.tile_log2();
    let side = 1_u32 << log2;
    let elements = side.saturating_mul(side);
    let (tile, inside) = (place.checked_div(elements)?, place.checked_rem(elements)?);
    // Few enough to be tried.
    let mut all = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
    let [x, y] = all.find(|[x, y]| in_tile(*x, *y) == inside)?;
    let along = |tile: u32, inside: u32| tile.saturating_mul(side).saturating_add(inside);
    Some([along(tile, x), along(row, y)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Arch;
    use eitri_descriptors::formats::VkFormat;

    /// Of each element, through the layout that copies use, and back.
    #[test]
    fn bytes_belong_to_the_element_that_is_copied_there() {
        let format = VkFormat::of_name(Arch::V10, "R8G8B8A8_UNORM").expect("a format");
        type Place = fn(u32, u32) -> (u32, u32);
        let linear: Place = |x, y| (y, x);
        let interleaved: Place = |x, y| (y / 16, x / 16 * 256 + in_tile(x % 16, y % 16));
        for (tiling, row_and_place) in [
            (Tiling::Linear, linear),
            (Tiling::UInterleaved, interleaved),
        ] {
            let info = ImageInfo {
                tiling,
                layers: 2,
                levels: 2,
                ..ImageInfo::two_d(format, 40, 20)
            };
            let plane = info.plane(None).expect("a plane");
            for (layer, level) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let lies = plane.level(level, layer);
                for (x, y) in [
                    (0, 0),
                    (1, 0),
                    (0, 1),
                    (17, 3),
                    (lies.width - 1, lies.height - 1),
                ] {
                    let (row, place) = row_and_place(x, y);
                    let offset = lies.offset + lies.row * u64::from(row) + u64::from(place) * 4 + 3;
                    let found = element_at(&info, offset);
                    assert_eq!(found, Some((level, layer, [x, y])), "{tiling:?}");
                }
            }
            assert_eq!(element_at(&info, 0), None, "a descriptor of a plane");
            assert_eq!(element_at(&info, info.bytes()), None, "behind the image");
        }
    }
}
