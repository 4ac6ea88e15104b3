//! Images in QEMU: booted under the EL2 monitor, watched by the host's clock, and read out.

use crate::images::console;
use crate::images::image::{Builder, Image, Parts};
use crate::images::{monitor, prebuilt};
use crate::input::board_tree;
use crate::input::buffer_source::BindingName;
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::output::streams;
use crate::output::whole_file;
use crate::progress;
use crate::runs::boot::{Boot, Booted, Start, boot, boot_shown, died};
use crate::runs::code_checks::CodeChecked;
use crate::runs::dispatch::{Done, Talk};
use crate::runs::host_model::{self, HostModel};
use crate::runs::known_lines::KnownLines;
use crate::runs::screen::{Attendant, NO_LIMIT, Screen, Show};
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_boards::qemu_virt::BOARD;
use eitri_job::result::{JobResult, ResultError};
use eitri_launch::images::MONITOR;
use eitri_launch::tools::{self, Tool};
use eitri_model::{Event, Fidelity, RECORD_BYTES, Sink};
use miette::Diagnostic;
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::path::Path;
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

/// The monitor and an image, ready to boot; both stay in a folder of their own until this is dropped.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    image: Image,
    /// The word by which the image finds its job, if that is not linked into it.
    job: Option<String>,
    /// Lines of its programs, for what the model reports of them.
    lines: KnownLines,
    /// What the checkers of machine code are to tell, if this process runs the model, and what they have found.
    check: Wanted,
    checked: RefCell<Option<CodeChecked>>,
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
    /// The file that gets a record of each event in the GPU.
    trace: Option<&'a Path>,
}

impl Machine {
    /// Builds the monitor and the image that reads `bundle` as its job, of which it perhaps shows an image.
    fn with_job(bundle: &[u8], shown: Option<BindingName>) -> Result<Machine, Failure> {
        let mut machine = Machine::of((monitor::elf()?, prebuilt::without_job(shown)?))?;
        let path = machine.folder.path().join("job.bundle");
        whole_file::put(&path, bundle)?;
        machine.job = Some(format!("job={}", path.display()));
        Ok(machine)
    }

    /// Builds the monitor and the image that carries these scripts.
    pub(crate) fn with_suite(suite: &[u8]) -> Result<Machine, Failure> {
        Machine::of((monitor::elf()?, prebuilt::suite(None, suite)?))
    }

    /// Builds the monitor and the image that carries these drawings, of which it perhaps shows the first.
    pub(crate) fn with_drawings(drawings: &[u8], shown: bool) -> Result<Machine, Failure> {
        Machine::of((monitor::elf()?, prebuilt::drawings(None, drawings, shown)?))
    }

    /// Builds the monitor and the image that carries the driver's tests.
    pub(crate) fn with_driver_tests(firmware: &[u8], programs: &[u8]) -> Result<Machine, Failure> {
        Machine::with(|builder| builder.build_driver_tests(firmware, programs))
    }

    /// Builds the monitor and the image of `examples/cube`.
    pub(crate) fn with_cube(firmware: &[u8], programs: [&[u8]; 2]) -> Result<Machine, Failure> {
        Machine::with(|builder| builder.build_cube(firmware, programs))
    }

    /// Builds the monitor and an image that no package brings along.
    fn with(image: impl FnOnce(&Builder) -> Result<Image, Failure>) -> Result<Machine, Failure> {
        tools::ensure(&Workspace::find()?, &[Tool::Qemu])?;
        let builder = Builder::new()?;
        Machine::of((builder.build(MONITOR, MONITOR)?.elf, image(&builder)?))
    }

    /// A machine of the monitor's ELF file and an image.
    fn of((monitor, image): (Vec<u8>, Image)) -> Result<Machine, Failure> {
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
        whole_file::put(&folder.path().join("monitor.elf"), &monitor)?;
        whole_file::put(&folder.path().join("image.raw"), &image.raw()?)?;
        Ok(Machine {
            folder,
            image,
            job: None,
            lines: KnownLines::default(),
            check: Wanted::Nothing,
            checked: RefCell::default(),
        })
    }

