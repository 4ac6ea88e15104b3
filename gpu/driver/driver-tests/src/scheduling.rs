//! Many queues: more than slots, more spaces than the hardware has, any priorities, and faults that are one queue's alone.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Work, diagnoses, fault, inject, machine, queue, queue_in, queue_of,
    some, submit, up, wait,
};
use crate::machine::{Host, Machine};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_csf::registers::address_space::{AS_TRANSCFG, TranslationMode, transcfg};
use eitri_model::Injection;
use eitri_runtime::{
    Cause, Device, Error, Fence, Instant, Options, Platform, Priority, Queue, QueueConfig, Status,
    Storage,
};

const GOOD: Result<(), String> = Ok(());

/// Diagnoses but for doorbells that cross with the suspension of their group: the resume looks at the rings anyway.
fn misuse(machine: &Machine) -> Vec<String> {
    let mut all = diagnoses(machine);
    all.retain(|text| !text.contains("was rung, but no stream of a group on a slot has it"));
    all
}

pub(crate) fn queues_may_have_the_same_priority() {
    let machine = machine();
    let mut device = up(machine.clone());
    let mut fences = Vec::new();
    for priority in [
        Priority::Medium,
        Priority::RealTime,
        Priority::Low,
        Priority::RealTime,
        Priority::Medium,
    ] {
        let queue = queue_of(&mut device, priority);
        let work = Work::new(&mut device, queue, &DOUBLE, 256);
        fences.push((submit(&mut device, queue, &work), work));
    }
    for (fence, work) in fences {
        assert_eq!(wait(&mut device, fence), GOOD);
        assert_eq!(work.words(&mut device, 3), [0, 2, 4]);
    }
    // Two groups with one number on slots would be diagnosed.
    assert_eq!(misuse(&machine), [""; 0]);
}

/// 20 queues with a space each, on 8 slots and 7 spaces, `rounds` jobs each; with the scheduler bent by `seed`.
fn many_queues<P: Platform>(platform: P, seed: u64, rounds: usize) {
    let storage = Box::leak(Box::new(Storage::<20, 128, 128>::new()));
    let options = Options {
        seed,
        ..Options::default()
    };
    let firmware = crate::bench::firmware();
    let up = Device::bring_up(platform, firmware, storage, options, &mut ());
    let mut device = up.or_fail("the GPU comes up");
    let priorities = [
        Priority::Low,
        Priority::Medium,
        Priority::Medium,
        Priority::High,
        Priority::RealTime,
    ];
    let queues: Vec<_> = (0..20)
        .map(|number| {
            let queue = queue_of(&mut device, priorities[number % 5]);
            (queue, Work::new(&mut device, queue, &DOUBLE, 64))
        })
        .collect();
    let mut fences: Vec<Fence> = Vec::new();
    for _ in 0..rounds {
        for (queue, work) in &queues {
            fences.push(submit(&mut device, *queue, work));
        }
    }
    for fence in fences {
        assert_eq!(wait(&mut device, fence), GOOD, "{fence}, seed {seed}");
    }
    for (number, (_, work)) in queues.iter().enumerate() {
        let factor = 1 << rounds;
        let expected = [0, factor, 2 * factor];
        assert_eq!(
            work.words(&mut device, 3),
            expected,
            "queue {number}, seed {seed}"
        );
    }
    device.shutdown(&mut ()).or_fail("it shuts down in order");
}

pub(crate) fn there_are_more_queues_than_slots_and_spaces() {
    for seed in some(&[1, 0, 2, 3, 4, 5], 1).iter().copied() {
        let machine = machine();
        many_queues(machine.platform(), seed, 3);
        assert_eq!(misuse(&machine), [""; 0], "seed {seed}");
        assert_eq!(machine.memory_in_use(), 0);
    }
}

pub(crate) fn groups_come_and_go_without_coherency_too() {
    let machine = machine();
    many_queues(machine.behind_caches(5), 3, 2);
    assert_eq!(misuse(&machine), [""; 0]);
}

