//! The observer: tells the automata what the interpreter does, and what they find to whoever asked.
//!
//! Needs: the function as it was translated, with notes.  Guarantees: each finding is told once, with a count.
//! In reading order: this file (who runs), `values` (undefined bits through values), `memory` (accesses), `images`, `tell` (findings).
mod drawn;
mod images;
mod memory;
mod rounds;
mod tell;
mod values;

use eitri_shaderc::interp::{LaneSet, Observer, Resources, Values};
use eitri_shaderc::ir::notes::{Classes, Note, Order, Scope};
use eitri_shaderc::ir::{BindingKind, BlockId, Function, Inst, Op, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::Unwritten;
use crate::event::Agent;
use crate::finding::Finding;
use crate::origin::Origins;
use crate::race::Races;
use crate::shadow::Shadow;
pub(crate) use drawn::Drawn;
use rounds::Rounds;
use tell::Key;
use values::WarpShadow;

/// The number of shared memory among objects: each workgroup has it anew.
const SHARED: u32 = u32::MAX;

/// What a barrier orders of which nothing is noted: the compiler's own, which clears shared memory.
const FULL: Order = Order {
    scope: Scope::Workgroup,
    acquire: true,
    release: true,
    available: true,
    visible: true,
    classes: Classes(7),
};

/// An element of a binding.
pub(crate) struct Element {
    /// Whether it is a buffer's; of others the texels count.
    is_buffer: bool,
    bytes: u64,
    /// Of an image: width, height, depth and layers of each level.
    sizes: Vec<[u32; 4]>,
    samples: u32,
    /// Whether nobody writes to it during the dispatch.
    constant: bool,
    shadow: Shadow,
}

/// The observer.
pub(crate) struct Watch<'f> {
    pub(crate) function: &'f Function,
    /// By instruction.
    notes: Vec<Option<&'f Note>>,
    pub(crate) elements: Vec<Element>,
    /// By binding: its first element.
    first_elements: Vec<u32>,
    races: Races,
    /// Of a draw's invocations.
    drawn: Option<Box<Drawn<'f>>>,
    pub(crate) origins: Origins,
    shared: Shadow,
    group: u32,
    /// Invocations of a workgroup.
    group_size: u32,
    /// Subgroups of a workgroup.
    warp_count: u32,
    warp_size: u32,
    warps: Vec<WarpShadow>,
    rounds: Rounds,
    /// By object and byte: the lines of the race there that was told.
    racy: FxHashMap<(u32, u64), Key>,
    /// Instructions that took part in a race.
    racing: FxHashSet<u32>,
    /// By finding: the loads of memory that nobody wrote.
    unwritten_loads: FxHashMap<Key, FxHashSet<u32>>,
    /// By instruction that asks for the value of a lane: where the one that was missing has gone.
    missing: FxHashMap<u32, BlockId>,
    pub(crate) findings: FxHashMap<Key, Finding>,
    /// Keys in the order in which they were found.
    pub(crate) order: Vec<Key>,
}

