//! A GPU that somebody else has used: a boot loader, a kernel that was left by a jump, an image that was loaded over
//! another. Nobody shut it down; bring-up finds it as it is.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Work, diagnoses, inject, machine, queue, submit, up, wait,
};
use crate::machine::Machine;

use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::Status;

const SHORT: Duration = Duration::from_millis(2);

/// What the one before was doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Left {
    /// Its firmware runs, and it has asked for nothing yet.
    Idle,
    /// Its jobs are done, its queues still there.
    Done,
    /// A shader that never ends is on the cores.
    Running,
    /// An interrupt that nobody took.
    Pending,
    /// Its firmware has crashed.
    Crashed,
}

/// Uses the GPU, and leaves it without a word.
fn leave(machine: &Machine, left: Left) {
    let mut device = up(machine.clone());
    let shader = if left == Left::Running {
        &FOREVER
    } else {
        &DOUBLE
    };
    if left != Left::Idle {
        let queue = queue(&mut device);
        let work = Work::new(&mut device, queue, shader, 64);
        if left == Left::Crashed {
            inject(machine, Injection::McuCrash);
        }
        let fence = submit(&mut device, queue, &work);
        match left {
            Left::Done => assert_eq!(wait(&mut device, fence), Ok(())),
            Left::Running => assert_eq!(device.wait(fence, SHORT), Status::Pending),
            // Time passes, and nobody polls.
            Left::Idle | Left::Pending | Left::Crashed => machine.pass(SHORT),
        }
    }
    // Dropping is not shutting down, but says nothing of what it may do one day: this one never happens.
    core::mem::forget(device);
}

pub(crate) fn a_gpu_that_was_left_in_use_is_brought_up() {
    for left in [
        Left::Idle,
        Left::Done,
        Left::Running,
        Left::Pending,
        Left::Crashed,
    ] {
        let machine = machine();
        leave(&machine, left);
        let before = diagnoses(&machine);
        let mut device = up(machine.clone());
        let queue = queue(&mut device);
        let work = Work::new(&mut device, queue, &DOUBLE, 64);
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()), "{left:?}");
        device.shutdown(&mut ()).or_fail("it shuts down in order");
        assert_eq!(diagnoses(&machine), before, "{left:?}");
    }
}
