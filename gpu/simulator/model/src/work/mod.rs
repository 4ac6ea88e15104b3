//! Work: jobs queued by streams, cut into tasks by an iterator for each kind of work, run on shader cores.
//!
//! Guarantees: one workgroup of a job is resident on a core at a time, so memory is bounded whatever the size of a dispatch;
//! jobs and cores take turns, so a job that never ends stops nobody else. Tiling jobs of a stream run one after another, and so
//! do its fragment jobs: primitives are drawn in the order of issue.
//!
//! Facts: hardware/command-stream.md 1.6, 3.6 and 4.1; csf-scheduling.md 1; csf-firmware.md 9 (endpoint requests).

mod compute;
pub(crate) mod descriptors;
mod draw;
mod endpoints;
mod forward_kill;
mod fragment;
mod job;
mod launch;
mod quads;
mod saved;
mod speculation;
mod stage;
mod through;
mod tiling;
mod turn;
mod workgroup;

use crate::activity::BusyCores;
use crate::clock::Nanoseconds;
use crate::defect::Defect;
use crate::diagnosis::FirmwareMisuse;
use crate::fabric::Fabric;
use crate::injection::Injection;
use crate::inspection::TurnView;
use crate::memory::PhysicalMemory;
use crate::power::Power;
use crate::random::Random;
use crate::shader::JobFault;
use crate::stream::{Identity, IssuedJob, Work, exception};
use alloc::vec::Vec;
use compute::Compute;
use eitri_csf::registers::power::Domain;
pub(crate) use endpoints::Endpoints;
pub(crate) use fragment::Pass;
use job::{Job, State};
pub(crate) use saved::SavedJobs;

/// Instructions that a job which hangs uses up in its turn, and the time that passes.
const HUNG_TURN: u64 = 512;
const HUNG_TIME: Nanoseconds = 2048;

/// Of a job's turn, where jobs overlap, most instructions as a power of two; of a short one, which small jobs need.
const LONGEST_TURN: u64 = 10;
const SHORT_TURN: u64 = 2;

/// A job that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) owner: Identity,
    /// Number of the job, over all streams.
    pub(crate) number: u64,
    /// The queue whose jobs it is one of.
    pub(crate) queue: Option<Work>,
    /// The scoreboard slot that counts it.
    pub(crate) slot: u8,
    /// Whether the stream's progress value grows.
    pub(crate) progress: bool,
    pub(crate) fault: Option<JobFault>,
}

/// The shader cores and their jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cores {
    jobs: Vec<Job>,
    /// Jobs so far.
    issued: u64,
    ended: Vec<Ended>,
    /// The place among jobs, by priority, from which on none had a turn.
    not_served: usize,
    /// What the group on each slot may have of the cores, for each kind of work.
    endpoints: Vec<[Endpoints; Work::ALL.len()]>,
    /// Whose turn it is among jobs that nothing orders, where they overlap.
    draws: Option<Random>,
}

impl Cores {
    /// Takes a job from a stream.
    pub(crate) fn queue(&mut self, owner: Identity, issued: IssuedJob) {
        self.issued += 1;
        self.jobs.push(Job::new(owner, self.issued, issued));
    }

    /// The group on `slot` may have these endpoints for a kind of work.
    pub(crate) fn allow(
        &mut self,
        fabric: &Fabric,
        slot: u8,
        work: Work,
        mut endpoints: Endpoints,
    ) {
        if fabric.defects.has(Defect::EndpointsIgnored) && endpoints.cores != 0 {
            endpoints.cores = fabric.config.product.part.shader_present;
            endpoints.most = endpoints.cores.count_ones();
        }
        if fabric.defects.has(Defect::PrioritiesIgnored) {
            endpoints.priority = 0;
        }
        let index = usize::from(slot);
        if self.endpoints.len() <= index {
            self.endpoints.resize(index + 1, Default::default());
        }
        self.endpoints[index][work as usize] = endpoints;
    }

    /// The compute job that runs: of several the oldest.
    pub(crate) fn compute(&self) -> Option<&Compute> {
        self.jobs.iter().find_map(Job::compute)
    }

