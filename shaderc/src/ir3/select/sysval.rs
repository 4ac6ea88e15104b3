//! System values: what the hardware puts in registers before a wave starts.
//!
//! Facts: hardware/ir3-isa.md 14.

use smallvec::smallvec;

use super::Selector;
use crate::ir::{self, Axis, SysVal};
use crate::ir3::mir::{Class, Instr, Op, Operand, Preload, Register, Source, Value, Word};
use eitri_ir3_program::DriverParam;

/// The full register of the local id's x, as the known driver has it; y and z follow.
pub(in crate::ir3) const LOCAL_ID: u8 = 0;
/// The shared register of the workgroup id's x: r48.x; y and z follow.
pub(in crate::ir3) const WORKGROUP_ID: u8 = 0;

impl Selector<'_> {
    pub(super) fn sysval(&mut self, sysval: SysVal, result: ir::Value) {
        match sysval {
            SysVal::LocalId(axis) => {
                let local = self.local_id(axis);
                self.define_as(result, local);
            }
            SysVal::WorkgroupId(axis) => {
                let sum = self.workgroup_id(axis);
                self.define(result, sum);
            }
            SysVal::GlobalId(axis) => {
                let sum = self.workgroup_id(axis);
                let group = self.put_in(Class::Full, sum);
                let size = Source::constant(self.ir.workgroup_size[axis.index()]);
                let local = self.local_id(axis);
                // The known driver allows 65535 workgroups along an axis: 24 bits are enough.
                self.define(result, Instr::on(Op::MadU24, &[size, group, local]));
            }
            SysVal::LaneId if self.waves_are_subgroups() => {
                let lane = self.lane();
                self.define_as(result, lane);
            }
            SysVal::LaneId => {}
            other => self.refuse(&other.name()),
        }
    }

    /// The number of the invocation in its workgroup: waves are filled in this order.
    pub(super) fn linear_id(&mut self) -> Source {
        let [x, y, _] = self.ir.workgroup_size;
        let mut sum: Option<Source> = None;
        let strides = [1, x, x * y];
        for (axis, stride) in [Axis::X, Axis::Y, Axis::Z].into_iter().zip(strides) {
            if self.ir.workgroup_size[axis.index()] == 1 {
                continue;
            }
            let id = self.local_id(axis);
            let factor = Source::constant(stride);
            sum = Some(match sum {
                None if stride == 1 => id,
                None => self.compute(Op::MulU24, &[id, factor]),
                Some(sum) => self.compute(Op::MadU24, &[factor, id, sum]),
            });
        }
        sum.unwrap_or(Source::constant(0))
    }

    fn local_id(&mut self, axis: Axis) -> Source {
        if self.ir.workgroup_size[axis.index()] == 1 {
            return Source::constant(0);
        }
        let number = LOCAL_ID + axis.index() as u8;
        self.preloaded(Register::new(Class::Full, number))
    }

    /// What the hardware counts does not include the first workgroup of the dispatch.
    fn workgroup_id(&mut self, axis: Axis) -> Instr {
        let number = WORKGROUP_ID + axis.index() as u8;
        let counted = self.preloaded(Register::new(Class::Shared, number));
        let base = self.constants.driver_param(DriverParam::BASE[axis.index()]);
        let base = match base.and_then(|number| u16::try_from(number).ok()) {
            Some(number) => Source::plain(Operand::Const(number)),
            None => Source::constant(0),
        };
        Instr::on(Op::AddU, &[counted, base])
    }

    /// What a register has at the start, in a full register.
    fn preloaded(&mut self, register: Register) -> Source {
        let function = &mut self.function;
        let value = *self
            .preloads
            .entry(register)
            .or_insert_with(|| function.new_value_of(Class::Full));
        Source::word(Word::Value(value))
    }

    /// Copies the preloaded words at the start, where their registers are free to be reused.
    pub(super) fn finish_preloads(&mut self) {
        let preloads: Vec<(Register, Value)> =
            std::mem::take(&mut self.preloads).into_iter().collect();
        let mut copies = Vec::with_capacity(preloads.len());
        for (register, value) in preloads {
            let arrived = self.new_word(register.class());
            self.function.preloads.push(Preload {
                dest: arrived,
                register,
            });
            let mut copy = Instr::copy(Word::Value(value), arrived, Class::Full);
            if register.class() == Class::Shared {
                copy.op = Op::ReadShared;
                copy.sources = smallvec![Source::word(arrived)];
            }
            copies.push(copy);
        }
        if let Some(entry) = self.function.blocks.first_mut() {
            entry.instrs.splice(0..0, copies);
        }
    }
}
