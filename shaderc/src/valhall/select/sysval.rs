//! System values: what the hardware puts in registers before a thread starts. Where, `eitri_isa::preload` says.
//!
//! Facts: hardware/compiler-abi.md 3.6, graphics-compiler.md 3.

use super::Selector;
use crate::ir::{self, Axis, SysVal};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{
    self, Half, Instr, Modifier, Op, Operand, Register, Select, Source, Sources, Special, Value,
    Word,
};
use eitri_isa::preload::{Preload, Stage};
use smallvec::smallvec;

/// What the hardware puts in a register for a system value; none for what it keeps elsewhere.
fn preload(sysval: SysVal) -> Option<Preload> {
    Some(match sysval {
        SysVal::LocalId(Axis::X) => Preload::LocalIdX,
        SysVal::LocalId(Axis::Y) => Preload::LocalIdY,
        SysVal::LocalId(Axis::Z) => Preload::LocalIdZ,
        SysVal::WorkgroupId(Axis::X) => Preload::WorkgroupIdX,
        SysVal::WorkgroupId(Axis::Y) => Preload::WorkgroupIdY,
        SysVal::WorkgroupId(Axis::Z) => Preload::WorkgroupIdZ,
        SysVal::GlobalId(Axis::X) => Preload::GlobalIdX,
        SysVal::GlobalId(Axis::Y) => Preload::GlobalIdY,
        SysVal::GlobalId(Axis::Z) => Preload::GlobalIdZ,
        SysVal::VertexIndex => Preload::VertexIndex,
        SysVal::InstanceIndex => Preload::InstanceIndex,
        SysVal::DrawIndex => Preload::DrawIndex,
        SysVal::PixelX => Preload::PixelX,
        SysVal::PixelY => Preload::PixelY,
        SysVal::FrontFacing => Preload::PrimitiveFlags,
        SysVal::SampleId => Preload::SampleId,
        SysVal::SampleMaskIn | SysVal::HelperInvocation => Preload::SampleMask,
        SysVal::PrimitiveId => Preload::PrimitiveId,
        SysVal::Layer => Preload::Layer,
        SysVal::LaneId
        | SysVal::OutputMask
        | SysVal::FragZ
        | SysVal::PointX
        | SysVal::PointY
        | SysVal::SampleX
        | SysVal::SampleY => return None,
    })
}

/// The stage of a function, as the table of preloads knows it.
pub(super) fn stage(stage: ir::Stage) -> Stage {
    match stage {
        ir::Stage::Compute => Stage::Compute,
        ir::Stage::Vertex(_) => Stage::Vertex,
        ir::Stage::Fragment(_) => Stage::Fragment,
    }
}

impl Selector<'_> {
    pub(super) fn sysval(&mut self, sysval: SysVal, result: ir::Value) -> Result<(), Unsupported> {
        match sysval {
            // In a register, as not everything can read it.
            SysVal::LaneId => self.special(Special::LaneId, result),
            SysVal::OutputMask => self.special(Special::ShaderOutput, result),
            SysVal::FrontFacing | SysVal::HelperInvocation => {
                // The first is 0 where the primitive faces the front, the other where the primitive covers no sample.
                let word = self.arrived(sysval)?;
                let instr = Instr {
                    sources: smallvec![word, Source::constant(0), Source::constant(0)],
                    ..Instr::new(Op::ICmpOrU)
                };
                self.define(result, instr.with(Modifier::Eq).with(Modifier::ResultMask));
            }
            SysVal::FragZ | SysVal::PointX | SysVal::PointY => self.special_varying(sysval, result),
            SysVal::SampleX | SysVal::SampleY => self.sample_position(sysval, result)?,
            _ => {
                let (op, sources) = self.arrival(sysval)?;
                let instr = Instr {
                    sources,
                    ..Instr::new(op)
                };
                self.define(result, instr);
            }
        }
        Ok(())
    }

    fn special(&mut self, special: Special, result: ir::Value) {
        let source = Source::plain(Operand::Special(special, Half::Low));
        let instr = Instr {
            sources: smallvec![source],
            ..Instr::new(Op::Mov)
        };
        self.define(result, instr);
    }

    /// What arrives in a register for a system value, alone in a word.
    pub(super) fn arrived(&mut self, sysval: SysVal) -> Result<Source, Unsupported> {
        Ok(match self.arrival(sysval)? {
            (Op::Mov, sources) => sources[0],
            (op, sources) => self.compute(op, &sources),
        })
    }

    /// The half of a register in which a system value arrives, if it is one of 16 bits.
    pub(super) fn arrived_half(&mut self, value: ir::Value) -> Option<Source> {
        let ir::Op::SysVal(sysval) = self.ir.def_inst(value)?.op else {
            return None;
        };
        let row = preload(sysval)?.of(stage(self.ir.stage))?;
        if row.is_whole() || row.bits != 16 {
            return None;
        }
        match self.arrival(sysval) {
            Ok((Op::U16ToU32, sources)) => sources.first().copied(),
            _ => None,
        }
    }

    /// What makes a system value of the register in which it arrives: a move where it has all of it.
    fn arrival(&mut self, sysval: SysVal) -> Result<(Op, Sources), Unsupported> {
        let row = preload(sysval).and_then(|value| value.of(stage(self.ir.stage)));
        let row = row.ok_or_else(|| self.unsupported(&sysval.name()))?;
        let whole = self.preloaded(row.register);
        if row.is_whole() {
            return Ok((Op::Mov, smallvec![whole]));
        }
        let half = match row.shift {
            0 => Select::H0,
            _ => Select::H1,
        };
        if row.bits == 16 {
            return Ok((Op::U16ToU32, smallvec![whole.select(half)]));
        }
        let shift = Source::constant(row.shift.into()).select(Select::B0);
        let mask = Source::constant((1 << row.bits) - 1);
        Ok((Op::RShiftAnd, smallvec![whole, shift, mask]))
    }

    /// The word that register `number` has at the start.
    pub(super) fn preloaded(&mut self, number: u8) -> Source {
        let Some(register) = Register::new(number) else {
            return Source::constant(0);
        };
        let value = *self
            .preloads
            .entry(register)
            .or_insert_with(|| self.function.new_value());
        Source::value(value)
    }

    /// Copies the preloaded words at the start, where their registers are free to be reused.
    pub(super) fn finish_preloads(&mut self) {
        let preloads: Vec<(Register, Value)> =
            std::mem::take(&mut self.preloads).into_iter().collect();
        let mut copies = Vec::with_capacity(preloads.len());
        for (register, value) in preloads {
            let arrived = Word::Value(self.function.new_value());
            self.function.preloads.push(mir::Preload {
                dest: arrived,
                register,
            });
            copies.push(Instr::copy(Word::Value(value), arrived, Default::default()));
        }
        if let Some(entry) = self.function.blocks.first_mut() {
            entry.instrs.splice(0..0, copies);
        }
    }
}
