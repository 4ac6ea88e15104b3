//! Runs a dispatch: workgroup after workgroup, warp after warp, each as far as the next barrier.
//!
//! Needs: a function that `verify` accepts.  Guarantees: deterministic. A warp runs its lanes together: of those that can
//! run, those at the block that stands first in the layout, all of them at once. The layout keeps constructs together
//! (`ir::layout`), so lanes meet again where their paths join, as the machine's do.
use std::fmt;

use super::eval::eval;
use super::image_ops;
use super::lanes::{self, Mask};
use super::memory::{Bound, Buffers, Bytes, Resources};
use crate::ir::{
    Access, AtomicOp, Axis, BlockId, Function, Held, Inst, InstData, Op, Space, SysVal, Terminator,
    Type, Uniform, Value, ValueDef,
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
        address: Vec<u64>,
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
    let mut resources = Resources {
        buffers: std::mem::take(buffers),
        ..Resources::default()
    };
    let result = interpret_with(function, dispatch, &mut resources);
    *buffers = resources.buffers;
    result
}

/// As [`interpret`], with images and samplers too.
///
/// # Errors
/// The first trap; the resources are then as they were.
pub fn interpret_with(
    function: &Function,
    dispatch: &Dispatch,
    resources: &mut Resources,
) -> Result<u64, Trap> {
    let bound = Bound::new(function, resources)
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
    machine.bound.save(resources);
    Ok(machine.steps)
}

/// Where a lane goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// With that instruction of that block.
    Inst(BlockId, usize),
    /// It waits at the barrier before that instruction.
    Barrier(BlockId, usize),
    Ended,
}

/// What is of one invocation.
struct Lane {
    local_id: [u32; 3],
    vars: Vec<u64>,
    scratch: Bytes,
    at: At,
}

/// Lanes that run together.
struct Warp {
    lanes: Vec<Lane>,
    /// Each value for each of so many lanes, one after the other.
    values: Vec<u64>,
    stride: usize,
}

impl Warp {
    fn get(&self, value: Value, lane: usize) -> u64 {
        self.values[value.0 as usize * self.stride + lane]
    }

    fn set(&mut self, value: Value, lane: usize, bits: u64) {
        self.values[value.0 as usize * self.stride + lane] = bits;
    }
}

struct Machine<'f> {
    function: &'f Function,
    /// Place of each block in the layout.
    places: Vec<usize>,
    dispatch: &'f Dispatch,
    workgroup: [u32; 3],
    bound: Bound,
    shared: Bytes,
    data: Bytes,
    /// Values of a warp that has done nothing yet: the constants.
    fresh: Vec<u64>,
    /// Lanes of the largest warp.
    lanes: usize,
    /// Offset of each variable in `Lane::vars`.
    var_base: Vec<usize>,
    var_words: usize,
    steps: u64,
}

impl<'f> Machine<'f> {
    fn new(function: &'f Function, dispatch: &'f Dispatch, bound: Bound) -> Self {
        let [x, y, z] = function.workgroup_size.map(|size| size as usize);
        let lanes = x
            .saturating_mul(y)
            .saturating_mul(z)
            .clamp(1, function.lanes.count() as usize);
        let mut fresh = vec![0; function.value_count() * lanes];
        for index in 0..function.value_count() {
            let bits = match function.def(Value(index as u32)) {
                ValueDef::Word(bits) => bits,
                ValueDef::Bool(value) => value.into(),
                ValueDef::Result(..) | ValueDef::Phi(_) => continue,
            };
            fresh[index * lanes..][..lanes].fill(bits);
        }
        let mut var_base = vec![];
        let mut var_words = 0;
        for (_, var) in function.vars() {
            var_base.push(var_words);
            var_words += var.len as usize;
        }
        let mut places = vec![usize::MAX; function.block_count()];
        for (place, block) in function.layout.iter().enumerate() {
            places[block.index()] = place;
        }
        Machine {
            function,
            places,
            dispatch,
            workgroup: [0; 3],
            bound,
            shared: Bytes::zeroed(function.shared_bytes),
            data: Bytes(
                function
                    .data
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect(),
            ),
            fresh,
            lanes,
            var_base,
            var_words,
            steps: 0,
        }
    }

    fn uniform(&self, uniform: Uniform) -> u32 {
        match uniform {
            Uniform::PushConstant(offset) => {
                let bytes = self.dispatch.push_constants.iter().skip(offset as usize);
                let shifts = [0, 8, 16, 24].into_iter();
                bytes
                    .zip(shifts)
                    .fold(0, |word, (byte, shift)| word | u32::from(*byte) << shift)
            }
            Uniform::NumWorkgroups(axis) => self.dispatch.groups[axis.index()],
        }
    }

