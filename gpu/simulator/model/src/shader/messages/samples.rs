//! Sampled textures: filtered colours, gathered texels, levels of detail.
//!
//! Facts: hardware/graphics-texture.md 7.6; hardware/valhall-isa.md 11.10.

use super::super::detail::{Probes, Steps};
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
use super::texels::{Decoded, ReadBy};
use super::{Memory, REMEMBERED, Sender, set_registers};
use crate::diagnosis::ShaderMisuse;
use crate::fidelity::Inexact;
use crate::work::descriptors::descriptor;
use alloc::vec::Vec;
use eitri_descriptors::Descriptor;
use eitri_descriptors::texture::Sampler as SamplerDescriptor;
use eitri_isa::values::LodMode;

/// The bit of a format that says sRGB.
const SRGB: u32 = 1 << 20;

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
        let mut decoded = Decoded::default();
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
                Wanted::Gradient(gradient) => {
                    sender.fabric.fidelity.meet(Inexact::GradientDescriptor);
                    let [first, second] = unit.gradient(gradient, payload, quad);
                    [first, second, 0, 0]
                }
                Wanted::Sample(mode) => {
                    let from = (payload, quad);
                    let sampled = unit.sampled(sender, instruction, mode, from, &mut decoded)?;
                    let colour = texture.swizzled(sampled);
                    masked_registers((request.mask, request.narrow), colour, &format)
                }
                Wanted::Gather(component) => {
                    sender.fabric.fidelity.meet(Inexact::GatherOrder);
                    let taps = sampler.gathered(&unit.footing, &payload.coordinates);
                    let mut gathered = [0.0; 4];
                    for (to, taps) in gathered.iter_mut().zip(&taps) {
                        let taps = (taps.as_slice(), &mut decoded);
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
        (taps, decoded): (&[Tap], &mut Decoded),
        payload: &Payload,
    ) -> Result<Colour, Stopped> {
        // A tap beyond a corner is three instead of one.
        if self.footing.cube && matches!(taps.len(), 3 | 6 | 10 | 12) {
            sender.fabric.fidelity.meet(Inexact::CubeCorner);
        }
        let mut colours = Vec::with_capacity(taps.len());
        for tap in taps {
            let mut colour = match tap.texel {
                None => {
                    if self.format.lacks_components() {
                        sender.fabric.fidelity.meet(Inexact::BorderComponents);
                    }
                    let (signed, integer) = (self.format.is_signed(), self.format.is_integer());
                    self.format.border(self.sampler.border(signed, integer))
                }
                Some(texel) => {
                    let texel = (self.texture, texel);
                    let unit = ReadBy::Texture;
                    let before = (&mut None, &mut *decoded);
                    match sender.stored_texel(instruction, texel, unit, before)?.1 {
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

    /// What a sample gives, before the view's swizzle: the mean of its probes.
    fn sampled(
        &self,
        sender: &mut Sender<'_>,
        instruction: &Instruction,
        mode: LodMode,
        (payload, quad): (&Payload, [&Payload; 3]),
        decoded: &mut Decoded,
    ) -> Result<Colour, Stopped> {
        let (probes, bias) = self.probes(mode, payload, quad);
        let level = if self.sampler.is_normalized() {
            let level = probes.level.saturating_add(bias);
            level.saturating_add(self.sampler.bias())
        } else {
            // Coordinates in texels are those of the first level (graphics-model.md 5.1 (7)).
            0
        };
        // The instruction's least level counts after the sampler's limits, before those of the texture.
        let mut footing = self.footing;
        footing.lod[0] = footing.lod[0].max(payload.least);
        if probes.count > 1 {
            sender.fabric.fidelity.meet(Inexact::Anisotropy);
        }
        if self.sampler.filter_is_open(&footing, level) {
            sender.fabric.fidelity.meet(Inexact::FilterOfLevel);
        }
        let mut sum = [0.0; 4];
        for place in probes.places(&payload.coordinates) {
            let taps = self.sampler.taps(&footing, &place, level);
            let colour = self.colour(sender, instruction, (&taps, decoded), payload)?;
            sum = core::array::from_fn(|index| sum[index] + colour[index]);
        }
        Ok(sum.map(|component| component / f64::from(probes.count)))
    }

    /// Probes of a sample, and the instruction's bias, limited to 16 levels.
    fn probes(&self, mode: LodMode, payload: &Payload, quad: [&Payload; 3]) -> (Probes, i64) {
        if !self.sampler.is_normalized() {
            return (Probes::one(0), 0);
        }
        let computed = || {
            self.steps(quad)
                .probes(&self.footing, self.sampler.most_probes())
        };
        match mode {
            LodMode::Zero => (Probes::one(0), 0),
            LodMode::Explicit => (Probes::one(payload.level), 0),
            LodMode::Grdesc => (payload.probes, 0),
            LodMode::Computed | LodMode::ComputedForceDelta => (computed(), 0),
            LodMode::ComputedBias | LodMode::ComputedBiasForceDelta => {
                (computed(), payload.level.clamp(-16 * 256, 16 * 256))
            }
        }
    }

    /// What the coordinates of a quad change by.
    fn steps(&self, quad: [&Payload; 3]) -> Steps {
        let quad = quad.map(|payload| &payload.coordinates);
        Steps::of_quad(quad, self.footing.cube)
    }

    /// A gradient descriptor; without derivatives it is the level that a sample of the quad takes.
    fn gradient(&self, gradient: Gradient, payload: &Payload, quad: [&Payload; 3]) -> [u32; 2] {
        let most = self.sampler.most_probes();
        let mut probes = if gradient.derivatives {
            Steps::of_derivatives(&payload.derivatives).probes(&self.footing, most)
        } else {
            Probes::one(self.steps(quad).probes(&self.footing, most).level)
        };
        if !gradient.no_bias {
            probes.level = probes.level.saturating_add(self.sampler.bias());
        }
        if !gradient.no_clamp {
            probes.level = self.sampler.clamped(probes.level);
        }
        probes.descriptor()
    }
}
