//! The tests of a build with mutants: which test reaches which mutant, and what a test says when one is on.
//!
//! Each test runs once alone without a mutant, which tells what it reaches. A mutant is then given the tests that reach it, the
//! quick ones first, in ever larger batches, until one fails. Limits are of processor time and memory, so that a busy machine
//! changes no verdict.

use super::subjects::{Subject, Tests};
use super::tree::Tree;
use crate::outcome::{Failure, FileError};
use crate::process::{End, run_logged};
use crate::progress;
use crate::runs::parallel;
use crate::workspace::Workspace;
use miette::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use thiserror::Error;

/// Addresses of a test program in KiB. A mutant may ask for memory without end; a machine of the tests maps a gibibyte, of which it
/// touches little, and some tests have several.
const MEMORY: u64 = 12 << 20;
/// Processor time of a batch: so many times what it took without a mutant, and some seconds.
const TIMES: u64 = 10;
const MORE: u64 = 20;
/// For those that wait for ever, and so take no processor time.
const ASLEEP: Duration = Duration::from_secs(1200);
/// The first batch; each further one is twice as long.
const FIRST_BATCH: Duration = Duration::from_secs(2);

/// One test.
struct Test {
    program: usize,
    name: String,
    took: Duration,
    /// Numbers of the mutants that it reaches.
    reaches: BTreeSet<usize>,
}

/// A test program.
struct Program {
    file: PathBuf,
    /// Where cargo runs it.
    folder: PathBuf,
    package: &'static str,
}

/// The tests of some subjects.
pub(crate) struct Suite {
    programs: Vec<Program>,
    /// The quick ones first.
    tests: Vec<Test>,
    logs: PathBuf,
}

/// What tests say of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// This test fails, or its program does in this way.
    Caught { by: String },
    /// So many tests reach it, and none fails.
    Survived { tests: usize },
    /// No test runs the code.
    Unreached,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{name} fails without a mutant")]
#[diagnostic(help("{output}"))]
struct BadWithout {
    name: String,
    output: String,
}

impl Suite {
    /// Builds the tests of `subjects`, and runs each once.
    pub(crate) fn of(
        workspace: &Workspace,
        tree: &Tree,
        subjects: &[&Subject],
    ) -> Result<Suite, Failure> {
        let logs = tree.root().with_file_name("logs");
        std::fs::create_dir_all(&logs).map_err(|cause| Failure::unwritable(&logs, cause))?;
        let mut suite = Suite {
            programs: Vec::new(),
            tests: Vec::new(),
            logs,
        };
        let mut asked = BTreeMap::new();
        for tests in subjects.iter().flat_map(|subject| subject.tests) {
            asked.entry((tests.package, tests.target)).or_insert(tests);
        }
        for tests in asked.values() {
            for (file, folder) in tree.test_programs(workspace, tests.package, tests.target)? {
                let names = suite.names(&file, &folder, tests)?;
                let program = suite.programs.len();
                suite.programs.push(Program {
                    file,
                    folder,
                    package: tests.package,
                });
                suite.tests.extend(names.into_iter().map(|name| Test {
                    program,
                    name,
                    took: Duration::ZERO,
                    reaches: BTreeSet::new(),
                }));
            }
        }
        suite.run_each_alone()?;
        suite.tests.sort_by_key(|test| test.took);
        Ok(suite)
    }

    /// Tests of a program, of the modules that are asked.
    fn names(&self, file: &Path, folder: &Path, tests: &Tests) -> Result<Vec<String>, Failure> {
        let log = self.logs.join("list.log");
        let mut command = Command::new(file);
        command
            .current_dir(folder)
            .args(["--list", "--format=terse"]);
        let listed = run_logged(&mut command, &log, ASLEEP)?;
        let output = listed.output();
        let names = output
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        let asked = |name: &&str| {
            let module = name.split("::").next().unwrap_or_default();
            tests.modules.is_empty() || tests.modules.contains(&module)
        };
        Ok(names.filter(asked).map(str::to_owned).collect())
    }

    fn run_each_alone(&mut self) -> Result<(), Failure> {
        let step = progress::start("each test without a mutant");
        let count = self.tests.len();
        let indices: Vec<usize> = (0..count).collect();
        let mut results = Vec::new();
        let run = |index: &usize| self.run_alone(*index);
        let done: Result<(), Failure> =
            parallel::in_order(&indices, parallel::available(), run, |index, result| {
                step.detail(&format!("{index} of {count}"));
                results.push(result?);
                Ok(())
            });
        step.finish(done.is_ok());
        done?;
        for (test, (took, reaches)) in self.tests.iter_mut().zip(results) {
            test.took = took;
            test.reaches = reaches;
        }
        Ok(())
    }

