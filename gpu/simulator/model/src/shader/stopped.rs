//! Why a warp stops, and the faults of its job.
//!
//! Facts: hardware/valhall-isa.md 12.

use crate::mmu::{Refusal, Refused};

/// A job's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobFault {
    pub(crate) exception: u8,
    pub(crate) address: u64,
}

/// Exceptions that shaders raise; their table is `eitri_csf::fault`.
pub(crate) mod exception {
    pub(crate) const KABOOM: u8 = 0x05;
    pub(crate) const INSTR_INVALID_PC: u8 = 0x50;
    pub(crate) const INSTR_INVALID_ENC: u8 = 0x51;
    pub(crate) const INSTR_BARRIER_FAULT: u8 = 0x55;
    pub(crate) const DATA_INVALID_FAULT: u8 = 0x58;
    pub(crate) const IMPRECISE_FAULT: u8 = 0x5B;
}

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It has had its turn.
    Turn,
    /// Its threads have ended.
    Ended,
    /// Its live threads wait at a barrier.
    Barrier,
    /// A memory access waits, or the job has failed.
    Refused(Refused<JobFault>),
}

impl From<Refusal> for Refused<JobFault> {
    fn from(refusal: Refusal) -> Refused<JobFault> {
        let (exception, address) = match refusal {
            Refusal::Stalled(stall) => return Refused::Stalled(stall),
            Refusal::Fault(fault) => (fault.exception, fault.address),
            Refusal::Bus(error) => (exception::IMPRECISE_FAULT, error.address),
        };
        Refused::Failed(JobFault { exception, address })
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Stopped {
        Stopped::Refused(refusal.into())
    }
}

impl From<JobFault> for Stopped {
    fn from(fault: JobFault) -> Stopped {
        Stopped::Refused(Refused::Failed(fault))
    }
}
