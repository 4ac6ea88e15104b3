//! Framebuffers: what a pass renders to, found out and checked, and the descriptors that say it to the hardware.
//!
//! A framebuffer descriptor stands for each layer, with its depth and stencil part and its colour targets behind it.
//! Facts: hardware/graphics-framebuffer.md 5.1 to 5.6 and 5.9, graphics.md 1.5.

use super::clear;
use super::error::{Attachment, GraphicsError, Unsupported};
use super::load::{FrameShaders, Kind};
use super::rendering::{ImageView, LoadOp, RenderingInfo, Resolve, StoreOp};
use super::resolve::{self, DeferredResolve, MOST_RESOLVES};
use super::samples;
use super::texels::TexelSource;
use super::tile::{Tile, TileBuffers};
use crate::device::Device;
use crate::error::Error;
use crate::image::{Aspect, ImageInfo, ImagePlane, Level, Tiling};
use crate::platform::Platform;
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_descriptors::attachment_formats::{DepthStencilFormat, TargetFormat, Writeback};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::framebuffer::{
    BlockFormat, FramebufferParameters, Msaa, PrePostFrameShaderMode, STarget, TieBreakRule,
    ZInternalFormat, ZsTarget,
};
use eitri_descriptors::target::{
    ColorBufferInternalFormat, ColorFormat, RgbRenderTarget, RtBuffer, RtClear,
};
use eitri_descriptors::{Address, Aligned, Arch, Descriptor, DescriptorError, Swizzle};
use eitri_program::ImageDimension;
use heapless::Vec;

/// Most colour attachments.
pub(crate) const MOST_COLORS: usize = 8;
/// Most layers: those of one tiler context.
pub(crate) const MOST_LAYERS: u32 = 8;

/// Words of the parameters with their padding, of the depth and stencil part, and of a colour target.
const PARAMETER_WORDS: usize = 32;
const PART_WORDS: usize = 16;
/// Words of the largest framebuffer descriptor.
pub(crate) const MOST_WORDS: usize = PARAMETER_WORDS + PART_WORDS + MOST_COLORS * PART_WORDS;

/// An image that is rendered to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    image: Key,
    /// The plane that is rendered to, as an image of its own, in the view's format.
    pub(super) info: ImageInfo,
    plane: ImagePlane,
    address: GpuAddress,
    level: u32,
    /// First layer, or first slice of an image of three dimensions.
    layer: u32,
}

/// Where a layer of a surface lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) address: u64,
    pub(super) row: u32,
    /// Bytes from a sample to the next, in two words; and of all.
    pub(super) slice: u32,
    pub(super) slice_high: u32,
    pub(super) bytes: u64,
}

impl Surface {
    pub(super) const fn image(&self) -> Key {
        self.image
    }

    pub(super) const fn level(&self) -> u32 {
        self.level
    }

    /// How all slices of the first layer lie, and where.
    pub(super) fn all_slices(&self) -> (Level, u64) {
        let lies = self.plane.level(self.level, 0);
        (lies, self.address.offset(lies.offset).0)
    }

    pub(super) fn place(&self, layer: u32) -> Place {
        let layer = self.layer.saturating_add(layer);
        let (lies, skipped, bytes) = if self.is_deep() {
            let lies = self.plane.level(self.level, 0);
            (lies, lies.slice.saturating_mul(layer.into()), lies.slice)
        } else {
            let lies = self.plane.level(self.level, layer);
            (lies, 0, lies.bytes())
        };
        Place {
            address: self.address.offset(lies.offset.saturating_add(skipped)).0,
            row: u32::try_from(lies.row).unwrap_or(u32::MAX),
            slice: lies.slice as u32,
            slice_high: (lies.slice >> 32) as u32,
            bytes,
        }
    }

    /// Whether layers of the pass are slices of the image.
    fn is_deep(&self) -> bool {
        self.info.dimension == ImageDimension::ThreeD
    }

    /// Layers that the level has for passes.
    fn layers(&self) -> u32 {
        if self.is_deep() {
            self.info.slices(self.level)
        } else {
            self.info.layers
        }
    }

