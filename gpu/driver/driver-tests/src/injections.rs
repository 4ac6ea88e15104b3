//! Everything that the model can do wrong, at every step of a driver's life: a typed error, a recovery or a right result, within
//! bounded time; what the device does not get over by itself a restart does, and a second run is good.

use crate::bench::{
    DOUBLE, FOREVER, OrFail, Work, firmware, first_line, inject, long, machine, queue, queue_of,
    result, storage, submit, withdraw,
};
use crate::machine::{Host, Machine, bench};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_model::{GraphicsUnit, Injection, MemoryUnit};
use eitri_runtime::{Device, Fence, Options, Platform, Priority, Queue, QueueConfig, Status};

/// When a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    BringUp,
    CreateQueue,
    Job,
    Crowd,
    Memory,
    Ping,
    DestroyQueue,
    Restart,
    Shutdown,
}

const MOMENTS: [Moment; 9] = [
    Moment::BringUp,
    Moment::CreateQueue,
    Moment::Job,
    Moment::Crowd,
    Moment::Memory,
    Moment::Ping,
    Moment::DestroyQueue,
    Moment::Restart,
    Moment::Shutdown,
];

/// No call may take longer than that of the model's time: the longest is a restart in which nothing answers.
const LONGEST: Duration = Duration::from_secs(5);

fn bring_up<P: Platform>(platform: P) -> Result<Device<'static, 'static, P>, String> {
    Device::bring_up(platform, firmware(), storage(), Options::default(), &mut ())
        .map_err(|failed| failed.to_string())
}

/// A queue, a job, its result.
fn run<P: Platform>(
    device: &mut Device<'_, 'static, P>,
    strike: impl FnOnce(),
) -> Result<(), String> {
    let queue = device.create_queue(QueueConfig::default());
    let queue = queue.map_err(|error| error.to_string())?;
    let work = Work::new(device, queue, &DOUBLE, 256);
    strike();
    let ended = match device.submit(queue, work.commands) {
        Ok(fence) => match device.wait(fence, Duration::from_millis(50)) {
            Status::Pending => Err("it does not end".to_string()),
            status => result(status),
        },
        Err(error) => Err(error.to_string()),
    };
    let ended = ended.and_then(|()| read(device, &work));
    let _ = device.cancel(queue);
    let settled = device.settle();
    let destroyed = device
        .destroy_queue(queue)
        .map_err(|error| error.to_string());
    assert!(settled, "neither gone nor given up");
    ended.and(destroyed).and(losses(device))
}

/// What the device was lost for, if it was.
fn losses<P: Platform>(device: &Device<'_, '_, P>) -> Result<(), String> {
    match device.last_loss() {
        Some(lost) => Err(lost.to_string()),
        None => Ok(()),
    }
}

/// Reads the result of a job that ended well: it is right, or can't be had because the caches do not let go of it.
fn read<P: Platform>(device: &mut Device<'_, '_, P>, work: &Work) -> Result<(), String> {
    let mut bytes = [0; 1024];
    let read = device.read_buffer(work.buffer, 0, &mut bytes);
    read.map_err(|error| error.to_string())?;
    let expected: Vec<u8> = (0..256_u32)
        .flat_map(|word| (word * 2).to_le_bytes())
        .collect();
    assert!(bytes[..] == expected[..], "good, but not right");
    Ok(())
}

/// Eight queues on seven spaces: one more than there is room for, so that groups come and go.
fn crowd<P: Platform>(
    device: &mut Device<'_, 'static, P>,
    strike: impl FnOnce(),
) -> Result<(), String> {
    let mut queues = Vec::new();
    for number in 0..8 {
        // The last one is urgent, and finds every place taken by one that does not end.
        let (priority, shader) = match number {
            7 => (Priority::RealTime, &DOUBLE),
            0 => (Priority::Low, &FOREVER),
            _ => (Priority::Medium, &DOUBLE),
        };
        let queue = queue_of(device, priority);
        queues.push((queue, Work::new(device, queue, shader, 64)));
    }
    strike();
    let mut told = Ok(());
    // The second time tells who was not suspended the first time.
    for round in 0..2 {
        let mut fences = Vec::new();
        for (queue, work) in queues.iter().skip(round) {
            match device.submit(*queue, work.commands) {
                Ok(fence) => fences.push(fence),
                Err(error) => told = told.and(Err(error.to_string())),
            }
        }
        for fence in fences.into_iter().skip(1 - round) {
            told = told.and(result(device.wait(fence, Duration::from_millis(400))));
        }
    }
    for (queue, _) in &queues {
        let _ = device.cancel(*queue);
    }
    assert!(device.settle(), "neither gone nor given up");
    for (queue, _) in &queues {
        device.destroy_queue(*queue).or_fail("the queue is dead");
    }
    told.and(losses(device))
}

/// A run that nothing strikes any more: but for a fault that was latched and comes out now.
fn second_run<P: Platform>(device: &mut Device<'_, 'static, P>, case: &str) {
    let queue = device.create_queue(QueueConfig::default());
    let queue = queue.unwrap_or_else(|error| panic!("{case}: {error}"));
    let work = Work::new(device, queue, &DOUBLE, 256);
    let fence = device.submit(queue, work.commands);
    let fence = fence.unwrap_or_else(|error| panic!("{case}: {error}"));
    let status = device.wait(fence, Duration::from_millis(500));
    assert_eq!(status, Status::Done, "{case}: the second run");
    let expected: Vec<u32> = (0..256).map(|word| word * 2).collect();
    assert_eq!(work.words(device, 256), expected, "{case}: the second run");
    device.destroy_queue(queue).or_fail("the queue is idle");
}

