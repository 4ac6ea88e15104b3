//! Images in QEMU: booted under the EL2 monitor, watched by the host's clock, and read out.
//!
//! The command lines and exit statuses are those of qemu-tests/README.md.

use crate::images::console;
use crate::images::image::{Builder, Image, Parts};
use crate::input::board_tree;
use crate::input::buffer_source::BindingName;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::{Failure, FileError};
use crate::output::streams;
use crate::output::whole_file;
use crate::process::{End, Finished, run_attended, run_with_input};
use crate::progress;
use crate::runs::dispatch::{Done, Talk};
use crate::runs::screen::{Attendant, NO_LIMIT, Show};
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM, MONITOR_RAM, TREE};
use eitri_job::result::{JobResult, ResultError};
use eitri_launch::tools::{self, Tool};
use eitri_model::{Event, RECORD_BYTES, Sink};
use miette::Diagnostic;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use thiserror::Error;

/// What booting, bring-up and reading out may take on a slow machine, besides the job itself.
const BRING_UP_LIMIT: Duration = Duration::from_secs(60);
/// How many times the monitor's own limit the host waits before it stops QEMU: virtual time passes slower on a busy host.
const PATIENCE: u32 = 5;

/// Why a boot gave no result.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum BootError {
    #[error("{what}\n{console}{monitor}")]
    Died {
        what: String,
        console: String,
        monitor: String,
    },
    #[error("the image's result can't be read")]
    Result(#[source] ResultError),
}

/// What a machine begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    /// A raw image, as a boot loader starts it: where its header says, at this exception level.
    Image(&'a Path, Level),
    /// The monitor, which starts a raw image at EL1. The tree is for an image of another board than QEMU's.
    Monitor {
        monitor: &'a Path,
        image: &'a Path,
        tree: Option<&'a Path>,
    },
    /// A raw image at an address, without anything that a boot loader does.
    At(&'a Path, usize, Level),
    /// Firmware at EL2 that has UEFI's services, with a folder as its file system.
    Uefi { firmware: Tool, disk: &'a Path },
    /// U-Boot at EL1, with files in memory, a folder that a TFTP server has, and the commands of a file typed at its prompt.
    UBoot {
        files: &'a [(&'a Path, usize)],
        served: Option<&'a Path>,
        typed: &'a Path,
    },
}

/// The exception level that a machine begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    El1,
    El2,
    El3,
}

/// What a machine is booted with.
pub(crate) struct Boot<'a> {
    /// What it begins with.
    pub(crate) start: Start<'a>,
    /// Words of the semihosting command line after the first.
    pub(crate) words: &'a [String],
    /// Gets `console.log`, `monitor.log` and `qemu.log`.
    pub(crate) folder: &'a Path,
    /// Longest that QEMU may run.
    pub(crate) limit: Duration,
}

/// How a machine ended.
pub(crate) struct Booted {
    pub(crate) end: End,
    /// What the image sent over its console.
    pub(crate) console: Vec<u8>,
    /// What the monitor said.
    pub(crate) monitor: String,
    /// What QEMU itself said.
    pub(crate) qemu: String,
}

impl Booted {
    /// QEMU's exit status; `None` when it had to be stopped, or was killed.
    pub(crate) fn status(&self) -> Option<i32> {
        match self.end {
            End::Exited(status) => status.code(),
            End::TimedOut => None,
        }
    }
}

/// Boots a machine, and waits for its end.
pub(crate) fn boot(boot: &Boot<'_>) -> Result<Booted, Failure> {
    let log = boot.folder.join("qemu.log");
    let mut command = command(boot);
    command.args(["-display", "none"]);
    // Time is counted in instructions, so that a busy host makes no limit of the driver pass.
    command.args(["-icount", "shift=3,sleep=off"]);
    let input = match boot.start {
        Start::UBoot { typed, .. } => {
            let typed = File::open(typed)
                .map_err(|cause| Failure::missing(FileError::at("read", typed, cause)))?;
            Stdio::from(typed)
        }
        _ => Stdio::null(),
    };
    let finished = run_with_input(&mut command, input, &log, boot.limit)?;
    Ok(booted(boot, &finished))
}

