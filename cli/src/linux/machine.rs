//! The machine: QEMU with the monitor, the kernel and its file system, and the terminal as its console.
//!
//! Apart from [`crate::runs::qemu`], which watches an image of ours: here a person sits at the console, the guest may run for as long as
//! it likes, and time is the host's.

use super::device_tree::{self, Wanted};
use super::screen::GuestScreen;
use super::watch::{self, Watch, Watched};
use crate::input::check_arguments::CheckArguments;
use crate::input::gpu_choice::GpuChoice;
use crate::input::model_place::ModelPlace;
use crate::outcome::{Failure, Status};
use crate::output::streams::talk;
use crate::output::whole_file;
use crate::process;
use crate::runs::boot;
use crate::runs::host_model::{self, NoSharedMemory};
use crate::runs::qmp::QmpError;
use crate::runs::tail::Tail;
use dtoolkit::error::FdtParseError;
use eitri_boards::Region;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM, MAILBOX, MONITOR_RAM};
use eitri_host_gpu::{MachineMemory, Part};
use eitri_launch::tools::Tool;
use miette::Diagnostic;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How often the monitor's words are looked for.
const POLL: Duration = Duration::from_millis(50);
/// Room for the tree.
const TREE_BYTES: usize = 2 << 20;
/// What the kernel wants its parts aligned to.
const ALIGNMENT: usize = 2 << 20;
/// The monitor has a limit for images of ours; an operating system has none: a hundred years.
const NO_LIMIT: Duration = Duration::from_secs(100 * 366 * 86_400);
const CPU: &str = "cortex-a57";

