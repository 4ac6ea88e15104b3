//! Draws of frame shaders: their descriptors, with all that these name.
//!
//! Facts: hardware/graphics-framebuffer.md 5.10 and graphics-draw.md 3.16.

use super::blend::{self, ColorBlend, OFF};
use super::clear_attachments::tests_that_replace;
use super::framebuffer::{ColorFormats, MOST_COLORS};
use super::load::{PRELOAD, Stage};
use super::output_code::Kind;
use crate::command::Recorder;
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::resource::{DESCRIPTOR_BYTES, local_storage, pack, resource};
use eitri_descriptors::raster::{DcdFlags0, DcdFlags1, DcdFlags2, DepthStencil, Draw, PixelKill};
use eitri_descriptors::shader::{
    CoverageBitmaskType, FauPointer, Preload, ShaderEnvironment, ShaderProgram,
    ShaderRegisterAllocation, ShaderStage,
};
use eitri_descriptors::texture::Func;
use eitri_descriptors::{Address, Aligned, Arch};

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The draw of the frame shader that loads colours.
    pub(super) fn color_draw(
        &mut self,
        formats: &ColorFormats,
        kinds: &[Option<Kind>],
        stage: &Stage,
    ) -> Result<Draw, Error> {
        let arch = self.arch();
        let samples = formats.samples > 1;
        let mut mask = 0;
        let mut blends = [0; MOST_COLORS * 4];
        let kinds = kinds.iter().chain(core::iter::repeat(&None));
        let places = blends.as_chunks_mut::<4>().0.iter_mut().zip(kinds).zip(0..);
        for ((words, kind), number) in places {
            let format = formats.formats.get(number as usize).copied().flatten();
            let blend = ColorBlend::default();
            let made = match format.filter(|_| kind.is_some()) {
                Some(format) => blend::target(arch, number, format, &blend)?.unwrap_or(OFF),
                None => OFF,
            };
            mask |= u32::from(kind.is_some()).checked_shl(number).unwrap_or(0);
            *words = made.words;
        }
        let tests: [u32; 8] = pack(
            arch,
            DepthStencil {
                depth_function: Func::Always,
                separated_dependency_tracking: arch == Arch::V11,
                ..DepthStencil::default()
            },
        )?;
        let flags_0 = DcdFlags0 {
            allow_forward_pixel_to_kill: true,
            ..frame_flags(arch, samples, PixelKill::ForceEarly)
        };
        self.frame_draw(stage, &tests, (&blends, formats.count), (flags_0, mask))
    }

    /// The draw of the frame shader that loads depth and stencil.
    pub(super) fn depth_draw(
        &mut self,
        [depth, stencil]: [bool; 2],
        samples: bool,
        stage: &Stage,
    ) -> Result<Draw, Error> {
        let arch = self.arch();
        let tests = DepthStencil {
            depth_cull_enable: false,
            ..tests_that_replace(arch, [depth, stencil])
        };
        let tests: [u32; 8] = pack(arch, tests)?;
        let flags_0 = frame_flags(arch, samples, PixelKill::ForceLate);
        self.frame_draw(stage, &tests, (&OFF.words, 1), (flags_0, 0))
    }

    /// The draw of a frame shader: all that it names is put into the commands.
    fn frame_draw(
        &mut self,
        stage: &Stage,
        tests: &[u32; 8],
        (blends, blend_count): (&[u32], u32),
        (flags_0, mask): (DcdFlags0, u32),
    ) -> Result<Draw, Error> {
        let arch = self.arch();
        let [tests, blends] = self.in_lane(SubQueue::Fragment, |it| {
            Ok([it.place(tests)?, it.place(blends)?])
        })?;
        let flags_2 = flags_2(arch, mask);
        let mut draw = Draw {
            flags_0,
            flags_1: DcdFlags1 {
                sample_mask: 0xFFFF,
                render_target_mask: mask,
                ..DcdFlags1::default()
            },
            flags_2,
            depth_stencil: Aligned::new(tests.0).unwrap_or_default(),
            blend_count,
            blend: Aligned::new(blends.0).unwrap_or_default(),
            ..Draw::default()
        };
        self.add_stage(stage, &mut draw)?;
        Ok(draw)
    }

    /// Puts a frame shader and what it reads into the commands, and names it in its draw.
    fn add_stage(&mut self, stage: &Stage, draw: &mut Draw) -> Result<(), Error> {
        let arch = self.arch();
        let program: [u32; 8] = pack(
            arch,
            ShaderProgram {
                stage: ShaderStage::Fragment,
                fragment_coverage_bitmask_type: CoverageBitmaskType::Gl,
                register_allocation: ShaderRegisterAllocation::ThirtyTwoPerThread,
                preload: Preload {
                    r48_r63: PRELOAD,
                    ..Preload::default()
                },
                binary: Address(stage.code.0),
                ..ShaderProgram::default()
            },
        )?;
        let storage = local_storage(arch, None, None)?;
        let table = stage.table.as_flattened();
        let bytes = (stage.table.len() as u32).saturating_mul(DESCRIPTOR_BYTES as u32);
        let [program, storage, table, uniforms] = self.in_lane(SubQueue::Fragment, |it| {
            Ok([
                it.place(&program)?,
                it.place(&storage)?,
                it.place(table)?,
                it.place(stage.all_uniforms())?,
            ])
        })?;
        let mut tables = [0; 16];
        for (to, from) in tables.iter_mut().zip(resource(arch, table.0, bytes)?) {
            *to = from;
        }
        let tables = self.in_lane(SubQueue::Fragment, |it| it.place(&tables))?;
        // One group of entries.
        let resources = Address(tables.0 | 4);
        let fau_count = (stage.all_uniforms().len() / 2) as u32;
        if arch < Arch::V12 {
            (draw.minimum_z, draw.maximum_z) = (0.0, 1.0);
            draw.shader = ShaderEnvironment {
                fau_count,
                resources,
                shader: Aligned::new(program.0).unwrap_or_default(),
                thread_storage: Aligned::new(storage.0).unwrap_or_default(),
                fau: Address(uniforms.0),
                ..ShaderEnvironment::default()
            };
        } else {
            draw.fragment_resources = resources;
            draw.fragment_shader = Aligned::new(program.0).unwrap_or_default();
            draw.thread_storage = Aligned::new(storage.0).unwrap_or_default();
            draw.fragment_fau = FauPointer {
                pointer: Address(uniforms.0),
                count: fau_count,
            };
        }
        Ok(())
    }
}

