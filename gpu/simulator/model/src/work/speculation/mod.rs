//! Speculation: turns of workgroups that are executed ahead, on threads of the host, and taken over in the order of one thread.
//!
//! A window is a batch of workgroups that are executed ahead, each on its own: on a view of memory as it was when the window was
//! opened, and on a fabric apart that notes what is done to what cores share. Nothing of it counts yet. The schedule goes on as on one
//! thread; where a workgroup has its turn, the turn is taken over if executing it then would do the same, and else it is executed.
//!
//! Guarantees: memory, registers, counters, time and diagnoses are those of one thread, whenever and on whichever thread a workgroup
//! was executed. Never: diagnoses or faults of a worker; a turn that has one is executed in its turn.

mod log;
mod view;
mod worker;
mod written;

use super::compute::whole_turn;
use super::launch::Launch;
use super::workgroup::{Turned, Workgroup};
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use crate::shader::{Memory, Program};
use crate::workers::{Task, Workers};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::AtomicUsize;
use log::Log;
use worker::{Done, Plan, Start};
use written::{Noted, Writer, Written};

/// Instructions of a window, at first and at most.
const FIRST: u64 = 1 << 15;
const MOST: u64 = 1 << 18;
/// A window of fewer is not worth a thread.
const FEWEST: u64 = 1 << 13;
/// Workgroups of a window that have not begun.
const MOST_WORKGROUPS: usize = 2048;
/// Turns that are executed in order after a window of which less than half was taken over, at first and at most.
const SHORT_PAUSE: u64 = 32;
const LONG_PAUSE: u64 = 4096;

/// A workgroup that was executed ahead.
#[derive(Debug)]
struct Ahead {
    core: u8,
    depends_on_core: bool,
    log: Log,
    /// The turn that is taken over next.
    next: usize,
    writer: Writer,
}

impl Ahead {
    fn left(&self) -> usize {
        self.log.turns.len().saturating_sub(self.next)
    }
}

/// Workgroups that were executed ahead of the same state of memory.
#[derive(Debug)]
struct Window {
    /// By their numbers.
    ahead: BTreeMap<u64, Ahead>,
    written: Written,
    /// What the fabric and the program had counted when it was last known that nothing else had changed.
    changes: u64,
    lookups: u64,
    loads: u64,
    /// Turns of it: all, those taken over, and those that still may be.
    turns: usize,
    taken: usize,
    left: usize,
}

/// What a job knows of workgroups that are executed ahead.
#[derive(Debug)]
pub(super) struct Speculation {
    window: Option<Box<Window>>,
    /// A program for each worker: what it has decoded, nobody else has.
    programs: Vec<Program>,
    /// Instructions of the next window.
    instructions: u64,
    /// Turns that are executed in order before it is opened, and how many it will be the next time.
    pause: u64,
    next_pause: u64,
    /// Turns so far, workgroups that have ended, and their instructions.
    done: u64,
    ended: u64,
    of_ended: u64,
}

impl Default for Speculation {
    fn default() -> Speculation {
        Speculation {
            window: None,
            programs: Vec::new(),
            instructions: FIRST,
            pause: 0,
            next_pause: SHORT_PAUSE,
            done: 0,
            ended: 0,
            of_ended: 0,
        }
    }
}

impl Clone for Speculation {
    /// Nothing that was executed ahead: it can be executed again.
    fn clone(&self) -> Speculation {
        Speculation::default()
    }
}

/// A compute job as far as windows need it.
pub(super) struct Dispatch<'a> {
    pub(super) launch: &'a Launch,
    pub(super) program: &'a Program,
    pub(super) memory_unit: &'a Memory,
    pub(super) resident: &'a [Workgroup],
    /// The workgroup that begins next.
    pub(super) next: u64,
    /// Workgroups that have not begun.
    pub(super) left: u64,
}

impl Speculation {
    /// The job goes on: what happened since [`Speculation::suspend`] may have changed what the window rests on.
    pub(super) fn resume(&mut self, fabric: &Fabric, program: &Program) {
        let changed = |window: &Window| {
            window.changes != fabric.changes
                || window.lookups != fabric.lookups
                || window.loads != program.loads()
        };
        if self.window.as_deref().is_some_and(changed) {
            self.close();
        }
    }

    /// The job has had its turns for now.
    pub(super) fn suspend(&mut self, fabric: &Fabric) {
        if let Some(window) = &mut self.window {
            window.changes = fabric.changes;
        }
    }

