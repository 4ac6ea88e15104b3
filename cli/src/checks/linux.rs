//! An unmodified Linux on the model: its own driver finds the GPU, starts it, lets it sleep, lets go of it and finds it again;
//! Mesa's driver lists it, and computes on it; a job that hangs harms nobody else.

mod pictures;

use super::Case;
use super::own_command::this_command;
use crate::input::shader_file;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use crate::workspace::Workspace;
use std::path::Path;
use std::process::{Command, Output};

/// The suites, each with what its kernel begins with.
const SUITES: &[(&str, &str)] = &[("trixie", "6.12."), ("sid", "7.")];
/// The GPU that a guest has if nothing is said.
const DEFAULT_GPU: (&str, &str) = ("G610", "Mali-G610");
/// Longest that a guest may take; ten times what it does.
const LIMIT_SECONDS: &str = "600";
/// Kernels with what they must write, which pass through Vulkan, the kernel's driver and the model.
const KERNELS: &str = "../shared/kernels";
/// Drawn scenes with what must come out.
const SCENES: &str = "../shared/scenes";
/// The suite whose driver draws.
const DRAWING: &str = "sid";
/// Those of them that are drawn with images compressed as the driver likes, and again without: a triangle list, what is cleared
/// and loaded, blending, depth, stencil, textures, several targets.
const DRAWN: &[&str] = &[
    "triangle_list",
    "builtins",
    "clear_by_load",
    "load_store",
    "blend_factors",
    "depth_compare",
    "stencil_ops",
    "index_types",
    "instancing",
    "interpolation",
    "eight_attachments",
    "mip_nearest",
    "copy_regions",
    "clear_commands",
];
/// How many there are at least.
const LEAST_KERNELS: usize = 40;
/// Exit status of a command that lacks something, such as a network.
const MISSING: i32 = 3;

/// Kernels whose work is recorded, each with what a job of it leaves in memory.
const RECORDED: &[(&str, &str)] = &[
    ("crc32_blocks", "expected-0-1.bin"),
    ("life_bits", "expected-0-0.bin"),
];
/// A small package, and how its program begins to say its version.
const PACKAGE: (&str, &str) = ("tree", "tree v");

/// GPUs of later generations that the newest suite has drivers for; each with what Vulkan calls it.
const LATER: (&str, &[(&str, &str)]) = ("sid", &[("G720", "Mali-G720"), ("G925", "Mali-G725")]);

/// What the guest does on two CPUs, of which the second gets the GPU's interrupts; each answer is a line of its own, and what the kernel has said comes last.
const SCRIPT: &str = r#"
device=/sys/bus/platform/devices/b000000.gpu
sleeps() {
    for second in 1 2 3 4 5; do
        grep -q suspended $device/power/runtime_status && break
        sleep 1
    done
    cat $device/power/runtime_status
}
echo "kernel: $(uname -r)"
echo "cpus: $(nproc)"
for number in $(grep panthor /proc/interrupts | cut -d: -f1); do echo 2 >/proc/irq/$number/smp_affinity; done
echo "idle: $(sleeps)"
echo "listed: $(vulkaninfo --summary 2>/dev/null | grep -m1 deviceName)"
echo "idle again: $(sleeps)"
rmmod panthor
echo "let go: $(ls -d /dev/dri 2>/dev/null || echo yes)"
modprobe panthor
echo "listed again: $(vulkaninfo --summary 2>/dev/null | grep -m1 deviceName)"
dmesg
"#;

/// All devices are suspended, and come back after five seconds: the kernel's own test of that.
const SUSPEND_SCRIPT: &str =
    "cd /; echo devices >/sys/power/pm_test; echo freeze >/sys/power/state; echo resumed";

