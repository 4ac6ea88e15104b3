//! The suite on broken GPUs: each is told from a good one, by a test that fails.

use eitri_csf::Arch;
use eitri_model::{Broken, Config, Defect, SEEDED, Seeded, stub_firmware};
use eitri_on_model::Machine;
use eitri_validation::{Expected, Listener, Programs, Setup, Status, Summary, TestResult, run};
use std::time::Duration;

/// The first test that failed, and what it said.
#[derive(Default)]
struct First(Option<(String, String)>);

impl Listener for First {
    fn plan(&mut self, _: usize) {}

    fn result(&mut self, result: &TestResult) {
        if result.status == Status::Failed && self.0.is_none() {
            self.0 = Some((result.name.clone(), result.why.clone()));
        }
    }

    fn done(&mut self, _: Summary) {}
}

fn caught(seeded: &Seeded, firmware: &[u8], programs: &Programs) -> Option<(String, String)> {
    caught_by(seeded, firmware, programs, "")
}

/// The same by tests whose names begin so.
fn caught_by(
    seeded: &Seeded,
    firmware: &[u8],
    programs: &Programs,
    only: &str,
) -> Option<(String, String)> {
    let good = Config {
        l2: true,
        ..Config::default()
    };
    let part = good.product.part;
    let setup = Setup {
        expected: Expected {
            gpu_id: Some(part.gpu_id.0),
            cores: Some(part.shader_present),
            clock_khz: Some(good.clock_hz / 1000),
        },
        soak: 1,
        only,
        stop_at_failure: true,
        ..Setup::new(firmware)
    };
    let machine =
        Machine::with_memory(seeded.config(good), 3 << 30).with_patience(Duration::from_secs(20));
    let mut first = First::default();
    run(machine, &setup, Some(programs), &mut first);
    first.0
}

/// Some of them, that a seed picks, and all with `EITRI_LONG=1`.
#[test]
fn every_broken_gpu_is_caught() {
    const SEED: usize = 5;
    let step = if eitri_testdata::long() {
        1
    } else {
        SEEDED.len() / 3
    };
    let firmware = stub_firmware();
    let programs = Programs::build(Arch::V10).expect("the suite's own programs");
    let mut missed = Vec::new();
    let mut tried = 0;
    for seeded in SEEDED.iter().skip(SEED % step).step_by(step) {
        tried += 1;
        let start = std::time::Instant::now();
        match caught(seeded, &firmware, &programs) {
            Some((test, why)) => println!("{}: {test}: {why} ({:?})", seeded.name, start.elapsed()),
            None => missed.push(seeded.name),
        }
    }
    assert!(tried >= 3);
    assert!(
        missed.is_empty(),
        "of {tried}, these pass for good GPUs: {missed:?}"
    );
}

/// Caches of textures that keep what they have are seen by the test that is about them: data in buffers does not go through them.
#[test]
fn stale_texels_are_caught_by_the_test_of_textures() {
    let firmware = stub_firmware();
    let programs = Programs::build(Arch::V10).expect("the suite's own programs");
    let seeded = SEEDED.iter().find(|it| it.name == "texels-stale");
    let (test, why) = caught(seeded.expect("it is in the list"), &firmware, &programs)
        .expect("a GPU whose texels are stale passes for a good one");
    assert_eq!(test, "caches.texture", "{why}");
    assert!(why.contains("a shader stored 0x2000"), "{why}");
}

/// Each thing that draws can go wrong by is seen by the test that is about it, and no test before.
#[test]
fn defects_of_draws_are_caught_by_their_tests() {
    let firmware = stub_firmware();
    let programs = Programs::build(Arch::V10).expect("the suite's own programs");
    let expected = [
        (
            "samples-shifted",
            "graphics.triangle",
            "expected 0xffff0000",
        ),
        ("tie-rule-turned", "graphics.edges", "expected 0x80808080"),
        ("depth-not-tested", "graphics.depth", "the nearer first"),
        (
            "colors-not-interpolated",
            "graphics.colors",
            "a colour at each corner",
        ),
        (
            "blend-constant-lost",
            "graphics.blending",
            "a constant of a quarter",
        ),
        ("one-target-of-several", "graphics.targets", "target 1"),
        ("tiles-not-written", "graphics.clear", "was never written"),
        (
            "added-chunks-forgotten",
            "graphics.heap",
            "is what the heap grows by used?",
        ),
        (
            "used-chunks-forgotten",
            "graphics.heap",
            "are chunks given back?",
        ),
        ("texels-stale", "graphics.passes", "as it is read"),
    ];
    let mut wrong = Vec::new();
    for (name, test, says) in expected {
        let seeded = SEEDED.iter().find(|it| it.name == name);
        let seeded = seeded.expect("it is in the list");
        match caught_by(seeded, &firmware, &programs, "graphics.") {
            Some((by, why)) if by == test && why.contains(says) => {
                println!("{name}: {by}: {why}");
            }
            other => wrong.push(format!("{name}: by {test}, not by {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let of_draws = |it: &&Seeded| matches!(it.broken, Broken::Part(Defect::Draw(_)));
    // And one of caches, which a pass reads through.
    assert_eq!(SEEDED.iter().filter(of_draws).count() + 1, expected.len());
}

/// Stuck bits of the state of draws are each seen by a test of graphics. Some of them, and all with `EITRI_LONG=1`.
#[test]
fn stuck_bits_of_the_state_of_draws_are_caught() {
    let firmware = stub_firmware();
    let programs = Programs::build(Arch::V10).expect("the suite's own programs");
    let of_state = |it: &&Seeded| matches!(it.broken, Broken::Part(Defect::StateBit { .. }));
    let all: Vec<&Seeded> = SEEDED.iter().filter(of_state).collect();
    assert!(all.len() >= 60, "{}", all.len());
    let step = if eitri_testdata::long() { 1 } else { 9 };
    let mut missed = Vec::new();
    for seeded in all.into_iter().step_by(step) {
        match caught_by(seeded, &firmware, &programs, "graphics.") {
            Some((test, why)) => println!("{}: {test}: {why}", seeded.name),
            None => missed.push(seeded.name),
        }
    }
    assert!(missed.is_empty(), "these pass for good GPUs: {missed:?}");
}
