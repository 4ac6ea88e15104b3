//! A workgroup: its warps, what their registers hold at the start, and its barriers.
//!
//! Facts: hardware/valhall-isa.md 11.12 (BARRIER), 13 (preloads), 14 (how warps are filled).

use super::launch::Launch;
use crate::defect::Defects;
use crate::diagnosis::{Misuse, ShaderMisuse, WarpPlace};
use crate::fabric::Fabric;
use crate::inspection::{WarpView, WorkgroupView};
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::shader::{
    Environment, Executor, JobFault, Memory, Place, Program, Stopped, WARP, Warp, WarpTurn,
    exception,
};
use crate::trace::WorkgroupStep;
use alloc::vec::Vec;

/// Instructions of one warp before the next of the workgroup has its turn.
const TURN: u64 = 128;

/// Drawn turns of a warp are 1 to 8 instructions.
const DRAWN_TURNS: u64 = 4;

/// A workgroup on a core.
#[derive(Clone, Debug)]
pub(super) struct Workgroup {
    warps: Vec<Warp>,
    /// How many warps it gets when it begins; 0 from then on.
    to_begin: u32,
    place: Place,
    /// Its number in the job, and its id.
    number: u64,
    id: [u32; 3],
    /// The warp that has the next turn.
    next: usize,
    /// Warps that have run since [`Workgroup::forget_ran`], a bit each.
    ran: u64,
    /// Instructions so far.
    executed: u64,
}

/// The bit of a warp.
fn bit(warp: usize) -> u64 {
    1 << (warp % 64)
}

/// What became of a workgroup's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    /// It can go on.
    GoesOn,
    /// All its threads have ended.
    Ended,
    /// It waits for memory, or the job has failed.
    Refused(Refused<JobFault>),
}

impl Workgroup {
    /// A workgroup whose threads stand at the program's entry.
    pub(super) fn new(launch: &Launch, core: u8, number: u64, id: [u32; 3]) -> Workgroup {
        let mut group = Workgroup::to_begin(launch, core, number, id);
        group.begin(launch);
        group
    }

    /// One whose threads are not there yet.
    pub(super) fn to_begin(launch: &Launch, core: u8, number: u64, id: [u32; 3]) -> Workgroup {
        Workgroup {
            warps: Vec::new(),
            to_begin: launch.warps(),
            place: Place { core },
            number,
            id,
            next: 0,
            ran: 0,
            executed: 0,
        }
    }

    /// Counts the instructions of a turn.
    pub(super) fn count(&mut self, executed: u64) {
        self.executed += executed;
    }

    /// Instructions that were counted so far.
    pub(super) fn executed(&self) -> u64 {
        self.executed
    }

    /// Makes the threads, if they are not there yet.
    pub(super) fn begin(&mut self, launch: &Launch) {
        let (threads, id) = (launch.threads(), self.id);
        let warps = (0..core::mem::take(&mut self.to_begin)).map(|number| {
            let first = number * WARP as u32;
            let mut warp = Warp::new(first, threads - first, launch.entry);
            preload(launch, &mut warp, first, id);
            warp
        });
        self.warps.extend(warps);
    }

    /// Its number in the job.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The warp that has the next turn.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// From here on it is noted which warps run.
    pub(super) fn forget_ran(&mut self) {
        self.ran = 0;
    }

    /// The warps that have run since, as they are now, by their places.
    pub(super) fn ran(&self) -> Vec<(usize, Warp)> {
        let warps = self.warps.iter().enumerate();
        let ran = warps.filter(|(index, _)| self.ran & bit(*index) != 0);
        ran.map(|(index, warp)| (index, warp.clone())).collect()
    }

    /// Takes over warps as they are after a turn, and which has the next one.
    pub(super) fn take_over(&mut self, warps: Vec<(usize, Warp)>, next: usize) {
        for (index, warp) in warps {
            if let Some(place) = self.warps.get_mut(index) {
                *place = warp;
            }
        }
        self.next = next;
    }

    /// What broken cores make of what the threads begin with.
    pub(super) fn wear(&mut self, defects: &Defects) {
        self.place = defects.place(self.place);
        for warp in &mut self.warps {
            defects.wear_registers(self.place.core, &mut warp.registers, 0);
            defects.wear_preloads(&mut warp.registers);
        }
    }

    pub(super) fn id(&self) -> [u32; 3] {
        self.id
    }

    /// What a debugger sees.
    pub(super) fn view(&self) -> WorkgroupView<'_> {
        let warps: Vec<WarpView<'_>> = self.warps.iter().map(WarpView::of).collect();
        let count = warps.len();
        let order = (0..count).map(|offset| (self.next + offset) % count);
        let can_run = |warp: &usize| warps[*warp].next().is_some();
        WorkgroupView {
            id: self.id,
            core: self.place.core,
            next: order.clone().find(can_run),
            warps: warps.clone(),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.to_begin == 0 && self.warps.iter().all(Warp::has_ended)
    }

