//! Runs a dispatch: workgroup after workgroup, each invocation as far as the next barrier.
//!
//! Needs: a function that `verify` accepts.  Guarantees: deterministic: invocations run in order of their index.
use std::fmt;

use super::eval::eval;
use super::memory::{Bound, Buffers, Words};
use crate::ir::{
    Access, AtomicOp, Axis, BlockId, FauWord, Function, Inst, Op, Space, SysVal, Terminator, Value,
    ValueDef,
};

/// What a dispatch is given besides its buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// Number of workgroups.
    pub groups: [u32; 3],
    /// Bytes from offset 0; missing ones are zero.
    pub push_constants: Vec<u8>,
    /// Instructions that all invocations together may execute.
    pub step_limit: u64,
}

/// Why a dispatch stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// No buffer for set, binding and element.
    Unbound(u32, u32, u32),
    /// More instructions than the limit.
    StepLimit(u64),
    /// An address that names no memory, or isn't aligned as the instruction says.
    Address {
        /// The invocation.
        global_id: [u32; 3],
        /// The instruction.
        inst: String,
        /// Its address operands.
        address: Vec<u32>,
    },
    /// Some invocations of a workgroup wait at a barrier and others have ended or wait at another.
    Barrier {
        /// The workgroup.
        workgroup: [u32; 3],
    },
    /// `unreachable` was reached.
    Unreachable {
        /// The invocation.
        global_id: [u32; 3],
    },
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::Unbound(set, binding, element) => {
                write!(
                    f,
                    "nothing is bound at set {set}, binding {binding}, element {element}"
                )
            }
            Trap::StepLimit(limit) => write!(f, "still running after {limit} instructions"),
            Trap::Address {
                global_id,
                inst,
                address,
            } => write!(
                f,
                "invocation {global_id:?}: `{inst}` has the impossible address {address:#x?}"
            ),
            Trap::Barrier { workgroup } => write!(
                f,
                "workgroup {workgroup:?}: not all invocations reach the same barrier"
            ),
            Trap::Unreachable { global_id } => {
                write!(f, "invocation {global_id:?} reaches `unreachable`")
            }
        }
    }
}

impl std::error::Error for Trap {}

/// Runs a whole dispatch and changes the buffers as it does. Returns the number of instructions executed.
///
/// # Errors
/// The first trap; the buffers are then as they were.
pub fn interpret(
    function: &Function,
    dispatch: &Dispatch,
    buffers: &mut Buffers,
) -> Result<u64, Trap> {
    let bound = Bound::new(function, buffers)
        .map_err(|(set, binding, element)| Trap::Unbound(set, binding, element))?;
    let mut machine = Machine::new(function, dispatch, bound);
    let [x, y, z] = dispatch.groups;
    for gz in 0..z {
        for gy in 0..y {
            for gx in 0..x {
                machine.workgroup([gx, gy, gz])?;
            }
        }
    }
    machine.bound.save(buffers);
    Ok(machine.steps)
}

/// One invocation, between two barriers.
struct Invocation {
    local_id: [u32; 3],
    values: Vec<u32>,
    vars: Vec<u32>,
    scratch: Words,
    /// Where to go on; none when it has ended.
    at: Option<(BlockId, usize)>,
}

struct Machine<'f> {
    function: &'f Function,
    fau: Vec<u32>,
    workgroup: [u32; 3],
    bound: Bound,
    shared: Words,
    /// Values of an invocation that has done nothing yet: the constants.
    fresh: Vec<u32>,
    /// Offset of each variable in `Invocation::vars`.
    var_base: Vec<usize>,
    var_words: usize,
    steps: u64,
    limit: u64,
    /// Sources of the phis of the block that is entered.
    incoming: Vec<(Value, u32)>,
}

impl<'f> Machine<'f> {
    fn new(function: &'f Function, dispatch: &Dispatch, bound: Bound) -> Self {
        let push = |offset: u32| {
            let mut word = [0; 4];
            for (index, byte) in word.iter_mut().enumerate() {
                *byte = *dispatch
                    .push_constants
                    .get(offset as usize + index)
                    .unwrap_or(&0);
            }
            u32::from_le_bytes(word)
        };
        let fau = function
            .fau
            .iter()
            .map(|word| match word {
                FauWord::PushConstant(offset) => push(*offset),
                FauWord::NumWorkgroups(axis) => dispatch.groups[axis.index()],
                FauWord::Constant(bits) => *bits,
                FauWord::BufferBytes(handle) => bound.size(*handle).unwrap_or(0),
                // Addresses are the back end's; here nothing has one.
                FauWord::BufferAddress(..) | FauWord::DataAddress(_) => 0,
            })
            .collect();
        let fresh = (0..function.value_count())
            .map(|index| match function.def(Value(index as u32)) {
                ValueDef::Word(bits) => bits,
                ValueDef::Bool(value) => value.into(),
                ValueDef::Result(..) | ValueDef::Phi(_) => 0,
            })
            .collect();
        let mut var_base = vec![];
        let mut var_words = 0;
        for (_, var) in function.vars() {
            var_base.push(var_words);
            var_words += var.len as usize;
        }
        Machine {
            function,
            fau,
            workgroup: [0; 3],
            bound,
            shared: Words::zeroed(function.shared_bytes),
            fresh,
            var_base,
            var_words,
            steps: 0,
            limit: dispatch.step_limit,
            incoming: vec![],
        }
    }

