//! `eitri boot`: anybody's bare-metal image, with the model as its GPU.

use crate::images::console::Stream;
use crate::images::loadable::Loadable;
use crate::images::monitor;
use crate::input::board_choice;
use crate::input::board_tree;
use crate::input::buffer_source;
use crate::input::gpu_choice::GpuChoice;
use crate::input::model_place::{self, GuestOnly, ModelArgument};
use crate::input::trace_option::TraceArgument;
use crate::interrupt;
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, talk};
use crate::output::whole_file;
use crate::reports::waveform::WaveformArgument;
use crate::runs::boot::{Attached, Boot, Booted, Input, Start, boot_attended};
use crate::runs::boot_dump::{BootDump, Moment};
use crate::runs::dispatch::Place;
use crate::runs::host_model::{self, HostModel};
use crate::runs::qemu;
use crate::runs::screen::Screen;
use crate::runs::tail::Tail;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM};
use eitri_boards::{Console, Region, Target};
use miette::Diagnostic;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The monitor always has a time limit; without --timeout it is a hundred years.
const NO_LIMIT: Duration = Duration::from_secs(100 * 366 * 86_400);
/// QEMU's status when the monitor stopped an image whose time was over, and when the monitor itself failed.
const TIMED_OUT: i32 = 124;
const MONITOR_FAILED: i32 = 125;
/// The memory below the images of QEMU's own machine, where QEMU puts the device tree.
const TREE_BYTES: usize = BOARD.description().memory.image.base - GUEST_RAM.base;

#[derive(clap::Args)]
#[command(after_help = about_the_machine())]
pub(crate) struct Args {
    /// The image: an ELF file for AArch64, or a raw arm64 `Image`.
    image: String,
    /// Words of the image's command line, which it gets by semihosting (SYS_GET_CMDLINE).
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
    /// The GPU that the model is, such as G610 or G720; that of the board, or a Mali-G610 if nothing is said.
    #[arg(long, value_name = "NAME")]
    gpu: Option<GpuChoice>,
    /// The board that the image sees: its memory map, console, interrupts, GPU and simulated power controllers. The image must be
    /// linked for that board. A file describes one that is not listed (docs/own-board.md).
    #[arg(long, value_name = "NAME|FILE")]
    board: Option<String>,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    trace: TraceArgument,
    #[command(flatten)]
    waveform: WaveformArgument,
    /// Whether the GPU sees the CPU's caches. With `no`, cache maintenance that the driver forgets is reported.
    #[arg(long, value_name = "yes|no", default_value = "yes", value_parser = yes_or_no)]
    coherent: Coherent,
    /// Write a core dump of the GPU, for `eitri dump`: of its first fault, before the driver answers it; else of the machine's end,
    /// unless it ends with status 0.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// The console's input: a file, or `-` for standard input. Without it a terminal's input is passed on, and that of a pipe is not.
    #[arg(long, value_name = "FILE|-")]
    input: Option<PathBuf>,
    /// Wait for GDB at this port of localhost before the first instruction.
    #[arg(long, value_name = "PORT")]
    gdb: Option<u16>,
    /// Give the machine a display in a window: QEMU's `ramfb`, which an image finds by fw_cfg.
    #[arg(long)]
    show: bool,
    /// Stop the image after so many seconds of the machine's time; without it, the image may run for ever.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=36_000))]
    timeout: Option<u32>,
    /// Show all that the monitor prints.
    #[arg(long, short)]
    verbose: bool,
}

