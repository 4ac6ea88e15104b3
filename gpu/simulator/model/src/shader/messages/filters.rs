//! Filters: what a texture message makes of texels, whoever reads them.
//!
//! Facts: hardware/graphics-texture.md 7.6; hardware/valhall-isa.md 11.10.

use super::super::detail::{Probes, Steps};
use super::super::footprint::{CORNERS, Footprint};
use super::super::format::{Colour, PixelFormat};
use super::super::lanes::WARP;
use super::super::sampling::{Coordinates, Footing, Reduction, Sampler};
use super::super::texture::{Texel, Texture};
use super::super::texture_request::{Gradient, Payload, TextureRequest, Wanted};
use super::super::typed::masked_registers;
use super::super::warp::bits;
use crate::fidelity::Inexact;
use eitri_isa::values::LodMode;

/// The bit of a format that says sRGB.
const SRGB: u32 = 1 << 20;

/// Who looks up descriptors and reads texels for a texture message.
pub(super) trait ReadTexels {
    /// Why a message is not done.
    type Stop;

    /// The texture that a handle names; `None` if there is none.
    fn texture(&mut self, handle: u32) -> Result<Option<Texture>, Self::Stop>;

    /// The same of a sampler.
    fn sampler(&mut self, handle: u32) -> Result<Option<Sampler>, Self::Stop>;

    /// The bits of a texel of this format; no bits where reads give 0.
    fn bits(
        &mut self,
        texture: &Texture,
        format: &PixelFormat,
        texel: Texel,
    ) -> Result<Option<u128>, Self::Stop>;

    /// The bits of a footprint's corners, read at once; `None`, with nothing read, if they are to be read one by one.
    #[inline]
    fn corners(
        &mut self,
        _format: &PixelFormat,
        _footprint: &Footprint,
    ) -> Option<[u128; CORNERS]> {
        None
    }

    /// The message asks for something that is not modelled.
    fn not_modelled(&mut self) -> Self::Stop;

    /// The result rests on something that is not established.
    fn meet(&mut self, inexact: Inexact);

    /// Whether anybody asks what results rest on.
    fn is_followed(&self) -> bool;
}

/// The registers that the running lanes get.
#[inline]
pub(super) fn filtered<R: ReadTexels>(
    reader: &mut R,
    request: &TextureRequest,
    payloads: &[Payload; WARP],
    lanes: u16,
) -> Result<[[u32; 4]; WARP], R::Stop> {
    let mut registers = [[0; 4]; WARP];
    // Most lanes have the handles of the lane before.
    let mut last: Option<([u32; 2], Option<Unit>)> = None;
    for lane in bits(lanes) {
        let payload = &payloads[lane];
        let handles = [payload.texture, payload.sampler];
        if last.as_ref().is_none_or(|(known, _)| *known != handles) {
            last = Some((handles, Unit::of(reader, request, handles)?));
        }
        let Some((_, Some(unit))) = &mut last else {
            continue;
        };
        let quad = (lane / 4, quad_of(payloads, lane));
        registers[lane] = match request.wanted {
            Wanted::Gradient(gradient) => {
                reader.meet(Inexact::GradientDescriptor);
                let [first, second] = unit.gradient(gradient, payload, quad.1);
                [first, second, 0, 0]
            }
            Wanted::Sample(mode) => {
                let colour = unit.sampled(reader, mode, (payload, quad))?;
                unit.registers(request, unit.texture.swizzled(colour))
            }
            Wanted::Gather(component) => {
                reader.meet(Inexact::GatherOrder);
                let gathered = unit.gathered(reader, component, payload)?;
                unit.registers(request, gathered)
            }
        };
    }
    Ok(registers)
}

/// The first, the right and the lower thread of a quad.
fn quad_of(payloads: &[Payload; WARP], lane: usize) -> [&Payload; 3] {
    let first = lane & 12;
    [&payloads[first], &payloads[first + 1], &payloads[first + 2]]
}

/// A texture and a sampler together.
struct Unit {
    texture: Texture,
    format: PixelFormat,
    sampler: Sampler,
    footing: Footing,
    shadow: bool,
    /// The probes of the last quad, by its number: its lanes share them.
    probes: Option<(usize, Probes)>,
}