    /// Has what the model reports of these programs name their lines, if this process runs it.
    fn naming(self, lines: &KnownLines) -> Machine {
        Machine {
            lines: lines.clone(),
            ..self
        }
    }

    /// Boots an image that draws until its pictures have been seen; gives what the screen showed, if that is kept.
    pub(crate) fn shown(
        &self,
        setting: &Setting<'_>,
        screen: &Screen,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let console = self.folder.path().join("console.log");
        // What an earlier boot has shown is not seen again.
        match std::fs::remove_file(&console) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::unwritable(&console, error));
            }
            _ => {}
        }
        let limit = (setting.limit + BRING_UP_LIMIT) * PATIENCE;
        let mut attendant = Attendant::new(screen, &console, limit);
        let words: Vec<String> = setting.words.iter().map(|it| (*it).to_owned()).collect();
        let of = OfMachine {
            what: "drawing in QEMU",
            words: &words,
            board: None,
            gpu: setting.gpu,
            inside: limit,
            trace: None,
        };
        let booted = self.boot_by(&of, NO_LIMIT, |boot| boot_shown(boot, &mut attendant))?;
        for diagnosis in diagnoses(&booted) {
            streams::say(format_args!("{diagnosis}\n"));
        }
        attendant.finish(&self.console(&booted))
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
        let model = self.model(of)?;
        if let (Some(path), None) = (of.trace, &model) {
            words.push(format!("trace={}", path.display()));
        }
        words.extend(self.job.clone());
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
                at: BOARD.memory.image.base,
                tree: tree.as_deref(),
            },
            words: &words,
            folder,
            limit: of.inside * PATIENCE,
            model: model.as_ref(),
        });
        step.finish(booted.as_ref().is_ok_and(|it| it.status().is_some()));
        *self.checked.borrow_mut() = model.and_then(|model| model.checked());
        booted
    }

    /// The machine's GPU, if this process runs it.
    fn model(&self, of: &OfMachine<'_>) -> Result<Option<HostModel>, Failure> {
        let guest_only = |word: &String| GUEST_ONLY.contains(&word.as_str());
        if of.words.iter().any(guest_only) {
            return Ok(None);
        }
        let board = of.board.and_then(|(board, _)| board.board());
        let model = host_model::unless_in_guest(of.gpu.config(), board, of.trace)?;
        Ok(model.map(|model| model.naming(&self.lines).checking(&self.check)))
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

/// Words that ask for something which only a model in the machine can do.
const GUEST_ONLY: &[&str] = &["coherent=no", "coherent=pages", "tests=yes"];

/// The words for memory that is not coherent, and an image that keeps its caches up.
pub(crate) const NON_COHERENT: &[&str] = &["coherent=no", "cached"];

/// Builds an image with `bundle` inside, boots it, and reads its result; `lines` are those of its program. `trace` is told what happened inside of the GPU.
pub(crate) fn run_job(
    bundle: &[u8],
    lines: &KnownLines,
    setting: &Setting<'_>,
    trace: Option<Box<dyn Sink>>,
) -> Result<Done, Failure> {
    let machine = Machine::with_job(bundle, None)?.naming(lines);
    let ran = run_on(&machine, setting, trace, |of| machine.boot(of))?;
    Ok(ran.done)
}

/// The same with a display, on which the image then shows what the job left: gives what the screen showed too, if that is kept. It is
/// none where the job failed, which shows nothing.
pub(crate) fn run_job_shown(
    bundle: &[u8],
    lines: &KnownLines,
    setting: &Setting<'_>,
    show: &Show,
    trace: Option<Box<dyn Sink>>,
) -> Result<(Done, Option<Vec<u8>>), Failure> {
    let machine = Machine::with_job(bundle, Some(show.name))?.naming(lines);
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

/// Builds an image that shows the first of these drawings, picture by picture, and boots it; gives what the screen showed, if that is
/// kept.
pub(crate) fn run_drawing_shown(
    drawings: &[u8],
    setting: &Setting<'_>,
    screen: &Screen,
) -> Result<Option<Vec<u8>>, Failure> {
    let machine = Machine::with_drawings(drawings, true)?;
    machine.shown(setting, screen)
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
    words.extend(setting.words.iter().map(|word| (*word).to_owned()));
    let booted = boot(&OfMachine {
        what: "running the image in QEMU",
        words: &words,
        board: None,
        gpu: setting.gpu,
        inside: limit + BRING_UP_LIMIT,
        trace: trace.is_some().then_some(traced.as_path()),
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
            let mut result = JobResult::parse(&bytes)
                .map_err(|cause| Failure::refused(BootError::Result(cause)))?;
            machine.lines.add_to(&mut result.dump);
            let done = Done {
                result,
                diagnoses,
                cores: Vec::new(),
                fidelity: Fidelity::default(),
            };
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
    let what = "running the scripts in QEMU";
    let words = [format!("from={first}")];
    run_numbered(machine, what, &words, gpu, limit)
}

/// Boots the image of a machine that carries drawings, for some of them, whose numbers begin at 1, with a folder that gets the result
/// of each, by its number. `limit` is for all of them.
pub(crate) fn run_drawings(
    machine: &Machine,
    results: &Path,
    numbers: &RangeInclusive<usize>,
    gpu: GpuChoice,
    limit: Duration,
) -> Result<SuiteRan, Failure> {
    let what = "drawing in QEMU";
    let words = [
        format!("from={}", numbers.start()),
        format!("to={}", numbers.end()),
        format!("results={}", results.display()),
    ];
    run_numbered(machine, what, &words, gpu, limit)
}

/// Boots the image of a machine that carries drawings, which judges them itself, with these words on its command line.
pub(crate) fn run_drawings_alone(
    machine: &Machine,
    words: &[&str],
    gpu: GpuChoice,
    limit: Duration,
) -> Result<SuiteRan, Failure> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    run_numbered(machine, "drawing in QEMU", &words, gpu, limit)
}

/// Boots the image of a machine that carries several things, and begins with one of them.
fn run_numbered(
    machine: &Machine,
    what: &str,
    words: &[String],
    gpu: GpuChoice,
    limit: Duration,
) -> Result<SuiteRan, Failure> {
    let booted = machine.boot(&OfMachine {
        what,
        words,
        board: None,
        gpu,
        inside: limit + BRING_UP_LIMIT,
        trace: None,
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
        trace: None,
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
    check: &Wanted,
) -> Result<Validated, Failure> {
    let machine = Machine::of(prebuilt::validation_in_qemu(board, firmware, scripts)?)?;
    let machine = Machine {
        check: check.clone(),
        ..machine
    };
    let (console, diagnoses) = validate(&machine, board, setting)?;
    Ok(Validated {
        console,
        diagnoses,
        checked: machine.checked.take(),
    })
}

/// What came of the validation image.
pub(crate) struct Validated {
    /// What it said.
    pub(crate) console: String,
    /// The lines of the monitor, or of the model, about what it did wrong.
    pub(crate) diagnoses: Vec<String>,
    /// What the checkers of machine code have found; none if they did not run, as where the monitor has the model.
    pub(crate) checked: Option<CodeChecked>,
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
        trace: None,
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
pub(crate) fn tell(path: &Path, sink: &mut dyn Sink) {
    let bytes = std::fs::read(path).unwrap_or_default();
    let (records, _) = bytes.as_chunks::<RECORD_BYTES>();
    for (time, event) in records.iter().filter_map(Event::from_record) {
        sink.event(time, event);
    }
}