    const fn block_format(&self) -> BlockFormat {
        match self.info.tiling {
            Tiling::Linear => BlockFormat::Linear,
            Tiling::UInterleaved => BlockFormat::TiledUInterleaved,
        }
    }

    /// How samples of a pass are written to it: each to its own place, unless there is but one.
    const fn msaa(&self) -> Msaa {
        if self.info.samples > 1 {
            Msaa::Layered
        } else {
            Msaa::Single
        }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        let [width, height, _] = self.info.level_size(self.level);
        (width, height)
    }
}

/// A colour target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColorTarget {
    pub(crate) format: &'static VkFormat,
    target: &'static TargetFormat,
    /// Bytes of a sample in the tile buffer.
    bytes: u32,
    /// What is written in the end.
    written: Option<Surface>,
    clear: Option<[u32; 4]>,
    /// What it begins with.
    loaded: Option<Surface>,
    /// How samples become one where they are written, if they do.
    resolves: Option<Msaa>,
}

impl ColorTarget {
    /// Whether tiles that nothing is drawn into are written.
    const fn writes_clean_tiles(&self) -> bool {
        self.clear.is_some() || self.resolves.is_some()
    }
}

/// A depth or stencil target.
#[derive(Clone, Copy, Debug)]
struct DepthTarget {
    format: &'static DepthStencilFormat,
    surface: Surface,
    clear: bool,
    load: bool,
    store: bool,
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
    colors: [Option<ColorTarget>; MOST_COLORS],
    /// Places of colours.
    pub(super) count: usize,
    depth: Option<DepthTarget>,
    stencil: Option<DepthTarget>,
    clear_depth: f32,
    clear_stencil: u8,
    /// What it begins with in place of what its attachments held.
    texels: Option<TexelSource>,
    /// What is resolved when it was written.
    deferred: Vec<DeferredResolve, MOST_RESOLVES>,
}

