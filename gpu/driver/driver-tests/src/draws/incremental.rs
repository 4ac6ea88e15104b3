//! Incremental rendering: a heap that is too small for a pass and may not grow draws what one that grows does, whatever happens.

use super::many_triangles::{Context, Like, PLAIN, PLENTY, Scene, Seen, heap, same};
use crate::bench::{
    LIMIT, OrFail, brief, by_form, config, diagnoses, inject, long, machine, some, up, up_on,
    withdraw,
};
use crate::machine::Machine;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::Injection;
use eitri_runtime::{DevicePower, Error, Fence, Instant, Options, Rect, Status};

/// Under every limit the picture is that of a heap that grows, however often the commands are submitted.
pub(crate) fn a_small_heap_draws_what_a_large_one_does() {
    let quarter = Rect {
        x: 9,
        y: 5,
        width: 41,
        height: 37,
    };
    let all = [
        PLAIN,
        Like {
            samples: 4,
            ..PLAIN
        },
        Like {
            samples: 4,
            parts: true,
            ..PLAIN
        },
        Like {
            samples: 4,
            keeps: true,
            colors: 2,
            ..PLAIN
        },
        Like { colors: 2, ..PLAIN },
        Like {
            loads: true,
            area: Some(quarter),
            ..PLAIN
        },
        Like {
            area: Some(quarter),
            ..PLAIN
        },
        Like {
            views: 0b101,
            ..PLAIN
        },
        Like {
            parts: true,
            ..PLAIN
        },
    ];
    for like in some(&all, 2) {
        let mut scene = Scene::with(*like, heap(1, PLENTY));
        let expected = scene.draw();
        let needed = scene.chunks();
        assert!((4..PLENTY).contains(&needed), "{like:?}: {needed} chunks");
        let all = (1..needed).collect();
        let limits = by_form(all, Vec::from([1, 2, needed - 1]), Vec::from([2]));
        for chunks in limits {
            let what = format!("{like:?} with {chunks} of {needed} chunks");
            let mut scene = Scene::with(*like, heap(chunks, chunks));
            same(&scene.draw(), &expected, &what);
            if chunks == 1 {
                same(&scene.draw(), &expected, &what);
            }
            assert_eq!(scene.chunks(), chunks);
        }
    }
}

/// Samples, depth and stencil that the pass does not keep, and two chunks for what takes four.
const SAMPLED: Like = Like {
    samples: 4,
    ..PLAIN
};
const CHUNKS: u32 = 2;

pub(crate) fn a_small_heap_draws_the_same_behind_caches() {
    let expected = Scene::with(SAMPLED, heap(1, PLENTY)).draw();
    // The caches of a board know no seed.
    let seeds = if long() { 1..4 } else { 1..2 };
    for seed in seeds {
        let machine = machine();
        let device = up_on(machine.behind_caches(seed), Options::default());
        let mut scene = Scene::new(SAMPLED, machine, device, heap(CHUNKS, CHUNKS));
        for _ in 0..2 {
            same(&scene.draw(), &expected, &format!("seed {seed}"));
        }
    }
}

/// What a dropped pass has tiled is given back, though the heap has no room for all of it.
pub(crate) fn a_dropped_pass_exhausts_no_heap() {
    let expected = Scene::with(PLAIN, heap(1, PLENTY)).draw();
    let mut scene = Scene::with(PLAIN, heap(1, 1));
    scene.drop_a_pass_before();
    for _ in 0..2 {
        same(&scene.draw(), &expected, "behind a dropped pass");
    }
}

