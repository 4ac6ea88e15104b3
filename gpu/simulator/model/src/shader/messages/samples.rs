//! Sampled textures: filtered colours, gathered texels, levels of detail.
//!
//! Facts: hardware/graphics-texture.md 7.6; hardware/valhall-isa.md 11.10.

use super::super::format::{Colour, PixelFormat};
use super::super::instruction::Instruction;
use super::super::lanes::WARP;
use super::super::message::Message;
use super::super::sampling::{Footing, Sampler, Tap};
use super::super::stopped::{JobFault, Stopped, exception};
use super::super::texture::Texture;
use super::super::texture_request::{Gradient, Payload, TextureRequest, Wanted};
use super::super::typed::masked_registers;
use super::super::warp::{Warp, bits};
use super::texels::ReadBy;
use super::{Memory, REMEMBERED, Sender, set_registers};
use crate::diagnosis::ShaderMisuse;
use crate::work::descriptors::descriptor;
use alloc::vec::Vec;
use eitri_descriptors::Descriptor;
use eitri_descriptors::texture::Sampler as SamplerDescriptor;
use eitri_isa::values::LodMode;

/// The bit of a format that says sRGB.
const SRGB: u32 = 1 << 20;
/// A level of one, in 8.8 fixed point.
const ONE: f64 = 256.0;

impl Memory {
    /// The sampler that a handle names; `None` if there is none.
    fn sampler(
        &mut self,
        sender: &mut Sender<'_>,
        handle: u32,
    ) -> Result<Option<Sampler>, Stopped> {
        if let Some((_, sampler)) = self.samplers.iter().find(|(known, _)| *known == handle) {
            return Ok(*sampler);
        }
        let access = sender.access(0);
        let tables = (
            sender.environment.resources,
            sender.environment.resource_count,
        );
        let arch = sender.fabric.config.product.arch();
        let found = descriptor(sender.fabric, sender.memory, access, tables, handle)?;
        let sampler = match found {
            None => {
                sender.report(ShaderMisuse::NoSuchResource { handle });
                None
            }
            Some(words) => match SamplerDescriptor::unpack_at(arch, &words, 0) {
                Ok(descriptor) => Some(Sampler::new(descriptor)),
                Err(_) => {
                    let kind = (words[0] & 0xf) as u8;
                    sender.report(ShaderMisuse::WrongDescriptor { handle, kind });
                    return Err(JobFault {
                        exception: exception::DATA_INVALID_FAULT,
                        address: handle.into(),
                    }
                    .into());
                }
            },
        };
        if self.samplers.len() == REMEMBERED {
            self.samplers.clear();
        }
        self.samplers.push((handle, sampler));
        Ok(sampler)
    }

    /// Does what a texture message asks for.
    pub(super) fn request_texture(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        request: TextureRequest,
    ) -> Result<(), Stopped> {
        let handles = sender.addresses(warp, instruction);
        let arch = sender.arch;
        let (first, count) = message.read;
        let payloads: Vec<Payload> = (0..WARP)
            .map(|lane| {
                let words: Vec<u32> = (0..count)
                    .map(|index| warp.registers[usize::from(first.wrapping_add(index) & 63)][lane])
                    .collect();
                request.read(handles[lane], &words, arch)
            })
            .collect();
        let mut registers = [[0; 4]; WARP];
        for lane in bits(warp.lanes) {
            let payload = &payloads[lane];
            let texture = self.texture(sender, payload.texture)?;
            let sampler = self.sampler(sender, payload.sampler)?;
            let (Some(mut texture), Some(sampler)) = (texture, sampler) else {
                continue;
            };
            if sampler.skips_srgb() {
                texture.word &= !SRGB;
            }
            let Some(format) = PixelFormat::of(texture.word) else {
                return Err(sender.not_modelled(instruction));
            };
            let footing = Footing {
                axes: request.axes.into(),
                cube: request.cube,
                integer: format.is_integer(),
                ..texture.footing()
            };
            let unit = Unit {
                texture: &texture,
                format: &format,
                sampler: &sampler,
                footing,
                shadow: request.shadow,
            };
            let quad = quad_of(&payloads, lane);
            registers[lane] = match request.wanted {
                Wanted::Gradient(gradient) => [
                    unit.gradient(gradient, payload, quad) as u32 & 0xffff,
                    0,
                    0,
                    0,
                ],
                Wanted::Sample(mode) => {
                    let level = unit.level(mode, payload, quad);
                    let taps = sampler.taps(&unit.footing, &payload.coordinates, level);
                    let colour = unit.colour(sender, instruction, &taps, payload)?;
                    let colour = texture.swizzled(colour);
                    masked_registers((request.mask, request.narrow), colour, &format)
                }
                Wanted::Gather(component) => {
                    let taps = sampler.gathered(&unit.footing, &payload.coordinates);
                    let mut gathered = [0.0; 4];
                    for (to, taps) in gathered.iter_mut().zip(&taps) {
                        let colour = unit.colour(sender, instruction, taps, payload)?;
                        *to = texture.swizzled(colour)[usize::from(component)];
                    }
                    masked_registers((request.mask, request.narrow), gathered, &format)
                }
            };
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }
}

/// The first, the right and the lower thread of a quad.
fn quad_of(payloads: &[Payload], lane: usize) -> [&Payload; 3] {
    let first = lane & !3;
    [&payloads[first], &payloads[first + 1], &payloads[first + 2]]
}

/// A texture and a sampler together.
struct Unit<'t> {
    texture: &'t Texture,
    format: &'t PixelFormat,
    sampler: &'t Sampler,
    footing: Footing,
    shadow: bool,
}

