//! One job: from its staging registers to the end of its work.
//!
//! Facts: hardware/command-stream.md 3.6.

use super::compute::Compute;
use super::fragment::Pass;
use super::launch::launch;
use super::tiling::{self, Fullscreen, Tiling};
use super::turn::take_turn;
use crate::clock::Nanoseconds;
use crate::fabric::Fabric;
use crate::injection::Injection;
use crate::inspection::{Shading, TurnView};
use crate::memory::PhysicalMemory;
use crate::mmu::{Refused, Stall};
use crate::pace::numbers;
use crate::shader::JobFault;
use crate::stream::{Identity, Issued, IssuedJob, Work};
use crate::trace::{Event, JobKind};
use alloc::boxed::Box;

/// State of a job.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// Its descriptors were not read yet.
    Queued,
    /// Its tasks run.
    Running(Running),
    /// It is over.
    Ended(Option<JobFault>),
}

/// A job whose tasks run, by the iterator that cuts it into them.
#[derive(Clone, Debug)]
pub(super) enum Running {
    Compute(Box<Compute>),
    Draw(Box<Tiling>),
    Fullscreen(Box<Fullscreen>),
    Fragment(Box<Pass>),
}

/// How far a tiling job that has run out of memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeapNeed {
    /// It needs none now.
    No,
    /// Its stream must be told.
    Untold,
    /// It waits.
    Waits,
}

/// What became of an iterator's turn: whether the job is done, or why it can't go on.
pub(super) type Turn = Result<bool, Refused<JobFault>>;

impl Running {
    /// Works for at most about `limit` instructions; how many they were, and what became of the turn.
    fn work(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
        limit: u64,
    ) -> (u64, Turn) {
        match self {
            Running::Compute(job) => job.work(fabric, memory, ready, limit),
            Running::Draw(job) => job.work(fabric, memory, ready, limit),
            Running::Fullscreen(job) => job.work(fabric, memory),
            Running::Fragment(job) => take_turn(&mut **job, fabric, memory, ready, limit),
        }
    }

    /// The cores that have had a task of it.
    fn used_cores(&self) -> u64 {
        match self {
            Running::Compute(job) => job.used_cores(),
            Running::Draw(job) => job.used_cores(),
            Running::Fullscreen(_) => 0,
            Running::Fragment(job) => job.used_cores(),
        }
    }

    /// Of the `ready` cores, and those that have a task of it, the ones that work on it next: all, as long as tasks are left.
    fn working_cores(&self, ready: u64) -> u64 {
        match self {
            Running::Compute(job) if job.has_more() => ready | job.running_cores(),
            Running::Compute(job) => job.running_cores(),
            Running::Draw(job) => ready | job.cores(),
            Running::Fullscreen(_) => 0,
            Running::Fragment(job) if job.has_more() => ready | job.cores(),
            Running::Fragment(job) => job.cores(),
        }
    }

    /// The cores that have a task of it.
    fn cores(&self) -> u64 {
        match self {
            Running::Compute(job) => job.cores(),
            Running::Draw(job) => job.cores(),
            Running::Fullscreen(_) => 0,
            Running::Fragment(job) => job.cores(),
        }
    }

    /// Whether it can't go on without tiler memory.
    fn needs_memory(&self) -> bool {
        match self {
            Running::Draw(job) => job.needs_memory(),
            Running::Fullscreen(job) => job.needs_memory(),
            Running::Compute(_) | Running::Fragment(_) => false,
        }
    }

    /// Tasks that were begun.
    fn tasks(&self) -> u64 {
        match self {
            Running::Compute(job) => job.tasks(),
            Running::Draw(job) => job.tasks(),
            Running::Fullscreen(_) => 0,
            Running::Fragment(job) => job.tasks(),
        }
    }
}

/// A job.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) owner: Identity,
    /// Over all streams.
    pub(super) number: u64,
    pub(super) job: IssuedJob,
    pub(super) state: State,
    /// A memory access waits for a change of the address space.
    stall: Option<Stall>,
    heap: HeapNeed,
    /// Instructions so far.
    executed: u64,
    /// Tasks that were begun when it was last asked whether it has got on.
    known_tasks: u64,
    /// Cores that have had tasks of it, a bit each.
    used_cores: u64,
}