/// Boots a machine with a display, and waits until it is no longer looked at.
fn boot_shown(boot: &Boot<'_>, attendant: &mut Attendant<'_>) -> Result<Booted, Failure> {
    let mut command = command(boot);
    command.args(attendant.arguments());
    // As above, but while the image waits for nothing the time is the host's, so that it is no busy wait.
    command.args(["-icount", "shift=3"]);
    let log = boot.folder.join("qemu.log");
    let finished = run_attended(&mut command, &log, &mut |since| attendant.attend(since))?;
    Ok(booted(boot, &finished))
}

/// Where the console of a machine goes: U-Boot's is QEMU's own output.
fn console_of(boot: &Boot<'_>) -> PathBuf {
    boot.folder.join(match boot.start {
        Start::UBoot { .. } => "qemu.log",
        _ => "console.log",
    })
}

/// What a machine has left.
fn booted(boot: &Boot<'_>, finished: &Finished) -> Booted {
    let read = |path: PathBuf| std::fs::read(path).unwrap_or_default();
    Booted {
        end: finished.end,
        console: read(console_of(boot)),
        monitor: String::from_utf8_lossy(&read(boot.folder.join("monitor.log"))).into_owned(),
        qemu: finished.output(),
    }
}

/// The command that boots a machine, but for its display and its clock.
fn command(boot: &Boot<'_>) -> Command {
    let (console, monitor) = (console_of(boot), boot.folder.join("monitor.log"));
    let level = match boot.start {
        Start::Image(_, level) | Start::At(_, _, level) => level,
        Start::Monitor { .. } | Start::Uefi { .. } => Level::El2,
        Start::UBoot { .. } => Level::El1,
    };
    let machine = match level {
        Level::El1 => "virt,gic-version=3",
        Level::El2 => "virt,gic-version=3,virtualization=on",
        Level::El3 => "virt,gic-version=3,secure=on",
    };
    let memory = format!("{}M", (MONITOR_RAM.end() - GUEST_RAM.base) >> 20);
    let mut semihosting = "enable=on,target=native,chardev=monitor,arg=eitri".to_owned();
    for word in boot.words {
        semihosting.push_str(&format!(",arg={}", doubled(word)));
    }
    let mut command = Command::new(Tool::Qemu.program());
    command.args(["-M", machine, "-cpu", "cortex-a57", "-m", &memory]);
    // The second is off until an image starts it.
    command.args(["-smp", "2"]);
    command.args(["-nodefaults", "-no-reboot"]);
    match boot.start {
        Start::UBoot { .. } => command.args(["-serial", "stdio"]),
        _ => command.args(["-serial", &format!("file:{}", console.display())]),
    };
    let path = doubled(&monitor.display().to_string());
    command.args(["-chardev", &format!("file,id=monitor,path={path}")]);
    command.args(["-semihosting-config", &semihosting]);
    let loaded = |path: &Path, address: usize| {
        let path = doubled(&path.display().to_string());
        format!("loader,file={path},addr={address:#x},force-raw=on")
    };
    match boot.start {
        Start::Image(path, _) => {
            command.arg("-kernel").arg(path);
        }
        Start::Monitor {
            monitor,
            image,
            tree,
        } => {
            command.arg("-kernel").arg(monitor);
            command.args(["-device", &loaded(image, BOARD.memory.image.base)]);
            if let Some(tree) = tree {
                command.args(["-device", &loaded(tree, TREE.base)]);
            }
        }
        Start::At(path, address, _) => {
            command.args(["-device", &loaded(path, address)]);
            command.args(["-device", &format!("loader,addr={address:#x},cpu-num=0")]);
        }
        Start::Uefi { firmware, disk } => {
            command.args(["-bios", firmware.program()]);
            let folder = doubled(&disk.display().to_string());
            let drive = format!("file=fat:rw:{folder},format=raw,if=none,id=disk");
            command.args(["-drive", &drive, "-device", "virtio-blk-device,drive=disk"]);
        }
        Start::UBoot { files, served, .. } => {
            command.args(["-bios", Tool::UBoot.program()]);
            if let Some(served) = served {
                let folder = doubled(&served.display().to_string());
                command.args(["-netdev", &format!("user,id=net,restrict=on,tftp={folder}")]);
                command.args(["-device", "virtio-net-device,netdev=net"]);
            }
            for &(path, address) in files {
                command.args(["-device", &loaded(path, address)]);
            }
        }
    }
    command
}

/// A value inside of one of QEMU's options: a comma would end it.
pub(crate) fn doubled(value: &str) -> String {
    value.replace(',', ",,")
}

