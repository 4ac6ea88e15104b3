//! The stepper: a dispatch that runs one instruction of one warp at a time, for a debugger.
//!
//! Needs: a function that `verify` accepts.  Guarantees: deterministic, with the order of warps that an observer sees (`fair`); a
//! clone goes on from the same state, so it is a checkpoint. Accesses outside of memory are left out: loads give zero.
//! Never: slows the interpreter; it calls the same functions for an instruction and for the end of a block.
use super::lanes::Mask;
use super::memory::{Bound, Bytes, Key, Resources, located};
use super::observer::{LaneSet, Observer, TURN, Values};
use super::run::{At, Dispatch, Machine, Warp};
use super::trap::Trap;
use crate::ir::{BindingId, BlockId, Function, Inst, Op, Space, Stage, Value, Var};

/// An observer that looks at nothing: with it the interpreter leaves out what it would trap on.
#[derive(Clone, Copy, Debug)]
struct Lenient;

impl Observer for Lenient {
    const ACTIVE: bool = true;

    fn begin(&mut self, _: u32, _: &[usize]) {}

    fn step(&mut self, _: usize, _: LaneSet, _: Inst, _: Values<'_>) {}

    fn leave(&mut self, _: usize, _: LaneSet, _: BlockId, _: Values<'_>) {}

    fn enter(&mut self, _: usize, _: LaneSet, _: BlockId, _: BlockId) {}

    fn arrive(&mut self, _: Inst) {}

    fn diverge(&mut self, _: &[Vec<Option<Inst>>]) {}

    fn stall(&mut self, _: bool, _: &[BlockId]) {}
}

/// A place in a function where a lane can stand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodePlace {
    /// Before that instruction.
    Inst(Inst),
    /// Before the end of that block.
    End(BlockId),
}

/// What the next step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ahead {
    /// The warp that runs.
    pub warp: usize,
    /// Those of its lanes that run.
    pub lanes: LaneSet,
    /// Where they are.
    pub place: CodePlace,
}

/// Where a lane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LanePlace {
    /// It can go on there.
    At(CodePlace),
    /// It waits at that barrier.
    Barrier(Inst),
    /// It has returned.
    Ended,
}

/// Why there is no next step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// All invocations of all workgroups have returned.
    Done,
    /// Some invocations wait at a barrier that others do not reach.
    Diverged,
    /// The dispatch can't go on.
    Trapped(Trap),
}

/// What an access touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// An element of a binding, a buffer.
    Buffer(BindingId, u32),
    /// Shared memory of the workgroup.
    Shared,
    /// A variable of the lane.
    Var(Var),
}

/// An access of one lane by the next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The lane.
    pub lane: usize,
    /// What is touched.
    pub object: Object,
    /// The first byte; of a variable the element.
    pub start: u64,
    /// So many bytes or elements.
    pub len: u64,
    /// Whether it may be changed.
    pub writes: bool,
}

/// A dispatch that runs step by step.
#[derive(Clone)]
pub struct Stepper<'f> {
    machine: Machine<'f, Lenient>,
    groups: [u32; 3],
    /// Number of the workgroup that runs.
    group: u64,
    warps: Vec<Warp>,
    /// By warp and instruction: the lanes that have executed it.
    executed: Vec<Vec<u64>>,
    /// The warp that has its turn, and the blocks that are left of it.
    current: usize,
    turn: u32,
    /// What the warp is about to do: the block, the number of the instruction there, and the lanes.
    inside: Option<(BlockId, usize, Mask)>,
    end: Option<End>,
}

