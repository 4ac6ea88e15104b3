//! What a pass renders to: found out from the attachments that are named, and checked.
//!
//! Facts: hardware/graphics-framebuffer.md 5.1 to 5.6 and 5.9.

use super::clear;
use super::error::{Attachment, GraphicsError, Unsupported};
use super::framebuffer::{ColorTarget, DepthTarget, Framebuffer, MOST_COLORS, MOST_LAYERS};
use super::output_code::Kind;
use super::rendering::{ImageView, LoadOp, RenderingInfo, Resolve, StoreOp};
use super::resolve::{self, DeferredResolve};
use super::samples;
use super::surface::{Surface, surface};
use super::tile::TileLimits;
use crate::device::Device;
use crate::error::Error;
use crate::platform::Platform;
use eitri_descriptors::attachment_formats::DepthStencilFormat;

/// What checking the attachments finds out on its way.
struct Found {
    size: Option<(u32, u32)>,
    samples: Option<u32>,
    layers: u32,
}

impl Found {
    fn add(&mut self, attachment: Attachment, surface: &Surface) -> Result<(), GraphicsError> {
        let size = *self.size.get_or_insert(surface.size());
        let samples = *self.samples.get_or_insert(surface.info.samples);
        if size != surface.size() || samples != surface.info.samples {
            return Err(GraphicsError::Mismatch { attachment });
        }
        self.check_layers(attachment, surface)
    }

    /// What samples of an attachment are resolved to, which is checked.
    fn resolved<P: Platform>(
        &self,
        device: &Device<'_, '_, P>,
        attachment: Attachment,
        of: &Surface,
        resolve: Resolve,
    ) -> Result<Surface, Error> {
        let resolved = surface(device, resolve.view, attachment)?;
        let same = resolved.info.format == of.info.format && resolved.info.samples == 1;
        if !same || resolved.size() != of.size() {
            return Err(GraphicsError::Mismatch { attachment }.into());
        }
        self.check_layers(attachment, &resolved)?;
        Ok(resolved)
    }

    fn check_layers(&self, attachment: Attachment, it: &Surface) -> Result<(), GraphicsError> {
        let last = it.layer.saturating_add(self.layers.saturating_sub(1));
        if it.level < it.info.levels && last < it.layers() {
            Ok(())
        } else {
            Err(GraphicsError::NoPart {
                attachment,
                level: it.level,
                layer: last,
            })
        }
    }
}

/// What an attachment is cleared to.
fn clear_of<C: Copy>(load: LoadOp<C>) -> Option<C> {
    match load {
        LoadOp::Clear(value) => Some(value),
        LoadOp::DontCare | LoadOp::Load => None,
    }
}

/// What is asked for of depth or stencil.
struct DepthOrStencil {
    attachment: Attachment,
    /// Whether a format has it.
    is_one: fn(&DepthStencilFormat) -> bool,
    view: ImageView,
    clear: bool,
    load: bool,
    store: bool,
    resolve: Option<Resolve>,
}