/// The monitor and an image, ready to boot; both stay in a folder of their own until this is dropped.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    image: Image,
}

/// A boot of a machine.
struct OfMachine<'a> {
    /// What is under way, for a person.
    what: &'a str,
    /// Further words of the command line.
    words: &'a [String],
    /// The board that the image is for, with the words that its boot loader would give it; QEMU's own if there is none.
    board: Option<(Target, &'a str)>,
    gpu: GpuChoice,
    /// How long the image may run.
    inside: Duration,
}

impl Machine {
    /// Builds the monitor and the image with `bundle` as its job, of which it perhaps shows an image.
    fn with_job(bundle: &[u8], shown: Option<BindingName>) -> Result<Machine, Failure> {
        Machine::with(|builder| builder.build_job(None, bundle, shown))
    }

    /// Builds the monitor and the image that carries these scripts.
    pub(crate) fn with_suite(suite: &[u8]) -> Result<Machine, Failure> {
        Machine::with(|builder| builder.build_suite(None, suite))
    }

    /// Builds the monitor and the image that carries the driver's tests.
    pub(crate) fn with_driver_tests(firmware: &[u8], programs: &[u8]) -> Result<Machine, Failure> {
        Machine::with(|builder| builder.build_driver_tests(firmware, programs))
    }

    /// Builds the monitor and an image.
    fn with(image: impl FnOnce(&Builder) -> Result<Image, Failure>) -> Result<Machine, Failure> {
        tools::ensure(&Workspace::find()?, Tool::OF_QEMU)?;
        let folder = tempfile::tempdir()
            .map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
        let builder = Builder::new()?;
        let monitor = builder.build("eitri-monitor", "eitri-monitor")?;
        let image = image(&builder)?;
        whole_file::put(&folder.path().join("monitor.elf"), &monitor.elf)?;
        whole_file::put(&folder.path().join("image.raw"), &image.raw()?)?;
        Ok(Machine { folder, image })
    }

    /// Boots it once.
    fn boot(&self, of: &OfMachine<'_>) -> Result<Booted, Failure> {
        self.boot_by(of, &of.inside.as_millis().to_string(), boot)
    }

    /// Boots it once, by a function; `limit` is the monitor's, in milliseconds.
    fn boot_by(
        &self,
        of: &OfMachine<'_>,
        limit: &str,
        by: impl FnOnce(&Boot<'_>) -> Result<Booted, Failure>,
    ) -> Result<Booted, Failure> {
        let folder = self.folder.path();
        let file = |name: &str| folder.join(name);
        let mut words = vec![format!("limit-ms={limit}"), format!("gpu={}", of.gpu)];
        words.extend_from_slice(of.words);
        let tree = match of.board {
            Some((board, arguments)) => {
                words.push(format!("board={}", board.name()));
                whole_file::put(&file("tree.dtb"), &board_tree::build(board, arguments)?)?;
                Some(file("tree.dtb"))
            }
            None => None,
        };
        let step = progress::start(of.what);
        let booted = by(&Boot {
            start: Start::Monitor {
                monitor: &file("monitor.elf"),
                image: &file("image.raw"),
                tree: tree.as_deref(),
            },
            words: &words,
            folder,
            limit: of.inside * PATIENCE,
        });
        step.finish(booted.as_ref().is_ok_and(|it| it.status().is_some()));
        booted
    }

    /// A line of the monitor's, with the functions of the image that its addresses lie in, a line each.
    pub(crate) fn with_symbols(&self, line: &str) -> String {
        let mut text = line.to_owned();
        for word in line.split([' ', ',', ':']) {
            let address = word.strip_prefix("0x");
            let address = address.and_then(|digits| u64::from_str_radix(digits, 16).ok());
            if let Some(name) = address.and_then(|address| self.image.function(address)) {
                text += &format!("\n    {word} is in {name}");
            }
        }
        text
    }

    /// What a boot's image said, decoded.
    fn console(&self, booted: &Booted) -> String {
        console::decode(&booted.console, &self.image.elf)
    }
}

/// How a job is run in QEMU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'w> {
    /// The GPU that the model is.
    pub(crate) gpu: GpuChoice,
    /// The job's own limit.
    pub(crate) limit: Duration,
    pub(crate) talk: Talk,
    /// Further words of the command line, for image and monitor.
    pub(crate) words: &'w [&'w str],
}

/// The words for memory that is not coherent, and an image that keeps its caches up.
pub(crate) const NON_COHERENT: &[&str] = &["coherent=no", "cached"];

