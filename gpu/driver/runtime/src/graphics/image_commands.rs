//! Clears, blits and resolves of images outside of passes, each by passes of its own that draw nothing.
//!
//! They run on the stream of fragments. Barriers order them as [`Accesses::TRANSFER_READ`] and [`Accesses::TRANSFER_WRITE`], as Vulkan
//! has it.

use super::error::{Attachment, GraphicsError, Unsupported};
use super::framebuffer::MOST_LAYERS;
use super::output_code::Kind;
use super::rendering::{
    ClearColor, ColorAttachment, DepthAttachment, ImageView, LoadOp, Rect, RenderingInfo,
    ResolveMode, StencilAttachment, StoreOp,
};
use super::surface::surface;
use super::texels::{TexelSource, Transform};
use crate::command::{Accesses, ImageCopy, ImageSubresource, Recorder};
use crate::error::Error;
use crate::handle::Image;
use crate::platform::Platform;
use crate::resource::{Aspect, ImageError, ImageInfo, ImageRange};
use eitri_program::ImageDimension;

/// How a blit chooses texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlitFilter {
    /// The nearest one.
    Nearest,
    /// A mean of neighbours.
    Linear,
}

/// A box of one image that fills a box of another. Names and meaning are Vulkan's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlitRegion {
    /// What of the source is read.
    pub from: ImageSubresource,
    /// Two corners in the source, in texels; the second is not inside.
    pub from_corners: [[i32; 3]; 2],
    /// What of the destination is written.
    pub to: ImageSubresource,
    /// Where these corners go. A box whose corners have changed places is mirrored.
    pub to_corners: [[i32; 3]; 2],
}

/// A side of a box along an axis: the pixels that are filled, and where they come from: `scale * pixel + offset`, at their middle.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    first: u32,
    count: u32,
    scale: f64,
    offset: f64,
}

impl Axis {
    /// `None` of a side without pixels.
    fn of(from: [i32; 2], to: [i32; 2]) -> Option<Axis> {
        let [from_first, from_last] = from.map(f64::from);
        let [to_first, to_last] = to.map(f64::from);
        let [start, end] = to;
        let count = start.abs_diff(end);
        if count == 0 {
            return None;
        }
        let scale = (from_last - from_first) / (to_last - to_first);
        Some(Axis {
            first: u32::try_from(start.min(end)).ok()?,
            count,
            scale,
            offset: (0.5 - to_first) * scale + from_first,
        })
    }