impl<'f> Watch<'f> {
    /// An observer of one dispatch.
    pub(crate) fn new(
        function: &'f Function,
        resources: &Resources,
        unwritten: &[Unwritten],
    ) -> Watch<'f> {
        let mut notes = vec![None; function.inst_count()];
        for (inst, note) in function.notes.iter() {
            notes[inst.index()] = Some(note);
        }
        let mut elements = vec![];
        let mut first_elements = vec![];
        for binding in &function.bindings {
            first_elements.push(elements.len() as u32);
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                let mut made = element_of(binding.kind, key, resources);
                made.constant = !binding.written;
                for part in unwritten.iter().filter(|part| part.key == key) {
                    let end = part.bytes.end.min(made.bytes);
                    made.shadow.unwrite(part.bytes.start..end, made.bytes);
                }
                elements.push(made);
            }
        }
        // By address any buffer can be written.
        let writes_by_address = function.placed_insts().any(|(_, inst)| {
            let op = function.inst(inst).op;
            let is_global = op
                .access()
                .is_some_and(|access| access.space == eitri_shaderc::ir::Space::Global);
            is_global && op.effects().writes
        });
        if writes_by_address {
            elements
                .iter_mut()
                .for_each(|element| element.constant = false);
        }
        let group_size = function.workgroup_size.iter().product();
        Watch {
            function,
            notes,
            elements,
            first_elements,
            races: Races::default(),
            drawn: None,
            origins: Origins::default(),
            shared: Shadow::default(),
            group: 0,
            group_size,
            warp_count: 0,
            warp_size: function.lanes.count(),
            warps: vec![],
            rounds: Rounds::new(function),
            racy: FxHashMap::default(),
            racing: FxHashSet::default(),
            unwritten_loads: FxHashMap::default(),
            missing: FxHashMap::default(),
            findings: FxHashMap::default(),
            order: vec![],
        }
    }

    fn note(&self, inst: Inst) -> Option<&'f Note> {
        self.notes[inst.index()]
    }

    /// An invocation.
    fn agent(&self, warp: usize, lane: usize) -> Agent {
        let within = warp as u32 * self.warp_size + lane as u32;
        Agent {
            lane: self
                .group
                .wrapping_mul(self.group_size)
                .wrapping_add(within),
            subgroup: self
                .group
                .wrapping_mul(self.warp_count)
                .wrapping_add(warp as u32),
            group: self.group,
        }
    }

    fn fence(&mut self, warp: usize, lanes: LaneSet, inst: Inst) {
        let Some(note) = self.note(inst) else { return };
        let Some(order) = note.order else { return };
        for lane in lanes.iter() {
            let agent = self.agent(warp, lane);
            self.races.fence(agent, order);
        }
        // A barrier of the subgroup: its lanes wait for one another, so what one releases the others acquire.
        if note.control == Some(Scope::Subgroup) {
            let agents: Vec<Agent> = lanes.iter().map(|lane| self.agent(warp, lane)).collect();
            self.races.meet(&agents, order);
        }
    }
}

fn element_of(
    kind: BindingKind,
    key: eitri_shaderc::interp::Key,
    resources: &Resources,
) -> Element {
    let buffer = resources.buffers.get(&key);
    let image = resources.images.get(&key);
    let is_buffer = matches!(kind, BindingKind::Storage | BindingKind::Uniform);
    let sizes: Vec<[u32; 4]> = image.map_or(vec![], |image| {
        (0..image.levels).map(|level| image.sizes(level)).collect()
    });
    let texels = sizes.first().map_or(0, |size| {
        size.iter()
            .fold(4u64, |all, one| all * u64::from((*one).max(1)))
    });
    Element {
        is_buffer,
        bytes: buffer.map_or(texels, |buffer| buffer.bytes.len() as u64),
        sizes,
        samples: image.map_or(1, |image| image.samples),
        constant: false,
        shadow: Shadow::default(),
    }
}