    fn workgroup(&mut self, workgroup: [u32; 3]) -> Result<(), Trap> {
        self.workgroup = workgroup;
        self.shared = Bytes::zeroed(self.function.shared_bytes);
        let mut warps = self.warps();
        loop {
            for warp in &mut warps {
                self.run(warp)?;
            }
            let mut lanes = warps.iter_mut().flat_map(|warp| &mut warp.lanes);
            let first = lanes.next().map_or(At::Ended, |lane| lane.at);
            if lanes.any(|lane| lane.at != first) {
                return Err(Trap::Barrier { workgroup });
            }
            let At::Barrier(block, number) = first else {
                return Ok(());
            };
            for lane in warps.iter_mut().flat_map(|warp| &mut warp.lanes) {
                lane.at = At::Inst(block, number);
            }
        }
    }

    /// The invocations of a workgroup, filled into warps by their index.
    fn warps(&self) -> Vec<Warp> {
        let [x, y, z] = self.function.workgroup_size;
        let mut warps: Vec<Warp> = vec![];
        for lz in 0..z {
            for ly in 0..y {
                for lx in 0..x {
                    let lane = Lane {
                        local_id: [lx, ly, lz],
                        vars: vec![0; self.var_words],
                        scratch: Bytes::zeroed(self.function.scratch_bytes),
                        at: At::Inst(self.function.entry(), 0),
                    };
                    match warps.last_mut() {
                        Some(warp) if warp.lanes.len() < self.lanes => warp.lanes.push(lane),
                        _ => warps.push(Warp {
                            lanes: vec![lane],
                            values: self.fresh.clone(),
                            stride: self.lanes,
                        }),
                    }
                }
            }
        }
        warps
    }

    /// Runs a warp until all its lanes have ended or wait at a barrier.
    fn run(&mut self, warp: &mut Warp) -> Result<(), Trap> {
        loop {
            let running = warp.lanes.iter().filter_map(|lane| match lane.at {
                At::Inst(block, number) => Some((self.places[block.index()], number, block)),
                At::Barrier(..) | At::Ended => None,
            });
            // Only a barrier splits a block, and after it all lanes go on together.
            let Some((_, number, block)) =
                running.min_by_key(|(place, number, _)| (*place, *number))
            else {
                return Ok(());
            };
            let here = At::Inst(block, number);
            let mask = Mask::of(warp.lanes.iter().map(|lane| lane.at == here));
            self.block(warp, mask, block, number)?;
        }
    }

