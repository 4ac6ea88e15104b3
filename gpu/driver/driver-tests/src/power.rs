//! Power: off when there is nothing to do, on again when there is, and at its owner's wish; whatever goes wrong on the way.

use crate::bench::{
    DOUBLE, OrFail, SECOND, Work, brief, config, diagnoses, firmware, inject, long, queue,
    queues_with_work, some, submit, up_on, up_with, wait, withdraw,
};
use crate::machine::Machine;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_csf::interface::control::Version;
use eitri_model::{Config, Injection};
use eitri_runtime::{
    Access, BringUpError, Counts, Device, DeviceLost, DevicePower, Error, Instant, Lines,
    OperatingPoint, Options, Platform, SemaphorePoint, Status, SubmitInfo,
};

const IDLE: Duration = Duration::from_millis(50);
const SHORT: Duration = Duration::from_millis(5);

fn options() -> Options {
    Options {
        idle_off: Some(IDLE),
        ..Options::default()
    }
}

/// A machine whose supply takes its time.
fn slow_supply() -> Machine {
    let machine = Machine::new(config()).with_slowdown(1);
    machine.with_supply_delay(Duration::from_millis(3))
}

/// Polls as a loop does that sleeps until it is told to look again, for `time` at most; ends when it need not look any more.
fn sleep_and_poll<P: Platform>(machine: &Machine, device: &mut Device<'_, '_, P>, time: Duration) {
    let end = machine.time() + time;
    let mut here = machine.platform();
    while machine.time() < end {
        let next = device.poll(Instant(machine.time()));
        let Some(at) = next.at else {
            assert_eq!(next.lines, Lines::NONE);
            return;
        };
        here.wait(next.lines, at.min(Instant(end)));
    }
}

/// Jobs, idleness, jobs again: each time the GPU is off in between and nobody touches it then.
fn off_and_on<P: Platform>(machine: &Machine, platform: P) {
    let mut device = up_on(platform, options());
    let queues = queues_with_work(&mut device, 3, &DOUBLE, 64);
    for round in 1..=3 {
        for (queue, work) in &queues {
            let fence = submit(&mut device, *queue, work);
            assert_eq!(wait(&mut device, fence), Ok(()), "round {round}");
        }
        assert_eq!(device.power(), DevicePower::On);
        sleep_and_poll(machine, &mut device, IDLE / 2);
        assert_eq!(device.power(), DevicePower::On, "not yet");
        sleep_and_poll(machine, &mut device, 2 * IDLE);
        assert_eq!(device.power(), DevicePower::Off);
        assert!(!machine.supply().on);
        // Memory is the host's all the time.
        for (_, work) in &queues {
            assert_eq!(work.words(&mut device, 2), [0, 1 << round]);
        }
        let extra = Work::new(&mut device, queues[0].0, &DOUBLE, 64);
        extra.destroy(&mut device);
    }
    assert_eq!(machine.supply().strays, 0, "registers without supply");
    assert_eq!((machine.supply().switched, device.recoveries()), (5, 0));
    device.shutdown(&mut ()).or_fail("it is off");
    assert_eq!(machine.memory_in_use(), 0);
    assert_eq!(machine.supply().strays, 0);
}