/// Help behind the options: the memory map of the machine, how an image ends it, and use as a cargo runner.
fn about_the_machine() -> String {
    let board = BOARD.description();
    let (memory, gpu) = (board.memory, board.gpu);
    let [job, mmu, own] = [gpu.job, gpu.mmu, gpu.gpu].map(|line| line.0);
    format!(
        "The machine, unless --board says otherwise, is QEMU's `virt` with 1 GiB of memory and two CPUs, of which the first starts at EL1 \
         with the MMU off and the device tree's address in x0:\n  \
         {:#010x}..{:#010x}  memory: link the image anywhere in it\n  \
         {:#010x}..{:#010x}  the GPU's registers; interrupts JOB {job}, MMU {mmu}, GPU {own} (SPIs of the GICv3)\n  \
         {:#010x}              a PL011 console: what it gets is printed\n  \
         {:#010x}, {:#010x}  GICv3: distributor, redistributors\n\
         The image ends the machine by semihosting (SYS_EXIT, whose status is that of this command) or by PSCI SYSTEM_OFF (an SMC).\n\n\
         As a cargo runner, in .cargo/config.toml:\n  \
         [target.aarch64-unknown-none]\n  \
         runner = \"eitri boot\"\n\n\
         examples/standalone is a crate to copy: manifest, build script, linker script and start-up code.",
        memory.image.base,
        GUEST_RAM.base + GUEST_RAM.bytes,
        gpu.window.base,
        gpu.window.end(),
        board.console.base().address(),
        board.gic.distributor().address(),
        board.gic.of_cpus().address(),
    )
}

/// Whether the GPU sees the CPU's caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coherent {
    Yes,
    No,
}

fn yes_or_no(word: &str) -> Result<Coherent, String> {
    match word {
        "yes" => Ok(Coherent::Yes),
        "no" => Ok(Coherent::No),
        _ => Err("yes or no".to_owned()),
    }
}

#[derive(Debug, Error, Diagnostic)]
enum BootCommandError {
    #[error("of {board} only its device tree is known, so there is no address to load an image at")]
    #[diagnostic(help(
        "leave --board out, or name one of `eitri image --list-boards` with addresses"
    ))]
    NoAddresses { board: &'static str },
    #[error("{path}: the image did not end within {seconds} s of the machine's time")]
    #[diagnostic(help("the lines above have the registers; --timeout gives it more"))]
    TimedOut { path: String, seconds: u32 },
    #[error("QEMU ended with status {status} before the image began\n{said}")]
    #[diagnostic(help("--verbose shows what the monitor prints"))]
    NotBooted { status: i32, said: String },
    #[error("the simulated console of {board} receives nothing")]
    #[diagnostic(help("boards with a PL011 do; `eitri boot` without --board has one"))]
    NoInput { board: String },
    #[error("QEMU was stopped from outside")]
    Killed,
}

/// The machine that an image sees.
struct Seen {
    board: Option<Target>,
    /// The memory that images may be linked for.
    memory: Region,
    /// QEMU's address of its begin.
    place: usize,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    args.model.choose(Place::Qemu)?;
    let seen = seen(args.board.as_deref())?;
    let file = buffer_source::read(&args.image)?;
    let name = seen.board.map_or(BOARD.name, Target::name);
    let image = Loadable::read(&args.image, &file, name, seen.memory)?;
    let monitor_elf = monitor::elf()?;
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
    let path = |name: &str| folder.path().join(name);
    let (monitor, raw) = (path("monitor.elf"), path("image.raw"));
    whole_file::put(&monitor, &monitor_elf)?;
    whole_file::put(&raw, &image.bytes)?;
    let tree = match seen.board {
        Some(board) => {
            let arguments = args.words.join(" ");
            whole_file::put(&path("tree.dtb"), &board_tree::build(board, &arguments)?)?;
            Some(path("tree.dtb"))
        }
        None => None,
    };
    let events = path("trace");
    let model = model(args, &seen, &events)?;
    let traced = model.is_none().then_some(events.as_path());
    let mut words = words(args, &seen, image.entry, traced);
    let dump = dump(args, &seen, folder.path())?;
    if let Some(dump) = &dump {
        // Before the image's own.
        words.insert(0, dump.word());
    }
    // Ctrl-C ends a machine that hangs.
    let _at_end = dump.clone().map(|dump| {
        let at_end = move || dump.take(Moment::Stopped);
        interrupt::before_end(at_end)
    });
    if let Some(port) = args.gdb {
        talk!(
            "waiting for GDB: gdb-multiarch {} -ex 'target remote localhost:{port}' -ex 'hbreak *{:#x}' -ex continue",
            args.image,
            image.entry
        );
    }
    let trace = args.trace.start();
    let booted = attended(
        &Boot {
            start: Start::Monitor {
                monitor: &monitor,
                image: &raw,
                at: image.base - seen.memory.base + seen.place,
                tree: tree.as_deref(),
            },
            words: &words,
            folder: folder.path(),
            limit: NO_LIMIT,
            model: model.as_ref(),
        },
        args,
        &seen,
        file,
        dump.as_deref(),
    );
    if let (Some(dump), Ok(booted)) = (&dump, &booted) {
        match booted.status() {
            Some(0) => {}
            Some(TIMED_OUT) => dump.take(Moment::TimedOut)?,
            _ => dump.take(Moment::Stopped)?,
        }
    }
    // An image that failed is what people want to look at.
    if let Some(trace) = trace {
        qemu::tell(&events, &mut *trace.sink());
        trace.write(&args.image)?;
    }
    if let Some(waveform) = args.waveform.start() {
        qemu::tell(&events, &mut *waveform.sink());
        args.waveform.write(&waveform)?;
    }
    status(args, &booted?)
}