/// A case that never ends, and the same shader where it does.
#[rustfmt::skip]
const HANGS: &[(&str, &[u8])] = &[
    ("endless.wgsl", include_bytes!("../../../qemu-tests/vulkan-runner/cases/endless.wgsl")),
    ("endless.json", include_bytes!("../../../qemu-tests/vulkan-runner/cases/endless.json")),
    ("endless.bin",  include_bytes!("../../../qemu-tests/vulkan-runner/cases/endless.bin")),
    ("ends.json",    include_bytes!("../../../qemu-tests/vulkan-runner/cases/ends.json")),
    ("ends.bin",     include_bytes!("../../../qemu-tests/vulkan-runner/cases/ends.bin")),
];
/// First the firmware ends the group when the driver asks for it; then it does not, and the driver has to reset the GPU.
const HANG_SCRIPT: &str = r#"
echo "asked: $(vulkan-runner --lose endless.json ends.json | tr '\n' ' ')"
gpu-fault terminate-ignored
echo "in vain: $(vulkan-runner --lose endless.json ends.json | tr '\n' ' ')"
gpu-fault off terminate-ignored
echo "afterwards: $(vulkan-runner ends.json | tr '\n' ' ')"
dmesg
"#;

/// Boots the kernels of both suites.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for (suite, kernel) in SUITES {
        let words = ["--cpus", "2", "--", "sh", "-c", SCRIPT];
        let output = boot(workspace.root(), suite, &words)?;
        if output.status.code() == Some(MISSING) {
            let why = String::from_utf8_lossy(&output.stderr);
            let why = why.trim().lines().last().unwrap_or_default().to_owned();
            cases.push(Case::skipped(format!("Linux of {suite}"), why));
            continue;
        }
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        cases.extend(judge(suite, kernel, &said));
        let status = (!output.status.success()).then(|| {
            let talk = String::from_utf8_lossy(&output.stderr);
            format!("{}: {talk}{said}", output.status)
        });
        cases.push(Case::ran(format!("Linux of {suite} ends well"), status));
        cases.push(suspended(workspace.root(), suite)?);
        cases.push(dumped(workspace.root(), suite)?);
        cases.push(kernels(workspace.root(), suite, DEFAULT_GPU)?);
        cases.extend(hangs(workspace.root(), suite)?);
        cases.extend(packages(workspace.root(), suite)?);
        cases.extend(records(workspace.root(), suite)?);
        if *suite == DRAWING {
            for compressed in [true, false] {
                let gpu = DEFAULT_GPU.0;
                cases.push(drawn(workspace.root(), suite, gpu, compressed)?);
            }
            cases.extend(pictures::run(workspace.root(), suite)?);
        }
        if *suite == LATER.0 {
            for gpu in LATER.1 {
                cases.push(kernels(workspace.root(), suite, *gpu)?);
                cases.push(drawn(workspace.root(), suite, gpu.0, true)?);
            }
        }
    }
    Ok(cases)
}

/// A guest with a shared folder, which does not answer after a suspend, ends nevertheless.
fn suspended(root: &Path, suite: &str) -> Result<Case, Failure> {
    let folder = root.join("cli").display().to_string();
    let words = ["--share", &folder, "--", "sh", "-c", SUSPEND_SCRIPT];
    let output = boot(root, suite, &words)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let good = output.status.success() && said.contains("resumed");
    let failure = (!good).then(|| {
        let talk = String::from_utf8_lossy(&output.stderr);
        format!("{}: {talk}{said}", output.status)
    });
    let name = format!("{suite}: a guest with a shared folder ends after a suspend");
    Ok(Case::ran(name, failure))
}

