//! Views: what a shader sees of an image.
//!
//! A texture descriptor names an array of plane descriptors, level by level and layer by layer. A view of all levels, or of one layer,
//! finds its planes among the image's own; any other has planes of its own, which belong to the image.
//! Facts: hardware/graphics-texture.md 7.2 to 7.4.

use super::descriptors::pack;
use super::image::{
    Aspect, ImageError, ImageInfo, ImagePlane, ImageRange, NO_STORAGE, OTHER_CHANNELS, PLANE_BYTES,
    Tiling,
};
use super::image_descriptors::PlanePart;
use crate::error::Error;
use eitri_descriptors::formats::{Uses, VkFormat};
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Aligned, Arch, DescriptorError, Swizzle, Ulod};
use eitri_program::{ImageDimension, ImageShape};

/// Where a component of a view comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The image's red, or its depth or stencil value.
    Red,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Alpha.
    Alpha,
    /// Zero.
    Zero,
    /// One.
    One,
}

impl Component {
    /// The components as they are.
    pub const IDENTITY: [Component; 4] = [
        Component::Red,
        Component::Green,
        Component::Blue,
        Component::Alpha,
    ];

    /// The same of depth and stencil images, which give red, zero, zero and one.
    const fn of_red_alone(self) -> Component {
        match self {
            Component::Green | Component::Blue => Component::Zero,
            Component::Alpha => Component::One,
            Component::Red | Component::Zero | Component::One => self,
        }
    }
}

/// What a shader sees of an image. Names and meaning are those of Vulkan's image views.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewInfo {
    /// Coordinates. An image of two dimensions with six layers or more has cubes; one of three has slices of two.
    pub dimension: ImageDimension,
    /// Format, with texels as large as the image's; without one the image's own.
    pub format: Option<&'static VkFormat>,
    /// Aspect; without one the image's first.
    pub aspect: Option<Aspect>,
    /// Levels and layers. Of a view of two dimensions of an image of three, layers are slices.
    pub range: ImageRange,
    /// Where components come from.
    pub swizzle: [Component; 4],
}

impl ViewInfo {
    /// All of an image.
    pub const fn of(info: &ImageInfo) -> ViewInfo {
        ViewInfo {
            dimension: info.dimension,
            format: None,
            aspect: None,
            range: ImageRange::ALL,
            swizzle: Component::IDENTITY,
        }
    }
}

/// A view that was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedView {
    plane: ImagePlane,
    /// The plane in the view's format.
    seen: ImageInfo,
    range: ImageRange,
    dimension: ImageDimension,
    /// Layers are slices of the image.
    of_slices: bool,
    swizzle: [Component; 4],
}

impl CheckedView {
    /// Checks a view of an image.
    pub(crate) fn of(info: &ImageInfo, view: &ViewInfo) -> Result<CheckedView, ImageError> {
        use ImageDimension::{Cube, OneD, ThreeD, TwoD};
        let refused = |what| ImageError::View {
            format: info.format.name,
            what,
        };
        let plane = info.plane(view.aspect).ok_or(ImageError::NoAspect {
            aspect: view.aspect.unwrap_or(Aspect::Color),
            format: info.format.name,
        })?;
        let of_slices = (view.dimension, info.dimension) == (TwoD, ThreeD);
        match (view.dimension, info.dimension) {
            (OneD, OneD) | (TwoD | Cube, TwoD | Cube) | (ThreeD, ThreeD) => {}
            (TwoD, ThreeD) => {}
            _ => return Err(refused("it has other dimensions")),
        }
        let range = if of_slices {
            let slices = info.slices(view.range.level);
            let layered = ImageInfo {
                layers: slices,
                ..*info
            };
            view.range.of(&layered)?
        } else {
            view.range.of(info)?
        };
        if of_slices && range.levels > 1 {
            return Err(refused("slices are of one level"));
        }
        let cube = view.dimension == Cube;
        if cube && (!range.layers.is_multiple_of(6) || info.width != info.height) {
            return Err(refused("a cube has six square faces"));
        }
        let format = view.format.unwrap_or(plane.info.format);
        if format.block_bytes != plane.info.format.block_bytes {
            return Err(refused("texels of the view have another size"));
        }
        if !plane.info.has_channels_of(format) {
            return Err(info.refused(OTHER_CHANNELS));
        }
        let seen = ImageInfo {
            format,
            ..plane.info
        };
        let blocks = format.block() != plane.info.format.block();
        let one = range.levels == 1 && range.layers == 1;
        if blocks && (info.tiling != Tiling::Linear || !one) {
            // Tiles of blocks are not those of texels.
            return Err(refused(
                "blocks are seen as texels in one level and layer of a linear image",
            ));
        }
        Ok(CheckedView {
            plane,
            seen,
            range,
            dimension: view.dimension,
            of_slices,
            swizzle: view.swizzle,
        })
    }