/// Where a framebuffer's descriptor finds other things.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// The table of the positions of samples.
    pub(crate) locations: GpuAddress,
    /// The tiler context, if anything is drawn.
    pub(crate) tiler: Option<GpuAddress>,
    /// Frame shaders, which load.
    pub(crate) frame_shaders: Option<FrameShaders>,
    /// The provoking vertex of a primitive is its last.
    pub(crate) last_provokes: bool,
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
        colors.chain(others).map(|surface| surface.image)
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

    /// The framebuffer pointer's bits below the address.
    pub(crate) fn tag(&self) -> u64 {
        let others = self.depth.is_some() || self.stencil.is_some();
        1 | u64::from(others) << 1 | (self.count.saturating_sub(1) as u64) << 2
    }

    /// Words of a descriptor.
    pub(crate) fn words(&self) -> usize {
        let others = self.depth.is_some() || self.stencil.is_some();
        let parts = self.count.saturating_add(others.into());
        PARAMETER_WORDS.saturating_add(parts.saturating_mul(PART_WORDS))
    }

    /// Writes the descriptor of a layer.
    pub(crate) fn write(
        &self,
        arch: Arch,
        layer: u32,
        around: &Around,
        words: &mut [u32; MOST_WORDS],
    ) -> Result<(), DescriptorError> {
        words.fill(0);
        self.parameters(layer, around, arch)?.pack(arch, words)?;
        let mut rest = words.get_mut(PARAMETER_WORDS..).unwrap_or_default();
        if self.depth.is_some() || self.stencil.is_some() {
            let (part, behind) = rest.split_at_mut_checked(PART_WORDS).unwrap_or_default();
            self.depth_stencil(layer, arch, part)?;
            rest = behind;
        }
        let mut offset = 0;
        let places = rest.chunks_exact_mut(PART_WORDS).take(self.count);
        for (part, color) in places.zip(&self.colors) {
            self.color(color.as_ref(), layer, offset).pack(arch, part)?;
            let bytes = color.map_or(0, |color| color.bytes.saturating_mul(self.samples));
            offset = bytes
                .saturating_mul(self.tile.pixels)
                .saturating_add(offset);
        }
        Ok(())
    }

    fn parameters(
        &self,
        layer: u32,
        around: &Around,
        arch: Arch,
    ) -> Result<FramebufferParameters, DescriptorError> {
        let ((width, height), [min_x, min_y, max_x, max_y]) = (self.size, self.area);
        let pattern = samples::pattern(arch, self.samples);
        let has = self.has_depth_stencil();
        let internal = self.depth.and_then(|depth| depth.format.internal);
        let stores = |target: Option<DepthTarget>| target.is_some_and(|target| target.store);
        let tiler = around.tiler.map_or(0, |tiler| tiler.0);
        let mut parameters = FramebufferParameters {
            internal_layer_index: layer % MOST_LAYERS,
            frame_argument: layer.into(),
            sample_locations: Address(around.locations.0),
            width,
            height,
            bound_min_x: min_x,
            bound_min_y: min_y,
            bound_max_x: max_x,
            bound_max_y: max_y,
            sample_count: self.samples,
            // It was looked for when the framebuffer was found out.
            sample_pattern: pattern
                .unwrap_or(eitri_descriptors::framebuffer::SamplePattern::SingleSampled),
            // The top-left rule (hardware/graphics-raster.md 4.4).
            tie_break_rule: TieBreakRule::Minus180Out0In,
            effective_tile_size: self.tile.pixels,
            first_provoking_vertex: !around.last_provokes,
            point_sprite_coord_origin_max_y: false,
            render_target_count: self.count as u32,
            color_buffer_allocation: self.tile.allocation,
            s_clear: self.clear_stencil.into(),
            s_write_enable: stores(self.stencil),
            z_internal_format: internal.unwrap_or(ZInternalFormat::D24),
            z_write_enable: stores(self.depth),
            has_zs_crc_extension: has != [false; 2],
            z_clear: self.clear_depth,
            tiler: Aligned::new(tiler).unwrap_or_default(),
            ..FramebufferParameters::default()
        };
        if let Some(shaders) = around.frame_shaders {
            parameters.frame_shader_dcds = Aligned::new(shaders.draws.0).unwrap_or_default();
            // Tiles that nothing is drawn into need what they hold only if they are written (hardware/graphics-framebuffer.md 5.10).
            if shaders.colors {
                parameters.pre_frame_0 = if self.clears() {
                    PrePostFrameShaderMode::Always
                } else {
                    PrePostFrameShaderMode::Intersect
                };
            }
            if shaders.depth {
                parameters.pre_frame_1 = if arch < Arch::V13 {
                    PrePostFrameShaderMode::EarlyZsAlways
                } else {
                    PrePostFrameShaderMode::Always
                };
            }
        }
        if arch >= Arch::V13 {
            // As drivers have them (hardware/graphics-framebuffer.md 5.1).
            parameters.hsr_prepass_filter_enable = true;
            parameters.hsr_hierarchical_optimizations_enable = true;
        }
        Ok(parameters)
    }

    /// Depth and stencil in memory: two parts in one block.
    fn depth_stencil(
        &self,
        layer: u32,
        arch: Arch,
        words: &mut [u32],
    ) -> Result<(), DescriptorError> {
        let mut both = [0; PART_WORDS];
        if let Some(depth) = &self.depth {
            let place = depth.surface.place(layer);
            let part = ZsTarget {
                write_format: depth.format.depth,
                block_format: depth.surface.block_format(),
                msaa: depth.surface.msaa(),
                clean_tile_write_enable: depth.clear || self.texels.is_some(),
                base: Address(place.address),
                row_stride: place.row,
                surface_stride: place.slice,
                surface_stride_hi: place.slice_high,
            };
            part.pack(arch, &mut both)?;
        }
        let mut own = [0; PART_WORDS];
        if let Some(stencil) = &self.stencil {
            let place = stencil.surface.place(layer);
            let part = STarget {
                write_format: stencil.format.stencil,
                block_format: stencil.surface.block_format(),
                msaa: stencil.surface.msaa(),
                clean_tile_write_enable: stencil.clear || self.texels.is_some(),
                base: Address(place.address),
                row_stride: place.row,
                surface_stride: place.slice,
                surface_stride_hi: place.slice_high,
            };
            part.pack(arch, &mut own)?;
        }
        for ((word, depth), stencil) in words.iter_mut().zip(both).zip(own) {
            *word = depth | stencil;
        }
        Ok(())
    }

    fn color(&self, color: Option<&ColorTarget>, layer: u32, offset: u32) -> RgbRenderTarget {
        let Some(color) = color else {
            return RgbRenderTarget {
                internal_buffer_offset: offset,
                internal_format: ColorBufferInternalFormat::R8G8B8A8,
                writeback_block_format: BlockFormat::TiledUInterleaved,
                ..RgbRenderTarget::default()
            };
        };
        let clear = color.clear.unwrap_or([0; 4]);
        let [color_0, color_1, color_2, color_3] = clear;
        let place = color.written.map(|surface| surface.place(layer));
        let mut target = RgbRenderTarget {
            internal_buffer_offset: offset,
            internal_format: color.target.internal,
            write_enable: color.written.is_some(),
            writeback_block_format: color
                .written
                .map_or(BlockFormat::TiledUInterleaved, |surface| {
                    surface.block_format()
                }),
            writeback_msaa: color
                .resolves
                .unwrap_or_else(|| color.written.map_or(Msaa::Single, |surface| surface.msaa())),
            srgb: color.format.srgb,
            dithering_enable: true,
            swizzle: swizzle(color),
            clean_tile_write_enable: color.writes_clean_tiles() || self.texels.is_some(),
            writeback_buffer: RtBuffer {
                base: Address(place.map_or(0, |place| place.address)),
                row_stride: place.map_or(0, |place| place.row),
                surface_stride: place.map_or(0, |place| place.slice),
                surface_stride_hi: place.map_or(0, |place| place.slice_high),
            },
            clear: RtClear {
                color_0,
                color_1,
                color_2,
                color_3,
            },
            ..RgbRenderTarget::default()
        };
        match color.target.writeback {
            Writeback::Integer(format) => target.writeback_format = format,
            Writeback::Float(format) => {
                // The same bits: what the first of them says is nothing.
                target.writeback_format = ColorFormat::RAW8;
                target.writeback_float_format = Some(format);
            }
        }
        target
    }
}

