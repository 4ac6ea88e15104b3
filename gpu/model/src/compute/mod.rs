//! Compute jobs: queued by streams, cut into workgroups, run on shader cores.
//!
//! Guarantees: one workgroup a core is resident at a time, so memory is bounded whatever the size of a dispatch; jobs and
//! cores take turns, so a job that never ends stops nobody else.
//!
//! Facts: hardware/command-stream.md 1.6, 3.6 and 4.1; csf-scheduling.md 1.

pub(crate) mod descriptors;
mod job;
mod launch;
mod workgroup;

use crate::fabric::Fabric;
use crate::injection::Injection;
use crate::memory::PhysicalMemory;
use crate::power::Power;
use crate::shader::JobFault;
use crate::stream::{Identity, IssuedJob, exception};
use alloc::vec::Vec;
use eitri_csf::registers::power::Domain;
use job::{Job, State};

/// Instructions that a job which hangs uses up in its turn.
const HUNG_TURN: u64 = 512;

/// A job that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) owner: Identity,
    /// The scoreboard slot that counts it.
    pub(crate) slot: u8,
    /// Whether the stream's progress value grows.
    pub(crate) progress: bool,
    pub(crate) fault: Option<JobFault>,
}

/// The shader cores and their jobs.
#[derive(Debug, Default)]
pub(crate) struct Cores {
    jobs: Vec<Job>,
    ended: Vec<Ended>,
    /// Cores that each slot may use.
    allowed: Vec<u64>,
}

impl Cores {
    /// Takes a job from a stream.
    pub(crate) fn queue(&mut self, owner: Identity, issued: IssuedJob) {
        self.jobs.push(Job::new(owner, issued));
    }

    /// Groups on `slot` may use these cores.
    pub(crate) fn allow(&mut self, slot: u8, cores: u64) {
        let index = usize::from(slot);
        if self.allowed.len() <= index {
            self.allowed.resize(index + 1, 0);
        }
        self.allowed[index] = cores;
    }

    fn allowed(&self, slot: u8) -> u64 {
        self.allowed.get(usize::from(slot)).copied().unwrap_or(0)
    }

    pub(crate) fn has_jobs(&self) -> bool {
        !self.jobs.is_empty()
    }

    pub(crate) fn has_jobs_of(&self, slot: u8) -> bool {
        self.jobs.iter().any(|job| job.owner.group == slot)
            || self.ended.iter().any(|ended| ended.owner.group == slot)
    }

    /// The group on `slot` is gone, and its jobs with it.
    pub(crate) fn drop_jobs_of(&mut self, slot: u8) {
        self.jobs.retain(|job| job.owner.group != slot);
        self.ended.retain(|ended| ended.owner.group != slot);
    }

    /// Jobs that have ended since the last call.
    pub(crate) fn take_ended(&mut self) -> Vec<Ended> {
        core::mem::take(&mut self.ended)
    }

    /// Whether a job could go on at once.
    pub(crate) fn can_work(&self, fabric: &Fabric, power: &Power) -> bool {
        !self.ended.is_empty()
            || self.jobs.iter().any(|job| {
                let present = fabric.config.product.part.shader_present;
                let cores = self.allowed(job.owner.group) & present;
                job.can_work(fabric, cores & power.ready(Domain::Shader), cores)
            })
    }

    /// Gives every job a turn; how many instructions were executed.
    pub(crate) fn work(
        &mut self,
        fabric: &mut Fabric,
        power: &Power,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> u64 {
        let ready = power.ready(Domain::Shader);
        let present = fabric.config.product.part.shader_present;
        let mut used = 0;
        for index in 0..self.jobs.len() {
            if used >= limit {
                break;
            }
            let cores = self.allowed(self.jobs[index].owner.group) & present;
            let job = &mut self.jobs[index];
            if cores == 0 {
                job.state = State::Ended(Some(JobFault {
                    exception: exception::CS_ENDPOINT_FAULT,
                    address: 0,
                }));
                continue;
            }
            if !job.can_work(fabric, cores & ready, cores) {
                continue;
            }
            let (slot, stream) = (Some(job.owner.group), Some(job.owner.stream));
            let hangs = |it| (it == Injection::JobsHang).then_some(());
            if fabric.strike_at(slot, stream, hangs).is_some() {
                // Time passes, as in an endless loop, and nothing comes of it.
                used += HUNG_TURN.min(limit - used);
                continue;
            }
            // An instruction at least, so that starting a job counts as work.
            used += job.work(fabric, memory, cores & ready, limit - used).max(1);
        }
        let ended = &mut self.ended;
        self.jobs.retain(|job| match job.state {
            State::Ended(fault) => {
                ended.push(Ended {
                    owner: job.owner,
                    slot: job.issued.slot,
                    progress: job.issued.progress,
                    fault,
                });
                false
            }
            _ => true,
        });
        used
    }
}