    /// Where in the image's memory its own planes begin that are the view's; `None` if the view needs planes of its own.
    pub(crate) fn own_planes(&self) -> Option<u64> {
        let info = &self.plane.info;
        // An ASTC plane also says how wide texels decode, which the curve decides.
        let same = |a: &VkFormat, b: &VkFormat| {
            a.clump_code == b.clump_code
                && a.block() == b.block()
                && (a.clump_code.is_some() || a.srgb == b.srgb)
        };
        // A compressed image has views with its own channels only, which are all that its planes say of the format.
        let alike = info.is_afbc() || same(info.format, self.seen.format);
        let together = self.range.levels == info.levels || self.range.layers == 1;
        if self.of_slices || !alike || !together || info.placed.is_some() {
            return None;
        }
        let first = u64::from(self.range.layer)
            .saturating_mul(info.levels.into())
            .saturating_add(self.range.level.into());
        let skipped = first.saturating_mul(PLANE_BYTES);
        Some(self.plane.descriptors.saturating_add(skipped))
    }

    /// Bytes of planes of the view's own.
    pub(crate) fn plane_bytes(&self) -> u64 {
        u64::from(self.range.layers)
            .saturating_mul(self.range.levels.into())
            .saturating_mul(PLANE_BYTES)
    }

    /// Makes planes of the view's own, of the image at `address`: each with its offset.
    pub(crate) fn write_planes(
        &self,
        arch: Arch,
        address: u64,
        mut write: impl FnMut(u64, [u32; 8]),
    ) -> Result<(), DescriptorError> {
        let mut offset = 0_u64;
        for layer in 0..self.range.layers {
            for level in 0..self.range.levels {
                let layer = self.range.layer.saturating_add(layer);
                let level = self.range.level.saturating_add(level);
                write(offset, self.plane_of(arch, address, (level, layer))?);
                offset = offset.saturating_add(PLANE_BYTES);
            }
        }
        Ok(())
    }

    fn plane_of(
        &self,
        arch: Arch,
        address: u64,
        (level, layer): (u32, u32),
    ) -> Result<[u32; 8], DescriptorError> {
        let (of_layer, slice) = if self.of_slices {
            (0, layer)
        } else {
            (layer, 0)
        };
        let lies = self.plane.level(level, of_layer);
        let skipped = lies.slice.saturating_mul(slice.into());
        let part = PlanePart {
            size: self.size(level),
            bytes: if self.of_slices {
                lies.slice
            } else {
                lies.bytes()
            },
            ..PlanePart::of(&self.seen, level, &lies)
        };
        let offset = lies.offset.saturating_add(skipped);
        part.words(arch, address.wrapping_add(offset))
    }

    /// Texels of a level along x and y, in the view's format.
    fn size(&self, level: u32) -> [u32; 2] {
        if self.seen.format.block() == self.plane.info.format.block() {
            let [width, height, _] = self.seen.level_size(level);
            [width, height]
        } else {
            self.plane.info.elements(level)
        }
    }

