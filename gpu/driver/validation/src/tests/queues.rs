//! Queues: order, many of them, priorities, suspend and resume, events between them.
//!
//! Facts: hardware/csf-scheduling.md 2 to 5 and 9, command-stream.md 3.7 (sync objects).

use crate::bench::{Bench, Grid, Work};
use crate::result::{Trouble, Verdict, failed};
use crate::tools::{DOUBLE_ADD, FOREVER};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_runtime::{Accesses, Fence, Platform, Priority, Queue, QueueConfig, Status};

/// Words of the buffers here.
const WORDS: usize = 16;

const ONE: Grid<'_> = Grid {
    groups: 1,
    push: &[1],
};

/// What [`DOUBLE_ADD`] makes of 0 when it runs with these words, one after another.
fn doubled(added: impl IntoIterator<Item = u32>) -> u32 {
    let step = |value: u32, word: u32| value.wrapping_mul(2).wrapping_add(word);
    added.into_iter().fold(0, step)
}

fn compare(found: &[u32], wanted: u32, what: &str) -> Verdict {
    match found.iter().position(|word| *word != wanted) {
        None => Ok(()),
        Some(n) => Err(failed!(
            "{what}: word {n} is {:#x}, expected {wanted:#x}",
            found[n]
        )),
    }
}

/// Jobs of one queue run one after another, in the order in which they were submitted.
pub(crate) fn order<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(DOUBLE_ADD)?;
    let queue = it.queue()?;
    let space = it.device.space(queue)?;
    let first = it.work(space, program, &[0; WORDS], ONE)?;
    // The same buffer, other commands: with another word.
    let second = it.device.create_command_buffer(space)?;
    let push = crate::bench::bytes_of(&[5, 0, 0, 0, 0, 0, 0, 0]);
    it.device.record(second, |recorder| {
        recorder
            .bind_pipeline(first.pipeline)?
            .bind_descriptor_set(first.set)?;
        recorder.push_constants(&push)?.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    let mut last = None;
    let added = [1, 5, 5, 1, 5, 1, 1, 5];
    for word in added {
        let commands = if word == 1 { first.commands } else { second };
        last = Some(it.device.submit(queue, commands)?);
    }
    let ended = last.map_or(Ok(()), |fence| it.finish(fence));
    let found = ended.and_then(|()| it.words(&first));
    it.device.destroy_command_buffer(second)?;
    it.drop(&first)?;
    it.device.destroy_queue(queue)?;
    compare(&found?, doubled(added), "jobs of one queue")
}

/// More queues than the firmware has slots, each in the middle of a job: they are suspended and resumed, and none loses work.
pub(crate) fn suspend<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    const QUEUES: u32 = 12;
    let program = it.program(DOUBLE_ADD)?;
    let space = it.space()?;
    let go = it.device.create_event(space)?;
    let mut all: Vec<(Queue, Work, Fence)> = Vec::new();
    let mut arrived = Vec::new();
    for n in 0..QUEUES {
        let queue = it.queue()?;
        let work = it.work(space, program, &[0; WORDS], ONE)?;
        let here = it.device.create_event(space)?;
        arrived.push(here);
        // Half of it before the host lets it go on, half after.
        let push = |word: u32| crate::bench::bytes_of(&[word, 0, 0, 0, 0, 0, 0, 0]);
        let all_accesses = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
        it.device.record(work.commands, |recorder| {
            recorder
                .bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            recorder.push_constants(&push(n + 1))?.dispatch([1, 1, 1])?;
            recorder.barrier(all_accesses, all_accesses)?;
            recorder.set_event(here)?.wait_event(go)?;
            recorder
                .push_constants(&push(2 * n + 3))?
                .dispatch([1, 1, 1])?;
            Ok(())
        })?;
        let fence = it.device.submit(queue, work.commands)?;
        all.push((queue, work, fence));
    }
    // Whoever waits for the host makes room for others: each gets as far as that.
    let mut outcome = Ok(());
    for (n, ((_, _, fence), arrived)) in all.iter().zip(&arrived).enumerate() {
        let mut looks = 0..50;
        while outcome.is_ok() && !it.device.event_status(*arrived)? {
            let _ = it.device.wait(*fence, Duration::from_millis(2));
            if looks.next().is_none() {
                outcome = Err(failed!(
                    "queue {n} of {QUEUES} gets no slot while others wait for the host: are they not suspended?"
                ));
            }
        }
    }
    it.device.set_event(go)?;
    for (n, (queue, work, fence)) in (0..).zip(&all) {
        let ended = it.finish(*fence);
        let found = ended.and_then(|()| it.words(work));
        let wanted = doubled([n + 1, 2 * n + 3]);
        outcome = outcome.and_then(|()| {
            let which = alloc::format!("queue {n} of {QUEUES}, which was suspended");
            compare(&found?, wanted, &which)
        });
        let _ = it.device.cancel(*queue);
        it.device.settle();
        it.drop(work)?;
        it.device.destroy_queue(*queue)?;
    }
    for event in arrived.into_iter().chain([go]) {
        it.device.destroy_event(event)?;
    }
    outcome
}

/// Of queues that begin at the same moment on one core, the one with the highest priority is done first, whichever it is.
pub(crate) fn priority<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    (0..QUEUES_AT_ONCE).try_for_each(|urgent| priority_of(it, urgent))
}

const QUEUES_AT_ONCE: usize = 3;

