//! Draws as the fragment stage sees them: pointers and flags as registers or descriptors hold them, then read and checked.
//!
//! A draw of vertices, a fullscreen draw and a frame shader differ in where their words stand; here they become one form.
//!
//! Facts: hardware/graphics-draw.md 3.1 (registers), 3.10 (depth, scissor); graphics-raster.md 4.13, 4.14; descriptors.md 17.

use super::stage::{LoadedStage, Reader, StagePointers};
use crate::defect::State;
use crate::fabric::Fabric;
use crate::fragment::Order;
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::raster::{DepthBias, DepthBounds, PixelBox, Sampling};
use crate::shader::JobFault;
use crate::shader::stage::FragmentState;
use crate::stream::{IssuedDraw, IssuedFullscreen};
use crate::tile::{self, BlendState, Framebuffer, ZsState};
use crate::tiler::DrawState;
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_descriptors::blend::Blend;
use eitri_descriptors::raster::{
    ConservativeRastMode, DcdFlags0, DcdFlags1, DepthStencil, Draw, OcclusionMode,
};
use eitri_descriptors::shader::ShaderStage;
use eitri_descriptors::{Arch, Descriptor, FieldError, FieldProblem};

/// Words of a draw descriptor.
pub(super) const DRAW_WORDS: usize = 32;

/// Bits of the address of uniforms in a shader environment.
const FAU_ADDRESS_BITS: u32 = 56;

/// Bytes of an occlusion slot.
const QUERY_BYTES: u64 = 8;

/// A pair of registers, the low half first.
pub(super) fn pair(registers: &[u32], register: usize) -> u64 {
    let at = |register: usize| u64::from(registers.get(register).copied().unwrap_or(0));
    at(register + 1) << 32 | at(register)
}

/// Bits of the primitive flags, r56.
const LOW_DEPTH_CULL: u32 = 1 << 16;
const HIGH_DEPTH_CULL: u32 = 1 << 17;

/// A box that holds every pixel.
const EVERYWHERE: [u32; 2] = [0, u32::MAX];

/// The state of a draw of vertices.
pub(super) fn state_of_draw(arch: Arch, issued: &IssuedDraw) -> DrawState {
    let registers = &issued.registers;
    let at = |register: usize| registers[register];
    let float = |register: usize| f32::from_bits(at(register));
    let merged = arch >= Arch::V12;
    let pick = |newer: usize, older: usize| if merged { newer } else { older };
    let stage = StagePointers::of(registers, issued.fragment);
    DrawState {
        primitive_flags: at(56) | issued.flags_override,
        dcd: [at(57), at(58), at(pick(59, 38))],
        scissor: [at(42), at(43)],
        viewport: if merged { [at(44), at(45)] } else { EVERYWHERE },
        depth_range: [float(pick(46, 44)), float(pick(47, 45))],
        primitive_size: float(60),
        varying_bytes: at(pick(51, 48)),
        depth_stencil: pair(registers, 52),
        blend: pair(registers, pick(54, 50)),
        occlusion: pair(registers, pick(64, 46)),
        resources: stage.resources,
        fau: stage.uniforms,
        program: stage.program,
        storage: stage.storage,
        instruction: issued.instruction,
        job: issued.job,
    }
}

/// The state of a fullscreen draw, whose descriptor is complete; the scissor box and primitive flags are registers.
///
/// # Errors
/// The field of the descriptor that is not valid.
pub(super) fn state_of_fullscreen(
    arch: Arch,
    issued: &IssuedFullscreen,
    words: &[u32],
) -> Result<DrawState, FieldError> {
    Ok(DrawState {
        scissor: [issued.registers[42], issued.registers[43]],
        primitive_flags: issued.registers[56] | issued.flags_override,
        instruction: issued.instruction,
        job: issued.job,
        ..state_of_descriptor(arch, words)?
    })
}

/// The state of a frame shader.
///
/// # Errors
/// The field of the descriptor that is not valid.
pub(super) fn state_of_descriptor(arch: Arch, words: &[u32]) -> Result<DrawState, FieldError> {
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
        // Newer generations have a count there: the descriptor would be one of theirs.
        if environment.fau.0 >> FAU_ADDRESS_BITS != 0 {
            return Err(FieldError {
                field: "FAU",
                problem: FieldProblem::NoMeaning {
                    stored: environment.fau.0,
                },
            });
        }
        StagePointers {
            resources: environment.resources.0,
            uniforms: environment.fau.0 | u64::from(environment.fau_count) << 56,
            program: environment.shader.get(),
            storage: environment.thread_storage.get(),
        }
    };
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    Ok(DrawState {
        dcd: [word(0), word(1), word(5)],
        scissor: EVERYWHERE,
        viewport: EVERYWHERE,
        depth_range: if arch >= Arch::V12 {
            [0.0, 1.0]
        } else {
            [draw.minimum_z, draw.maximum_z]
        },
        depth_stencil: draw.depth_stencil.get(),
        blend: draw.blend.get() | u64::from(draw.blend_count),
        occlusion: draw.occlusion.0,
        resources: stage.resources,
        fau: stage.uniforms,
        program: stage.program,
        storage: stage.storage,
        ..DrawState::default()
    })
}

