//! A replay that stops before a compute job, for a debugger: the one that fails, or one by its number.
//!
//! The part has one shader core, so that workgroups run one at a time and in their order.

use super::driver::Driver;
use super::{LIMIT, Options, ReplayError, prepare, product};
use crate::outcome::Failure;
use eitri_debugger::machine::SharedPages;
use eitri_dump::Dump;
use eitri_isa::Arch;
use eitri_model::Gpu;
use std::time::Instant;

/// Model's time that a job has for its fault to be reported, in nanoseconds.
const REPORTED: u64 = 1_000_000;

/// How a compute job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    Failed,
    /// It still ran when time was up.
    Not,
}

/// A model with a compute job that is about to start.
pub(crate) struct Stopped {
    pub(crate) gpu: Gpu,
    /// The generation of its instructions.
    pub(crate) arch: Arch,
    pub(crate) memory: SharedPages,
    /// Which of the dump's compute jobs it is, from 1.
    pub(crate) number: usize,
    /// How it ends.
    pub(crate) ended: Ended,
}

/// Runs the streams of a dump up to the compute job that is wanted; if none is said, to the one that fails, or the first.
pub(crate) fn stop(
    dump: &Dump<'_>,
    options: &Options,
    wanted: Option<usize>,
) -> Result<Stopped, Failure> {
    find(dump, options, wanted).map_err(Failure::refused)
}

fn find(dump: &Dump<'_>, options: &Options, wanted: Option<usize>) -> Result<Stopped, ReplayError> {
    let end = Instant::now() + options.timeout;
    let mut product = product(dump)?;
    product.part.shader_present = 1;
    let arch = product.arch();
    let mut driver = prepare(dump, options, product)?;
    let mut first = None;
    let mut number = 0;
    while driver.run_to_dispatch(end, LIMIT) {
        number += 1;
        let (gpu, memory) = (driver.gpu.clone(), driver.ram.pages().clone());
        let stopped = Stopped {
            gpu,
            arch,
            memory,
            number,
            ended: finish(&mut driver, end),
        };
        let is_wanted = match wanted {
            Some(wanted) => number == wanted,
            None => stopped.ended != Ended::Well,
        };
        if is_wanted {
            return Ok(stopped);
        }
        let was_well = stopped.ended == Ended::Well;
        first.get_or_insert(stopped);
        // Behind one that fails there is no other: the host would end the group.
        if !was_well {
            break;
        }
    }
    match (wanted, first) {
        (Some(wanted), Some(_)) => Err(ReplayError::FewDispatches {
            wanted,
            found: number,
        }),
        (None, Some(first)) => Ok(first),
        (_, None) => Err(ReplayError::NoDispatch),
    }
}

/// Runs the compute job to its end, and a little further if no other one starts: a fault is reported then.
fn finish(driver: &mut Driver, end: Instant) -> Ended {
    while driver.gpu.dispatch().is_some() {
        let goes_on = driver.gpu.step_dispatch(&mut driver.ram);
        if driver.has_failed() {
            return Ended::Failed;
        }
        if driver.gpu.dispatch().is_some() && (!goes_on || Instant::now() >= end) {
            return Ended::Not;
        }
    }
    driver.run_to_dispatch(end, REPORTED);
    match driver.has_failed() {
        true => Ended::Failed,
        false => Ended::Well,
    }
}
