//! Runs a dispatch: workgroup after workgroup, warp after warp, each as far as the next barrier.
//!
//! Needs: a function that `verify` accepts.  Guarantees: deterministic. A warp runs its lanes together: of those that can
//! run, those at the block that stands first in the layout, all of them at once. The layout keeps constructs together
//! (`ir::layout`), so lanes meet again where their paths join, as the machine's do.
use super::graphics::{Drawing, Fragment, Outputs, Shaded, Vertex};
use super::lanes::Mask;
use super::memory::{Bound, Buffers, Bytes, Resources};
use super::observer::{LaneSet, Observer, Values};
use super::trap::Trap;
use crate::ir::{Axis, BlockId, Function, Op, Stage, Terminator, Uniform, Value, ValueDef};

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
    interpret_observed(function, dispatch, resources, ())
}

/// As [`interpret_with`], and an observer is told what happens.
///
/// # Errors
/// The first trap; the resources are then as they were.
pub fn interpret_observed<O: Observer>(
    function: &Function,
    dispatch: &Dispatch,
    resources: &mut Resources,
    observer: O,
) -> Result<u64, Trap> {
    if function.stage != Stage::Compute {
        return Err(Trap::Stage(function.stage.name().to_owned()));
    }
    let bound = Bound::new(function, resources)
        .map_err(|(set, binding, element)| Trap::Unbound(set, binding, element))?;
    let [x, y, z] = function.workgroup_size.map(|size| size as usize);
    let invocations = x.saturating_mul(y).saturating_mul(z);
    let lanes = invocations.clamp(1, function.lanes.count() as usize);
    let mut machine = Machine::new(function, dispatch, bound, lanes, observer);
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
pub(super) enum At {
    /// With that instruction of that block.
    Inst(BlockId, usize),
    /// It waits at the barrier before that instruction.
    Barrier(BlockId, usize),
    Ended,
}

/// What an invocation is given.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum LaneInput {
    /// Nothing: it is one of a workgroup.
    Invocation,
    Vertex(Vertex),
    Fragment(Fragment),
}

impl LaneInput {
    /// What it is called in traps.
    fn id(&self) -> [u32; 3] {
        match self {
            LaneInput::Invocation => [0; 3],
            LaneInput::Vertex(vertex) => [vertex.index, vertex.instance, 0],
            LaneInput::Fragment(fragment) => {
                let [x, y] = fragment.pixel;
                [x, y, fragment.sample]
            }
        }
    }
}

/// What is of one invocation.
#[derive(Clone)]
pub(super) struct Lane {
    /// Of a vertex: its number and that of the instance. Of a fragment: pixel and sample.
    pub(super) local_id: [u32; 3],
    pub(super) input: LaneInput,
    /// Whether it only helps its quad.
    pub(super) helper: bool,
    pub(super) outputs: Outputs,
    pub(super) vars: Vec<u64>,
    pub(super) scratch: Bytes,
    pub(super) at: At,
}

/// Lanes that run together.
#[derive(Clone)]
pub(super) struct Warp {
    pub(super) lanes: Vec<Lane>,
    /// Each value for each of so many lanes, one after the other.
    pub(super) values: Vec<u64>,
    stride: usize,
}

impl Warp {
    /// What came of its vertices or fragments.
    pub(super) fn into_shaded(self) -> Vec<Shaded> {
        let shaded = self.lanes.into_iter().map(|lane| Shaded {
            outputs: lane.outputs,
            helper: lane.helper,
        });
        shaded.collect()
    }

    pub(super) fn view(&self) -> Values<'_> {
        Values {
            words: &self.values,
            stride: self.stride,
        }
    }

    pub(super) fn get(&self, value: Value, lane: usize) -> u64 {
        self.values[value.0 as usize * self.stride + lane]
    }

    pub(super) fn set(&mut self, value: Value, lane: usize, bits: u64) {
        self.values[value.0 as usize * self.stride + lane] = bits;
    }
}

#[derive(Clone)]
pub(super) struct Machine<'f, O = ()> {
    pub(super) function: &'f Function,
    /// Place of each block in the layout.
    places: Vec<usize>,
    dispatch: &'f Dispatch,
    /// Of vertices and fragments: what they are drawn by.
    pub(super) drawing: Option<Drawing<'f>>,
    pub(super) workgroup: [u32; 3],
    pub(super) bound: Bound,
    pub(super) shared: Bytes,
    pub(super) data: Bytes,
    /// Values of a warp that has done nothing yet: the constants.
    fresh: Vec<u64>,
    /// Lanes of the largest warp.
    lanes: usize,
    /// Offset of each variable in `Lane::vars`.
    pub(super) var_base: Vec<usize>,
    var_words: usize,
    pub(super) steps: u64,
    /// How many there may be.
    pub(super) step_limit: u64,
    pub(super) observer: O,
    /// For an observer: the warp that runs, and how often memory was changed.
    pub(super) current: usize,
    pub(super) changes: u64,
}

