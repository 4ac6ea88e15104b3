//! The driver's tests in QEMU, with caches that the GPU does not see: one image, one boot, a line for each test. Those that take
//! long there have a boot, and a check, of their own.
//!
//! A test that fails ends the image, which is booted again for those behind it. What has failed runs once more, alone, with each
//! access of the image looked at: if upkeep of the caches was missing, it is told who stored what was not cleaned. That this is so
//! is shown by drivers that lack upkeep.

use super::Case;
use crate::input::shader_file;
use crate::outcome::{Failure, FileError};
use crate::runs::dispatch;
use crate::runs::qemu::{self, Machine, TestsRan};
use crate::workspace::Workspace;
use eitri_model::stub_firmware;
use eitri_shaderc::{Options, Robust};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the shaders of the tests are, and those of them that reach where they like.
const SHADERS: &str = "gpu/driver/driver-tests/shaders";
const HOSTILE: &str = "gpu/driver/driver-tests/shaders/hostile";

/// Longest that a boot may take, in the machine's own time.
const LIMIT: Duration = Duration::from_secs(600);
/// What the monitor says of upkeep that is missing.
const UPKEEP: &str = "cache: ";
/// As often it is booted again for the tests that stand behind one that has failed.
const MOST_BOOTS: usize = 20;

/// Runs all but the slow ones, with the upkeep of caches looked at.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let machine = Machine::with_driver_tests(&stub_firmware(), &programs(workspace)?)?;
    let mut cases = cases(&machine, "")?;
    cases.extend(seeded(&machine)?);
    Ok(cases)
}

/// Runs those that take long in an emulated machine.
pub(super) fn run_slow(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let machine = Machine::with_driver_tests(&stub_firmware(), &programs(workspace)?)?;
    cases(&machine, "slow")
}

/// A case for each test that runs with this word on the command line.
fn cases(machine: &Machine, word: &str) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for (number, result) in (1..).zip(run_all(machine, word)?) {
        cases.extend(match result.outcome {
            Outcome::Elsewhere => None,
            Outcome::Good(took) => Some(Case::ran(result.name, None).with_remark(took)),
            Outcome::Failed(failure) => {
                let failure = who_stored(machine, number, &failure)?;
                Some(Case::ran(result.name, Some(failure)))
            }
        });
    }
    Ok(cases)
}

/// What became of each test, booting again behind one that has ended the image. One more result, without a name in the list, says why
/// there are no further ones.
fn run_all(machine: &Machine, word: &str) -> Result<Vec<TestResult>, Failure> {
    let mut results: Vec<TestResult> = Vec::new();
    for _ in 0..MOST_BOOTS {
        let first = results.len() + 1;
        let ran = boot(machine, Sight::Pages, &format!("from={first} {word}"))?;
        let tap = Tap::read(&ran.console);
        let behind = |said: &str| format!("{}\n{said}{}", ran.ended, ran.monitor);
        results.extend(tap.results);
        if let Some(name) = tap.under_way {
            let outcome = Outcome::Failed(behind(&tap.last_words));
            results.push(TestResult { name, outcome });
        } else if results.len() < tap.planned || tap.planned == 0 {
            let (name, outcome) = (
                "the image".to_owned(),
                Outcome::Failed(behind(&ran.console)),
            );
            results.push(TestResult { name, outcome });
            break;
        }
        if results.len() == tap.planned {
            break;
        }
    }
    Ok(results)
}

/// Drivers that lack upkeep of caches: the image says what is told of each, and which function of the driver is at fault; the addresses
/// that are told must be of that function.
fn seeded(machine: &Machine) -> Result<Vec<Case>, Failure> {
    let ran = boot(machine, Sight::Lines, "seeded")?;
    let said = || format!("{}\n{}{}", ran.ended, ran.console, ran.monitor);
    let mut cases = Vec::new();
    let mut told = String::new();
    for line in ran.console.lines().map(str::trim_end) {
        if let Some(text) = begun(line) {
            told += &machine.with_symbols(text);
            told.push('\n');
        } else if let Some((name, function)) = ended(line) {
            let is_named = line.starts_with("ok ") && told.contains(function);
            let failure =
                (!is_named).then(|| format!("`{function}` is not told:\n{told}{}", said()));
            cases.push(Case::ran(name, failure));
            told.clear();
        }
    }
    if cases.is_empty() {
        cases.push(Case::ran("drivers that lack upkeep", Some(said())));
    }
    Ok(cases)
}

/// The name and the remark of a line that says how a test ended.
fn ended(line: &str) -> Option<(&str, &str)> {
    let result = line
        .strip_prefix("ok ")
        .or_else(|| line.strip_prefix("not ok "))?;
    let (_, result) = result.split_once(" - ")?;
    result.split_once(" # ")
}