impl Unit<'_> {
    /// What the texels of a footprint give, before the view's swizzle.
    fn colour(
        &self,
        sender: &mut Sender<'_>,
        instruction: &Instruction,
        taps: &[Tap],
        payload: &Payload,
    ) -> Result<Colour, Stopped> {
        let mut colours = Vec::with_capacity(taps.len());
        for tap in taps {
            let mut colour = match tap.texel {
                None => {
                    let (signed, integer) = (self.format.is_signed(), self.format.is_integer());
                    self.format.border(self.sampler.border(signed, integer))
                }
                Some(texel) => {
                    let texel = (self.texture, texel);
                    let unit = ReadBy::Texture;
                    match sender.stored_texel(instruction, texel, unit, &mut None)?.1 {
                        None => [0.0; 4],
                        Some(bits) => self.format.unpack(bits),
                    }
                }
            };
            if self.shadow {
                let reference = f64::from(payload.reference);
                // Depth that is a fraction is compared with one (graphics-texture.md 7.6 (9)).
                let reference = match self.format.is_unorm() {
                    true => reference.clamp(0.0, 1.0),
                    false => reference,
                };
                let holds = self.sampler.compares(colour[0], reference);
                colour = [if holds { 1.0 } else { 0.0 }, 0.0, 0.0, 1.0];
            }
            colours.push((colour, tap.weight));
        }
        Ok(self.sampler.reduce(&colours))
    }

    /// The level of a sample with all biases, 8 bits below the point.
    fn level(&self, mode: LodMode, payload: &Payload, quad: [&Payload; 3]) -> i64 {
        let own = match mode {
            LodMode::Zero => 0,
            LodMode::Explicit | LodMode::Grdesc => payload.level,
            LodMode::Computed | LodMode::ComputedForceDelta => self.computed(quad),
            LodMode::ComputedBias | LodMode::ComputedBiasForceDelta => {
                // The instruction's bias is limited to 16 levels.
                let bias = payload.level.clamp(-16 * 256, 16 * 256);
                self.computed(quad).saturating_add(bias).max(payload.least)
            }
        };
        own.saturating_add(self.sampler.bias())
    }

    /// The level that the differences between the threads of a quad ask for.
    fn computed(&self, quad: [&Payload; 3]) -> i64 {
        let at = quad.map(|payload| payload.coordinates.at);
        let mut derivatives = [[0.0; 2]; 3];
        for (axis, pair) in derivatives.iter_mut().enumerate() {
            *pair = [at[1][axis] - at[0][axis], at[2][axis] - at[0][axis]];
        }
        self.level_of(&derivatives)
    }

    /// The logarithm of the longer of the two ways that a step across the quad goes, in texels.
    fn level_of(&self, derivatives: &[[f32; 2]; 3]) -> i64 {
        let length = |step: usize| {
            let axes = derivatives
                .iter()
                .zip(self.footing.size)
                .take(self.footing.axes);
            let squares = axes.map(|(pair, size)| {
                let texels = f64::from(pair[step]) * f64::from(size);
                texels * texels
            });
            libm::sqrt(squares.sum())
        };
        let level = libm::log2(length(0).max(length(1))) * ONE;
        // Nothing moves: as fine as there is.
        let level = if level.is_nan() { 0.0 } else { level };
        libm::rint(level.clamp(-32768.0, 32767.0)) as i64
    }

    // FACT: what the gradient descriptor of explicit derivatives holds is not published (hardware/valhall-isa.md 11.10); it is
    // taken to have the level in its low half, as it does for coordinates. Settled by reading one back on any board.
    fn gradient(&self, gradient: Gradient, payload: &Payload, quad: [&Payload; 3]) -> i64 {
        let mut level = match gradient.derivatives {
            true => self.level_of(&payload.derivatives),
            false => self.computed(quad),
        };
        if !gradient.no_bias {
            level = level.saturating_add(self.sampler.bias());
        }
        if !gradient.no_clamp {
            level = self.sampler.clamped(level);
        }
        level.clamp(i16::MIN.into(), i16::MAX.into())
    }
}
