//! Framebuffers: what a pass renders to. It is found out in [`super::framebuffer_begin`]; its descriptors are in
//! [`super::framebuffer_words`].
//!
//! Facts: hardware/graphics-framebuffer.md 5.1 to 5.6 and 5.9.

use super::border::Border;
use super::rendering::ImageView;
use super::resolve::{DeferredResolve, MOST_RESOLVES};
use super::surface::Target;
use super::texels::TexelSource;
use super::tile::Tile;
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
    pub(super) view: ImageView,
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
    /// There is depth, and stencil.
    pub(super) has: [bool; 2],
    pub(super) clear_depth: f32,
    pub(super) clear_stencil: u8,
    /// Something that is written is compressed without loss.
    pub(super) compressed: bool,
    /// What is around the pixels that were asked for, if the area is larger.
    pub(super) border: Option<Border>,
    /// Some attachment is loaded, and some is cleared and kept.
    loads: bool,
    clears: bool,
    /// What it begins with in place of what its attachments held.
    pub(super) texels: Option<TexelSource>,
    /// What is resolved when it was written.
    pub(super) deferred: Vec<DeferredResolve, MOST_RESOLVES>,
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
        has: [false; 2],
        clear_depth: 0.0,
        clear_stencil: 0,
        compressed: false,
        border: None,
        loads: false,
        clears: false,
        texels: None,
        deferred: Vec::new(),
    };

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
        self.has
    }
}