/// What the monitor looks at, to play the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// The upkeep.
    Pages,
    /// Each access.
    Lines,
}

fn boot(machine: &Machine, sight: Sight, word: &str) -> Result<TestsRan, Failure> {
    let coherent = match sight {
        Sight::Pages => "coherent=pages",
        Sight::Lines => "coherent=no",
    };
    qemu::run_driver_tests(machine, &[coherent, word], LIMIT)
}

/// What is wrong with a test that has failed, with what a run says in which each access is looked at.
fn who_stored(machine: &Machine, number: usize, failure: &str) -> Result<String, Failure> {
    let ran = boot(machine, Sight::Lines, &format!("only={number}"))?;
    let told = ran.monitor.lines().filter(|line| line.contains(UPKEEP));
    let told: Vec<String> = told.map(|line| machine.with_symbols(line)).collect();
    Ok(format!("{}\n{failure}", told.join("\n")))
}

/// The programs of all shaders, as the image wants them: of each its name and itself, both behind their length.
fn programs(workspace: &Workspace) -> Result<Vec<u8>, Failure> {
    let mut all = Vec::new();
    for (folder, robust) in [(SHADERS, Robust::default()), (HOSTILE, Robust::Off)] {
        let folder = workspace.root().join(folder);
        let options = Options {
            robust,
            ..Options::default()
        };
        for path in shaders(&folder)? {
            let shader = shader_file::load(&path.to_string_lossy())?;
            let compiled = dispatch::compile(&shader, &options)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            for piece in [name.as_bytes(), &compiled.program] {
                all.extend((piece.len() as u32).to_le_bytes());
                all.extend(piece);
            }
        }
    }
    Ok(all)
}

/// The shaders of a folder, in order.
fn shaders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |cause| Failure::missing(FileError::at("read", folder, cause));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|it| it == "wgsl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// What became of a test.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// With what the image says of it: how long it took.
    Good(String),
    /// With what was said.
    Failed(String),
    /// It is not run here: it is for the host alone, or for the other of the two checks.
    Elsewhere,
}

#[derive(Debug, PartialEq, Eq)]
struct TestResult {
    name: String,
    outcome: Outcome,
}

/// What an image of tests has said.
#[derive(Default)]
struct Tap {
    planned: usize,
    results: Vec<TestResult>,
    /// The test that has begun, and has no result.
    under_way: Option<String>,
    /// What was said after it began.
    last_words: String,
}

impl Tap {
    fn read(console: &str) -> Tap {
        let mut tap = Tap::default();
        for line in console.lines().map(str::trim_end) {
            if let Some(planned) = line.strip_prefix("1..") {
                tap.planned = planned.parse().unwrap_or(0);
            } else if let Some(result) = line.strip_prefix("ok ") {
                tap.end(result, true);
            } else if let Some(result) = line.strip_prefix("not ok ") {
                tap.end(result, false);
            } else if let Some(name) = begun(line) {
                tap.under_way = Some(name.to_owned());
                tap.last_words.clear();
            } else {
                tap.last_words += line;
                tap.last_words.push('\n');
            }
        }
        tap
    }

    /// A line of the form `NUMBER - NAME # REMARK`.
    fn end(&mut self, result: &str, good: bool) {
        let (_, result) = result.split_once(" - ").unwrap_or(("", result));
        let (name, remark) = result.split_once(" # ").unwrap_or((result, ""));
        self.under_way = None;
        self.results.push(TestResult {
            name: name.to_owned(),
            outcome: match good {
                true if remark.starts_with("SKIP ") => Outcome::Elsewhere,
                true => Outcome::Good(remark.to_owned()),
                false => Outcome::Failed(remark.to_owned()),
            },
        });
    }
}

/// The name in a line that says that a test begins.
fn begun(line: &str) -> Option<&str> {
    let (number, name) = line.strip_prefix("# ")?.split_once(' ')?;
    number.parse::<usize>().ok().map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_without_a_result_is_the_one_that_failed() {
        let tap = Tap::read(
            "1..4\n# 1 heap::a\nok 1 - heap::a # 3 ms\nok 2 - heap::b # SKIP it is big\n\
             # 3 heap::c\nnot ok 3 - heap::c # cache: a line\n# 4 heap::d\npanicked\n",
        );
        let outcomes: Vec<&Outcome> = tap.results.iter().map(|it| &it.outcome).collect();
        let good = Outcome::Good("3 ms".to_owned());
        let missing = Outcome::Failed("cache: a line".to_owned());
        assert_eq!(outcomes, [&good, &Outcome::Elsewhere, &missing]);
        assert_eq!((tap.planned, tap.results[2].name.as_str()), (4, "heap::c"));
        assert_eq!(tap.under_way.as_deref(), Some("heap::d"));
        assert_eq!(tap.last_words, "panicked\n");
    }
}