impl Observer for Watch<'_> {
    const ACTIVE: bool = true;

    fn begin(&mut self, workgroup: u32, warps: &[usize]) {
        self.races.end(self.group);
        self.end_drawn();
        self.races.forget(SHARED);
        self.racy.retain(|(object, _), _| *object != SHARED);
        self.group = workgroup;
        self.warp_count = warps.len() as u32;
        self.shared = match self.function.shared_bytes {
            0 => Shadow::default(),
            bytes => Shadow::unwritten(bytes),
        };
        self.rounds.begin(warps);
        let function = self.function;
        self.warps.truncate(warps.len());
        for (number, lanes) in warps.iter().enumerate() {
            match self.warps.get_mut(number) {
                Some(shadow) => shadow.renew(*lanes),
                None => {
                    let stride = self.warp_size as usize;
                    self.warps.push(WarpShadow::new(function, *lanes, stride));
                }
            }
        }
        let lanes = warps.iter().enumerate();
        let agents: Vec<Agent> = lanes
            .flat_map(|(warp, lanes)| (0..*lanes).map(move |lane| (warp, lane)))
            .map(|(warp, lane)| self.agent(warp, lane))
            .collect();
        match self.drawn {
            Some(_) => self.begin_drawn(agents),
            None => self.races.begin(workgroup, agents.into_iter()),
        }
    }

    fn help(&mut self, _: usize, lanes: LaneSet) {
        if let Some(drawn) = &mut self.drawn {
            drawn.help(lanes);
        }
    }

    fn step(&mut self, warp: usize, all: LaneSet, inst: Inst, values: Values<'_>) {
        let lanes = self.acting(all);
        let op = self.function.inst(inst).op;
        if let Some(note) = self.note(inst) {
            if !note.domains.is_empty() {
                self.check_domains(warp, lanes, inst, values);
            }
            if !note.indices.is_empty() && matches!(op, Op::Alu(_) | Op::Uniform(_)) {
                self.check_indices(warp, lanes, inst, values);
            }
        }
        match op {
            Op::Alu(alu) => self.alu(warp, lanes, inst, alu, values),
            Op::Lanes(op) => self.lanes(warp, all, inst, op, values),
            Op::Ballot(_) | Op::Scan(..) => self.together(warp, lanes, inst),
            Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => {
                self.access(warp, lanes, inst, access, values);
            }
            Op::Image(image) => self.image(warp, lanes, inst, image, values),
            Op::LoadVar(var) => self.load_var(warp, lanes, inst, var, values),
            Op::StoreVar(var) => self.store_var(warp, lanes, inst, var, values),
            Op::Fence(_) => self.fence(warp, lanes, inst),
            Op::Resource(_) => {
                self.decide_by_operands(warp, lanes, inst, 1);
                self.define_results(warp, lanes, inst);
            }
            Op::LoadAttribute(_) | Op::LoadVarying(_) | Op::LoadTile(_) => {
                self.load_input(warp, lanes, inst)
            }
            Op::StoreOutput(output) => self.store_output(warp, lanes, inst, output),
            Op::SysVal(_)
            | Op::Uniform(_)
            | Op::BufferSize
            | Op::Barrier
            | Op::FragW(_)
            | Op::Demote => self.define_results(warp, lanes, inst),
        }
    }

    fn leave(&mut self, warp: usize, lanes: LaneSet, block: BlockId, _: Values<'_>) {
        let lanes = self.acting(lanes);
        let value = match &self.function.block(block).terminator {
            Terminator::Branch { condition, .. } => *condition,
            Terminator::Switch { selector, .. } => *selector,
            Terminator::Jump(_) | Terminator::Return | Terminator::Unreachable => return,
        };
        for lane in lanes.iter() {
            self.warps[warp].branches[lane] = Some(block);
        }
        for lane in self.warps[warp].undefined_lanes(value, lanes).iter() {
            let (_, origin) = self.warps[warp].get(value, lane);
            let position = self.function.block(block).position;
            self.decided(origin, position, "a branch goes by it", (warp, lane));
        }
    }

    fn enter(&mut self, warp: usize, lanes: LaneSet, from: BlockId, to: BlockId) {
        self.rounds.enter(warp, lanes, from, to);
        self.enter_block(warp, lanes, from, to);
    }

    fn arrive(&mut self, barrier: Inst) {
        let order = self.note(barrier).and_then(|note| note.order);
        self.races.barrier(self.group, order.unwrap_or(FULL));
    }

    fn diverge(&mut self, waiting: &[Vec<Option<Inst>>]) {
        self.diverged(waiting);
    }

    fn stall(&mut self, proved: bool, blocks: &[BlockId]) {
        self.stalled(proved, blocks);
    }
}