/// Flags of the draws of frame shaders.
fn frame_flags(arch: Arch, samples: bool, when: PixelKill) -> DcdFlags0 {
    let mut flags = DcdFlags0 {
        allow_forward_pixel_to_be_killed: true,
        pixel_kill_operation: when,
        zs_update_operation: when,
        clean_fragment_write: true,
        multisample_enable: samples,
        evaluate_per_sample: samples,
        ..DcdFlags0::default()
    };
    if arch >= Arch::V11 {
        flags.cull_zero_area = true;
    }
    flags
}

/// The third word of flags of a frame shader that writes these colours: it reads none of the tile.
fn flags_2(arch: Arch, written: u32) -> DcdFlags2 {
    let says_so = arch >= Arch::V11;
    DcdFlags2 {
        write_mask: written,
        no_shader_stencil_read: says_so,
        no_shader_depth_read: says_so,
        ..DcdFlags2::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// hardware/graphics-draw.md 3.12: the bits are there from v11 on.
    #[test]
    fn frame_shaders_read_no_depth_and_say_so() {
        for (arch, says) in [
            (Arch::V10, false),
            (Arch::V11, true),
            (Arch::V12, true),
            (Arch::V13, true),
        ] {
            let flags = flags_2(arch, 5);
            let found = [flags.no_shader_depth_read, flags.no_shader_stencil_read];
            assert_eq!((flags.write_mask, found), (5, [says; 2]), "{arch}");
        }
    }
}
