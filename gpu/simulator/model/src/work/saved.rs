//! Jobs of a suspended group: taken from the cores where they stopped, and given back for another slot.
//!
//! Tiling and fragment jobs are saved as they are, in the middle of a warp too, and so is one that waits for tiler memory: a group
//! whose heap is exhausted can be suspended. Compute jobs are finished first.
//!
//! Facts: hardware/csf-scheduling.md 11 (2): running jobs may be saved or finished; 3.4 (4).

use super::Cores;
use super::fragment::Pass;
use super::job::{Job, Running, State};
use super::tiling::{Fullscreen, Tiling};
use crate::stream::{Identity, Work};
use alloc::vec::Vec;

/// Jobs of a suspended group, in the order of issue.
#[derive(Clone, Debug, Default)]
pub(crate) struct SavedJobs {
    jobs: Vec<Job>,
}

impl SavedJobs {
    /// The jobs for the group on another slot, in another address space.
    pub(crate) fn moved_to(mut self, group: u8, space: u8) -> SavedJobs {
        for job in &mut self.jobs {
            let stream = job.owner.stream;
            job.move_to(Identity {
                group,
                stream,
                space,
            });
        }
        self
    }
}

impl Cores {
    /// Whether the jobs of the group on `slot` are such as can be saved: no compute job is left, and no end is to be told.
    pub(crate) fn can_save_jobs_of(&self, slot: u8) -> bool {
        let computes = |job: &Job| job.owner.group == slot && job.work_kind() == Work::Compute;
        !self.jobs.iter().any(computes) && !self.ended.iter().any(|it| it.owner.group == slot)
    }

    /// Takes the jobs of the group on `slot`.
    pub(crate) fn save_jobs_of(&mut self, slot: u8) -> SavedJobs {
        let jobs = self.jobs.extract_if(.., |job| job.owner.group == slot);
        SavedJobs {
            jobs: jobs.collect(),
        }
    }

    /// Goes on with saved jobs.
    pub(crate) fn resume_jobs(&mut self, saved: Vec<SavedJobs>) {
        for SavedJobs { jobs } in saved {
            self.jobs.extend(jobs);
        }
    }
}

impl Job {
    fn move_to(&mut self, owner: Identity) {
        self.owner = owner;
        self.forget_stall();
        if let State::Running(running) = &mut self.state {
            match running {
                Running::Compute(_) => {}
                Running::Draw(job) => Tiling::move_to(job, owner),
                Running::Fullscreen(job) => Fullscreen::move_to(job, owner),
                Running::Fragment(job) => Pass::move_to(job, owner),
            }
        }
    }
}
