//! Compute jobs: workgroups in order, one on a core at a time.
//!
//! Facts: hardware/command-stream.md 3.6 (RUN_COMPUTE), 4.1 (registers).

use super::job::Turn;
use super::launch::{Grid, Launch};
use super::speculation::{Dispatch, Speculation};
use super::workgroup::{Turned, Workgroup};
use crate::defect::Defect;
use crate::fabric::Fabric;
use crate::inspection::DispatchView;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refused, Stall};
use crate::pace::numbers;
use crate::shader::{Memory, Program, WARP, WarpTurn};
use crate::stream::Tasks;
use crate::trace::{Event, WorkgroupStep};
use alloc::vec::Vec;

/// Instructions of one workgroup before another has its turn.
const TURN: u64 = 512;

/// The same where the host asks for no exact number of instructions.
const LONG_TURN: u64 = 2048;

/// Drawn turns are 1 to 16 instructions: most are short, and some long enough for a sequence that nobody interrupts.
const DRAWN_TURNS: u64 = 5;

/// A turn that is not cut short: its end may be at one instruction of a few, so it comes long before its most.
pub(super) fn whole_turn() -> WarpTurn {
    WarpTurn {
        wanted: LONG_TURN,
        most: 2 * LONG_TURN,
    }
}

/// A compute job whose workgroups run.
#[derive(Clone, Debug)]
pub(crate) struct Compute {
    launch: Launch,
    program: Program,
    memory_unit: Memory,
    /// Number of the next workgroup that was not begun.
    next: u64,
    /// Tasks that were begun.
    tasks: u64,
    resident: Vec<Workgroup>,
    /// Cores whose workgroup waits for memory, and what for: it is not tried again before the host has acted.
    stalls: Vec<(u8, Stall)>,
    /// Cores that have had workgroups, a bit each.
    used_cores: u64,
    /// Instructions that warps have executed.
    executed: u64,
    speculation: Speculation,
}

/// Tells whoever traces that a workgroup has begun or ended.
fn trace_workgroup(fabric: &mut Fabric, launch: &Launch, group: &Workgroup, begun: bool) {
    let step = match begun {
        true => WorkgroupStep::Begun {
            entry: launch.entry,
        },
        false => WorkgroupStep::Ended,
    };
    let place = fabric.journal.place(group.number(), group.id());
    fabric.journal.trace_workgroup(place, step);
    if fabric.journal.is_traced() {
        let time = fabric.reached(group.place().core).max(fabric.clock.now());
        fabric.trace_at(
            time,
            Event::Workgroup {
                group: launch.owner.group,
                stream: launch.owner.stream,
                core: group.place().core,
                id: group.id(),
                begun,
            },
        );
        if !begun {
            fabric.trace_units(group.place().core);
        }
    }
}

impl Compute {
    /// A job of which no workgroup was begun.
    pub(super) fn new(launch: Launch) -> Compute {
        let arch = launch.arch;
        Compute {
            launch,
            program: Program::new(arch),
            memory_unit: Memory::default(),
            next: 0,
            tasks: 0,
            resident: Vec::new(),
            stalls: Vec::new(),
            used_cores: 0,
            executed: 0,
            speculation: Speculation::default(),
        }
    }