/// Eight groups fit on the slots, and seven spaces into the hardware: a group that stays on its slot, idle, may lose its number to
/// another's space. A job that comes then is rung for when the space has a number again.
pub(crate) fn a_group_on_a_slot_whose_space_was_away_sees_its_next_job() {
    let machine = machine();
    let mut device = up(machine.clone());
    let all: Vec<_> = (0..8)
        .map(|_| {
            let queue = queue(&mut device);
            (queue, Work::new(&mut device, queue, &DOUBLE, 64))
        })
        .collect();
    for round in 1..4 {
        for (number, (queue, work)) in all.iter().enumerate() {
            let fence = submit(&mut device, *queue, work);
            assert_eq!(
                wait(&mut device, fence),
                GOOD,
                "queue {number}, round {round}"
            );
            let factor = 1 << round;
            let expected = [0, factor, 2 * factor];
            assert_eq!(work.words(&mut device, 3), expected, "queue {number}");
        }
    }
    assert_eq!(misuse(&machine), [""; 0]);
}

/// A fault takes the space of its job out of the hardware. Another queue of that space stays on its slot; for a job that it gets
/// meanwhile its doorbell rings when the space is back.
pub(crate) fn a_job_that_comes_while_a_fault_has_taken_its_space_is_seen() {
    let machine = machine();
    let mut device = up(machine.clone());
    let space = device.create_space().or_fail("there is memory");
    let [guilty, other] = [(); 2].map(|()| queue_in(&mut device, space));
    let [bad, good] = [(); 2].map(|()| Work::in_space(&mut device, space, &DOUBLE, 64));
    for (queue, work) in [(other, &good), (guilty, &bad)] {
        let fence = submit(&mut device, queue, work);
        assert_eq!(wait(&mut device, fence), GOOD);
    }
    inject(&machine, Injection::PageFault { space: 1 });
    let failed = submit(&mut device, guilty, &bad);
    let is_away = || {
        let word = machine
            .platform()
            .read32(AS_TRANSCFG.offset + AS_TRANSCFG.stride);
        transcfg::MODE.get(word) == Some(TranslationMode::Unmapped)
    };
    let mut polls = 0;
    while !is_away() {
        device.poll(Instant(machine.time()));
        machine.pass(Duration::from_micros(1));
        polls += 1;
        assert!(polls < 100_000, "the space stays in the hardware");
    }
    let fence = submit(&mut device, other, &good);
    assert!(wait(&mut device, failed).is_err());
    assert_eq!(wait(&mut device, fence), GOOD);
    assert_eq!(good.words(&mut device, 2), [0, 4]);
}

/// Who is in the middle of a job when the time slice ends goes on where it was.
pub(crate) fn a_job_in_progress_is_saved_and_resumed() {
    let machine = machine();
    let mut device = up(machine.clone());
    // Streams of several jobs each: there is always one that is not through.
    let mut fences = Vec::new();
    let mut works = Vec::new();
    for _ in 0..8 {
        let queue = queue(&mut device);
        let work = Work::new(&mut device, queue, &DOUBLE, 64);
        for _ in 0..6 {
            fences.push(submit(&mut device, queue, &work));
        }
        works.push(work);
    }
    for fence in fences {
        assert_eq!(wait(&mut device, fence), GOOD);
    }
    for work in works {
        assert_eq!(work.words(&mut device, 3), [0, 64, 128]);
    }
    assert_eq!(misuse(&machine), [""; 0]);
}

/// A job that does not let itself be saved within the firmware's limit is stopped for those who wait, and says so.
pub(crate) fn a_job_that_keeps_its_core_for_ever_makes_room_in_the_end() {
    let machine = machine();
    let mut device = up(machine.clone());
    let mut stuck = Vec::new();
    for _ in 0..7 {
        let queue = queue(&mut device);
        let work = Work::new(&mut device, queue, &FOREVER, 64);
        stuck.push(submit(&mut device, queue, &work));
    }
    let urgent = queue_of(&mut device, Priority::RealTime);
    let work = Work::new(&mut device, urgent, &DOUBLE, 64);
    let fence = submit(&mut device, urgent, &work);
    assert_eq!(wait(&mut device, fence), GOOD);
    let failed = stuck
        .iter()
        .filter_map(|fence| match device.status(*fence) {
            Status::Failed(fault) => Some(fault.cause),
            _ => None,
        });
    assert_eq!(failed.collect::<Vec<_>>(), [Cause::NotSuspended]);
}

/// Two queues: a job of the innocent one runs and does not end, the guilty one is about to begin.
struct TwoQueues {
    machine: Machine,
    device: Device<'static, 'static, Host>,
    innocent: Queue,
    long: Work,
    running: Fence,
    guilty: Queue,
    short: Work,
}