/// The kernels through Vulkan, as they were written and optimised, on a GPU that Vulkan calls by that name.
fn kernels(root: &Path, suite: &str, (gpu, name): (&str, &str)) -> Result<Case, Failure> {
    const RUN: &str = "vulkan-runner */*.json; vulkan-runner --opt */*.json";
    let listed = format!("vulkan-runner: {name}");
    let name = format!("{suite}: kernels pass through Vulkan on a {gpu}");
    let folder = root.join(KERNELS);
    if !folder.is_dir() {
        return Ok(Case::skipped(name, format!("no {KERNELS}")));
    }
    let folder = folder.display().to_string();
    let mut words = vec!["--vulkan-runner", "--share", &folder, "--gpu", gpu];
    words.extend(["--", "sh", "-c", RUN]);
    let output = boot(root, suite, &words)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let totals = said
        .lines()
        .filter(|line| line.ends_with(" passed, 0 failed"));
    let passed = totals.filter_map(|line| line.split(' ').next()?.parse::<usize>().ok());
    let good =
        passed.filter(|passed| *passed >= LEAST_KERNELS).count() == 2 && said.contains(&listed);
    let failure = (!good).then(|| {
        let talk = String::from_utf8_lossy(&output.stderr);
        format!("{}: {talk}{said}", output.status)
    });
    Ok(Case::ran(name, failure))
}

/// A fault of the GPU leaves a core dump, and the run a timeline.
fn dumped(root: &Path, suite: &str) -> Result<Case, Failure> {
    let name = format!("{suite}: a fault leaves a core dump, and the run a timeline");
    let folder =
        tempfile::tempdir().map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (dump, trace) = (file("gpu.core"), file("gpu.json"));
    let script = "gpu-fault gpu-fault; vulkaninfo --summary";
    let words = ["--dump", &dump, "--trace", &trace, "--", "sh", "-c", script];
    let output = boot(root, suite, &words)?;
    let shown = own(root, &["dump", "show", &dump])?;
    let is_dump = String::from_utf8_lossy(&shown.stdout).contains("written by: Eitri");
    let timeline = std::fs::read_to_string(&trace).unwrap_or_default();
    let good = is_dump && timeline.contains("traceEvents");
    let told = || [described(&output), described(&shown)].concat();
    Ok(Case::ran(name, (!good).then(told)))
}

/// Scenes drawn through Vulkan.
fn drawn(root: &Path, suite: &str, gpu: &str, compressed: bool) -> Result<Case, Failure> {
    let (environment, how) = match compressed {
        true => ("", "compressed"),
        false => ("PANVK_DEBUG=noafbc ", "not compressed"),
    };
    let name = format!("{suite}: scenes are drawn through Vulkan on a {gpu}, images {how}");
    let folder = root.join(SCENES);
    if !folder.is_dir() {
        return Ok(Case::skipped(name, format!("no {SCENES}")));
    }
    let files = DRAWN.iter().map(|scene| format!(" {scene}/{scene}.json"));
    let run = format!(
        "{environment}vulkan-runner --draw{}",
        files.collect::<String>()
    );
    let folder = folder.display().to_string();
    let mut words = vec!["--vulkan-runner", "--share", &folder, "--gpu", gpu];
    words.extend(["--", "sh", "-c", &run]);
    let output = boot(root, suite, &words)?;
    let wanted = format!("{} passed, 0 failed, 0 skipped", DRAWN.len());
    let good = output.status.success() && String::from_utf8_lossy(&output.stdout).contains(&wanted);
    Ok(Case::ran(name, (!good).then(|| described(&output))))
}

/// Shaders that never end.
fn hangs(root: &Path, suite: &str) -> Result<Vec<Case>, Failure> {
    let unwritable = |cause| Failure::unwritable(std::env::temp_dir(), cause);
    let folder = tempfile::tempdir().map_err(unwritable)?;
    for (name, content) in HANGS {
        whole_file::put(&folder.path().join(name), content)?;
    }
    let source = folder.path().join("endless.wgsl").display().to_string();
    let module = folder.path().join("endless.spv");
    whole_file::put(&module, &shader_file::load(&source)?.spirv)?;
    let share = folder.path().display().to_string();
    let words = [
        "--vulkan-runner",
        "--share",
        &share,
        "--",
        "sh",
        "-c",
        HANG_SCRIPT,
    ];
    let output = boot(root, suite, &words)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let both = "ok endless ok ends 2 passed, 0 failed";
    let has = |wanted: &str| said.contains(wanted);
    #[rustfmt::skip]
    let wanted = [
        ("a shader that never ends loses its device, and no other", has(&format!("asked: {both}"))),
        ("the kernel says that the job took too long",              has("panthor b000000.gpu: [drm] job timeout")),
        ("panthor resets a GPU that does not end a job",            has(&format!("in vain: {both}")) && has("escalating to termination")),
        ("the next program finds a good GPU",                       has("afterwards: ok ends 1 passed, 0 failed")),
    ];
    let case = |(name, good): (&str, bool)| {
        let failure = (!good).then(|| {
            let talk = String::from_utf8_lossy(&output.stderr);
            format!("{}: {talk}{said}", output.status)
        });
        Case::ran(format!("{suite}: {name}"), failure)
    };
    Ok(wanted.into_iter().map(case).collect())
}

