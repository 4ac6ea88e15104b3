//! Soak: submissions of random shape over queues that come and go, with random faults, cancellations and losses. Each job ends
//! once, none runs twice, and memory returns to its start.

use crate::bench::{DOUBLE, Work, inject, long, machine, queue_of, up_with};
use crate::machine::{Host, Machine, bench};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{
    Device, ErrorKind, Fence, Instant, Options, Priority, Queue, Status, SubQueue,
};

/// Queues at once.
const QUEUES: usize = 7;

struct Random(u64);

impl Random {
    fn roll(&mut self, sides: u64) -> u64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % sides
    }
}

/// A queue, and what is known of its jobs.
struct Lane {
    queue: Queue,
    work: Work,
    open: Vec<Fence>,
    done: u32,
    failed: u32,
}

type OnModel = Device<'static, 'static, Host>;

fn lane(device: &mut OnModel, random: &mut Random) -> Lane {
    let priorities = [
        Priority::Low,
        Priority::Medium,
        Priority::High,
        Priority::RealTime,
    ];
    let queue = queue_of(device, priorities[random.roll(4) as usize]);
    Lane {
        queue,
        work: Work::new(device, queue, &DOUBLE, 64),
        open: Vec::new(),
        done: 0,
        failed: 0,
    }
}

impl Lane {
    /// Takes in which jobs are over.
    fn settle(&mut self, device: &mut OnModel) {
        let (mut done, mut failed) = (0, 0);
        self.open.retain(|fence| match device.status(*fence) {
            Status::Pending => true,
            Status::Done => {
                done += 1;
                false
            }
            Status::Failed(fault) => {
                assert!(!fault.to_string().is_empty());
                failed += 1;
                device.discard(*fence);
                false
            }
            // A failure at or after it was discarded; it was over before that.
            Status::Unknown => panic!("{fence} was forgotten"),
        });
        self.done += done;
        self.failed += failed;
    }

    /// Ends it and makes another in its place.
    fn renew(&mut self, device: &mut OnModel, random: &mut Random) {
        device.cancel(self.queue).expect("there");
        device.settle();
        self.settle(device);
        assert_eq!(self.open, [], "cancelled jobs end");
        device.destroy_queue(self.queue).expect("dead");
        device.settle();
        *self = lane(device, random);
    }
}

fn strike(machine: &Machine, random: &mut Random) {
    let space = 1 + random.roll(7) as u8;
    inject(
        machine,
        match random.roll(9) {
            0 => Injection::JobFault { exception: 0x58 },
            1 => Injection::StreamFault { exception: 0x4B },
            2 => Injection::StreamFatal { exception: 0x49 },
            3 => Injection::PageFault { space },
            4 => Injection::BusError { space },
            5 => Injection::JobInterruptLost,
            6 => Injection::GpuFault { exception: 0x80 },
            7 => Injection::StreamFatal { exception: 0x41 },
            _ => Injection::SpuriousSyncUpdate,
        },
    );
}

pub(crate) fn random_work_with_random_faults_ends_once_and_leaves_nothing_behind() {
    let submissions = match long() {
        true => 10_000,
        false => 2_000,
    };
    let seed = 0x5EED_0001;
    let mut random = Random(seed);
    let machine = machine();
    let options = Options {
        seed,
        // Faults come faster than jobs end.
        recoveries: 32,
        ..Options::default()
    };
    let mut device = up_with(machine.clone(), options);
    let start = machine.memory_in_use();
    let mut lanes: Vec<Lane> = Vec::new();
    while lanes.len() < QUEUES {
        lanes.push(lane(&mut device, &mut random));
    }
    let mut longest = Duration::ZERO;
    let mut submitted = 0;
    while submitted < submissions {
        let which = random.roll(QUEUES as u64) as usize;
        let stream = SubQueue::ALL[random.roll(3) as usize];
        match random.roll(40) {
            0 => strike(&machine, &mut random),
            1 => lanes[which].renew(&mut device, &mut random),
            2 if random.roll(8) == 0 => inject(&machine, Injection::McuCrash),
            2..=25 => {
                match device.submit_to(lanes[which].queue, stream, lanes[which].work.commands) {
                    Ok(fence) => {
                        submitted += 1;
                        lanes[which].open.push(fence);
                    }
                    Err(error) => match error.kind() {
                        ErrorKind::OutOfStorage | ErrorKind::Busy => {}
                        ErrorKind::QueueFailed => lanes[which].renew(&mut device, &mut random),
                        _ => panic!("{error}"),
                    },
                }
            }
            26..=30 => machine.pass(Duration::from_micros(random.roll(300))),
            _ => {
                let before = machine.time();
                device.poll(Instant(before));
                longest = longest.max(machine.time() - before);
                for lane in &mut lanes {
                    lane.settle(&mut device);
                }
            }
        }
        assert_eq!(device.lost(), None);
    }
    // What is left ends by itself, or takes the GPU down for a reason.
    for lane in &mut lanes {
        while let Some(fence) = lane.open.first().copied() {
            let status = device.wait(fence, Duration::from_secs(1));
            assert_ne!(status, Status::Pending, "{fence}");
            lane.settle(&mut device);
        }
        if lane.failed == 0 {
            let expected = 1_u32.checked_shl(lane.done).unwrap_or(0);
            let word = lane.work.words(&mut device, 2)[1];
            // Streams run side by side: two that double at once may count as one, never as three.
            assert!(
                word.count_ones() <= 1 && (expected == 0 || word <= expected),
                "{word:#x} {expected:#x}"
            );
        }
        device.destroy_queue(lane.queue).expect("idle");
    }
    device.settle();
    let end = machine.memory_in_use();
    assert!(end <= start + 2 * 4096, "{start} {end}");
    let losses = device.recoveries();
    bench().say(format_args!(
        "{submitted} jobs, {losses} losses, the longest poll took {longest:?}"
    ));
    assert!(losses > 0);
    assert!(longest < Duration::from_micros(500), "{longest:?}");
    device.shutdown(&mut ()).expect("in order");
    assert_eq!(machine.memory_in_use(), 0);
}