/// Builds an image with `bundle` inside, boots it, and reads its result. `trace` is told what happened inside of the GPU.
pub(crate) fn run_job(
    bundle: &[u8],
    setting: &Setting<'_>,
    trace: Option<Box<dyn Sink>>,
) -> Result<Done, Failure> {
    let machine = Machine::with_job(bundle, None)?;
    let ran = run_on(&machine, setting, trace, |of| machine.boot(of))?;
    Ok(ran.done)
}

/// The same with a display, on which the image then shows what the job left: gives what the screen showed too, if that is kept. It is
/// none where the job failed, which shows nothing.
pub(crate) fn run_job_shown(
    bundle: &[u8],
    setting: &Setting<'_>,
    show: &Show,
    trace: Option<Box<dyn Sink>>,
) -> Result<(Done, Option<Vec<u8>>), Failure> {
    let machine = Machine::with_job(bundle, Some(show.name))?;
    let console = machine.folder.path().join("console.log");
    let limit = (setting.limit + BRING_UP_LIMIT) * PATIENCE;
    let mut attendant = Attendant::new(&show.screen, &console, limit);
    let ran = run_on(&machine, setting, trace, |of| {
        machine.boot_by(of, NO_LIMIT, |boot| boot_shown(boot, &mut attendant))
    })?;
    if ran.done.result.failure.is_some() {
        return Ok((ran.done, None));
    }
    let screen = attendant.finish(&ran.console)?;
    Ok((ran.done, screen))
}

/// What came of a job.
struct JobRan {
    done: Done,
    /// The image's console.
    console: String,
}