/// Why a machine can't be made, or did not end as one should.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum MachineError {
    #[error("{path}: not a kernel for arm64 as boot loaders take it (`Image`)")]
    #[diagnostic(help("a compressed one has to be unpacked first"))]
    NotAKernel { path: String },
    #[error("kernel and file system take {wanted} MiB, and {there} MiB are there for them")]
    #[diagnostic(help(
        "`--memory` gives the guest more; a file system beyond the first gibibyte needs it in one piece above that"
    ))]
    TooMuch { wanted: usize, there: usize },
    #[error("QEMU's device tree can't be read")]
    Tree(#[source] FdtParseError),
    #[error("QEMU could not be started")]
    Qemu(#[source] std::io::Error),
    #[error("QEMU made no device tree: {output}")]
    NoTree { output: String },
    #[error("the guest ended without telling its exit status ({how})")]
    #[diagnostic(help("`--verbose` shows what the kernel says"))]
    NoStatus { how: String },
    #[error("the guest's screen can't be read")]
    Screen(#[source] QmpError),
    #[error("the guest did not end within {} s", limit.as_secs())]
    TimedOut { limit: Duration },
}

/// What is booted.
pub(crate) struct Machine<'a> {
    /// The monitor's ELF file.
    pub(crate) monitor: &'a Path,
    /// The kernel.
    pub(crate) kernel: &'a Path,
    /// The initial file system.
    pub(crate) initramfs: &'a [u8],
    /// Bytes of memory that Linux has.
    pub(crate) memory: usize,
    /// CPUs that it has.
    pub(crate) cpus: u32,
    /// The GPU that the model is.
    pub(crate) gpu: GpuChoice,
    /// Where the model runs.
    pub(crate) model: ModelPlace,
    /// The folder that both sides see.
    pub(crate) share: Option<&'a Path>,
    /// What the checkers of machine code are to tell.
    pub(crate) check: &'a CheckArguments,
    /// Show what the kernel says.
    pub(crate) verbose: bool,
    /// Whether a person types at its console.
    pub(crate) interactive: bool,
    /// Where records of what groups run go.
    pub(crate) record: Option<&'a Path>,
    /// The guest's clock waits for the model.
    pub(crate) gpu_time: bool,
    /// Print what the model executed, by program.
    pub(crate) programs: bool,
    /// Write that to a file, as JSON, and do not print it.
    pub(crate) programs_file: Option<&'a Path>,
    /// Where a timeline of the GPU goes.
    pub(crate) trace: Option<&'a str>,
    /// Where a core dump of the GPU goes.
    pub(crate) dump: Option<&'a Path>,
    /// An image of a disk, which becomes the root file system of the command.
    pub(crate) disk: Option<&'a Path>,
    /// Where the picture of its screen goes; it has a screen if this is given.
    pub(crate) screen: Option<&'a str>,
    /// Longest that it may run.
    pub(crate) limit: Option<Duration>,
    /// Gets what QEMU reads.
    pub(crate) folder: &'a Path,
}

/// Where things are in memory.
struct Places {
    kernel: usize,
    tree: usize,
    initramfs: Region,
}

impl Machine<'_> {
    /// Runs it to its end, and gives the exit status that the guest told.
    pub(crate) fn run(&self) -> Result<Status, Failure> {
        let places = self.places()?;
        let (tree, initramfs) = (self.folder.join("tree.dtb"), self.folder.join("initramfs"));
        whole_file::put(&initramfs, self.initramfs)?;
        let wanted = Wanted {
            memory: &self.memory_regions(),
            command_line: &self.command_line(),
            soc: self.gpu.soc(),
            initramfs: places.initramfs,
        };
        let made = device_tree::with_gpu(&self.tree_of_qemu()?, &wanted)
            .map_err(|cause| Failure::refused(MachineError::Tree(cause)))?;
        whole_file::put(&tree, &made)?;
        let said = self.folder.join("monitor.log");
        whole_file::put(&said, b"")?;
        let mut command = self.command(&places, &tree, &initramfs, &said);
        let Some(memory) = self.shared_memory()? else {
            command.args(["-M", MACHINE]);
            return self.watch(start(&mut command)?, &said);
        };
        let path = doubled(&memory.path());
        let bytes = self.bytes();
        let object = format!("memory-backend-file,id=ram,size={bytes},mem-path={path},share=on");
        command.args(["-M", &format!("{MACHINE},memory-backend=ram")]);
        command.args(["-object", &object]);
        let child = start(&mut command)?;
        let (status, watched) = self.with_model(&memory, || self.watch(child, &said));
        // Of a guest that did not end well, too.
        let told = watched.map_or(Ok(Status::Good), Watched::tell);
        let status = status?;
        let checked = told?;
        Ok(match status {
            Status::Good | Status::OfGuest(0) if checked != Status::Good => checked,
            of_command => of_command,
        })
    }

    /// The machine's memory, where the model needs a view of it.
    fn shared_memory(&self) -> Result<Option<MachineMemory>, Failure> {
        if self.model == ModelPlace::Guest {
            return Ok(None);
        }
        let part = |region: Region| Part {
            address: region.base as u64,
            offset: region.base - GUEST_RAM.base,
            bytes: region.bytes,
        };
        let parts = [GUEST_RAM, self.region_above()].map(part);
        let memory = MachineMemory::new(self.bytes(), &parts);
        let memory = memory.map_err(|cause| Failure::missing(NoSharedMemory(cause)))?;
        Ok(Some(memory))
    }

    /// Has the model be the machine's GPU meanwhile; gives what was watched of it too.
    fn with_model<T>(
        &self,
        memory: &MachineMemory,
        meanwhile: impl FnOnce() -> Result<T, Failure>,
    ) -> (Result<T, Failure>, Option<Watched>) {
        let (stop, has_failed) = (AtomicBool::new(false), AtomicBool::new(false));
        let model = || {
            let mailbox = memory.mailbox(MAILBOX.base - GUEST_RAM.base)?;
            let config = self.gpu.config();
            let count = watch::CountPrograms {
                arch: config.product.arch(),
                file: self.programs_file,
            };
            let counts = self.programs || self.programs_file.is_some();
            let mut watch = Watch::new(watch::Wanted {
                record: self.record,
                programs: counts.then_some(count),
                trace: self.trace,
                dump: self.dump.map(|path| (path, &has_failed)),
                check: (self.check, config.product.arch()),
                all_diagnoses: self.verbose,
            });
            eitri_host_gpu::serve(config, memory, mailbox, &stop, &mut watch);
            Some(watch.finish())
        };
        let stop = || stop.store(true, Ordering::Relaxed);
        host_model::beside(model, stop, || {
            let result = meanwhile();
            has_failed.store(result.is_err(), Ordering::Relaxed);
            result
        })
    }

    /// The kernel where its header wants it, then the tree; then the file system, if it fits below the monitor, else above it.
    fn places(&self) -> Result<Places, Failure> {
        let kernel = BOARD.memory.image.base;
        let bytes = kernel_bytes(self.kernel)?;
        let tree = (kernel + bytes).next_multiple_of(ALIGNMENT);
        let end = GUEST_RAM.end().min(GUEST_RAM.base + self.memory);
        let places = [
            (tree + TREE_BYTES, end),
            (self.region_above().base, self.region_above().end()),
        ];
        let mut places = places.into_iter();
        match places.find(|(begin, end)| begin + self.initramfs.len() <= *end) {
            Some((begin, _)) if tree + TREE_BYTES <= end => Ok(Places {
                kernel,
                tree,
                initramfs: Region::new(begin, self.initramfs.len()),
            }),
            _ => Err(Failure::refused(MachineError::TooMuch {
                wanted: (tree + TREE_BYTES + self.initramfs.len() - kernel) >> 20,
                there: (end - kernel).max(self.above()) >> 20,
            })),
        }
    }

    /// Bytes of memory above the monitor.
    fn above(&self) -> usize {
        self.memory.saturating_sub(GUEST_RAM.bytes)
    }

    /// That memory.
    fn region_above(&self) -> Region {
        Region::new(MONITOR_RAM.end(), self.above())
    }

    /// Bytes of all of the machine's memory.
    fn bytes(&self) -> usize {
        MONITOR_RAM.end() - GUEST_RAM.base + self.above()
    }

    fn memory_regions(&self) -> Vec<Region> {
        let below = Region::new(GUEST_RAM.base, self.memory.min(GUEST_RAM.bytes));
        let regions = [below, self.region_above()].into_iter();
        regions.filter(|region| region.bytes != 0).collect()
    }

    fn command_line(&self) -> String {
        // Addresses in what the model says are then those of the kernel's symbols.
        let always = "console=ttyAMA0 nokaslr panic=-1";
        match self.verbose {
            true => format!("{always} earlycon loglevel=8"),
            false => format!("{always} quiet loglevel=3"),
        }
    }

    /// The words that are the same for the machine that runs and the one that only tells its tree.
    fn base(&self) -> Command {
        let mut command = Command::new(Tool::Qemu.program());
        command.args(["-cpu", CPU, "-smp", &self.cpus.to_string()]);
        command.args(["-m", &format!("{}M", self.bytes() >> 20)]);
        command.args(["-display", "none", "-nodefaults", "-no-reboot"]);
        command
    }

    /// QEMU's own tree for the machine.
    fn tree_of_qemu(&self) -> Result<Vec<u8>, Failure> {
        let path = self.folder.join("qemu.dtb");
        let machine = format!("{MACHINE},dumpdtb={}", doubled(&path));
        let output = self.base().args(["-M", &machine]).output();
        let output = output.map_err(|cause| Failure::missing(MachineError::Qemu(cause)))?;
        std::fs::read(&path).map_err(|_| {
            let output = String::from_utf8_lossy(&output.stderr).into_owned();
            Failure::missing(MachineError::NoTree { output })
        })
    }

    fn command(&self, places: &Places, tree: &Path, initramfs: &Path, said: &Path) -> Command {
        let mut command = self.base();
        // Ctrl-C goes to the shell of a person who types there, and ends anything else.
        let console = match self.interactive {
            true => "mon:stdio",
            false => "stdio",
        };
        command.args(["-serial", console]);
        let said = doubled(said);
        command.args(["-chardev", &format!("file,id=monitor,path={said}")]);
        let words = [
            "enable=on,target=native,chardev=monitor,arg=eitri".to_owned(),
            "arg=system=yes".to_owned(),
            format!("arg=limit-ms={}", NO_LIMIT.as_millis()),
            format!("arg=gpu={}", boot::doubled(&self.gpu.to_string())),
            format!("arg=device-tree={:x}", places.tree),
            format!("arg=memory-above-mib={}", self.above() >> 20),
        ];
        let mut words = words.join(",");
        if self.model == ModelPlace::Host {
            words.push_str(",arg=model=host");
        }
        if self.gpu_time {
            words.push_str(",arg=gpu-time=yes");
        }
        command.args(["-semihosting-config", &words]);
        command.arg("-kernel").arg(self.monitor);
        let parts = [
            (self.kernel, places.kernel),
            (tree, places.tree),
            (initramfs, places.initramfs.base),
        ];
        for (path, address) in parts {
            let path = doubled(path);
            let part = format!("loader,file={path},addr={address:#x},force-raw=on");
            command.args(["-device", &part]);
        }
        if let Some(share) = self.share {
            let path = doubled(share);
            let folder = format!("local,id=share,path={path},security_model=none,multidevs=remap");
            command.args(["-fsdev", &folder]);
            command.args(["-device", "virtio-9p-device,fsdev=share,mount_tag=share"]);
        }
        if let Some(disk) = self.disk {
            // What the guest writes is gone when it ends: every run finds the same disk.
            let drive = format!(
                "file={},format=raw,if=none,id=disk,snapshot=on",
                doubled(disk)
            );
            command.args(["-drive", &drive, "-device", "virtio-blk-device,drive=disk"]);
        }
        if let Some(screen) = self.guest_screen() {
            screen.add(&mut command);
        }
        command.stdin(match std::io::stdin().is_terminal() || !self.interactive {
            true => Stdio::inherit(),
            false => Stdio::null(),
        });
        command
    }

    fn guest_screen(&self) -> Option<GuestScreen<'_>> {
        self.screen.map(|file| GuestScreen::new(file, self.folder))
    }

    /// Waits for the end, and hands on what the model says of the driver meanwhile.
    fn watch(&self, mut child: Child, said: &Path) -> Result<Status, Failure> {
        let _listed = process::Listed::of(&child);
        let deadline = self.limit.map(|limit| (limit, Instant::now() + limit));
        let mut words = Words::follow(said)?;
        let mut screen = self.guest_screen();
        loop {
            let ended = child.try_wait();
            words.hand_on(self.verbose);
            // A guest with a screen does not end by itself: QEMU has to be asked for the picture first.
            if words.status.is_some()
                && let Some(screen) = screen.take()
            {
                let kept = screen.keep();
                if kept.is_err() {
                    end(&mut child);
                }
                kept?;
            }
            match ended {
                Ok(None) => {}
                Ok(Some(how)) => return status(&words, how),
                Err(cause) => return Err(Failure::missing(MachineError::Qemu(cause))),
            }
            if let Some((limit, _)) = deadline.filter(|(_, at)| Instant::now() >= *at) {
                // If there is no picture either, the limit is the better reason.
                let _ = screen.take().map(|screen| screen.keep());
                end(&mut child);
                return Err(Failure::check(MachineError::TimedOut { limit }));
            }
            std::thread::sleep(POLL);
        }
    }
}