    /// A turn of a workgroup is over.
    pub(super) fn count(&mut self, group: &Workgroup, ended: bool) {
        self.done += 1;
        if ended {
            self.ended += 1;
            self.of_ended = self.of_ended.saturating_add(group.executed());
        }
    }

    /// Sees to it that turns of the workgroup at `index` were executed ahead, if that is possible and promises something.
    pub(super) fn prepare(
        &mut self,
        fabric: &mut Fabric,
        memory: &dyn PhysicalMemory,
        dispatch: &Dispatch<'_>,
        index: usize,
    ) {
        let Some(workers) = &fabric.config.workers else {
            return;
        };
        if let Some(window) = &self.window {
            let group = dispatch.resident.get(index).map(Workgroup::number);
            let ahead = group.and_then(|number| window.ahead.get(&number));
            // One that has run out of turns waits for the others, so that there is work for all threads again.
            if ahead.is_some_and(|ahead| ahead.left() != 0) || window.left * 4 > window.turns {
                return;
            }
            self.close();
        }
        if self.pause != 0 {
            self.pause -= 1;
            return;
        }
        if !fabric.whole_turns || !fabric.can_record() || workers.count() < 2 {
            return;
        }
        let workers = Arc::clone(workers);
        self.open(fabric, memory, dispatch, &*workers);
        let turns = self.window.as_ref().map_or(0, |window| window.turns);
        fabric.turns_ahead += turns as u64;
    }

    /// Executes workgroups ahead.
    fn open(
        &mut self,
        fabric: &Fabric,
        memory: &dyn PhysicalMemory,
        dispatch: &Dispatch<'_>,
        workers: &dyn Workers,
    ) {
        let Some(snapshot) = memory.snapshot() else {
            self.pause = LONG_PAUSE;
            return;
        };
        let Some((starts, turns)) = self.starts(fabric, dispatch) else {
            return;
        };
        let plan = Plan {
            launch: dispatch.launch,
            resident: dispatch.resident,
            program: dispatch.program,
            memory_unit: dispatch.memory_unit,
            origin: fabric.origin(),
            memory: snapshot,
            starts: &starts,
            turns,
            next: &AtomicUsize::new(0),
            entries: &AtomicUsize::new(0),
        };
        let loads = dispatch.program.loads();
        self.programs.retain(|program| program.loads() == loads);
        self.programs
            .resize_with(workers.count().min(starts.len()), || {
                dispatch.program.clone()
            });
        let done = execute(&plan, &mut self.programs, workers);
        let mut window = Window {
            ahead: BTreeMap::new(),
            written: Written::default(),
            changes: fabric.changes,
            lookups: fabric.lookups,
            loads,
            turns: 0,
            taken: 0,
            left: 0,
        };
        for (writer, done) in (0..).zip(done) {
            window.turns += done.log.turns.len();
            let ahead = Ahead {
                core: done.core,
                depends_on_core: done.depends_on_core,
                log: done.log,
                next: 0,
                writer,
            };
            window.ahead.insert(done.number, ahead);
        }
        window.left = window.turns;
        self.window = Some(Box::new(window));
        if self.window.as_ref().is_some_and(|window| window.turns == 0) {
            self.close();
        }
    }

    /// Where workgroups of the next window begin, and how many turns each may have; `None` if there is too little to do.
    fn starts(&self, fabric: &Fabric, dispatch: &Dispatch<'_>) -> Option<(Vec<Start>, usize)> {
        let resident = dispatch.resident.len();
        // The first turns fetch the program and read descriptors: who is ahead can't.
        if resident == 0 || self.done < resident as u64 {
            return None;
        }
        let share = self.instructions / resident as u64;
        // As many instructions as those had that have ended.
        let each = self
            .of_ended
            .checked_div(self.ended)
            .map(|each| each.max(1));
        let mut cores: Vec<(u64, u8)> = Vec::new();
        let mut starts = Vec::new();
        let mut order: Vec<usize> = (0..resident).collect();
        let core = |place: usize| dispatch.resident[place].place().core;
        order.sort_by_key(|place| (fabric.reached(core(*place)), *place));
        for place in order {
            let rest = |each: u64| each.saturating_sub(dispatch.resident[place].executed());
            let expected = each.map_or(share, |each| rest(each).clamp(1, share));
            cores.push((expected, core(place)));
            starts.push(Start::Resident(place));
        }
        // Workgroups go to the core that is done first, until each has its share.
        let entries = dispatch.next..dispatch.next.saturating_add(dispatch.left);
        for number in entries.take(MOST_WORKGROUPS) {
            let first = cores.iter_mut().min_by_key(|(expected, _)| *expected);
            let (Some(each), Some((expected, core))) = (each, first) else {
                break;
            };
            if *expected >= share {
                break;
            }
            starts.push(Start::Entry(number, *core));
            *expected = expected.saturating_add(each);
        }
        let expected = cores.iter().map(|(expected, _)| *expected);
        let turns = share / whole_turn().wanted + 1;
        let enough = expected.fold(0, u64::saturating_add) >= FEWEST;
        enough.then_some((starts, turns as usize))
    }

