//! Clears within a pass: a primitive that covers a rectangle in some layers, and a program that gives every pixel the same values.
//!
//! It takes its place among the draws: what is drawn before is cleared, what is drawn after is not. Scissor, tests and write masks
//! of pipelines don't touch it.
//! Facts: hardware/graphics-draw.md 3.17, graphics-raster.md 4.9, 4.13 and 4.14, graphics-ops-products.md 8.1.

use super::blend::{self, ColorBlend, OFF};
use super::clear_code::{DEPTH, STENCIL, UNIFORMS, color_code, depth_code};
use super::error::GraphicsError;
use super::framebuffer::MOST_COLORS;
use super::lane::TEMPORARY;
use super::output_code::Kind;
use super::pass::RenderPass;
use super::registers::DrawRegisters;
use super::rendering::{ClearColor, Rect};
use crate::command::{CommandError, OwnCode, Recorder};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::resource::{local_storage, pack};
use crate::vm::GpuAddress;
use eitri_cs::instr::RunFullscreen;
use eitri_descriptors::raster::{
    DcdFlags0, DcdFlags1, DcdFlags2, DepthSource, DepthStencil, Draw, PixelKill, StencilOp,
};
use eitri_descriptors::shader::{
    CoverageBitmaskType, FauPointer, Preload, ShaderEnvironment, ShaderProgram,
    ShaderRegisterAllocation, ShaderStage,
};
use eitri_descriptors::texture::Func;
use eitri_descriptors::{Address, Aligned, Arch, Descriptor};
use heapless::Vec;

/// An attachment that is cleared within a pass, and to what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClearAttachment {
    /// A colour, by its location; one that the pass does not have stays.
    Color {
        /// The location.
        location: u32,
        /// The colour.
        color: ClearColor,
    },
    /// Depth.
    Depth(f32),
    /// Stencil.
    Stencil(u8),
}

/// A rectangle of some layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClearRect {
    /// The rectangle, inside of the render area.
    pub rect: Rect,
    /// The first layer.
    pub layer: u32,
    /// Layers.
    pub layers: u32,
}

/// Preloaded registers: pixel, coverage, and sample (r59 to r61).
const PRELOAD: u32 = 1 << 11 | 1 << 12 | 1 << 13;
/// Words of a draw descriptor.
const DRAW_WORDS: usize = 32;

/// What a clear does to colours.
#[derive(Debug)]
struct Colors {
    kinds: [Option<Kind>; MOST_COLORS],
    uniforms: [u32; UNIFORMS],
}

