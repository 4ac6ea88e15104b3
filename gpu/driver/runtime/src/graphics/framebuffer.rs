//! Framebuffers: what a pass renders to, found out and checked. Their descriptors are in [`super::framebuffer_words`].
//!
//! Facts: hardware/graphics-framebuffer.md 5.1 to 5.6 and 5.9.

use super::clear;
use super::error::{Attachment, GraphicsError, Unsupported};
use super::load::Kind;
use super::rendering::{LoadOp, RenderingInfo, Resolve, StoreOp};
use super::resolve::{self, DeferredResolve, MOST_RESOLVES};
use super::samples;
use super::surface::{Surface, surface};
use super::texels::TexelSource;
use super::tile::{Tile, TileBuffers};
use crate::device::Device;
use crate::error::Error;
use crate::platform::Platform;
use crate::slab::Key;
use eitri_descriptors::attachment_formats::{DepthStencilFormat, TargetFormat};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::framebuffer::Msaa;
use heapless::Vec;

/// Most colour attachments.
pub(crate) const MOST_COLORS: usize = 8;
/// Most layers: those of one tiler context.
pub(crate) const MOST_LAYERS: u32 = 8;

/// A colour target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColorTarget {
    pub(crate) format: &'static VkFormat,
    pub(super) target: &'static TargetFormat,
    /// Bytes of a sample in the tile buffer.
    pub(super) bytes: u32,
    /// What is written in the end.
    pub(super) written: Option<Surface>,
    pub(super) clear: Option<[u32; 4]>,
    /// What it begins with.
    pub(super) loaded: Option<Surface>,
    /// How samples become one where they are written, if they do.
    pub(super) resolves: Option<Msaa>,
}

impl ColorTarget {
    /// Whether tiles that nothing is drawn into are written.
    pub(super) const fn writes_clean_tiles(&self) -> bool {
        self.clear.is_some() || self.resolves.is_some()
    }
}

/// A depth or stencil target.
#[derive(Clone, Copy, Debug)]
pub(super) struct DepthTarget {
    pub(super) format: &'static DepthStencilFormat,
    pub(super) surface: Surface,
    pub(super) clear: bool,
    pub(super) load: bool,
    pub(super) store: bool,
}

/// What a pass renders to.
#[derive(Clone, Debug)]
pub(crate) struct Framebuffer {
    pub(crate) size: (u32, u32),
    /// The render area: least x and y, greatest x and y, which are rendered too.
    pub(crate) area: [u32; 4],
    pub(crate) samples: u32,
    pub(crate) layers: u32,
    /// Views, a bit each; 0 without multiview.
    pub(crate) view_mask: u32,
    pub(crate) tile: Tile,
    pub(super) colors: [Option<ColorTarget>; MOST_COLORS],
    /// Places of colours.
    pub(super) count: usize,
    pub(super) depth: Option<DepthTarget>,
    pub(super) stencil: Option<DepthTarget>,
    pub(super) clear_depth: f32,
    pub(super) clear_stencil: u8,
    /// What it begins with in place of what its attachments held.
    pub(super) texels: Option<TexelSource>,
    /// What is resolved when it was written.
    deferred: Vec<DeferredResolve, MOST_RESOLVES>,
}

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