    /// Where the middle of a pixel comes from.
    fn at(self, pixel: u32) -> f64 {
        self.scale * f64::from(pixel) + self.offset
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Clears levels and layers of an image to a colour.
    ///
    /// # Errors
    /// If there are no such levels or layers; if the image can't be rendered to; or as [`Recorder::begin_rendering`].
    pub fn clear_color_image(
        &mut self,
        image: Image,
        color: ClearColor,
        range: ImageRange,
    ) -> Result<&mut Self, Error> {
        self.clear_views(image, range, |recorder, view, layers| {
            let color = ColorAttachment::cleared(view, color);
            let pass = recorder.begin_rendering(&RenderingInfo {
                layers,
                colors: &[Some(color)],
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()
        })
    }

    /// Clears depth, stencil or both of levels and layers of an image.
    ///
    /// # Errors
    /// As [`Recorder::clear_color_image`].
    pub fn clear_depth_stencil_image(
        &mut self,
        image: Image,
        depth: Option<f32>,
        stencil: Option<u8>,
        range: ImageRange,
    ) -> Result<&mut Self, Error> {
        if depth.is_none() && stencil.is_none() {
            return Ok(self);
        }
        self.clear_views(image, range, |recorder, view, layers| {
            let store = StoreOp::Store;
            let pass = recorder.begin_rendering(&RenderingInfo {
                layers,
                depth: depth.map(|depth| DepthAttachment {
                    view,
                    load: LoadOp::Clear(depth),
                    store,
                }),
                stencil: stencil.map(|stencil| StencilAttachment {
                    view,
                    load: LoadOp::Clear(stencil),
                    store,
                }),
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()
        })
    }

    /// Clears each level of a range, as many layers at once as a pass has.
    fn clear_views(
        &mut self,
        image: Image,
        range: ImageRange,
        mut clear: impl FnMut(&mut Self, ImageView, u32) -> Result<(), Error>,
    ) -> Result<&mut Self, Error> {
        let info = self.device.image_info(image)?;
        let range = range.of(&info)?;
        for level in range.level..range.level.saturating_add(range.levels) {
            let (first, count) = match info.dimension {
                ImageDimension::ThreeD => (0, info.slices(level)),
                _ => (range.layer, range.layers),
            };
            let mut done = 0;
            while done < count {
                let layers = count.saturating_sub(done).min(MOST_LAYERS);
                let view = ImageView {
                    level,
                    layer: first.saturating_add(done),
                    ..ImageView::of(image)
                };
                clear(self, view, layers)?;
                done = done.saturating_add(layers);
            }
        }
        Ok(self)
    }

    /// Copies a box of one image into a box of another: scaled, mirrored, and converted to the other format.
    ///
    /// # Errors
    /// If there are no such levels, layers or texels; if colours of different kinds, or depth of different formats, are to be
    /// converted, integers or depth filtered, or samples read; if the destination can't be rendered to; or as
    /// [`Recorder::begin_rendering`].
    pub fn blit_image(
        &mut self,
        source: Image,
        target: Image,
        filter: BlitFilter,
        region: &BlitRegion,
    ) -> Result<&mut Self, Error> {
        let (of, to) = (
            self.device.image_info(source)?,
            self.device.image_info(target)?,
        );
        let [from_corners, to_corners] = [&region.from_corners, &region.to_corners];
        check_corners(&of, region.from, from_corners)?;
        check_corners(&to, region.to, to_corners)?;
        let blit = Blit::of((source, &of), (target, &to), filter, region)?;
        let axis = |axis: usize| {
            let pair = |[first, last]: &[[i32; 3]; 2]| {
                [first, last].map(|corner| corner.get(axis).copied().unwrap_or(0))
            };
            Axis::of(pair(from_corners), pair(to_corners))
        };
        let (Some(x), Some(y)) = (axis(0), axis(1)) else {
            return Ok(self);
        };
        let deep = [of.dimension, to.dimension].map(|it| it == ImageDimension::ThreeD);
        let slices = match deep {
            // Slices are scaled, too, even where there is but one on a side.
            [false, false] => None,
            _ => Some(axis(2)),
        };
        match slices {
            None => {
                for layer in 0..region.to.layers {
                    let [from, to] = [region.from.layer, region.to.layer];
                    let layers = [from, to].map(|first| first.saturating_add(layer));
                    self.blit_slice(&blit, [x, y], layers, None)?;
                }
            }
            Some(None) => {}
            Some(Some(z)) => {
                for slice in z.first..z.first.saturating_add(z.count) {
                    let from = z.at(slice);
                    let last = of.slices(region.from.level).saturating_sub(1);
                    // The whole part: the number is not negative.
                    let nearest = (from as u32).min(last);
                    let nearest = if deep[0] { nearest } else { region.from.layer };
                    let to = if deep[1] { slice } else { region.to.layer };
                    let depth = f64::from(last) + 1.0;
                    let depth = (filter == BlitFilter::Linear && deep[0]).then_some(from / depth);
                    self.blit_slice(&blit, [x, y], [nearest, to], depth)?;
                }
            }
        }
        Ok(self)
    }

    /// Fills a layer or slice of the destination of a blit.
    fn blit_slice(
        &mut self,
        blit: &Blit,
        [x, y]: [Axis; 2],
        [from, to]: [u32; 2],
        depth: Option<f64>,
    ) -> Result<(), Error> {
        let view = |image, level, layer| ImageView {
            level,
            layer,
            ..ImageView::of(image)
        };
        let [from_level, to_level] = blit.levels;
        let surface = surface(
            self.device,
            view(blit.source, from_level, from),
            blit.target,
        )?;
        let (width, height) = surface.size();
        let scales = [x.scale, y.scale];
        let offsets = [x.offset, y.offset];
        let transform = match blit.filter {
            BlitFilter::Nearest => Transform::Nearest {
                scale: scales.map(|it| it as f32),
                offset: offsets.map(|it| it as f32),
            },
            BlitFilter::Linear => {
                let [width, height] = [width, height].map(f64::from);
                let per = |[x, y]: [f64; 2]| [(x / width) as f32, (y / height) as f32];
                Transform::Linear {
                    scale: per(scales),
                    offset: per(offsets),
                    depth: depth.map(|it| it as f32),
                }
            }
        };
        let area = Rect {
            x: i32::try_from(x.first).unwrap_or(i32::MAX),
            y: i32::try_from(y.first).unwrap_or(i32::MAX),
            width: x.count,
            height: y.count,
        };
        let source = TexelSource {
            surface,
            transform,
            mode: ResolveMode::SampleZero,
            target: blit.target,
        };
        self.write_texels(source, view(blit.image, to_level, to), area)
    }

    /// Writes one sample of each texel of an image into another: the mean of all, or the first one of integers.
    ///
    /// # Errors
    /// If there are no such levels, layers or texels; if the source has one sample, the destination several, or another format; if
    /// it can't be rendered to; or as [`Recorder::begin_rendering`].
    pub fn resolve_image(
        &mut self,
        source: Image,
        target: Image,
        region: &ImageCopy,
    ) -> Result<&mut Self, Error> {
        let (of, to) = (
            self.device.image_info(source)?,
            self.device.image_info(target)?,
        );
        let attachment = Attachment::Color(0);
        if of.samples == 1 || to.samples > 1 || of.format != to.format {
            return Err(GraphicsError::Mismatch { attachment }.into());
        }
        let [width, height, _] = region.extent;
        let corners = |[x, y, _]: [u32; 3]| {
            let corner =
                |x: u32, y: u32, z| [x, y, z].map(|it| i32::try_from(it).unwrap_or(i32::MAX));
            let last = [x.saturating_add(width), y.saturating_add(height)];
            [corner(x, y, 0), corner(last[0], last[1], 1)]
        };
        check_corners(&of, region.from, &corners(region.from_offset))?;
        check_corners(&to, region.to, &corners(region.to_offset))?;
        let mode = match Kind::of(of.format) {
            Kind::Float => ResolveMode::Average,
            Kind::Int | Kind::Uint => ResolveMode::SampleZero,
        };
        let [x, y, _] = region.to_offset;
        let [from_x, from_y, _] = region.from_offset;
        let moved = [from_x.wrapping_sub(x), from_y.wrapping_sub(y)];
        for layer in 0..region.from.layers {
            let view = |image, part: &ImageSubresource| ImageView {
                level: part.level,
                layer: part.layer.saturating_add(layer),
                ..ImageView::of(image)
            };
            let surface = surface(self.device, view(source, &region.from), attachment)?;
            let source = TexelSource {
                surface,
                transform: Transform::Offset(moved.map(|it| it as i32)),
                mode,
                target: attachment,
            };
            let area = Rect {
                x: i32::try_from(x).unwrap_or(i32::MAX),
                y: i32::try_from(y).unwrap_or(i32::MAX),
                width,
                height,
            };
            self.write_texels(source, view(target, &region.to), area)?;
        }
        Ok(self)
    }

    /// Makes all levels of an image from its first one, each from the one before, halved by a linear filter; of integers, depth and
    /// stencil by the nearest texel.
    ///
    /// # Errors
    /// As [`Recorder::blit_image`].
    pub fn generate_levels(&mut self, image: Image) -> Result<&mut Self, Error> {
        let info = self.device.image_info(image)?;
        let is_color = info.aspects() == [Aspect::Color];
        let filter = match Kind::of(info.format) {
            Kind::Float if is_color => BlitFilter::Linear,
            _ => BlitFilter::Nearest,
        };
        for level in 1..info.levels {
            let before = level.saturating_sub(1);
            let corners = |level| {
                let size = info.level_size(level);
                [[0; 3], size.map(|it| i32::try_from(it).unwrap_or(i32::MAX))]
            };
            for aspect in info.aspects() {
                let part = |level| ImageSubresource {
                    aspect: Some(*aspect),
                    level,
                    layer: 0,
                    layers: info.layers,
                };
                let region = BlitRegion {
                    from: part(before),
                    from_corners: corners(before),
                    to: part(level),
                    to_corners: corners(level),
                };
                self.blit_image(image, image, filter, &region)?;
            }
            self.barrier(
                Accesses::TRANSFER_WRITE,
                Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE,
            )?;
        }
        Ok(self)
    }

    /// Records a pass that writes texels of a source into an area of a view.
    pub(super) fn write_texels(
        &mut self,
        source: TexelSource,
        view: ImageView,
        area: Rect,
    ) -> Result<(), Error> {
        let store = StoreOp::Store;
        let color = ColorAttachment {
            view,
            resolve: None,
            load: LoadOp::DontCare,
            store,
        };
        let colors = &[Some(color)];
        let all = RenderingInfo {
            area: Some(area),
            ..RenderingInfo::default()
        };
        let info = match source.target {
            Attachment::Color(_) => RenderingInfo { colors, ..all },
            Attachment::Depth => RenderingInfo {
                depth: Some(DepthAttachment {
                    view,
                    load: LoadOp::DontCare,
                    store,
                }),
                ..all
            },
            Attachment::Stencil => RenderingInfo {
                stencil: Some(StencilAttachment {
                    view,
                    load: LoadOp::DontCare,
                    store,
                }),
                ..all
            },
        };
        self.texel_pass(&info, source)
    }
}

/// A blit whose formats were checked.
struct Blit {
    source: Image,
    image: Image,
    levels: [u32; 2],
    filter: BlitFilter,
    target: Attachment,
}

impl Blit {
    fn of(
        (source, of): (Image, &ImageInfo),
        (image, to): (Image, &ImageInfo),
        filter: BlitFilter,
        region: &BlitRegion,
    ) -> Result<Blit, Error> {
        let first = |info: &ImageInfo| info.aspects().first().copied();
        let aspect = region.to.aspect.or_else(|| first(to));
        let same_aspect = region.from.aspect.or_else(|| first(of)) == aspect;
        let target = match aspect {
            Some(Aspect::Depth) => Attachment::Depth,
            Some(Aspect::Stencil) => Attachment::Stencil,
            Some(Aspect::Color) | None => Attachment::Color(0),
        };
        let is_color = target == Attachment::Color(0);
        let [from_kind, to_kind] = [of, to].map(|info| Kind::of(info.format));
        let alike = if is_color {
            from_kind == to_kind
        } else {
            of.format == to.format
        };
        if !same_aspect || !alike || of.samples > 1 || to.samples > 1 {
            return Err(GraphicsError::Mismatch { attachment: target }.into());
        }
        if filter == BlitFilter::Linear && (!is_color || from_kind != Kind::Float) {
            return Err(GraphicsError::Unsupported {
                what: Unsupported::LinearBlit,
                target: Some(target),
            }
            .into());
        }
        Ok(Blit {
            source,
            image,
            levels: [region.from.level, region.to.level],
            filter,
            target,
        })
    }
}

/// Checks that the corners of a box are in a level, and its layers in the image.
fn check_corners(
    info: &ImageInfo,
    part: ImageSubresource,
    [first, last]: &[[i32; 3]; 2],
) -> Result<(), ImageError> {
    let ImageSubresource {
        level,
        layer,
        layers,
        ..
    } = part;
    let size = info.level_size(level);
    let refused = |what, first: u32, count: u32, size: u32| ImageError::Region {
        what,
        first,
        count,
        size,
        level,
    };
    if level >= info.levels {
        return Err(refused("levels", level, 1, info.levels));
    }
    let end = layer.checked_add(layers).filter(|end| *end <= info.layers);
    if layers == 0 || end.is_none() {
        return Err(refused("layers", layer, layers, info.layers));
    }
    let axes = first.iter().zip(last).zip(size).zip(["x", "y", "z"]);
    for (((first, last), size), what) in axes {
        let (start, end) = (*first.min(last), *first.max(last));
        if start < 0 || end as u32 > size {
            return Err(refused(what, start as u32, start.abs_diff(end), size));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_maps_the_middles_of_pixels() {
        let twice = Axis::of([0, 8], [16, 32]).expect("pixels");
        assert_eq!((twice.first, twice.count), (16, 16));
        assert_eq!((twice.at(16), twice.at(31)), (0.25, 7.75));
        // The corners have changed places: the first pixel comes from the last texel.
        let mirrored = Axis::of([16, 0], [0, 8]).expect("pixels");
        assert_eq!((mirrored.at(0), mirrored.at(7)), (15.0, 1.0));
        let both = Axis::of([4, 0], [8, 4]).expect("pixels");
        assert_eq!((both.first, both.at(4)), (4, 0.5));
        assert_eq!(Axis::of([0, 4], [3, 3]), None);
    }
}
