//! Framebuffers: what a pass renders to, found out and checked. Their descriptors are in [`super::framebuffer_words`].
//!
//! Facts: hardware/graphics-framebuffer.md 5.1 to 5.6 and 5.9.

use super::clear;
use super::error::{Attachment, GraphicsError, Unsupported};
use super::load::Kind;
use super::rendering::{ImageView, LoadOp, RenderingInfo, Resolve, StoreOp};
use super::resolve::{self, DeferredResolve, MOST_RESOLVES};
use super::samples;
use super::surface::{Surface, Target, surface};
use super::texels::TexelSource;
use super::tile::{Tile, TileLimits};
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
    /// What is rendered to: samples, if they become one where they are written.
    pub(super) view: ImageView,
    /// What is written in the end.
    pub(super) written: Option<Target>,
    pub(super) clear: Option<[u32; 4]>,
    /// What it begins with.
    pub(super) loaded: Option<ImageView>,
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
    pub(super) target: Target,
    view: ImageView,
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
    /// Some attachment is loaded, and some is cleared and kept.
    loads: bool,
    clears: bool,
    /// What it begins with in place of what its attachments held.
    pub(super) texels: Option<TexelSource>,
    /// What is resolved when it was written.
    deferred: Vec<DeferredResolve, MOST_RESOLVES>,
}

/// What the tiler is told of a framebuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) size: (u32, u32),
    pub(super) samples: u32,
    pub(super) layers: u32,
    pub(super) tile: Tile,
}

/// What frame shaders are told of a framebuffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColorFormats {
    pub(super) formats: [Option<&'static VkFormat>; MOST_COLORS],
    /// Places of colours.
    pub(super) count: u32,
    pub(super) samples: u32,
}

/// What frame shaders load: colours by their locations, depth and stencil.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loads {
    pub(super) formats: ColorFormats,
    pub(super) colors: [Option<ImageView>; MOST_COLORS],
    pub(super) depth_stencil: [Option<ImageView>; 2],
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
    /// That of no pass.
    pub(super) const NOTHING: Framebuffer = Framebuffer {
        size: (0, 0),
        area: [0; 4],
        samples: 1,
        layers: 0,
        view_mask: 0,
        tile: Tile {
            pixels: 0,
            allocation: 0,
        },
        colors: [None; MOST_COLORS],
        count: 0,
        depth: None,
        stencil: None,
        clear_depth: 0.0,
        clear_stencil: 0,
        loads: false,
        clears: false,
        texels: None,
        deferred: Vec::new(),
    };
    /// Finds out what a pass renders to, and checks it.
    pub(super) fn begin<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        info: &RenderingInfo<'_>,
    ) -> Result<(), Error> {
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
        (self.texels, self.depth, self.stencil) = (None, None, None);
        self.deferred.clear();
        let deferred = &mut self.deferred;
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
                let kind = Kind::of(format);
                let fixed = resolve::fixed_function(resolve.mode, kind, row.average.contains(arch));
                match fixed {
                    Some(msaa) if stored.is_none() => {
                        (written, resolves) = (Some(resolved.target()), Some(msaa));
                    }
                    _ => {
                        let later = DeferredResolve::new(at, it.view, resolve, kind)?;
                        // There is room: there are as many places as attachments.
                        let _ = deferred.push(later);
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
        (self.clear_depth, self.clear_stencil) = (0.0, 0);
        if let Some(it) = info.depth {
            let at = Attachment::Depth;
            let surface = surface(device, it.view, at)?;
            found.add(at, &surface)?;
            let format = depth_format(&surface, at, |format| format.depth.is_some())?;
            let clear = clear_of(it.load);
            self.clear_depth = clear.unwrap_or(0.0);
            if let Some(resolve) = info.depth_resolve {
                found.resolved(device, at, &surface, resolve)?;
                let kind = Kind::of(surface.info.format);
                let later = DeferredResolve::new(at, it.view, resolve, kind)?;
                let _ = deferred.push(later);
            }
            self.depth = Some(DepthTarget {
                format,
                target: surface.target(),
                view: it.view,
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
            self.clear_stencil = clear.unwrap_or(0);
            if let Some(resolve) = info.stencil_resolve {
                found.resolved(device, at, &surface, resolve)?;
                let kind = Kind::of(surface.info.format);
                let later = DeferredResolve::new(at, it.view, resolve, kind)?;
                let _ = deferred.push(later);
            }
            self.stencil = Some(DepthTarget {
                format,
                target: surface.target(),
                view: it.view,
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
        self.note_loads_and_clears();
        Ok(())
    }

    /// Notes whether it loads and clears, after either has changed.
    pub(super) fn note_loads_and_clears(&mut self) {
        (self.loads, self.clears) = (self.finds_loads(), self.finds_clears());
    }

    /// What the tiler is told of it.
    pub(super) const fn extent(&self) -> Extent {
        Extent {
            size: self.size,
            samples: self.samples,
            layers: self.layers,
            tile: self.tile,
        }
    }

    /// Begins the same pass again.
    pub(super) const fn begin_again(&mut self) {
        self.texels = None;
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
    pub(super) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    pub(super) fn deferred(&self) -> Vec<DeferredResolve, MOST_RESOLVES> {
        self.deferred.clone()
    }

    /// The images that are rendered to: those whose samples are not kept, too, because an incremental render writes them.
    pub(crate) fn images(&self) -> impl Iterator<Item = Key> + '_ {
        let resolved = |color: &ColorTarget| {
            let image = color.written.map(|target| target.image);
            image.filter(|image| *image != color.view.image.0)
        };
        let colors = self.colors.iter().flatten();
        let colors = colors.flat_map(move |color| [Some(color.view.image.0), resolved(color)]);
        let others = [self.depth, self.stencil];
        let others = others.map(|target| target.map(|target| target.target.image));
        colors.chain(others).flatten()
    }

    /// What frame shaders load of it.
    pub(super) fn loaded(&self) -> Loads {
        let mut colors = [None; MOST_COLORS];
        for (view, color) in colors.iter_mut().zip(&self.colors) {
            *view = color.as_ref().and_then(|color| color.loaded);
        }
        let depth_stencil = [self.depth, self.stencil].map(|target| {
            let target = target.filter(|target| target.load);
            target.map(|target| target.view)
        });
        Loads {
            formats: self.formats(),
            colors,
            depth_stencil,
        }
    }

    /// Whether anything of it is loaded.
    pub(super) const fn loads(&self) -> bool {
        self.loads || self.texels.is_some()
    }

    fn finds_loads(&self) -> bool {
        let mut colors = self.colors.iter().flatten();
        let others = [self.depth, self.stencil];
        colors.any(|color| color.loaded.is_some())
            || others.into_iter().flatten().any(|target| target.load)
    }

    /// Formats of its colours.
    pub(super) fn formats(&self) -> ColorFormats {
        let mut formats = [None; MOST_COLORS];
        for (format, color) in formats.iter_mut().zip(&self.colors) {
            *format = color.as_ref().map(|color| color.format);
        }
        ColorFormats {
            formats,
            count: self.count as u32,
            samples: self.samples,
        }
    }

    /// Whether tiles that nothing is drawn into are written, too.
    pub(crate) const fn clears(&self) -> bool {
        self.clears || self.texels.is_some()
    }

    fn finds_clears(&self) -> bool {
        let mut colors = self.colors.iter().flatten();
        let others = [self.depth, self.stencil];
        colors.any(|color| color.written.is_some() && color.writes_clean_tiles())
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
