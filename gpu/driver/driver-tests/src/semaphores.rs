//! Timeline semaphores: across queues, by host and GPU, wait before signal, more queues than slots, and losses on the way.

use crate::bench::{
    DOUBLE, FOREVER, LIMIT, OrFail, Ready, Work, fault, firmware, inject, machine, queue, ready,
    some, submit, up, up_with, wait, withdraw,
};
use crate::machine::{Host, Machine};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{
    Access, Cause, Device, Error, Fence, GpuAddress, Instant, Options, Platform, Queue, Semaphore,
    SemaphorePoint, Status, Storage, SubQueue, SubmitInfo,
};

const SHORT: Duration = Duration::from_millis(3);

/// A semaphore that the queues' spaces may wait for and signal.
fn shared<P: Platform>(device: &mut Device<'_, '_, P>, queues: &[Queue]) -> Semaphore {
    let semaphore = device.create_semaphore(0).or_fail("there is memory");
    for queue in queues {
        let space = device.space(*queue).or_fail("it is there");
        let mapped = device.map_semaphore(semaphore, space, Access::ReadWrite);
        mapped.or_fail("there is memory");
    }
    semaphore
}

fn at(semaphore: Semaphore, value: u64) -> SemaphorePoint {
    SemaphorePoint { semaphore, value }
}

fn submit_at<P: Platform>(
    device: &mut Device<'_, '_, P>,
    queue: Queue,
    work: &Work,
    waits: &[SemaphorePoint],
    signals: &[SemaphorePoint],
) -> Fence {
    let info = SubmitInfo {
        waits,
        signals,
        ..SubmitInfo::default()
    };
    device
        .submit_with(queue, work.commands, info)
        .or_fail("there is room")
}

pub(crate) fn a_job_waits_until_the_host_signals() {
    let Ready {
        mut device,
        queue,
        work,
        ..
    } = ready(&DOUBLE, 64);
    let semaphore = shared(&mut device, &[queue]);
    // Values of more than 32 and of more than 48 bits.
    let values = [1, 7, 1 << 32, (1 << 33) + 5, 1 << 63];
    let fences = values.map(|value| {
        let point = [at(semaphore, value)];
        submit_at(&mut device, queue, &work, &point, &[])
    });
    for (fence, value) in fences.into_iter().zip(values) {
        for before in [None, Some(value - 1)] {
            if let Some(before) = before {
                device
                    .signal_semaphore(semaphore, before)
                    .or_fail("it is there");
            }
            assert_eq!(device.wait(fence, SHORT), Status::Pending, "before {value}");
        }
        device
            .signal_semaphore(semaphore, value)
            .or_fail("it is there");
        assert_eq!(wait(&mut device, fence), Ok(()), "{value}");
    }
    // It never goes back.
    device.signal_semaphore(semaphore, 3).or_fail("it is there");
    assert_eq!(device.semaphore_value(semaphore), Ok(1 << 63));
    let point = [at(semaphore, 0)];
    let none = submit_at(&mut device, queue, &work, &point, &[]);
    assert_eq!(
        wait(&mut device, none),
        Ok(()),
        "0 was reached from the start"
    );
}

pub(crate) fn the_host_waits_for_what_jobs_signal() {
    let Ready {
        mut device,
        queue,
        work,
        ..
    } = ready(&DOUBLE, 64);
    let semaphore = shared(&mut device, &[queue]);
    for value in [2, 3, 1 << 40] {
        submit_at(&mut device, queue, &work, &[], &[at(semaphore, value)]);
    }
    let point = at(semaphore, (1 << 40) - 1);
    assert_eq!(device.wait_for(point, LIMIT), Ok(true));
    assert_eq!(device.semaphore_value(semaphore), Ok(1 << 40));
    let never = at(semaphore, u64::MAX);
    assert_eq!(
        device.wait_for(never, SHORT),
        Ok(false),
        "a limit is an answer"
    );
}

/// The value is enough to read by: nobody need poll first, so that the device learns that the job is over.
pub(crate) fn what_a_job_wrote_before_its_signal_is_read_after_it() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    let semaphore = shared(&mut device, &[queue]);
    let first = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, first), Ok(()), "it is on its slot now");
    for round in 1..4 {
        submit_at(&mut device, queue, &work, &[], &[at(semaphore, round)]);
        let mut looks = 0..1000;
        while device.semaphore_value(semaphore).or_fail("it is there") < round {
            machine.pass(Duration::from_micros(20));
            assert!(looks.next().is_some(), "round {round}");
        }
        assert_eq!(work.words(&mut device, 2), [0, 2 << round]);
    }
}

