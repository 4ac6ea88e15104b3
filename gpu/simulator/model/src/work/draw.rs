//! Draws as the fragment stage sees them: pointers and flags as registers or descriptors hold them, then read and checked.
//!
//! A draw of vertices, a fullscreen draw and a frame shader differ in where their words stand; here they become one form.
//!
//! Facts: hardware/graphics-draw.md 3.1 (registers), 3.10 (depth, scissor); graphics-raster.md 4.13, 4.14; descriptors.md 17.

use super::stage::{LoadedStage, Reader, StagePointers};
use crate::fabric::Fabric;
use crate::fragment::Order;
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::raster::{DepthBias, DepthBounds, PixelBox, Sampling};
use crate::shader::JobFault;
use crate::shader::stage::FragmentState;
use crate::stream::{IssuedDraw, IssuedFullscreen};
use crate::tile::{self, BlendState, Framebuffer, ZsState};
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_descriptors::blend::Blend;
use eitri_descriptors::raster::{DcdFlags0, DcdFlags1, DepthStencil, Draw, OcclusionMode};
use eitri_descriptors::shader::ShaderStage;
use eitri_descriptors::{Arch, Descriptor, FieldError};

/// A pair of registers, the low half first.
pub(super) fn pair(registers: &[u32], register: usize) -> u64 {
    let at = |register: usize| u64::from(registers.get(register).copied().unwrap_or(0));
    at(register + 1) << 32 | at(register)
}

/// Bits of the primitive flags, r56.
const LOW_DEPTH_CULL: u32 = 1 << 16;
const HIGH_DEPTH_CULL: u32 = 1 << 17;

/// What the fragments of a draw need, as words name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DrawWords {
    pub(super) stage: StagePointers,
    /// DCD flags 0 to 2.
    pub(super) flags: [u32; 3],
    pub(super) depth_stencil: u64,
    /// Address of BLEND descriptors, with their count in the low 4 bits.
    pub(super) blend: u64,
    pub(super) occlusion: u64,
    /// Corners of the scissor box: x low, y high, both inside.
    pub(super) scissor: [u32; 2],
    /// The same of the viewport box.
    pub(super) viewport: [u32; 2],
    /// Bits of the lowest and highest depth.
    pub(super) depth: [u32; 2],
    /// r56 with the override.
    pub(super) primitive_flags: u32,
    pub(super) varying_bytes: u32,
    /// Line width, and the size of points that have none of their own: r60.
    pub(super) primitive_size: u32,
}

/// A box that holds every pixel.
const EVERYWHERE: [u32; 2] = [0, u32::MAX];

impl DrawWords {
    /// Words of the form that polygon lists keep.
    pub(super) const COUNT: usize = 28;

    pub(super) fn of_draw(arch: Arch, issued: &IssuedDraw) -> DrawWords {
        let registers = &issued.registers;
        let at = |register: usize| registers[register];
        let merged = arch >= Arch::V12;
        DrawWords {
            stage: StagePointers::of(registers, issued.fragment),
            flags: if merged {
                [at(57), at(58), at(59)]
            } else {
                [at(57), at(58), at(38)]
            },
            depth_stencil: pair(registers, 52),
            blend: pair(registers, if merged { 54 } else { 50 }),
            occlusion: pair(registers, if merged { 64 } else { 46 }),
            scissor: [at(42), at(43)],
            viewport: if merged { [at(44), at(45)] } else { EVERYWHERE },
            depth: if merged {
                [at(46), at(47)]
            } else {
                [at(44), at(45)]
            },
            primitive_flags: at(56) | issued.flags_override,
            varying_bytes: at(if merged { 51 } else { 48 }),
            primitive_size: at(60),
        }
    }

    /// A fullscreen draw, whose descriptor is complete; the scissor box and primitive flags are registers.
    ///
    /// # Errors
    /// The field of the descriptor that is not valid.
    pub(super) fn of_fullscreen(
        arch: Arch,
        issued: &IssuedFullscreen,
        words: &[u32],
    ) -> Result<DrawWords, FieldError> {
        Ok(DrawWords {
            scissor: [issued.registers[42], issued.registers[43]],
            primitive_flags: issued.registers[56] | issued.flags_override,
            ..DrawWords::of_descriptor(arch, words)?
        })
    }