fn start(command: &mut Command) -> Result<Child, Failure> {
    let child = command.spawn();
    child.map_err(|cause| Failure::missing(MachineError::Qemu(cause)))
}

/// Ends QEMU. If it can't be killed it has ended.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

const MACHINE: &str = "virt,gic-version=3,virtualization=on";

fn status(words: &Words, how: ExitStatus) -> Result<Status, Failure> {
    match words.status {
        Some(0) => Ok(Status::Good),
        Some(status) => Ok(Status::OfGuest(status)),
        None => Err(Failure::refused(MachineError::NoStatus {
            how: format!("QEMU: {how}"),
        })),
    }
}

/// What the monitor says, line by line as it comes.
struct Words {
    tail: Tail,
    /// The exit status that the guest told.
    status: Option<u8>,
}

impl Words {
    fn follow(path: &Path) -> Result<Words, Failure> {
        let tail = Tail::of(path)?;
        Ok(Words { tail, status: None })
    }

    /// Says what has come since the last call: what the model has to say of the driver, with `all` everything.
    fn hand_on(&mut self, all: bool) {
        for line in self.tail.lines() {
            self.hear(line.strip_prefix("monitor: ").unwrap_or(&line), all);
        }
    }

    fn hear(&mut self, line: &str, all: bool) {
        if let Some(status) = exit_status(line) {
            self.status = Some(status);
        } else if all || !line.starts_with("GPU of ") {
            talk!("{line}");
        }
    }
}