/// `count` queues, each of which waits for the one before it and signals the one after it, submitted from the last to the first;
/// three times round. Nobody could begin before the last submission.
fn chain<P: Platform>(machine: &Machine, platform: P, count: usize, strike: Option<Injection>) {
    const ROUNDS: u64 = 3;
    let case = format!("{count} queues, {strike:?}");
    let storage = Box::leak(Box::new(Storage::<16, 64, 160>::new()));
    let options = Options::default();
    let up = Device::bring_up(platform, firmware(), storage, options, &mut ());
    let mut device = up.or_fail("the GPU comes up");
    let queues: Vec<_> = (0..count).map(|_| queue(&mut device)).collect();
    let works = queues
        .iter()
        .map(|queue| Work::new(&mut device, *queue, &DOUBLE, 64));
    let works: Vec<_> = works.collect();
    let semaphore = shared(&mut device, &queues);
    let mut fences = Vec::new();
    for round in 0..ROUNDS {
        for number in (0..count).rev() {
            let point = round * count as u64 + number as u64;
            let waits = [at(semaphore, point + 1)];
            let signals = [at(semaphore, point + 2)];
            let (queue, work) = (queues[number], &works[number]);
            fences.push(submit_at(&mut device, queue, work, &waits, &signals));
        }
    }
    assert_eq!(device.wait(fences[0], SHORT), Status::Pending);
    device.signal_semaphore(semaphore, 1).or_fail("it is there");
    if let Some(strike) = strike {
        machine.pass(Duration::from_micros(100));
        device.poll(Instant(machine.time()));
        inject(machine, strike);
    }
    let mut lost = 0;
    for fence in &fences {
        match device.wait(*fence, LIMIT) {
            Status::Done => {}
            Status::Failed(fault) => {
                assert!(strike.is_some(), "{case}: {fault}");
                assert_eq!(fault.cause, Cause::LostWithGpu, "{case}: {fault}");
                lost += 1;
            }
            status => panic!("{case}: {fence}: {status:?}"),
        }
    }
    // One at a time runs; all others wait for a semaphore, and have not begun.
    assert!(lost <= 1, "{case}: {lost} lost");
    let reached = device.semaphore_value(semaphore);
    let all = ROUNDS * count as u64 + 1;
    assert_eq!(reached, Ok(all), "{case}: who fails signals all the same");
    let mut rounds = 0;
    for work in &works {
        rounds += work.words(&mut device, 2)[1].trailing_zeros();
    }
    // One that is lost may have run all the same.
    let most = (ROUNDS as u32) * count as u32;
    assert!(
        (most - lost..=most).contains(&rounds),
        "{case}: {rounds} of {most}"
    );
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    assert_eq!(machine.memory_in_use(), 0, "{case}");
}

pub(crate) fn queues_wait_for_each_other_before_anybody_signals() {
    for count in [2, 8, 14] {
        let machine = machine();
        chain(&machine, machine.platform(), count, None);
    }
}

pub(crate) fn queues_wait_for_each_other_without_coherency() {
    let machine = machine();
    chain(&machine, machine.behind_caches(23), 9, None);
}

pub(crate) fn a_chain_of_queues_outlives_a_lost_gpu() {
    let strikes = [
        Injection::McuCrash,
        Injection::JobInterruptLost,
        Injection::GpuFault { exception: 0x80 },
    ];
    for strike in some(&strikes, 2).iter().copied() {
        for count in some(&[9, 2], 1).iter().copied() {
            let machine = machine();
            chain(&machine, machine.platform(), count, Some(strike));
        }
    }
}