fn one_runs() -> TwoQueues {
    let machine = machine();
    let mut device = up(machine.clone());
    let (innocent, guilty) = (queue(&mut device), queue(&mut device));
    let long = Work::new(&mut device, innocent, &FOREVER, 64);
    let short = Work::new(&mut device, guilty, &DOUBLE, 256);
    let running = submit(&mut device, innocent, &long);
    assert_eq!(
        device.wait(running, Duration::from_millis(1)),
        Status::Pending
    );
    TwoQueues {
        machine,
        device,
        innocent,
        long,
        running,
        guilty,
        short,
    }
}

pub(crate) fn a_page_fault_stops_the_queue_that_made_it_alone() {
    let TwoQueues {
        machine,
        mut device,
        innocent,
        long,
        running,
        guilty,
        short,
    } = one_runs();
    inject(&machine, Injection::PageFault { space: 2 });
    let failed = submit(&mut device, guilty, &short);
    assert!(wait(&mut device, failed).is_err());
    assert_eq!(device.status(running), Status::Pending);
    assert!(device.submit(innocent, long.commands).is_ok());
    assert!(device.submit(guilty, short.commands).is_err());
}

/// A job that reaches behind its buffer is told which, and by how much.
pub(crate) fn a_page_fault_names_address_unit_and_the_buffer_that_was_missed() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    // The page behind the buffer is nobody's: the descriptor is for 8 KiB, the memory is given back.
    let large = device.create_buffer(space, 8192).or_fail("there is memory");
    device.bind_buffer(work.set, 0, large).or_fail("it fits");
    let recorded = device.record(work.commands, |recorder| {
        recorder
            .bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?
            .dispatch([1, 1, 1])?;
        Ok(())
    });
    recorded.or_fail("it fits");
    inject(&machine, Injection::PageFault { space: 1 });
    let fence = submit(&mut device, queue, &work);
    let fault = fault(&mut device, fence);
    let mmu = match (fault.mmu, fault.cause) {
        (Some(mmu), _) | (None, Cause::Mmu(mmu)) => mmu,
        _ => panic!("{fault}"),
    };
    assert_eq!(mmu.space, 1);
    let near = fault.near.or_fail("something is mapped");
    assert!(near.bytes > 0, "{near}");
    let text = fault.to_string();
    assert!(
        text.contains(" by ") && text.contains("the address lies 0x"),
        "{text}"
    );
    assert!(!text.contains("unit 0x"), "{text}");
}

/// A fault of the GPU that names the address space of a job fails that job; the device lives, and so do others.
pub(crate) fn a_gpu_fault_that_names_a_space_is_its_jobs() {
    let TwoQueues {
        machine,
        mut device,
        running,
        guilty,
        short,
        ..
    } = one_runs();
    inject(&machine, Injection::BusError { space: 2 });
    let failed = submit(&mut device, guilty, &short);
    let fault = fault(&mut device, failed);
    if let Cause::Gpu(fault) = fault.cause {
        assert_eq!(fault.space, Some(2));
    }
    assert!(
        fault.to_string().contains("GPU_BUS_FAULT") || fault.to_string().contains("CS_BUS_FAULT"),
        "{fault}"
    );
    assert!(device.lost().is_none());
    assert_eq!(device.status(running), Status::Pending);
}

/// A queue runs on the cores that it was given, and what there is not is refused.
pub(crate) fn cores_and_priorities_of_streams_are_the_callers() {
    let machine = machine();
    let mut device = up(machine.clone());
    let all = device.properties().cores;
    let one = all & all.wrapping_neg();
    let config = QueueConfig {
        cores: Some(one),
        streams: [0, 1, 15],
        ..QueueConfig::default()
    };
    let queue = device
        .create_queue(config)
        .or_fail("there is a place for a queue");
    let work = Work::new(&mut device, queue, &FOREVER, 1024);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(
        device.wait(fence, Duration::from_millis(2)),
        Status::Pending
    );
    device.cancel(queue).or_fail("it is there");
    assert!(device.settle());
    for cores in [0, !all, all | 1 << 63] {
        let config = QueueConfig {
            cores: Some(cores),
            ..QueueConfig::default()
        };
        let refused = device.create_queue(config).map(drop);
        assert_eq!(
            refused,
            Err(Error::Cores {
                wanted: cores,
                usable: all
            })
        );
    }
    let config = QueueConfig {
        streams: [0, 16, 0],
        ..QueueConfig::default()
    };
    let refused = device.create_queue(config).map(drop);
    assert_eq!(refused, Err(Error::StreamPriority { priority: 16 }));
    assert_eq!(misuse(&machine), [""; 0]);
}