impl Unit {
    /// Those of two handles; `None` if one names nothing.
    fn of<R: ReadTexels>(
        reader: &mut R,
        request: &TextureRequest,
        [texture, sampler]: [u32; 2],
    ) -> Result<Option<Unit>, R::Stop> {
        let texture = reader.texture(texture)?;
        let sampler = reader.sampler(sampler)?;
        let (Some(mut texture), Some(sampler)) = (texture, sampler) else {
            return Ok(None);
        };
        if sampler.skips_srgb() {
            texture.word &= !SRGB;
        }
        let Some(format) = PixelFormat::of(texture.word) else {
            return Err(reader.not_modelled());
        };
        let footing = Footing {
            axes: request.axes.into(),
            cube: request.cube,
            integer: format.is_integer(),
            ..texture.footing()
        };
        Ok(Some(Unit {
            texture,
            format,
            sampler,
            footing,
            shadow: request.shadow,
            probes: None,
        }))
    }

    /// The registers of a colour.
    fn registers(&self, request: &TextureRequest, colour: Colour) -> [u32; 4] {
        masked_registers((request.mask, request.narrow), colour, &self.format)
    }

    /// What a texel of a footprint gives, before the view's swizzle.
    #[inline]
    fn colour<R: ReadTexels>(
        &self,
        reader: &mut R,
        texel: Option<Texel>,
        payload: &Payload,
    ) -> Result<Colour, R::Stop> {
        let colour = match texel {
            None => {
                if self.format.lacks_components() {
                    reader.meet(Inexact::BorderComponents);
                }
                let (signed, integer) = (self.format.is_signed(), self.format.is_integer());
                self.format.border(self.sampler.border(signed, integer))
            }
            Some(texel) => match reader.bits(&self.texture, &self.format, texel)? {
                None => [0.0; 4],
                Some(bits) => self.format.unpack(bits),
            },
        };
        Ok(self.compared(colour, payload))
    }

    /// The colour of a texel, or for a shadow sampler the result of its comparison with the reference.
    #[inline]
    fn compared(&self, colour: Colour, payload: &Payload) -> Colour {
        if !self.shadow {
            return colour;
        }
        let reference = f64::from(payload.reference);
        // Depth that is a fraction is compared with one (graphics-texture.md 7.6 (9)).
        let reference = match self.format.is_unorm() {
            true => reference.clamp(0.0, 1.0),
            false => reference,
        };
        let holds = self.sampler.compares(colour[0], reference);
        [if holds { 1.0 } else { 0.0 }, 0.0, 0.0, 1.0]
    }

    /// Adds the texels of a footprint to what others have become. Inlined, so that the sums of a sample stay in registers of the host.
    #[inline(always)]
    fn add<R: ReadTexels>(
        &self,
        reader: &mut R,
        footprint: &Footprint,
        payload: &Payload,
        reduction: &mut Reduction,
    ) -> Result<(), R::Stop> {
        let Some(bits) = reader.corners(&self.format, footprint) else {
            return self.add_one_by_one(reader, footprint, payload, reduction);
        };
        for (bits, weight) in bits.into_iter().zip(footprint.weights) {
            let colour = self.compared(self.format.unpack(bits), payload);
            reduction.add(colour, weight);
        }
        Ok(())
    }

    /// As [`Unit::add`], of texels that are read one by one.
    #[inline(never)]
    fn add_one_by_one<R: ReadTexels>(
        &self,
        reader: &mut R,
        footprint: &Footprint,
        payload: &Payload,
        reduction: &mut Reduction,
    ) -> Result<(), R::Stop> {
        for corner in footprint.corners() {
            let colour = self.colour(reader, footprint.texel(corner), payload)?;
            reduction.add(colour, footprint.weights[corner]);
        }
        Ok(())
    }

