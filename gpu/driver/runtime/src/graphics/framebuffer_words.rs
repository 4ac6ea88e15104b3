//! Framebuffer descriptors: what a pass renders to, as the hardware reads it.
//!
//! A descriptor stands for each layer, with its depth and stencil part and its colour targets behind it.
//! Facts: hardware/graphics-framebuffer.md 5.1 to 5.6, graphics.md 1.5.

use super::framebuffer::{ColorTarget, DepthTarget, Framebuffer, MOST_COLORS, MOST_LAYERS};
use super::load::FrameShaders;
use super::resource_tables::doubles;
use super::samples;
use crate::vm::GpuAddress;
use eitri_descriptors::attachment_formats::Writeback;
use eitri_descriptors::framebuffer::{
    BlockFormat, FramebufferParameters, Msaa, PrePostFrameShaderMode, STarget, TieBreakRule,
    ZInternalFormat, ZsTarget,
};
use eitri_descriptors::target::{
    ColorBufferInternalFormat, ColorFormat, RgbRenderTarget, RtBuffer, RtClear,
};
use eitri_descriptors::{Address, Aligned, Arch, Descriptor, DescriptorError, Swizzle};

/// Words of the parameters with their padding, of the depth and stencil part, and of a colour target.
pub(super) const PARAMETER_WORDS: usize = 32;
const PART_WORDS: usize = 16;
/// Double words of a descriptor at most.
pub(super) const MOST_WORDS: usize = (PARAMETER_WORDS + PART_WORDS * (MOST_COLORS + 1)) / 2;

/// The word of a colour target that says how it is compressed, and in it the order of tiles in a superblock that is larger than they;
/// the same in the first word of depth and stencil (hardware/descriptors.md 15). All other words are those of targets that are not
/// compressed: with the row stride of headers, and the body's offset in place of the distance of samples.
const COMPRESSION_WORD: usize = 2;
const COLOR_REVERSED: u32 = 1 << 3;
const DEPTH_REVERSED: u32 = 1 << 30;

/// Where a framebuffer's descriptor finds other things.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl Around {
    /// Nothing.
    pub(super) const NOTHING: Around = Around {
        locations: GpuAddress(0),
        tiler: None,
        frame_shaders: None,
        last_provokes: false,
    };
}

impl Framebuffer {
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