/// Whoever waits for a semaphore leaves its slot to those who work, and does not come back before it is signalled.
pub(crate) fn who_waits_gives_its_slot_to_others() {
    let machine = machine();
    let storage = Box::leak(Box::new(Storage::<16, 64, 160>::new()));
    let options = Options::default();
    let up = Device::bring_up(machine.platform(), firmware(), storage, options, &mut ());
    let mut device = up.or_fail("the GPU comes up");
    let waiting: Vec<_> = (0..8).map(|_| queue(&mut device)).collect();
    let semaphore = shared(&mut device, &waiting);
    let mut blocked = Vec::new();
    for queue in &waiting {
        let work = Work::new(&mut device, *queue, &DOUBLE, 64);
        blocked.push(submit_at(
            &mut device,
            *queue,
            &work,
            &[at(semaphore, 1)],
            &[],
        ));
    }
    assert_eq!(device.wait(blocked[0], SHORT), Status::Pending);
    for _ in 0..4 {
        let busy = queue(&mut device);
        let work = Work::new(&mut device, busy, &DOUBLE, 64);
        for _ in 0..4 {
            let fence = submit(&mut device, busy, &work);
            assert_eq!(wait(&mut device, fence), Ok(()));
        }
    }
    for fence in &blocked {
        assert_eq!(device.status(*fence), Status::Pending);
    }
    device.signal_semaphore(semaphore, 1).or_fail("it is there");
    for fence in blocked {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
}

/// Streams of one queue, and many jobs in flight: never two at once, so that no doubling is lost.
pub(crate) fn streams_of_a_queue_wait_for_each_other() {
    let Ready {
        mut device,
        queue,
        work,
        ..
    } = ready(&DOUBLE, 64);
    let semaphore = shared(&mut device, &[queue]);
    let fences: Vec<_> = (0..30)
        .map(|turn: u64| {
            let info = SubmitInfo {
                sub_queue: SubQueue::ALL[(turn % 3) as usize],
                waits: &[at(semaphore, turn + 1)],
                signals: &[at(semaphore, turn + 2)],
            };
            device
                .submit_with(queue, work.commands, info)
                .or_fail("there is room")
        })
        .collect();
    device.signal_semaphore(semaphore, 1).or_fail("it is there");
    for fence in fences {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(work.words(&mut device, 2), [0, 1 << 30]);
}

pub(crate) fn a_job_that_fails_signals_all_the_same() {
    let machine = machine();
    let mut device = up(machine.clone());
    let (first, second) = (queue(&mut device), queue(&mut device));
    let semaphore = shared(&mut device, &[first, second]);
    let work = Work::new(&mut device, first, &DOUBLE, 64);
    let next = Work::new(&mut device, second, &DOUBLE, 64);
    inject(&machine, Injection::StreamFatal { exception: 0x49 });
    let guilty = submit_at(&mut device, first, &work, &[], &[at(semaphore, 1)]);
    let waits = submit_at(&mut device, second, &next, &[at(semaphore, 1)], &[]);
    assert!(wait(&mut device, guilty).is_err());
    assert_eq!(wait(&mut device, waits), Ok(()));
}

/// The jobs of a queue that is cancelled signal, and who waits for them goes on.
pub(crate) fn a_job_that_is_cancelled_signals_all_the_same() {
    let machine = machine();
    let mut device = up(machine.clone());
    let (first, second) = (queue(&mut device), queue(&mut device));
    let semaphore = shared(&mut device, &[first, second]);
    let work = Work::new(&mut device, first, &DOUBLE, 64);
    let next = Work::new(&mut device, second, &DOUBLE, 64);
    let (never, one, two) = (at(semaphore, 99), at(semaphore, 1), at(semaphore, 2));
    let cancelled = submit_at(&mut device, first, &work, &[never], &[one]);
    let behind = submit_at(&mut device, first, &work, &[], &[two]);
    let waits = submit_at(&mut device, second, &next, &[two], &[]);
    assert_eq!(device.wait(waits, SHORT), Status::Pending);
    device.cancel(first).or_fail("it is there");
    for fence in [cancelled, behind] {
        assert_eq!(fault(&mut device, fence).cause, Cause::Cancelled);
    }
    assert_eq!(wait(&mut device, waits), Ok(()));
    assert_eq!(device.semaphore_value(semaphore), Ok(2));
    assert_eq!(work.words(&mut device, 2), [0, 1], "it has not begun");
}

pub(crate) fn what_can_not_be_is_refused() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let semaphore = device.create_semaphore(0).or_fail("there is memory");
    let point = [at(semaphore, 1)];
    let many = [at(semaphore, 1); 5];
    let with = |device: &mut Device<'_, '_, Host>, waits, signals| {
        let info = SubmitInfo {
            waits,
            signals,
            ..SubmitInfo::default()
        };
        device.submit_with(queue, work.commands, info)
    };
    let unmapped = with(&mut device, &point, &[]);
    assert!(
        matches!(unmapped, Err(Error::OtherSpace { .. })),
        "{unmapped:?}"
    );
    device
        .map_semaphore(semaphore, space, Access::Read)
        .or_fail("there is memory");
    let read_only = with(&mut device, &[], &point);
    assert!(
        matches!(read_only, Err(Error::ReadOnly { .. })),
        "{read_only:?}"
    );
    let many = with(&mut device, &many, &[]);
    assert_eq!(many, Err(Error::TooMany { most: 4 }));
    let waits = with(&mut device, &point, &[]).or_fail("there is room");
    let in_use = device.destroy_semaphore(semaphore);
    assert!(
        matches!(in_use, Err(Error::InUse { by, .. }) if by == waits),
        "{in_use:?}"
    );
    device.signal_semaphore(semaphore, 1).or_fail("it is there");
    assert_eq!(wait(&mut device, waits), Ok(()));
    let before = machine.memory_in_use();
    device
        .destroy_semaphore(semaphore)
        .or_fail("nothing uses it");
    assert!(machine.memory_in_use() < before);
    for gone in [
        device.semaphore_value(semaphore).map(drop),
        device.signal_semaphore(semaphore, 2),
        device.map_semaphore(semaphore, space, Access::Read),
        device.destroy_semaphore(semaphore),
    ] {
        assert!(matches!(gone, Err(Error::Gone { .. })), "{gone:?}");
    }
}

/// A semaphore never falls: what would not raise it is refused where that is known.
pub(crate) fn a_signal_that_does_not_raise_its_semaphore_is_refused() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queues = [0; 2].map(|_| queue(&mut device));
    let semaphore = shared(&mut device, &queues);
    let works = queues.map(|queue| Work::new(&mut device, queue, &DOUBLE, 64));
    let signal = |device: &mut Device<'_, '_, Host>, number: usize, values: &[u64]| {
        let points: Vec<SemaphorePoint> =
            values.iter().map(|value| at(semaphore, *value)).collect();
        let info = SubmitInfo {
            signals: &points,
            ..SubmitInfo::default()
        };
        device.submit_with(queues[number], works[number].commands, info)
    };
    let refused = |value, reached| Err(Error::NotLarger { value, reached });
    assert_eq!(signal(&mut device, 0, &[0]), refused(0, 0));
    let first = signal(&mut device, 0, &[5]).or_fail("there is room");
    assert_eq!(signal(&mut device, 0, &[5]), refused(5, 5), "in flight");
    assert_eq!(signal(&mut device, 0, &[6, 6]), refused(6, 6), "twice");
    // Another queue may come first.
    let second = signal(&mut device, 1, &[4]).or_fail("there is room");
    for fence in [first, second] {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    device
        .signal_semaphore(semaphore, u64::MAX)
        .or_fail("it is there");
    assert_eq!(signal(&mut device, 1, &[7]), refused(7, u64::MAX));
    assert_eq!(device.semaphore_value(semaphore), Ok(u64::MAX));
}

/// The addresses of semaphores are nobody else's, in spaces that have none of them mapped, too.
pub(crate) fn nothing_else_lies_where_semaphores_may() {
    let options = Options {
        end_address: u64::MAX,
        ..Options::default()
    };
    let mut device = up_with(machine(), options);
    let queues = [0; 2].map(|_| queue(&mut device));
    let semaphore = shared(&mut device, &queues[1..]);
    let space = device.space(queues[0]).or_fail("it is there");
    let work = Work::in_space(&mut device, space, &DOUBLE, 1024);
    let from = device.semaphore_addresses();
    let map = |device: &mut Device<'_, '_, Host>, at| {
        device.map_buffer(work.buffer, 0, 4096, at, Access::ReadWrite)
    };
    let end = 1_u64 << device.properties().va_bits;
    for at in (from.0..end).step_by(4096) {
        assert_eq!(
            map(&mut device, GpuAddress(at)),
            Err(Error::Reserved { from })
        );
    }
    map(&mut device, GpuAddress(from.0 - 4096)).or_fail("it is the caller's");
    let point = [at(semaphore, 1)];
    let info = SubmitInfo {
        signals: &point,
        ..SubmitInfo::default()
    };
    let unmapped = device.submit_with(queues[0], work.commands, info);
    assert!(
        matches!(unmapped, Err(Error::OtherSpace { .. })),
        "{unmapped:?}"
    );
    device
        .map_semaphore(semaphore, space, Access::ReadWrite)
        .or_fail("its place is free");
    let fence = submit_at(&mut device, queues[0], &work, &[], &point);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(device.semaphore_value(semaphore), Ok(1));
}

/// Signals come behind the work of their job, however long that takes.
pub(crate) fn a_job_that_still_works_has_not_signalled() {
    let Ready {
        mut device,
        queue,
        work,
        ..
    } = ready(&FOREVER, 64);
    let semaphore = shared(&mut device, &[queue]);
    let fence = submit_at(&mut device, queue, &work, &[], &[at(semaphore, 1)]);
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    assert_eq!(device.semaphore_value(semaphore), Ok(0), "it still works");
    device.cancel(queue).or_fail("it is there");
    assert!(wait(&mut device, fence).is_err());
    assert_eq!(device.semaphore_value(semaphore), Ok(1));
}

/// A job whose semaphore has just the value that it waits for has begun: it is lost with the GPU, and not run twice.
pub(crate) fn a_job_that_was_let_go_is_lost_with_the_gpu() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&FOREVER, 64);
    let semaphore = shared(&mut device, &[queue]);
    let fence = submit_at(&mut device, queue, &work, &[at(semaphore, 3)], &[]);
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    device.signal_semaphore(semaphore, 3).or_fail("it is there");
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    inject(&machine, Injection::McuCrash);
    assert!(device.ping().is_err(), "the GPU is lost");
    withdraw(&machine, Injection::McuCrash);
    let fault = fault(&mut device, fence);
    assert_eq!(fault.cause, Cause::LostWithGpu);
}