    /// The same, to change.
    pub(crate) fn compute_mut(&mut self) -> Option<&mut Compute> {
        self.jobs.iter_mut().find_map(Job::compute_mut)
    }

    pub(crate) fn has_jobs(&self) -> bool {
        !self.jobs.is_empty()
    }

    pub(crate) fn has_jobs_of(&self, slot: u8) -> bool {
        self.jobs.iter().any(|job| job.owner.group == slot)
            || self.ended.iter().any(|ended| ended.owner.group == slot)
    }

    /// Takes note of the jobs of the group on `slot` that run, or of all: the driver ends them.
    pub(crate) fn note_running(&self, fabric: &mut Fabric, slot: Option<u8>) {
        for job in &self.jobs {
            let owner = job.owner;
            if slot.is_some_and(|slot| slot != owner.group) {
                continue;
            }
            if let Some(instructions) = job.running() {
                fabric.journal.report(FirmwareMisuse::JobGivenUp {
                    group: owner.group,
                    stream: owner.stream,
                    instructions,
                });
            }
        }
    }

    /// The group on `slot` is gone, and its jobs with it.
    pub(crate) fn drop_jobs_of(&mut self, slot: u8) {
        self.jobs.retain(|job| job.owner.group != slot);
        self.ended.retain(|ended| ended.owner.group != slot);
    }

    /// Streams whose tiling has run out of memory since the last call.
    pub(crate) fn take_exhausted(&mut self) -> Vec<Identity> {
        let jobs = self.jobs.iter_mut();
        let exhausted = jobs.filter_map(|job| job.take_exhausted().then_some(job.owner));
        exhausted.collect()
    }

    /// The tiling jobs of a stream that wait for memory go on.
    pub(crate) fn resume_tiling(&mut self, owner: Identity) {
        for job in self.jobs.iter_mut().filter(|job| job.owner == owner) {
            job.resume_tiling();
        }
    }

    /// The slots of groups whose jobs have got on since the last call, task by task.
    // FACT: what an endpoint's progress is (hardware/csf-scheduling.md 11 (18)) is not published; the begin of another task here.
    // Settled by a long dispatch of many short workgroups under a short PROGRESS_TIMER, on any board.
    pub(crate) fn take_progressed(&mut self) -> Vec<u8> {
        let jobs = self.jobs.iter_mut();
        let progressed = jobs.filter_map(|job| job.takes_tasks().then_some(job.owner.group));
        progressed.collect()
    }

    /// Jobs that have ended since the last call.
    pub(crate) fn take_ended(&mut self) -> Vec<Ended> {
        core::mem::take(&mut self.ended)
    }

    /// The cores that have work.
    pub(crate) fn busy(&self) -> BusyCores {
        let mut busy = BusyCores::default();
        for job in &self.jobs {
            match job.work_kind() {
                Work::Fragment => busy.fragment |= job.cores(),
                Work::Compute | Work::Tiling => busy.other |= job.cores(),
            }
        }
        busy
    }

    /// Whether there are jobs of a kind.
    pub(crate) fn has_jobs_of_kind(&self, work: Work) -> bool {
        self.jobs.iter().any(|job| job.work_kind() == work)
    }

    /// The cores that the group on each slot has now for each kind of work, by its priority and what it may have.
    // FACT: whether vertex, fragment and compute work of groups shares cores is not published; each kind is shared apart from
    // the others. Settled by STATUS_EP_CURRENT of groups with several kinds of work, on any board.
    fn grants(&self) -> [Vec<u64>; Work::ALL.len()] {
        Work::ALL.map(|work| {
            let with_jobs = |slot: usize| {
                let of =
                    |job: &Job| usize::from(job.owner.group) == slot && job.work_kind() == work;
                self.jobs.iter().any(of)
            };
            let wanted: Vec<Endpoints> = self
                .endpoints
                .iter()
                .map(|endpoints| endpoints[work as usize])
                .collect();
            endpoints::share(&wanted, with_jobs)
        })
    }