    /// Writes the descriptor of a layer: `write` is called with each of its parts, in their order.
    pub(crate) fn write(
        &self,
        arch: Arch,
        layer: u32,
        around: &Around,
        mut write: impl FnMut(&[u64]),
    ) -> Result<(), DescriptorError> {
        let mut words = [0; PARAMETER_WORDS];
        self.parameters(layer, around, arch)?
            .pack(arch, &mut words)?;
        write(&doubles::<PARAMETER_WORDS, { PARAMETER_WORDS / 2 }>(&words));
        let mut write_part =
            |words: &[u32; PART_WORDS]| write(&doubles::<PART_WORDS, { PART_WORDS / 2 }>(words));
        if self.depth.is_some() || self.stencil.is_some() {
            let mut part = [0; PART_WORDS];
            self.depth_stencil(layer, arch, &mut part)?;
            write_part(&part);
        }
        let mut offset = 0;
        for color in self.colors.iter().take(self.count) {
            let mut part = [0; PART_WORDS];
            self.color(color.as_ref(), layer, offset)
                .pack(arch, &mut part)?;
            if let Some(word) = part.get_mut(COMPRESSION_WORD) {
                let written = color.as_ref().and_then(|color| color.written);
                *word |= self.compression_of(written.and_then(|target| target.compression));
            }
            write_part(&part);
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
            // Tiles that nothing is drawn into need what they hold only if they are written (hardware/graphics-framebuffer.md 5.10). All
            // are that have a compressed target with superblocks of another size (hardware/descriptors.md 15).
            if shaders.colors {
                parameters.pre_frame_0 = if self.clears() || self.compressed {
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
            let place = depth.target.place(layer);
            let part = ZsTarget {
                write_format: depth.format.depth,
                block_format: depth.target.block_format,
                msaa: depth.target.msaa,
                clean_tile_write_enable: self.writes_clean_tiles(depth),
                base: Address(place.address),
                row_stride: place.row,
                surface_stride: place.slice,
                surface_stride_hi: place.slice_high,
            };
            part.pack(arch, &mut both)?;
        }
        let mut own = [0; PART_WORDS];
        if let Some(stencil) = &self.stencil {
            let place = stencil.target.place(layer);
            let part = STarget {
                write_format: stencil.format.stencil,
                block_format: stencil.target.block_format,
                msaa: stencil.target.msaa,
                clean_tile_write_enable: self.writes_clean_tiles(stencil),
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
        let both = [self.depth, self.stencil];
        let mut targets = both.into_iter().flatten().map(|it| it.target);
        if let Some(first) = words.first_mut()
            && self.has_small_tiles()
            && targets.any(|target| target.compression.is_some())
        {
            *first |= DEPTH_REVERSED;
        }
        Ok(())
    }

    /// Whether tiles that nothing is drawn into are written of depth or stencil.
    fn writes_clean_tiles(&self, it: &DepthTarget) -> bool {
        let compressed = it.target.compression.is_some();
        it.clear || self.texels.is_some() || (compressed && self.has_small_tiles())
    }

    /// The bits of a colour target's compression, if it is compressed, with the order of tiles if several are in a superblock.
    fn compression_of(&self, bits: Option<u32>) -> u32 {
        match bits {
            Some(bits) if self.has_small_tiles() => bits | COLOR_REVERSED,
            Some(bits) => bits,
            None => 0,
        }
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
        let place = color.written.map(|target| target.place(layer));
        let mut target = RgbRenderTarget {
            internal_buffer_offset: offset,
            internal_format: color.target.internal,
            write_enable: color.written.is_some(),
            writeback_block_format: color
                .written
                .map_or(BlockFormat::TiledUInterleaved, |target| target.block_format),
            writeback_msaa: color
                .resolves
                .unwrap_or_else(|| color.written.map_or(Msaa::Single, |target| target.msaa)),
            srgb: color.format.srgb,
            dithering_enable: true,
            swizzle: swizzle(color),
            clean_tile_write_enable: color.writes_clean_tiles()
                || self.texels.is_some()
                || (self.compressed && self.has_small_tiles()),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The hardware has to know when a superblock is larger than a tile (hardware/descriptors.md 15: bit 3 of the third word).
    #[test]
    fn compressed_targets_tell_whether_superblocks_are_larger_than_tiles() {
        const BITS: u32 = 0b11;
        for (pixels, bits, word) in [
            (256, Some(BITS), BITS),
            (128, Some(BITS), BITS | 1 << 3),
            (256, None, 0),
            (128, None, 0),
        ] {
            let mut framebuffer = Framebuffer::NOTHING;
            framebuffer.tile.pixels = pixels;
            let found = framebuffer.compression_of(bits);
            assert_eq!(found, word, "{bits:x?} with tiles of {pixels} pixels");
        }
    }

    /// hardware/graphics-framebuffer.md 5.1: what the pointer says below the address, and how long the descriptor is.
    #[test]
    fn a_descriptor_has_a_part_for_each_target() {
        for (count, tag, words) in [
            (1, 0b1, 32 + 16),
            (4, 0b1101, 32 + 4 * 16),
            (8, 0b1_1101, 32 + 8 * 16),
        ] {
            let mut framebuffer = Framebuffer::NOTHING;
            framebuffer.count = count;
            framebuffer.size = (1, 1);
            framebuffer.tile.pixels = 256;
            assert_eq!((framebuffer.tag(), framebuffer.words()), (tag, words));
            let mut parts = std::vec::Vec::new();
            let write = |words: &[u64]| parts.push(words.len());
            let written = framebuffer.write(Arch::V10, 0, &Around::NOTHING, write);
            assert_eq!(written, Ok(()));
            assert_eq!(parts.len(), 1 + count);
            assert_eq!(2 * parts.iter().sum::<usize>(), words);
        }
    }

    /// Frame shaders run where tiles are drawn into; for colours in all tiles if all are written, for depth in all of them.
    #[test]
    fn frame_shaders_run_where_their_tiles_are_written() {
        use PrePostFrameShaderMode::{Always, EarlyZsAlways, Intersect, Never};
        let modes = |arch, compressed, shaders: Option<(bool, bool)>| {
            let mut framebuffer = Framebuffer::NOTHING;
            framebuffer.compressed = compressed;
            let around = Around {
                frame_shaders: shaders.map(|(colors, depth)| FrameShaders {
                    draws: GpuAddress(0x4_0000),
                    colors,
                    depth,
                }),
                ..Around::NOTHING
            };
            let parameters = framebuffer.parameters(0, &around, arch).expect("packs");
            let draws = parameters.frame_shader_dcds.get();
            assert_eq!(draws != 0, shaders.is_some());
            (parameters.pre_frame_0, parameters.pre_frame_1)
        };
        for arch in [Arch::V10, Arch::V12, Arch::V13] {
            let depth = if arch < Arch::V13 {
                EarlyZsAlways
            } else {
                Always
            };
            assert_eq!(modes(arch, true, None), (Never, Never));
            assert_eq!(modes(arch, false, Some((true, false))), (Intersect, Never));
            assert_eq!(modes(arch, true, Some((true, false))), (Always, Never));
            assert_eq!(modes(arch, false, Some((false, true))), (Never, depth));
            assert_eq!(modes(arch, true, Some((true, true))), (Always, depth));
        }
    }

    #[test]
    fn parameters_are_those_of_the_pass() {
        let mut framebuffer = Framebuffer::NOTHING;
        framebuffer.size = (100, 50);
        framebuffer.area = [1, 2, 30, 40];
        framebuffer.count = 3;
        framebuffer.clear_depth = 0.25;
        framebuffer.clear_stencil = 7;
        let parameters = |arch, layer, last_provokes, tiler| {
            let around = Around {
                last_provokes,
                tiler,
                ..Around::NOTHING
            };
            let found = framebuffer.parameters(layer, &around, arch);
            found.expect("packs")
        };
        let it = parameters(Arch::V10, 9, false, Some(GpuAddress(0x1_0000)));
        assert_eq!((it.width, it.height), (100, 50));
        let area = [
            it.bound_min_x,
            it.bound_min_y,
            it.bound_max_x,
            it.bound_max_y,
        ];
        assert_eq!(area, [1, 2, 30, 40]);
        assert_eq!((it.internal_layer_index, it.frame_argument), (1, 9));
        assert_eq!(
            (it.z_clear, it.s_clear, it.render_target_count),
            (0.25, 7, 3)
        );
        assert!(it.first_provoking_vertex && it.tiler.get() == 0x1_0000);
        assert!(!it.z_write_enable && !it.s_write_enable && !it.has_zs_crc_extension);
        let it = parameters(Arch::V13, 0, true, None);
        assert!(!it.first_provoking_vertex && it.tiler.get() == 0);
        assert!(it.hsr_prepass_filter_enable && it.hsr_hierarchical_optimizations_enable);
        let it = parameters(Arch::V12, 0, true, None);
        assert!(!it.hsr_prepass_filter_enable && !it.hsr_hierarchical_optimizations_enable);
    }

    /// A tiler context has eight layers: their numbers in it begin anew behind them.
    #[test]
    fn layers_of_a_framebuffer_are_numbered_again_from_the_eighth_on() {
        for (layer, index) in [(0, 0), (7, 7), (8, 0), (15, 7)] {
            let it = Framebuffer::NOTHING.parameters(layer, &Around::NOTHING, Arch::V10);
            assert_eq!(it.expect("packs").internal_layer_index, index);
        }
    }
}
