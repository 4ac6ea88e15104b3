//! Textures: texels that are fetched or sampled, and sizes (category 5).
//!
//! Facts: hardware/ir3-isa.md sections 11 and 16. What a sampler makes of texels is the API's.

use eitri_ir3_isa::{DescMode, Field, Op, Operand, Reg, Type};
use eitri_texels::{Texel, Wanted, sample};

use super::Step;
use crate::fault::FaultKind;
use crate::memory::Place;

/// The descriptors of an instruction in a lane.
struct Descriptors {
    texture: Place,
    sampler: Place,
}

impl Step<'_> {
    pub(super) fn texture(&mut self) -> Result<(), FaultKind> {
        if self.instr.flag(Field::P) {
            return Err(FaultKind::NotModelled("projection"));
        }
        match self.instr.op() {
            Op::Isam | Op::Isaml => self.texture_results(Self::fetch),
            Op::Saml => self.texture_results(Self::sample),
            Op::Getsize => self.texture_results(|step, lane| {
                let place = step.descriptors(lane)?.texture;
                let level = step.element(step.register(Field::Src1)?, 0, lane)?;
                Ok(step.image(place)?.sizes(level))
            }),
            Op::Getbuf => self.texture_results(|step, lane| {
                let place = step.descriptors(lane)?.texture;
                let [elements, ..] = step.image(place)?.sizes(0);
                if step.instr.bits(Field::WrMask) != Some(1) {
                    return Err(FaultKind::Unknown("more than the number of elements"));
                }
                Ok([elements, 0, 0, 0])
            }),
            _ => Err(FaultKind::NotModelled("these textures")),
        }
    }

    /// Texture and sampler: both in the instruction, or in a pair of registers.
    fn descriptors(&self, lane: u32) -> Result<Descriptors, FaultKind> {
        let other = FaultKind::NotModelled("this kind of a texture's descriptor");
        let of_lane = |lane| match self.field(Field::Src3)?.operand {
            Operand::Imm(bits, _) => Ok((bits as u32 >> 4, bits as u32 & 15)),
            Operand::Reg(reg) => Ok((self.element(reg, 0, lane)?, self.element(reg, 1, lane)?)),
            _ => Err(FaultKind::Unknown("this index of a texture")),
        };
        let mode = self.instr.desc_mode();
        match mode {
            Some(
                DescMode::BindlessImm | DescMode::BindlessUniform | DescMode::BindlessNonUniform,
            ) => {}
            _ => return Err(other),
        }
        let found = of_lane(lane)?;
        if mode == Some(DescMode::BindlessUniform) && of_lane(self.lanes.lowest())? != found {
            return Err(FaultKind::NotUniform);
        }
        let bits = |field| self.instr.bits(field).unwrap_or(0);
        let set = bits(Field::BaseHi) << 1 | bits(Field::Base);
        let (texture, sampler) = found;
        Ok(Descriptors {
            texture: Place::Bindless {
                set,
                index: texture,
            },
            sampler: Place::Bindless {
                set,
                index: sampler,
            },
        })
    }

    /// Writes the components that are asked for, each behind the destination by its number.
    fn texture_results(
        &mut self,
        of_lane: impl Fn(&mut Self, u32) -> Result<[u32; 4], FaultKind>,
    ) -> Result<(), FaultKind> {
        let dst = self.register(Field::Dst)?;
        let dst = Reg::of_number(dst.number(), self.data_type().width());
        let components = self.components();
        let mut results = Vec::new();
        self.each_lane(|step, lane| {
            results.push((lane, of_lane(step, lane)?));
            Ok(())
        })?;
        for (lane, words) in results {
            for &component in &components {
                self.set_element(dst, component, lane, words[component as usize])?;
            }
        }
        Ok(())
    }

    /// Words of the vectors of sources: coordinates, reference and layer; then offsets and the level.
    fn vectors(&self, lane: u32) -> Result<(Vec<u32>, Vec<u32>), FaultKind> {
        let vector = |field: Field| -> Result<Vec<u32>, FaultKind> {
            let count = u32::from(self.instr.registers_in(field));
            if count == 0 {
                return Ok(vec![]);
            }
            let first = self.register(field)?;
            (0..count)
                .map(|index| self.element(first, index, lane))
                .collect()
        };
        Ok((vector(Field::Src1)?, vector(Field::Src2)?))
    }

    fn fetch(&mut self, lane: u32) -> Result<[u32; 4], FaultKind> {
        let (places, extra) = self.vectors(lane)?;
        let coordinates = 2 + usize::from(self.instr.flag(Field::D3));
        let signed = |word: Option<&u32>| i64::from(word.map_or(0, |word| *word as i32));
        let mut texel = Texel::default();
        for (axis, to) in texel.at.iter_mut().enumerate().take(coordinates) {
            *to = signed(places.get(axis));
        }
        if self.instr.flag(Field::A) {
            texel.layer = signed(places.get(coordinates));
        }
        let offsets = match self.instr.flag(Field::O) {
            true => coordinates,
            false => 0,
        };
        for (axis, offset) in extra.iter().enumerate().take(offsets) {
            texel.at[axis] += i64::from(*offset as i32);
        }
        if self.instr.op() == Op::Isaml {
            texel.level = signed(extra.get(offsets));
        }
        let ty = self.data_type();
        let place = self.descriptors(lane)?.texture;
        let image = self.image(place)?;
        Self::check_type(image, ty)?;
        let (inside, words) = (image.has(texel), image.load(texel));
        self.out_of_bounds += u64::from(!inside);
        Ok(words)
    }

    fn sample(&mut self, lane: u32) -> Result<[u32; 4], FaultKind> {
        let (places, extra) = self.vectors(lane)?;
        let coordinates = 2 + usize::from(self.instr.flag(Field::D3));
        let float = |word: Option<&u32>| f64::from(f32::from_bits(word.copied().unwrap_or(0)));
        let mut wanted = Wanted {
            axes: coordinates,
            ..Wanted::default()
        };
        for (axis, to) in wanted.at.iter_mut().enumerate().take(coordinates) {
            *to = float(places.get(axis));
        }
        let mut rest = places.get(coordinates..).unwrap_or(&[]).iter();
        if self.instr.flag(Field::S) {
            wanted.reference = Some(float(rest.next()));
        }
        if self.instr.flag(Field::A) {
            wanted.layer = float(rest.next());
        }
        let offsets = match self.instr.flag(Field::O) {
            true => coordinates,
            false => 0,
        };
        for (axis, offset) in extra.iter().enumerate().take(offsets) {
            wanted.offset[axis] = i64::from(*offset as i32);
        }
        wanted.level = float(extra.get(offsets));
        let ty = self.data_type();
        let Descriptors { texture, sampler } = self.descriptors(lane)?;
        let known = self.memory.samplers.get(&sampler).cloned();
        let known = known.ok_or(FaultKind::Resource(sampler))?;
        let image = self.image(texture)?;
        match wanted.reference {
            Some(_) if ty == Type::F32 => {}
            Some(_) => return Err(FaultKind::Unknown("a comparison that gives no float")),
            None => Self::check_type(image, ty)?,
        }
        Ok(sample(image, &known, &wanted))
    }
}