impl<'f, O: Observer> Machine<'f, O> {
    /// A machine whose largest warp has so many lanes.
    pub(super) fn new(
        function: &'f Function,
        dispatch: &'f Dispatch,
        bound: Bound,
        lanes: usize,
        observer: O,
    ) -> Self {
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
            drawing: None,
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
            step_limit: dispatch.step_limit,
            observer,
            current: 0,
            changes: 0,
        }
    }

    pub(super) fn uniform(&self, uniform: Uniform) -> Option<u32> {
        Some(match uniform {
            Uniform::PushConstant(offset) => {
                let bytes = self.dispatch.push_constants.iter().skip(offset as usize);
                let shifts = [0, 8, 16, 24].into_iter();
                bytes
                    .zip(shifts)
                    .fold(0, |word, (byte, shift)| word | u32::from(*byte) << shift)
            }
            Uniform::NumWorkgroups(axis) => self.dispatch.groups[axis.index()],
            Uniform::BufferWord(binding, element, offset) => {
                let resource = u64::from(binding.0) << 32 | u64::from(element);
                self.bound.load(resource, offset.into(), 4).unwrap_or(0) as u32
            }
            Uniform::BaseVertex
            | Uniform::BaseInstance
            | Uniform::ViewIndex
            | Uniform::ViewportScale(_)
            | Uniform::ViewportOffset(_)
            | Uniform::BlendConstant(_) => return self.drawing?.uniform(uniform),
        })
    }

    fn workgroup(&mut self, workgroup: [u32; 3]) -> Result<(), Trap> {
        self.workgroup = workgroup;
        self.shared = Bytes::zeroed(self.function.shared_bytes);
        if O::ACTIVE {
            let [x, y, z] = workgroup;
            let [width, height, _] = self.dispatch.groups;
            let number = z.wrapping_mul(height).wrapping_add(y);
            return self.in_turns(number.wrapping_mul(width).wrapping_add(x));
        }
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
    pub(super) fn warps(&self) -> Vec<Warp> {
        let [x, y, z] = self.function.workgroup_size;
        let mut warps: Vec<Warp> = vec![];
        for lz in 0..z {
            for ly in 0..y {
                for lx in 0..x {
                    let lane = self.lane([lx, ly, lz], LaneInput::Invocation);
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

    /// A lane at the start of the function.
    fn lane(&self, local_id: [u32; 3], input: LaneInput) -> Lane {
        let helper = matches!(&input, LaneInput::Fragment(fragment) if fragment.helper);
        Lane {
            local_id,
            input,
            helper,
            outputs: vec![],
            vars: vec![0; self.var_words],
            scratch: Bytes::zeroed(self.function.scratch_bytes),
            at: At::Inst(self.function.entry(), 0),
        }
    }

    /// Runs vertices or fragments together. What came of each.
    pub(super) fn warp_of(&mut self, inputs: &[LaneInput]) -> Result<Vec<Shaded>, Trap> {
        let mut warp = self.new_warp(inputs);
        self.run(&mut warp)?;
        Ok(warp.into_shaded())
    }

    /// A warp of vertices or fragments that has done nothing yet.
    pub(super) fn new_warp(&self, inputs: &[LaneInput]) -> Warp {
        let lanes = inputs
            .iter()
            .map(|input| self.lane(input.id(), input.clone()));
        Warp {
            lanes: lanes.collect(),
            values: self.fresh.clone(),
            stride: self.lanes,
        }
    }

    /// Runs a warp until all its lanes have ended or wait at a barrier.
    pub(super) fn run(&mut self, warp: &mut Warp) -> Result<(), Trap> {
        while let Some((block, number)) = self.next_block(warp) {
            let here = At::Inst(block, number);
            let mask = Mask::of(warp.lanes.iter().map(|lane| lane.at == here));
            self.block(warp, mask, block, number)?;
        }
        Ok(())
    }

    /// Where the lanes of a warp that run next are; none if all have ended or wait at a barrier.
    pub(super) fn next_block(&self, warp: &Warp) -> Option<(BlockId, usize)> {
        let running = warp.lanes.iter().filter_map(|lane| match lane.at {
            At::Inst(block, number) => Some((self.places[block.index()], number, block)),
            At::Barrier(..) | At::Ended => None,
        });
        // Only a barrier splits a block, and after it all lanes go on together.
        let (_, number, block) = running.min_by_key(|(place, number, _)| (*place, *number))?;
        Some((block, number))
    }

    /// Runs lanes to the end of a block or to the next barrier.
    pub(super) fn block(
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
            if O::ACTIVE {
                let lanes = LaneSet(mask.0);
                self.observer.step(self.current, lanes, *inst, warp.view());
            }
            self.step(warp, mask, *inst)?;
        }
        self.leave_block(warp, mask, block)
    }

    /// Lanes that have done all instructions of a block go on to the next ones.
    pub(super) fn leave_block(
        &mut self,
        warp: &mut Warp,
        mask: Mask,
        block: BlockId,
    ) -> Result<(), Trap> {
        let data = self.function.block(block);
        self.steps += u64::from(mask.count());
        let limit = self.step_limit;
        if self.steps > limit {
            return Err(Trap::StepLimit(limit));
        }
        if O::ACTIVE {
            let lanes = LaneSet(mask.0);
            self.observer.leave(self.current, lanes, block, warp.view());
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
                Terminator::Unreachable if O::ACTIVE => {
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

    fn enter(&mut self, warp: &mut Warp, mask: Mask, from: BlockId, to: BlockId) {
        if O::ACTIVE {
            let lanes = LaneSet(mask.0);
            self.observer.enter(self.current, lanes, from, to);
        }
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

    pub(super) fn global_id(&self, lane: &Lane) -> [u32; 3] {
        Axis::ALL.map(|axis| {
            let axis = axis.index();
            self.workgroup[axis]
                .wrapping_mul(self.function.workgroup_size[axis])
                .wrapping_add(lane.local_id[axis])
        })
    }
}
