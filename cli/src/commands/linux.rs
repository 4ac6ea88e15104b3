//! `eitri linux`: an unmodified Linux whose own drivers find a Mali.

use crate::images::image::Builder;
use crate::input::check_arguments::CheckArguments;
use crate::input::gpu_choice::GpuChoice;
use crate::input::model_place::{ModelArgument, ModelPlace};
use crate::linux::debian::{self, Source, Suite};
use crate::linux::machine::{self, Machine};
use crate::linux::{root, runner};
use crate::outcome::{Failure, Status};
use crate::output::whole_file;
use crate::workspace::Workspace;
use eitri_launch::progress;
use eitri_launch::tools::{self, Tool};
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kernel: a package of Debian's (`linux-image-….deb`) with its modules, or an `Image` that has all it needs inside.
    /// Where the kernel comes in several packages, each is given. The suite's own if nothing is said.
    #[arg(long, value_name = "DEB|IMAGE")]
    kernel: Vec<PathBuf>,
    /// The GPU that the model is, by its marketing name; `G610,drift` has the G610's erratum of very wide primitives.
    #[arg(long, value_name = "NAME", default_value_t)]
    gpu: GpuChoice,
    #[command(flatten)]
    model: ModelArgument,
    /// The GPU's firmware (`mali_csffw.bin`), in place of the packaged one.
    #[arg(long, value_name = "FILE")]
    firmware: Option<PathBuf>,
    /// A folder that is /share in the guest, and where the command starts.
    #[arg(long, value_name = "DIR")]
    share: Option<PathBuf>,
    /// Put `vulkan-runner` into the guest, which runs compute kernels (`vulkan-runner [--opt] CASE.json...`).
    #[arg(long)]
    vulkan_runner: bool,
    /// Debian's package whose programs the guest gets, with what it depends on; may be repeated.
    #[arg(long, value_name = "NAME")]
    package: Vec<String>,
    /// Record each piece of work that a group is given, with the memory that it reaches: a core dump each, FILE-0001 and so on,
    /// for `eitri dump`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write a core dump of the GPU, for `eitri dump`: of its first fault, before the driver answers it; else of the end, if the guest
    /// is stopped by `--limit` or ends without a status.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// Write what happens inside of the GPU as a timeline, which opens in ui.perfetto.dev and chrome://tracing.
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// A disk image with a root file system (ext4 or squashfs), in which the command runs; the image is not changed.
    #[arg(long, value_name = "IMAGE")]
    disk: Option<PathBuf>,
    /// Give the guest a screen (virtio-gpu without 3D) for a Wayland compositor or an X server, and write what it shows when COMMAND has
    /// ended: a PNG where FILE ends with .png, else a portable pixmap.
    #[arg(long, value_name = "FILE")]
    screen: Option<String>,
    /// The guest's clock waits while the GPU works, so that no time limit of a driver passes because the model is slow.
    #[arg(long)]
    gpu_time: bool,
    /// Print on stderr what the model executed, by shader program: instructions, messages, cycles.
    #[arg(long)]
    programs: bool,
    /// Write what the model executed, by shader program, to FILE as JSON.
    #[arg(long, value_name = "FILE", conflicts_with = "programs")]
    programs_file: Option<PathBuf>,
    /// MiB of memory that Linux has.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(256..=262_144))]
    memory: u32,
    /// CPUs that Linux has.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    cpus: u32,
    /// The suite of Debian's that kernel, firmware and Vulkan driver come from: trixie has Linux 6.12, sid the newest.
    #[arg(long, default_value = "trixie")]
    suite: String,
    /// The server that packages come from.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://deb.debian.org/debian"
    )]
    mirror: String,
    /// Ask the server for newer packages.
    #[arg(long)]
    renew: bool,
    /// End the guest, with status 1, if it has not ended after so many seconds.
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
    #[command(flatten)]
    check: CheckArguments,
    /// Show what the kernel says, and all that the monitor does.
    #[arg(long, short)]
    verbose: bool,
    /// What is run in the guest; a shell if nothing is said. Its exit status becomes ours.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Debug, Error, Diagnostic)]
