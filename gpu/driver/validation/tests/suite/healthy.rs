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

/// Tests of graphics.
fn tests_of_graphics() -> usize {
    let names = names::<Machine>();
    let graphics = names.iter().filter(|name| name.starts_with("graphics."));
    let count = graphics.count();
    assert!(count >= 100, "{count}");
    count
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
        assert_eq!(passed, vec![Status::Passed; tests_of_graphics()], "{name}");
        assert_eq!(machine.memory_in_use(), 0, "{name}");
    }
}

/// Questions that no fact answers are answered by the model as its own facts have it: each answer here was chosen there
/// (graphics-model.md 2.1, 4.3; graphics-raster.md 4.3), and a board may have others.
#[test]
fn probes_answer_on_the_model() {
    for (name, two) in [("G610", false), ("G720", true)] {
        let config = Config {
            product: Product::find(name).expect("the model can be it"),
            ..Config::default()
        };
        let firmware = stub_firmware();
        let setup = Setup {
            only: "probe.",
            ..setup(&config, &firmware)
        };
        let heard = check(Machine::new(config), &setup, name);
        let probes: Vec<&TestResult> = heard
            .results
            .iter()
            .filter(|it| it.name.starts_with("probe."))
            .collect();
        assert!(probes.len() >= 11, "{name}: {}", probes.len());
        for probe in &probes {
            let status = if probe.name.ends_with(".2") && !two {
                Status::Skipped
            } else {
                Status::Passed
            };
            assert_eq!(probe.status, status, "{name}: {probe:?}");
        }
        let answers = probes.iter().flat_map(|it| &it.measured);
        let answers: Vec<(&str, u64)> = answers.map(|it| (it.name.as_str(), it.value)).collect();
        let answer = |of: &str| {
            let found = answers.iter().find(|(name, _)| *name == of);
            found
                .unwrap_or_else(|| panic!("{name}: no {of} in {answers:?}"))
                .1
        };
        // The model's choice of a half circle of directions.
        assert_eq!(answer("probe.tie-rule.inclusive").count_ones(), 4, "{name}");
        // 256 places in a pixel: four in a 64th, and the one that rounding adds.
        assert!(
            (4..=5).contains(&answer("probe.snapping.places-in-a-64th")),
            "{name}"
        );
        // Four samples: n = floor((256 alpha + 8) / 16).
        for covered in 1..=16 {
            let least = answer(&format!("probe.alpha-to-coverage.4.alpha-for-{covered}"));
            assert_eq!(least, covered * 16 - 8, "{name}: {covered}");
        }
        let left: Vec<u64> = (0..=16)
            .map(|step| answer(&format!("probe.positions.4.left-of-{step}")))
            .collect();
        // Offsets -6, -2, 2 and 6 of 16 from the middle.
        assert_eq!(left.first().zip(left.last()), Some((&0, &4)), "{name}");
        let grows: Vec<usize> = (1..=16).filter(|at| left[*at] > left[at - 1]).collect();
        assert_eq!(grows.len(), 4, "{name}: {left:?}");
        assert!(answer("probe.guard-band.pixels") >= 1 << 15, "{name}");
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
        assert_eq!(count, tests_of_graphics(), "{why}");
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