impl<'f> Stepper<'f> {
    /// A dispatch before its first step.
    ///
    /// # Errors
    /// If something is not bound, or the function is not one of a dispatch.
    pub fn new(
        function: &'f Function,
        dispatch: &'f Dispatch,
        resources: &Resources,
    ) -> Result<Stepper<'f>, Trap> {
        if function.stage != Stage::Compute {
            return Err(Trap::Stage(function.stage.name().to_owned()));
        }
        let bound = Bound::new(function, resources)
            .map_err(|(set, binding, element)| Trap::Unbound(set, binding, element))?;
        let sizes = function.workgroup_size.map(|size| size as usize);
        let invocations = sizes.into_iter().fold(1usize, usize::saturating_mul);
        let lanes = invocations.clamp(1, function.lanes.count() as usize);
        let mut stepper = Stepper {
            machine: Machine::new(function, dispatch, bound, lanes, Lenient),
            groups: dispatch.groups,
            group: 0,
            warps: vec![],
            executed: vec![],
            current: 0,
            turn: TURN,
            inside: None,
            end: None,
        };
        stepper.begin_group();
        stepper.find_next();
        Ok(stepper)
    }

    /// What the next step does; none at the end.
    pub fn ahead(&self) -> Option<Ahead> {
        let (block, number, mask) = self.inside?;
        Some(Ahead {
            warp: self.current,
            lanes: LaneSet(mask.0),
            place: self.place(block, number),
        })
    }

    /// Why there is no next step.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Executes one instruction, or the end of a block, for the lanes that run it together. Nothing at the end.
    pub fn step(&mut self) {
        let Some((block, number, mask)) = self.inside else {
            return;
        };
        if let Err(trap) = self.execute(block, number, mask) {
            self.inside = None;
            self.end = Some(End::Trapped(trap));
            return;
        }
        self.find_next();
    }

    fn execute(&mut self, block: BlockId, number: usize, mask: Mask) -> Result<(), Trap> {
        let function = self.machine.function;
        let warp = &mut self.warps[self.current];
        let Some(inst) = function.block(block).insts.get(number).copied() else {
            self.inside = None;
            self.turn = self.turn.saturating_sub(1);
            return self.machine.leave_block(warp, mask, block);
        };
        self.machine.steps += u64::from(mask.count());
        self.executed[self.current][inst.index()] |= mask.0;
        if function.inst(inst).op == Op::Barrier {
            for lane in mask.lanes() {
                warp.lanes[lane].at = At::Barrier(block, number + 1);
            }
            self.inside = None;
            return Ok(());
        }
        self.inside = Some((block, number + 1, mask));
        self.machine.step(warp, mask, inst)
    }

    /// Decides what runs next: the warp whose turn it is, else the next one that can go on; behind a barrier that all have reached
    /// the first; else the next workgroup.
    fn find_next(&mut self) {
        while self.inside.is_none() {
            if self.turn == 0 {
                self.current = (self.current + 1) % self.warps.len().max(1);
                self.turn = TURN;
            }
            let count = self.warps.len();
            let order = (0..count).map(|offset| (self.current + offset) % count);
            let found = order
                .filter_map(|warp| Some((warp, self.machine.next_block(&self.warps[warp])?)))
                .next();
            if let Some((warp, (block, number))) = found {
                if warp != self.current {
                    self.current = warp;
                    self.turn = TURN;
                }
                let here = At::Inst(block, number);
                let lanes = self.warps[warp].lanes.iter();
                let mask = Mask::of(lanes.map(|lane| lane.at == here));
                self.machine.current = warp;
                self.inside = Some((block, number, mask));
                return;
            }
            (self.current, self.turn) = (0, TURN);
            if self.machine.pass_barrier(&mut self.warps) {
                continue;
            }
            let mut lanes = self.warps.iter().flat_map(|warp| &warp.lanes);
            if !lanes.all(|lane| lane.at == At::Ended) {
                self.end = Some(End::Diverged);
                return;
            }
            self.group += 1;
            if !self.begin_group() {
                self.end = Some(End::Done);
                return;
            }
        }
    }

    /// Puts the invocations of the workgroup at the start of the function; false if there is no such workgroup.
    fn begin_group(&mut self) -> bool {
        let [x, y, z] = self.groups.map(u64::from);
        if self.group >= x.saturating_mul(y).saturating_mul(z) {
            return false;
        }
        let (row, plane) = (self.group / x, self.group / x / y);
        let id = [self.group % x, row % y, plane];
        self.machine.workgroup = id.map(|number| number as u32);
        self.machine.shared = Bytes::zeroed(self.machine.function.shared_bytes);
        self.warps = self.machine.warps();
        let insts = self.machine.function.inst_count();
        self.executed = vec![vec![0; insts]; self.warps.len()];
        (self.current, self.turn) = (0, TURN);
        true
    }

    fn place(&self, block: BlockId, number: usize) -> CodePlace {
        let insts = &self.machine.function.block(block).insts;
        let inst = insts.get(number).copied();
        inst.map_or(CodePlace::End(block), CodePlace::Inst)
    }

    // What a person sees.

    /// The workgroup that runs, or has run last.
    pub fn workgroup(&self) -> [u32; 3] {
        self.machine.workgroup
    }

    /// Warps of the workgroup.
    pub fn warps(&self) -> usize {
        self.warps.len()
    }

    /// Lanes of a warp.
    pub fn lanes(&self, warp: usize) -> usize {
        self.warps.get(warp).map_or(0, |warp| warp.lanes.len())
    }

    /// Number of an invocation in its workgroup, and in the dispatch.
    pub fn invocation(&self, warp: usize, lane: usize) -> Option<([u32; 3], [u32; 3])> {
        let lane = self.warps.get(warp)?.lanes.get(lane)?;
        Some((lane.local_id, self.machine.global_id(lane)))
    }

    /// Where a lane is.
    pub fn lane_place(&self, warp: usize, lane: usize) -> Option<LanePlace> {
        if let Some((block, number, mask)) = self.inside
            && warp == self.current
            && mask.has(lane as u64)
        {
            return Some(LanePlace::At(self.place(block, number)));
        }
        Some(match self.warps.get(warp)?.lanes.get(lane)?.at {
            At::Inst(block, number) => LanePlace::At(self.place(block, number)),
            At::Barrier(block, number) => {
                let insts = &self.machine.function.block(block).insts;
                LanePlace::Barrier(*insts.get(number.checked_sub(1)?)?)
            }
            At::Ended => LanePlace::Ended,
        })
    }

    /// The bits of a value in a lane; none if the instruction that defines it was not executed.
    pub fn value(&self, warp: usize, lane: usize, value: Value) -> Option<u64> {
        if let crate::ir::ValueDef::Result(inst, _) = self.machine.function.def(value) {
            let executed = self.executed.get(warp)?.get(inst.index())?;
            LaneSet(*executed).has(lane as u64).then_some(())?;
        }
        let warp = self.warps.get(warp)?;
        (lane < warp.lanes.len()).then(|| warp.get(value, lane))
    }

    /// An element of a variable in a lane.
    pub fn var(&self, warp: usize, lane: usize, var: Var, element: u32) -> Option<u64> {
        let lane = self.warps.get(warp)?.lanes.get(lane)?;
        let len = self.machine.function.var(var).len;
        let base = self.machine.var_base.get(var.index())?;
        (element < len).then(|| lane.vars.get(base + element as usize).copied())?
    }

    /// Shared memory of the workgroup.
    pub fn shared(&self) -> &[u8] {
        &self.machine.shared.0
    }

    /// The bytes of an element of a binding; none if it is no buffer.
    pub fn buffer(&self, binding: BindingId, element: u32) -> Option<&[u8]> {
        self.machine.bound.bytes_of(binding, element)
    }

    /// About how many bytes a clone takes.
    pub fn bytes(&self) -> usize {
        let warp = |warp: &Warp| {
            let lanes = warp.lanes.iter();
            let own = lanes.map(|lane| 8 * lane.vars.len() + lane.scratch.0.len() + 256);
            8 * warp.values.len() + own.sum::<usize>()
        };
        let warps: usize = self.warps.iter().map(warp).sum();
        let executed = 8 * self.machine.function.inst_count() * self.warps.len();
        self.machine.bound.bytes() + self.machine.shared.0.len() + warps + executed
    }

    /// Copies the contents of buffers and images back.
    pub fn save(self, resources: &mut Resources) {
        self.machine.bound.save(resources);
    }

    /// What the next step touches, by lane.
    pub fn touches(&self) -> Vec<Touch> {
        let Some(Ahead {
            warp,
            lanes,
            place: CodePlace::Inst(inst),
        }) = self.ahead()
        else {
            return vec![];
        };
        let data = self.machine.function.inst(inst);
        let warp = &self.warps[warp];
        let arg = |number: usize, lane: usize| warp.get(data.args[number], lane);
        let touch = |lane: usize| {
            let (object, start, len, writes) = match data.op {
                Op::LoadVar(var) => (Object::Var(var), arg(0, lane), 1, false),
                Op::StoreVar(var) => (Object::Var(var), arg(0, lane), 1, true),
                op => {
                    let access = op.access()?;
                    let at = arg(access.address_operands() - 1, lane);
                    let (object, start) = match access.space {
                        Space::Buffer => {
                            let resource = arg(0, lane);
                            let binding = BindingId((resource >> 32) as u32);
                            (Object::Buffer(binding, resource as u32), at & 0xffff_ffff)
                        }
                        Space::Global => {
                            let (number, offset) = located(at)?;
                            let (binding, element) = self.machine.bound.numbered(number)?;
                            (Object::Buffer(binding, element), offset)
                        }
                        Space::Shared => (Object::Shared, at),
                        Space::Scratch | Space::Data => return None,
                    };
                    (object, start, access.bytes().into(), op.effects().writes)
                }
            };
            Some(Touch {
                lane,
                object,
                start,
                len,
                writes,
            })
        };
        lanes.iter().filter_map(touch).collect()
    }

    /// The element of a binding that a key names, if the function has it.
    pub fn element(&self, (set, binding, element): Key) -> Option<(BindingId, u32)> {
        let id = self.machine.function.find_binding(set, binding)?;
        (element < self.machine.function.binding(id)?.count).then_some((id, element))
    }
}

#[cfg(test)]
#[path = "stepper_tests.rs"]
mod tests;