    /// What a debugger sees.
    pub(crate) fn view(&self, fabric: &Fabric) -> Option<DispatchView<'_>> {
        let environment = &self.launch.environment;
        let next = self.next_turn(fabric);
        let group = next.and_then(|index| self.resident.get(index));
        Some(DispatchView {
            space: environment.space,
            entry: self.launch.entry,
            size: self.launch.grid.size,
            registers: environment.allocated,
            uniforms: &environment.uniforms,
            shared: (environment.wls_base, environment.wls_bytes),
            executed: self.executed,
            workgroup: group.map(Workgroup::view),
        })
    }

    /// Does what the next turn would do before an instruction: puts a workgroup on each `ready` core that has none, takes those
    /// away that have ended, opens barriers at which all wait.
    pub(crate) fn settle(&mut self, fabric: &mut Fabric, ready: u64) {
        self.fill(fabric, ready);
        while let Some(index) = self.resident.iter().position(Workgroup::has_ended) {
            let group = self.resident.swap_remove(index);
            trace_workgroup(fabric, &self.launch, &group, false);
            let core = group.place().core;
            if ready >> core & 1 != 0 {
                self.begin_next(fabric, core);
            }
        }
        let groups = self.resident.iter_mut();
        groups.for_each(|group| group.open_barrier(fabric));
    }

    /// Gives warps to workgroups that had none so far: somebody may look at them.
    pub(crate) fn begin_workgroups(&mut self) {
        let groups = self.resident.iter_mut();
        groups.for_each(|group| group.begin(&self.launch));
    }

    /// Tasks that were begun.
    pub(super) fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Turns of resident workgroups, each time of the one whose core is least far; whether all are done.
    pub(super) fn work(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
        limit: u64,
    ) -> (u64, Turn) {
        self.speculation.resume(fabric, &self.program);
        let turns = self.take_turns(fabric, memory, ready, limit);
        self.speculation.suspend(fabric);
        turns
    }

    fn take_turns(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
        limit: u64,
    ) -> (u64, Turn) {
        self.fill(fabric, ready);
        self.stalls
            .retain(|(_, stall)| !fabric.mmu.may_retry(*stall));
        let mut used = 0;
        let mut progressed = false;
        while used < limit {
            let Some(index) = self.draw_turn(fabric) else {
                break;
            };
            let drawn = WarpTurn::drawn(fabric, DRAWN_TURNS, limit - used);
            let turn = drawn.unwrap_or_else(|| match fabric.whole_turns {
                true => whole_turn(),
                false => WarpTurn {
                    wanted: TURN.min(limit - used),
                    most: limit - used,
                },
            });
            let beside = self.beside(index);
            let core = self.resident[index].place().core;
            if fabric.defects.has(Defect::CoreHangs { core }) {
                // Time passes, and nothing comes of it.
                fabric.charge_warps(core, turn.wanted, 1);
                (used, progressed) = (used + turn.wanted, true);
                continue;
            }
            let (executed, turned) = self.take_turn(fabric, memory, index, turn);
            fabric.charge_warps(core, executed, beside);
            used += executed;
            self.executed += executed;
            match turned {
                Turned::GoesOn => progressed = true,
                Turned::Ended => {
                    progressed = true;
                    let group = self.resident.swap_remove(index);
                    trace_workgroup(fabric, &self.launch, &group, false);
                    // A core that the group no longer has takes no more of it.
                    if ready >> core & 1 != 0 {
                        self.begin_next(fabric, core);
                    }
                }
                Turned::Refused(Refused::Stalled(stall)) => {
                    self.stalls.push((core, stall));
                }
                Turned::Refused(fault) => return (used, Err(fault)),
            }
        }
        match self.stalls.first() {
            Some((_, stall)) if !progressed => (used, Err(Refused::Stalled(*stall))),
            _ => (used, Ok(self.resident.is_empty())),
        }
    }

    /// Gives a resident workgroup its turn: how many instructions it were, and what became of it.
    fn take_turn(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        index: usize,
        turn: WarpTurn,
    ) -> (u64, Turned) {
        let dispatch = Dispatch {
            launch: &self.launch,
            program: &self.program,
            memory_unit: &self.memory_unit,
            resident: &self.resident,
            next: self.next,
            left: self.launch.grid.workgroups().saturating_sub(self.next),
        };
        self.speculation.prepare(fabric, memory, &dispatch, index);
        let group = &mut self.resident[index];
        let known = (&self.launch, self.program.loads());
        let ahead = self.speculation.take_turn(fabric, memory, known, group);
        let (executed, turned) = ahead.unwrap_or_else(|| {
            group.begin(&self.launch);
            self.speculation.in_order(memory, |memory| {
                group.run(
                    &self.launch.environment,
                    &mut self.program,
                    &mut self.memory_unit,
                    fabric,
                    memory,
                    turn,
                )
            })
        });
        group.count(executed);
        self.speculation.count(group, turned == Turned::Ended);
        (executed, turned)
    }

    /// The workgroup that has the next turn: one of those that can go on, where turns are drawn.
    fn draw_turn(&self, fabric: &mut Fabric) -> Option<usize> {
        if !fabric.reorders() {
            return self.next_turn(fabric);
        }
        let groups = self.resident.iter().enumerate();
        let able = groups.filter(|(_, group)| !self.waits(group.place().core));
        let drawn = fabric.draw(able.clone().count() as u64)?;
        able.map(|(index, _)| index).nth(drawn as usize)
    }

    /// The workgroup whose core is least far with its work, but for those that wait for memory.
    fn next_turn(&self, fabric: &Fabric) -> Option<usize> {
        let cores = self.resident.iter().map(|group| group.place().core);
        cores
            .enumerate()
            .filter(|(_, core)| !self.waits(*core))
            .min_by_key(|(_, core)| (fabric.reached(*core), *core))
            .map(|(index, _)| index)
    }

    /// Warps that a core would run beside each other, of the workgroup and of those that are to come.
    fn beside(&self, index: usize) -> u64 {
        let cores = self.resident.len().max(1) as u64;
        let left = self.launch.grid.workgroups().saturating_sub(self.next);
        let groups = (left / cores).saturating_add(1);
        self.resident[index].live_warps().saturating_mul(groups)
    }

    /// Whether other workgroups wait for a core.
    pub(super) fn has_more(&self) -> bool {
        self.next < self.launch.grid.workgroups()
    }

    /// Cores that have had workgroups of the job.
    pub(super) fn used_cores(&self) -> u64 {
        self.used_cores
    }

    /// Cores whose workgroups run, and do not wait for memory.
    pub(super) fn running_cores(&self) -> u64 {
        let waiting = self.stalls.iter().map(|(core, _)| 1 << (core & 63));
        waiting.fold(self.cores(), |cores, waiting: u64| cores & !waiting)
    }

    /// Whether a core's workgroup waits for memory.
    fn waits(&self, core: u8) -> bool {
        self.stalls.iter().any(|(waiting, _)| *waiting == core)
    }

    /// Puts a workgroup on each core that has none.
    fn fill(&mut self, fabric: &mut Fabric, ready: u64) {
        for core in numbers(ready) {
            let taken = self.resident.iter().any(|group| group.place().core == core);
            if !taken {
                self.begin_next(fabric, core);
            }
        }
    }

    fn begin_next(&mut self, fabric: &mut Fabric, core: u8) {
        let grid = &self.launch.grid;
        let skipped = fabric.defects.find(|defect| match defect {
            Defect::CoreSkipsWorkgroups { core: of, every } if of == core => Some(every),
            _ => None,
        });
        if skipped.is_some_and(|every| self.next % every.max(1) == 1) {
            self.next += 1;
        }
        let Some(id) = grid.workgroup(self.next) else {
            return;
        };
        let number = self.next;
        let begins_task = grid.begins_task(number, id);
        self.next += 1;
        self.tasks += u64::from(begins_task);
        fabric.begin_on(core);
        fabric.activity.begin_threads(core);
        self.used_cores |= 1 << core;
        let threads = u64::from(self.launch.threads());
        let activity = fabric.activity.core(core);
        activity.tasks += u64::from(begins_task);
        activity.warps += u64::from(self.launch.warps());
        activity.full_warps += threads / WARP as u64;
        if !self.launch.half_registers {
            activity.large_warps += u64::from(self.launch.warps());
        }
        let mut group = match self.speculation.has_whole(number, core) {
            true => Workgroup::to_begin(&self.launch, core, number, id),
            false => Workgroup::new(&self.launch, core, number, id),
        };
        if fabric.defects.in_shader {
            group.wear(&fabric.defects);
        }
        trace_workgroup(fabric, &self.launch, &group, true);
        if fabric.journal.traces_accesses() {
            let mut own = self.launch.environment.own_memory(group.place());
            let scratch = threads.saturating_mul(self.launch.environment.tls_bytes);
            own.scratch.end = own
                .scratch
                .start
                .saturating_add(scratch)
                .min(own.scratch.end);
            let holder = (fabric.journal.job(), group.place().core);
            fabric.undefined.begin(holder, &own);
        }
        self.resident.push(group);
    }

    /// The cores that have a workgroup of the job.
    pub(super) fn cores(&self) -> u64 {
        let places = self.resident.iter().map(|group| group.place().core);
        places.fold(0, |mask, core| mask | 1 << (core & 63))
    }
}

