//! Every check of the repository, in the order in which `eitri test` runs those of a lane.
//!
//! Guarantees: CI and people run the same list; a check that did not run is counted as such.

mod amber;
mod board_files;
mod boards;
mod boot;
mod c_library;
mod debugger;
mod display;
mod documentation;
mod draw;
mod driver;
mod failures;
mod fidelity;
mod fuzz;
mod kernel;
mod labs;
mod linux;
mod miri;
mod model_place;
mod mutants;
mod own_command;
mod pages;
mod places;
mod prebuilt;
mod random_kernels;
mod scenes;
mod shaders;
mod swapchain;
mod symbols;
mod tally;
mod u_boot;
mod uefi;
mod validation;

use crate::outcome::{Failure, FileError};
use crate::output::streams::talk;
use crate::output::whole_file;
use crate::workspace::{BARE_METAL_TARGET, Workspace};
use eitri_launch::cargo::{self, Manner, Watch};
use eitri_launch::tools::Tool;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
pub(crate) use tally::Tally;

/// When a check runs; where it is long, how long it takes on two cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Always, and always the same.
    Always,
    /// Only with `--long`.
    Long(&'static str),
}

/// Checks of two lanes run side by side: cargo builds one program at a time for each profile, and QEMU leaves a core free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// What is built without optimising, for this machine most of the time.
    Host,
    /// What is built as it ships, for bare metal; then what is built and run beside the tests of the other lane, of which the last
    /// of each program leaves a core free.
    Images,
}

/// Tools that a check needs besides Rust.
const RUST: &[Tool] = &[];
const BARE: &[Tool] = &[Tool::Target];
const QEMU: &[Tool] = Tool::OF_QEMU;
/// Compilers of text: some shaders of the tests are GLSL that naga can't read, and scripts have SPIR-V assembly.
const TEXT: &[Tool] = &[Tool::Glslang, Tool::SpirvAs];
const FORM: &[Tool] = &[Tool::Target, Tool::MkImage];
const BOOT: &[Tool] = &[Tool::Target, Tool::Qemu, Tool::UBoot];
const C: &[Tool] = &[Tool::Target, Tool::Qemu, Tool::Glslang, Tool::CrossGcc];
const LABS: &[Tool] = &[Tool::Python];
const BROWSER: &[Tool] = &[Tool::Chromium];
const EDITOR: &[Tool] = &[Tool::Npm];
const UEFI: &[Tool] = &[
    Tool::Target,
    Tool::UefiTarget,
    Tool::Qemu,
    Tool::UBoot,
    Tool::Uefi,
];
const BOTH: &[Tool] = &[Tool::Target, Tool::Qemu, Tool::Glslang];
const GUEST: &[Tool] = &[Tool::Target, Tool::GuestTarget, Tool::Qemu];
const EACH: &[Tool] = &[Tool::Target, Tool::Qemu, Tool::Glslang, Tool::SpirvAs];

/// What a check does.
enum Action {
    /// A `cargo` command with one result: its exit status.
    Cargo(&'static [&'static str]),
    /// The same with what the lints have compiled.
    Documents(&'static [&'static str]),
    /// `cargo test`: the results that it prints.
    CargoTest(&'static [&'static str]),
    /// The driver's tests on the host, in their usual form, with a variable that changes the machines beneath them.
    Driver(&'static str, &'static str),
    /// Code of ours, one result a case.
    Cases(fn(&Workspace) -> Result<Vec<Case>, Failure>),
}

/// One result of a check of ours.
pub(crate) struct Case {
    name: String,
    /// What is wrong.
    failure: Option<String>,
    /// Why it did not run.
    skipped: Option<String>,
    /// How long it took, for the log.
    remark: Option<String>,
}

impl Case {
    /// One that ran.
    fn ran(name: impl Into<String>, failure: Option<String>) -> Case {
        Case {
            name: name.into(),
            failure,
            skipped: None,
            remark: None,
        }
    }

    /// The same, with what the log says of it if it is good.
    fn with_remark(self, remark: String) -> Case {
        Case {
            remark: Some(remark),
            ..self
        }
    }

    /// One that could not run here.
    fn skipped(name: impl Into<String>, why: String) -> Case {
        Case {
            name: name.into(),
            failure: None,
            skipped: Some(why),
            remark: None,
        }
    }
}

