//! A GPU that is lost: stopped, and started again by `poll`. What was saved or had not begun goes on, what had begun is told, and
//! the outcome of each job is found once.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Ready, SECOND, Work, diagnoses, fault, firmware, inject, long,
    machine, queue, queue_in, queues_with_work, ready, some, storage, submit, up, up_on, up_with,
    wait, withdraw, words,
};
use crate::machine::{Host, Machine};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::{Config, Injection, Product};
use eitri_runtime::{
    BringUpError, Cause, Device, DeviceLost, Instant, Options, Platform, ProbeError, QueueConfig,
    Recovery, Status, Storage, SubQueue, SystemCoherency,
};

const SHORT: Duration = Duration::from_millis(5);

/// A device whose GPU was lost because a job did not let itself be terminated, and that is up again.
fn recovered(machine: &Machine) -> (Device<'static, 'static, Host>, Work) {
    let mut device = up(machine.clone());
    let space = device.create_space().or_fail("there is memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &FOREVER, 64);
    inject(machine, Injection::TerminateIgnored);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    device.cancel(queue).or_fail("it is there");
    assert!(wait(&mut device, fence).is_err());
    assert_eq!(device.recoveries(), 1);
    (device, work)
}

/// A shader that was still running when its GPU was lost reaches nobody else's memory.
pub(crate) fn a_lost_gpu_is_stopped_before_its_memory_has_a_new_owner() {
    let machine = machine();
    let (mut device, work) = recovered(&machine);
    device
        .destroy_buffer(work.buffer)
        .or_fail("nothing uses it");
    let space = device.create_space().or_fail("there is memory");
    let new = device
        .create_buffer(space, 64 * 4)
        .or_fail("there is memory");
    device.write_buffer(new, 0, &[0x11; 64]).or_fail("it fits");
    machine.pass(Duration::from_millis(2));
    assert_eq!(words(&mut device, new, 1), [0x1111_1111]);
    assert_eq!(device.memory_withheld(), 0, "the GPU was reset");
}

/// Who destroys something while the GPU is being stopped waits until it is.
pub(crate) fn memory_that_is_given_back_in_the_middle_of_a_loss_waits_for_the_reset() {
    for polls in some(&[0, 5, 2, 11, 1, 3, 4, 6, 7, 8, 9, 10], 3)
        .iter()
        .copied()
    {
        let machine = machine();
        let mut device = up(machine.clone());
        let space = device.create_space().or_fail("there is memory");
        let queue = queue_in(&mut device, space);
        let work = Work::in_space(&mut device, space, &FOREVER, 64);
        let other = device
            .create_buffer(space, 4096 * 4)
            .or_fail("there is memory");
        let fence = submit(&mut device, queue, &work);
        assert_eq!(device.wait(fence, SHORT), Status::Pending);
        inject(&machine, Injection::McuCrash);
        // The start of another group is what crashes it.
        let second = Work::in_space(&mut device, space, &DOUBLE, 64);
        let other_queue = queue_in(&mut device, space);
        submit(&mut device, other_queue, &second);
        for _ in 0..polls {
            device.poll(Instant(machine.time()));
        }
        let before = machine.memory_in_use();
        device.destroy_buffer(other).or_fail("nobody uses it");
        assert_eq!(machine.memory_in_use(), before - 4096 * 4);
        assert_eq!(device.memory_withheld(), 0);
        assert!(wait(&mut device, fence).is_err());
        assert!(device.settle());
        device.shutdown(&mut ()).or_fail("it shuts down in order");
        assert_eq!(machine.memory_in_use(), 0, "after {polls} polls");
    }
}

pub(crate) fn the_memory_of_a_gpu_that_does_not_reset_is_never_given_back() {
    let machine = machine().with_slowdown(1);
    let mut device = up(machine.clone());
    let space = device.create_space().or_fail("there is memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &FOREVER, 64);
    inject(&machine, Injection::TerminateIgnored);
    inject(&machine, Injection::ResetNeverCompletes);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    device.cancel(queue).or_fail("it is there");
    assert!(device.wait(fence, 2 * SECOND) != Status::Pending);
    let lost = device.lost().map(ToString::to_string);
    assert!(lost.is_some_and(|text| text.starts_with("the GPU could not be started again")));

    let before = machine.memory_in_use();
    device
        .destroy_buffer(work.buffer)
        .or_fail("it is in memory only");
    assert_eq!(device.memory_withheld(), 4096);
    assert_eq!(
        machine.memory_in_use(),
        before,
        "the platform has not got it"
    );
    assert!(device.restart(&mut ()).is_err());
    let failed = device.shutdown(&mut ()).map(drop).expect_err("no reset");
    assert!(matches!(failed.error, BringUpError::Reset(_)), "{failed}");
    assert_eq!(machine.memory_in_use(), before, "nothing was given back");
}

/// What a loss leaves of the jobs of ten queues, more than there are slots and spaces for.
#[derive(Debug, Default)]
struct Left {
    done: u32,
    /// Lost with the GPU: they had begun.
    lost: u32,
    /// Failed with a cause of their own.
    named: u32,
}

/// Ten queues with four jobs each, struck by `injection` after `polls` looks. Each job is done once, or told.
fn strike<P: Platform>(machine: &Machine, platform: P, injection: Injection, polls: u32) -> Left {
    const JOBS: u32 = 4;
    let case = format!("{injection:?} after {polls} polls");
    let storage = Box::leak(Box::new(Storage::<10, 64, 128>::new()));
    let options = Options::default();
    let up = Device::bring_up(platform, firmware(), storage, options, &mut ());
    let mut device = up.or_fail("the GPU comes up");
    let queues = queues_with_work(&mut device, 10, &DOUBLE, 64);
    let mut fences = Vec::new();
    for _ in 0..JOBS {
        for (queue, work) in &queues {
            fences.push(submit(&mut device, *queue, work));
        }
    }
    for _ in 0..polls {
        let next = device.poll(Instant(machine.time()));
        let now = machine.time();
        let at = next.at.or_fail("jobs are in flight");
        machine.pass(at.0.saturating_sub(now).min(Duration::from_micros(20)));
    }
    inject(machine, injection);
    let mut looks = 0;
    let mut seen = false;
    while fences
        .iter()
        .any(|fence| device.status(*fence) == Status::Pending)
    {
        let next = device.poll(Instant(machine.time()));
        // What stays in force until it is taken back strikes once.
        if device.recoveries() > 0 && !seen {
            withdraw(machine, injection);
            seen = true;
        }
        let now = machine.time();
        let at = next.at.unwrap_or(Instant(now)).0;
        let step = at.saturating_sub(now);
        machine.pass(step.clamp(Duration::from_micros(1), Duration::from_millis(1)));
        looks += 1;
        assert!(looks < 20_000, "{case}: it never ends");
    }
    withdraw(machine, injection);
    let mut left = Left::default();
    for (queue, work) in &queues {
        let mut of_queue = Left::default();
        for fence in fences.iter().filter(|fence| fence.queue == *queue) {
            match device.status(*fence) {
                Status::Done => of_queue.done += 1,
                Status::Failed(fault) if fault.cause == Cause::LostWithGpu => {
                    assert_eq!(fault.recovery, Recovery::Continue, "{case}: {fault}");
                    of_queue.lost += 1;
                }
                Status::Failed(_) => of_queue.named += 1,
                status => panic!("{case}: {fence}: {status:?}"),
            }
        }
        // A stream is at one job at a time: no more can be lost, and what is lost may have been through.
        assert!(of_queue.lost <= 1, "{case}: {of_queue:?}");
        // Caches that can't be cleaned keep what jobs wrote: whoever reads it is told.
        if injection != Injection::FlushNeverCompletes {
            let times = work.words(&mut device, 2)[1].trailing_zeros();
            let most = match of_queue.named {
                0 => of_queue.done + of_queue.lost,
                _ => JOBS,
            };
            assert!(
                (of_queue.done..=most).contains(&times),
                "{case}: {of_queue:?}, and {times} times doubled"
            );
        }
        if of_queue.named == 0 {
            // The queue goes on, unless it was stopped when it had nothing in flight any more.
            match device.submit(*queue, work.commands) {
                Ok(again) => assert_eq!(wait(&mut device, again), Ok(()), "{case}"),
                Err(error) => assert_eq!(injection, Injection::SuspendIgnored, "{error}"),
            }
        }
        left.done += of_queue.done;
        left.lost += of_queue.lost;
        left.named += of_queue.named;
        for fence in fences.iter().filter(|fence| fence.queue == *queue) {
            device.discard(*fence);
        }
        device.destroy_queue(*queue).or_fail("the queue is idle");
    }
    assert_eq!(device.lost(), None, "{case}");
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    assert_eq!(machine.memory_in_use(), 0, "{case}");
    left
}

/// Who lost nothing by its own doing goes on: saved if the firmware still answered, from the next job on if it did not.
pub(crate) fn the_innocent_go_on_and_no_job_is_lost_or_run_twice() {
    // What strikes; whether the firmware can still save what is on slots; jobs that are named as the cause.
    let table = [
        (Injection::McuCrash, false, 0),
        (Injection::GpuFault { exception: 0x80 }, true, 0),
        (Injection::StreamFatal { exception: 0x41 }, true, 4),
        (Injection::PingIgnored, false, 0),
        (Injection::AddressSpaceStuck { space: 3 }, true, 0),
        (Injection::FlushNeverCompletes, false, 0),
        (Injection::SuspendIgnored, true, 4),
        (Injection::TerminateIgnored, true, 0),
    ];
    for (injection, saves, named) in some(&table, 3).iter().copied() {
        let all = [0, 9, 1, 2, 5, 14, 20];
        let count = if long() { 7 } else { 2 };
        for polls in some(&all[..count], 1).iter().copied() {
            let machine = machine();
            let left = strike(&machine, machine.platform(), injection, polls);
            assert_eq!(left.done + left.lost + left.named, 40, "{left:?}");
            assert!(left.named <= named, "{injection:?}: {left:?}");
            if saves {
                assert!(left.lost <= 1, "{injection:?} after {polls}: {left:?}");
            }
        }
    }
}

pub(crate) fn a_recovery_keeps_its_promises_without_coherency_too() {
    for injection in [Injection::McuCrash, Injection::GpuFault { exception: 0x80 }] {
        for polls in some(&[9, 1], 1).iter().copied() {
            let machine = machine();
            let platform = machine.behind_caches(21);
            let left = strike(&machine, platform, injection, polls);
            assert_eq!(left.done + left.lost, 40, "{injection:?}: {left:?}");
        }
    }
}

/// Whoever relies on registers from one submission to the next can't go on without them.
pub(crate) fn a_queue_of_foreign_streams_does_not_go_on_without_its_state() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let code = device.create_buffer(space, 64).or_fail("there is memory");
    let at = device.buffer_address(code).or_fail("it is there");
    let first = device.submit_stream(queue, SubQueue::Compute, at, 64);
    assert_eq!(wait(&mut device, first.or_fail("there is room")), Ok(()));
    inject(&machine, Injection::McuCrash);
    let second = device.submit_stream(queue, SubQueue::Compute, at, 64);
    let fault = fault(&mut device, second.or_fail("there is room"));
    assert_eq!(
        (fault.cause, fault.recovery),
        (Cause::LostWithGpu, Recovery::NewQueue)
    );
    assert!(
        device
            .submit_stream(queue, SubQueue::Compute, at, 64)
            .is_err()
    );
    assert_eq!(device.lost(), None);
}

/// A GPU that does not come back is not tried for ever.
pub(crate) fn a_device_is_given_up_after_as_many_starts_as_were_asked_for() {
    for recoveries in [0, 1, 3] {
        let machine = machine();
        let options = Options {
            recoveries,
            ..Options::default()
        };
        let mut device = up_with(machine.clone(), options);
        let queue = queue(&mut device);
        let work = Work::new(&mut device, queue, &DOUBLE, 64);
        inject(&machine, Injection::BootFails);
        inject(&machine, Injection::McuCrash);
        let fences = [0; 3].map(|_| submit(&mut device, queue, &work));
        // The first had begun, and its queue was to go on.
        assert!(wait(&mut device, fences[0]).is_err());
        assert!(device.settle());
        for fence in &fences[1..] {
            let fault = fault(&mut device, *fence);
            assert_eq!(fault.recovery, Recovery::Restart, "{fault}");
        }
        let text = device.lost().or_fail("the device is given up").to_string();
        let refused = device.submit(queue, work.commands).expect_err("given up");
        assert_eq!(
            refused.to_string(),
            format!("{text}\n  the GPU must be restarted")
        );
        let crash = text.starts_with("the firmware has crashed");
        assert_eq!(crash, recoveries == 0, "{text}");
        withdraw(&machine, Injection::BootFails);
        device.restart(&mut ()).or_fail("it boots now");
        device.destroy_queue(queue).or_fail("the queue is dead");
        let queue = self::queue(&mut device);
        let work = Work::new(&mut device, queue, &DOUBLE, 64);
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
}

/// A row of losses ends with the first job that ends well.
pub(crate) fn losses_are_counted_in_a_row() {
    let machine = machine();
    let options = Options {
        recoveries: 2,
        ..Options::default()
    };
    let mut device = up_with(machine.clone(), options);
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    for _ in 0..6 {
        inject(&machine, Injection::McuCrash);
        let [lost, good] = [0; 2].map(|_| submit(&mut device, queue, &work));
        assert!(wait(&mut device, lost).is_err());
        assert_eq!(wait(&mut device, good), Ok(()));
        device.discard(lost);
    }
    assert_eq!((device.recoveries(), device.lost()), (6, None));
}

pub(crate) fn a_restart_on_demand_keeps_buffers_and_queues() {
    let machine = machine();
    let mut device = up_on(machine.behind_caches(18), Options::default());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 256);
    let fences = [0; 4].map(|_| submit(&mut device, queue, &work));
    device.restart(&mut ()).or_fail("it starts");
    for fence in fences {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(work.words(&mut device, 4), [0, 16, 32, 48]);
    assert_eq!(device.recoveries(), 0, "nothing was lost");
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    assert_eq!(diagnoses(&machine), [""; 0]);
}

pub(crate) fn a_restart_that_fails_leaves_the_device_lost() {
    let machine = machine();
    let mut device = up(machine.clone());
    inject(&machine, Injection::BootFails);
    let error = device.restart(&mut ()).expect_err("it does not boot");
    assert_eq!(device.lost(), Some(&DeviceLost::Restart(error)));
    let refused = device.create_queue(QueueConfig::default());
    let text = refused.map(drop).expect_err("lost").to_string();
    assert!(
        text.starts_with(
            "the GPU could not be started again: the firmware did not announce itself"
        ),
        "{text}"
    );
    withdraw(&machine, Injection::BootFails);
    device.restart(&mut ()).or_fail("it boots now");
    assert!(device.lost().is_none());
}

/// Who asks is told what happened to the device, not only that the job is gone.
pub(crate) fn a_crash_of_the_firmware_is_told() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    inject(&machine, Injection::McuCrash);
    // The start of the group is what crashes it.
    let fence = submit(&mut device, queue, &work);
    let fault = fault(&mut device, fence);
    assert_eq!(
        (fault.cause, fault.recovery),
        (Cause::LostWithGpu, Recovery::Continue)
    );
    let text = device.last_loss().or_fail("it has crashed").to_string();
    assert!(
        text.starts_with("the firmware has crashed: MCU_STATUS (0x704) = 0x3"),
        "{text}"
    );
}

pub(crate) fn a_failed_bring_up_gives_back_a_stopped_gpu_its_memory_and_the_platform() {
    for injection in [
        Injection::L2PowerStuck,
        Injection::BootNeverCompletes,
        Injection::BootFails,
        Injection::PingIgnored,
        Injection::AddressSpaceStuck { space: 0 },
    ] {
        let machine = machine();
        inject(&machine, injection);
        let failed = Device::bring_up(
            machine.platform(),
            firmware(),
            storage(),
            Options::default(),
            &mut (),
        );
        let failed = failed.map(drop).expect_err("it must not come up");
        withdraw(&machine, injection);
        assert_eq!(machine.memory_in_use(), 0, "{injection:?}: {failed}");
        let lines = machine.lines();
        assert!(!lines.job && !lines.mmu && !lines.gpu, "{injection:?}");
        let again = Device::bring_up(
            failed.platform,
            firmware(),
            storage(),
            Options::default(),
            &mut (),
        );
        let device = again.unwrap_or_else(|error| panic!("{injection:?}: {error}"));
        device.shutdown(&mut ()).or_fail("it shuts down in order");
        assert_eq!(machine.memory_in_use(), 0, "{injection:?}");
    }
}

pub(crate) fn no_interrupt_is_let_through_after_shutdown() {
    let machine = machine();
    let device = up(machine.clone());
    let mut platform = device.shutdown(&mut ()).or_fail("it shuts down in order");
    for mask in [0x28, 0x1008, 0x2008] {
        assert_eq!(platform.read32(mask), 0, "mask at {mask:#x}");
    }
}

pub(crate) fn coherency_that_the_gpu_does_not_speak_is_refused() {
    let mut config = Config::default();
    config.product.part.limits.coherency_features = 0;
    let machine = Machine::new(config).with_coherency(SystemCoherency::AceLite);
    let failed = Device::bring_up(
        machine.platform(),
        firmware(),
        storage(),
        Options::default(),
        &mut (),
    );
    let failed = failed.map(drop).expect_err("refused");
    assert_eq!(
        failed.error,
        BringUpError::Probe(ProbeError::NotCoherent {
            system: SystemCoherency::AceLite,
            features: 0
        })
    );
    assert_eq!(
        failed.to_string(),
        "COHERENCY_FEATURES = 0x0: the platform states coherency ACE-Lite, which this GPU does not speak\n  \
         help: a platform that keeps the caches itself states none"
    );
}

/// What was decided is what the L2 and the address spaces are told.
pub(crate) fn coherency_is_decided_once() {
    // COHERENCY_ENABLE, AS0 MEMATTR, AS0 TRANSCFG: hardware/gpu-mmu.md sections 3 and 4.
    let told = |coherency| {
        let mut config = Config::default();
        config.product.part.limits.coherency_features = 1;
        let machine = Machine::new(config).with_coherency(coherency);
        let device = up_on(machine.platform(), Options::default());
        let told = [0x304, 0x2408, 0x2430].map(|offset| machine.platform().read32(offset));
        drop(device);
        told
    };
    let [protocol, attributes, walks] = told(SystemCoherency::None);
    assert_eq!((protocol, attributes), (31, 0x8C4C_8F4C));
    let [coherent_protocol, coherent_attributes, coherent_walks] = told(SystemCoherency::AceLite);
    assert_eq!((coherent_protocol, coherent_attributes), (0, 0x9C4C_9F4C));
    assert_ne!(walks, coherent_walks);
}

pub(crate) fn every_part_of_the_tables_comes_up() {
    for product in Product::all() {
        let soc = product.part.soc;
        let machine = Machine::new(Config {
            product,
            ..Config::default()
        });
        let up = Device::bring_up(
            machine.platform(),
            firmware(),
            storage(),
            Options::default(),
            &mut (),
        );
        let device = up.unwrap_or_else(|error| panic!("{soc}: {error}"));
        device.shutdown(&mut ()).or_fail("it shuts down in order");
    }
}