/// What differs between clears of colours, and of depth and stencil.
struct Cleared<'c> {
    code: GpuAddress,
    tests: [u32; 8],
    blends: &'c [u32],
    blend_count: u32,
    uniforms: &'c [u32; UNIFORMS],
    flags_0: DcdFlags0,
    mask: u32,
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Clears rectangles of attachments, behind what was drawn before.
    ///
    /// # Errors
    /// If a rectangle leaves the render area or has layers that the pass has not, a location is too large, or there is no memory
    /// for more commands.
    pub fn clear_attachments(
        &mut self,
        attachments: &[ClearAttachment],
        rects: &[ClearRect],
    ) -> Result<&mut Self, Error> {
        let mut boxes: Vec<([u32; 4], u32), 8> = Vec::new();
        let mut rest = rects;
        // What is cleared is written once for several rectangles.
        while !rest.is_empty() {
            let (now, behind) = rest.split_at(rest.len().min(boxes.capacity()));
            rest = behind;
            boxes.clear();
            for rect in now {
                if rect.rect.width > 0 && rect.rect.height > 0 && rect.layers > 0 {
                    let _ = boxes.push(self.clear_box(rect)?);
                }
            }
            self.clear_boxes(attachments, &boxes)?;
        }
        Ok(self)
    }

    /// A rectangle with both corners inside, and its layers as bits.
    fn clear_box(&self, clear: &ClearRect) -> Result<([u32; 4], u32), CommandError> {
        let outside = CommandError::from(GraphicsError::Area);
        let [min_x, min_y, max_x, max_y] = self.framebuffer().area;
        let last = |start: i32, length: u32| -> Option<(u32, u32)> {
            let start = u32::try_from(start).ok()?;
            Some((start, start.checked_add(length)?.checked_sub(1)?))
        };
        let rect = clear.rect;
        let (left, right) = last(rect.x, rect.width).ok_or(outside)?;
        let (top, bottom) = last(rect.y, rect.height).ok_or(outside)?;
        let end = clear.layer.saturating_add(clear.layers);
        if left < min_x || top < min_y || right > max_x || bottom > max_y {
            return Err(outside);
        }
        let layers = match self.framebuffer().view_mask {
            0 if end > self.framebuffer().layers => return Err(outside),
            0 => (1_u32 << end).wrapping_sub(1 << clear.layer),
            // Views are all cleared (Vulkan says so).
            views => views,
        };
        Ok(([left, top, right, bottom], layers))
    }

    fn clear_boxes(
        &mut self,
        attachments: &[ClearAttachment],
        boxes: &[([u32; 4], u32)],
    ) -> Result<(), Error> {
        if boxes.is_empty() {
            return Ok(());
        }
        let colors = self.cleared_colors(attachments)?;
        let mut uniforms = [0; UNIFORMS];
        let mut has = [false; 2];
        let [has_depth, has_stencil] = self.framebuffer().has_depth_stencil();
        for attachment in attachments {
            match *attachment {
                ClearAttachment::Depth(depth) if has_depth => {
                    (uniforms[DEPTH], has[0]) = (depth.to_bits(), true);
                }
                ClearAttachment::Stencil(stencil) if has_stencil => {
                    (uniforms[STENCIL], has[1]) = (stencil.into(), true);
                }
                _ => {}
            }
        }
        if let Some(colors) = &colors {
            let (blends, mask) = self.clear_blends(&colors.kinds)?;
            let cleared = self.color_clear(colors, &blends, mask)?;
            self.run_clear(&cleared, boxes)?;
        }
        if has != [false; 2] {
            let cleared = self.depth_clear(has, &uniforms)?;
            self.run_clear(&cleared, boxes)?;
        }
        Ok(())
    }

    /// The colours that are cleared; `None` if there are none.
    fn cleared_colors(&self, attachments: &[ClearAttachment]) -> Result<Option<Colors>, Error> {
        let mut colors = Colors {
            kinds: [None; MOST_COLORS],
            uniforms: [0; UNIFORMS],
        };
        for attachment in attachments {
            let ClearAttachment::Color { location, color } = *attachment else {
                continue;
            };
            let place = location as usize;
            let (Some(kind), Some(words)) = (
                colors.kinds.get_mut(place),
                colors.uniforms.as_chunks_mut::<4>().0.get_mut(place),
            ) else {
                let (found, most) = (place.saturating_add(1), MOST_COLORS);
                return Err(CommandError::from(GraphicsError::Attachments { found, most }).into());
            };
            let Some(format) = self.framebuffer().color_format(place) else {
                continue;
            };
            *kind = Some(Kind::of(format));
            *words = match color {
                ClearColor::Float(values) => values.map(f32::to_bits),
                ClearColor::Int(values) => values.map(|value| value as u32),
                ClearColor::Uint(values) => values,
            };
        }
        let any = colors.kinds.iter().any(Option::is_some);
        Ok(any.then_some(colors))
    }

    /// Blend descriptors that replace the colours of these kinds, and which they are.
    fn clear_blends(
        &self,
        kinds: &[Option<Kind>; MOST_COLORS],
    ) -> Result<([u32; MOST_COLORS * 4], u32), Error> {
        let arch = self.recorder.arch();
        let (mut blends, mut mask) = ([0; MOST_COLORS * 4], 0);
        let places = blends.as_chunks_mut::<4>().0.iter_mut().zip(kinds).zip(0..);
        for ((words, kind), number) in places {
            let format = self.framebuffer().color_format(number as usize);
            let replace = ColorBlend::default();
            let made = match format.filter(|_| kind.is_some()) {
                Some(format) => blend::target(arch, number, format, &replace)?.unwrap_or(OFF),
                None => OFF,
            };
            mask |= u32::from(kind.is_some()).checked_shl(number).unwrap_or(0);
            *words = made.words;
        }
        Ok((blends, mask))
    }

    fn color_clear<'c>(
        &mut self,
        colors: &'c Colors,
        blends: &'c [u32],
        mask: u32,
    ) -> Result<Cleared<'c>, Error> {
        let arch = self.recorder.arch();
        let number = |kind: &Option<Kind>| match kind {
            None => 0,
            Some(Kind::Float) => 1,
            Some(Kind::Int) => 2,
            Some(Kind::Uint) => 3,
        };
        let kinds = colors.kinds.iter().rev();
        let key = kinds.fold(0, |key, kind| key << 2 | number(kind));
        let code = color_code(&colors.kinds);
        Ok(Cleared {
            code: self.recorder.bare_code(OwnCode::Clear(key), &code)?,
            tests: pack(arch, tests_that_replace(arch, [false; 2]))?,
            blends,
            blend_count: self.framebuffer().count as u32,
            uniforms: &colors.uniforms,
            flags_0: DcdFlags0 {
                allow_forward_pixel_to_kill: true,
                ..self.clear_flags(PixelKill::ForceEarly)
            },
            mask,
        })
    }

    fn depth_clear<'c>(
        &mut self,
        has: [bool; 2],
        uniforms: &'c [u32; UNIFORMS],
    ) -> Result<Cleared<'c>, Error> {
        let arch = self.recorder.arch();
        let [depth, stencil] = has.map(u32::from);
        let key = 1 << 16 | depth | stencil << 1;
        Ok(Cleared {
            code: self
                .recorder
                .bare_code(OwnCode::Clear(key), &depth_code(has))?,
            tests: pack(arch, tests_that_replace(arch, has))?,
            blends: &OFF.words,
            blend_count: 1,
            uniforms,
            flags_0: self.clear_flags(PixelKill::ForceLate),
            mask: 0,
        })
    }

    fn clear_flags(&self, when: PixelKill) -> DcdFlags0 {
        DcdFlags0 {
            allow_forward_pixel_to_be_killed: true,
            pixel_kill_operation: when,
            zs_update_operation: when,
            front_face_ccw: true,
            scissor_to_bounding_box: true,
            multisample_enable: self.framebuffer().samples > 1,
            cull_zero_area: self.recorder.arch() >= Arch::V11,
            ..DcdFlags0::default()
        }
    }

    /// Covers rectangles.
    fn run_clear(&mut self, cleared: &Cleared<'_>, boxes: &[([u32; 4], u32)]) -> Result<(), Error> {
        let context = self.context_of_clears()?;
        self.state.forget_registers();
        let (state, recorder) = (&*self.state, &mut *self.recorder);
        recorder.in_lane(SubQueue::VertexTiler, |it| {
            let words = it.clear_draw(cleared)?;
            let at = it.place(&words)?;
            for rectangle in boxes {
                it.put_clear(&words, context, rectangle)?;
                it.if_predicate(state.predicate, 0, |it| {
                    it.load_pair(TEMPORARY, at.0)?;
                    it.push(RunFullscreen {
                        dcd: TEMPORARY,
                        ..RunFullscreen::default()
                    })
                })?;
            }
            it.unflushed = true;
            Ok(())
        })
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The descriptor of a clear, and all that it names in the commands.
    fn clear_draw(&mut self, cleared: &Cleared<'_>) -> Result<[u32; DRAW_WORDS], Error> {
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
                binary: Address(cleared.code.0),
                ..ShaderProgram::default()
            },
        )?;
        let program = self.place(&program)?;
        let storage = local_storage(arch, None, None)?;
        let storage = self.place(&storage)?;
        let tests = self.place(&cleared.tests)?;
        let blends = self.place(cleared.blends)?;
        let uniforms = self.place(cleared.uniforms)?;
        let fau_count = (UNIFORMS / 2) as u32;
        let mut flags_2 = DcdFlags2 {
            write_mask: cleared.mask,
            ..DcdFlags2::default()
        };
        if arch >= Arch::V11 {
            flags_2.no_shader_stencil_read = true;
            flags_2.no_shader_depth_read = true;
        }
        let mut draw = Draw {
            flags_0: cleared.flags_0,
            flags_1: DcdFlags1 {
                sample_mask: 0xFFFF,
                render_target_mask: cleared.mask,
                ..DcdFlags1::default()
            },
            flags_2,
            depth_stencil: Aligned::new(tests.0).unwrap_or_default(),
            blend_count: cleared.blend_count,
            blend: Aligned::new(blends.0).unwrap_or_default(),
            ..Draw::default()
        };
        if arch < Arch::V12 {
            (draw.minimum_z, draw.maximum_z) = (0.0, 1.0);
            draw.shader = ShaderEnvironment {
                fau_count,
                shader: Aligned::new(program.0).unwrap_or_default(),
                thread_storage: Aligned::new(storage.0).unwrap_or_default(),
                fau: Address(uniforms.0),
                ..ShaderEnvironment::default()
            };
        } else {
            draw.fragment_shader = Aligned::new(program.0).unwrap_or_default();
            draw.thread_storage = Aligned::new(storage.0).unwrap_or_default();
            draw.fragment_fau = FauPointer {
                pointer: Address(uniforms.0),
                count: fau_count,
            };
        }
        let mut words = [0; DRAW_WORDS];
        draw.pack(arch, &mut words)?;
        Ok(words)
    }

    /// Loads the registers for a rectangle of layers that is covered.
    fn put_clear(
        &mut self,
        words: &[u32; DRAW_WORDS],
        context: GpuAddress,
        ([left, top, right, bottom], layers): &([u32; 4], u32),
    ) -> Result<(), Error> {
        let arch = self.arch();
        let registers = DrawRegisters::of(arch);
        let scissor = u64::from(bottom << 16 | right) << 32 | u64::from(top << 16 | left);
        self.load_draw_registers(|it| {
            it.pair(registers.context, context.0);
            it.pair(registers.scissor, scissor);
            // The view mask alone (hardware/graphics-draw.md 3.17).
            it.word(registers.primitive, layers << 24);
            if arch >= Arch::V13 {
                // They must be those of the descriptor.
                let [flags_0, flags_1, _, _, _, flags_2, ..] = *words;
                it.word(registers.flags_0, flags_0);
                it.word(registers.flags_1, flags_1);
                it.word(registers.flags_2, flags_2);
            }
            if let Some(register) = registers.primitive_2 {
                it.word(register, 0);
            }
        })
    }
}

/// Tests that all fragments pass. Depth and stencil become those that the program exports, as far as they are asked for.
pub(super) fn tests_that_replace(arch: Arch, [depth, stencil]: [bool; 2]) -> DepthStencil {
    let mut tests = DepthStencil {
        depth_function: Func::Always,
        depth_write_enable: depth,
        separated_dependency_tracking: arch == Arch::V11,
        ..DepthStencil::default()
    };
    if depth {
        tests.depth_source = DepthSource::Shader;
    }
    if stencil {
        tests.stencil_test_enable = true;
        tests.stencil_from_shader = true;
        tests.front_compare_function = Func::Always;
        tests.back_compare_function = Func::Always;
        tests.front_depth_pass = StencilOp::Replace;
        tests.back_depth_pass = StencilOp::Replace;
        tests.front_write_mask = 0xFF;
        tests.back_write_mask = 0xFF;
        tests.front_value_mask = 0xFF;
        tests.back_value_mask = 0xFF;
    }
    tests
}