    /// The texture of the view with planes at `planes`, as a program sees it that wants that shape; `None` if it has another.
    pub(crate) fn texture(
        &self,
        arch: Arch,
        planes: u64,
        (shape, storage): (ImageShape, bool),
    ) -> Result<Option<[u32; 8]>, Error> {
        use ImageDimension::{Cube, OneD, ThreeD, TwoD};
        let dimension = match (shape.dimension, self.dimension) {
            (OneD, OneD) => TextureDimension::OneD,
            // The faces of a cube are layers.
            (TwoD, TwoD | Cube) => TextureDimension::TwoD,
            (ThreeD, ThreeD) => TextureDimension::ThreeD,
            (Cube, Cube) if storage => TextureDimension::TwoD,
            (Cube, Cube) => TextureDimension::Cube,
            _ => return Ok(None),
        };
        if shape.multisampled != (self.seen.samples > 1) {
            return Ok(None);
        }
        if storage && self.seen.is_afbc() {
            return Err(self.seen.refused(NO_STORAGE).into());
        }
        let Some(surfaces) = Aligned::new(planes) else {
            return Ok(None);
        };
        let [width, height] = self.size(self.range.level);
        let [_, _, depth] = self.seen.level_size(self.range.level);
        let deep = dimension == TextureDimension::ThreeD;
        let words = pack(
            arch,
            Texture {
                dimension,
                format: self.seen.format.pixel_format(),
                width,
                height,
                depth: if deep { depth } else { 1 },
                swizzle: self.selectors(),
                texel_interleave: self.seen.interleaves(),
                levels: self.range.levels,
                maximum_lod: Ulod(self.range.levels.saturating_sub(1) as f32),
                sample_count: self.seen.samples,
                surfaces,
                array_size: match dimension {
                    TextureDimension::Cube => self.range.layers / 6,
                    _ => self.range.layers,
                },
                ..Texture::default()
            },
        )?;
        Ok(Some(words))
    }