/// Groups are suspended at every moment of a pass, in the middle of its handler too, and resumed.
pub(crate) fn a_small_heap_draws_the_same_when_the_gpu_is_suspended() {
    let expected = Scene::with(SAMPLED, heap(1, PLENTY)).draw();
    let machine = Machine::new(config()).with_supply_delay(Duration::from_micros(20));
    let device = up(machine.clone());
    let mut scene = Scene::new(SAMPLED, machine, device, heap(CHUNKS, CHUNKS));
    let took = unharmed(&mut scene, &expected);
    let steps = by_form(16, 6, 3);
    let mut suspended = 0;
    for step in 0..steps {
        scene.begin();
        let fence = scene.bench.submit();
        poll_for(&mut scene, took * step / steps);
        let taken = scene.bench.device.suspend();
        taken.or_fail("the device is alive");
        for _ in 0..2000 {
            if scene.bench.device.power() != DevicePower::Off {
                poll_for(&mut scene, Duration::from_micros(20));
            }
        }
        let it = &mut scene.bench.device;
        assert_eq!(it.power(), DevicePower::Off, "step {step}");
        suspended += u32::from(it.status(fence) == Status::Pending);
        it.resume().or_fail("the device is alive");
        assert_eq!(it.wait(fence, LIMIT), Status::Done, "step {step}");
        same(&scene.seen(), &expected, &format!("step {step}"));
    }
    assert!(suspended > steps / 2, "{suspended} of {steps}");
    assert_eq!(diagnoses(&scene.bench.machine), [""; 0]);
}

/// Goes on in the next context.
fn next(scene: &mut Scene, others: &mut Vec<Context>) {
    let next = others.remove(0);
    others.push(scene.switch(next));
}

/// Queues with address spaces and heaps of their own run out of memory side by side.
pub(crate) fn several_contexts_run_out_of_memory_side_by_side() {
    let expected = Scene::with(SAMPLED, heap(1, PLENTY)).draw();
    for &count in by_form(&[2, 5][..], &[3], &[2]) {
        let mut scene = Scene::with(SAMPLED, heap(1, 1));
        let mut others: Vec<_> = (1..count).map(|_| scene.another(heap(1, 1))).collect();
        let rounds = if brief() { 1 } else { 2 };
        for round in 0..rounds {
            let mut fences = Vec::new();
            for _ in 0..count {
                scene.begin();
                fences.push(scene.bench.submit());
                next(&mut scene, &mut others);
            }
            for fence in fences {
                let status = scene.bench.device.wait(fence, LIMIT);
                assert_eq!(status, Status::Done, "round {round} of {count}");
            }
            for number in 0..count {
                let what = format!("context {number} of {count} in round {round}");
                same(&scene.seen(), &expected, &what);
                assert_eq!(scene.chunks(), 1);
                next(&mut scene, &mut others);
            }
        }
        assert_eq!(diagnoses(&scene.bench.machine), [""; 0]);
    }
}

/// How long a pass takes that nothing strikes.
fn unharmed(scene: &mut Scene, expected: &Seen) -> Duration {
    scene.begin();
    let before = scene.bench.machine.time();
    scene.bench.run();
    let took = scene.bench.machine.time() - before;
    same(&scene.seen(), expected, "unharmed");
    took
}

/// Polls for so long.
fn poll_for(scene: &mut Scene, time: Duration) {
    let (device, machine) = (&mut scene.bench.device, &scene.bench.machine);
    let end = machine.time() + time;
    while machine.time() < end {
        device.poll(Instant(machine.time()));
        machine.pass((end - machine.time().min(end)).min(Duration::from_micros(10)));
    }
}

/// Polls until it is over.
fn settle(scene: &mut Scene, fence: Fence, injection: Injection, case: &str) -> Status {
    let (device, machine) = (&mut scene.bench.device, &scene.bench.machine);
    for _ in 0..40_000 {
        match device.status(fence) {
            Status::Pending => {}
            status => return status,
        }
        let next = device.poll(Instant(machine.time()));
        // What stays in force until it is taken back strikes once.
        if device.recoveries() > 0 {
            withdraw(machine, injection);
        }
        let now = machine.time();
        let step = next.at.unwrap_or(Instant(now)).0.saturating_sub(now);
        machine.pass(step.clamp(Duration::from_micros(1), Duration::from_millis(1)));
    }
    panic!("{case}: it never ends: {:?}", diagnoses(machine));
}

