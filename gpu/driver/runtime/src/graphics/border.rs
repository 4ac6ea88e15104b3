//! Borders: what is around the pixels of a pass that ends within superblocks of a compressed target.
//!
//! Superblocks are written as a whole. So the area of such a pass grows to whole superblocks of all attachments, and a frame shader
//! fills it: with what the attachments held, but inside of the pixels that were asked for with what the pass clears to.
//! Facts: hardware/graphics-framebuffer.md 5.8.4, hardware/graphics-ops-products.md 8.1.

use super::framebuffer::{Framebuffer, MOST_COLORS};
use super::load::WIDE_UNIFORMS;
use super::rendering::{ClearColor, LoadOp, Rect, RenderingInfo};
use super::surface::Surface;
use crate::resource::SUPERBLOCK;

/// The pixels inside of a border, and what they are cleared to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    /// Least x and y, and pixels along x and y.
    inside: [u32; 4],
    /// What colours are cleared to, by their location.
    pub(super) colors: [Option<[u32; 4]>; MOST_COLORS],
    pub(super) depth: Option<f32>,
    pub(super) stencil: Option<u8>,
}

/// Uniforms of code with a border: the first pixel inside, negated; pixels along x, and what no x is less than; pixels along y; and the
/// handle of the texture of what was there before. The word behind a handle stays 0: it would move the texel.
const FIRST: usize = 56;
const WIDTH: usize = 58;
const HEIGHT: usize = 60;
pub(super) const OLD: usize = 62;
/// The first uniform of what is cleared: four of each colour, depth and stencil in place of the first two.
const CLEARED: usize = 24;

/// Puts into r56 the row of a pixel, counted from the first inside, or a number that no height is above, and the height into r57. The
/// pixel is in r4 and r5.
const ROW_INSIDE: [u64; 4] = [
    0x00a0_f800_0000_b804, // IADD.u32 r56, r4, u56
    0x00a0_f900_0000_b905, // IADD.u32 r57, r5, u57
    0x0150_f804_bb39_ba38, // CSEL.u32.lt r56, r56, u58, r57, u59
    0x0091_f900_0000_00bc, // MOV.i32 r57, u60
];

/// What was at the pixel before: floats, integers with and without a sign.
const FETCH_OLD: [u64; 3] = [
    0x0925_4434_17f4_00be, // TEX_FETCH.slot0.f.32.2d.wait0 @r52:r53:r54:r55, @r4:r5, u62
    0x0925_4434_1ff4_00be, // TEX_FETCH.slot0.s.32.2d.wait0 @r52:r53:r54:r55, @r4:r5, u62
    0x0925_4434_1bf4_00be, // TEX_FETCH.slot0.u.32.2d.wait0 @r52:r53:r54:r55, @r4:r5, u62
];

/// Keeps a component inside, and takes the old one outside.
const KEEP: [u64; 4] = [
    0x0150_c004_3400_3938, // CSEL.u32.lt r0, r56, r57, r0, r52
    0x0150_c104_3501_3938, // CSEL.u32.lt r1, r56, r57, r1, r53
    0x0150_c204_3602_3938, // CSEL.u32.lt r2, r56, r57, r2, r54
    0x0150_c304_3703_3938, // CSEL.u32.lt r3, r56, r57, r3, r55
];

/// Replaces a component inside.
const CLEAR: u64 = 0x0150_c004_0098_3938; // CSEL.u32.lt r0, r56, r57, u24, r0

/// Code behind that which finds the pixel.
pub(super) const fn row_inside() -> &'static [u64] {
    &ROW_INSIDE
}

/// Code that gets what was there before, of a kind: in r52 to r55.
pub(super) fn fetch_old(kind: usize) -> u64 {
    FETCH_OLD.get(kind).copied().unwrap_or_default()
}

/// Code that keeps r0 to r3 inside alone, or the first of them.
pub(super) fn keep_inside(single: bool) -> &'static [u64] {
    let (first, _) = KEEP.split_at(if single { 1 } else { KEEP.len() });
    first
}

/// Code that clears components of a target inside, in registers from one on.
pub(super) fn clear_inside(
    target: usize,
    registers: core::ops::Range<u64>,
) -> impl Iterator<Item = u64> {
    let first = (target as u64).wrapping_mul(4);
    registers.zip(0_u64..).map(move |(register, component)| {
        let uniform = first.wrapping_add(component);
        let word = CLEAR | register << 40 | register << 24;
        word.wrapping_add(uniform << 16)
    })
}

/// Least x and y, and pixels along both, of a box from one pixel to another.
fn extent_of([x, y, right, bottom]: [u32; 4]) -> [u32; 4] {
    let length = |first: u32, last: u32| last.saturating_sub(first).saturating_add(1);
    [x, y, length(x, right), length(y, bottom)]
}

impl Border {
    fn of(inside: [u32; 4]) -> Border {
        Border {
            inside: extent_of(inside),
            colors: [None; MOST_COLORS],
            depth: None,
            stencil: None,
        }
    }

    /// Sets the uniforms that say which pixels are inside.
    pub(super) fn set_pixels(&self, uniforms: &mut [u32; WIDE_UNIFORMS]) {
        let [x, y, width, height] = self.inside;
        for (place, word) in [
            (FIRST, x.wrapping_neg()),
            (FIRST + 1, y.wrapping_neg()),
            (WIDTH, width),
            (WIDTH + 1, u32::MAX),
            (HEIGHT, height),
        ] {
            if let Some(uniform) = uniforms.get_mut(place) {
                *uniform = word;
            }
        }
    }

