//! Everything that the model can do wrong, at every step of a driver's life: a typed error or a right result, within
//! bounded time; a restart brings the device back, and a second run is good.

use crate::bench::{DOUBLE, FIRMWARE, Work, inject, machine, withdraw};
use eitri_model::Injection;
use eitri_on_model::{Machine, NonCoherent};
use eitri_runtime::{Device, Options, Platform, QueueConfig};
use std::time::Duration;

/// When a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    BringUp,
    CreateQueue,
    Job,
    Memory,
    Ping,
    DestroyQueue,
    Restart,
    Shutdown,
}

const MOMENTS: [Moment; 8] = [
    Moment::BringUp,
    Moment::CreateQueue,
    Moment::Job,
    Moment::Memory,
    Moment::Ping,
    Moment::DestroyQueue,
    Moment::Restart,
    Moment::Shutdown,
];

/// No call may take longer than that of the model's time: the longest is a restart in which nothing answers.
const LONGEST: Duration = Duration::from_secs(5);

fn bring_up<P: Platform>(platform: P) -> Result<Device<'static, P>, String> {
    Device::bring_up(platform, &FIRMWARE, Options::default(), &mut ())
        .map_err(|failed| failed.to_string())
}

/// A queue, a job, its result.
fn run<P: Platform>(device: &mut Device<'_, P>, strike: impl FnOnce()) -> Result<(), String> {
    let queue = device.create_queue(QueueConfig::default());
    let queue = queue.map_err(|error| error.to_string())?;
    let work = Work::new(device, &DOUBLE, 256);
    strike();
    let waited = match queue.submit(device, &work.commands) {
        Ok(point) => {
            let limit = Duration::from_millis(50);
            let waited = queue.timeline().wait(device, point, limit);
            waited.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    if waited.is_ok() {
        let expected: Vec<u32> = (0..256).map(|word| word * 2).collect();
        assert_eq!(work.words(device, 256), expected, "good, but not right");
    }
    let destroyed = device
        .destroy_queue(queue)
        .map_err(|error| error.to_string());
    waited.and(destroyed)
}

/// Lets `injection` strike at `moment`; what the call that it struck had to say.
fn strike<P: Platform>(
    machine: &Machine,
    platform: P,
    moment: Moment,
    injection: Injection,
) -> Result<(), String> {
    let now = || inject(machine, injection);
    let case = format!("{injection:?} at {moment:?}");
    if moment == Moment::BringUp {
        now();
        let device = bring_up(platform).map(drop);
        withdraw(machine, injection);
        return device;
    }
    let mut device = bring_up(platform).unwrap_or_else(|error| panic!("{case}: {error}"));
    let struck = match moment {
        Moment::BringUp | Moment::Shutdown => Ok(()),
        Moment::CreateQueue => {
            now();
            run(&mut device, || ())
        }
        Moment::Job => run(&mut device, now),
        Moment::Memory => {
            now();
            let made = device
                .create_buffer(1 << 20)
                .map_err(|error| error.to_string());
            let destroy = |buffer| {
                device
                    .destroy_buffer(buffer)
                    .map_err(|error| error.to_string())
            };
            made.and_then(destroy)
        }
        Moment::Ping => {
            now();
            device.ping().map_err(|error| error.to_string())
        }
        Moment::DestroyQueue => {
            let queue = device.create_queue(QueueConfig::default()).expect("a slot");
            now();
            device
                .destroy_queue(queue)
                .map_err(|error| error.to_string())
        }
        Moment::Restart => {
            now();
            device.restart(&mut ()).map_err(|error| error.to_string())
        }
    };
    if moment == Moment::Shutdown {
        now();
        let down = device.shutdown(&mut ());
        withdraw(machine, injection);
        return down.map(drop).map_err(|failed| failed.to_string());
    }
    withdraw(machine, injection);
    let again = device.restart(&mut ());
    if injection == Injection::ResetNeverCompletes && again.is_err() {
        // Only a power cycle helps a GPU whose reset hangs.
        return struck;
    }
    again.unwrap_or_else(|error| panic!("{case}: no restart: {error}"));
    let second = run(&mut device, || ());
    second.unwrap_or_else(|error| panic!("{case}: the second run: {error}"));
    let down = device.shutdown(&mut ());
    down.unwrap_or_else(|error| panic!("{case}: no shutdown: {error}"));
    struck
}

/// Goes through the table on the platform that `platform` makes of a machine.
fn strike_all<P: Platform>(platform: impl Fn(Machine) -> P) {
    let mut struck = Vec::new();
    for injection in Injection::ALL {
        for moment in MOMENTS {
            let machine = machine();
            let start = machine.time();
            let told = strike(&machine, platform(machine.clone()), moment, injection);
            let took = machine.time() - start;
            assert!(took < LONGEST, "{injection:?} at {moment:?}: {took:?}");
            if let Err(text) = told {
                assert!(!text.is_empty());
                struck.push((injection, moment));
            }
            if injection == Injection::ResetNeverCompletes {
                continue;
            }
            // Whatever the first life left, a second one on the same machine is good.
            let mut device = bring_up(platform(machine.clone()))
                .unwrap_or_else(|error| panic!("{injection:?} at {moment:?}: {error}"));
            let good = run(&mut device, || ());
            good.unwrap_or_else(|error| panic!("{injection:?} at {moment:?}: {error}"));
        }
    }
    // Nothing in the driver's life suspends a group, tiles, or counts yet.
    let never = [
        Injection::SuspendIgnored,
        Injection::SpuriousSyncUpdate,
        Injection::TilerOutOfMemory,
        Injection::CountersIgnored,
        Injection::ExtraSample,
        Injection::SampleLost,
    ];
    for injection in Injection::ALL {
        let strikes = struck.iter().any(|(it, _)| *it == injection);
        assert_eq!(
            strikes,
            !never.contains(&injection),
            "{injection:?}: {struck:?}"
        );
    }
}

#[test]
fn every_injection_at_every_moment_ends_in_bounded_time_and_is_got_over() {
    strike_all(|machine| machine);
}

/// The same behind caches that the GPU does not see: about two minutes.
#[test]
fn every_injection_is_got_over_without_coherency() {
    if eitri_testdata::long() {
        strike_all(|machine| NonCoherent::new(machine, 19));
    }
}
