//! System values: what the hardware puts in registers before a thread starts. Where, `eitri_isa::preload` says.
//!
//! Facts: hardware/compiler-abi.md 3.6.

use super::Selector;
use crate::ir::{self, Axis, SysVal};
use crate::valhall::mir::{
    Half, Instr, Op, Operand, Preload, Register, Select, Source, Special, Value, Word,
};
use eitri_isa::preload::{self, Stage};
use smallvec::smallvec;

/// What the hardware puts in a register for a system value; none for the number of the lane, which it keeps elsewhere.
fn preload(sysval: SysVal) -> Option<preload::Preload> {
    use preload::Preload;
    Some(match sysval {
        SysVal::LaneId => return None,
        SysVal::LocalId(Axis::X) => Preload::LocalIdX,
        SysVal::LocalId(Axis::Y) => Preload::LocalIdY,
        SysVal::LocalId(Axis::Z) => Preload::LocalIdZ,
        SysVal::WorkgroupId(Axis::X) => Preload::WorkgroupIdX,
        SysVal::WorkgroupId(Axis::Y) => Preload::WorkgroupIdY,
        SysVal::WorkgroupId(Axis::Z) => Preload::WorkgroupIdZ,
        SysVal::GlobalId(Axis::X) => Preload::GlobalIdX,
        SysVal::GlobalId(Axis::Y) => Preload::GlobalIdY,
        SysVal::GlobalId(Axis::Z) => Preload::GlobalIdZ,
    })
}

impl Selector<'_> {
    pub(super) fn sysval(&mut self, sysval: SysVal, result: ir::Value) {
        let arrival = preload(sysval).and_then(|value| value.of(Stage::Compute));
        let (op, source) = match arrival {
            // In a register, as not everything can read it.
            None => (
                Op::Mov,
                Source::plain(Operand::Special(Special::LaneId, Half::Low)),
            ),
            Some(row) if row.is_whole() => (Op::Mov, self.preloaded(row.register)),
            Some(row) => {
                let half = match row.shift {
                    0 => Select::H0,
                    _ => Select::H1,
                };
                (Op::U16ToU32, self.preloaded(row.register).select(half))
            }
        };
        let instr = Instr {
            sources: smallvec![source],
            ..Instr::new(op)
        };
        self.define(result, instr);
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
