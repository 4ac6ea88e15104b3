//! What instructions do, a file a category. Hazards were checked before: here values are always there.
//!
//! Facts: hardware/ir3-isa.md sections 2 to 13, 15 and 16.

mod alu2;
mod alu3;
mod flow;
mod memory;
mod moves;
mod quad;
mod resource;
mod special;
mod texel;
mod texture;

use eitri_ir3_isa::{
    Access, ConstReg, Dst, Field, File, Gen, Instr, Operand, Reg, Role, Round, Src, Width,
};

use crate::fault::{FaultKind, Named};
use crate::lanes::Lanes;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::number;
use crate::wave::Wave;

/// Where lanes go after an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    /// To the next one.
    Next,
    /// Some of them to another.
    Branch {
        /// Which.
        taken: Lanes,
        /// Where, relative to the branch.
        offset: i32,
    },
    /// Nowhere: the program has ended.
    End,
    /// To the next one, when all waves are here.
    Barrier,
}

/// How an operation reads its sources: what their modifiers mean, and how a constant becomes a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Floats.
    Float,
    /// Integers.
    Int,
    /// Integers whose modifiers mean something: absneg.s.
    IntSign,
    /// Bits: a negation inverts.
    Bits,
}

/// One instruction of one wave.
pub(crate) struct Step<'a> {
    pub(crate) launch: &'a Launch,
    pub(crate) generation: Gen,
    pub(crate) memory: &'a mut Memory,
    /// Shared memory of the workgroup.
    pub(crate) local: &'a mut [u8],
    pub(crate) wave: &'a mut Wave,
    pub(crate) instr: Instr,
    pub(crate) lanes: Lanes,
    /// The lane that is executed, for a fault.
    pub(crate) lane: Option<u32>,
    pub(crate) out_of_bounds: u64,
}