/// Packages of Debian's in the guest.
fn packages(root: &Path, suite: &str) -> Result<[Case; 2], Failure> {
    let (name, version) = PACKAGE;
    let words = ["--package", name, "--", name, "--version"];
    let output = boot(root, suite, &words)?;
    let runs =
        output.status.success() && String::from_utf8_lossy(&output.stdout).starts_with(version);
    let unknown = boot(root, suite, &["--package", "no-such-package", "--", "true"])?;
    let refused = unknown.status.code() == Some(2)
        && String::from_utf8_lossy(&unknown.stderr).contains("no package no-such-package");
    Ok([
        Case::ran(
            format!("{suite}: a package's program runs"),
            (!runs).then(|| described(&output)),
        ),
        Case::ran(
            format!("{suite}: a package that the suite lacks is refused"),
            (!refused).then(|| described(&unknown)),
        ),
    ])
}

/// Records of what the GPU is given, and what it executed.
fn records(root: &Path, suite: &str) -> Result<Vec<Case>, Failure> {
    let kernels = root.join(KERNELS);
    let named = |what: &str| format!("{suite}: {what}");
    let replays = named("a record of a kernel gives its results when it is replayed");
    if !kernels.is_dir() {
        return Ok(vec![Case::skipped(replays, format!("no {KERNELS}"))]);
    }
    let unwritable = |cause| Failure::unwritable(std::env::temp_dir(), cause);
    let folder = tempfile::tempdir().map_err(unwritable)?;
    let record = folder.path().join("job").display().to_string();
    let share = kernels.display().to_string();
    // A process each: both have their memory at the same addresses.
    let runs = RECORDED
        .iter()
        .map(|(kernel, _)| format!("vulkan-runner {kernel}/*.json; "));
    let runs: String = runs.collect();
    let mut words = vec!["--vulkan-runner", "--share", &share, "--programs"];
    words.extend(["--record", &record, "--", "sh", "-c", &runs]);
    let output = boot(root, suite, &words)?;
    let uncounted = match String::from_utf8_lossy(&output.stderr).contains("program at 0x") {
        true => None,
        false => Some(described(&output)),
    };
    let mut failure = None;
    let mut missing: Vec<_> = RECORDED.to_vec();
    let files = (1..).map(|number| format!("{record}-{number:04}"));
    for file in files.take_while(|file| Path::new(file).is_file()) {
        let after = folder.path().join("after");
        let shown = own(root, &["dump", "show", &file])?;
        let words = ["dump", "replay", "-o", &after.display().to_string(), &file];
        let replayed = own(root, &words)?;
        if !(shown.status.success() && replayed.status.success()) {
            let told = [described(&replayed), described(&shown)].concat();
            failure = failure.or(Some(format!("{file}: {told}")));
            continue;
        }
        let [before, after] = [read(Path::new(&file))?, read(&after)?];
        for (kernel, expected) in RECORDED {
            let expected = read(&kernels.join(kernel).join(expected))?;
            if !has(&before, &expected) && has(&after, &expected) {
                missing.retain(|(other, _)| other != kernel);
            }
        }
    }
    if !missing.is_empty() {
        let told = described(&output);
        failure = failure.or(Some(format!(
            "no record whose replay gives the results of {missing:?}: {told}"
        )));
    }
    Ok(vec![
        Case::ran(replays, failure),
        Case::ran(
            named("what the model executed is printed by program"),
            uncounted,
        ),
    ])
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|cause| Failure::unreadable(path, cause))
}