    /// The selectors of the components.
    fn selectors(&self) -> Swizzle {
        let depth_stencil = self.seen.format.uses.contains(Uses::DEPTH_STENCIL);
        let selectors = self.swizzle.into_iter().rev().map(|component| {
            let component = if depth_stencil {
                component.of_red_alone()
            } else {
                component
            };
            component as u16
        });
        Swizzle(selectors.fold(0, |all, selector| all << 3 | selector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Descriptor as _;

    fn format(name: &str) -> &'static VkFormat {
        VkFormat::of_name(Arch::V10, name).expect("a format")
    }

    fn view(info: &ImageInfo, view: &ViewInfo) -> CheckedView {
        CheckedView::of(info, view).expect("there is such a view")
    }

    /// hardware/graphics-texture.md 7.13: 256 by 256 RGBA8, linear.
    #[test]
    fn textures_are_as_the_facts_say() {
        let info = ImageInfo::two_d(format("R8G8B8A8_UNORM"), 256, 256);
        let shape = ImageShape::plain(ImageDimension::TwoD);
        let all = view(&info, &ViewInfo::of(&info));
        let words = all.texture(Arch::V10, 0x1000_0000, (shape, false));
        let expected = [0x2ec0_0022, 0x00ff_00ff, 0x688, 0, 0x1000_0000, 0, 0, 0];
        assert_eq!(words, Ok(Some(expected)));
        assert_eq!(all.own_planes(), Some(0));
    }

    #[test]
    fn parts_have_their_planes_among_the_images_own_if_they_can() {
        let mut info = ImageInfo::two_d(format("R8G8B8A8_UNORM"), 16, 8);
        (info.levels, info.layers) = (4, 3);
        let part = |level, levels, layer, layers| {
            let range = ImageRange {
                level,
                levels,
                layer,
                layers,
            };
            let all = ViewInfo::of(&info);
            view(&info, &ViewInfo { range, ..all })
        };
        assert_eq!(part(0, 4, 1, 2).own_planes(), Some(4 * 32));
        assert_eq!(part(2, 2, 1, 1).own_planes(), Some(6 * 32));
        let apart = part(1, 2, 0, 3);
        assert_eq!((apart.own_planes(), apart.plane_bytes()), (None, 6 * 32));
        let mut pointers = std::vec::Vec::new();
        let write = |_, words: [u32; 8]| pointers.push((words[2], words[7]));
        apart.write_planes(Arch::V10, 0, write).expect("they pack");
        // 12 descriptors; a layer has levels of 8, 4, 2 and 1 rows of 64 bytes.
        let layer = 15 * 64;
        let expected = [0, 1, 2].map(|number| {
            let start = 12 * 32 + number * layer;
            [
                (start + 8 * 64, 3 << 16 | 7),
                (start + 12 * 64, 1 << 16 | 3),
            ]
        });
        assert_eq!(pointers, expected.concat());
        let shape = ImageShape::plain(ImageDimension::TwoD);
        let words = apart.texture(Arch::V10, 0x40, (shape, false));
        let words = words.expect("it packs").expect("of that shape");
        assert_eq!((words[1], words[6]), (3 << 16 | 7, 2), "{words:x?}");
    }

    #[test]
    fn components_come_from_where_the_view_says() {
        use Component::{Alpha, Blue, Green, One, Red, Zero};
        let of = |name, swizzle| {
            let info = ImageInfo::two_d(format(name), 4, 4);
            let all = ViewInfo::of(&info);
            view(&info, &ViewInfo { swizzle, ..all }).selectors().0
        };
        let selectors = |all: [u16; 4]| all.iter().rev().fold(0, |sum, it| sum << 3 | it);
        let colors = of("R8G8B8A8_UNORM", [Blue, One, Zero, Red]);
        assert_eq!(colors, selectors([2, 5, 4, 0]));
        let depths = of("D16_UNORM", [Red, Green, Alpha, Zero]);
        assert_eq!(depths, selectors([0, 4, 5, 4]));
    }

    #[test]
    fn slices_and_formats_need_planes_of_their_own() {
        let mut info = ImageInfo::two_d(format("BC1_RGB_UNORM_BLOCK"), 16, 8);
        let blocks = ViewInfo {
            format: Some(format("R32G32_UINT")),
            ..ViewInfo::of(&info)
        };
        let seen = view(&info, &blocks);
        assert_eq!((seen.own_planes(), seen.size(0)), (None, [4, 2]));
        info.tiling = Tiling::UInterleaved;
        assert!(CheckedView::of(&info, &blocks).is_err());
        let mut deep = ImageInfo::two_d(format("R8_UINT"), 8, 8);
        (deep.dimension, deep.depth, deep.levels) = (ImageDimension::ThreeD, 4, 2);
        let slices = ViewInfo {
            dimension: ImageDimension::TwoD,
            range: ImageRange {
                level: 0,
                levels: 1,
                layer: 1,
                layers: 2,
            },
            ..ViewInfo::of(&deep)
        };
        let seen = view(&deep, &slices);
        let mut pointers = std::vec::Vec::new();
        let write = |_, words: [u32; 8]| pointers.push(words[2]);
        seen.write_planes(Arch::V10, 0, write).expect("they pack");
        // Two descriptors, and slices of 8 rows of 64 bytes.
        assert_eq!(pointers, [64 + 512, 64 + 2 * 512]);
    }

    /// A program sees a view whose coordinates are those that it asks for; a cube's faces are layers, also for storage.
    #[test]
    fn programs_see_views_of_the_shape_that_they_ask_for() {
        use ImageDimension::{Cube, OneD, ThreeD, TwoD};
        let all = [OneD, TwoD, ThreeD, Cube];
        for (of, sizes) in [
            (OneD, [16, 1, 1, 1]),
            (TwoD, [16, 16, 1, 6]),
            (ThreeD, [16, 16, 4, 1]),
            (Cube, [16, 16, 1, 12]),
        ] {
            let [width, height, depth, layers] = sizes;
            let info = ImageInfo {
                dimension: of,
                depth,
                layers,
                ..ImageInfo::two_d(format("R8G8B8A8_UNORM"), width, height)
            };
            assert_eq!(info.check(), Ok(()));
            let seen = view(&info, &ViewInfo::of(&info));
            for asked in all {
                for storage in [false, true] {
                    let how = (ImageShape::plain(asked), storage);
                    let words = seen.texture(Arch::V10, 0x40, how).expect("it packs");
                    let fits = asked == of || (asked, of) == (TwoD, Cube);
                    assert_eq!(words.is_some(), fits, "{asked:?} of {of:?}");
                    let Some(words) = words else { continue };
                    let texture = Texture::unpack(Arch::V10, &words).expect("it unpacks");
                    let dimension = match (asked, storage) {
                        (OneD, _) => TextureDimension::OneD,
                        (TwoD, _) | (Cube, true) => TextureDimension::TwoD,
                        (ThreeD, _) => TextureDimension::ThreeD,
                        (Cube, false) => TextureDimension::Cube,
                    };
                    assert_eq!(texture.dimension, dimension, "{asked:?} of {of:?}");
                    assert_eq!(texture.depth, depth, "{asked:?} of {of:?}");
                    let cubes = dimension == TextureDimension::Cube;
                    let elements = if cubes { layers / 6 } else { layers };
                    assert_eq!(texture.array_size, elements, "{asked:?} of {of:?}");
                }
            }
        }
    }

    #[test]
    fn programs_see_samples_where_there_are_several() {
        for samples in [1, 4] {
            let info = ImageInfo {
                samples,
                tiling: Tiling::UInterleaved,
                ..ImageInfo::two_d(format("R8G8B8A8_UNORM"), 16, 16)
            };
            let seen = view(&info, &ViewInfo::of(&info));
            for multisampled in [false, true] {
                let shape = ImageShape {
                    multisampled,
                    ..ImageShape::plain(ImageDimension::TwoD)
                };
                let words = seen.texture(Arch::V10, 0x40, (shape, false));
                let words = words.expect("it packs");
                assert_eq!(words.is_some(), multisampled == (samples > 1));
                if let Some(words) = words {
                    let texture = Texture::unpack(Arch::V10, &words).expect("it unpacks");
                    assert_eq!(texture.sample_count, samples);
                }
            }
        }
    }

    /// The texture of some levels begins with the first of them, and has the sizes of that.
    #[test]
    fn a_view_of_levels_has_the_size_of_its_first() {
        let info = ImageInfo {
            dimension: ImageDimension::ThreeD,
            depth: 16,
            levels: 5,
            ..ImageInfo::two_d(format("R8G8B8A8_UNORM"), 32, 64)
        };
        let range = ImageRange {
            level: 2,
            levels: 3,
            layer: 0,
            layers: 1,
        };
        let all = ViewInfo::of(&info);
        let seen = view(&info, &ViewInfo { range, ..all });
        let shape = ImageShape::plain(ImageDimension::ThreeD);
        let words = seen.texture(Arch::V10, 0x40, (shape, false));
        let words = words.expect("it packs").expect("of that shape");
        let texture = Texture::unpack(Arch::V10, &words).expect("it unpacks");
        let found = (texture.width, texture.height, texture.depth, texture.levels);
        assert_eq!(found, (8, 16, 4, 3));
        assert_eq!(texture.maximum_lod, Ulod(2.0));
    }

    #[test]
    fn views_that_can_not_be_are_named() {
        use ImageDimension::{Cube, OneD, ThreeD, TwoD};
        let plain = ImageInfo {
            layers: 12,
            ..ImageInfo::two_d(format("R8G8B8A8_UNORM"), 16, 16)
        };
        let what = |info: &ImageInfo, view: ViewInfo| match CheckedView::of(info, &view) {
            Err(ImageError::View { what, .. } | ImageError::Layout { what, .. }) => what,
            Err(_) => "refused",
            Ok(_) => "seen",
        };
        let of = |info: &ImageInfo, dimension| {
            let all = ViewInfo::of(info);
            what(info, ViewInfo { dimension, ..all })
        };
        let layers = |layers| ImageRange {
            level: 0,
            levels: 1,
            layer: 0,
            layers,
        };
        for dimension in [OneD, ThreeD] {
            assert_eq!(of(&plain, dimension), "it has other dimensions");
        }
        assert_eq!(of(&plain, Cube), "seen");
        let cube = |range| ViewInfo {
            dimension: Cube,
            range,
            ..ViewInfo::of(&plain)
        };
        assert_eq!(what(&plain, cube(layers(6))), "seen");
        assert_eq!(what(&plain, cube(layers(5))), "a cube has six square faces");
        let wide = ImageInfo { width: 32, ..plain };
        assert_eq!(of(&wide, Cube), "a cube has six square faces");
        let formats = |name| ViewInfo {
            format: Some(format(name)),
            ..ViewInfo::of(&plain)
        };
        assert_eq!(what(&plain, formats("R32_UINT")), "seen");
        let other = "texels of the view have another size";
        assert_eq!(what(&plain, formats("R16_UINT")), other);
        assert_eq!(what(&plain, formats("R32G32_UINT")), other);
        let deep = ImageInfo {
            dimension: ThreeD,
            depth: 8,
            layers: 1,
            levels: 2,
            ..plain
        };
        let slices = |level, levels, layer, layers| ViewInfo {
            dimension: TwoD,
            range: ImageRange {
                level,
                levels,
                layer,
                layers,
            },
            ..ViewInfo::of(&deep)
        };
        assert_eq!(what(&deep, slices(0, 1, 0, 8)), "seen");
        assert_eq!(what(&deep, slices(1, 1, 0, 4)), "seen");
        assert_eq!(
            what(&deep, slices(1, 1, 0, 5)),
            "refused",
            "slices of the level"
        );
        assert_eq!(what(&deep, slices(0, 2, 0, 1)), "slices are of one level");
    }
}
