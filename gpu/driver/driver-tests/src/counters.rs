//! Performance counters: sampled around jobs, added up, and what comes of firmware that does not play along.

use crate::bench::{
    DOUBLE, OrFail, SECOND, Work, inject, machine, queue, some, submit, up, up_on, wait,
};
use crate::machine::Machine;
use alloc::string::ToString;
use eitri_model::{Config, Injection, Product};
use eitri_runtime::{CountersError, Counts, Device, Error, Options, Platform};

/// Runs jobs of 256 threads each with the counters on, a sample after each.
fn count<P: Platform>(
    device: &mut Device<'static, 'static, P>,
    jobs: u64,
) -> Result<Counts, Error> {
    let queue = queue(device);
    let work = Work::new(device, queue, &DOUBLE, 256);
    device.start_counters()?;
    let mut counts = Counts::new(device.properties().arch);
    for _ in 0..jobs {
        let fence = submit(device, queue, &work);
        assert_eq!(wait(device, fence), Ok(()));
        device.sample_counters(&mut counts)?;
    }
    device.stop_counters()?;
    device.destroy_queue(queue).or_fail("the queue is idle");
    Ok(counts)
}

pub(crate) fn jobs_are_counted_by_name() {
    let mut device = up(machine());
    let counts = count(&mut device, 3).or_fail("the counters are on");
    assert_eq!(counts.get("ITER_COMP_JOB_COMPLETED"), Some(3));
    // 256 threads are 16 warps.
    assert_eq!(counts.get("compute_warps"), Some(3 * 16));
    assert!(counts.get("GPU_ACTIVE") > Some(0));
    assert_eq!(counts.get("TRIANGLES"), Some(0));
    // The firmware takes one more by itself before cores lose their power.
    assert!(counts.samples() >= 3);
    assert!(!counts.lost());
    // Switched on again they start at zero.
    let counts = count(&mut device, 1).or_fail("the counters are on");
    assert_eq!(counts.get("ITER_COMP_JOB_COMPLETED"), Some(1));
}

pub(crate) fn every_generation_counts_the_same_work() {
    for product in Product::all() {
        if product.needs_hash.is_some() {
            continue;
        }
        let config = Config {
            product,
            ..Config::default()
        };
        let machine = Machine::new(config);
        let mut device = up(machine.clone());
        device.start_counters().or_fail("the counters are on");
        let mut counts = Counts::new(device.properties().arch);
        device.ping().or_fail("the device is alive");
        device
            .sample_counters(&mut counts)
            .or_fail("the counters are on");
        assert!(counts.get("MCU_ACTIVE") > Some(0), "{:?}", product.name());
        assert_eq!(crate::bench::diagnoses(&machine), [""; 0]);
    }
}

pub(crate) fn samples_are_read_behind_caches_that_the_gpu_does_not_see() {
    for seed in some(&[1, 2, 3, 4], 1).iter().copied() {
        let mut device = up_on(machine().behind_caches(seed), Options::default());
        let counts = count(&mut device, 12).or_fail("the counters are on");
        assert_eq!(counts.get("COMPUTE_WARPS"), Some(12 * 16), "seed {seed}");
    }
}

pub(crate) fn samples_that_the_firmware_takes_by_itself_count() {
    let machine = machine();
    let mut device = up(machine.clone());
    inject(&machine, Injection::ExtraSample);
    let counts = count(&mut device, 2).or_fail("the counters are on");
    assert!(counts.samples() >= 3);
    assert_eq!(counts.get("COMPUTE_WARPS"), Some(2 * 16));
}

pub(crate) fn a_sample_that_was_lost_is_told() {
    let machine = machine();
    let mut device = up(machine.clone());
    inject(&machine, Injection::SampleLost);
    let counts = count(&mut device, 1).or_fail("the counters are on");
    assert!(counts.lost());
    // The answer may be found before its interrupt is.
    let machine = self::machine();
    let mut device = up(machine.clone());
    device.start_counters().or_fail("the counters are on");
    inject(&machine, Injection::SampleLost);
    device.request_sample().or_fail("the counters are on");
    machine.pass(SECOND / 1000);
    let mut counts = Counts::new(device.properties().arch);
    let taken = device.take_sample(&mut counts);
    taken.or_fail("the counters are on");
    assert!(counts.lost());
}

pub(crate) fn firmware_that_does_not_switch_them_on_is_named() {
    let machine = machine();
    let mut device = up(machine.clone());
    inject(&machine, Injection::CountersIgnored);
    let error = device.start_counters().unwrap_err();
    let ignored = matches!(error, Error::Counters(CountersError::Ignored(_)));
    assert!(ignored, "{error}");
    let text = error.to_string();
    assert!(text.contains("counters to be switched on"), "{text}");
    // Jobs are none the worse for it.
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
}

pub(crate) fn counters_that_are_off_give_no_sample() {
    let mut device = up(machine());
    let mut counts = Counts::new(device.properties().arch);
    let off = Err(Error::Counters(CountersError::Off));
    assert_eq!(device.sample_counters(&mut counts), off);
    device.start_counters().or_fail("the counters are on");
    device.restart(&mut ()).or_fail("the device is sound");
    // A restart forgets all of it (hardware/csf-perfcnt.md 3 item 14).
    assert_eq!(device.sample_counters(&mut counts), off);
    assert!(count(&mut device, 1).is_ok());
}

/// Whoever samples at an interval never waits.
pub(crate) fn a_sample_is_asked_for_and_fetched_later() {
    let machine = machine();
    let mut device = up(machine.clone());
    device.start_counters().or_fail("the counters are on");
    let mut counts = Counts::new(device.properties().arch);
    let before = machine.time();
    device.request_sample().or_fail("the counters are on");
    assert!(machine.time() - before < SECOND / 1000);
    let mut looks = 0;
    while !device
        .take_sample(&mut counts)
        .or_fail("the counters are on")
    {
        let next = device.poll(machine.platform().now());
        machine
            .platform()
            .wait(next.lines, next.at.or_fail("something is awaited"));
        looks += 1;
        assert!(looks < 1000, "no sample came");
    }
    assert_eq!(counts.samples(), 1);
}

pub(crate) fn their_memory_comes_back() {
    let machine = machine();
    let mut device = up(machine.clone());
    device.start_counters().or_fail("the counters are on");
    device.shutdown(&mut ()).or_fail("it shuts down in order");
    assert_eq!(machine.memory_in_use(), 0);
}