/// A queue with a job that was submitted.
fn begun<P: Platform>(device: &mut Device<'_, 'static, P>) -> (Queue, Fence) {
    let queue = queue(device);
    let work = Work::new(device, queue, &DOUBLE, 256);
    (queue, submit(device, queue, &work))
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
        Moment::Crowd => crowd(&mut device, now),
        Moment::Memory => {
            // In a space that is in use.
            let (queue, fence) = begun(&mut device);
            let _ = device.wait(fence, Duration::from_millis(50));
            now();
            let space = device.space(queue).or_fail("it is there");
            let made = device.create_buffer(space, 1 << 20);
            let destroyed = made.and_then(|buffer| device.destroy_buffer(buffer));
            destroyed.map_err(|error| error.to_string())
        }
        Moment::Ping => {
            now();
            device.ping().map_err(|error| error.to_string())
        }
        Moment::DestroyQueue => {
            let (queue, fence) = begun(&mut device);
            let _ = device.wait(fence, Duration::from_millis(50));
            now();
            let destroyed = device.destroy_queue(queue);
            device.settle();
            destroyed
                .map_err(|error| error.to_string())
                .and(losses(&device))
        }
        Moment::Restart => {
            // With a job in flight, which is saved and resumed.
            let (_, fence) = begun(&mut device);
            now();
            let restarted = device.restart(&mut ()).map_err(|error| error.to_string());
            restarted.and(result(device.wait(fence, Duration::from_millis(50))))
        }
    };
    if moment == Moment::Shutdown {
        now();
        let down = device.shutdown(&mut ());
        withdraw(machine, injection);
        return down.map(drop).map_err(|failed| failed.to_string());
    }
    withdraw(machine, injection);
    assert!(device.settle(), "{case}: neither up nor given up");
    // Nothing reports shader cores without power before the limit for jobs without progress, seconds later.
    if device.lost().is_some() || injection == Injection::ShaderPowerStuck {
        let again = device.restart(&mut ());
        if injection == Injection::ResetNeverCompletes && again.is_err() {
            // Only a power cycle helps a GPU whose reset hangs.
            return struck;
        }
        again.unwrap_or_else(|error| panic!("{case}: no restart: {error}"));
    }
    second_run(&mut device, &case);
    let down = device.shutdown(&mut ());
    down.unwrap_or_else(|error| panic!("{case}: no shutdown: {error}"));
    struck
}

/// Without somebody who wants the table and without the long form, each kind strikes at one moment in so many; at [`Moment::Crowd`], whose jobs without
/// end take most of the time, one kind in so many times more.
const PART: usize = 3;
const PART_OF_CROWD: usize = 12;

/// What became of each kind at each moment, for `eitri bench faults`.
struct Table(String);

impl Table {
    fn new() -> Table {
        let kind = "kind";
        Table(format!("{kind:<32} {:<13} {:>9}  told\n", "moment", "time"))
    }

    fn add(&mut self, kind: Injection, moment: Moment, told: &Result<(), String>, took: Duration) {
        let (kind, moment) = (format!("{kind:?}"), format!("{moment:?}"));
        let told = told
            .as_ref()
            .map_or_else(|text| first_line(text), |()| "-".to_owned());
        let took = took.as_micros();
        self.0 += &format!("{kind:<32} {moment:<13} {took:>6} us  {told}\n");
    }
}

/// Goes through the table on the platform that `platform` makes of a machine.
fn strike_all(platform: impl Fn(&Machine) -> Host) {
    let mut struck = Vec::new();
    let mut table = Table::new();
    let whole = long() || bench().wants_table();
    for (number, injection) in Injection::ALL.into_iter().enumerate() {
        for (turn, moment) in MOMENTS.into_iter().enumerate() {
            let part = match moment {
                Moment::Crowd => PART_OF_CROWD,
                _ => PART,
            };
            if !whole && turn % part != number % part {
                continue;
            }
            let machine = machine();
            let start = machine.time();
            let told = strike(&machine, platform(&machine), moment, injection);
            let took = machine.time() - start;
            assert!(took < LONGEST, "{injection:?} at {moment:?}: {took:?}");
            table.add(injection, moment, &told, took);
            if let Err(text) = told {
                assert!(!text.is_empty());
                struck.push((injection, moment));
            }
            if injection == Injection::ResetNeverCompletes {
                continue;
            }
            // Whatever the first life left, a second one on the same machine is good.
            let mut device = bring_up(platform(&machine))
                .unwrap_or_else(|error| panic!("{injection:?} at {moment:?}: {error}"));
            let good = run(&mut device, || ());
            good.unwrap_or_else(|error| panic!("{injection:?} at {moment:?}: {error}"));
        }
    }
    bench().keep_table(&table.0);
    if !whole {
        return;
    }
    // What has no effect on a driver that looks at the words; and nothing in the driver's life tiles or counts yet.
    let never = [
        // Here only those leave a slot whose jobs are over; who has work is told in recovery.rs.
        Injection::SuspendIgnored,
        Injection::SpuriousSyncUpdate,
        Injection::TilerOutOfMemory,
        Injection::CountersIgnored,
        Injection::ExtraSample,
        Injection::SampleLost,
        Injection::DrawStepFault { exception: 0x58 },
        Injection::UnitFault {
            unit: GraphicsUnit::Tiler,
        },
        Injection::UnitPageFault {
            unit: MemoryUnit::Tiler,
        },
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

pub(crate) fn every_injection_at_every_moment_ends_in_bounded_time_and_is_got_over() {
    strike_all(Machine::platform);
}

/// The same behind caches that the GPU does not see: about two minutes.
pub(crate) fn every_injection_is_got_over_without_coherency() {
    if long() {
        strike_all(|machine| machine.behind_caches(19));
    }
}
