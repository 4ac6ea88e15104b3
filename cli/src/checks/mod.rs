//! Every check of the repository, in the order in which `eitri test` runs them.
//!
//! Guarantees: CI and people run the same list; a check that did not run is counted as such.

mod tally;

use crate::outcome::Failure;
use crate::process::{self, End};
use crate::progress;
use crate::workspace::{BARE_METAL_TARGET, Workspace};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
pub(crate) use tally::Tally;

/// What a check needs on the machine before it can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing but Rust.
    Host,
    /// The Rust target for bare metal.
    Target,
    /// The target and QEMU.
    Qemu,
}

/// How the result of a check is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    /// One result: the exit status.
    ExitStatus,
    /// The results that `cargo test` prints.
    CargoTest,
}

/// One check.
pub(crate) struct Check {
    /// A stable name, for `--filter` and for log files.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) what: &'static str,
    pub(crate) needs: Needs,
    arguments: &'static [&'static str],
    counting: Counting,
}

/// Packages that build only for the bare-metal target.
pub(crate) const BARE_METAL_PACKAGES: &[&str] = &[];

#[rustfmt::skip]
pub(crate) const ALL: &[Check] = &[
    Check { name: "fmt",         needs: Needs::Host,   counting: Counting::ExitStatus, what: "formatting",                        arguments: &["fmt", "--all", "--check"] },
    Check { name: "clippy",      needs: Needs::Host,   counting: Counting::ExitStatus, what: "lints of the host crates",          arguments: &["clippy", "--all-targets", "--", "-D", "warnings"] },
    Check { name: "docs",        needs: Needs::Host,   counting: Counting::ExitStatus, what: "documentation",                     arguments: &["doc", "--no-deps"] },
    Check { name: "host",        needs: Needs::Host,   counting: Counting::CargoTest,  what: "tests on the host",                 arguments: &["test", "--no-fail-fast"] },
];

/// Longest that one check may take, builds included.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// How a check went.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    pub(crate) tally: Tally,
    pub(crate) took: Duration,
    pub(crate) log: PathBuf,
    /// The end of what it printed, when it failed.
    pub(crate) failure: Option<String>,
}

impl Check {
    /// Runs the check; its output goes to a log of its own.
    pub(crate) fn run(&self, workspace: &Workspace, bless: bool) -> Result<Outcome, Failure> {
        let folder = workspace.target_folder().join("eitri/test");
        let log = folder.join(format!("{}.log", self.name));
        let skipped = folder.join(format!("{}.skipped", self.name));
        // Absent is as good as empty.
        let _ = std::fs::remove_file(&skipped);
        let mut command = self.command(workspace);
        command.env("EITRI_SKIPPED", &skipped);
        if bless {
            command
                .env("EITRI_BLESS", "1")
                .env("INSTA_UPDATE", "always");
        }
        let step = progress::start(self.what);
        let finished = process::run_logged(&mut command, &log, LIMIT)?;
        step.finish(finished.end.good());
        let output = finished.output();
        let mut tally = match self.counting {
            Counting::ExitStatus => Tally::one(finished.end.good()),
            Counting::CargoTest => Tally::of_cargo_test(&output),
        };
        tally.skip(
            std::fs::read_to_string(&skipped)
                .unwrap_or_default()
                .lines()
                .count(),
        );
        if !finished.end.good() {
            // A build that failed has no test that did.
            tally.failed = tally.failed.max(1);
        }
        let failure = (!finished.end.good()).then(|| tail(&output, &finished.end));
        Ok(Outcome {
            name: self.name,
            tally,
            took: finished.took,
            log,
            failure,
        })
    }

    fn command(&self, workspace: &Workspace) -> Command {
        let mut command = workspace.cargo(self.arguments);
        if self.needs != Needs::Host {
            command.args(["--target", BARE_METAL_TARGET]);
        }
        command.env("RUSTDOCFLAGS", "-D warnings");
        command
    }
}

/// The last lines of a failed check's output.
fn tail(output: &str, end: &End) -> String {
    const LINES: usize = 60;
    let lines: Vec<&str> = output.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    let mut text = lines.get(from..).unwrap_or(&[]).join("\n");
    if matches!(end, End::TimedOut) {
        text.push_str("\nstopped: it ran into its time limit");
    }
    text
}
