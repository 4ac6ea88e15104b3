//! Time: what a wait costs, and whose limits they are. All of it is the model's time.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Ready, Work, firmware, inject, long, machine, queue, queues_with_work,
    ready, storage, submit, up, wait,
};
use crate::machine::Machine;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{BringUpError, Device, Instant, Options, Status};

/// The second completion within a wait is seen as soon as the first.
pub(crate) fn the_last_of_several_jobs_in_flight_is_not_waited_for_a_millisecond_longer() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 256);
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
pub(crate) fn limits_of_the_hardware_scale_with_its_clock() {
    for slowdown in [1, 20] {
        let machine = machine().with_slowdown(slowdown);
        inject(&machine, Injection::L2PowerStuck);
        let failed = Device::bring_up(
            machine.platform(),
            firmware(),
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

/// What calls of the running phase cost: no wait, and a bounded number of register accesses.
#[derive(Default)]
struct Cost {
    waits: u64,
    accesses: u64,
    time: Duration,
}

impl Cost {
    /// Does something, and keeps what the dearest so far has cost.
    fn of<T>(&mut self, machine: &Machine, action: impl FnOnce() -> T) -> T {
        let (before, start) = (machine.accesses(), machine.time());
        let result = action();
        let after = machine.accesses();
        let accesses = after.registers - before.registers;
        self.waits += after.waits - before.waits;
        self.accesses = self.accesses.max(accesses);
        self.time = self.time.max(machine.time() - start);
        result
    }

    #[track_caller]
    fn is_bounded(&self) {
        assert_eq!(self.waits, 0, "it waits");
        assert!(self.accesses < 400, "{} accesses", self.accesses);
        assert!(self.time < Duration::from_micros(500), "{:?}", self.time);
    }
}

/// `poll`, `submit`, `status` and `cancel` do not wait for jobs, for the firmware, or for the MMU: what they take is their
/// register accesses, also while a job hangs, others wait for its slot, and the firmware is silent.
pub(crate) fn the_running_phase_never_waits() {
    let machine = machine();
    let mut device = up(machine.clone());
    let mut cost = Cost::default();
    let queues = queues_with_work(&mut device, 8, &FOREVER, 16);
    let mut fences = Vec::new();
    for (queue, work) in &queues {
        fences.push(cost.of(&machine, || submit(&mut device, *queue, work)));
    }
    inject(&machine, Injection::SuspendIgnored);
    let polls = if long() { 400 } else { 150 };
    for _ in 0..polls {
        let next = cost.of(&machine, || device.poll(Instant(machine.time())).at);
        for fence in &fences {
            cost.of(&machine, || device.status(*fence));
        }
        let Some(next) = next else { break };
        let now = machine.time();
        machine.pass(next.0.saturating_sub(now).min(Duration::from_millis(1)));
    }
    cost.of(&machine, || {
        device.cancel(queues[0].0).or_fail("it is there")
    });
    cost.of(&machine, || device.poll(Instant(machine.time())));
    assert!(device.last_loss().is_none());
    cost.is_bounded();
}

/// Nor does a recovery wait, whatever does not answer on the way.
pub(crate) fn a_recovery_never_waits() {
    for also in [
        None,
        Some(Injection::BootNeverCompletes),
        Some(Injection::ResetNeverCompletes),
        Some(Injection::L2PowerStuck),
        Some(Injection::FlushNeverCompletes),
        Some(Injection::AddressSpaceStuck { space: 0 }),
        Some(Injection::SuspendIgnored),
    ] {
        let all = [
            Injection::McuCrash,
            Injection::GpuFault { exception: 0x80 },
            Injection::FlushNeverCompletes,
        ];
        let count = if long() { 3 } else { 1 };
        for first in all.into_iter().take(count) {
            let machine = machine();
            let mut device = up(machine.clone());
            let mut cost = Cost::default();
            let queues = queues_with_work(&mut device, 8, &DOUBLE, 64);
            let mut fences = Vec::new();
            for (queue, work) in &queues {
                for _ in 0..3 {
                    fences.push(cost.of(&machine, || submit(&mut device, *queue, work)));
                }
            }
            inject(&machine, first);
            if let Some(also) = also {
                inject(&machine, also);
            }
            let mut polls = 0;
            loop {
                let next = cost.of(&machine, || device.poll(Instant(machine.time())));
                let pending = |fence: &&_| device.status(**fence) == Status::Pending;
                let Some(at) = next.at.filter(|_| fences.iter().any(|it| pending(&it))) else {
                    break;
                };
                let now = machine.time();
                machine.pass(at.0.saturating_sub(now).max(Duration::from_micros(1)));
                polls += 1;
                assert!(polls < 60_000, "{first:?}, {also:?}: it never ends");
            }
            cost.is_bounded();
        }
    }
}

/// Between two polls nothing is missed, and a loop that sleeps until `at` alone sees every job end.
pub(crate) fn a_loop_that_sleeps_until_it_is_due_sees_every_job_end() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 256);
    let fence = submit(&mut device, queue, &work);
    let mut polls = 0;
    loop {
        let next = device.poll(Instant(machine.time()));
        if device.status(fence) != Status::Pending {
            break;
        }
        let at = next.at.or_fail("a job is in flight");
        machine.pass(at.since(Instant(machine.time())));
        polls += 1;
        assert!(polls < 20, "{:?}", machine.time());
    }
    assert_eq!(device.status(fence), Status::Done);
    let idle = device
        .poll(Instant(machine.time()))
        .at
        .or_fail("the next ping is due");
    assert!(idle.since(Instant(machine.time())) > Duration::from_secs(1));
}

/// Nobody asks: the ping is the device's own, and so is its deadline.
pub(crate) fn silent_firmware_is_noticed_without_a_ping_of_the_callers() {
    let machine = machine();
    let mut device = up(machine.clone());
    inject(&machine, Injection::PingIgnored);
    let start = machine.time();
    while device.last_loss().is_none() {
        machine.pass(Duration::from_millis(500));
        device.poll(Instant(machine.time()));
        assert!(machine.time() - start < Duration::from_secs(20));
    }
    let lost = device
        .last_loss()
        .or_fail("the firmware was silent")
        .to_string();
    assert!(
        lost.starts_with("the firmware did not answer a ping"),
        "{lost}"
    );
}
