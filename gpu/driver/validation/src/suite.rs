//! The suite: the tests in their order, and how they are run.
//!
//! Before the driver: registers, interrupts, power, with nothing but loads and stores. Then the driver's own bring-up, a test
//! a step. Then the running device. Then its way down. What can't be tried because something before it failed is skipped, and
//! says so: the plan is kept.

use crate::bench::Bench;
use crate::cases;
use crate::console::Listener;
use crate::programs::{Programs, classes};
use crate::raw::Raw;
use crate::result::{
    Measurement, Status, Summary, TestResult, Trouble, Unit, Verdict, failed, skipped,
};
use crate::setup::Setup;
use crate::tests::{
    caches, clock, counters, graphics, interrupts, memory, mmu, power, queues, recovery, registers,
    shader, soak, streams,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use eitri_csf::Arch;
use eitri_runtime::{Device, Done, Options, Platform, Reporter, Step, Storage, Warning};

/// A test that needs no driver.
type RawTest<P> = fn(&mut Raw<'_, P>) -> Verdict;
/// A test on the running device.
type DeviceTest<P> = fn(&mut Bench<'_, '_, '_, P>) -> Verdict;

/// What a test does.
enum Action<P> {
    /// Without a driver.
    Raw(RawTest<P>),
    /// A step of bring-up.
    Up(Step),
    /// On the running device.
    Device(DeviceTest<P>),
    /// The vectors of a class, on the running device.
    Class(&'static str),
    /// A case, on the running device.
    Case(&'static cases::Case),
    /// A drawing of the table, on the running device.
    Drawing(&'static graphics::Row),
    /// A step of shutdown.
    Down(Step),
    /// Without a driver again.
    After(RawTest<P>),
}

struct Test<P> {
    name: String,
    action: Action<P>,
}

/// Steps of bring-up, with the names of their tests.
const UP: [(&str, Step); 9] = [
    ("bring-up.probe", Step::Probe),
    ("bring-up.reset", Step::Reset),
    ("bring-up.l2-power", Step::PowerOn),
    ("bring-up.load-firmware", Step::LoadFirmware),
    ("bring-up.firmware-space", Step::EnableFirmwareSpace),
    ("bring-up.start-firmware", Step::StartFirmware),
    ("bring-up.interface", Step::CheckInterface),
    ("bring-up.configure", Step::Configure),
    ("bring-up.ping", Step::Ping),
];

/// Steps of shutdown, likewise.
const DOWN: [(&str, Step); 4] = [
    ("shutdown.groups", Step::StopGroups),
    ("shutdown.firmware", Step::StopFirmware),
    ("shutdown.spaces", Step::DisableSpaces),
    ("shutdown.l2-power", Step::PowerOff),
];

/// All tests, in their order.
#[rustfmt::skip]
fn all<P: Platform>() -> Vec<Test<P>> {
    let mut tests = Vec::new();
    let mut add = |name: &str, action| tests.push(Test { name: name.to_string(), action });
    let raw: [(&str, RawTest<P>); 14] = [
        ("registers.identity",   registers::identity),
        ("registers.units",      registers::units),
        ("registers.features",   registers::features),
        ("registers.stable",     registers::stable),
        ("registers.command",    registers::command),
        ("power.reset",          power::reset),
        ("registers.writable",   registers::writable),
        ("interrupts.job",       interrupts::job),
        ("interrupts.mmu",       interrupts::mmu),
        ("interrupts.gpu",       interrupts::gpu),
        ("clock.timestamp",      clock::timestamp),
        ("clock.cycles",         clock::cycles),
        ("power.l2",             power::l2),
        ("caches.flush",         caches::flush),
    ];
    raw.into_iter().for_each(|(name, test)| add(name, Action::Raw(test)));
    UP.into_iter().for_each(|(name, step)| add(name, Action::Up(step)));
    let running: [(&str, DeviceTest<P>); 6] = [
        ("power.cores",          power::cores),
        ("memory.data-lines",    memory::data_lines),
        ("memory.address-lines", memory::address_lines),
        ("caches.coherency",     caches::coherency),
        ("caches.shared-lines",  caches::shared_lines),
        ("caches.texture",       caches::texture),
    ];
    running.into_iter().for_each(|(name, test)| add(name, Action::Device(test)));
    add("shader.registers", Action::Device(shader::registers));
    for case in cases::ALL {
        add(&format!("shader.{}", case.name), Action::Case(case));
    }
    for class in classes() {
        add(&format!("shader.alu.{}", class.to_ascii_lowercase()), Action::Class(class));
    }
    let more: [(&str, DeviceTest<P>); 27] = [
        ("mmu.pages",            mmu::pages),
        ("mmu.blocks",           mmu::blocks),
        ("mmu.large-block",      mmu::large_block),
        ("mmu.address-bits",     mmu::address_bits),
        ("mmu.unmapped",         mmu::unmapped),
        ("mmu.unmapping",        mmu::unmapping),
        ("mmu.remapping",        mmu::remapping),
        ("mmu.read-only",        mmu::read_only),
        ("mmu.no-execute",       mmu::no_execute),
        ("mmu.isolation",        mmu::isolation),
        ("memory.bandwidth",     memory::bandwidth),
        ("memory.latency",       memory::latency),
        ("streams.registers",    streams::registers),
        ("queues.order",         queues::order),
        ("queues.suspend",       queues::suspend),
        ("queues.priority",      queues::priority),
        ("queues.events",        queues::events),
        ("queues.cancel",        queues::cancel),
        ("graphics.clear",       graphics::clear),
        ("graphics.triangle",    graphics::triangle),
        ("graphics.colors",      graphics::colors),
        ("graphics.depth",       graphics::depth),
        ("graphics.blending",    graphics::blending),
        ("graphics.edges",       graphics::edges),
        ("graphics.targets",     graphics::targets),
        ("graphics.heap",        graphics::heap),
        ("graphics.passes",      graphics::passes),
    ];
    more.into_iter().for_each(|(name, test)| add(name, Action::Device(test)));
    for row in graphics::ROWS.iter().chain(graphics::PROBES) {
        add(row.name, Action::Drawing(row));
    }
    let last: [(&str, DeviceTest<P>); 6] = [
        ("counters",             counters::counters),
        ("recovery.ping",        recovery::ping),
        ("recovery.fault",       recovery::fault),
        ("recovery.restart",     recovery::restart),
        ("recovery.work",        queues::quick),
        ("soak",                 soak::soak),
    ];
    last.into_iter().for_each(|(name, test)| add(name, Action::Device(test)));
    DOWN.into_iter().for_each(|(name, step)| add(name, Action::Down(step)));
    add("shutdown.reset", Action::After(power::reset));
    tests
}

/// The names of all tests, in their order, for a platform of any kind.
pub fn names<P: Platform>() -> Vec<String> {
    all::<P>().into_iter().map(|test| test.name).collect()
}

/// Tests that whoever runs the suite adds to it, after all others: each has the GPU to itself, from power-off to power-off.
pub trait Extra<P> {
    /// Their names, in their order.
    fn names(&self) -> Vec<String>;

    /// Runs one, by its place among the names, and gives the platform back.
    fn run(&mut self, number: usize, platform: P) -> (P, Verdict);
}

/// None.
struct NoExtra;

impl<P> Extra<P> for NoExtra {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn run(&mut self, _: usize, platform: P) -> (P, Verdict) {
        (platform, Ok(()))
    }
}

/// How a run went, and the platform, whose GPU has no power any more if all went well.
pub struct Outcome<P> {
    /// How many tests came to what.
    pub summary: Summary,
    /// The platform.
    pub platform: P,
}

/// What hears of steps: it keeps them for the tests that stand for them.
#[derive(Default)]
struct Steps {
    taken: Vec<TakenStep>,
    warnings: Vec<String>,
}

/// A step that has succeeded.
struct TakenStep {
    step: Step,
    found: String,
    microseconds: u64,
}

impl Reporter for Steps {
    fn done(&mut self, done: &Done<'_>) {
        self.taken.push(TakenStep {
            step: done.step,
            found: done.found.to_string(),
            microseconds: done.took.as_micros() as u64,
        });
    }

    fn warn(&mut self, warning: &Warning) {
        self.warnings.push(format!("warning: {warning}"));
    }
}

/// Hands results on, in the order of the plan.
struct Results<'l, L> {
    listener: &'l mut L,
    summary: Summary,
    number: usize,
    stop_at_failure: bool,
}

impl<L: Listener> Results<'_, L> {
    fn report(&mut self, name: &str, verdict: Verdict, measured: Vec<Measurement>) {
        let (status, why) = match verdict {
            Ok(()) => (Status::Passed, String::new()),
            Err(Trouble::Failed(why)) => (Status::Failed, why),
            Err(Trouble::Skipped(why)) => (Status::Skipped, why),
        };
        self.number += 1;
        self.summary.count(status);
        self.listener.result(&TestResult {
            number: self.number,
            name: name.to_string(),
            status,
            why,
            measured,
        });
    }

    /// Whether no more is to be run.
    fn is_over(&self) -> bool {
        self.stop_at_failure && self.summary.failed > 0
    }
}

/// Runs the suite. `programs` are those of [`Programs::build`] if there are any already: else they are made here.
pub fn run<P: Platform, L: Listener>(
    platform: P,
    setup: &Setup<'_>,
    programs: Option<&Programs>,
    listener: &mut L,
) -> Outcome<P> {
    run_with(platform, setup, programs, &mut NoExtra, listener)
}

/// Runs the suite, and more tests after it.
pub fn run_with<P: Platform, L: Listener>(
    platform: P,
    setup: &Setup<'_>,
    programs: Option<&Programs>,
    extra: &mut dyn Extra<P>,
    listener: &mut L,
) -> Outcome<P> {
    let added = extra.names().into_iter().enumerate();
    let added = added.filter(|(_, name)| name.starts_with(setup.only));
    let added: Vec<(usize, String)> = added.collect();
    let mut tests = all::<P>();
    let always = |test: &Test<P>| matches!(test.action, Action::Up(_) | Action::Down(_));
    tests.retain(|test| always(test) || test.name.starts_with(setup.only));
    listener.plan(tests.len() + added.len());
    let mut results = Results {
        listener,
        summary: Summary::default(),
        number: 0,
        stop_at_failure: setup.stop_at_failure,
    };
    let mut raw = Raw {
        platform,
        setup,
        measured: Vec::new(),
        test: String::new(),
    };
    let arch = raw.arch().filter(|arch| *arch <= Arch::V13);
    for test in &tests {
        let Action::Raw(action) = test.action else {
            continue;
        };
        if results.is_over() {
            break;
        }
        run_raw(&mut raw, &mut results, &test.name, |raw| match arch {
            None if !test.name.starts_with("registers.identity") => {
                Err(skipped!("no GPU that is known answers"))
            }
            _ => action(raw),
        });
    }
    let Raw { mut platform, .. } = raw;
    if !results.is_over() {
        let built;
        let programs = match (programs, arch) {
            (Some(programs), Some(arch)) if programs.arch == arch => Some(Ok(programs)),
            (_, Some(arch)) => {
                built = Programs::build(arch);
                Some(built.as_ref())
            }
            (_, None) => None,
        };
        platform = match programs {
            Some(Ok(programs)) => on_device(platform, setup, programs, &tests, &mut results),
            Some(Err(error)) => {
                skip_device(&tests, &mut results, &error.to_string());
                platform
            }
            None => {
                skip_device(&tests, &mut results, "no GPU that is known answers");
                platform
            }
        };
    }
    let mut raw = Raw {
        platform,
        setup,
        measured: Vec::new(),
        test: String::new(),
    };
    for test in &tests {
        let Action::After(action) = test.action else {
            continue;
        };
        if results.is_over() {
            break;
        }
        run_raw(&mut raw, &mut results, &test.name, |raw| match arch {
            None => Err(skipped!("no GPU that is known answers")),
            Some(_) => action(raw),
        });
    }
    let Raw { mut platform, .. } = raw;
    for (number, name) in added {
        if results.is_over() {
            break;
        }
        results.listener.begin(&name);
        let (back, verdict) = extra.run(number, platform);
        platform = back;
        results.report(&name, verdict, Vec::new());
    }
    let summary = results.summary;
    results.listener.done(summary);
    Outcome { summary, platform }
}

fn run_raw<P: Platform, L: Listener>(
    raw: &mut Raw<'_, P>,
    results: &mut Results<'_, L>,
    name: &str,
    action: impl FnOnce(&mut Raw<'_, P>) -> Verdict,
) {
    results.listener.begin(name);
    raw.test = name.to_string();
    let verdict = action(raw);
    let measured = core::mem::take(&mut raw.measured);
    results.report(name, verdict, measured);
}

/// What needs a device is skipped.
fn skip_device<P, L: Listener>(tests: &[Test<P>], results: &mut Results<'_, L>, why: &str) {
    for test in tests {
        if !matches!(test.action, Action::Raw(_) | Action::After(_)) {
            results.report(&test.name, Err(skipped!("{why}")), Vec::new());
        }
    }
}

/// Brings a device up, runs what needs one, and takes it down.
fn on_device<P: Platform, L: Listener>(
    platform: P,
    setup: &Setup<'_>,
    programs: &Programs,
    tests: &[Test<P>],
    results: &mut Results<'_, L>,
) -> P {
    let mut storage: Box<Storage<'_, 28, 64, 128>> = Box::default();
    let mut steps = Steps::default();
    let options = Options::default();
    let up = Device::bring_up(platform, setup.firmware, &mut *storage, options, &mut steps);
    let failed_step = |error: &dyn core::fmt::Display| failed!("{error}");
    let (device, mut verdict) = match up {
        Ok(device) => (Ok(device), None),
        Err(failed) => {
            let why = failed_step(&failed.error);
            (Err(failed.platform), Some(why))
        }
    };
    for warning in &steps.warnings {
        results.listener.note(warning);
    }
    for test in tests {
        if let Action::Up(step) = test.action {
            results.listener.begin(&test.name);
            report_step(results, &test.name, step, &steps, &mut verdict);
        }
    }
    let device = match device {
        Ok(device) if !results.is_over() => device,
        Ok(device) => {
            return device
                .shutdown(&mut ())
                .unwrap_or_else(|failed| failed.platform);
        }
        Err(platform) => {
            let why = "the GPU was not brought up";
            for test in tests {
                if !matches!(
                    test.action,
                    Action::Raw(_) | Action::After(_) | Action::Up(_)
                ) {
                    results.report(&test.name, Err(skipped!("{why}")), Vec::new());
                }
            }
            return platform;
        }
    };
    let mut bench = Bench::new(device, programs, setup);
    for test in tests {
        if results.is_over() {
            break;
        }
        run_on(&mut bench, test, results);
    }
    let mut steps = Steps::default();
    let down = bench.device.shutdown(&mut steps);
    let (platform, mut verdict) = match down {
        Ok(platform) => (platform, None),
        Err(failed) => (failed.platform, Some(failed_step(&failed.error))),
    };
    for test in tests {
        match test.action {
            Action::Down(step) if !results.is_over() => {
                results.listener.begin(&test.name);
                report_step(results, &test.name, step, &steps, &mut verdict);
            }
            _ => {}
        }
    }
    platform
}

/// The test of one step: it was reported, it is the one that failed, or it was not come to.
fn report_step<L: Listener>(
    results: &mut Results<'_, L>,
    name: &str,
    step: Step,
    steps: &Steps,
    failure: &mut Option<Trouble>,
) {
    let done = steps.taken.iter().find(|taken| taken.step == step);
    let (verdict, measured) = match (done, failure.take()) {
        (Some(taken), rest) => {
            *failure = rest;
            let note = format!("{step}: {}", taken.found);
            results.listener.note(&note);
            let measured = Measurement {
                name: format!("{name}.time"),
                value: taken.microseconds,
                unit: Unit::Microseconds,
            };
            (Ok(()), alloc::vec![measured])
        }
        (None, Some(Trouble::Failed(why))) => {
            *failure = Some(skipped!("a step before it failed"));
            (Err(failed!("{why}")), Vec::new())
        }
        (None, Some(why)) => {
            *failure = Some(why.clone());
            (Err(why), Vec::new())
        }
        (None, None) => (
            Err(skipped!("the driver did not take this step")),
            Vec::new(),
        ),
    };
    results.report(name, verdict, measured);
}

fn run_on<P: Platform, L: Listener>(
    bench: &mut Bench<'_, '_, '_, P>,
    test: &Test<P>,
    results: &mut Results<'_, L>,
) {
    if !matches!(
        test.action,
        Action::Device(_) | Action::Class(_) | Action::Case(_) | Action::Drawing(_)
    ) {
        return;
    }
    results.listener.begin(&test.name);
    bench.test = test.name.clone();
    // A device that was given up comes back, or the rest can't be tried.
    let alive = match bench.device.lost() {
        None => Ok(()),
        Some(_) => bench.device.restart(&mut ()),
    };
    let losses = bench.device.recoveries();
    let mut verdict = match (alive, &test.action) {
        (Err(error), _) => Err(skipped!("the GPU was lost: {error}")),
        (Ok(()), Action::Device(action)) => action(bench),
        (Ok(()), Action::Class(class)) => shader::class(bench, class),
        (Ok(()), Action::Case(case)) => shader::case(bench, case),
        (Ok(()), Action::Drawing(row)) => graphics::run(bench, row),
        (Ok(()), _) => Ok(()),
    };
    bench.clear();
    // A GPU that had to be started again in the middle is no healthy one, whatever came of the jobs.
    let losses = bench.device.recoveries() - losses;
    if verdict.is_ok() && losses > 0 && !test.name.starts_with("recovery.") {
        let why = bench
            .device
            .last_loss()
            .map_or(String::new(), |loss| loss.to_string());
        verdict = Err(failed!(
            "the GPU was lost {losses} times and started again: {why}"
        ));
    }
    let measured = core::mem::take(&mut bench.measured);
    results.report(&test.name, verdict, measured);
}