    /// What the owner of a job may have of the cores for it.
    fn endpoints(&self, job: &Job) -> Endpoints {
        let endpoints = self.endpoints.get(usize::from(job.owner.group));
        endpoints.map_or_else(Endpoints::default, |all| all[job.work_kind() as usize])
    }

    /// The jobs that wait for no earlier one, with their places: of a stream's tiling jobs and of its fragment jobs the first. Jobs of
    /// a stream stand in the order of issue.
    fn next_of_streams(&self) -> impl Iterator<Item = (usize, &Job)> {
        let mut seen: Vec<(Identity, Work)> = Vec::new();
        self.jobs.iter().enumerate().filter(move |(_, job)| {
            let of = (job.owner, job.work_kind());
            if of.1 == Work::Compute {
                return true;
            }
            let first = !seen.contains(&of);
            if first {
                seen.push(of);
            }
            first
        })
    }

    /// Whether a job could go on at once.
    pub(crate) fn can_work(&self, fabric: &Fabric, power: &Power) -> bool {
        !self.ended.is_empty()
            || self.jobs.iter().any(Job::is_exhausted)
            || self.able(fabric, power).next().is_some()
    }

    /// Whether a job of a kind could go on at once.
    pub(crate) fn can_work_on(&self, work: Work, fabric: &Fabric, power: &Power) -> bool {
        self.able(fabric, power).any(|job| job.work_kind() == work)
    }

    /// The jobs that could go on at once.
    fn able(&self, fabric: &Fabric, power: &Power) -> impl Iterator<Item = &Job> {
        let grants = match self.jobs.is_empty() {
            true => Default::default(),
            false => self.grants(),
        };
        let ready = power.ready(Domain::Shader);
        let next = self.next_of_streams().map(|(_, job)| job);
        next.filter(move |job| {
            // Without any core it ends at once, with a fault.
            let none = self.endpoints(job).count() == 0;
            let granted = granted(&grants, job);
            none || job.can_work(fabric, granted & ready)
        })
    }

    /// What is drawn from, where jobs overlap: one job alone needs nothing drawn.
    fn draws(&self, fabric: &Fabric) -> Option<Random> {
        let seed = fabric.config.overlap.filter(|_| self.jobs.len() > 1)?;
        Some(self.draws.unwrap_or_else(|| Random::new(seed)))
    }

    /// The places of the jobs that may have a turn, in their order.
    fn order(&self, draws: Option<&mut Random>) -> Vec<usize> {
        let mut order: Vec<usize> = self.next_of_streams().map(|(index, _)| index).collect();
        if let Some(draws) = draws {
            shuffle(draws, &mut order);
        }
        // A stable sort: jobs of one group stay in the order of issue, or in the one that was drawn.
        order.sort_by_key(|&index| core::cmp::Reverse(self.endpoints(&self.jobs[index]).priority));
        // Where the instructions ran out the last time: those that had no turn come first.
        let count = order.len().max(1);
        order.rotate_left(self.not_served % count);
        order
    }

