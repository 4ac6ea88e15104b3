//! Soak: submissions of random shape over queues that come and go, with random faults, cancellations and losses. Each job ends
//! once, none runs twice, and memory returns to its start.

use crate::bench::{OrFail, firmware, inject, long, machine, queue_of};
use crate::commands::Up;
use crate::machine::{Machine, bench};
use crate::shapes::{Random, Shape};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{
    Access, Device, ErrorKind, Fence, Instant, Options, Priority, Queue, Semaphore, SemaphorePoint,
    Status, Storage, SubQueue, SubmitInfo,
};

/// Queues at once.
const QUEUES: usize = 7;
/// Commands of each, of which each has one job at a time.
const SHAPES: usize = 4;

/// Room for the objects of all of them, which nobody gives back.
fn storage() -> &'static mut Storage<'static, 8, 64, 256> {
    Box::leak(Box::new(Storage::new()))
}

/// A point on the timeline of each queue: the last that a job was told to signal.
struct Promised {
    semaphores: Vec<Semaphore>,
    values: [u64; QUEUES],
}

impl Promised {
    fn new(device: &mut Up) -> Promised {
        let made = (0..QUEUES).map(|_| device.create_semaphore(0).or_fail("there is memory"));
        Promised {
            semaphores: made.collect(),
            values: [0; QUEUES],
        }
    }

    /// The last point of a queue's jobs.
    fn last(&self, queue: usize) -> SemaphorePoint {
        SemaphorePoint {
            semaphore: self.semaphores[queue],
            value: self.values[queue],
        }
    }

    /// The point after it.
    fn next(&self, queue: usize) -> SemaphorePoint {
        let last = self.last(queue);
        SemaphorePoint {
            value: last.value + 1,
            ..last
        }
    }
}

/// A queue, its commands, and the jobs of these that are open, in the order of their submission.
struct Lane {
    queue: Queue,
    work: Vec<Shape>,
    open: Vec<(Fence, usize)>,
}

fn lane(device: &mut Up, random: &mut Random, promised: &Promised) -> Lane {
    let priorities = [
        Priority::Low,
        Priority::Medium,
        Priority::High,
        Priority::RealTime,
    ];
    let queue = queue_of(device, priorities[random.roll(4) as usize]);
    let space = device.space(queue).or_fail("it is there");
    for semaphore in &promised.semaphores {
        let mapped = device.map_semaphore(*semaphore, space, Access::ReadWrite);
        mapped.or_fail("there is memory");
    }
    let work = (0..SHAPES).map(|_| Shape::new(device, space, random));
    Lane {
        queue,
        work: work.collect(),
        open: Vec::new(),
    }
}

impl Lane {
    /// Takes in which jobs are over, and looks at what they did.
    fn settle(&mut self, device: &mut Up) {
        self.open.retain(|(fence, which)| {
            let shape = &mut self.work[*which];
            match device.status(*fence) {
                Status::Pending => return true,
                Status::Done => shape.check(device),
                Status::Failed(fault) => {
                    assert!(!fault.to_string().is_empty());
                    device.discard(*fence);
                    shape.reset(device);
                }
                // A failure at or after it was discarded; it was over before that.
                Status::Unknown => panic!("{fence} was forgotten"),
            }
            false
        });
    }

    /// Ends it and makes another in its place.
    fn renew(&mut self, device: &mut Up, random: &mut Random, promised: &Promised) {
        device.cancel(self.queue).or_fail("it is there");
        device.settle();
        self.settle(device);
        assert_eq!(self.open, [], "cancelled jobs end");
        device
            .destroy_queue(self.queue)
            .or_fail("the queue is dead");
        device.settle();
        *self = lane(device, random, promised);
    }

    /// Submits commands that have no open job, often of another shape than before; whether it did. Some wait for jobs of
    /// other queues that were submitted before, and tell others of their end.
    fn submit(
        &mut self,
        device: &mut Up,
        random: &mut Random,
        promised: &mut Promised,
        own: usize,
    ) -> Result<bool, ErrorKind> {
        let which = random.roll(SHAPES as u64) as usize;
        if self.open.iter().any(|(_, open)| *open == which) {
            return Ok(false);
        }
        let shape = &mut self.work[which];
        if random.roll(3) == 0 {
            shape.change(device, random);
        }
        let waits = [promised.last(random.roll(QUEUES as u64) as usize)];
        let signals = [promised.next(own)];
        let sub_queue = SubQueue::ALL[random.roll(3) as usize];
        // Jobs of one stream alone end in the order in which they promise.
        let signals = match sub_queue {
            SubQueue::Compute if random.roll(2) == 0 => signals.as_slice(),
            _ => &[],
        };
        let info = SubmitInfo {
            sub_queue,
            waits: if random.roll(4) == 0 { &waits } else { &[] },
            signals,
        };
        let fence = device
            .submit_with(self.queue, shape.commands, info)
            .map_err(|error| error.kind())?;
        if !info.signals.is_empty() {
            promised.values[own] += 1;
        }
        self.open.push((fence, which));
        Ok(true)
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
    let submissions = match (long(), bench().brief()) {
        (true, _) => 10_000,
        (false, false) => 1_500,
        (false, true) => 300,
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
    let up = Device::bring_up(machine.platform(), firmware(), storage(), options, &mut ());
    let mut device = up.or_fail("the GPU comes up");
    let mut promised = Promised::new(&mut device);
    let start = machine.memory_in_use();
    let mut lanes: Vec<Lane> = Vec::new();
    while lanes.len() < QUEUES {
        lanes.push(lane(&mut device, &mut random, &promised));
    }
    let mut longest = Duration::ZERO;
    let mut submitted = 0;
    while submitted < submissions {
        let which = random.roll(QUEUES as u64) as usize;
        let lane = &mut lanes[which];
        match random.roll(40) {
            0 => strike(&machine, &mut random),
            1 => lane.renew(&mut device, &mut random, &promised),
            2 if random.roll(8) == 0 => inject(&machine, Injection::McuCrash),
            2..=25 => match lane.submit(&mut device, &mut random, &mut promised, which) {
                Ok(done) => submitted += u32::from(done),
                Err(ErrorKind::OutOfStorage | ErrorKind::Busy) => {}
                Err(ErrorKind::QueueFailed) => lane.renew(&mut device, &mut random, &promised),
                Err(kind) => panic!("{kind:?}"),
            },
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
        while let Some((fence, _)) = lane.open.first().copied() {
            let status = device.wait(fence, Duration::from_secs(1));
            assert_ne!(status, Status::Pending, "{fence}");
            lane.settle(&mut device);
        }
        device
            .destroy_queue(lane.queue)
            .or_fail("the queue is idle");
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
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    assert_eq!(machine.memory_in_use(), 0);
}