impl Step<'_> {
    pub(crate) fn execute(&mut self) -> Result<Flow, FaultKind> {
        match self.instr.category() {
            0 => return self.flow(),
            1 => self.moves()?,
            2 => self.alu2()?,
            3 => self.alu3()?,
            4 => self.special()?,
            5 => self.quad()?,
            6 => self.memory()?,
            _ => return self.barrier(),
        }
        Ok(Flow::Next)
    }

    /// Does something for each active lane; a fault names the lane.
    fn each_lane(
        &mut self,
        mut what: impl FnMut(&mut Self, u32) -> Result<(), FaultKind>,
    ) -> Result<(), FaultKind> {
        for lane in self.lanes.iter() {
            self.lane = Some(lane);
            what(self, lane)?;
        }
        self.lane = None;
        Ok(())
    }

    /// A word of the const file.
    fn constant(&self, number: i32) -> Result<u32, FaultKind> {
        if !(0..i32::from(ConstReg::COUNT)).contains(&number) {
            return Err(FaultKind::Relative(number));
        }
        let number = number as u32;
        let word = self.launch.constants.get(number as usize).copied();
        word.ok_or(FaultKind::Constant {
            number,
            length: self.launch.constants.len() as u32,
        })
    }

    /// A constant as a source of this width.
    fn constant_source(
        &self,
        number: i32,
        width: Width,
        reading: Reading,
    ) -> Result<u32, FaultKind> {
        let word = self.constant(number)?;
        Ok(match (width, reading) {
            (Width::Full, _) => word,
            // FACT: how a constant is rounded to a half is not known (hardware/ir3-isa.md 2); to nearest even here. Settled by reading
            // a constant between two halves as one on a device.
            (Width::Half, Reading::Float) => {
                number::bits(number::float(word, Width::Full), Width::Half, Round::Even)
            }
            (Width::Half, _) => word & 0xFFFF,
        })
    }

    /// The value of a source in a step of the instruction, with its modifiers.
    fn source(&self, src: Src, repeat: u8, lane: u32, reading: Reading) -> Result<u32, FaultKind> {
        let skip = if src.r { repeat } else { 0 };
        let further = i32::from(skip);
        let registers = &self.wave.registers;
        let value = match src.operand {
            Operand::Reg(reg) => {
                let number = reg.number().wrapping_add(skip);
                registers.get(Reg::of_number(number, reg.width()), lane)?
            }
            Operand::Const(constant, width) => {
                self.constant_source(i32::from(constant.number()) + further, width, reading)?
            }
            Operand::RelReg(offset, width) => {
                let reg = registers.relative(lane, i32::from(offset) + further, width)?;
                registers.get(reg, lane)?
            }
            Operand::RelConst(offset, width) => {
                let number = registers.a0(lane) + i32::from(offset) + further;
                self.constant_source(number, width, reading)?
            }
            Operand::Imm(_, _) if reading == Reading::Float => {
                return Err(FaultKind::Unknown(
                    "an integer immediate of a float operation",
                ));
            }
            Operand::Imm(value, width) => number::truncate(value as u32, width),
            Operand::Float(value, Width::Full) => value.f32_bits(),
            Operand::Float(value, Width::Half) => u32::from(value.f16_bits()),
        };
        modified(value, src, reading)
    }

    /// Writes a result of a step in a lane. Predicates take 0 and 1.
    fn write(&mut self, dst: Dst, repeat: u8, lane: u32, value: u32) -> Result<(), FaultKind> {
        let reg = match dst {
            Dst::Reg(reg) => {
                let number = reg.number().wrapping_add(repeat);
                Reg::of_number(number, reg.width())
            }
            Dst::Rel(offset, width) => {
                let offset = i32::from(offset) + i32::from(repeat);
                self.wave.registers.relative(lane, offset, width)?
            }
        };
        match reg.file() {
            File::Predicate => {
                let lanes = &mut self.wave.registers.predicates[usize::from(reg.number() % 4)];
                *lanes = match value {
                    0 => lanes.without(Lanes::one(lane)),
                    1 => lanes.with(Lanes::one(lane)),
                    other => return Err(FaultKind::Predicate(other)),
                };
                Ok(())
            }
            File::Shared => {
                if self.lanes.count() != 1 {
                    return Err(FaultKind::SharedWrite(self.lanes.count()));
                }
                self.wave.registers.shared[usize::from(reg.number() - Reg::NORMAL)] = value;
                Ok(())
            }
            _ => self.wave.registers.set(reg, lane, value),
        }
    }

    /// The destination.
    fn dest(&self) -> Result<Dst, FaultKind> {
        self.instr
            .dest()
            .ok_or(FaultKind::Register(Named(Reg::NONE)))
    }

    /// A source that the instruction has.
    fn field(&self, field: Field) -> Result<Src, FaultKind> {
        self.instr
            .source(field)
            .ok_or(FaultKind::Unknown("a reserved operand"))
    }

    /// The register of an operand that is one.
    fn register(&self, field: Field) -> Result<Reg, FaultKind> {
        let reg = self.instr.reg(field);
        reg.ok_or(FaultKind::Unknown("an operand that is no register"))
    }

    /// Register `index` of a vector, in a lane.
    fn element(&self, first: Reg, index: u32, lane: u32) -> Result<u32, FaultKind> {
        let number = first.number().wrapping_add(index as u8);
        let reg = Reg::of_number(number, first.width());
        self.wave.registers.get(reg, lane)
    }

    /// Writes register `index` of a vector, in a lane.
    fn set_element(
        &mut self,
        first: Reg,
        index: u32,
        lane: u32,
        value: u32,
    ) -> Result<(), FaultKind> {
        self.write(Dst::Reg(first), index as u8, lane, value)
    }
}

/// The offset of the relative operand that an access is.
pub(crate) fn relative_offset(instr: &Instr, access: &Access) -> i32 {
    if access.role == Role::Write {
        return match instr.dest() {
            Some(Dst::Rel(offset, _)) => i32::from(offset),
            _ => 0,
        };
    }
    match instr.source(access.field).map(|src| src.operand) {
        Some(Operand::RelReg(offset, _) | Operand::RelConst(offset, _)) => i32::from(offset),
        _ => 0,
    }
}

/// A value after its modifiers.
fn modified(value: u32, src: Src, reading: Reading) -> Result<u32, FaultKind> {
    let width = src.operand.width();
    if !src.neg && !src.abs {
        return Ok(value);
    }
    match reading {
        Reading::Float => {
            let sign = number::sign_bit(width);
            let value = if src.abs { value & !sign } else { value };
            Ok(if src.neg { value ^ sign } else { value })
        }
        Reading::IntSign => {
            let signed = number::signed(value, width);
            let signed = if src.abs { signed.abs() } else { signed };
            let signed = if src.neg { -signed } else { signed };
            Ok(number::truncate(signed as u32, width))
        }
        Reading::Bits if !src.abs => Ok(number::truncate(!value, width)),
        Reading::Bits | Reading::Int => {
            Err(FaultKind::Unknown("a sign modifier of this operation"))
        }
    }
}