fn priority_of<P: Platform>(it: &mut Bench<'_, '_, '_, P>, urgent: usize) -> Verdict {
    const GROUPS: u32 = 64;
    let mut priorities = [Priority::Low; QUEUES_AT_ONCE];
    priorities[urgent] = Priority::RealTime;
    let program = it.program(DOUBLE_ADD)?;
    let space = it.space()?;
    let core = it.cores().first().copied().unwrap_or(0);
    let go = it.device.create_event(space)?;
    let ends = it.device.create_query_pool(space, QUEUES_AT_ONCE as u32)?;
    let mut made: Vec<(Queue, Work, Fence)> = Vec::new();
    for (number, priority) in (0..).zip(priorities) {
        let queue = it.device.create_queue(QueueConfig {
            priority,
            space: Some(space),
            cores: Some(1 << core),
            ..QueueConfig::default()
        })?;
        let work = it.work(space, program, &vec![0; 16 * GROUPS as usize], ONE)?;
        it.device.record(work.commands, |recorder| {
            recorder.wait_event(go)?.reset_queries(ends, number, 1)?;
            recorder
                .bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            for _ in 0..4 {
                recorder.dispatch([GROUPS, 1, 1])?;
            }
            recorder.write_timestamp(ends, number)?;
            Ok(())
        })?;
        let fence = it.device.submit(queue, work.commands)?;
        made.push((queue, work, fence));
    }
    // All of them are on their slots, and wait.
    for (_, _, fence) in &made {
        let _ = it.device.wait(*fence, Duration::from_millis(2));
    }
    it.device.set_event(go)?;
    let ended = made.iter().try_for_each(|(_, _, fence)| it.finish(*fence));
    let mut times = [None; QUEUES_AT_ONCE];
    let read = it.device.query_results(ends, 0, &mut times);
    for (queue, work, _) in &made {
        let _ = it.device.cancel(*queue);
        it.device.settle();
        it.drop(work)?;
        it.device.destroy_queue(*queue)?;
    }
    it.device.destroy_query_pool(ends)?;
    it.device.destroy_event(go)?;
    ended?;
    read?;
    let mut others = times
        .iter()
        .enumerate()
        .filter(|(number, _)| *number != urgent);
    match times[urgent].is_some() && others.all(|(_, time)| *time > times[urgent]) {
        true => Ok(()),
        false => Err(failed!(
            "of queues on core {core} the one of the highest priority, {urgent}, is not done first: they end at {times:x?}"
        )),
    }
}

/// Queues wait for one another's events, and for the host's.
pub(crate) fn events<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(DOUBLE_ADD)?;
    let space = it.space()?;
    let queues = [it.queue()?, it.queue()?];
    let work = it.work(space, program, &[0; WORDS], ONE)?;
    let host = it.device.create_event(space)?;
    let between = it.device.create_event(space)?;
    let mut commands = Vec::new();
    for (wait, set, word) in [(host, Some(between), 3_u32), (between, None, 9)] {
        let made = it.device.create_command_buffer(space)?;
        let push = crate::bench::bytes_of(&[word, 0, 0, 0, 0, 0, 0, 0]);
        it.device.record(made, |recorder| {
            recorder.wait_event(wait)?;
            recorder
                .bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            recorder.push_constants(&push)?.dispatch([1, 1, 1])?;
            if let Some(set) = set {
                recorder.set_event(set)?;
            }
            Ok(())
        })?;
        commands.push(made);
    }
    // The second first: it can't go on before the first has.
    let late = it.device.submit(queues[1], commands[1])?;
    let early = it.device.submit(queues[0], commands[0])?;
    let soon = Duration::from_millis(3);
    let too_early = [early, late]
        .into_iter()
        .filter(|fence| it.device.wait(*fence, soon) != Status::Pending)
        .count();
    it.device.set_event(host)?;
    let ended = it.finish(early).and_then(|()| it.finish(late));
    let found = ended.and_then(|()| it.words(&work));
    for queue in queues {
        let _ = it.device.cancel(queue);
        it.device.settle();
        it.device.destroy_queue(queue)?;
    }
    for made in commands {
        it.device.destroy_command_buffer(made)?;
    }
    for event in [host, between] {
        it.device.destroy_event(event)?;
    }
    it.drop(&work)?;
    if too_early != 0 {
        return Err(failed!("{too_early} jobs did not wait for their events"));
    }
    compare(
        &found?,
        doubled([3, 9]),
        "two queues in the order of their events",
    )
}

/// A job that never ends is cancelled with its queue, and others go on beside it.
pub(crate) fn cancel<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(FOREVER)?;
    let space = it.space()?;
    let endless = it.queue()?;
    let work = it.work(space, program, &[0; WORDS], ONE)?;
    let fence = it.device.submit(endless, work.commands)?;
    let soon = it.device.wait(fence, Duration::from_micros(200));
    let beside = quick(it);
    it.device.cancel(endless)?;
    let limit = it.limit();
    let outcome = match it.device.wait(fence, limit) {
        Status::Failed(fault) if fault.cause == eitri_runtime::Cause::Cancelled => Ok(()),
        status => Err(failed!("a cancelled job is {status:?}")),
    };
    it.device.discard(fence);
    it.device.settle();
    it.drop(&work)?;
    it.device.destroy_queue(endless)?;
    if soon != Status::Pending {
        return Err(failed!("a job that never ends is {soon:?}"));
    }
    beside?;
    outcome?;
    quick(it)
}

/// A short job on a queue of its own does what it should.
pub(crate) fn quick<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Result<(), Trouble> {
    let program = it.program(DOUBLE_ADD)?;
    let queue = it.queue()?;
    let found = it.run(queue, program, &[21; WORDS], ONE);
    let _ = it.device.cancel(queue);
    it.device.settle();
    it.device.destroy_queue(queue)?;
    compare(&found?, 43, "a short job")
}