impl Job {
    pub(super) fn new(owner: Identity, number: u64, mut job: IssuedJob) -> Job {
        match &mut job.issued {
            Issued::Draw(issued) => issued.job = number,
            Issued::Fullscreen(issued) => issued.job = number,
            Issued::Compute(_) | Issued::Fragment(_) | Issued::FinishTiling => {}
        }
        Job {
            owner,
            number,
            job,
            state: State::Queued,
            stall: None,
            heap: HeapNeed::No,
            executed: 0,
            known_tasks: 0,
            used_cores: 0,
        }
    }

    /// Its workgroups, if it is a compute job that runs.
    pub(super) fn compute(&self) -> Option<&Compute> {
        match &self.state {
            State::Running(Running::Compute(job)) => Some(job),
            _ => None,
        }
    }

    /// The same, to change.
    pub(super) fn compute_mut(&mut self) -> Option<&mut Compute> {
        match &mut self.state {
            State::Running(Running::Compute(job)) => Some(job),
            _ => None,
        }
    }

    /// Its tiles, if it is a render pass that runs.
    pub(super) fn pass(&self) -> Option<&Pass> {
        match &self.state {
            State::Running(Running::Fragment(pass)) => Some(pass),
            _ => None,
        }
    }

    /// What a debugger sees.
    pub(super) fn view<'j>(&'j self, fabric: &'j Fabric) -> TurnView<'j> {
        let shading = match &self.state {
            State::Running(Running::Compute(job)) => job.view(fabric).map(Shading::Workgroup),
            State::Running(Running::Draw(job)) => job.view().map(Shading::Draw),
            State::Running(Running::Fragment(job)) => job.view().map(Shading::Draw),
            State::Running(Running::Fullscreen(_)) | State::Queued | State::Ended(_) => None,
        };
        TurnView {
            job: self.number,
            executed: self.executed,
            shading,
        }
    }

    /// The kind of work, and so the endpoints that do it.
    pub(super) fn work_kind(&self) -> Work {
        self.job.issued.work()
    }

    /// The queue that counts it.
    // FACT: whether FINISH_TILING counts as a vertex job is not published (hardware/csf-perfcnt.md 4); it does not here, since it
    // has no vertices. Settled by ITER_TILER_JOB_COMPLETED of a pass with one draw, on any board.
    pub(super) fn queue(&self) -> Option<Work> {
        let finishes = matches!(self.job.issued, Issued::FinishTiling);
        (!finishes).then(|| self.work_kind())
    }

    /// What a memory access waited for is another address space's, or has changed meanwhile: it is tried again.
    pub(super) fn forget_stall(&mut self) {
        self.stall = None;
    }

    /// Whether it could go on now, on the `ready` cores.
    pub(super) fn can_work(&self, fabric: &Fabric, ready: u64) -> bool {
        let stalled = self.stall.is_some_and(|stall| !fabric.mmu.may_retry(stall));
        (ready != 0 || self.cores() != 0) && !stalled && self.heap == HeapNeed::No
    }

    /// Whether it has run out of tiler memory, and its stream was not told.
    pub(super) fn is_exhausted(&self) -> bool {
        self.heap == HeapNeed::Untold
    }

    /// Whether its stream is to be told that it has run out of tiler memory; the next call says no.
    pub(super) fn take_exhausted(&mut self) -> bool {
        let untold = self.is_exhausted();
        if untold {
            self.heap = HeapNeed::Waits;
        }
        untold
    }

    /// There may be tiler memory.
    pub(super) fn resume_tiling(&mut self) {
        if self.heap == HeapNeed::Waits {
            self.heap = HeapNeed::No;
        }
    }

    /// Whether it was not begun.
    pub(super) fn is_queued(&self) -> bool {
        matches!(self.state, State::Queued)
    }

    /// Whether it is over.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    /// How many instructions it has executed, if it runs and nothing is wrong with it.
    pub(super) fn running(&self) -> Option<u64> {
        let runs = matches!(self.state, State::Running(_)) && self.stall.is_none();
        runs.then_some(self.executed)
    }

    /// Whether tasks were begun since the last call, so that earlier ones have come to their end.
    pub(super) fn takes_tasks(&mut self) -> bool {
        let tasks = match &self.state {
            State::Running(running) => running.tasks(),
            State::Queued | State::Ended(_) => self.known_tasks,
        };
        core::mem::replace(&mut self.known_tasks, tasks) != tasks
    }

    /// The cores that have a task of it.
    pub(super) fn cores(&self) -> u64 {
        match &self.state {
            State::Running(running) => running.cores(),
            State::Queued | State::Ended(_) => 0,
        }
    }