/// One check.
pub(crate) struct Check {
    /// A stable name, for `--filter` and for log files.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) what: &'static str,
    pub(crate) when: When,
    pub(crate) lane: Lane,
    pub(crate) needs: &'static [Tool],
    action: Action,
}

/// All but eitri-no-panic and eitri-c-library, which have no allocator: beside images that read dumps they would need one. Their own
/// checks build them. What
/// they depend on was linted for the host. As they ship: of what runs while they are built (macros) nothing is compiled again.
const CLIPPY_BARE_METAL: &[&str] = &[
    "clippy",
    "--release",
    "--target",
    BARE_METAL_TARGET,
    "-p=eitri-amber-image",
    "-p=eitri-bench",
    "-p=eitri-boards",
    "-p=eitri-c-interface",
    "-p=eitri-cube",
    "-p=eitri-draw-image",
    "-p=eitri-driver-tests-image",
    "-p=eitri-embassy",
    "-p=eitri-embassy-example",
    "-p=eitri-embed",
    "-p=eitri-image",
    "-p=eitri-kernel",
    "-p=eitri-kernel-tests",
    "-p=eitri-mmio",
    "-p=eitri-monitor",
    "-p=eitri-on-board",
    "-p=eitri-runtime",
    "-p=eitri-validation-image",
    "-p=eitri-wrong-power",
    "--features=eitri-runtime/defmt",
    "--",
    "--no-deps",
    "-D",
    "warnings",
];
const NO_PANIC: &[&str] = &[
    "build",
    "--profile",
    "no-panic",
    "--target",
    BARE_METAL_TARGET,
    "-p=eitri-no-panic",
];
/// The crates of tables, each as others would get it: it holds all that it needs, and builds alone. Without debug information, as
/// the workspace's own dependencies are, so that those are not built again.
const PACKAGES: &[&str] = &[
    "package",
    "--config=profile.dev.debug=false",
    "--config=profile.dev.incremental=false",
    "--allow-dirty",
    "--offline",
    "-p=eitri-arch",
    "-p=eitri-isa",
    "-p=eitri-ir3-isa",
    "-p=eitri-cs",
    "-p=eitri-descriptors",
    "-p=eitri-csf",
];
/// All crates that others can build on; what they hold is compiled by other checks. A test of `cli/tests/publishing.rs` says which.
const PUBLISHABLE: &[&str] = &[
    "package",
    "--no-verify",
    "--allow-dirty",
    "--offline",
    "-p=eitri-arch",
    "-p=eitri-boards",
    "-p=eitri-cache-line",
    "-p=eitri-cs",
    "-p=eitri-csf",
    "-p=eitri-descriptors",
    "-p=eitri-draw-programs",
    "-p=eitri-dump",
    "-p=eitri-embassy",
    "-p=eitri-ir3-isa",
    "-p=eitri-ir3-program",
    "-p=eitri-isa",
    "-p=eitri-mmio",
    "-p=eitri-model",
    "-p=eitri-host-code",
    "-p=eitri-on-model",
    "-p=eitri-program",
    "-p=eitri-program-file",
    "-p=eitri-runtime",
    "-p=eitri-shaderc",
    "-p=eitri-texels",
    "-p=eitri-validation",
];

/// The driver's tests on the host.
const DRIVER: &[&str] = &[
    "test",
    "--no-fail-fast",
    "-p=eitri-runtime",
    "--test=on_model",
];