    /// Notes that a footprint has a corner of a cube, where that is followed.
    fn note_corner<R: ReadTexels>(
        &self,
        reader: &mut R,
        visit: impl FnOnce(&mut dyn FnMut(&Footprint) -> Result<(), R::Stop>) -> Result<(), R::Stop>,
    ) -> Result<(), R::Stop> {
        if !self.footing.cube || !reader.is_followed() {
            return Ok(());
        }
        let mut count = 0;
        visit(&mut |footprint| {
            count += footprint.corners().count();
            Ok(())
        })?;
        // A texel beyond a corner is three instead of one.
        if matches!(count, 3 | 6 | 10 | 12) {
            reader.meet(Inexact::CubeCorner);
        }
        Ok(())
    }

    /// A component of the four texels of a gather.
    fn gathered<R: ReadTexels>(
        &self,
        reader: &mut R,
        component: u8,
        payload: &Payload,
    ) -> Result<Colour, R::Stop> {
        let (sampler, footing, at) = (&self.sampler, &self.footing, &payload.coordinates);
        let mut gathered = [0.0; 4];
        for (corner, to) in gathered.iter_mut().enumerate() {
            self.note_corner(reader, |mut add| {
                sampler.each_gathered(footing, at, corner, &mut add)
            })?;
            let mut reduction = sampler.reduction();
            sampler.each_gathered(footing, at, corner, &mut |footprint| {
                self.add(reader, footprint, payload, &mut reduction)
            })?;
            let colour = self.texture.swizzled(reduction.colour());
            *to = colour[usize::from(component) % 4];
        }
        Ok(gathered)
    }

    /// What a sample gives, before the view's swizzle: the mean of its probes.
    #[inline]
    fn sampled<R: ReadTexels>(
        &mut self,
        reader: &mut R,
        mode: LodMode,
        (payload, quad): (&Payload, (usize, [&Payload; 3])),
    ) -> Result<Colour, R::Stop> {
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
            reader.meet(Inexact::Anisotropy);
        }
        if reader.is_followed() && self.sampler.filter_is_open(&footing, level) {
            reader.meet(Inexact::FilterOfLevel);
        }
        let mut sum = [0.0; 4];
        for place in probes.places(&payload.coordinates) {
            let colour = self.probed(reader, &footing, (&place, level), payload)?;
            sum = core::array::from_fn(|index| sum[index] + colour[index]);
        }
        if probes.count == 1 {
            return Ok(sum);
        }
        Ok(sum.map(|component| component / f64::from(probes.count)))
    }

    /// What a probe gives.
    #[inline]
    fn probed<R: ReadTexels>(
        &self,
        reader: &mut R,
        footing: &Footing,
        (place, level): (&Coordinates, i64),
        payload: &Payload,
    ) -> Result<Colour, R::Stop> {
        let sampler = &self.sampler;
        self.note_corner(reader, |mut add| {
            sampler.each_footprint(footing, place, level, &mut add)
        })?;
        let mut reduction = sampler.reduction();
        sampler.each_footprint(footing, place, level, &mut |footprint| {
            self.add(reader, footprint, payload, &mut reduction)
        })?;
        Ok(reduction.colour())
    }

    /// Probes of a sample, and the instruction's bias, limited to 16 levels.
    fn probes(
        &mut self,
        mode: LodMode,
        payload: &Payload,
        (number, quad): (usize, [&Payload; 3]),
    ) -> (Probes, i64) {
        if !self.sampler.is_normalized() {
            return (Probes::one(0), 0);
        }
        let bias = match mode {
            LodMode::Zero => return (Probes::one(0), 0),
            LodMode::Explicit => return (Probes::one(payload.level), 0),
            LodMode::Grdesc => return (payload.probes, 0),
            LodMode::Computed | LodMode::ComputedForceDelta => 0,
            LodMode::ComputedBias | LodMode::ComputedBiasForceDelta => {
                payload.level.clamp(-16 * 256, 16 * 256)
            }
        };
        if let Some((known, probes)) = self.probes
            && known == number
        {
            return (probes, bias);
        }
        let steps = self.steps(quad);
        let probes = steps.probes(&self.footing, self.sampler.most_probes());
        self.probes = Some((number, probes));
        (probes, bias)
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
