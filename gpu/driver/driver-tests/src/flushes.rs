//! What a job pays for caches: nothing, unless the host has written what the GPU has in its caches, or reads what they have.

use crate::bench::{
    DOUBLE, OrFail, Ready, Work, brief, diagnoses, inject, machine, program, queue, queue_in,
    ready, submit, up, up_with, wait, withdraw, words,
};
use crate::commands::recorded;
use crate::machine::{Machine, Shader};

use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{
    Accesses, Device, Error, Instant, Options, Platform, Recovery, Status, SubQueue, Thing,
};

/// LATEST_FLUSH counts the flushes that were done (hardware/csf-mmio.md 13).
fn flushes(machine: &Machine) -> u32 {
    machine.platform().read32(0x1_0000)
}

pub(crate) fn a_small_job_pays_no_full_flush() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    let before = flushes(&machine);
    for _ in 0..4 {
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(flushes(&machine), before);
    // Whoever reads pays, once.
    for _ in 0..2 {
        assert_eq!(work.words(&mut device, 3), [0, 16, 32]);
        assert_eq!(flushes(&machine), before + 1);
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// What a job has written in its caches must not come on top of what the host writes: the host flushes, and the jobs need not.
pub(crate) fn what_the_host_writes_over_a_result_stays() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    let before = flushes(&machine);
    device
        .write_buffer(work.buffer, 0, &[7; 4])
        .or_fail("it fits");
    device
        .write_buffer(work.buffer, 8, &[7; 4])
        .or_fail("it fits");
    for fence in [0; 4].map(|_| submit(&mut device, queue, &work)) {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(flushes(&machine), before + 1);
    let word = 0x0707_0707_u32.wrapping_mul(16);
    assert_eq!(work.words(&mut device, 4), [word, 32, word, 96]);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// What the host writes for a job that waits for an event is not hidden by lines that another job has left in the caches.
pub(crate) fn setting_an_event_flushes_for_those_who_wait() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    let space = device.space(queue).or_fail("it is there");
    let event = device.create_event(space).or_fail("there is memory");
    let commands = device.create_command_buffer(space);
    let commands = commands.or_fail("there is memory");
    recorded(&mut device, commands, |it| {
        it.wait_event(event)?;
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.dispatch([1, 1, 1]).map(drop)
    });
    let fence = device.submit(queue, commands).or_fail("there is room");
    let written = device.write_buffer(work.buffer, 0, &[7; 4]);
    written.or_fail("it fits");
    let before = flushes(&machine);
    device.set_event(event).or_fail("it is there");
    assert_eq!(flushes(&machine), before + 1);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(work.words(&mut device, 2), [0x0E0E_0E0E, 2]);
    // Nobody waits, or nothing was written: nothing is flushed.
    let before = flushes(&machine);
    device.set_event(event).or_fail("it is there");
    assert_eq!(flushes(&machine), before);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// Copies 64 words from one buffer to another.
pub(crate) static COPY: Shader = Shader::new("copy", include_str!("../shaders/copy.wgsl"));

/// What the host writes while a job in flight reads it may be in caches: of the jobs that follow the first flushes, by its id,
/// and the others do not.
pub(crate) fn of_several_jobs_behind_a_write_one_flushes() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let pipeline = device
        .create_pipeline(space, &program(&COPY))
        .or_fail("there is memory");
    let [to, source] = [0; 2].map(|_| device.create_buffer(space, 256).or_fail("there is memory"));
    let set = device
        .create_descriptor_set(pipeline, 0)
        .or_fail("it has one");
    device.bind_buffer(set, 0, to).or_fail("it fits");
    device.bind_buffer(set, 1, source).or_fail("it fits");
    let commands = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    let recorded = device.record(commands, |it| {
        it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        it.dispatch([1, 1, 1]).map(drop)
    });
    recorded.or_fail("it fits");
    let first = device.submit(queue, commands).or_fail("there is room");
    // It has run, and nobody has looked.
    machine.pass(Duration::from_millis(2));
    device.write_buffer(source, 0, &[7; 256]).or_fail("it fits");
    let before = flushes(&machine);
    let more = [0; 3].map(|_| device.submit(queue, commands).or_fail("there is room"));
    for fence in [first].into_iter().chain(more) {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(flushes(&machine), before + 1);
    let last = device.submit(queue, commands).or_fail("there is room");
    assert_eq!(wait(&mut device, last), Ok(()));
    assert_eq!(
        flushes(&machine),
        before + 1,
        "it is known to have been done"
    );
    assert_eq!(words(&mut device, to, 2), [0x0707_0707; 2]);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// What no job has used is in no cache.
pub(crate) fn fresh_memory_is_written_for_nothing() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let first = Work::new(&mut device, queue, &DOUBLE, 64);
    let fence = submit(&mut device, queue, &first);
    assert_eq!(wait(&mut device, fence), Ok(()));
    let second = Work::new(&mut device, queue, &DOUBLE, 64);
    let before = flushes(&machine);
    device
        .write_buffer(second.buffer, 0, &[1; 4])
        .or_fail("it fits");
    let fence = submit(&mut device, queue, &second);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(flushes(&machine), before);
}

/// A barrier to the host flushes in the job, and the host need not.
pub(crate) fn a_barrier_to_the_host_is_the_flush_of_the_host() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 64);
    let recorded = device.record(work.commands, |it| {
        it.bind_pipeline(work.pipeline)?;
        it.bind_descriptor_set(work.set)?.dispatch([1, 1, 1])?;
        it.barrier(Accesses::SHADER_WRITE, Accesses::HOST_READ)?;
        Ok(())
    });
    recorded.or_fail("it fits");
    let before = flushes(&machine);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(flushes(&machine), before + 1);
    assert_eq!(work.words(&mut device, 2), [0, 2]);
    assert_eq!(flushes(&machine), before + 1);
}

/// Commands that are recorded again may stand in caches of the cores; the L2 does not cache them.
pub(crate) fn commands_that_are_recorded_again_are_seen() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&DOUBLE, 128);
    for round in 1..4_u32 {
        let recorded = device.record(work.commands, |it| {
            it.bind_pipeline(work.pipeline)?;
            it.bind_descriptor_set(work.set)?.dispatch([1, 1, 1])?;
            Ok(())
        });
        recorded.or_fail("it fits");
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
        assert_eq!(work.words(&mut device, 65)[1], 1 << round);
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// The results of a job that is over may be in the caches when the GPU has to be reset: they are saved first, or said to be lost.
pub(crate) fn results_in_caches_survive_a_reset_or_are_said_to_be_lost() {
    for lost in [false, true] {
        let Ready {
            machine,
            mut device,
            queue,
            work,
        } = ready(&DOUBLE, 64);
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
        inject(&machine, Injection::McuCrash);
        if lost {
            inject(&machine, Injection::FlushNeverCompletes);
        }
        assert!(device.ping().is_err());
        withdraw(&machine, Injection::McuCrash);
        withdraw(&machine, Injection::FlushNeverCompletes);
        device.restart(&mut ()).or_fail("nothing strikes any more");
        let before = flushes(&machine);
        let mut bytes = [0; 8];
        let read = device.read_buffer(work.buffer, 0, &mut bytes);
        assert_eq!(
            flushes(&machine),
            before,
            "the reset has emptied the caches"
        );
        match lost {
            false => assert_eq!((read, bytes[4]), (Ok(()), 2)),
            true => {
                let what = Thing::Buffer;
                assert_eq!(read, Err(Error::ContentsLost { what }));
                // What the host has written is good, and nothing else is.
                device
                    .write_buffer(work.buffer, 0, &[7; 8])
                    .or_fail("it fits");
                assert_eq!(work.words(&mut device, 2), [0x0707_0707; 2]);
                let read = device.read_buffer(work.buffer, 8, &mut bytes);
                assert_eq!(read, Err(Error::ContentsLost { what }));
                device
                    .write_buffer(work.buffer, 0, &[3; 256])
                    .or_fail("it fits");
                assert_eq!(work.words(&mut device, 1), [0x0303_0303]);
            }
        }
    }
}

/// Polls for so long.
fn poll_for<P: Platform>(device: &mut Device<'_, '_, P>, machine: &Machine, time: Duration) {
    let end = machine.time() + time;
    while machine.time() < end {
        device.poll(Instant(machine.time()));
        let left = end.saturating_sub(machine.time());
        machine.pass(left.min(Duration::from_micros(1)));
    }
}

/// A stream whose fault costs the GPU stops, and the others of its queue go on until the reset. What they end after the caches were
/// cleaned for the last time is not in memory: no such job is said to be done.
pub(crate) fn a_job_that_ends_behind_the_last_clean_before_a_reset_is_not_done() {
    const WORDS: usize = 64 * 512;
    let rounds = if brief() { 6 } else { 24 };
    let injection = Injection::StreamFatal { exception: 0x41 };
    let machine = machine();
    let options = Options {
        recoveries: rounds,
        ..Options::default()
    };
    let mut device = up_with(machine.clone(), options);
    let space = device.create_space().or_fail("there is memory");
    let work = Work::in_space(&mut device, space, &DOUBLE, WORDS as u32);
    let other = Work::in_space(&mut device, space, &DOUBLE, WORDS as u32);
    for round in 0..rounds {
        let queue = queue_in(&mut device, space);
        // The first has the way to its slot in it.
        let mut took = Duration::ZERO;
        for _ in 0..2 {
            let begun = machine.time();
            let fence = submit(&mut device, queue, &work);
            while device.status(fence) == Status::Pending {
                poll_for(&mut device, &machine, Duration::from_micros(1));
            }
            took = machine.time() - begun;
        }
        for work in [work, other] {
            let written = device.write_buffer(work.buffer, 0, &[1; WORDS * 4]);
            written.or_fail("no job is in flight");
        }
        let first = submit(&mut device, queue, &work);
        // At every part of it the fault strikes, mostly a job of another stream.
        poll_for(&mut device, &machine, took * round / rounds);
        inject(&machine, injection);
        let second = device.submit_to(queue, SubQueue::VertexTiler, other.commands);
        let second = second.or_fail("there is room");
        for (fence, work) in [(first, work), (second, other)] {
            while device.status(fence) == Status::Pending {
                poll_for(&mut device, &machine, Duration::from_micros(1));
            }
            match device.status(fence) {
                Status::Done => {
                    let words = work.words(&mut device, WORDS);
                    let wrong = words.iter().filter(|word| **word != 0x0202_0202).count();
                    assert_eq!(
                        wrong, 0,
                        "round {round}: {fence} is done, but not in memory"
                    );
                }
                Status::Failed(fault) => {
                    assert_ne!(fault.recovery, Recovery::Continue, "round {round}: {fault}");
                }
                status => panic!("round {round}: {fence} is {status:?}"),
            }
            device.discard(fence);
        }
        device.destroy_queue(queue).or_fail("it is idle");
    }
    assert_eq!(device.recoveries(), rounds.into());
}