    /// How far its cores are: the one that is least far while it has work for it, the one that is farthest once it has ended.
    pub(super) fn reached(&self, fabric: &Fabric, ready: u64) -> Option<Nanoseconds> {
        match &self.state {
            State::Running(running) => {
                let cores = running.working_cores(ready);
                fabric.least_far(cores).map(|(reached, _)| reached)
            }
            State::Queued => None,
            State::Ended(_) => numbers(self.used_cores)
                .map(|core| fabric.reached(core))
                .max(),
        }
    }

    /// Works for at most `limit` instructions; how many it were.
    pub(super) fn work(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
        limit: u64,
    ) -> u64 {
        self.stall = None;
        if let State::Queued = self.state {
            self.begin(fabric, memory);
            if fabric.begins_apart {
                return 1;
            }
        }
        let State::Running(running) = &mut self.state else {
            return 0;
        };
        let traces_turns = fabric.journal.traces_instructions();
        if traces_turns {
            // What has moved to and from memory since the last turn is no job's.
            fabric.trace_units(0);
            let number = self.number;
            fabric.trace(Event::Turn { number });
        }
        fabric.journal.turn_to(self.number);
        let (used, turn) = running.work(fabric, memory, ready, limit);
        self.executed += used;
        self.used_cores |= running.used_cores();
        if fabric.journal.is_traced() {
            numbers(self.used_cores).for_each(|core| fabric.trace_units(core));
        }
        if traces_turns {
            fabric.trace(Event::Turn { number: 0 });
        }
        match turn {
            Ok(false) if running.needs_memory() => self.heap = HeapNeed::Untold,
            Ok(false) => {}
            Ok(true) => {
                fabric.activity.queue_mut(self.job.issued.work()).tasks += running.tasks();
                self.state = State::Ended(None);
            }
            Err(Refused::Stalled(stall)) => self.stall = Some(stall),
            Err(Refused::Failed(fault)) => self.state = State::Ended(Some(fault)),
        }
        if let State::Ended(_) = self.state {
            fabric.undefined.end(self.number);
        }
        used
    }

    fn begin(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) {
        let (slot, stream) = (Some(self.owner.group), Some(self.owner.stream));
        let injected = fabric.strike_at(slot, stream, |injection| match injection {
            Injection::JobFault { exception } => Some(exception),
            _ => None,
        });
        if let Some(exception) = injected {
            self.state = State::Ended(Some(JobFault {
                exception,
                address: 0,
            }));
            return;
        }
        self.state = match self.started(fabric, memory) {
            Ok(state) => state,
            Err(Refused::Stalled(stall)) => {
                self.stall = Some(stall);
                return;
            }
            Err(Refused::Failed(fault)) => State::Ended(Some(fault)),
        };
    }

    /// The state of the job once its descriptors were read.
    fn started(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<State, Refused<JobFault>> {
        let (running, kind, size) = match &self.job.issued {
            Issued::Compute(dispatch) => {
                let mut launch = launch(fabric, memory, self.owner, dispatch)?;
                fabric.defects.wear_launch(&mut launch.environment);
                let size = launch.grid.count;
                let running = Running::Compute(Box::new(Compute::new(launch)));
                (running, JobKind::Compute, size)
            }
            Issued::FinishTiling => return Ok(State::Ended(None)),
            Issued::Fragment(issued) => {
                let pass = Pass::new(fabric, memory, self.owner, issued)?;
                let size = [pass.tile_count() as u32, 1, 1];
                (Running::Fragment(Box::new(pass)), JobKind::Fragment, size)
            }
            Issued::Draw(issued) => {
                let tiling = Tiling::new(fabric, memory, self.owner, issued)?;
                let Some(tiling) = tiling else {
                    return Ok(State::Ended(None));
                };
                let size = [issued.registers[33], issued.registers[34], 1];
                (Running::Draw(tiling), JobKind::Draw, size)
            }
            Issued::Fullscreen(issued) => {
                let draw = tiling::fullscreen(fabric, memory, self.owner, issued)?;
                let Some(draw) = draw else {
                    return Ok(State::Ended(None));
                };
                let running = Running::Fullscreen(Box::new(draw));
                (running, JobKind::Fullscreen, [1; 3])
            }
        };
        fabric.trace(Event::JobStarted {
            group: self.owner.group,
            stream: self.owner.stream,
            number: self.number,
            kind,
            size,
        });
        Ok(State::Running(running))
    }
}