impl Grid {
    /// How many workgroups there are.
    pub(super) fn workgroups(&self) -> u64 {
        let counts = self.count.iter().map(|count| u64::from(*count));
        counts.fold(1, u64::saturating_mul)
    }

    /// The id of workgroup `number`, x fastest; `None` beyond the last.
    pub(super) fn workgroup(&self, number: u64) -> Option<[u32; 3]> {
        let [x, y, z] = self.count.map(u64::from);
        if x == 0 || y == 0 || z == 0 {
            return None;
        }
        let (row, plane) = (number / x, number / x / y);
        (plane < z).then_some([(number % x) as u32, (row % y) as u32, plane as u32])
    }

    /// Whether a task begins with workgroup `number`, whose id is `id`.
    fn begins_task(&self, number: u64, id: [u32; 3]) -> bool {
        match self.tasks {
            Tasks::Along { axis, increment } => {
                let below = id.iter().take(axis);
                let along = id.get(axis).copied().unwrap_or(0);
                below.copied().all(|place| place == 0) && along.is_multiple_of(increment.max(1))
            }
            Tasks::Of(workgroups) => number.is_multiple_of(u64::from(workgroups.max(1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(count: [u32; 3], tasks: Tasks, expected: usize) {
        let grid = Grid {
            size: [1; 3],
            offset: [0; 3],
            count,
            tasks,
        };
        let begun = (0..)
            .map_while(|number| Some((number, grid.workgroup(number)?)))
            .filter(|(number, id)| grid.begins_task(*number, *id));
        assert_eq!(begun.count(), expected, "{count:?} {tasks:?}");
    }

    #[test]
    fn a_job_is_cut_into_tasks_along_its_axis() {
        let along = |axis, increment| Tasks::Along { axis, increment };
        check([10, 3, 2], along(0, 1), 60);
        check([10, 3, 2], along(0, 4), 3 * 6);
        check([10, 3, 2], along(1, 2), 2 * 2);
        check([10, 3, 2], along(2, 2), 1);
        check([10, 3, 2], Tasks::Of(7), 9);
        check([10, 0, 2], along(0, 1), 0);
    }
}