impl Framebuffer {
    /// Finds out what a pass renders to, and checks it.
    pub(super) fn begin<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        info: &RenderingInfo<'_>,
    ) -> Result<(), Error> {
        let layers = match info.view_mask {
            0 => info.layers.max(1),
            views => u32::BITS.saturating_sub(views.leading_zeros()),
        };
        if layers > MOST_LAYERS {
            return Err(GraphicsError::unsupported(Unsupported::Layers).into());
        }
        let (given, most) = (info.colors.len(), MOST_COLORS);
        if given > most {
            return Err(GraphicsError::Attachments { found: given, most }.into());
        }
        let mut found = Found {
            size: None,
            samples: None,
            layers,
        };
        (self.texels, self.depth, self.stencil) = (None, None, None);
        self.deferred.clear();
        let bytes = self.begin_colors(device, info, &mut found)?;
        self.begin_depth(device, info, &mut found)?;
        self.begin_stencil(device, info, &mut found)?;
        self.has = [self.depth.is_some(), self.stencil.is_some()];
        self.begin_tiles(device, info, (&found, bytes))?;
        self.note_loads_and_clears();
        Ok(())
    }

    /// Finds out the colours; gives the bytes of a sample in the tile buffer.
    fn begin_colors<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        info: &RenderingInfo<'_>,
        found: &mut Found,
    ) -> Result<u32, Error> {
        let mut bytes = 0_u32;
        let wanted = info.colors.iter().chain(core::iter::repeat(&None));
        for ((place, it), location) in self.colors.iter_mut().zip(wanted).zip(0..) {
            *place = None;
            let Some(it) = it else { continue };
            let at = Attachment::Color(location);
            let surface = surface(device, it.view, at)?;
            found.add(at, &surface)?;
            let format = surface.info.format;
            let refused = GraphicsError::Format {
                attachment: at,
                format: format.name,
            };
            let target = format.target().ok_or(refused)?;
            let row = target.internal_format().ok_or(refused)?;
            let clear = clear_of(it.load).map(|color| clear::words(format, target, color));
            let stored = (it.store == StoreOp::Store).then(|| surface.target());
            let (mut written, mut resolves) = (stored, None);
            if let Some(resolve) = it.resolve {
                let resolved = found.resolved(device, at, &surface, resolve)?;
                let (kind, arch) = (Kind::of(format), device.hw.properties.arch);
                let fixed = resolve::fixed_function(resolve.mode, kind, row.average.contains(arch));
                match fixed {
                    Some(msaa) if stored.is_none() && !resolved.is_cut_by(info.area) => {
                        (written, resolves) = (Some(resolved.target()), Some(msaa));
                    }
                    _ => {
                        let later = DeferredResolve::new(at, it.view, resolve, kind)?;
                        // There is room: there are as many places as attachments.
                        let _ = self.deferred.push(later);
                        written = Some(surface.target());
                    }
                }
            }
            bytes = bytes.saturating_add(row.bytes);
            *place = Some(ColorTarget {
                format,
                target,
                bytes: row.bytes,
                view: it.view,
                written,
                clear,
                loaded: (it.load == LoadOp::Load).then_some(it.view),
                resolves,
            });
        }
        Ok(bytes)
    }

    /// Finds out depth.
    fn begin_depth<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        info: &RenderingInfo<'_>,
        found: &mut Found,
    ) -> Result<(), Error> {
        self.clear_depth = 0.0;
        let Some(it) = info.depth else { return Ok(()) };
        let clear = clear_of(it.load);
        self.clear_depth = clear.unwrap_or(0.0);
        let asked = DepthOrStencil {
            attachment: Attachment::Depth,
            is_one: |format| format.depth.is_some(),
            view: it.view,
            clear: clear.is_some(),
            load: it.load == LoadOp::Load,
            store: it.store == StoreOp::Store,
            resolve: info.depth_resolve,
        };
        self.depth = Some(self.depth_target(device, &asked, found)?);
        Ok(())
    }

    /// Finds out stencil.
    fn begin_stencil<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        info: &RenderingInfo<'_>,
        found: &mut Found,
    ) -> Result<(), Error> {
        self.clear_stencil = 0;
        let Some(it) = info.stencil else {
            return Ok(());
        };
        let clear = clear_of(it.load);
        self.clear_stencil = clear.unwrap_or(0);
        let asked = DepthOrStencil {
            attachment: Attachment::Stencil,
            is_one: |format| format.stencil.is_some(),
            view: it.view,
            clear: clear.is_some(),
            load: it.load == LoadOp::Load,
            store: it.store == StoreOp::Store,
            resolve: info.stencil_resolve,
        };
        self.stencil = Some(self.depth_target(device, &asked, found)?);
        Ok(())
    }

    /// The target of depth or stencil, which is resolved behind the pass if it is to be.
    fn depth_target<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        asked: &DepthOrStencil,
        found: &mut Found,
    ) -> Result<DepthTarget, Error> {
        let &DepthOrStencil {
            attachment: at,
            view,
            ..
        } = asked;
        let surface = surface(device, view, at)?;
        found.add(at, &surface)?;
        let name = surface.info.format.name;
        let row = DepthStencilFormat::of_name(name).filter(|row| (asked.is_one)(row));
        let format = row.ok_or(GraphicsError::Format {
            attachment: at,
            format: name,
        })?;
        if let Some(resolve) = asked.resolve {
            found.resolved(device, at, &surface, resolve)?;
            let kind = Kind::of(surface.info.format);
            let later = DeferredResolve::new(at, view, resolve, kind)?;
            // There is room: there are as many places as attachments.
            let _ = self.deferred.push(later);
        }
        Ok(DepthTarget {
            format,
            target: surface.target(),
            view,
            clear: asked.clear,
            load: asked.load,
            store: asked.store || asked.resolve.is_some(),
        })
    }

    /// Finds out the extent of all attachments, of which a sample has so many bytes of colour, and the tiles.
    fn begin_tiles<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        info: &RenderingInfo<'_>,
        (found, bytes): (&Found, u32),
    ) -> Result<(), Error> {
        let (given, most) = (info.colors.len(), MOST_COLORS);
        let missing = GraphicsError::Attachments { found: given, most };
        let end = |start: i32, length: u32| u32::try_from(start).ok()?.checked_add(length);
        let extent = info
            .area
            .and_then(|it| end(it.x, it.width).zip(end(it.y, it.height)));
        let size = found.size.or(extent).ok_or(missing)?;
        let samples = found.samples.unwrap_or(info.samples.max(1));
        let arch = device.hw.properties.arch;
        if samples::pattern(arch, samples).is_none() {
            return Err(GraphicsError::Samples { samples }.into());
        }
        let bytes = bytes.saturating_mul(samples);
        let known = device.drawing.as_ref().map(|drawing| drawing.tiles);
        let name = || device.hw.properties.name();
        let limits = known.unwrap_or_else(|| TileLimits::of(arch, name()));
        let tile = limits.tile(bytes, samples);
        self.size = size;
        self.area = area(size, info).ok_or(GraphicsError::Area)?;
        (self.samples, self.layers) = (samples, found.layers);
        self.view_mask = info.view_mask;
        self.tile = tile.ok_or(GraphicsError::TileBuffer { bytes })?;
        self.count = given.max(1);
        self.compressed = self.writes_compressed();
        self.border = None;
        if self.compressed {
            self.add_border(info);
        }
        Ok(())
    }
}