    /// A frame shader.
    ///
    /// # Errors
    /// The field of the descriptor that is not valid.
    pub(super) fn of_descriptor(arch: Arch, words: &[u32]) -> Result<DrawWords, FieldError> {
        let draw = Draw::unpack_at(arch, words, 0)?;
        let environment = &draw.shader;
        let stage = if arch >= Arch::V12 {
            let fau = &draw.fragment_fau;
            StagePointers {
                resources: draw.fragment_resources.0,
                uniforms: fau.pointer.0 | u64::from(fau.count) << 56,
                program: draw.fragment_shader.get(),
                storage: draw.thread_storage.get(),
            }
        } else {
            StagePointers {
                resources: environment.resources.0,
                uniforms: environment.fau.0 | u64::from(environment.fau_count) << 56,
                program: environment.shader.get(),
                storage: environment.thread_storage.get(),
            }
        };
        Ok(DrawWords {
            stage,
            flags: [words[0], words[1], words[5]],
            depth_stencil: draw.depth_stencil.get(),
            blend: draw.blend.get() | u64::from(draw.blend_count),
            occlusion: draw.occlusion.0,
            scissor: EVERYWHERE,
            viewport: EVERYWHERE,
            depth: if arch >= Arch::V12 {
                [0.0_f32.to_bits(), 1.0_f32.to_bits()]
            } else {
                [draw.minimum_z.to_bits(), draw.maximum_z.to_bits()]
            },
            ..DrawWords::default()
        })
    }

    /// The form that polygon lists keep.
    pub(super) fn words(&self) -> [u32; DrawWords::COUNT] {
        let stage = &self.stage;
        let pairs = [
            stage.resources,
            stage.uniforms,
            stage.program,
            stage.storage,
            self.depth_stencil,
            self.blend,
            self.occlusion,
        ];
        let mut words = [0; DrawWords::COUNT];
        for (place, pair) in words.chunks_exact_mut(2).zip(pairs) {
            place.copy_from_slice(&[pair as u32, (pair >> 32) as u32]);
        }
        words[14..17].copy_from_slice(&self.flags);
        words[17..19].copy_from_slice(&self.scissor);
        words[19..21].copy_from_slice(&self.viewport);
        words[21..23].copy_from_slice(&self.depth);
        words[23] = self.primitive_flags;
        words[24] = self.varying_bytes;
        words[25] = self.primitive_size;
        words
    }

    /// What [`DrawWords::words`] has made.
    pub(super) fn of_words(words: &[u32; DrawWords::COUNT]) -> DrawWords {
        DrawWords {
            stage: StagePointers {
                resources: pair(words, 0),
                uniforms: pair(words, 2),
                program: pair(words, 4),
                storage: pair(words, 6),
            },
            depth_stencil: pair(words, 8),
            blend: pair(words, 10),
            occlusion: pair(words, 12),
            flags: [words[14], words[15], words[16]],
            scissor: [words[17], words[18]],
            viewport: [words[19], words[20]],
            depth: [words[21], words[22]],
            primitive_flags: words[23],
            varying_bytes: words[24],
            primitive_size: words[25],
        }
    }

    /// Scissor and viewport together; `None` if they hold no pixel.
    pub(super) fn clip(&self) -> Option<PixelBox> {
        corners(self.scissor).intersection(corners(self.viewport))
    }

    /// Depths that are kept. `by_descriptor`: the depth and stencil descriptor culls at all.
    pub(super) fn depth_bounds(&self, by_descriptor: bool) -> DepthBounds {
        let culls = |bit: u32| by_descriptor && self.primitive_flags & bit != 0;
        DepthBounds {
            low: f32::from_bits(self.depth[0]),
            high: f32::from_bits(self.depth[1]),
            cull_low: culls(LOW_DEPTH_CULL),
            cull_high: culls(HIGH_DEPTH_CULL),
        }
    }
}

/// A box of two corner words.
pub(super) fn corners([min, max]: [u32; 2]) -> PixelBox {
    PixelBox {
        min_x: min as u16,
        min_y: (min >> 16) as u16,
        max_x: max as u16,
        max_y: (max >> 16) as u16,
    }
}