fn seen(board: Option<&str>) -> Result<Seen, Failure> {
    let named = board.map(board_choice::named).transpose()?;
    // QEMU's own machine is seen as it is.
    let board = named.filter(|board| board.name() != BOARD.name);
    let Some(board) = board else {
        let base = BOARD.memory.image.base;
        return Ok(Seen {
            board: None,
            memory: Region::new(base, GUEST_RAM.bytes - TREE_BYTES),
            place: base,
        });
    };
    let Some(known) = board.board() else {
        let board = board.name();
        return Err(Failure::refused(BootCommandError::NoAddresses { board }));
    };
    Ok(Seen {
        board: Some(board),
        memory: known.memory.image,
        place: BOARD.memory.image.base,
    })
}

fn gpu(args: &Args, seen: &Seen) -> GpuChoice {
    let of_board = seen.board.and_then(GpuChoice::of_board);
    args.gpu.or(of_board).unwrap_or_default()
}

fn is_traced(args: &Args) -> bool {
    args.trace.path().is_some() || args.waveform.is_wanted()
}

/// The machine's GPU, if this process runs it.
fn model(args: &Args, seen: &Seen, events: &Path) -> Result<Option<HostModel>, Failure> {
    let caches = args.coherent == Coherent::No;
    let only = [
        (caches, GuestOnly::Caches("--coherent no")),
        (args.dump.is_some(), GuestOnly::Dump),
    ];
    if let Some((_, only)) = only.into_iter().find(|(asked, _)| *asked) {
        model_place::refuse_on_host(only)?;
        return Ok(None);
    }
    let board = seen.board.and_then(Target::board);
    let events = is_traced(args).then_some(events);
    host_model::unless_in_guest(gpu(args, seen).config(), board, events)
}

/// The words for the monitor, then those for the image.
fn words(args: &Args, seen: &Seen, entry: usize, events: Option<&Path>) -> Vec<String> {
    let gpu = gpu(args, seen);
    let limit = args
        .timeout
        .map(|seconds| Duration::from_secs(seconds.into()));
    let mut words = vec![
        format!("limit-ms={}", limit.unwrap_or(NO_LIMIT).as_millis()),
        format!("gpu={gpu}"),
        format!("entry={entry:x}"),
    ];
    if let Some(board) = seen.board {
        words.push(format!("board={}", board.name()));
    }
    if args.coherent == Coherent::No {
        words.push("coherent=no".to_owned());
    }
    if let Some(events) = events.filter(|_| is_traced(args)) {
        words.push(format!("trace={}", events.display()));
    }
    words.extend_from_slice(&args.words);
    words
}