pub(crate) fn a_gpu_with_nothing_to_do_is_off_until_there_is() {
    let machine = slow_supply();
    off_and_on(&machine, machine.platform());
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// Starting the counters switches the GPU on; they count what is done from then on.
pub(crate) fn counters_wake_a_gpu_that_is_off() {
    let machine = slow_supply();
    let mut device = up_on(machine.platform(), options());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    sleep_and_poll(&machine, &mut device, 2 * IDLE);
    assert_eq!(device.power(), DevicePower::Off);
    device.start_counters().or_fail("the GPU is on for them");
    assert_eq!(device.power(), DevicePower::On);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    let mut counts = Counts::new(device.properties().arch);
    device
        .sample_counters(&mut counts)
        .or_fail("the counters are on");
    assert_eq!(counts.get("ITER_COMP_JOB_COMPLETED"), Some(1));
    assert_eq!(machine.supply().strays, 0, "registers without supply");
}

pub(crate) fn a_gpu_is_off_and_on_without_coherency_too() {
    let machine = slow_supply();
    off_and_on(&machine, machine.behind_caches(5));
}

/// From interface 4.1 on another request halts the firmware.
pub(crate) fn firmware_of_later_interfaces_is_halted_and_started_again() {
    let machine = Machine::new(Config {
        interface: Some(Version::GLB_STATE),
        ..config()
    });
    off_and_on(&machine, machine.platform());
}

/// Jobs that run are saved, and end after the resume; one that is submitted meanwhile begins then.
pub(crate) fn jobs_outlive_a_suspended_device() {
    // A job is saved when it is through: a slow model needs short ones, and more of them, so that some are left after two rounds.
    let (jobs, size) = match brief() {
        true => (20, 64 * 64),
        false => (8, 64 * 256),
    };
    let machine = slow_supply();
    let mut device = up_with(machine.clone(), Options::default());
    let (first, second) = (queue(&mut device), queue(&mut device));
    let long = Work::new(&mut device, first, &DOUBLE, size);
    let work = Work::new(&mut device, second, &DOUBLE, 64);
    let running: Vec<_> = (0..jobs)
        .map(|_| submit(&mut device, first, &long))
        .collect();
    let last_job = running[running.len() - 1];
    assert_eq!(wait(&mut device, running[0]), Ok(()));
    for round in 1..=2 {
        device.suspend().or_fail("the device is alive");
        assert_eq!(device.power(), DevicePower::On, "poll does it");
        assert!(device.settle());
        assert_eq!(device.power(), DevicePower::Off);
        assert_eq!(device.status(last_job), Status::Pending, "round {round}");
        let later = submit(&mut device, second, &work);
        assert_eq!(device.wait(later, SHORT), Status::Pending);
        assert_eq!(device.ping(), Err(Error::Suspended));
        assert!(!machine.supply().on);
        device.resume().or_fail("the device is alive");
        assert_eq!(wait(&mut device, later), Ok(()));
    }
    assert_eq!(wait(&mut device, last_job), Ok(()));
    assert_eq!(work.words(&mut device, 2), [0, 4]);
    let last = size - 1;
    let words = long.words(&mut device, size as usize);
    assert_eq!((words[1], words[last as usize]), (1 << jobs, last << jobs));
    assert_eq!(machine.supply().strays, 0);
}

/// Who waits for the host keeps no GPU from being switched off, and wakes it when the host has signalled.
pub(crate) fn a_signal_of_the_host_wakes_the_gpu() {
    let machine = slow_supply();
    let mut device = up_with(machine.clone(), options());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let semaphore = device.create_semaphore(0).or_fail("there is memory");
    device
        .map_semaphore(semaphore, space, Access::Read)
        .or_fail("there is memory");
    let info = SubmitInfo {
        waits: &[SemaphorePoint {
            semaphore,
            value: 1,
        }],
        ..SubmitInfo::default()
    };
    let fence = device
        .submit_with(queue, work.commands, info)
        .or_fail("there is room");
    sleep_and_poll(&machine, &mut device, 4 * IDLE);
    assert_eq!(device.power(), DevicePower::Off);
    assert_eq!(device.status(fence), Status::Pending);
    device.signal_semaphore(semaphore, 1).or_fail("it is there");
    assert_eq!(device.power(), DevicePower::ComingOn);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(machine.supply().strays, 0);
}

/// A call that needs a GPU with power waits until one that is on its way off is off, and switches it on again.
pub(crate) fn a_ping_wakes_a_gpu_that_is_on_its_way_off() {
    let machine = slow_supply();
    let mut device = up_with(machine.clone(), options());
    sleep_and_poll(&machine, &mut device, IDLE / 2);
    let mut polls = 0..10_000;
    while device.power() != DevicePower::GoingOff {
        assert!(polls.next().is_some(), "{:?}", device.power());
        machine.pass(Duration::from_micros(100));
        device.poll(Instant(machine.time()));
    }
    let switched = machine.supply().switched;
    assert_eq!(device.ping(), Ok(()));
    assert_eq!(device.power(), DevicePower::On);
    assert_eq!(machine.supply().switched, switched + 2, "off and on");
    assert_eq!(machine.supply().strays, 0);
}

/// Everything that can go wrong on the way off and on again: the job behind it is done, or the device says why not.
pub(crate) fn whatever_goes_wrong_on_the_way_ends_in_bounded_time() {
    // What is quick to tell; a halt that is ignored takes the model half a minute.
    const SOME: [Injection; 4] = [
        Injection::McuCrash,
        Injection::L2PowerStuck,
        Injection::BootFails,
        Injection::JobInterruptLost,
    ];
    let injections = match long() {
        true => Injection::ALL.as_slice(),
        false => some(&SOME, 2),
    };
    let options = Options {
        recoveries: 1,
        ..options()
    };
    for injection in injections.iter().copied() {
        for on_the_way_on in [false, true] {
            let case = format!("{injection:?}, on the way on: {on_the_way_on}");
            let machine = slow_supply();
            let mut device = up_with(machine.clone(), options);
            let queue = queue(&mut device);
            let work = Work::new(&mut device, queue, &DOUBLE, 64);
            let first = submit(&mut device, queue, &work);
            assert_eq!(wait(&mut device, first), Ok(()), "{case}");
            if !on_the_way_on {
                inject(&machine, injection);
            }
            sleep_and_poll(&machine, &mut device, IDLE + 2 * SECOND);
            let lost = device.lost().is_some();
            let off = device.power() == DevicePower::Off;
            assert!(off || lost, "{case}: {:?}", device.power());
            withdraw(&machine, injection);
            if lost {
                device
                    .restart(&mut ())
                    .unwrap_or_else(|error| panic!("{case}: {error}"));
                continue;
            }
            if on_the_way_on {
                inject(&machine, injection);
            }
            // A queue whose stream was struck takes no more.
            let Ok(second) = device.submit(queue, work.commands) else {
                continue;
            };
            let status = device.wait(second, 10 * SECOND);
            withdraw(&machine, injection);
            // Cores that do not run are the job's owner's to notice.
            let hangs = matches!(injection, Injection::JobsHang | Injection::ShaderPowerStuck);
            assert!(hangs || status != Status::Pending, "{case}");
            if !on_the_way_on {
                assert_eq!(status, Status::Done, "{case}");
            }
            assert_eq!(machine.supply().strays, 0, "{case}");
            device
                .shutdown(&mut ())
                .map(drop)
                .unwrap_or_else(|it| panic!("{case}: {it}"));
            assert_eq!(machine.memory_in_use(), 0, "{case}");
        }
    }
}

/// An address space whose commands do not end while the device is being suspended: a reset takes it, and jobs go on after the resume.
pub(crate) fn a_space_that_does_not_leave_costs_a_reset() {
    // The queue's alone in a default run.
    let spaces = if long() { &[1, 0][..] } else { &[1] };
    for space in spaces.iter().copied() {
        let machine = slow_supply();
        let mut device = up_with(machine.clone(), Options::default());
        let queue = queue(&mut device);
        let work = Work::new(&mut device, queue, &DOUBLE, 64);
        let first = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, first), Ok(()), "space {space}");
        let stuck = Injection::AddressSpaceStuck { space };
        inject(&machine, stuck);
        device.suspend().or_fail("the device is alive");
        sleep_and_poll(&machine, &mut device, SECOND);
        assert_eq!(device.power(), DevicePower::Off, "space {space}");
        assert!(!machine.supply().on, "space {space}");
        withdraw(&machine, stuck);
        device.resume().or_fail("the device is alive");
        let second = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, second), Ok(()), "space {space}");
        assert_eq!(machine.supply().strays, 0, "space {space}");
    }
}

