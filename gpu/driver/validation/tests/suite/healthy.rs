//! The suite on models without a fault: everything passes, on each architecture.

use eitri_model::{Config, Defect, Product, Slow, stub_firmware};
use eitri_on_model::{Machine, NonCoherent};
use eitri_runtime::Platform;
use eitri_validation::{Expected, Listener, Setup, Status, Summary, TestResult, names, run};

/// Keeps what it hears.
#[derive(Default)]
struct Heard {
    planned: usize,
    notes: Vec<String>,
    results: Vec<TestResult>,
    summary: Summary,
}

impl Listener for Heard {
    fn plan(&mut self, tests: usize) {
        self.planned = tests;
    }

    fn note(&mut self, line: &str) {
        self.notes.push(line.to_owned());
    }

    fn result(&mut self, result: &TestResult) {
        self.results.push(result.clone());
    }

    fn done(&mut self, summary: Summary) {
        self.summary = summary;
    }
}

fn setup<'a>(config: &Config, firmware: &'a [u8]) -> Setup<'a> {
    let part = config.product.part;
    Setup {
        expected: Expected {
            gpu_id: Some(part.gpu_id.0),
            cores: Some(part.shader_present),
            clock_khz: Some(config.clock_hz / 1000),
        },
        soak: 8,
        ..Setup::new(firmware)
    }
}

#[track_caller]
fn check<P: Platform>(platform: P, setup: &Setup<'_>, name: &str) -> Heard {
    let mut heard = Heard::default();
    run(platform, setup, None, &mut heard);
    let wrong = heard
        .results
        .iter()
        .filter(|result| result.status == Status::Failed);
    let wrong: Vec<String> = wrong.map(|it| format!("{}: {}", it.name, it.why)).collect();
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    assert_eq!(heard.planned, heard.results.len(), "{name}");
    heard
}

/// One product of each architecture with `EITRI_LONG=1`, else of the first: all pass on an L2 that keeps what it has, and
/// nothing is left of what the suite took.
#[test]
fn healthy_models_pass() {
    let all = ["G610", "G615", "G720", "G925"];
    let some = if eitri_testdata::long() { 4 } else { 1 };
    for name in all.into_iter().take(some) {
        let config = Config {
            product: Product::find(name).expect("the model can be it"),
            l2: true,
            ..Config::default()
        };
        let firmware = stub_firmware();
        let machine = Machine::new(config.clone());
        let heard = check(machine.clone(), &setup(&config, &firmware), name);
        assert_eq!(names::<Machine>().len(), heard.planned);
        assert!(heard.summary.passed > 80, "{name}: {:?}", heard.summary);
        assert_eq!(machine.memory_in_use(), 0, "{name}");
    }
}

/// Each architecture draws, and nothing is left of what was drawn.
#[test]
fn every_generation_draws() {
    for name in ["G610", "G615", "G720", "G925"] {
        let config = Config {
            product: Product::find(name).expect("the model can be it"),
            l2: true,
            ..Config::default()
        };
        let firmware = stub_firmware();
        let machine = Machine::new(config.clone());
        let setup = Setup {
            only: "graphics.",
            ..setup(&config, &firmware)
        };
        let heard = check(machine.clone(), &setup, name);
        let drawn = heard.results.iter();
        let drawn = drawn.filter(|it| it.name.starts_with("graphics."));
        let passed: Vec<Status> = drawn.map(|it| it.status).collect();
        assert_eq!(passed, [Status::Passed; 9], "{name}");
        assert_eq!(machine.memory_in_use(), 0, "{name}");
    }
}

/// Without room for what is drawn, or without a tiler, there is nothing to say of the GPU.
#[test]
fn what_can_not_draw_is_skipped_with_its_reason() {
    let firmware = stub_firmware();
    let mut without = Config::default();
    without.product.part.tiler_present = 0;
    let cases = [
        (Config::default(), SMALL, "no room to draw: "),
        (without, 64 << 20, "the GPU has no tiler"),
    ];
    for (config, memory, why) in cases {
        let setup = Setup {
            only: "graphics.",
            ..setup(&config, &firmware)
        };
        let machine = Machine::with_memory(config, memory);
        let heard = check(machine, &setup, why);
        let drawn = heard.results.iter();
        let drawn = drawn.filter(|it| it.name.starts_with("graphics."));
        let mut count = 0;
        for result in drawn {
            count += 1;
            assert_eq!(result.status, Status::Skipped, "{result:?}");
            assert!(result.why.starts_with(why), "{result:?}");
        }
        assert_eq!(count, 9, "{why}");
    }
}

/// Bytes of memory that are enough to bring a GPU up, and too few for a tiler heap.
const SMALL: u64 = 1 << 20;

/// What bring-up finds odd, and lives with, is told.
#[test]
fn warnings_of_the_bring_up_are_notes() {
    let config = Config {
        defects: [Defect::Slow(Slow::NoTimestamp)].into(),
        ..Config::default()
    };
    let firmware = stub_firmware();
    let mut heard = Heard::default();
    let setup = Setup {
        only: "power.",
        ..setup(&config, &firmware)
    };
    run(Machine::new(config), &setup, None, &mut heard);
    let told = heard.notes.iter();
    let told = told.filter(|note| note.starts_with("warning: TIMESTAMP (0x98) stands still"));
    assert_eq!(told.count(), 1, "{:?}", heard.notes);
}

/// Caches that the GPU does not see before its memory: the suite and the driver keep them up.
#[test]
fn caches_that_are_not_coherent_change_nothing() {
    let config = Config {
        l2: true,
        ..Config::default()
    };
    let firmware = stub_firmware();
    let platform = NonCoherent::new(Machine::new(config.clone()), 3);
    let only = if eitri_testdata::long() {
        ""
    } else {
        "caches."
    };
    let setup = Setup {
        only,
        ..setup(&config, &firmware)
    };
    check(platform, &setup, "non-coherent");
}