/// The core dump, if one is asked for.
fn dump(args: &Args, seen: &Seen, folder: &Path) -> Result<Option<Arc<BootDump>>, Failure> {
    let Some(path) = &args.dump else {
        return Ok(None);
    };
    let board = seen.board.and_then(Target::board);
    BootDump::new(path, folder, board).map(|dump| Some(Arc::new(dump)))
}

/// The source of the console's input.
fn input(args: &Args, seen: &Seen) -> Result<Input, Failure> {
    let board = seen.board.and_then(Target::board);
    let console = board.map_or(BOARD.console, |board| board.console);
    let receives = matches!(console, Console::Pl011 { .. });
    match (&args.input, receives) {
        (Some(_), false) => {
            let board = seen.board.map_or(BOARD.name, Target::name).to_owned();
            Err(Failure::refused(BootCommandError::NoInput { board }))
        }
        (Some(path), true) if path == Path::new("-") => Ok(Input::Own),
        (Some(path), true) => match std::fs::File::open(path) {
            Ok(_) => Ok(Input::File(path.clone())),
            Err(cause) => Err(Failure::unreadable(path, cause)),
        },
        (None, true) if std::io::stdin().is_terminal() => Ok(Input::Own),
        (None, _) => Ok(Input::Nothing),
    }
}

/// Boots the machine, and shows its console and what the monitor reports while it runs.
fn attended(
    boot: &Boot<'_>,
    args: &Args,
    seen: &Seen,
    file: Vec<u8>,
    dump: Option<&BootDump>,
) -> Result<Booted, Failure> {
    let log = |name: &str| boot.folder.join(name);
    whole_file::put(&log("console.log"), b"")?;
    whole_file::put(&log("monitor.log"), b"")?;
    let mut console = Tail::of(&log("console.log"))?;
    let mut reports = Tail::of(&log("monitor.log"))?;
    let mut stream = Stream::new(file);
    let mut failed = None;
    let mut show = |console: &mut Tail, reports: &mut Tail| {
        let sent = console.bytes();
        if !sent.is_empty()
            && let Err(failure) = streams::put(&stream.push(&sent))
        {
            failed.get_or_insert(failure);
        }
        for line in reports.lines() {
            if args.verbose || !is_greeting(&line) {
                talk!("{line}");
            }
        }
        if let Some(Err(failure)) = dump.map(BootDump::attend) {
            failed.get_or_insert(failure);
        }
        failed.is_none()
    };
    let attached = Attached {
        input: input(args, seen)?,
        memory: dump.map(BootDump::memory),
        debugger: args.gdb,
        window: args.show.then(Screen::window).transpose()?,
    };
    let booted = boot_attended(boot, &attached, &mut |_| show(&mut console, &mut reports));
    show(&mut console, &mut reports);
    streams::put(&stream.finish())?;
    match failed {
        Some(failure) => Err(failure),
        None => booted,
    }
}

/// Whether a line of the monitor is its greeting, which names the machine; all other lines are reports about the image.
fn is_greeting(line: &str) -> bool {
    line.starts_with("monitor: GPU of ")
}

fn status(args: &Args, booted: &Booted) -> Result<Status, Failure> {
    match (booted.status(), args.timeout) {
        (Some(0), _) => Ok(Status::Good),
        (Some(TIMED_OUT), Some(seconds)) => {
            let path = args.image.clone();
            Err(Failure::check(BootCommandError::TimedOut { path, seconds }))
        }
        (Some(status), _) if status == MONITOR_FAILED || booted.monitor.is_empty() => {
            let said = booted.qemu.clone() + &booted.monitor;
            Err(Failure::missing(BootCommandError::NotBooted {
                status,
                said,
            }))
        }
        (Some(status), _) => Ok(Status::OfGuest(status as u8)),
        (None, _) => Err(Failure::refused(BootCommandError::Killed)),
    }
}
