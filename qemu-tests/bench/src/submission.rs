//! Rows about submissions, polls and waits on one queue.

use crate::cost::Cost;
use crate::recording::{push, record, same};
use crate::{Failure, Gpu, Parts};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_runtime::{
    Access, Error, Fence, Instant, QueueConfig, Semaphore, SemaphorePoint, Status, SubmitInfo,
};

/// Longest that a job takes, when many others are before it.
const LIMIT: Duration = Duration::from_secs(100);
/// Once around the ring, and a little more.
const ROUNDS: u32 = 140;
/// The last rounds, of whose waits the mean is printed: every few milliseconds a poll looks at more than an interrupt calls for.
const MEASURED: u32 = 64;

pub(crate) fn rows(device: &mut Gpu, parts: &Parts) -> Result<(), Failure> {
    // Nothing was submitted before: the queue gets its slot with this job.
    record(device, parts, |it| same(it, parts, 1, false))?;
    let (cost, fence) = Cost::of(device, |device| device.submit(parts.queue, parts.commands));
    cost.print("first-job");
    finish(device, fence?)?;

    record(device, parts, |it| same(it, parts, 1, false))?;
    rounds(
        device,
        parts,
        ["wait", "wait-awake"],
        |round, cost| match round {
            0 => cost.print("submit-first"),
            // The first times around the ring its slots get the words of wrappers.
            2 => cost.print("filling"),
            _ if round + 1 == ROUNDS => cost.print("submit"),
            _ => {}
        },
    )?;
    // The first submission counts what the recording uses.
    record(device, parts, |it| {
        for (number, (pipeline, set)) in (0..).zip(parts.pipelines.iter().zip(&parts.sets)) {
            it.bind_pipeline(*pipeline)?.bind_descriptor_set(*set)?;
            push(it, number)?.dispatch([1, 1, 1])?;
        }
        Ok(())
    })?;
    let (cost, fence) = Cost::of(device, |device| device.submit(parts.queue, parts.commands));
    cost.print("submit-first-65");
    finish(device, fence?)?;
    record(device, parts, |it| same(it, parts, 1, false))?;
    with_semaphores(device, parts)?;
    polls(device, parts)
}

/// Submissions, each waited for before the next: `submitted` gets what each costs, and the waits are printed by the two names, with
/// and without the platform's own.
fn rounds(
    device: &mut Gpu,
    parts: &Parts,
    [wait, awake]: [&str; 2],
    submitted: impl Fn(u32, Cost),
) -> Result<(), Failure> {
    let mut measured = None;
    for round in 0..ROUNDS {
        let (cost, fence) = Cost::of(device, |device| device.submit(parts.queue, parts.commands));
        let waited = finish(device, fence?)?;
        submitted(round, cost);
        if round + MEASURED >= ROUNDS {
            measured = Some(measured.map_or(waited, |all: Cost| all.and(waited)));
        }
    }
    let each = measured.ok_or("no rounds")?.each(MEASURED);
    each.print_with_polls(wait);
    each.awake().print_with_polls(awake);
    Ok(())
}

/// Submissions with semaphores, waited for one by one.
fn with_semaphores(device: &mut Gpu, parts: &Parts) -> Result<(), Failure> {
    let mut all = [None; 8];
    for place in &mut all {
        *place = Some(semaphore(device, parts)?);
    }
    let [w0, w1, w2, w3, s0, s1, s2, s3] = all;
    let (waits, signals) = ([w0, w1, w2, w3], [s0, s1, s2, s3]);
    let shapes = [
        ("submit-wait", 1, 0),
        ("submit-signal", 0, 1),
        ("submit-4-4", 4, 4),
    ];
    let mut value = 0;
    for (name, waited, signalled) in shapes {
        // Twice: the commands are held then.
        for last in [false, true] {
            value += 1;
            let point = |semaphore: &Option<Semaphore>| {
                let semaphore = (*semaphore)?;
                Some(SemaphorePoint { semaphore, value })
            };
            let waits: Vec<_> = waits.iter().take(waited).filter_map(point).collect();
            let signals: Vec<_> = signals.iter().take(signalled).filter_map(point).collect();
            for point in &waits {
                device.signal_semaphore(point.semaphore, value)?;
            }
            let info = SubmitInfo {
                waits: &waits,
                signals: &signals,
                ..SubmitInfo::default()
            };
            let (queue, commands) = (parts.queue, parts.commands);
            let (cost, fence) =
                Cost::of(device, |device| device.submit_with(queue, commands, info));
            finish(device, fence?)?;
            if last {
                cost.print(name);
            }
        }
    }
    Ok(())
}

fn semaphore(device: &mut Gpu, parts: &Parts) -> Result<Semaphore, Error> {
    let semaphore = device.create_semaphore(0)?;
    device.map_semaphore(semaphore, parts.space, Access::ReadWrite)?;
    Ok(semaphore)
}

/// Polls with nothing to do, and with a job in flight that waits for the host.
fn polls(device: &mut Gpu, parts: &Parts) -> Result<(), Failure> {
    idle(device, "poll-idle");
    let semaphore = semaphore(device, parts)?;
    let point = SemaphorePoint {
        semaphore,
        value: 1,
    };
    let info = SubmitInfo {
        waits: &[point],
        ..SubmitInfo::default()
    };
    let fence = device.submit_with(parts.queue, parts.commands, info)?;
    idle(device, "poll-busy");
    device.signal_semaphore(semaphore, 1)?;
    finish(device, fence)?;
    let config = QueueConfig {
        space: Some(parts.space),
        ..QueueConfig::default()
    };
    let mut others = [None; 8];
    for other in &mut others {
        let queue = device.create_queue(config)?;
        let fence = device.submit(queue, parts.commands)?;
        finish(device, fence)?;
        *other = Some(queue);
    }
    idle(device, "poll-idle-9");
    for queue in others.into_iter().flatten() {
        device.destroy_queue(queue)?;
    }
    Ok(())
}

/// A poll that finds nothing new, as most do.
pub(crate) fn idle(device: &mut Gpu, name: &str) {
    // What is on its way comes to rest first.
    for _ in 0..64 {
        let now = Instant(eitri_kernel::time::now());
        device.poll(now);
    }
    let (cost, ()) = Cost::of(device, |device| {
        for _ in 0..16 {
            let now = Instant(eitri_kernel::time::now());
            device.poll(now);
        }
    });
    cost.each(16).print(name);
}

/// The same shapes where the CPU caches what it shares with the GPU.
pub(crate) fn cached_rows(device: &mut Gpu, parts: &Parts) -> Result<(), Failure> {
    for _ in 0..2 {
        record(device, parts, |it| same(it, parts, 65, false))?;
    }
    let many = record(device, parts, |it| same(it, parts, 65, false))?;
    let one = record(device, parts, |it| same(it, parts, 1, false))?;
    many.less(one, 64).print("cached-dispatch");
    let names = ["cached-wait", "cached-wait-awake"];
    rounds(device, parts, names, |round, cost| {
        if round + 1 == ROUNDS {
            cost.print("cached-submit");
        }
    })?;
    idle(device, "cached-poll-idle");
    Ok(())
}

/// Waits for a job.
pub(crate) fn finish(device: &mut Gpu, fence: Fence) -> Result<Cost, Failure> {
    let (cost, status) = Cost::of(device, |device| device.wait(fence, LIMIT));
    match status {
        Status::Done => Ok(cost),
        other => Err(alloc::format!("{fence:?}: {other:?}").into()),
    }
}