    /// Gives up the window, and draws the lesson from it.
    fn close(&mut self) {
        let Some(window) = self.window.take() else {
            return;
        };
        if window.taken * 2 >= window.turns && window.turns != 0 {
            self.instructions = (self.instructions * 2).min(MOST);
            self.next_pause = SHORT_PAUSE;
        } else {
            self.instructions = FIRST;
            self.pause = self.next_pause;
            self.next_pause = (self.next_pause * 2).min(LONG_PAUSE);
        }
    }

    /// The next turn of a workgroup as it was executed ahead: how many instructions it were, and what became of it. `None` if it is to be
    /// executed.
    pub(super) fn take_turn(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        (launch, loads): (&Launch, u64),
        group: &mut Workgroup,
    ) -> Option<(u64, Turned)> {
        let window = self.window.as_deref_mut()?;
        let core = group.place().core;
        let ahead = window.ahead.get_mut(&group.number())?;
        let fits = (ahead.core == core || !ahead.depends_on_core)
            && (window.lookups, window.loads) == (fabric.lookups, loads);
        let by = (&window.written, ahead.writer);
        let place = (launch.environment.space, core);
        let checked = match fits {
            true => ahead.log.check(ahead.next, fabric, memory, place, by),
            false => None,
        };
        let turn = ahead.next;
        let (Some(all_cached), true) = (checked, ahead.left() != 0) else {
            window.left -= ahead.left();
            window.ahead.remove(&group.number());
            return None;
        };
        ahead.log.apply(turn, fabric, memory, place, all_cached);
        let (written, writer) = (&mut window.written, ahead.writer);
        ahead.log.note_writes(turn, written, writer);
        ahead.next += 1;
        window.taken += 1;
        fabric.turns_taken += 1;
        window.left -= 1;
        let done = ahead.log.turns.get_mut(turn)?;
        let executed = done.executed;
        if done.ended {
            window.ahead.remove(&group.number());
            return Some((executed, Turned::Ended));
        }
        group.begin(launch);
        group.take_over(core::mem::take(&mut done.warps), done.next);
        Some((executed, Turned::GoesOn))
    }

    /// Whether a workgroup that begins on `core` has been executed ahead to its end in one turn: its warps will not be needed.
    pub(super) fn has_whole(&self, number: u64, core: u8) -> bool {
        let window = self.window.as_deref();
        let ahead = window.and_then(|window| window.ahead.get(&number));
        ahead.is_some_and(|ahead| {
            let ends = ahead.log.turns.get(ahead.next).is_some_and(|it| it.ended);
            ends && (ahead.core == core || !ahead.depends_on_core)
        })
    }

    /// Executes a turn by `run`, on memory by which later turns are checked against its writes.
    pub(super) fn in_order<T>(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        run: impl FnOnce(&mut dyn PhysicalMemory) -> T,
    ) -> T {
        let Some(window) = &mut self.window else {
            return run(memory);
        };
        let written = &mut window.written;
        run(&mut Noted { memory, written })
    }
}

/// Executes a plan on all workers.
fn execute(plan: &Plan<'_>, programs: &mut [Program], workers: &dyn Workers) -> Vec<Done> {
    let mut done: Vec<Vec<Done>> = programs.iter().map(|_| Vec::new()).collect();
    let mut jobs: Vec<_> = programs
        .iter_mut()
        .zip(&mut done)
        .map(|(program, done)| || *done = plan.work(program))
        .collect();
    let mut tasks: Vec<Task<'_>> = jobs.iter_mut().map(|job| job as Task<'_>).collect();
    workers.run(&mut tasks);
    drop(tasks);
    drop(jobs);
    done.into_iter().flatten().collect()
}
