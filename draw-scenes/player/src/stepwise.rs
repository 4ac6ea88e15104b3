//! Playing a drawing in parts: who watches it is told before each, and may read what buffers and images hold then.
//!
//! Needs: what `play` needs.  Guarantees: the parts together are all steps, in their order; a query lies in one part.

use crate::readback;
use crate::resources::Made;
use crate::sets::Sets;
use crate::steps;
use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;
use eitri_drawing::{Drawing, Readback, Step};
use eitri_job::{Session, WorkError};
use eitri_runtime::{CommandBuffer, Platform, Queue};

/// Reads what a place holds; none if the driver does not let the host read it.
pub type Read<'r> = &'r mut dyn FnMut(&Readback) -> Option<Vec<u8>>;

/// Who is told between the parts of a drawing.
pub trait BetweenParts {
    /// The steps before these are done, and these come next, as one job.
    fn before(&mut self, steps: Range<usize>, read: Read<'_>);
}

/// The steps of a drawing in parts: one each, but from the beginning of a query to its end.
fn parts(steps: &[Step<'_>]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut first, mut open) = (0, 0_usize);
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::BeginQuery(_) => open += 1,
            Step::EndQuery(_) => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            parts.push(first..number + 1);
            first = number + 1;
        }
    }
    if first < steps.len() {
        parts.push(first..steps.len());
    }
    parts
}

/// Runs all steps, part by part.
pub(crate) fn run<'d, P: Platform>(
    session: &mut Session<'_, '_, 'd, '_, P>,
    (queue, commands): (Queue, CommandBuffer),
    (drawing, made, sets): (&Drawing<'d>, &Made<'d>, &Sets),
    watcher: &mut dyn BetweenParts,
) -> Result<(), WorkError> {
    for part in parts(&drawing.steps) {
        watcher.before(part.clone(), &mut |place| {
            readback::one(session.device, made, place).ok()
        });
        let steps = drawing.steps.get(part).unwrap_or_default();
        steps::record(session.device, commands, drawing, steps, made, sets)?;
        let fence = session.device.submit(queue, commands)?;
        session.wait(fence, Duration::from_millis(drawing.limit_ms.into()))?;
    }
    Ok(())
}