/// Every check. In each lane those that fail soonest come first.
#[rustfmt::skip]
pub(crate) const ALL: &[Check] = &[
    Check { name: "fmt",        when: When::Always,           lane: Lane::Host,   needs: RUST, what: "formatting",                                             action: Action::Cargo(&["fmt", "--all", "--check"]) },
    Check { name: "clippy",     when: When::Always,           lane: Lane::Host,   needs: RUST, what: "lints of the host crates",                               action: Action::Cargo(&["clippy", "--all-targets", "--", "-D", "warnings"]) },
    Check { name: "host",       when: When::Always,           lane: Lane::Host,   needs: TEXT, what: "tests on the host",                                      action: Action::CargoTest(&["test", "--no-fail-fast", "--tests"]) },
    Check { name: "soak",       when: When::Long("30 min"),   lane: Lane::Host,   needs: TEXT, what: "long forms of the tests on the host",                    action: Action::CargoTest(&["test", "--profile", "soak", "--no-fail-fast"]) },
    Check { name: "caches",     when: When::Long("4 min"),    lane: Lane::Host,   needs: RUST, what: "the driver's tests with caches that the GPU does not see", action: Action::Driver("EITRI_NON_COHERENT", "1") },
    Check { name: "overlap-1",  when: When::Long("1 min"),    lane: Lane::Host,   needs: RUST, what: "the driver's tests with jobs that overlap where nothing orders them", action: Action::Driver("EITRI_OVERLAP", "1") },
    Check { name: "overlap-7",  when: When::Long("1 min"),    lane: Lane::Host,   needs: RUST, what: "the driver's tests with jobs that overlap in another order", action: Action::Driver("EITRI_OVERLAP", "7") },
    Check { name: "reorder",    when: When::Long("3 min"),    lane: Lane::Host,   needs: RUST, what: "the driver's tests with shaders whose accesses to memory come late", action: Action::Driver("EITRI_REORDER", "1") },
    Check { name: "fuzz",       when: When::Long("10 min"),   lane: Lane::Host,   needs: RUST, what: "random words on the decoders",                           action: Action::Cases(fuzz::run) },
    Check { name: "miri",       when: When::Long("2 min"),    lane: Lane::Host,   needs: RUST, what: "Miri on the unsafe code that runs on a host",              action: Action::Cases(miri::run) },
    Check { name: "mutants",    when: When::Long("90 min"),   lane: Lane::Host,   needs: TEXT, what: "tests catch a sample of slips in the code",            action: Action::Cases(mutants::run) },
    Check { name: "linux",      when: When::Long("8 min"),    lane: Lane::Images, needs: GUEST, what: "Linux and its drivers on the model",                     action: Action::Cases(linux::run) },
    Check { name: "no-panic",   when: When::Always,           lane: Lane::Images, needs: BARE, what: "the driver links without a panic",                       action: Action::Cargo(NO_PANIC) },
    Check { name: "bare-metal", when: When::Always,           lane: Lane::Images, needs: BARE, what: "lints of the bare-metal crates",                         action: Action::Cargo(CLIPPY_BARE_METAL) },
    Check { name: "symbols",    when: When::Always,           lane: Lane::Images, needs: BARE, what: "the image under test holds no model",                    action: Action::Cases(symbols::run) },
    Check { name: "boards",     when: When::Always,           lane: Lane::Images, needs: FORM, what: "the image links for every board",                        action: Action::Cases(boards::run) },
    Check { name: "embassy",    when: When::Long("1 min"),    lane: Lane::Images, needs: QEMU, what: "tasks on an executor share a GPU in QEMU",               action: Action::Cases(kernel::run_embassy) },
    Check { name: "small",      when: When::Long("1 min"),    lane: Lane::Images, needs: QEMU, what: "an image that is small runs in QEMU, and its errors are read", action: Action::Cases(kernel::run_small) },
    Check { name: "kernel",     when: When::Always,           lane: Lane::Images, needs: QEMU, what: "the kernel, the monitor and a display in QEMU",          action: Action::Cases(kernel::run) },
    Check { name: "boot",       when: When::Always,           lane: Lane::Images, needs: QEMU, what: "images of others meet the model, and the crate to copy runs", action: Action::Cases(boot::run) },
    Check { name: "model-place", when: When::Always,          lane: Lane::Images, needs: QEMU, what: "machines in QEMU give the same wherever their model runs", action: Action::Cases(model_place::run) },
    Check { name: "c-library",  when: When::Always,           lane: Lane::Images, needs: C,    what: "a C program computes and draws with libeitri.a in QEMU", action: Action::Cases(c_library::run) },
    Check { name: "driver",     when: When::Always,           lane: Lane::Images, needs: QEMU, what: "the driver's tests in QEMU, with caches that the GPU does not see", action: Action::Cases(driver::run) },
    Check { name: "slow-driver", when: When::Long("6 min"),   lane: Lane::Images, needs: QEMU, what: "the driver's tests that take long in QEMU",              action: Action::Cases(driver::run_slow) },
    Check { name: "u-boot",     when: When::Always,           lane: Lane::Images, needs: BOOT, what: "U-Boot takes the image in every form",                   action: Action::Cases(u_boot::run) },
    Check { name: "places",     when: When::Long("4 min"),    lane: Lane::Images, needs: BARE, what: "an image has the same bytes wherever it is built",        action: Action::Cases(places::run) },
    Check { name: "prebuilt",   when: When::Long("3 min"),    lane: Lane::Images, needs: QEMU, what: "images that a package brings along carry what they are given", action: Action::Cases(prebuilt::run) },
    Check { name: "fidelity",   when: When::Long("6 min"),    lane: Lane::Images, needs: QEMU, what: "each board's image on that board's stand-ins",            action: Action::Cases(fidelity::run) },
    Check { name: "labs",       when: When::Long("2 min"),    lane: Lane::Images, needs: LABS, what: "labgrid and LAVA take the files for labs",               action: Action::Cases(labs::run) },
    Check { name: "pages",      when: When::Long("1 min"),    lane: Lane::Images, needs: BROWSER, what: "a browser shows pages as they are meant, and searches the site", action: Action::Cases(pages::run) },
    Check { name: "debugger",   when: When::Long("1 min"),    lane: Lane::Images, needs: EDITOR, what: "an editor's client steps through shaders",               action: Action::Cases(debugger::run) },
    Check { name: "uefi",       when: When::Long("3 min"),    lane: Lane::Images, needs: UEFI, what: "UEFI firmware starts the image",                         action: Action::Cases(uefi::run) },
    Check { name: "validation", when: When::Long("8 min"),    lane: Lane::Images, needs: QEMU, what: "the whole validation suite in QEMU",                      action: Action::Cases(validation::run) },
    Check { name: "amber",      when: When::Always,           lane: Lane::Images, needs: EACH, what: "scripts have the same verdicts in QEMU and on the host", action: Action::Cases(amber::run) },
    Check { name: "draw",       when: When::Always,           lane: Lane::Images, needs: QEMU, what: "drawings are alike in QEMU and on the host, and on a screen", action: Action::Cases(draw::run) },
    Check { name: "random-kernels", when: When::Long("3 min"),    lane: Lane::Images, needs: RUST, what: "random kernels compute what Mesa's CPU driver computes", action: Action::Cases(random_kernels::run) },
    Check { name: "scenes",     when: When::Long("8 min"),    lane: Lane::Images, needs: RUST, what: "random scenes come out as Mesa's CPU driver draws them", action: Action::Cases(scenes::run) },
    Check { name: "shaders",    when: When::Always,           lane: Lane::Images, needs: BOTH, what: "shaders give the same bytes in QEMU and on the host",    action: Action::Cases(shaders::run) },
    Check { name: "docs",       when: When::Always,           lane: Lane::Images, needs: RUST, what: "documentation",                                          action: Action::Documents(&["doc", "--no-deps"]) },
    Check { name: "packages",   when: When::Always,           lane: Lane::Images, needs: RUST, what: "the crates of tables are of use alone",                  action: Action::Cargo(PACKAGES) },
    Check { name: "publishable", when: When::Always,          lane: Lane::Images, needs: RUST, what: "every library crate can be packaged",                     action: Action::Cargo(PUBLISHABLE) },
    Check { name: "examples",   when: When::Always,           lane: Lane::Images, needs: RUST, what: "examples in the documentation",                          action: Action::CargoTest(&["test", "--no-fail-fast", "--doc"]) },
];