/// Scissor and viewport of a draw together; `None` if they hold no pixel.
pub(super) fn clip_of(state: &DrawState) -> Option<PixelBox> {
    corners(state.scissor).intersection(corners(state.viewport))
}

/// Depths that a draw keeps. `by_descriptor`: its depth and stencil descriptor culls at all.
pub(super) fn depth_bounds(state: &DrawState, by_descriptor: bool) -> DepthBounds {
    let culls = |bit: u32| by_descriptor && state.primitive_flags & bit != 0;
    let [low, high] = state.depth_range;
    DepthBounds {
        low,
        high,
        cull_low: culls(LOW_DEPTH_CULL),
        cull_high: culls(HIGH_DEPTH_CULL),
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

/// Whether a draw covers every pixel that its triangles touch.
pub(super) fn is_conservative(flags: &DcdFlags0) -> bool {
    flags.conservative_rast_mode == ConservativeRastMode::OverEstimate
}

/// The fragment stage of a draw.
fn pointers_of(state: &DrawState) -> StagePointers {
    StagePointers {
        resources: state.resources,
        uniforms: state.fau,
        program: state.program,
        storage: state.storage,
    }
}

/// A draw whose fragments can be shaded.
#[derive(Clone, Debug)]
pub(super) struct LoadedDraw {
    pub(super) words: DrawState,
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
    /// Whether samples are counted.
    pub(super) fn counts(&self) -> bool {
        self.flags.occlusion_query != OcclusionMode::Disabled
    }

    /// The occlusion slot of the draw in a layer, and how it counts. Each view has a slot: those of a mask lie one after another
    /// (graphics-model.md 4.2).
    pub(super) fn query(&self, layer: u32) -> Option<(u64, OcclusionMode)> {
        let views = self.words.primitive_flags >> 24;
        let before = views & !u32::MAX.checked_shl(layer).unwrap_or(0);
        let slot = u64::from(before.count_ones()) * QUERY_BYTES;
        let address = self.words.occlusion.wrapping_add(slot);
        self.counts()
            .then_some((address, self.flags.occlusion_query))
    }
}

impl Reader {
    /// Reads what a draw's words name, for a framebuffer.
    pub(super) fn draw(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        words: DrawState,
        framebuffer: &Framebuffer,
    ) -> Result<LoadedDraw, Refused<JobFault>> {
        let arch = framebuffer.arch;
        let (Ok(flags), Ok(masks)) = (
            DcdFlags0::unpack_at(arch, &words.dcd, 0),
            DcdFlags1::unpack_at(arch, &words.dcd[1..], 0),
        ) else {
            return Err(self.invalid(fabric, words.dcd[0].into(), "DCD Flags"));
        };
        let zs = self.depth_stencil(fabric, memory, arch, words.depth_stencil)?;
        let zs = fabric.defects.depth_stencil(zs);
        let (blend, blend_words) = self.blends(fabric, memory, arch, words.blend)?;
        let stage = if words.program == 0 {
            None
        } else {
            let mut stage =
                self.stage(fabric, memory, pointers_of(&words), ShaderStage::Fragment)?;
            stage.environment.blend_words = blend_words;
            stage.environment.sample_positions = framebuffer.parameters.sample_locations.0;
            Some(stage)
        };
        let parameters = &framebuffer.parameters;
        let faces = [true, false].map(|front| ZsState::of(&zs, front));
        let bounds = depth_bounds(&words, zs.depth_cull_enable);
        let sampling = Sampling {
            pattern: parameters.sample_pattern,
            each_sample: flags.multisample_enable,
            mask: masks.sample_mask as u16,
        };
        Ok(LoadedDraw {
            clip: clip_of(&words),
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
                targets: fabric.defects.targets(masks.render_target_mask),
                per_sample: flags.evaluate_per_sample,
                point_origin_below: parameters.point_sprite_coord_origin_max_y,
            }),
            stage,
            flags,
            words,
        })
    }

    /// Reads a depth and stencil descriptor.
    pub(super) fn depth_stencil(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        arch: Arch,
        address: u64,
    ) -> Result<DepthStencil, Refused<JobFault>> {
        self.check_alignment(fabric, address, 32)?;
        let mut words = self.words(fabric, memory, address, 8)?;
        fabric.defects.descriptor(State::DepthStencil, &mut words);
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
            let mut taken = [0; 4];
            for (to, from) in taken.iter_mut().zip(words) {
                *to = *from;
            }
            fabric.defects.descriptor(State::Blend, &mut taken);
            let blend = Blend::unpack_at(arch, &taken, 0);
            let blend = blend.map_err(|error| self.invalid(fabric, address, error.field))?;
            state.descriptors.push(fabric.defects.blend(blend));
        }
        let operands = words.chunks_exact(4).map(|words| pair(words, 2));
        Ok((state, operands.collect()))
    }
}
