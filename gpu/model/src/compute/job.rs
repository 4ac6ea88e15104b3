//! One job: from its staging registers to its last workgroup.
//!
//! Facts: hardware/command-stream.md 3.6 (RUN_COMPUTE), 4.1 (registers).

use super::launch::{Grid, Launch, Refused, launch};
use super::workgroup::{Turned, Workgroup};
use crate::fabric::Fabric;
use crate::injection::Injection;
use crate::memory::PhysicalMemory;
use crate::mmu::Stall;
use crate::shader::{JobFault, Memory, Program};
use crate::stream::{Identity, IssuedJob};
use crate::trace::Event;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Instructions of one workgroup before another has its turn.
const TURN: u64 = 512;

/// What a job is doing.
#[derive(Debug)]
pub(super) enum State {
    /// Its descriptors were not read yet.
    Queued,
    /// Its workgroups run.
    Running(Box<Running>),
    /// It is over.
    Ended(Option<JobFault>),
}

/// A job whose workgroups run.
#[derive(Debug)]
pub(super) struct Running {
    launch: Launch,
    program: Program,
    memory_unit: Memory,
    /// Number of the next workgroup that was not begun.
    next: u64,
    resident: Vec<Workgroup>,
}

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) owner: Identity,
    pub(super) issued: IssuedJob,
    pub(super) state: State,
    /// A memory access waits for a change of the address space.
    stall: Option<Stall>,
}

impl Job {
    pub(super) fn new(owner: Identity, issued: IssuedJob) -> Job {
        Job {
            owner,
            issued,
            state: State::Queued,
            stall: None,
        }
    }

    /// Whether it could go on now, on `ready` of the `cores` that it may use.
    pub(super) fn can_work(&self, fabric: &Fabric, ready: u64, cores: u64) -> bool {
        let stalled = self.stall.is_some_and(|stall| !fabric.mmu.may_retry(stall));
        // Without any core it ends at once, with a fault.
        (ready != 0 || cores == 0) && !stalled
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
        }
        let State::Running(running) = &mut self.state else {
            return 0;
        };
        match running.work(fabric, memory, ready, limit) {
            Ok((used, false)) => used,
            Ok((used, true)) => {
                self.state = State::Ended(None);
                used
            }
            Err((used, Refused::Stalled(stall))) => {
                self.stall = Some(stall);
                used
            }
            Err((used, Refused::Fault(fault))) => {
                self.state = State::Ended(Some(fault));
                used
            }
        }
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
        match launch(fabric, memory, self.owner, &self.issued) {
            Ok(launch) => {
                fabric.journal.trace(Event::JobStarted {
                    group: self.owner.group,
                    stream: self.owner.stream,
                    groups: launch.grid.count,
                });
                let arch = launch.arch;
                self.state = State::Running(Box::new(Running {
                    launch,
                    program: Program::new(arch),
                    memory_unit: Memory::default(),
                    next: 0,
                    resident: Vec::new(),
                }));
            }
            Err(Refused::Stalled(stall)) => self.stall = Some(stall),
            Err(Refused::Fault(fault)) => self.state = State::Ended(Some(fault)),
        }
    }
}

impl Running {
    /// A turn of every resident workgroup; whether all are done.
    fn work(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
        limit: u64,
    ) -> Result<(u64, bool), (u64, Refused)> {
        self.fill(ready);
        let mut used = 0;
        let mut index = 0;
        let mut stalled = None;
        let mut progressed = false;
        while index < self.resident.len() && used < limit {
            let turn = TURN.min(limit - used);
            let group = &mut self.resident[index];
            let (executed, turned) = group.run(
                &self.launch.environment,
                &mut self.program,
                &mut self.memory_unit,
                fabric,
                memory,
                turn,
            );
            used += executed;
            match turned {
                Turned::GoesOn => {
                    progressed = true;
                    index += 1;
                }
                Turned::Ended => {
                    progressed = true;
                    let group = self.resident.swap_remove(index);
                    self.begin_next(group.place().core);
                }
                Turned::Refused(Refused::Stalled(stall)) => {
                    stalled = Some(stall);
                    index += 1;
                }
                Turned::Refused(fault) => return Err((used, fault)),
            }
        }
        match stalled {
            Some(stall) if !progressed => Err((used, Refused::Stalled(stall))),
            _ => Ok((used, self.resident.is_empty())),
        }
    }

    /// Puts a workgroup on each core that has none.
    fn fill(&mut self, ready: u64) {
        for core in (0..64).filter(|core| ready >> core & 1 != 0) {
            let taken = self.resident.iter().any(|group| group.place().core == core);
            if !taken {
                self.begin_next(core);
            }
        }
    }

    fn begin_next(&mut self, core: u8) {
        if let Some(id) = self.launch.grid.workgroup(self.next) {
            self.next += 1;
            self.resident.push(Workgroup::new(&self.launch, core, id));
        }
    }
}

impl Grid {
    /// The id of workgroup `number`, x fastest; `None` beyond the last.
    fn workgroup(&self, number: u64) -> Option<[u32; 3]> {
        let [x, y, z] = self.count.map(u64::from);
        if x == 0 || y == 0 || z == 0 {
            return None;
        }
        let (row, plane) = (number / x, number / x / y);
        (plane < z).then_some([(number % x) as u32, (row % y) as u32, plane as u32])
    }
}
