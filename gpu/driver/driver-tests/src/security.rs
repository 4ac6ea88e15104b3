//! Hostile shaders: what they reach is their own queue's. Who tries more is stopped, and nobody else notices.

use crate::bench::{
    DOUBLE, OrFail, SECOND, Work, long, machine, queue_in, queues_with_work, submit, up, wait,
};
use crate::machine::{Host, Shader, bench};
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_runtime::{Cause, Device, Fence, JobFault, Queue, Side, Status, Thing};

type Up = Device<'static, 'static, Host>;

/// Writes a word wherever it is told: nothing keeps it inside its buffer.
pub(crate) static POKE: Shader =
    Shader::hostile("poke", include_str!("../shaders/hostile/poke.wgsl"));

/// A space whose first page is the buffer of a hostile shader, so that all else of it lies behind that.
struct Hostile {
    queue: Queue,
    work: Work,
    base: u64,
}

impl Hostile {
    fn new(device: &mut Up) -> Hostile {
        let space = device.create_space().or_fail("there is memory");
        let work = Work::in_space(device, space, &POKE, 64);
        let base = device.buffer_address(work.buffer).or_fail("it is there").0;
        let queue = queue_in(device, space);
        Hostile { queue, work, base }
    }

    /// Writes `value` at an address behind the buffer.
    fn poke(&self, device: &mut Up, at: u64, value: u32) -> Fence {
        let index = ((at - self.base) / 4) as u32;
        let push = u64::from(value) << 32 | u64::from(index);
        let recorded = device.record(self.work.commands, |it| {
            it.bind_pipeline(self.work.pipeline)?;
            it.bind_descriptor_set(self.work.set)?;
            it.push_constants(&push.to_le_bytes())?;
            it.dispatch([1, 1, 1])?;
            Ok(())
        });
        recorded.or_fail("it fits");
        submit(device, self.queue, &self.work)
    }

    fn end(self, device: &mut Up, fence: Fence) {
        if device.wait(fence, Duration::from_millis(20)) == Status::Pending {
            device.cancel(self.queue).or_fail("it is there");
            assert_ne!(
                device.wait(fence, SECOND),
                Status::Pending,
                "it was cancelled"
            );
        }
        device.discard(fence);
        let space = device.space(self.queue).or_fail("it is there");
        device
            .destroy_queue(self.queue)
            .or_fail("nothing is in flight");
        assert!(device.settle());
        self.work.destroy(device);
        device.destroy_space(space).or_fail("the space is empty");
    }
}

/// Two queues that mind their own business beside it.
struct Others {
    queues: Vec<(Queue, Work)>,
    rounds: u32,
}

impl Others {
    fn new(device: &mut Up) -> Others {
        Others {
            queues: queues_with_work(device, 2, &DOUBLE, 64),
            rounds: 0,
        }
    }

    fn submit(&mut self, device: &mut Up) -> Vec<Fence> {
        self.rounds += 1;
        let all = self.queues.iter();
        all.map(|(queue, work)| submit(device, *queue, work))
            .collect()
    }

    fn check(&mut self, device: &mut Up, fences: Vec<Fence>, case: &str) {
        for fence in fences {
            assert_eq!(wait(device, fence), Ok(()), "{case}");
        }
        let start: Vec<u32> = (0..64).collect();
        let expected: Vec<u32> = start.iter().map(|it| it << self.rounds).collect();
        let data: Vec<u8> = start.iter().flat_map(|it| it.to_le_bytes()).collect();
        for (_, work) in &self.queues {
            assert_eq!(work.words(device, 64), expected, "{case}");
            device
                .write_buffer(work.buffer, 0, &data)
                .or_fail("it fits");
        }
        self.rounds = 0;
    }
}

fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Random addresses, those where other queues have their rings and buffers, and those of the space itself, page by page.
pub(crate) fn a_shader_that_writes_anywhere_harms_its_own_queue_alone() {
    let tries = match (long(), bench().brief()) {
        (true, _) => 2000,
        (false, false) => 60,
        (false, true) => 20,
    };
    let machine = machine();
    let mut device = up(machine.clone());
    let mut others = Others::new(&mut device);
    let memory = machine.memory_in_use();
    let mut state = 5;
    let mut faults = 0;
    for number in 0..tries {
        let hostile = Hostile::new(&mut device);
        let near = 40 * 4096;
        let at = match number % 3 {
            0 => hostile.base + (random(&mut state) << 2) % (3 << 30),
            1 => hostile.base + (random(&mut state) << 2) % near,
            _ => hostile.base + (number / 3 % 40) * 4096 + (random(&mut state) << 2) % 256,
        };
        let case = format!("try {number}, {:#x} behind the buffer", at - hostile.base);
        let mut fences = others.submit(&mut device);
        let poke = hostile.poke(&mut device, at, random(&mut state) as u32);
        fences.extend(others.submit(&mut device));
        others.check(&mut device, fences, &case);
        if let Status::Failed(fault) = device.wait(poke, SECOND / 50) {
            let by_mmu = matches!(fault.cause, Cause::Mmu(_)) || fault.mmu.is_some();
            assert!(by_mmu, "{case}: {fault}");
            faults += 1;
        }
        hostile.end(&mut device, poke);
        assert_eq!((device.recoveries(), device.lost()), (0, None), "{case}");
    }
    assert!(faults > tries / 3, "{faults} of {tries}");
    assert_eq!(machine.memory_in_use(), memory, "nothing is left behind");
}

/// The rings, commands, descriptors and code of a space are there to be read alone, also by the shaders of that space.
pub(crate) fn streams_are_out_of_reach_of_their_own_shaders() {
    let machine = machine();
    let mut device = up(machine.clone());
    let mut others = Others::new(&mut device);
    // What lies behind the buffer, by what is nearest to a page that is mapped and can't be written.
    let mut refused: Vec<Thing> = Vec::new();
    for page in 1..40 {
        let hostile = Hostile::new(&mut device);
        let at = hostile.base + page * 4096;
        let fences = others.submit(&mut device);
        let poke = hostile.poke(&mut device, at, 0xDEAD_BEEF);
        others.check(&mut device, fences, &format!("page {page}"));
        if let Status::Failed(fault) = device.wait(poke, SECOND / 50) {
            let JobFault { near, .. } = fault;
            let near = near.or_fail("something is mapped");
            let inside = matches!(near.side(), Side::Inside { .. });
            if inside && !refused.contains(&near.what) {
                refused.push(near.what);
            }
        }
        hostile.end(&mut device, poke);
    }
    let streams = [Thing::DescriptorSet, Thing::CommandBuffer, Thing::Queue];
    for thing in streams {
        assert!(
            refused.contains(&thing),
            "{thing} can be written: {refused:?}"
        );
    }
}