impl When {
    /// Longest that the check may take, builds included.
    fn limit(self) -> Duration {
        match self {
            // Against checks that hang. A machine with much else to do takes several times as long.
            When::Always => Duration::from_secs(2 * 60 * 60),
            When::Long(_) => Duration::from_secs(4 * 60 * 60),
        }
    }
}

/// How a check went.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    pub(crate) tally: Tally,
    pub(crate) took: Duration,
    pub(crate) log: PathBuf,
    /// The part of its output that is shown if it failed.
    pub(crate) failure: Option<String>,
}

impl Check {
    /// Runs the check; its output goes to a log of its own.
    pub(crate) fn run(&self, workspace: &Workspace, bless: bool) -> Result<Outcome, Failure> {
        let folder = workspace.target_folder().join("eitri/test");
        let log = folder.join(format!("{}.log", self.name));
        match self.action {
            Action::Cargo(arguments) => {
                let command = workspace.cargo(arguments);
                self.run_cargo(command, log, bless, |_, good| Tally::one(good))
            }
            Action::Documents(arguments) => {
                let mut command = workspace.cargo(arguments);
                documentation::from_lints(&mut command, workspace);
                self.run_cargo(command, log, bless, |_, good| Tally::one(good))
            }
            Action::CargoTest(arguments) => {
                let command = workspace.cargo(arguments);
                self.run_cargo(command, log, bless, |output, _| {
                    Tally::of_cargo_test(output)
                })
            }
            Action::Driver(variable, value) => {
                let mut command = workspace.cargo(DRIVER);
                command.env(variable, value);
                self.run_cargo(command, log, bless, |output, _| {
                    Tally::of_cargo_test(output)
                })
            }
            Action::Cases(run) => self.run_cases(workspace, run, log),
        }
    }

