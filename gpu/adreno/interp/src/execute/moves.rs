//! Moves and conversions (category 1).
//!
//! Facts: hardware/ir3-isa.md sections 2, 10 and 16.

use eitri_ir3_isa::{Dst, Field, File, Op, Operand, Reg, Round, Type};

use super::{Reading, Step};
use crate::fault::FaultKind;
use crate::number::convert;

impl Step<'_> {
    pub(super) fn moves(&mut self) -> Result<(), FaultKind> {
        match self.instr.op() {
            Op::Movmsk => self.mask(),
            Op::Swz | Op::Gat | Op::Sct => self.multiple(),
            _ => self.mov(),
        }
    }

    fn types(&self) -> (Type, Type, Round) {
        let ty = |field| self.instr.type_of(field).unwrap_or(Type::U32);
        let round = self.instr.round().unwrap_or(Round::Zero);
        (ty(Field::SrcType), ty(Field::DstType), round)
    }

    fn mov(&mut self) -> Result<(), FaultKind> {
        let (from, to, round) = self.types();
        let (dst, src) = (self.dest()?, self.field(Field::Src)?);
        let reading = if from.is_float() {
            Reading::Float
        } else {
            Reading::Int
        };
        // An immediate is its bits, whatever the type.
        let immediate = match src.operand {
            Operand::Imm(value, _) => Some(value as u32),
            _ => None,
        };
        let to_shared = matches!(dst, Dst::Reg(reg) if reg.file() == File::Shared);
        let from_normal = matches!(src.operand, Operand::Reg(reg) if reg.file() == File::Normal);
        for repeat in 0..=self.instr.repeat() {
            let value = |step: &Self, lane| {
                let bits = match immediate {
                    Some(bits) => bits,
                    None => step.source(src, repeat, lane, reading)?,
                };
                Ok(convert(bits, from, to, round))
            };
            if let (true, true, Dst::Reg(reg)) = (to_shared, from_normal, dst) {
                // A move from a normal register takes the value of the lowest active lane.
                let value = value(self, self.lanes.lowest())?;
                self.set_shared(reg, repeat, value)?;
                continue;
            }
            self.each_lane(|step, lane| {
                let value = value(step, lane)?;
                step.write(dst, repeat, lane, value)
            })?;
        }
        Ok(())
    }

    fn set_shared(&mut self, reg: Reg, skip: u8, value: u32) -> Result<(), FaultKind> {
        let number = usize::from(reg.number() - Reg::NORMAL + skip);
        let register = self.wave.registers.shared.get_mut(number);
        *register.ok_or(FaultKind::Register(crate::fault::Named(reg)))? = value;
        Ok(())
    }

    /// Words of the set of active lanes.
    fn mask(&mut self) -> Result<(), FaultKind> {
        let dst = self.dest()?;
        for word in 0..=self.instr.repeat() {
            let value = (self.lanes.0 >> (32 * u32::from(word))) as u32;
            match dst {
                Dst::Reg(reg) if reg.file() == File::Shared => self.set_shared(reg, word, value)?,
                _ => self.each_lane(|step, lane| step.write(dst, word, lane, value))?,
            }
        }
        Ok(())
    }

    /// Several moves at once: everything is read before anything is written.
    fn multiple(&mut self) -> Result<(), FaultKind> {
        let (from, to, round) = self.types();
        let fields: &[Field] = match self.instr.op() {
            Op::Swz => &[Field::Src0, Field::Src1],
            Op::Gat => &[Field::Src0, Field::Src1, Field::Src2, Field::Src3],
            _ => &[Field::Src0],
        };
        let mut sources = Vec::new();
        for field in fields {
            let reg = self.register(*field)?;
            let count = if self.instr.op() == Op::Sct { 4 } else { 1 };
            sources.extend((0..count).map(|skip| (reg, skip)));
        }
        let mut dests = Vec::new();
        for field in [Field::Dst0, Field::Dst1, Field::Dst2, Field::Dst3] {
            let Some(reg) = self.instr.reg(field) else {
                continue;
            };
            let count = if self.instr.op() == Op::Gat { 4 } else { 1 };
            dests.extend((0..count).map(|skip| (reg, skip)));
        }
        self.each_lane(|step, lane| {
            let read = |(reg, skip): &(Reg, u32)| step.element(*reg, *skip, lane);
            let values: Vec<u32> = sources.iter().map(read).collect::<Result<_, _>>()?;
            for ((reg, skip), value) in dests.iter().zip(values) {
                let value = convert(value, from, to, round);
                step.set_element(*reg, *skip, lane, value)?;
            }
            Ok(())
        })
    }
}