/// A supply that never comes is told, at bring-up and when it is on its way on.
pub(crate) fn a_supply_that_does_not_come_is_told() {
    let machine = Machine::new(config());
    let mut device = up_with(machine.clone(), options());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    device.suspend().or_fail("the device is alive");
    assert!(device.settle());
    let machine = machine.with_supply_delay(Duration::from_secs(1000));
    device.resume().or_fail("the device is alive");
    let fence = submit(&mut device, queue, &work);
    assert!(wait(&mut device, fence).is_err());
    let no_supply = matches!(
        device.lost(),
        Some(DeviceLost::Restart(BringUpError::NoSupply { .. }))
    );
    assert!(no_supply, "{:?}", device.lost());
    let machine_of_another = Machine::new(config()).with_supply_delay(Duration::from_secs(1000));
    let mut off = machine_of_another.platform();
    off.begin_supply(eitri_runtime::PowerChange::Off);
    let failed = Device::bring_up(off, firmware(), crate::bench::storage(), options(), &mut ());
    let error = failed.map(drop).expect_err("no supply").error;
    assert!(matches!(error, BringUpError::NoSupply { .. }), "{error}");
    assert_eq!(
        machine.supply().strays + machine_of_another.supply().strays,
        0
    );
}

/// Clock and voltage are handed on, and given again with the supply; nothing waits meanwhile.
pub(crate) fn clock_and_voltage_are_the_owners() {
    let machine = slow_supply();
    let mut device = up_with(machine.clone(), Options::default());
    let point = |hertz| OperatingPoint {
        hertz,
        microvolts: 750_000,
    };
    device.set_operating_point(point(300_000_000));
    assert_eq!(machine.supply().point, Some(point(300_000_000)));
    device.suspend().or_fail("the device is alive");
    assert!(device.settle());
    device.set_operating_point(point(800_000_000));
    assert_eq!(
        machine.supply().point,
        Some(point(300_000_000)),
        "it is off"
    );
    let waits = machine.accesses().waits;
    device.resume().or_fail("the device is alive");
    let mut polls = 0..10_000;
    while device.power() != DevicePower::On {
        let next = device.poll(Instant(machine.time()));
        let at = next.at.or_fail("it is on its way");
        machine.pass(
            at.since(Instant(machine.time()))
                .max(Duration::from_micros(1)),
        );
        assert!(polls.next().is_some());
    }
    assert_eq!(machine.accesses().waits, waits);
    assert_eq!(machine.supply().point, Some(point(800_000_000)));
}
