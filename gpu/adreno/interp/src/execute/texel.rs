//! Texels by coordinates: typed accesses of images and texel buffers (category 6).
//!
//! Facts: hardware/ir3-isa.md sections 12 and 16. What formats mean is the API's.

use eitri_ir3_isa::{Field, Op, Reg, Type};
use eitri_texels::{Image, Kind, Texel};

use super::Step;
use super::memory::Change;
use crate::fault::FaultKind;
use crate::memory::{Place, load, store};

impl Step<'_> {
    pub(super) fn typed(&mut self) -> Result<(), FaultKind> {
        match self.instr.op() {
            Op::LdibB => self.load_texels(),
            Op::StibB => self.store_texels(),
            _ => Err(FaultKind::Unknown("the size of a typed image")),
        }
    }

    /// The image of a descriptor.
    pub(super) fn image(&mut self, place: Place) -> Result<&mut Image, FaultKind> {
        let image = self.memory.images.get_mut(&place);
        image.ok_or(FaultKind::Resource(place))
    }

    /// Checks that texels of an image are what the instruction takes them for.
    pub(super) fn check_type(image: &Image, ty: Type) -> Result<(), FaultKind> {
        let kind = match ty {
            Type::F32 => Kind::Float,
            Type::S32 => Kind::Signed,
            Type::U32 => Kind::Unsigned,
            _ => return Err(FaultKind::NotModelled("texels of 16 bits")),
        };
        match image.format.kind() == kind {
            true => Ok(()),
            false => Err(FaultKind::Unknown(
                "texels of another type than their format's",
            )),
        }
    }

    /// The texel that a lane's coordinates name: the third is a layer where an image has layers.
    fn texel(&mut self, lane: u32) -> Result<(Place, Texel), FaultKind> {
        let place = self.place(Field::Ssbo, lane)?;
        let count = self.instr.number(Field::D).unwrap_or(1) as usize;
        let first = self.register(Field::Src2)?;
        let mut at = [0; 3];
        if count > at.len() {
            return Err(FaultKind::Unknown("a fourth coordinate"));
        }
        for (number, to) in at.iter_mut().enumerate().take(count) {
            *to = i64::from(self.element(first, number as u32, lane)?);
        }
        let ty = self.data_type();
        let image = self.image(place)?;
        Self::check_type(image, ty)?;
        let mut texel = Texel {
            at,
            ..Texel::default()
        };
        if image.layers > 1 {
            texel.layer = std::mem::take(&mut texel.at[2]);
        }
        // An image has as many coordinates as its descriptor says; what others mean is not known.
        let wanted = match (image.layers > 1 || image.size[2] > 1, image.size[1] > 1) {
            (true, _) => count == 3,
            (false, true) => count >= 2,
            (false, false) => true,
        };
        match wanted {
            true => Ok((place, texel)),
            false => Err(FaultKind::Unknown("fewer coordinates than the image has")),
        }
    }

    /// Counts an access outside of an image.
    fn note_outside(&mut self, place: Place, texel: Texel) -> Result<(), FaultKind> {
        if !self.image(place)?.has(texel) {
            self.out_of_bounds += 1;
        }
        Ok(())
    }

    /// The data registers: full ones.
    fn texel_data(&self) -> Result<Reg, FaultKind> {
        let reg = self.register(Field::Src1)?;
        Ok(Reg::of_number(reg.number(), self.data_type().width()))
    }

    fn load_texels(&mut self) -> Result<(), FaultKind> {
        let dst = self.texel_data()?;
        if self.instr.number(Field::TypeSize) != Some(4) {
            return Err(FaultKind::Unknown("a load of fewer components than four"));
        }
        let mut values = Vec::new();
        self.each_lane(|step, lane| {
            let (place, texel) = step.texel(lane)?;
            step.note_outside(place, texel)?;
            values.push((lane, step.image(place)?.load(texel)));
            Ok(())
        })?;
        for (lane, words) in values {
            for (index, word) in words.into_iter().enumerate() {
                self.set_element(dst, index as u32, lane, word)?;
            }
        }
        Ok(())
    }

    fn store_texels(&mut self) -> Result<(), FaultKind> {
        let src = self.texel_data()?;
        if self.instr.number(Field::TypeSize) != Some(4) {
            return Err(FaultKind::Unknown("a store of fewer components than four"));
        }
        self.each_lane(|step, lane| {
            let (place, texel) = step.texel(lane)?;
            step.note_outside(place, texel)?;
            let mut words = [0; 4];
            for (index, word) in words.iter_mut().enumerate() {
                *word = step.element(src, index as u32, lane)?;
            }
            step.image(place)?.store(texel, words);
            Ok(())
        })
    }

    /// Width, height, and depth or layers, in the three registers of a lane; of a buffer the number of its texels.
    pub(super) fn image_size(
        &mut self,
        dst: Reg,
        place: Place,
        lane: u32,
    ) -> Result<(), FaultKind> {
        let [x, y, z, layers] = self.image(place)?.sizes(0);
        // FACT: which of the three components has the layers of an array is not stated (hardware/ir3-isa.md 16); the third, as
        // coordinates have them. Settled by resinfo of an image with layers on a device.
        let last = if layers > 1 { layers } else { z };
        for (index, value) in [x, y, last].into_iter().enumerate() {
            self.set_element(dst, index as u32, lane, value)?;
        }
        Ok(())
    }

    /// An atomic operation on a texel of one word: one lane after the other.
    pub(super) fn texel_atomic(&mut self, change: Change) -> Result<(), FaultKind> {
        let reg = self.texel_data()?;
        let signed = self.data_type().is_signed();
        self.each_lane(|step, lane| {
            let (place, texel) = step.texel(lane)?;
            step.note_outside(place, texel)?;
            let value = step.element(reg, 1, lane)?;
            let compare = match change {
                Change::CompareExchange => step.element(reg, 2, lane)?,
                _ => 0,
            };
            let mut old = 0;
            if let Some(bytes) = step.image(place)?.word(texel) {
                old = load(bytes);
                store(bytes, change.apply(old, value, compare, signed)?);
            }
            step.set_element(reg, 0, lane, old)
        })
    }
}