    fn workgroup(&mut self, workgroup: [u32; 3]) -> Result<(), Trap> {
        self.workgroup = workgroup;
        self.shared = Words::zeroed(self.function.shared_bytes);
        let [x, y, z] = self.function.workgroup_size;
        let mut invocations = vec![];
        for lz in 0..z {
            for ly in 0..y {
                for lx in 0..x {
                    invocations.push(Invocation {
                        local_id: [lx, ly, lz],
                        values: self.fresh.clone(),
                        vars: vec![0; self.var_words],
                        scratch: Words::zeroed(self.function.scratch_bytes),
                        at: Some((self.function.entry(), 0)),
                    });
                }
            }
        }
        loop {
            for invocation in &mut invocations {
                self.run(invocation)?;
            }
            let at = invocations.first().and_then(|invocation| invocation.at);
            if invocations.iter().any(|invocation| invocation.at != at) {
                return Err(Trap::Barrier { workgroup });
            }
            if at.is_none() {
                return Ok(());
            }
        }
    }

    /// Runs an invocation to its end or to just after the next barrier.
    fn run(&mut self, invocation: &mut Invocation) -> Result<(), Trap> {
        let function = self.function;
        let Some((mut block, mut number)) = invocation.at else {
            return Ok(());
        };
        loop {
            let data = function.block(block);
            while let Some(inst) = data.insts.get(number) {
                number += 1;
                self.steps += 1;
                if function.inst(*inst).op == Op::Barrier {
                    invocation.at = Some((block, number));
                    return Ok(());
                }
                self.step(invocation, *inst)?;
            }
            self.steps += 1;
            if self.steps > self.limit {
                return Err(Trap::StepLimit(self.limit));
            }
            let values = &invocation.values;
            let next = match &data.terminator {
                Terminator::Jump(target) => *target,
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                } => {
                    if values[condition.index()] != 0 {
                        *then
                    } else {
                        *otherwise
                    }
                }
                Terminator::Switch {
                    selector,
                    cases,
                    default,
                } => {
                    let selector = values[selector.index()];
                    let case = cases.iter().find(|(value, _)| *value == selector);
                    case.map_or(*default, |(_, target)| *target)
                }
                Terminator::Return => {
                    invocation.at = None;
                    return Ok(());
                }
                Terminator::Unreachable => {
                    return Err(Trap::Unreachable {
                        global_id: self.global_id(invocation),
                    });
                }
            };
            self.enter(invocation, block, next);
            block = next;
            number = 0;
        }
    }

    fn enter(&mut self, invocation: &mut Invocation, from: BlockId, to: BlockId) {
        // All phis read before any is written.
        self.incoming.clear();
        for phi in &self.function.block(to).phis {
            let source = phi.sources.iter().find(|(block, _)| *block == from);
            if let Some((_, value)) = source {
                let bits = invocation.values[value.index()];
                self.incoming.push((phi.result, bits));
            }
        }
        for (value, bits) in &self.incoming {
            invocation.values[value.index()] = *bits;
        }
    }

    fn global_id(&self, invocation: &Invocation) -> [u32; 3] {
        Axis::ALL.map(|axis| {
            let axis = axis.index();
            self.workgroup[axis]
                .wrapping_mul(self.function.workgroup_size[axis])
                .wrapping_add(invocation.local_id[axis])
        })
    }

    fn step(&mut self, invocation: &mut Invocation, inst: Inst) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        let bits = |number: usize| invocation.values[data.args[number].index()];
        let result = match data.op {
            Op::Alu(alu) => {
                let mut args = [0; 4];
                for (arg, value) in args.iter_mut().zip(&data.args) {
                    *arg = invocation.values[value.index()];
                }
                eval(alu, args)
            }
            Op::SysVal(SysVal::LocalId(axis)) => invocation.local_id[axis.index()],
            Op::SysVal(SysVal::WorkgroupId(axis)) => self.workgroup[axis.index()],
            Op::SysVal(SysVal::GlobalId(axis)) => self.global_id(invocation)[axis.index()],
            Op::Fau(number) => self.fau[number as usize],
            Op::BufferSize => match self.bound.size(bits(0)) {
                Some(size) => size,
                None => return Err(self.bad_address(invocation, inst)),
            },
            Op::Load(access) => return self.load(invocation, inst, access),
            Op::Store(access) => return self.store(invocation, inst, access),
            Op::Atomic(op, access) => {
                let first = access.address_operands();
                let value = bits(first);
                let expected = (op == AtomicOp::CompareExchange).then(|| bits(first + 1));
                let Some(word) = self.word(invocation, inst, access, 0) else {
                    return Err(self.bad_address(invocation, inst));
                };
                let old = *word;
                *word = atomic(op, old, value, expected);
                old
            }
            Op::LoadVar(var) => {
                let index = bits(0);
                if index < self.function.var(var).len {
                    invocation.vars[self.var_base[var.index()] + index as usize]
                } else {
                    0
                }
            }
            Op::StoreVar(var) => {
                let (index, value) = (bits(0), bits(1));
                if index < self.function.var(var).len {
                    invocation.vars[self.var_base[var.index()] + index as usize] = value;
                }
                return Ok(());
            }
            // Invocations run one at a time, so memory is always in order. `run` sees to barriers.
            Op::Barrier | Op::Fence => return Ok(()),
        };
        invocation.values[data.results[0].index()] = result;
        Ok(())
    }

    fn load(
        &mut self,
        invocation: &mut Invocation,
        inst: Inst,
        access: Access,
    ) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        let offset = self.offset(invocation, inst, access)?;
        for (number, result) in data.results.iter().enumerate() {
            let at = offset.wrapping_add(4 * number as u32);
            let word = match access.space {
                Space::Buffer => self.bound.load(invocation.values[data.args[0].index()], at),
                Space::Shared => self.shared.get(at),
                Space::Scratch => invocation.scratch.get(at),
                Space::Data => Some(
                    self.function
                        .data
                        .get(at as usize / 4)
                        .copied()
                        .unwrap_or(0),
                ),
            };
            let word = word.ok_or_else(|| self.bad_address(invocation, inst))?;
            invocation.values[result.index()] = word;
        }
        Ok(())
    }

    fn store(
        &mut self,
        invocation: &mut Invocation,
        inst: Inst,
        access: Access,
    ) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        self.offset(invocation, inst, access)?;
        for (number, value) in data.args[access.address_operands()..].iter().enumerate() {
            let bits = invocation.values[value.index()];
            match self.word(invocation, inst, access, 4 * number as u32) {
                Some(word) => *word = bits,
                None => return Err(self.bad_address(invocation, inst)),
            }
        }
        Ok(())
    }

    /// The byte offset of an access, which must be aligned as it says.
    fn offset(&self, invocation: &Invocation, inst: Inst, access: Access) -> Result<u32, Trap> {
        let args = &self.function.inst(inst).args;
        let offset = invocation.values[args[access.address_operands() - 1].index()];
        if offset.is_multiple_of(access.align.into()) {
            Ok(offset)
        } else {
            Err(self.bad_address(invocation, inst))
        }
    }

    /// The word so many bytes after the address.
    fn word<'m>(
        &'m mut self,
        invocation: &'m mut Invocation,
        inst: Inst,
        access: Access,
        plus: u32,
    ) -> Option<&'m mut u32> {
        let args = &self.function.inst(inst).args;
        let operands = access.address_operands();
        let at = invocation.values[args[operands - 1].index()].checked_add(plus)?;
        if at % 4 != 0 {
            return None;
        }
        match access.space {
            Space::Buffer => self.bound.word(invocation.values[args[0].index()], at),
            Space::Shared => self.shared.get_mut(at),
            Space::Scratch => invocation.scratch.get_mut(at),
            Space::Data => None,
        }
    }

    fn bad_address(&self, invocation: &Invocation, inst: Inst) -> Trap {
        let data = self.function.inst(inst);
        let operands = data.op.access().map_or(1, Access::address_operands);
        Trap::Address {
            global_id: self.global_id(invocation),
            inst: self.function.show_inst(inst),
            address: data.args[..operands]
                .iter()
                .map(|value| invocation.values[value.index()])
                .collect(),
        }
    }
}

/// The word that an atomic operation leaves.
fn atomic(op: AtomicOp, old: u32, value: u32, expected: Option<u32>) -> u32 {
    match op {
        AtomicOp::Add => old.wrapping_add(value),
        AtomicOp::SMin => (old as i32).min(value as i32) as u32,
        AtomicOp::SMax => (old as i32).max(value as i32) as u32,
        AtomicOp::UMin => old.min(value),
        AtomicOp::UMax => old.max(value),
        AtomicOp::And => old & value,
        AtomicOp::Or => old | value,
        AtomicOp::Xor => old ^ value,
        AtomicOp::Exchange => value,
        AtomicOp::CompareExchange => {
            if expected == Some(old) {
                value
            } else {
                old
            }
        }
    }
}