    fn run_alone(&self, index: usize) -> Result<(Duration, BTreeSet<usize>), Failure> {
        let test = &self.tests[index];
        let reached = self.logs.join(format!("{index}.reached"));
        // Absent is as good as empty.
        let _ = std::fs::remove_file(&reached);
        let mut command = self.command(test.program, &[&test.name], ASLEEP.as_secs());
        command.env("EITRI_MUTANTS_REACHED", &reached);
        let finished = run_logged(
            &mut command,
            &self.logs.join(format!("{index}.log")),
            ASLEEP,
        )?;
        if !finished.end.good() {
            let name = format!("{} {}", self.programs[test.program].package, test.name);
            return Err(Failure::check(BadWithout {
                name,
                output: finished.output(),
            }));
        }
        let text = std::fs::read_to_string(&reached).unwrap_or_default();
        Ok((
            finished.took,
            text.lines().filter_map(|line| line.parse().ok()).collect(),
        ))
    }

    /// Some tests of a program, in one thread, for so many seconds of processor time.
    fn command(&self, program: usize, names: &[&str], seconds: u64) -> Command {
        let Program { file, folder, .. } = &self.programs[program];
        let mut command = Command::new("sh");
        command.arg("-c");
        command.arg(format!(
            "ulimit -t {seconds}; ulimit -v {MEMORY}; exec \"$0\" \"$@\""
        ));
        command
            .arg(file)
            .args(["--exact", "--test-threads=1"])
            .args(names);
        command.current_dir(folder);
        // As `cargo test` has it; what a failure leaves behind would change the tests of the next mutant.
        command.env("CARGO_MANIFEST_DIR", folder);
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
        command.env("INSTA_UPDATE", "no");
        command.env_remove("EITRI_BLESS").env_remove("EITRI_LONG");
        command
    }

    /// How many tests there are.
    pub(crate) fn len(&self) -> usize {
        self.tests.len()
    }

    /// Asks the tests of one mutant.
    ///
    /// # Errors
    /// When a program can't be run; whatever a program does is a verdict.
    pub(crate) fn judge(&self, number: usize) -> Result<Verdict, Failure> {
        let reaching: Vec<&Test> = self
            .tests
            .iter()
            .filter(|test| test.reaches.contains(&number))
            .collect();
        if reaching.is_empty() {
            return Ok(Verdict::Unreached);
        }
        let mut rest = &reaching[..];
        let mut length = FIRST_BATCH;
        while !rest.is_empty() {
            let mut sum = Duration::ZERO;
            let fits = |test: &&&Test| {
                sum += test.took;
                sum <= length
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (batch, later) = rest.split_at(count);
            if let Some(by) = self.run_batch(number, batch)? {
                return Ok(Verdict::Caught { by });
            }
            rest = later;
            length *= 2;
        }
        Ok(Verdict::Survived {
            tests: reaching.len(),
        })
    }

    /// Runs tests with a mutant on; gives what fails.
    fn run_batch(&self, number: usize, batch: &[&Test]) -> Result<Option<String>, Failure> {
        let mut by_program: BTreeMap<usize, Vec<&Test>> = BTreeMap::new();
        for test in batch {
            by_program.entry(test.program).or_default().push(test);
        }
        for (program, tests) in by_program {
            let took: Duration = tests.iter().map(|test| test.took).sum();
            let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
            let mut command = self.command(program, &names, took.as_secs() * TIMES + MORE);
            command.env("EITRI_MUTANT", number.to_string());
            let log = self.logs.join(format!("mutant-{number}.log"));
            let finished = run_logged(&mut command, &log, ASLEEP)?;
            if !finished.end.good() {
                let package = self.programs[program].package;
                return Ok(Some(format!(
                    "{package} {}",
                    failing(&finished.output(), &finished.end)
                )));
            }
        }
        Ok(None)
    }

    /// Removes what the runs have left behind.
    pub(crate) fn clean(&self) -> Result<(), Failure> {
        let failed = |cause| {
            let path = self.logs.display().to_string();
            Failure::missing(FileError {
                action: "remove",
                path,
                cause,
            })
        };
        std::fs::remove_dir_all(&self.logs).map_err(failed)
    }
}

/// The first test that failed by a program's output; the one that it ended in, where it could not say so.
fn failing(output: &str, end: &End) -> String {
    let results = output.lines().filter_map(|line| line.strip_prefix("test "));
    let mut last = None;
    for line in results {
        if let Some(name) = line.strip_suffix(" ... FAILED") {
            return name.to_owned();
        }
        last = line
            .split(" ... ")
            .next()
            .filter(|_| !line.ends_with(" ... ok"));
    }
    let how = match end {
        End::Exited(status) => status.to_string(),
        End::TimedOut => "waits for ever".to_owned(),
    };
    match last {
        Some(name) => format!("{name} ({how})"),
        None => format!("({how})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn the_test_that_fails_is_named() {
        let killed = End::Exited(std::process::ExitStatus::from_raw(9));
        let output = "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n";
        assert_eq!(failing(output, &killed), "a::c");
        let output = "running 2 tests\ntest a::b ... ok\ntest a::c ... ";
        assert_eq!(failing(output, &killed), "a::c (signal: 9 (SIGKILL))");
        assert_eq!(failing("", &End::TimedOut), "(waits for ever)");
    }
}
