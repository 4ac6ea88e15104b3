//! System values: what the hardware puts in registers before a compute thread starts.
//!
//! Facts: hardware/compiler-abi.md 3.1, 3.6.

use super::Selector;
use crate::ir::{self, Axis, SysVal};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{
    Half, Instr, Op, Operand, Preload, Register, Select, Source, Special, Value, Word,
};
use smallvec::smallvec;

/// Where a value arrives.
enum Arrival {
    /// It is the whole register.
    Whole(u8),
    /// It is one half of the register.
    Half(u8, Select),
    /// It is a special value.
    Special(Special),
}

/// Where a value of a compute shader arrives; none of other stages' values.
fn arrival(sysval: SysVal) -> Option<Arrival> {
    Some(match sysval {
        SysVal::LaneId => Arrival::Special(Special::LaneId),
        SysVal::LocalId(Axis::X) => Arrival::Half(55, Select::H0),
        SysVal::LocalId(Axis::Y) => Arrival::Half(55, Select::H1),
        SysVal::LocalId(Axis::Z) => Arrival::Half(56, Select::H0),
        SysVal::WorkgroupId(Axis::X) => Arrival::Whole(57),
        SysVal::WorkgroupId(Axis::Y) => Arrival::Whole(58),
        SysVal::WorkgroupId(Axis::Z) => Arrival::Whole(59),
        SysVal::GlobalId(Axis::X) => Arrival::Whole(60),
        SysVal::GlobalId(Axis::Y) => Arrival::Whole(61),
        SysVal::GlobalId(Axis::Z) => Arrival::Whole(62),
        _ => return None,
    })
}

impl Selector<'_> {
    pub(super) fn sysval(&mut self, sysval: SysVal, result: ir::Value) -> Result<(), Unsupported> {
        match arrival(sysval).ok_or_else(|| self.unsupported(&sysval.name()))? {
            Arrival::Whole(number) => {
                let source = self.preloaded(number);
                self.define(
                    result,
                    Instr {
                        sources: smallvec![source],
                        ..Instr::new(Op::Mov)
                    },
                );
            }
            // In a register, as not everything can read it.
            Arrival::Special(special) => {
                let source = Source::plain(Operand::Special(special, Half::Low));
                let instr = Instr {
                    sources: smallvec![source],
                    ..Instr::new(Op::Mov)
                };
                self.define(result, instr);
            }
            Arrival::Half(number, select) => {
                let source = self.preloaded(number).select(select);
                self.define(
                    result,
                    Instr {
                        sources: smallvec![source],
                        ..Instr::new(Op::U16ToU32)
                    },
                );
            }
        }
        Ok(())
    }

    /// The word that register `number` has at the start.
    fn preloaded(&mut self, number: u8) -> Source {
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
            self.function.preloads.push(Preload {
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