/// Boots a machine with a job by a function, and reads its result.
fn run_on(
    machine: &Machine,
    setting: &Setting<'_>,
    trace: Option<Box<dyn Sink>>,
    boot: impl FnOnce(&OfMachine<'_>) -> Result<Booted, Failure>,
) -> Result<JobRan, Failure> {
    let Setting { limit, talk, .. } = *setting;
    let folder = machine.folder.path();
    let result = folder.join("result");
    let mut words = vec![format!("result={}", result.display())];
    let traced = folder.join("trace");
    if trace.is_some() {
        words.push(format!("trace={}", traced.display()));
    }
    words.extend(setting.words.iter().map(|word| (*word).to_owned()));
    let booted = boot(&OfMachine {
        what: "running the image in QEMU",
        words: &words,
        board: None,
        gpu: setting.gpu,
        inside: limit + BRING_UP_LIMIT,
    })?;
    if let Some(mut sink) = trace {
        tell(&traced, &mut *sink);
    }
    let read = std::fs::read(&result);
    let diagnoses = diagnoses(&booted);
    let console = machine.console(&booted);
    if talk == Talk::Verbose && read.is_ok() {
        streams::say(format_args!("{console}{}", booted.monitor));
    }
    match read {
        Ok(bytes) => {
            let result = JobResult::parse(&bytes)
                .map_err(|cause| Failure::refused(BootError::Result(cause)))?;
            let done = Done { result, diagnoses };
            Ok(JobRan { done, console })
        }
        Err(_) => Err(Failure::refused(BootError::Died {
            what: died(&booted),
            console,
            monitor: booted.monitor + &booted.qemu,
        })),
    }
}

/// What came of a boot of the image that carries scripts.
pub(crate) struct SuiteRan {
    /// Its console.
    pub(crate) console: String,
    /// What the monitor has to say of how the GPU was used.
    pub(crate) diagnoses: Vec<String>,
    /// How it ended, in words.
    pub(crate) ended: String,
}

/// Boots the image of a machine that carries scripts, from script `first` (from 1) on. `limit` is for all of them.
pub(crate) fn run_suite(
    machine: &Machine,
    first: usize,
    gpu: GpuChoice,
    limit: Duration,
) -> Result<SuiteRan, Failure> {
    let booted = machine.boot(&OfMachine {
        what: "running the scripts in QEMU",
        words: &[format!("from={first}")],
        board: None,
        gpu,
        inside: limit + BRING_UP_LIMIT,
    })?;
    Ok(SuiteRan {
        console: machine.console(&booted),
        diagnoses: diagnoses(&booted),
        ended: died(&booted),
    })
}

/// What came of a boot of the image that carries the driver's tests.
pub(crate) struct TestsRan {
    /// Its console.
    pub(crate) console: String,
    /// What the monitor said.
    pub(crate) monitor: String,
    /// How it ended, in words.
    pub(crate) ended: String,
}

/// Boots the image of a machine that carries the driver's tests, which keeps its caches up, with further words.
pub(crate) fn run_driver_tests(
    machine: &Machine,
    words: &[&str],
    limit: Duration,
) -> Result<TestsRan, Failure> {
    let ours = ["tests=yes", "cached"].iter().chain(words);
    let all: Vec<String> = ours.map(|word| (*word).to_owned()).collect();
    let booted = machine.boot(&OfMachine {
        what: "running the driver's tests in QEMU",
        words: &all,
        board: None,
        gpu: GpuChoice::default(),
        inside: limit,
    })?;
    Ok(TestsRan {
        console: machine.console(&booted),
        ended: died(&booted),
        monitor: booted.monitor,
    })
}

/// Builds the validation image, boots it under the monitor, and gives what it said: its lines, with those of the monitor about
/// what the image did wrong. An image for another board than QEMU's sees that board.
pub(crate) fn run_validation(
    board: Option<Target>,
    firmware: &[u8],
    scripts: Option<&[u8]>,
    setting: &Setting<'_>,
) -> Result<(String, Vec<String>), Failure> {
    let machine = Machine::with(|builder| builder.build_validation(board, firmware, scripts))?;
    validate(&machine, board, setting)
}

/// Builds the image that gives a board's GPU power in a wrong way, and boots it under the monitor; gives what it said in each way,
/// with those lines of the monitor's that are about what it did wrong.
pub(crate) fn run_wrong_power(
    board: Target,
    limit: Duration,
    ways: &[&str],
) -> Result<Vec<(String, Vec<String>)>, Failure> {
    let machine = Machine::with(|builder| {
        let parts = Parts {
            board: Some(board),
            files: &[],
        };
        builder.build_with(WRONG_POWER, WRONG_POWER, &parts)
    })?;
    let ran = ways.iter().map(|way| {
        let setting = Setting {
            gpu: GpuChoice::of_board(board).unwrap_or_default(),
            limit,
            talk: Talk::Quiet,
            words: &[way],
        };
        validate(&machine, Some(board), &setting)
    });
    ran.collect()
}

/// The image of `qemu-tests/wrong-power`.
const WRONG_POWER: &str = "eitri-wrong-power";

fn validate(
    machine: &Machine,
    board: Option<Target>,
    setting: &Setting<'_>,
) -> Result<(String, Vec<String>), Failure> {
    let words: Vec<String> = setting.words.iter().map(|it| (*it).to_owned()).collect();
    let arguments = setting.words.join(" ");
    let booted = machine.boot(&OfMachine {
        what: "validating in QEMU",
        words: &words,
        board: board.map(|board| (board, arguments.as_str())),
        gpu: setting.gpu,
        inside: setting.limit,
    })?;
    let console = machine.console(&booted);
    match booted.status() {
        Some(0 | 1) => Ok((console, diagnoses(&booted))),
        _ => Err(Failure::refused(BootError::Died {
            what: died(&booted),
            console,
            monitor: booted.monitor + &booted.qemu,
        })),
    }
}

/// What the monitor has to say of what the image did wrong.
fn diagnoses(booted: &Booted) -> Vec<String> {
    let lines = booted.monitor.lines();
    let lines = lines.filter(|line| line.starts_with("monitor: diagnosis"));
    lines.map(str::to_owned).collect()
}

/// Tells `sink` what the monitor has recorded. A record that was cut short when the image ended QEMU is left out.
fn tell(path: &Path, sink: &mut dyn Sink) {
    let bytes = std::fs::read(path).unwrap_or_default();
    let (records, _) = bytes.as_chunks::<RECORD_BYTES>();
    for (time, event) in records.iter().filter_map(Event::from_record) {
        sink.event(time, event);
    }
}

/// How an image without a result ended, in words.
fn died(booted: &Booted) -> String {
    match booted.status() {
        Some(101) => "the image panicked".to_owned(),
        Some(102) => "the image took an exception that nothing handles".to_owned(),
        Some(124) => "the image did not end in its time".to_owned(),
        Some(125) => "the monitor failed".to_owned(),
        Some(status) => format!("the image ended with status {status} and without a result"),
        None => "the image did not end in its time, and QEMU was stopped".to_owned(),
    }
}
