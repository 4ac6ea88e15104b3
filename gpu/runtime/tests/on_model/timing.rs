//! Time: what a wait costs, and whose limits they are. All of it is the model's time.

use crate::bench::{
    DOUBLE, FIRMWARE, FOREVER, Work, inject, machine, queue, storage, submit, up, wait,
};
use eitri_model::Injection;
use eitri_runtime::{BringUpError, Device, Instant, Options, Status};
use std::time::Duration;

/// The second completion within a wait is seen as soon as the first.
#[test]
fn the_last_of_several_jobs_in_flight_is_not_waited_for_a_millisecond_longer() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 256);
    for count in [1, 2, 3, 8, 20] {
        let start = machine.time();
        let fences: Vec<_> = (0..count)
            .map(|_| submit(&mut device, queue, &work))
            .collect();
        assert_eq!(wait(&mut device, fences[fences.len() - 1]), Ok(()));
        let took = machine.time() - start;
        assert!(
            took < Duration::from_micros(200 + 50 * count),
            "{count} jobs: {took:?}"
        );
    }
}

/// A GPU whose clock is still parked has more time for its answers; a caller's limit is his own.
#[test]
fn limits_of_the_hardware_scale_with_its_clock() {
    for slowdown in [1, 20] {
        let machine = machine().with_slowdown(slowdown);
        inject(&machine, Injection::L2PowerStuck);
        let failed = Device::bring_up(
            machine.clone(),
            &FIRMWARE,
            storage(),
            Options::default(),
            &mut (),
        );
        let failed = failed.map(drop).expect_err("stuck");
        let BringUpError::Power(stuck) = failed.error else {
            panic!("{failed}");
        };
        assert_eq!(stuck.timed_out.limit, Duration::from_millis(20) * slowdown);
    }
    let machine = machine().with_slowdown(20);
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 256);
    inject(&machine, Injection::JobsHang);
    let fence = submit(&mut device, queue, &work);
    let (start, limit) = (machine.time(), Duration::from_millis(3));
    assert_eq!(device.wait(fence, limit), Status::Pending);
    let took = machine.time() - start;
    assert!(took < 2 * limit, "{took:?}");
}

/// `poll`, `submit`, `status` and `cancel` do not wait for jobs or for the firmware: what they take is their register
/// accesses, also while a job hangs, others wait for its slot, and the firmware is silent.
#[test]
fn the_running_phase_never_waits() {
    let machine = machine();
    let mut device = up(machine.clone());
    let mut longest = Duration::ZERO;
    let mut timed = |action: &mut dyn FnMut()| {
        let start = machine.time();
        action();
        longest = longest.max(machine.time() - start);
    };
    let queues: Vec<_> = (0..8)
        .map(|_| {
            let queue = queue(&mut device);
            (queue, Work::new(&mut device, queue, &FOREVER, 64))
        })
        .collect();
    let mut fences = Vec::new();
    for (queue, work) in &queues {
        timed(&mut || fences.push(submit(&mut device, *queue, work)));
    }
    inject(&machine, Injection::SuspendIgnored);
    let mut now = machine.time();
    for _ in 0..400 {
        let mut next = None;
        timed(&mut || next = device.poll(Instant(machine.time())).at);
        timed(&mut || {
            drop(
                fences
                    .iter()
                    .map(|fence| device.status(*fence))
                    .collect::<Vec<_>>(),
            )
        });
        let Some(next) = next else { break };
        machine.pass(next.0.saturating_sub(now).min(Duration::from_millis(1)));
        now = machine.time();
    }
    timed(&mut || device.cancel(queues[0].0).expect("there"));
    timed(&mut || {
        device.poll(Instant(machine.time()));
    });
    assert!(device.lost().is_none());
    assert!(longest < Duration::from_micros(500), "{longest:?}");
}

/// Between two polls nothing is missed, and a loop that sleeps until `at` alone sees every job end.
#[test]
fn a_loop_that_sleeps_until_it_is_due_sees_every_job_end() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 256);
    let fence = submit(&mut device, queue, &work);
    let mut polls = 0;
    loop {
        let next = device.poll(Instant(machine.time()));
        if device.status(fence) != Status::Pending {
            break;
        }
        let at = next.at.expect("a job is in flight");
        machine.pass(at.since(Instant(machine.time())));
        polls += 1;
        assert!(polls < 20, "{:?}", machine.time());
    }
    assert_eq!(device.status(fence), Status::Done);
    let idle = device
        .poll(Instant(machine.time()))
        .at
        .expect("the next ping");
    assert!(idle.since(Instant(machine.time())) > Duration::from_secs(1));
}

/// Nobody asks: the ping is the device's own, and so is its deadline.
#[test]
fn silent_firmware_is_noticed_without_a_ping_of_the_callers() {
    let machine = machine();
    let mut device = up(machine.clone());
    inject(&machine, Injection::PingIgnored);
    for _ in 0..40 {
        machine.pass(Duration::from_millis(500));
        device.poll(Instant(machine.time()));
    }
    let lost = device.lost().expect("silent").to_string();
    assert!(
        lost.starts_with("the firmware did not answer a ping"),
        "{lost}"
    );
}
