//! Boots: a machine of QEMU's from its command line to what it has left.
//!
//! The command lines and exit statuses are those of qemu-tests/README.md.

use crate::outcome::{Failure, FileError};
use crate::process::{End, Finished, run_attended, run_attended_with_input, run_with_input};
use crate::runs::host_model::{HostModel, MEMORY_BYTES};
use crate::runs::screen::{Attendant, Screen};
use eitri_boards::qemu_virt::TREE;
use eitri_host_gpu::MachineMemory;
use eitri_launch::tools::Tool;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a machine begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    /// A raw image, as a boot loader starts it: where its header says, at this exception level.
    Image(&'a Path, Level),
    /// The monitor, which starts a raw image at EL1 that lies at an address of QEMU's. The tree is for an image of another board
    /// than QEMU's.
    Monitor {
        monitor: &'a Path,
        image: &'a Path,
        at: usize,
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

/// The exception level that a machine begins at, and the version of its GIC where that is not 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    El1,
    El2,
    El3,
    Gicv2El1,
    Gicv2El2,
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
    /// The machine's GPU, where this process runs it.
    pub(crate) model: Option<&'a HostModel>,
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
    let finished = with_model(boot, || {
        Ok(run_with_input(&mut command, input, &log, boot.limit)?)
    })?;
    Ok(booted(boot, &finished))
}

/// Boots a machine with a display, and waits until it is no longer looked at.
pub(crate) fn boot_shown(
    boot: &Boot<'_>,
    attendant: &mut Attendant<'_>,
) -> Result<Booted, Failure> {
    let mut command = command(boot);
    command.args(attendant.arguments());
    // As above, but while the image waits for nothing the time is the host's, so that it is no busy wait.
    command.args(["-icount", "shift=3"]);
    let log = boot.folder.join("qemu.log");
    let finished = with_model(boot, || {
        let attend = &mut |since| attendant.attend(since);
        Ok(run_attended(&mut command, &log, attend)?)
    })?;
    Ok(booted(boot, &finished))
}

/// What the console of a machine receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing.
    #[default]
    Nothing,
    /// What this command gets on its standard input.
    Own,
    /// The bytes of a file.
    File(PathBuf),
}

/// What a person has of a machine besides what its console prints.
#[derive(Debug, Default)]
pub(crate) struct Attached<'a> {
    /// What its console receives.
    pub(crate) input: Input,
    /// The machine's memory, where this process sees it too.
    pub(crate) memory: Option<&'a MachineMemory>,
    /// It waits for GDB at this TCP port of this host before its first instruction.
    pub(crate) debugger: Option<u16>,
    /// It has a display, in this window.
    pub(crate) window: Option<Screen>,
}

/// Boots a machine, and calls `attend` again and again until it ends or `attend` says no.
pub(crate) fn boot_attended(
    boot: &Boot<'_>,
    attached: &Attached<'_>,
    attend: &mut dyn FnMut(Duration) -> bool,
) -> Result<Booted, Failure> {
    let mut command = command_attached(boot, attached);
    match &attached.window {
        Some(screen) => {
            command.args(screen.arguments(&boot.folder.join("qmp")));
            // While the image waits for nothing the time is the host's, so that pictures come at their pace.
            command.args(["-icount", "shift=3"]);
        }
        None => {
            command.args(["-display", "none"]);
            command.args(["-icount", "shift=3,sleep=off"]);
        }
    }
    if let Some(port) = attached.debugger {
        command.args(["-gdb", &format!("tcp:localhost:{port}"), "-S"]);
    }
    let log = boot.folder.join("qemu.log");
    let input = fed(&attached.input)?;
    let finished = with_model(boot, || {
        Ok(run_attended_with_input(&mut command, input, &log, attend)?)
    })?;
    Ok(booted(boot, &finished))
}

/// Runs a machine by a function, with the model beside it if this process runs that.
fn with_model<T>(
    boot: &Boot<'_>,
    machine: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let log = monitor_log(boot);
    // Several append to it.
    File::create(&log).map_err(|cause| Failure::unwritable(&log, cause))?;
    match boot.model {
        Some(model) => model.beside(&log, machine),
        None => machine(),
    }
}

/// Where what the monitor says goes.
fn monitor_log(boot: &Boot<'_>) -> PathBuf {
    boot.folder.join("monitor.log")
}