/// Most passes of two that a fault can take.
const fn most_lost(injection: Injection) -> u32 {
    match injection {
        Injection::GpuFault { .. } | Injection::McuCrash => 2,
        _ => 1,
    }
}

/// A fault at any moment of passes that are rendered in increments is one pass's, by name; the heap has all of its memory for the
/// next one.
pub(crate) fn a_fault_between_increments_loses_its_pass_alone() {
    let expected = Scene::with(SAMPLED, heap(1, PLENTY)).draw();
    let mut first = Scene::with(SAMPLED, heap(CHUNKS, CHUNKS));
    let took = unharmed(&mut first, &expected);
    let table = [
        Injection::JobFault { exception: 0x58 },
        Injection::StreamFault { exception: 0x4B },
        Injection::StreamFatal { exception: 0x49 },
        Injection::GpuFault { exception: 0x80 },
        Injection::McuCrash,
        Injection::PageFault { space: 1 },
        Injection::TilerOutOfMemory,
    ];
    // Each fault has moments of its own, so that few of each are many in all.
    let steps = if long() { 32 } else { 1 };
    let table = some(&table, 3);
    let moments = steps * table.len() as u32;
    let mut struck = 0;
    for (first, injection) in (0..).zip(table.iter().copied()) {
        let mut scene = Scene::with(SAMPLED, heap(CHUNKS, CHUNKS));
        let mut others = Vec::from([scene.another(heap(CHUNKS, CHUNKS))]);
        for step in (first..moments).step_by(table.len()) {
            let case = format!("{injection:?} at step {step}");
            let fences = [0; 2].map(|_| {
                scene.begin();
                let fence = scene.bench.submit();
                next(&mut scene, &mut others);
                fence
            });
            poll_for(&mut scene, took * step / moments);
            inject(&scene.bench.machine, injection);
            let mut failed = 0;
            for fence in fences {
                match settle(&mut scene, fence, injection, &case) {
                    Status::Done => same(&scene.seen(), &expected, &case),
                    Status::Failed(fault) => {
                        failed += 1;
                        let text = fault.to_string();
                        // Memory that is refused makes a pass go by increments. Only where all of it has just been given back, and
                        // none is had, can't it go on.
                        let refused = injection == Injection::TilerOutOfMemory;
                        assert!(
                            !text.is_empty() && (!refused || text.contains("OOM")),
                            "{case}: {text}"
                        );
                        scene.bench.device.discard(fence);
                    }
                    status => panic!("{case}: {status:?}"),
                }
                next(&mut scene, &mut others);
            }
            assert!(
                failed <= most_lost(injection),
                "{case}: {failed} passes failed"
            );
            struck += failed;
            withdraw(&scene.bench.machine, injection);
            for _ in fences {
                again(&mut scene, &expected, injection, &case);
                assert_eq!(scene.chunks(), CHUNKS, "{case}");
                next(&mut scene, &mut others);
            }
        }
    }
    assert!(struck > steps, "only {struck} passes were struck");
}

/// The pass once more, on the queue that there is or on a new one.
fn again(scene: &mut Scene, expected: &Seen, injection: Injection, case: &str) {
    // What was latched comes out now.
    if let Ok(fence) = scene
        .bench
        .device
        .submit(scene.bench.queue, scene.bench.commands)
    {
        let _ = settle(scene, fence, injection, case);
        scene.bench.device.discard(fence);
    }
    scene.begin();
    let fence = match scene
        .bench
        .device
        .submit(scene.bench.queue, scene.bench.commands)
    {
        Ok(fence) => fence,
        Err(Error::QueueFailed { .. }) => {
            scene.renew_queue();
            scene.bench.submit()
        }
        Err(error) => panic!("{case}: {error}"),
    };
    let status = settle(scene, fence, injection, case);
    assert_eq!(status, Status::Done, "{case}: again");
    same(&scene.seen(), expected, &format!("{case}: again"));
}