/// The status in the monitor's last line, as a parent process would see it.
fn exit_status(line: &str) -> Option<u8> {
    let status: u32 = line.strip_prefix("exit status ")?.parse().ok()?;
    Some(status as u8)
}

/// How much memory the kernel takes, by its header.
fn kernel_bytes(path: &Path) -> Result<usize, Failure> {
    /// Where the header of an arm64 `Image` has its size and its mark.
    const SIZE: usize = 16;
    const MARK: usize = 56;
    let image = std::fs::read(path).map_err(|cause| Failure::unreadable(path, cause))?;
    let word = image
        .get(SIZE..SIZE + 8)
        .and_then(|bytes| bytes.try_into().ok());
    let size = word
        .map(u64::from_le_bytes)
        .and_then(|size| usize::try_from(size).ok());
    match size {
        Some(size) if image.get(MARK..MARK + 4) == Some(b"ARM\x64") => Ok(size.max(image.len())),
        _ => Err(Failure::refused(MachineError::NotAKernel {
            path: path.display().to_string(),
        })),
    }
}

/// The kernel in a package's folder, by its name there: it is in `boot`, or beside its modules.
pub(crate) fn kernel_in(package: &Path) -> Option<PathBuf> {
    let beside_modules = ["usr/lib/modules", "lib/modules"].map(|folder| package.join(folder));
    let beside_modules = beside_modules.iter().flat_map(entries);
    let mut folders = vec![package.join("boot")];
    folders.extend(beside_modules);
    folders.iter().flat_map(entries).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("vmlinuz") && path.is_file()
    })
}

/// What is in a folder; nothing if it can't be read.
fn entries(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// A path inside of one of QEMU's options.
fn doubled(path: &Path) -> String {
    boot::doubled(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guests_status_is_what_a_parent_sees() {
        assert_eq!(exit_status("exit status 3"), Some(3));
        assert_eq!(exit_status("exit status 256"), Some(0));
        assert_eq!(exit_status("diagnosis: exit status 3"), None);
    }
}