/// The standard input of QEMU, which a thread feeds: so a terminal stays as it is, and whatever ends QEMU leaves nothing to put right.
fn fed(input: &Input) -> Result<Stdio, Failure> {
    let mut source: Box<dyn Read + Send> = match input {
        Input::Nothing => return Ok(Stdio::null()),
        Input::Own => Box::new(std::io::stdin()),
        Input::File(path) => {
            let file = File::open(path);
            Box::new(file.map_err(|cause| Failure::unreadable(path, cause))?)
        }
    };
    let pipe = std::io::pipe();
    let (reader, mut writer) =
        pipe.map_err(|cause| Failure::missing(FileError::at("create", "a pipe to QEMU", cause)))?;
    // It ends with its input, or when QEMU has ended; nobody waits for it, since a terminal's input may never end.
    std::thread::spawn(move || std::io::copy(&mut source, &mut writer));
    Ok(reader.into())
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
        monitor: String::from_utf8_lossy(&read(monitor_log(boot))).into_owned(),
        qemu: finished.output(),
    }
}

/// The command that boots a machine, but for its display and its clock.
fn command(boot: &Boot<'_>) -> Command {
    command_attached(boot, &Attached::default())
}

/// The same with what is attached to the machine's console and memory.
fn command_attached(boot: &Boot<'_>, attached: &Attached<'_>) -> Command {
    let (console, monitor) = (console_of(boot), monitor_log(boot));
    let level = match boot.start {
        Start::Image(_, level) | Start::At(_, _, level) => level,
        Start::Monitor { .. } | Start::Uefi { .. } => Level::El2,
        Start::UBoot { .. } => Level::El1,
    };
    let machine = match level {
        Level::El1 => "virt,gic-version=3",
        Level::El2 => "virt,gic-version=3,virtualization=on",
        Level::El3 => "virt,gic-version=3,secure=on",
        Level::Gicv2El1 => "virt,gic-version=2",
        Level::Gicv2El2 => "virt,gic-version=2,virtualization=on",
    };
    let memory = format!("{}M", MEMORY_BYTES >> 20);
    let mut semihosting = "enable=on,target=native,chardev=monitor,arg=eitri".to_owned();
    let of_model = boot.model.map(HostModel::words).unwrap_or_default();
    for word in of_model.iter().chain(boot.words) {
        semihosting.push_str(&format!(",arg={}", doubled(word)));
    }
    let mut command = Command::new(Tool::Qemu.program());
    match attached.memory.or(boot.model.map(HostModel::memory)) {
        None => command.args(["-M", machine]),
        Some(shared) => {
            let path = doubled(&shared.path().display().to_string());
            let object =
                format!("memory-backend-file,id=ram,size={MEMORY_BYTES},mem-path={path},share=on");
            command.args(["-M", &format!("{machine},memory-backend=ram")]);
            command.args(["-object", &object])
        }
    };
    command.args(["-cpu", "cortex-a57", "-m", &memory]);
    // The second is off until an image starts it.
    command.args(["-smp", "2"]);
    command.args(["-nodefaults", "-no-reboot"]);
    match (boot.start, &attached.input) {
        (Start::UBoot { .. }, _) => command.args(["-serial", "stdio"]),
        (_, Input::Nothing) => command.args(["-serial", &format!("file:{}", console.display())]),
        (_, Input::Own | Input::File(_)) => {
            let path = doubled(&console.display().to_string());
            let device = format!("stdio,id=console,signal=off,logfile={path},logappend=on");
            command.args(["-chardev", &device, "-serial", "chardev:console"])
        }
    };
    let path = doubled(&monitor.display().to_string());
    command.args([
        "-chardev",
        &format!("file,id=monitor,path={path},append=on"),
    ]);
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
            at,
            tree,
        } => {
            command.arg("-kernel").arg(monitor);
            command.args(["-device", &loaded(image, at)]);
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

/// How an image without a result ended, in words.
pub(super) fn died(booted: &Booted) -> String {
    match booted.status() {
        Some(101) => "the image panicked".to_owned(),
        Some(102) => "the image took an exception that nothing handles".to_owned(),
        Some(124) => "the image did not end in its time".to_owned(),
        Some(125) => "the monitor failed".to_owned(),
        Some(status) => format!("the image ended with status {status} and without a result"),
        None => "the image did not end in its time, and QEMU was stopped".to_owned(),
    }
}