    fn run_cargo(
        &self,
        mut command: Command,
        log: PathBuf,
        bless: bool,
        count: impl FnOnce(&str, bool) -> Tally,
    ) -> Result<Outcome, Failure> {
        let skipped = log.with_extension("skipped");
        // Absent is as good as empty.
        let _ = std::fs::remove_file(&skipped);
        command
            .env("RUSTDOCFLAGS", "-D warnings")
            .env("EITRI_SKIPPED", &skipped);
        if bless {
            command
                .env("EITRI_BLESS", "1")
                .env("INSTA_UPDATE", "always");
        }
        match (self.when, &self.action) {
            (When::Always, _) | (_, Action::Driver(..)) => {}
            (When::Long(_), _) => _ = command.env("EITRI_LONG", "1"),
        }
        let watch = Watch {
            what: self.what,
            log: &log,
            limit: self.when.limit(),
            manner: Manner::Step,
        };
        let finished = cargo::run(&mut command, &watch)?;
        let output = finished.output();
        let mut tally = count(&output, finished.end.good());
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
        Ok(Outcome {
            name: self.name,
            tally,
            took: finished.took,
            log,
            failure: (!finished.end.good()).then(|| failures::shown(&output, &finished.end)),
        })
    }

    fn run_cases(
        &self,
        workspace: &Workspace,
        run: fn(&Workspace) -> Result<Vec<Case>, Failure>,
        log: PathBuf,
    ) -> Result<Outcome, Failure> {
        let started = Instant::now();
        let cases = run(workspace)?;
        let mut tally = Tally::default();
        let mut text = String::new();
        let mut failures = String::new();
        for case in &cases {
            if let Some(why) = &case.skipped {
                tally.skipped += 1;
                text.push_str(&format!("skipped {}: {why}\n", case.name));
                talk!("skipped {}: {why}", case.name);
                continue;
            }
            tally += Tally::one(case.failure.is_none());
            match &case.failure {
                None => match &case.remark {
                    None => text.push_str(&format!("ok {}\n", case.name)),
                    Some(remark) => text.push_str(&format!("ok {} # {remark}\n", case.name)),
                },
                Some(failure) => {
                    let line = format!("FAIL {}: {failure}\n", case.name);
                    text.push_str(&line);
                    failures.push_str(&line);
                }
            }
        }
        if cases.is_empty() {
            // A suite that has vanished is no success.
            tally.failed = 1;
            failures.push_str("no case ran\n");
        }
        // If this fails, so does what follows, and says why.
        let _ = log.parent().map(std::fs::create_dir_all);
        whole_file::write(&log.to_string_lossy(), text.as_bytes())?;
        talk!(
            "{} {}",
            if failures.is_empty() {
                "    ok"
            } else {
                "FAILED"
            },
            self.what
        );
        Ok(Outcome {
            name: self.name,
            tally,
            took: started.elapsed(),
            log,
            failure: (!failures.is_empty()).then_some(failures),
        })
    }
}

/// Makes a folder, and those above it.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|cause| Failure::missing(FileError::at("make the folder", folder, cause)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_checks_need_is_known_before_they_are_built() {
        for tool in Tool::ALL {
            let always = ALL.iter().filter(|check| check.when == When::Always);
            let needed = always.flat_map(|check| check.needs).any(|it| it == tool);
            let told = Tool::OF_TESTS.contains(tool);
            assert_eq!(needed, told, "{tool}: see Tool::OF_TESTS");
        }
    }
}
