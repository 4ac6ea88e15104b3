//! Recovery: after a fault, after a reset, and after the firmware was started again, the next job does what it should.
//!
//! Facts: hardware/csf-scheduling.md 6 and 8, csf-mmio.md 16.6 to 16.9.

use super::queues::quick;
use crate::bench::{Bench, Grid};
use crate::result::{Verdict, failed};
use crate::tools::LOAD_AT;
use eitri_runtime::Platform;

/// A job that faults costs its queue at most: its neighbours go on, and so does the device.
pub(crate) fn fault<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(LOAD_AT)?;
    for round in 0..3 {
        let queue = it.device.create_queue(Default::default())?;
        let space = it.device.space(queue)?;
        let push = [0x6000_0000 + round * 0x1000, 0, 4, 0];
        let grid = Grid {
            groups: 1,
            push: &push,
        };
        let work = it.work(space, program, &[0; 16], grid)?;
        let fence = it.device.submit(queue, work.commands)?;
        let fault = it.fault(fence);
        let next = quick(it);
        let _ = it.device.cancel(queue);
        it.device.settle();
        let _ = it.drop(&work);
        let _ = it.device.destroy_queue(queue);
        fault?;
        next?;
    }
    match it.device.lost() {
        None => Ok(()),
        Some(lost) => Err(failed!("faults have cost the device: {lost}")),
    }
}

/// The firmware answers a ping, over and over.
pub(crate) fn ping<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let before = it.device.recoveries();
    for _ in 0..8 {
        it.device.ping()?;
    }
    match it.device.recoveries() - before {
        0 => Ok(()),
        times => Err(failed!("the GPU had to be started again {times} times")),
    }
}

/// Stopped, reset and started again, the GPU works as before.
pub(crate) fn restart<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    for _ in 0..2 {
        it.device.restart(&mut ())?;
        quick(it)?;
    }
    Ok(())
}
