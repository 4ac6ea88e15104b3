//! Turns: a job's warps and the steps between them, for a number of instructions.

use super::job::Turn;
use crate::fabric::Fabric;
use crate::injection::{GraphicsUnit, Injection};
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::shader::JobFault;
use crate::stream::Identity;

/// A job that goes on step by step, and runs warps between its steps.
pub(super) trait Stepwise {
    /// Whose job it is.
    fn owner(&self) -> Identity;

    /// The unit that does the next step; `None`: the step only begins a warp.
    fn unit(&self) -> Option<GraphicsUnit>;

    /// Whether a warp runs, which comes before the next step.
    fn has_warp(&self) -> bool;

    /// Whether nothing can be done before there is more tiler memory.
    fn lacks_memory(&self) -> bool {
        false
    }

    /// Runs the warp for at most `limit` instructions; how many they were.
    ///
    /// # Errors
    /// How many they were, and why the warp does not go on.
    fn run_warp(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> Result<u64, (u64, Refused<JobFault>)>;

    /// Does the next step; whether the job is done. Only `ready` cores may begin a warp.
    fn advance(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
    ) -> Result<bool, Refused<JobFault>>;
}

/// Gives a job a turn of about `limit` instructions: how many they were, and what became of it.
pub(super) fn take_turn(
    job: &mut impl Stepwise,
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    ready: u64,
    limit: u64,
) -> (u64, Turn) {
    let mut used = 0;
    while used < limit && !job.lacks_memory() {
        if job.has_warp() {
            match job.run_warp(fabric, memory, limit - used) {
                Ok(executed) => used += executed,
                Err((executed, refused)) => return (used + executed, Err(refused)),
            }
            continue;
        }
        // A step without a warp counts as an instruction.
        used += 1;
        fabric.pace.hold_up(fabric.config.latencies.step);
        if let Some(exception) = injected(fabric, job.owner(), job.unit()) {
            let address = 0;
            return (used, Err(Refused::Failed(JobFault { exception, address })));
        }
        match job.advance(fabric, memory, ready) {
            Ok(false) => {}
            Ok(true) => return (used, Ok(true)),
            Err(refused) => return (used, Err(refused)),
        }
    }
    (used, Ok(false))
}

/// The exception with which an injection makes a step fail that `unit` does.
pub(super) fn injected(
    fabric: &mut Fabric,
    owner: Identity,
    unit: Option<GraphicsUnit>,
) -> Option<u8> {
    let (slot, stream) = (Some(owner.group), Some(owner.stream));
    let step = fabric.strike_at(slot, stream, |injection| match injection {
        Injection::DrawStepFault { exception } => Some(exception),
        _ => None,
    });
    step.or_else(|| fabric.unit_fails(slot, stream, unit?))
}