    /// Opens the barrier if all that have not ended wait at it.
    pub(super) fn open_barrier(&mut self, fabric: &mut Fabric) {
        let waits = |warp: &Warp| warp.has_ended() || warp.waits();
        if self.warps.iter().all(waits) {
            if self.warps.iter().any(Warp::waits) {
                let place = fabric.journal.place(self.number, self.id);
                fabric
                    .journal
                    .trace_workgroup(place, WorkgroupStep::Barrier);
            }
            self.ran = u64::MAX;
            self.warps.iter_mut().for_each(Warp::release);
        }
    }

    /// Warps that have not ended.
    pub(super) fn live_warps(&self) -> u64 {
        let live = self.warps.iter().filter(|warp| !warp.has_ended()).count() as u64;
        live + u64::from(self.to_begin)
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Runs its warps in turn for a turn of the workgroup; how many instructions it were.
    pub(super) fn run(
        &mut self,
        environment: &Environment,
        program: &mut Program,
        memory_unit: &mut Memory,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        turn: WarpTurn,
    ) -> (u64, Turned) {
        let place = fabric.journal.place(self.number, self.id);
        fabric.journal.run_workgroup(Some(place));
        let turned = self.run_warps(environment, program, memory_unit, fabric, memory, turn);
        fabric.journal.run_workgroup(None);
        turned
    }

    fn run_warps(
        &mut self,
        environment: &Environment,
        program: &mut Program,
        memory_unit: &mut Memory,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        turn: WarpTurn,
    ) -> (u64, Turned) {
        let mut executor = Executor {
            program,
            environment,
            memory_unit,
            place: self.place,
            fabric,
            memory,
        };
        let mut used = 0;
        if let Some(first) = executor.fabric.draw(self.warps.len() as u64) {
            self.next = first as usize;
        }
        // Warps in a row that could not run: with all of them, somebody else must act.
        let mut idle = 0;
        while used < turn.wanted && idle < self.warps.len() {
            let index = self.next % self.warps.len();
            self.next = index + 1;
            self.ran |= bit(index);
            let most = turn.most - used;
            let drawn = WarpTurn::drawn(executor.fabric, DRAWN_TURNS, most);
            let of_warp = drawn.unwrap_or(WarpTurn {
                wanted: TURN.min(turn.wanted - used),
                most,
            });
            let (executed, stopped) = executor.run(&mut self.warps[index], of_warp);
            used += executed;
            match stopped {
                Stopped::Turn => idle = 0,
                Stopped::Ended | Stopped::Barrier => idle += 1,
                Stopped::Refused(why) => {
                    let waits = matches!(why, Refused::Stalled(stall) if !stall.faulted);
                    if !waits {
                        note_fault(executor.fabric, &self.warps[index], self.id);
                    }
                    return (used, Turned::Refused(why));
                }
            }
            if executed != 0 {
                idle = 0;
            }
        }
        if idle < self.warps.len() {
            return (used, Turned::GoesOn);
        }
        (used, self.meet(executor.fabric))
    }

    /// No warp can run: they have met at a barrier, or they have ended.
    fn meet(&mut self, fabric: &mut Fabric) -> Turned {
        if self.has_ended() {
            return Turned::Ended;
        }
        // A thread that has ended takes no part in barriers.
        self.open_barrier(fabric);
        if self.warps.iter().any(|warp| warp.candidates() != 0) {
            return Turned::GoesOn;
        }
        let address = self.warps.first().map_or(0, |warp| warp.pc);
        let misuse = ShaderMisuse::BarrierDeadlock;
        fabric.journal.report(Misuse::Shader { address, misuse });
        Turned::Refused(Refused::Failed(JobFault {
            exception: exception::INSTR_BARRIER_FAULT,
            address,
        }))
    }
}

/// Notes which threads failed, and at which instruction: registers tell an address alone.
fn note_fault(fabric: &mut Fabric, warp: &Warp, workgroup: [u32; 3]) {
    let place = WarpPlace {
        workgroup,
        first: warp.first_thread,
    };
    let (address, misuse) = (warp.pc, ShaderMisuse::WarpFault { warp: place });
    fabric.journal.report(Misuse::Shader { address, misuse });
}

/// Fills the registers that the program's descriptor asks for.
fn preload(launch: &Launch, warp: &mut Warp, first: u32, id: [u32; 3]) {
    let size = launch.grid.size;
    let offset = launch.grid.offset;
    let local: [[u32; 3]; WARP] = core::array::from_fn(|lane| {
        let index = first + lane as u32;
        [
            index % size[0],
            index / size[0] % size[1],
            index / size[0] / size[1],
        ]
    });
    let workgroup = |axis: usize| offset[axis].wrapping_add(id[axis]);
    for bit in (0..16).filter(|bit| launch.preload >> bit & 1 != 0) {
        let register = 48 + bit;
        let values = core::array::from_fn(|lane| {
            let [x, y, z] = local[lane];
            match register {
                55 => x | y << 16,
                56 => z,
                57..=59 => workgroup(register as usize - 57),
                60..=62 => {
                    let axis = register as usize - 60;
                    let within = [x, y, z][axis];
                    workgroup(axis)
                        .wrapping_mul(size[axis])
                        .wrapping_add(within)
                }
                // Nothing is known of the others in compute programs.
                _ => 0,
            }
        });
        warp.preload(register, values);
    }
}