impl Framebuffer {
    /// Finds out what a pass renders to, and checks it.
    pub(crate) fn of<P: Platform>(
        device: &Device<'_, '_, P>,
        info: &RenderingInfo<'_>,
    ) -> Result<Framebuffer, Error> {
        let arch = device.hw.properties.arch;
        let layers = match info.view_mask {
            0 => info.layers.max(1),
            views => u32::BITS.saturating_sub(views.leading_zeros()),
        };
        let mut found = Found {
            size: None,
            samples: None,
            layers,
        };
        if found.layers > MOST_LAYERS {
            return Err(GraphicsError::unsupported(Unsupported::Layers).into());
        }
        let (given, most) = (info.colors.len(), MOST_COLORS);
        let missing = GraphicsError::Attachments { found: given, most };
        if given > most {
            return Err(missing.into());
        }
        let mut colors = [None; MOST_COLORS];
        let mut deferred = Vec::new();
        let mut bytes = 0_u32;
        for ((place, it), location) in colors.iter_mut().zip(info.colors).zip(0..) {
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
            let stored = (it.store == StoreOp::Store).then_some(surface);
            let (mut written, mut resolves) = (stored, None);
            if let Some(resolve) = it.resolve {
                let resolved = found.resolved(device, at, &surface, resolve)?;
                let kind = Kind::of(format);
                let fixed = resolve::fixed_function(resolve.mode, kind, row.average.contains(arch));
                match fixed {
                    Some(msaa) if stored.is_none() => {
                        (written, resolves) = (Some(resolved), Some(msaa));
                    }
                    _ => {
                        let later = DeferredResolve::new(at, it.view, resolve, kind)?;
                        // There is room: there are as many places as attachments.
                        let _ = deferred.push(later);
                        written = Some(surface);
                    }
                }
            }
            bytes = bytes.saturating_add(row.bytes);
            *place = Some(ColorTarget {
                format,
                target,
                bytes: row.bytes,
                written,
                clear,
                loaded: (it.load == LoadOp::Load).then_some(surface),
                resolves,
            });
        }
        let (mut depth, mut stencil) = (None, None);
        let (mut clear_depth, mut clear_stencil) = (0.0, 0);
        if let Some(it) = info.depth {
            let at = Attachment::Depth;
            let surface = surface(device, it.view, at)?;
            found.add(at, &surface)?;
            let format = depth_format(&surface, at, |format| format.depth.is_some())?;
            let clear = clear_of(it.load);
            clear_depth = clear.unwrap_or(0.0);
            if let Some(resolve) = info.depth_resolve {
                found.resolved(device, at, &surface, resolve)?;
                let kind = Kind::of(surface.info.format);
                let later = DeferredResolve::new(at, it.view, resolve, kind)?;
                let _ = deferred.push(later);
            }
            depth = Some(DepthTarget {
                format,
                surface,
                clear: clear.is_some(),
                load: it.load == LoadOp::Load,
                store: it.store == StoreOp::Store || info.depth_resolve.is_some(),
            });
        }
        if let Some(it) = info.stencil {
            let at = Attachment::Stencil;
            let surface = surface(device, it.view, at)?;
            found.add(at, &surface)?;
            let format = depth_format(&surface, at, |format| format.stencil.is_some())?;
            let clear = clear_of(it.load);
            clear_stencil = clear.unwrap_or(0);
            if let Some(resolve) = info.stencil_resolve {
                found.resolved(device, at, &surface, resolve)?;
                let kind = Kind::of(surface.info.format);
                let later = DeferredResolve::new(at, it.view, resolve, kind)?;
                let _ = deferred.push(later);
            }
            stencil = Some(DepthTarget {
                format,
                surface,
                clear: clear.is_some(),
                load: it.load == LoadOp::Load,
                store: it.store == StoreOp::Store || info.stencil_resolve.is_some(),
            });
        }
        let end = |start: i32, length: u32| u32::try_from(start).ok()?.checked_add(length);
        let extent = info
            .area
            .and_then(|it| end(it.x, it.width).zip(end(it.y, it.height)));
        let size = found.size.or(extent).ok_or(missing)?;
        let samples = found.samples.unwrap_or(info.samples.max(1));
        if samples::pattern(arch, samples).is_none() {
            return Err(GraphicsError::Samples { samples }.into());
        }
        let bytes = bytes.saturating_mul(samples);
        let buffers = TileBuffers::of(arch, device.hw.properties.name());
        let tile = buffers.tile(bytes, samples);
        Ok(Framebuffer {
            size,
            area: area(size, info).ok_or(GraphicsError::Area)?,
            samples,
            layers: found.layers,
            view_mask: info.view_mask,
            tile: tile.ok_or(GraphicsError::TileBuffer { bytes })?,
            colors,
            count: given.max(1),
            depth,
            stencil,
            clear_depth,
            clear_stencil,
            texels: None,
            deferred,
        })
    }

    /// Lets the pass begin with texels of an image, in all pixels of its area.
    pub(super) fn begin_with(&mut self, texels: TexelSource) {
        self.texels = Some(texels);
    }

    /// What the pass begins with in place of what its attachments held.
    pub(super) const fn texels(&self) -> Option<&TexelSource> {
        self.texels.as_ref()
    }

    /// What is to be resolved when the pass was written.
    pub(super) fn deferred(&self) -> Vec<DeferredResolve, MOST_RESOLVES> {
        self.deferred.clone()
    }

    /// The images that are rendered to.
    pub(crate) fn images(&self) -> impl Iterator<Item = Key> + '_ {
        let colors = self.colors.iter().flatten();
        let colors = colors
            .flat_map(|color| [color.written, color.loaded])
            .flatten();
        let others = [self.depth, self.stencil];
        let others = others.into_iter().flatten().map(|target| target.surface);
        colors.chain(others).map(|surface| surface.image())
    }

    /// The colours that are loaded, by their locations.
    pub(super) fn loaded_colors(&self) -> impl Iterator<Item = Option<Surface>> + '_ {
        self.colors.iter().map(|color| color.as_ref()?.loaded)
    }

    /// Depth and stencil, if they are loaded.
    pub(super) fn loaded_depth_stencil(&self) -> [Option<Surface>; 2] {
        let loaded = |target: DepthTarget| target.load.then_some(target.surface);
        [self.depth.and_then(loaded), self.stencil.and_then(loaded)]
    }

    /// Whether tiles that nothing is drawn into are written, too.
    pub(crate) fn clears(&self) -> bool {
        let mut colors = self.colors.iter().flatten();
        let others = [self.depth, self.stencil];
        self.texels.is_some()
            || colors.any(|color| color.written.is_some() && color.writes_clean_tiles())
            || others
                .into_iter()
                .flatten()
                .any(|target| target.clear && target.store)
    }

    /// The format of a colour.
    pub(crate) fn color_format(&self, location: usize) -> Option<&'static VkFormat> {
        Some(self.colors.get(location)?.as_ref()?.format)
    }

    /// Whether there is depth, and stencil.
    pub(crate) const fn has_depth_stencil(&self) -> [bool; 2] {
        [self.depth.is_some(), self.stencil.is_some()]
    }
}

fn depth_format(
    surface: &Surface,
    attachment: Attachment,
    is_one: impl Fn(&DepthStencilFormat) -> bool,
) -> Result<&'static DepthStencilFormat, GraphicsError> {
    let format = surface.info.format.name;
    let row = DepthStencilFormat::of_name(format).filter(|row| is_one(row));
    row.ok_or(GraphicsError::Format { attachment, format })
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