/// Which channel of the tile is written at each place of a texel.
fn swizzle(color: &ColorTarget) -> Swizzle {
    let row = color.target.internal_format();
    if row.is_none_or(|row| row.blendable.is_none()) {
        return Swizzle::IDENTITY;
    }
    // The orders of formats that can be rendered to are each their own inverse (hardware/descriptors.md 1.2).
    let [a, b, c, d] = match color.format.order {
        // BGRA and BGR1.
        4 | 20 => [2, 1, 0, 3],
        // ABGR and 1BGR.
        12 | 28 => [3, 2, 1, 0],
        // Alpha alone.
        229 => [3, 1, 2, 0],
        _ => [0, 1, 2, 3],
    };
    Swizzle(a | b << 3 | c << 6 | d << 9)
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

/// What a view renders to, of an aspect of its image.
pub(super) fn surface<P: Platform>(
    device: &Device<'_, '_, P>,
    view: ImageView,
    attachment: Attachment,
) -> Result<Surface, Error> {
    let info = device.image_info(view.image)?;
    let object = device.object(view.image.0, crate::error::Thing::Image)?;
    let aspect = match attachment {
        Attachment::Color(_) => Aspect::Color,
        Attachment::Depth => Aspect::Depth,
        Attachment::Stencil => Aspect::Stencil,
    };
    let refused = GraphicsError::Format {
        attachment,
        format: info.format.name,
    };
    let plane = info.plane(Some(aspect)).ok_or(refused)?;
    let format = match view.format {
        Some(format) if format.block_bytes == plane.info.format.block_bytes => format,
        Some(_) => return Err(refused.into()),
        None => plane.info.format,
    };
    Ok(Surface {
        image: view.image.0,
        info: ImageInfo {
            format,
            ..plane.info
        },
        plane,
        address: object.mapping.address(),
        level: view.level,
        layer: view.layer,
    })
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