/// Tells whether a file holds these bytes, beginning at a multiple of four.
fn has(file: &[u8], bytes: &[u8]) -> bool {
    let places = (0..file.len()).step_by(4);
    places.into_iter().any(|at| file[at..].starts_with(bytes))
}

/// Exit status and output of a command.
fn described(output: &Output) -> String {
    let [talk, said] = [&output.stderr, &output.stdout].map(|it| String::from_utf8_lossy(it));
    format!("{}: {talk}{said}", output.status)
}

/// Runs this very command's `linux`.
fn boot(root: &Path, suite: &str, words: &[&str]) -> Result<Output, Failure> {
    let options = ["linux", "--suite", suite, "--limit", LIMIT_SECONDS];
    own(root, &[&options, words].concat())
}

/// Runs this very command.
fn own(root: &Path, words: &[&str]) -> Result<Output, Failure> {
    let failed = |cause| Failure::missing(FileError::at("run", "this very command", cause));
    let mut command = Command::new(this_command()?);
    command.current_dir(root).args(words);
    command.output().map_err(failed)
}

/// The cases of one boot.
fn judge(suite: &str, kernel: &str, said: &str) -> Vec<Case> {
    let has = |wanted: &str| said.contains(wanted);
    let kernel = format!("kernel: {kernel}");
    #[rustfmt::skip]
    let wanted: &[(&str, bool)] = &[
        ("the kernel is the suite's",                             has(&kernel)),
        ("both CPUs run",                                         has("cpus: 2")),
        ("panthor starts the GPU and names it",                   has("Initialized panthor") && said.to_lowercase().contains("mali-g610 id 0xa867")),
        ("panthor boots the vendor's firmware",                   has("CSF FW")),
        ("the GPU sleeps when nobody needs it",                   has("idle: suspended")),
        ("PanVK lists the GPU, which wakes for it",               has("listed: \tdeviceName         = Mali-G610")),
        ("the GPU sleeps again",                                  has("idle again: suspended")),
        ("panthor lets go of the GPU",                            has("let go: yes")),
        ("panthor finds it again",                                has("listed again: \tdeviceName         = Mali-G610")),
        ("the kernel warns of nothing and panthor meets no error", !warns(said)),
    ];
    let case = |&(name, good): &(&str, bool)| {
        let failure = (!good).then(|| format!("it said:\n{said}"));
        Case::ran(format!("{suite}: {name}"), failure)
    };
    wanted.iter().map(case).collect()
}

/// Whether the kernel's log has what a board would not give.
fn warns(said: &str) -> bool {
    let of_kernel = ["WARNING:", "BUG:", "Oops", "Unable to handle"];
    said.lines().any(|line| {
        let of_driver = line.contains("panthor") && line.contains("*ERROR*");
        of_driver || of_kernel.iter().any(|words| line.contains(words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_board_would_not_give_is_seen() {
        assert!(warns("[ 5.0] WARNING: CPU: 0 PID: 1 at drivers/gpu"));
        assert!(warns("[ 5.0] panthor b000000.gpu: [drm] *ERROR* Failed"));
        assert!(!warns("[ 5.0] panthor b000000.gpu: [drm] Initialized"));
    }

    #[test]
    fn results_are_found_where_words_lie() {
        assert!(has(b"abcdefgh", b"efgh"));
        assert!(!has(b"abcdefgh", b"fgh"), "at no word");
        assert!(!has(b"abcd", b"abcde"));
    }

    #[test]
    fn a_guest_that_says_nothing_passes_nothing_but_the_absence_of_warnings() {
        let failed = judge("trixie", "6.12.", "")
            .iter()
            .filter(|case| case.failure.is_some())
            .count();
        assert_eq!(failed, 9);
    }
}