/// A draw whose fragments can be shaded.
#[derive(Clone, Debug)]
pub(super) struct LoadedDraw {
    pub(super) words: DrawWords,
    pub(super) flags: DcdFlags0,
    pub(super) state: Arc<FragmentState>,
    /// `None`: coverage is all that matters.
    pub(super) stage: Option<LoadedStage>,
    /// Scissor and viewport; `None` if they hold no pixel.
    pub(super) clip: Option<PixelBox>,
    pub(super) bounds: DepthBounds,
    pub(super) bias: Option<DepthBias>,
}

impl LoadedDraw {
    /// The occlusion slot of the draw, and how it counts.
    pub(super) fn query(&self) -> Option<(u64, OcclusionMode)> {
        let mode = self.flags.occlusion_query;
        (mode != OcclusionMode::Disabled).then_some((self.words.occlusion, mode))
    }
}

impl Reader {
    /// Reads what a draw's words name, for a framebuffer.
    pub(super) fn draw(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        words: DrawWords,
        framebuffer: &Framebuffer,
    ) -> Result<LoadedDraw, Refused<JobFault>> {
        let arch = framebuffer.arch;
        let (Ok(flags), Ok(masks)) = (
            DcdFlags0::unpack_at(arch, &words.flags, 0),
            DcdFlags1::unpack_at(arch, &words.flags[1..], 0),
        ) else {
            return Err(self.invalid(fabric, words.flags[0].into(), "DCD Flags"));
        };
        let zs = self.depth_stencil(fabric, memory, arch, words.depth_stencil)?;
        let (blend, blend_words) = self.blends(fabric, memory, arch, words.blend)?;
        let stage = if words.stage.program == 0 {
            None
        } else {
            let mut stage = self.stage(fabric, memory, words.stage, ShaderStage::Fragment)?;
            stage.environment.blend_words = blend_words;
            Some(stage)
        };
        let parameters = &framebuffer.parameters;
        let faces = [true, false].map(|front| ZsState::of(&zs, front));
        let bounds = words.depth_bounds(zs.depth_cull_enable);
        let sampling = Sampling {
            pattern: parameters.sample_pattern,
            each_sample: flags.multisample_enable,
            mask: masks.sample_mask as u16,
        };
        Ok(LoadedDraw {
            clip: words.clip(),
            bounds,
            bias: zs.depth_bias_enable.then_some(DepthBias {
                units: zs.depth_units,
                factor: zs.depth_factor,
                clamp: zs.depth_bias_clamp,
                format: parameters.z_internal_format,
            }),
            state: Arc::new(FragmentState {
                order: faces.map(|zs| Order::of(&flags, &zs, parameters.sample_count)),
                zs: faces,
                bounds: tile::DepthBounds {
                    low: bounds.low,
                    high: bounds.high,
                },
                sampling,
                blend,
                targets: masks.render_target_mask,
                per_sample: flags.evaluate_per_sample,
                point_origin_below: parameters.point_sprite_coord_origin_max_y,
            }),
            stage,
            flags,
            words,
        })
    }

    fn depth_stencil(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        arch: Arch,
        address: u64,
    ) -> Result<DepthStencil, Refused<JobFault>> {
        self.check_alignment(fabric, address, 32)?;
        let words = self.words(fabric, memory, address, 8)?;
        DepthStencil::unpack_at(arch, &words, 0)
            .map_err(|error| self.invalid(fabric, address, error.field))
    }

    /// BLEND descriptors, and words 2 and 3 of each.
    fn blends(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        arch: Arch,
        pointer: u64,
    ) -> Result<(BlendState, Vec<u64>), Refused<JobFault>> {
        let (address, count) = (pointer & !0xf, (pointer & 0xf) as usize);
        let words = self.words(fabric, memory, address, 4 * count)?;
        let mut state = BlendState::default();
        for words in words.chunks_exact(4) {
            let blend = Blend::unpack_at(arch, words, 0);
            let blend = blend.map_err(|error| self.invalid(fabric, address, error.field))?;
            state.descriptors.push(blend);
        }
        let operands = words.chunks_exact(4).map(|words| pair(words, 2));
        Ok((state, operands.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_list_give_the_draw_back() {
        let mut words = [0; DrawWords::COUNT];
        for (index, word) in (0..).zip(&mut words[..26]) {
            *word = 0x1000_0000 + 0x0101 * index;
        }
        let draw = DrawWords::of_words(&words);
        assert_eq!(draw.words(), words);
        assert_eq!(draw.flags, [words[14], words[15], words[16]]);
    }
}