    /// Runs lanes to the end of a block or to the next barrier.
    fn block(
        &mut self,
        warp: &mut Warp,
        mask: Mask,
        block: BlockId,
        first: usize,
    ) -> Result<(), Trap> {
        let function = self.function;
        let data = function.block(block);
        for (number, inst) in data.insts.iter().enumerate().skip(first) {
            self.steps += u64::from(mask.count());
            if function.inst(*inst).op == Op::Barrier {
                for lane in mask.lanes() {
                    warp.lanes[lane].at = At::Barrier(block, number + 1);
                }
                return Ok(());
            }
            self.step(warp, mask, *inst)?;
        }
        self.steps += u64::from(mask.count());
        let limit = self.dispatch.step_limit;
        if self.steps > limit {
            return Err(Trap::StepLimit(limit));
        }
        let mut arriving: Vec<(BlockId, Mask)> = vec![];
        for lane in mask.lanes() {
            let next = match &data.terminator {
                Terminator::Jump(target) => *target,
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                } => match warp.get(*condition, lane) {
                    0 => *otherwise,
                    _ => *then,
                },
                Terminator::Switch {
                    selector,
                    cases,
                    default,
                } => {
                    let selector = warp.get(*selector, lane);
                    let case = cases.iter().find(|(value, _)| *value == selector);
                    case.map_or(*default, |(_, target)| *target)
                }
                Terminator::Return => {
                    warp.lanes[lane].at = At::Ended;
                    continue;
                }
                Terminator::Unreachable => {
                    return Err(Trap::Unreachable {
                        global_id: self.global_id(&warp.lanes[lane]),
                    });
                }
            };
            warp.lanes[lane].at = At::Inst(next, 0);
            match arriving.iter_mut().find(|(to, _)| *to == next) {
                Some((_, mask)) => mask.insert(lane),
                None => arriving.push((next, Mask::one(lane))),
            }
        }
        for (next, mask) in arriving {
            self.enter(warp, mask, block, next);
        }
        Ok(())
    }

    fn enter(&self, warp: &mut Warp, mask: Mask, from: BlockId, to: BlockId) {
        // All phis read before any is written.
        let mut incoming = vec![];
        for phi in &self.function.block(to).phis {
            let source = phi.sources.iter().find(|(block, _)| *block == from);
            if let Some((_, value)) = source {
                let lanes = mask.lanes().map(|lane| (lane, warp.get(*value, lane)));
                incoming.extend(lanes.map(|(lane, bits)| (phi.result, lane, bits)));
            }
        }
        for (value, lane, bits) in incoming {
            warp.set(value, lane, bits);
        }
    }

    fn global_id(&self, lane: &Lane) -> [u32; 3] {
        Axis::ALL.map(|axis| {
            let axis = axis.index();
            self.workgroup[axis]
                .wrapping_mul(self.function.workgroup_size[axis])
                .wrapping_add(lane.local_id[axis])
        })
    }

    fn step(&mut self, warp: &mut Warp, mask: Mask, inst: Inst) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        if let Op::Alu(alu) = data.op {
            let width = self.function.width(data);
            for lane in mask.lanes() {
                let mut args = [0; 4];
                for (arg, value) in args.iter_mut().zip(&data.args) {
                    *arg = warp.get(*value, lane);
                }
                warp.set(data.results[0], lane, eval(alu, width, args));
            }
            return Ok(());
        }
        if let Op::Lanes(op) = data.op {
            let read = |number: usize, lane: usize| warp.get(data.args[number], lane);
            for (lane, bits) in lanes::eval(op, mask, read) {
                warp.set(data.results[0], lane, bits);
            }
            return Ok(());
        }
        for lane in mask.lanes() {
            self.step_lane(warp, lane, inst)?;
        }
        Ok(())
    }

    fn step_lane(&mut self, warp: &mut Warp, lane: usize, inst: Inst) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        let bits = |number: usize| warp.get(data.args[number], lane);
        let result = match data.op {
            // `step` has done these.
            Op::Alu(_) | Op::Lanes(_) => return Ok(()),
            Op::SysVal(sys_val) => {
                let number = lane as u32;
                let lane = &warp.lanes[lane];
                let word = match sys_val {
                    SysVal::LaneId => number,
                    SysVal::LocalId(axis) => lane.local_id[axis.index()],
                    SysVal::WorkgroupId(axis) => self.workgroup[axis.index()],
                    SysVal::GlobalId(axis) => self.global_id(lane)[axis.index()],
                };
                word.into()
            }
            Op::Uniform(uniform) => self.uniform(uniform).into(),
            Op::Resource(binding) => u64::from(binding.0) << 32 | bits(0),
            Op::BufferSize => match self.bound.size(bits(0)) {
                Some(size) => size.into(),
                None => return Err(self.bad_address(warp, lane, inst)),
            },
            Op::Load(access) => {
                let offset = self.offset(warp, lane, inst, access)?;
                for (number, result) in data.results.iter().enumerate() {
                    let at = offset.wrapping_add(u64::from(access.elem.bytes()) * number as u64);
                    let word = self
                        .read(warp, lane, data, access, at)
                        .ok_or_else(|| self.bad_address(warp, lane, inst))?;
                    let word = match access.held {
                        Held::Own | Held::Zero => word,
                        Held::Sign if access.elem == Type::W8 => {
                            i32::from(word as i8).cast_unsigned().into()
                        }
                        Held::Sign => i32::from(word as i16).cast_unsigned().into(),
                    };
                    warp.set(*result, lane, word);
                }
                return Ok(());
            }
            Op::Store(access) => {
                let offset = self.offset(warp, lane, inst, access)?;
                for (number, value) in data.args[access.address_operands()..].iter().enumerate() {
                    let at = offset.checked_add(u64::from(access.elem.bytes()) * number as u64);
                    let word = warp.get(*value, lane);
                    let written = at.and_then(|at| self.write(warp, lane, data, access, at, word));
                    if written.is_none() {
                        return Err(self.bad_address(warp, lane, inst));
                    }
                }
                return Ok(());
            }
            Op::Atomic(op, access) => {
                let first = access.address_operands();
                let value = bits(first);
                let expected = (op == AtomicOp::CompareExchange).then(|| bits(first + 1));
                let at = self.offset(warp, lane, inst, access)?;
                let old = match access.space {
                    Space::Buffer => {
                        let buffer = self.bound.buffer(bits(0));
                        buffer.and_then(|buffer| buffer.get(at, access.elem.bytes()))
                    }
                    _ => self.read(warp, lane, data, access, at),
                };
                let written = old.and_then(|old| {
                    let new = atomic(op, access.elem, old, value, expected);
                    self.write(warp, lane, data, access, at, new)
                });
                match (old, written) {
                    (Some(old), Some(())) => old,
                    _ => return Err(self.bad_address(warp, lane, inst)),
                }
            }
            Op::Image(image) => {
                let args: Vec<u64> = data
                    .args
                    .iter()
                    .map(|value| warp.get(*value, lane))
                    .collect();
                let words = image_ops::eval(image, &args, &mut self.bound);
                let words = words.ok_or_else(|| self.bad_address(warp, lane, inst))?;
                for (result, word) in data.results.iter().zip(words) {
                    warp.set(*result, lane, word.into());
                }
                return Ok(());
            }
            Op::LoadVar(var) => {
                let index = bits(0);
                if index < self.function.var(var).len.into() {
                    warp.lanes[lane].vars[self.var_base[var.index()] + index as usize]
                } else {
                    0
                }
            }
            Op::StoreVar(var) => {
                let (index, value) = (bits(0), bits(1));
                if index < self.function.var(var).len.into() {
                    warp.lanes[lane].vars[self.var_base[var.index()] + index as usize] = value;
                }
                return Ok(());
            }
            // Accesses take effect one at a time, so memory is always in order. `block` sees to barriers.
            Op::Barrier | Op::Fence => return Ok(()),
        };
        warp.set(data.results[0], lane, result);
        Ok(())
    }

    /// The byte offset or address of an access, which must be aligned as it says.
    fn offset(&self, warp: &Warp, lane: usize, inst: Inst, access: Access) -> Result<u64, Trap> {
        let args = &self.function.inst(inst).args;
        let offset = warp.get(args[access.address_operands() - 1], lane);
        if offset.is_multiple_of(access.align.into()) {
            Ok(offset)
        } else {
            Err(self.bad_address(warp, lane, inst))
        }
    }

    /// An element of memory.
    fn read(
        &mut self,
        warp: &Warp,
        lane: usize,
        data: &InstData,
        access: Access,
        at: u64,
    ) -> Option<u64> {
        let bytes = access.elem.bytes();
        match access.space {
            // Offsets have 32 bits and wrap.
            Space::Buffer => {
                let resource = warp.get(data.args[0], lane);
                self.bound.load(resource, at & u64::from(u32::MAX), bytes)
            }
            Space::Global => {
                let (buffer, offset) = self.bound.at_address(at)?;
                buffer.get(offset, bytes)
            }
            Space::Shared => self.shared.get(at, bytes),
            Space::Scratch => warp.lanes[lane].scratch.get(at, bytes),
            Space::Data => Some(self.data.get(at, bytes).unwrap_or(0)),
        }
    }

    /// Writes an element of memory.
    fn write(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        data: &InstData,
        access: Access,
        at: u64,
        word: u64,
    ) -> Option<()> {
        let bytes = access.elem.bytes();
        match access.space {
            Space::Buffer => {
                let resource = warp.get(data.args[0], lane);
                self.bound.buffer(resource)?.set(at, bytes, word)
            }
            Space::Global => {
                let (buffer, offset) = self.bound.at_address(at)?;
                buffer.set(offset, bytes, word)
            }
            Space::Shared => self.shared.set(at, bytes, word),
            Space::Scratch => warp.lanes[lane].scratch.set(at, bytes, word),
            Space::Data => None,
        }
    }

    fn bad_address(&self, warp: &Warp, lane: usize, inst: Inst) -> Trap {
        let data = self.function.inst(inst);
        let operands = data.op.access().map_or(1, Access::address_operands);
        Trap::Address {
            global_id: self.global_id(&warp.lanes[lane]),
            inst: self.function.show_inst(inst),
            address: data.args[..operands]
                .iter()
                .map(|value| warp.get(*value, lane))
                .collect(),
        }
    }
}

/// The word that an atomic operation leaves.
pub(super) fn atomic(op: AtomicOp, elem: Type, old: u64, value: u64, expected: Option<u64>) -> u64 {
    let signed = |word: u64| match elem {
        Type::W64 => word.cast_signed(),
        _ => i64::from(word as i32),
    };
    let smaller = signed(value) < signed(old);
    let new = match op {
        AtomicOp::Add => old.wrapping_add(value),
        AtomicOp::SMin if smaller => value,
        AtomicOp::SMax if !smaller => value,
        AtomicOp::SMin | AtomicOp::SMax => old,
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
    };
    new & elem.mask()
}