    /// The job that has the next turn, for a debugger; none if no job can go on.
    pub(crate) fn next_turn<'c>(
        &'c self,
        fabric: &'c Fabric,
        power: &Power,
    ) -> Option<TurnView<'c>> {
        let ready = power.ready(Domain::Shader);
        let grants = self.grants();
        let mut draws = self.draws(fabric);
        let mut jobs = self.order(draws.as_mut()).into_iter();
        jobs.find_map(|index| {
            let job = &self.jobs[index];
            let can_work = job.can_work(fabric, granted(&grants, job) & ready);
            can_work.then(|| job.view(fabric))
        })
    }

    /// The render pass that runs, for a debugger: of several the oldest.
    pub(crate) fn pass(&self) -> Option<&Pass> {
        self.jobs.iter().find_map(Job::pass)
    }

    /// Gives every job a turn, those of groups with the highest priority first; how many instructions were executed, and how far
    /// time goes by it.
    pub(crate) fn work(
        &mut self,
        fabric: &mut Fabric,
        power: &Power,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> (u64, Nanoseconds) {
        let now = fabric.clock.now();
        if self.jobs.is_empty() {
            return (0, now);
        }
        fabric.pace.begin_memory(&fabric.activity, now);
        fabric.changes += u64::from(self.jobs.len() > 1);
        let ready = power.ready(Domain::Shader);
        let grants = self.grants();
        let mut draws = self.draws(fabric);
        // Turns that were drawn are as long as that.
        fabric.whole_turns &= draws.is_none();
        let order = self.order(draws.as_mut());
        let mut used = 0;
        let first = core::mem::take(&mut self.not_served);
        let count = order.len();
        for (turn, index) in order.into_iter().enumerate() {
            if used >= limit {
                self.not_served = (first + turn) % count;
                break;
            }
            let none = self.endpoints(&self.jobs[index]).count() == 0;
            let job = &mut self.jobs[index];
            let granted = granted(&grants, job);
            if none {
                job.state = State::Ended(Some(JobFault {
                    exception: exception::CS_ENDPOINT_FAULT,
                    address: 0,
                }));
                continue;
            }
            if !job.can_work(fabric, granted & ready) {
                continue;
            }
            let (slot, stream) = (Some(job.owner.group), Some(job.owner.stream));
            let hangs = |it| (it == Injection::JobsHang).then_some(());
            if fabric.strike_at(slot, stream, hangs).is_some() {
                // Time passes, as in an endless loop, and nothing comes of it.
                used += HUNG_TURN.min(limit - used);
                fabric.pace.hold_up(HUNG_TIME);
                continue;
            }
            let turn = draws.as_mut().map_or(u64::MAX, turn_of);
            // An instruction at least, so that starting a job counts as work.
            used += job
                .work(fabric, memory, granted & ready, turn.min(limit - used))
                .max(1);
        }
        if draws.is_some() {
            self.draws = draws;
        }
        let floor = now + used * fabric.config.instruction_floor;
        let until = self.reached(fabric, (&grants, ready)).max(floor);
        let ended = &mut self.ended;
        self.jobs.retain(|job| match job.state {
            State::Ended(fault) => {
                ended.push(Ended {
                    owner: job.owner,
                    number: job.number,
                    queue: job.queue(),
                    slot: job.job.slot,
                    progress: job.job.progress,
                    fault,
                });
                false
            }
            _ => true,
        });
        (used, until)
    }

    /// How far time goes: to the core that is least far with its work, but to the end of each job that has ended, and no further than
    /// memory and what is not done by cores allow.
    fn reached(
        &self,
        fabric: &mut Fabric,
        (grants, ready): (&[Vec<u64>; Work::ALL.len()], u64),
    ) -> Nanoseconds {
        let now = fabric.clock.now();
        let (mut least, mut ends) = (None, None);
        for job in self.jobs.iter().filter(|job| !job.is_queued()) {
            let granted = granted(grants, job) & ready;
            let reached = job.reached(fabric, granted);
            if job.has_ended() {
                ends = ends.max(reached);
            } else if job.can_work(fabric, granted) {
                least = least.into_iter().chain(reached).min();
            }
        }
        let held_up = now + fabric.pace.take_held_up();
        let memory = fabric.pace.memory_reached(&fabric.activity);
        [least, ends, Some(held_up), Some(memory)]
            .into_iter()
            .flatten()
            .fold(now, Nanoseconds::max)
    }
}

/// The cores that the owner of a job has for it.
fn granted(grants: &[Vec<u64>; Work::ALL.len()], job: &Job) -> u64 {
    let of_work = &grants[job.work_kind() as usize];
    let granted = of_work.get(usize::from(job.owner.group));
    granted.copied().unwrap_or(0)
}

/// Instructions of a turn: half of all turns are short.
fn turn_of(draws: &mut Random) -> u64 {
    let longest = match draws.below(2) {
        0 => SHORT_TURN,
        _ => LONGEST_TURN,
    };
    1 << draws.below(longest + 1)
}

/// Half of the time the newest comes first, else any.
fn shuffle(draws: &mut Random, order: &mut [usize]) {
    order.reverse();
    if draws.below(2) == 0 {
        return;
    }
    for last in (1..order.len()).rev() {
        let other = draws.below(last as u64 + 1) as usize;
        order.swap(last, other);
    }
}
