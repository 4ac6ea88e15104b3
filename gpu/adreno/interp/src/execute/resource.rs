//! Memory by descriptor: storage and uniform buffers (category 6; `texel` has typed accesses).
//!
//! Facts: hardware/ir3-isa.md sections 12, 14 and 16.

use eitri_ir3_isa::{Field, IndexMode, Op, Operand, Reg, Type};

use super::Step;
use super::memory::Change;
use crate::fault::FaultKind;
use crate::memory::{Place, load, slice, store};

impl Step<'_> {
    pub(super) fn resource(&mut self) -> Result<(), FaultKind> {
        if self.instr.flag(Field::Typed) {
            return self.typed();
        }
        let counts = matches!(self.instr.op(), Op::Ldc | Op::ResinfoB);
        if !counts && self.instr.number(Field::D) != Some(1) {
            return Err(FaultKind::Unknown(
                "an untyped access with several coordinates",
            ));
        }
        match self.instr.op() {
            Op::Ldc => self.load_uniform(),
            Op::LdibB => self.load_elements(),
            Op::StibB => self.store_elements(),
            _ => self.size(),
        }
    }

    /// The descriptor that a lane means.
    pub(super) fn place(&self, field: Field, lane: u32) -> Result<Place, FaultKind> {
        let of_lane = |lane| match self.field(field)?.operand {
            Operand::Imm(index, _) => Ok(index as u32),
            Operand::Reg(reg) => self.element(reg, 0, lane),
            _ => Err(FaultKind::Unknown("this index of a resource")),
        };
        let index = of_lane(lane)?;
        if self.instr.index_mode() == Some(IndexMode::Uniform)
            && of_lane(self.lanes.lowest())? != index
        {
            return Err(FaultKind::NotUniform);
        }
        let set = self.instr.number(Field::Base).unwrap_or(0) as u32;
        Ok(if self.instr.flag(Field::Bindless) {
            Place::Bindless { set, index }
        } else {
            Place::Slot(index)
        })
    }

    /// The bytes of an element of a buffer; `None` if they lie outside.
    fn element_bytes(
        &mut self,
        place: Place,
        offset: u64,
        size: u32,
    ) -> Result<Option<&mut [u8]>, FaultKind> {
        let buffer = self.memory.buffers.get_mut(&place);
        let buffer = buffer.ok_or(FaultKind::Resource(place))?;
        let bytes = slice(buffer, offset, size as usize);
        // FACT: what accesses outside of a buffer do is not stated; as Vulkan's robust access allows, they read 0 and write nothing
        // here. Settled by reading and writing beyond the size of a descriptor on a device.
        if bytes.is_none() {
            self.out_of_bounds += 1;
        }
        Ok(bytes)
    }

    /// Which components an access has, and the bytes of each.
    fn shape(&self) -> (u32, u32) {
        let count = self.instr.number(Field::TypeSize).unwrap_or(1) as u32;
        (count, self.data_type().bits_wide() / 8)
    }

    /// The data registers of an access.
    fn data(&self) -> Result<Reg, FaultKind> {
        let reg = self.register(Field::Src1)?;
        Ok(Reg::of_number(reg.number(), self.data_type().width()))
    }

    /// The byte offset of an access, whose index counts elements of its type.
    fn offset(&self, lane: u32, size: u32) -> Result<u64, FaultKind> {
        let index = self.element(self.register(Field::Src2)?, 0, lane)?;
        Ok(u64::from(index) * u64::from(size))
    }

    fn load_elements(&mut self) -> Result<(), FaultKind> {
        let (dst, (count, size)) = (self.data()?, self.shape());
        let mut values = Vec::new();
        self.each_lane(|step, lane| {
            let place = step.place(Field::Ssbo, lane)?;
            let offset = step.offset(lane, size)?;
            for index in 0..count {
                let at = offset + u64::from(index * size);
                let value = step
                    .element_bytes(place, at, size)?
                    .map_or(0, |bytes| load(bytes));
                values.push((lane, index, step.extended(value)));
            }
            Ok(())
        })?;
        for (lane, index, value) in values {
            self.set_element(dst, index, lane, value)?;
        }
        Ok(())
    }

    fn store_elements(&mut self) -> Result<(), FaultKind> {
        let (src, (count, size)) = (self.data()?, self.shape());
        self.each_lane(|step, lane| {
            let place = step.place(Field::Ssbo, lane)?;
            let offset = step.offset(lane, size)?;
            for index in 0..count {
                let value = step.element(src, index, lane)?;
                let at = offset + u64::from(index * size);
                if let Some(bytes) = step.element_bytes(place, at, size)? {
                    store(bytes, value);
                }
            }
            Ok(())
        })
    }

    /// How many elements a buffer has: x; y and z are written, too.
    fn size(&mut self) -> Result<(), FaultKind> {
        let dst = self.register(Field::Dst)?;
        let dst = Reg::of_number(dst.number(), self.data_type().width());
        // 16-bit descriptors count 16-bit elements; the type says which one is meant.
        let size = match self.data_type() {
            Type::U16 | Type::S16 | Type::F16 => 2,
            _ => 4,
        };
        self.each_lane(|step, lane| {
            let place = step.place(Field::Ssbo, lane)?;
            if step.memory.images.contains_key(&place) {
                return step.image_size(dst, place, lane);
            }
            let buffer = step.memory.buffers.get(&place);
            let bytes = buffer.ok_or(FaultKind::Resource(place))?.len();
            let elements = bytes as u32 / size;
            for (index, value) in [elements, 1, 1].into_iter().enumerate() {
                step.set_element(dst, index as u32, lane, value)?;
            }
            Ok(())
        })
    }

    /// Dwords of a uniform buffer, from a component of a vec4.
    fn load_uniform(&mut self) -> Result<(), FaultKind> {
        let dst = self.register(Field::Dst)?;
        let count = self.instr.number(Field::TypeSize).unwrap_or(1) as u32;
        let first = self.instr.bits(Field::Offset).unwrap_or(0);
        let mut values = Vec::new();
        self.each_lane(|step, lane| {
            let place = step.place(Field::Src2, lane)?;
            let vec4 = match step.field(Field::Src1)?.operand {
                Operand::Imm(offset, _) => offset as u32,
                Operand::Reg(reg) => step.element(reg, 0, lane)?,
                _ => return Err(FaultKind::Unknown("this offset of a uniform buffer")),
            };
            for index in 0..count {
                let at = u64::from(vec4) * 16 + u64::from((first + index) * 4);
                let value = step
                    .element_bytes(place, at, 4)?
                    .map_or(0, |bytes| load(bytes));
                values.push((lane, index, value));
            }
            Ok(())
        })?;
        for (lane, index, value) in values {
            self.set_element(dst, index, lane, value)?;
        }
        Ok(())
    }

    /// An atomic operation on a buffer: one lane after the other. The result overwrites the first register, data follow it.
    pub(super) fn resource_atomic(&mut self, change: Change) -> Result<(), FaultKind> {
        if self.instr.flag(Field::Typed) {
            return self.texel_atomic(change);
        }
        let reg = self.data()?;
        let signed = self.data_type().is_signed();
        self.each_lane(|step, lane| {
            let place = step.place(Field::Ssbo, lane)?;
            let offset = step.offset(lane, 4)?;
            let value = step.element(reg, 1, lane)?;
            let compare = match change {
                Change::CompareExchange => step.element(reg, 2, lane)?,
                _ => 0,
            };
            let mut old = 0;
            if let Some(bytes) = step.element_bytes(place, offset, 4)? {
                old = load(bytes);
                store(bytes, change.apply(old, value, compare, signed)?);
            }
            step.set_element(reg, 0, lane, old)
        })
    }
}