    /// Sets the uniforms of a target that is cleared to these values.
    pub(super) fn set_cleared(
        &self,
        target: usize,
        values: [u32; 4],
        uniforms: &mut [u32; WIDE_UNIFORMS],
    ) {
        let first = CLEARED.saturating_add(target.saturating_mul(4));
        for (uniform, value) in uniforms.iter_mut().skip(first).zip(values) {
            *uniform = value;
        }
    }

    /// Which colours are cleared, a bit each.
    pub(super) fn cleared_colors(&self) -> u32 {
        let cleared = self.colors.iter().rev();
        cleared.fold(0, |bits, color| bits << 1 | u32::from(color.is_some()))
    }

    /// Whether depth is cleared, and stencil.
    pub(super) const fn cleared_others(&self) -> [bool; 2] {
        [self.depth.is_some(), self.stencil.is_some()]
    }
}

impl Surface {
    /// Whether an area ends within superblocks of the surface, if it is compressed.
    pub(super) fn is_cut_by(&self, area: Option<Rect>) -> bool {
        let (width, height) = self.size();
        let cut = |first: i32, length: u32, size: u32| {
            let first = u32::try_from(first).unwrap_or(0);
            let end = first.saturating_add(length);
            let whole = |edge: u32| edge.is_multiple_of(SUPERBLOCK) || edge == size;
            !whole(first) || !whole(end)
        };
        self.info.is_afbc()
            && area.is_some_and(|it| cut(it.x, it.width, width) || cut(it.y, it.height, height))
    }
}

impl Framebuffer {
    /// Whether something that is written is compressed.
    pub(super) fn writes_compressed(&self) -> bool {
        let colors = self.colors.iter().flatten();
        let colors = colors.filter_map(|color| color.written);
        let others = [self.depth, self.stencil].into_iter().flatten();
        let others = others.filter(|it| it.store).map(|it| it.target);
        colors.chain(others).any(|it| it.compression.is_some())
    }

    /// The pixels that were asked for: least x and y, and how many there are along both.
    pub(super) fn asked_area(&self) -> [u32; 4] {
        match &self.border {
            Some(border) => border.inside,
            None => extent_of(self.area),
        }
    }

    /// Whether several tiles are in a superblock.
    pub(super) const fn has_small_tiles(&self) -> bool {
        self.tile.pixels < SUPERBLOCK * SUPERBLOCK
    }

    /// Lets the area grow to whole superblocks, if it is none: then all attachments begin with what they held, and what is cleared is
    /// so inside.
    pub(super) fn add_border(&mut self, info: &RenderingInfo<'_>) {
        let (inside, (width, height)) = (self.area, self.size);
        let [x, y, right, bottom] = inside;
        let first = |it: u32| it.saturating_sub(it % SUPERBLOCK);
        let last = |it: u32, size: u32| {
            let end = it.saturating_add(1).next_multiple_of(SUPERBLOCK);
            end.min(size).saturating_sub(1)
        };
        self.area = [first(x), first(y), last(right, width), last(bottom, height)];
        if self.area == inside {
            return;
        }
        let mut border = Border::of(inside);
        let colors = self.colors.iter_mut().zip(info.colors);
        for ((color, asked), fill) in colors.zip(&mut border.colors) {
            let (Some(color), Some(asked)) = (color, asked) else {
                continue;
            };
            color.loaded = Some(color.view);
            *fill = match asked.load {
                LoadOp::Clear(value) => Some(words(value)),
                LoadOp::Load | LoadOp::DontCare => None,
            };
        }
        for target in [&mut self.depth, &mut self.stencil].into_iter().flatten() {
            target.load = true;
        }
        border.depth = self.depth.filter(|it| it.clear).map(|_| self.clear_depth);
        border.stencil = self
            .stencil
            .filter(|it| it.clear)
            .map(|_| self.clear_stencil);
        self.border = Some(border);
    }
}

/// A colour as registers hold it.
fn words(color: ClearColor) -> [u32; 4] {
    match color {
        ClearColor::Float(values) => values.map(f32::to_bits),
        ClearColor::Int(values) => values.map(|it| it as u32),
        ClearColor::Uint(values) => values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_commented_words;

    #[test]
    fn the_words_are_what_their_comments_say() {
        let checked = check_commented_words(include_str!("border.rs"));
        assert!(checked >= 4 * 12, "only {checked} words have comments");
    }

    #[test]
    fn an_area_grows_to_whole_superblocks() {
        let mut framebuffer = Framebuffer::NOTHING;
        framebuffer.size = (100, 70);
        for (area, grown) in [
            ([0, 0, 99, 69], None),
            ([16, 32, 47, 69], None),
            ([17, 32, 47, 68], Some([16, 32, 47, 69])),
            ([3, 3, 3, 3], Some([0, 0, 15, 15])),
            ([90, 60, 98, 69], Some([80, 48, 99, 69])),
        ] {
            framebuffer.area = area;
            framebuffer.border = None;
            framebuffer.add_border(&RenderingInfo::default());
            assert_eq!(framebuffer.area, grown.unwrap_or(area), "{area:?}");
            assert_eq!(framebuffer.border.is_some(), grown.is_some(), "{area:?}");
        }
    }
}