/// The render area: both corners are inside.
fn area((width, height): (u32, u32), info: &RenderingInfo<'_>) -> Option<[u32; 4]> {
    let last = |start: u32, length: u32| start.checked_add(length)?.checked_sub(1);
    let Some(rect) = info.area else {
        return Some([0, 0, last(0, width)?, last(0, height)?]);
    };
    let [x, y] = [rect.x, rect.y].map(u32::try_from);
    let (x, y) = (x.ok()?, y.ok()?);
    let (right, bottom) = (last(x, rect.width)?, last(y, rect.height)?);
    let inside = rect.width > 0 && rect.height > 0 && right < width && bottom < height;
    inside.then_some([x, y, right, bottom])
}

#[cfg(test)]
mod tests {
    use super::{RenderingInfo, area as area_of};
    use crate::graphics::rendering::Rect;

    #[test]
    fn the_area_is_inside_of_the_attachments() {
        let found = |rect: Option<[i64; 4]>| {
            let area = rect.map(|[x, y, width, height]| Rect {
                x: x as i32,
                y: y as i32,
                width: width as u32,
                height: height as u32,
            });
            let info = RenderingInfo {
                area,
                ..RenderingInfo::default()
            };
            area_of((16, 8), &info)
        };
        assert_eq!(found(None), Some([0, 0, 15, 7]), "all of them");
        assert_eq!(found(Some([0, 0, 16, 8])), Some([0, 0, 15, 7]));
        assert_eq!(found(Some([15, 7, 1, 1])), Some([15, 7, 15, 7]));
        assert_eq!(found(Some([3, 2, 4, 5])), Some([3, 2, 6, 6]));
        for outside in [
            [-1, 0, 4, 4],
            [0, -1, 4, 4],
            [0, 0, 17, 8],
            [0, 0, 16, 9],
            [15, 0, 2, 1],
            [0, 7, 1, 2],
            [16, 0, 1, 1],
            [4, 4, 0, 1],
            [4, 4, 1, 0],
            [0, 0, 0, 4],
            [4, 4, u32::MAX.into(), 1],
        ] {
            assert_eq!(found(Some(outside)), None, "{outside:?}");
        }
    }
}