enum LinuxError {
    #[error("`{suite}` is no suite's name")]
    #[diagnostic(help("such as trixie or sid"))]
    Suite { suite: String },
    #[error("{path}: a package without a kernel")]
    NoKernel { path: String },
    #[error("{path}: no folder")]
    NoFolder { path: String },
    #[error("`{option}` needs the model in this process")]
    #[diagnostic(help("leave out `--model guest`"))]
    ModelElsewhere { option: &'static str },
    #[error("`--gpu-time` is for one CPU")]
    #[diagnostic(help("leave out `--cpus`"))]
    OneCpu,
    #[error("`{name}` is no package's name")]
    #[diagnostic(help(
        "lower-case letters, digits, and `+`, `-`, `.` inside, such as vulkan-tools"
    ))]
    PackageName { name: String },
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    // Part of a path, and of a source list.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if args.suite.starts_with('.') || !args.suite.chars().all(plain) || args.suite.is_empty() {
        let suite = args.suite.clone();
        return Err(Failure::refused(LinuxError::Suite { suite }));
    }
    if let Some(share) = args.share.as_ref().filter(|share| !share.is_dir()) {
        let path = share.display().to_string();
        return Err(Failure::refused(LinuxError::NoFolder { path }));
    }
    if let Some(disk) = &args.disk {
        // QEMU would say the same later.
        std::fs::File::open(disk).map_err(|cause| Failure::unreadable(disk, cause))?;
    }
    let model = args.model.place().unwrap_or(ModelPlace::Host);
    let of_host = [
        ("--gpu-time", args.gpu_time),
        ("--record", args.record.is_some()),
        ("--dump", args.dump.is_some()),
        ("--trace", args.trace.is_some()),
        ("--programs", args.programs),
        ("--programs-file", args.programs_file.is_some()),
    ];
    let refused = of_host.into_iter().find(|(_, given)| *given);
    let refused = refused.or(args.check.asked().map(|option| (option, true)));
    if let Some((option, _)) = refused.filter(|_| model == ModelPlace::Guest) {
        return Err(Failure::refused(LinuxError::ModelElsewhere { option }));
    }
    if args.gpu_time && args.cpus != 1 {
        return Err(Failure::refused(LinuxError::OneCpu));
    }
    if let Some(name) = args.package.iter().find(|name| !is_package_name(name)) {
        let name = name.clone();
        return Err(Failure::refused(LinuxError::PackageName { name }));
    }
    let firmware = args.firmware.as_deref().map(read).transpose()?;
    let workspace = Workspace::find()?;
    tools::ensure(&workspace, Tool::OF_QEMU)?;
    let source = Source {
        suite: &args.suite,
        mirror: &args.mirror,
        renew: args.renew,
    };
    let suite = Suite::get(&workspace, &source)?;
    let extra = suite.extra(&workspace, &source, &args.package)?;
    let (kernel, modules) = kernel(args, &workspace, &suite)?;
    let runner = match args.vulkan_runner {
        true => Some(runner::build(&workspace, &suite)?),
        false => None,
    };
    let step = progress::start("building the monitor");
    let monitor = Builder::new()?.build("eitri-monitor", "eitri-monitor");
    step.finish(monitor.is_ok());
    let initramfs = root::archive(&root::Wanted {
        packages: &suite.root,
        kernel: modules.as_deref(),
        firmware: firmware.as_deref(),
        gpu: args.gpu.id(),
        command: &args.command,
        runner: runner.as_deref(),
        extra: extra.as_deref(),
        share: args.share.is_some(),
        disk: args.disk.is_some(),
        screen: args.screen.is_some(),
    })?;
    let folder =
        tempfile::tempdir().map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
    let monitor_file = folder.path().join("monitor.elf");
    whole_file::put(&monitor_file, &monitor?.elf)?;
    Machine {
        monitor: &monitor_file,
        kernel: &kernel,
        initramfs: &initramfs,
        memory: (args.memory as usize) << 20,
        cpus: args.cpus,
        gpu: args.gpu,
        model,
        share: args.share.as_deref(),
        record: args.record.as_deref(),
        gpu_time: args.gpu_time,
        programs: args.programs,
        programs_file: args.programs_file.as_deref(),
        check: &args.check,
        verbose: args.verbose,
        interactive: args.command.is_empty(),
        trace: args.trace.as_deref(),
        dump: args.dump.as_deref(),
        disk: args.disk.as_deref(),
        screen: args.screen.as_deref(),
        limit: args.limit.map(Duration::from_secs),
        folder: folder.path(),
    }
    .run()
}

/// Checks that a text is a valid name of a Debian package: anything else could be read by `apt-get` as an option.
fn is_package_name(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    // `apt-get` takes these as "and install it" and "but remove it".
    let suffixed = name.ends_with(['+', '-']) && !name.ends_with("++");
    first && name.len() >= 2 && name.chars().all(plain) && !suffixed
}

/// The kernel, and the folder with its modules.
fn kernel(
    args: &Args,
    workspace: &Workspace,
    suite: &Suite,
) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let is_package = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "deb");
    let package = match args.kernel.as_slice() {
        [] => suite.kernel.clone(),
        [image] if !is_package(image) => return Ok((image.clone(), None)),
        packages => debian::unpack_kernel(workspace, packages)?,
    };
    match machine::kernel_in(&package) {
        Some(kernel) => Ok((kernel, Some(package))),
        None => Err(Failure::refused(LinuxError::NoKernel {
            path: args
                .kernel
                .first()
                .unwrap_or(&package)
                .display()
                .to_string(),
        })),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|cause| Failure::unreadable(path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_names_and_no_options() {
        for name in [
            "clinfo",
            "libstdc++6",
            "g++",
            "libvulkan1",
            "0ad",
            "vulkan-tools",
        ] {
            assert!(is_package_name(name), "{name}");
        }
        for name in [
            "", "a", "-y", "--purge", "vim-", "vim+", "a/b", "Vim", "a b", "vim=1", "../x",
        ] {
            assert!(!is_package_name(name), "{name:?}");
        }
    }
}
