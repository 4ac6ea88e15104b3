//! Packages: fetched for arm64 with a source list and a package state of their own, and unpacked; the machine's own packages are
//! neither asked nor touched.
//!
//! What was fetched once is used again without a network, until a person asks for newer.

use crate::outcome::Failure;
use crate::output::whole_file;
use crate::workspace::Workspace;
use eitri_launch::process::{End, run_logged};
use eitri_launch::progress;
use miette::Diagnostic;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use thiserror::Error;

/// Longest that fetching may take: a hundred megabytes over a slow line.
const FETCH_LIMIT: Duration = Duration::from_secs(30 * 60);
/// The package whose one dependency is the suite's kernel.
const KERNEL: &str = "linux-image-arm64";
/// What the names of a kernel's parts begin with.
const PARTS: &[&str] = &["linux-binary-", "linux-modules-"];
/// What else is used of the suite; what these need comes along.
const PACKAGES: &[&str] = &[
    "busybox-static",
    "firmware-misc-nonfree",
    // What programs for the guest are linked to.
    "libc6-dev",
    "mesa-vulkan-drivers",
    "vulkan-tools",
];
/// Written last, with the packages' names: what is in the folder is whole, and all that is wanted now.
const STAMP: &str = "complete";

/// Why packages can't be had.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum DebianError {
    #[error("`{program}` is not on this machine")]
    #[diagnostic(help(
        "Linux and its drivers come from Debian's packages: this needs a Debian, or `apt` and `dpkg` from elsewhere"
    ))]
    NoTool { program: &'static str },
    #[error("`{command}` failed\n{output}")]
    #[diagnostic(help(
        "without a network, use a machine that has one and copy `target/linux`; `--mirror` names another server"
    ))]
    Command { command: String, output: String },
    #[error("the suite {suite} has no {KERNEL}")]
    NoKernel { suite: String },
    #[error("{path}: can't be unpacked\n{output}")]
    NotAPackage { path: String, output: String },
    #[error("the suite {suite} has no package {name}")]
    #[diagnostic(help(
        "`--renew` asks the server for the newest list; packages.debian.org has all names"
    ))]
    NoPackage { suite: String, name: String },
    #[error("the packages can't be in one system\n{output}")]
    Conflict { output: String },
}

/// The packages of a suite of Debian, unpacked.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    /// Everything but the kernel.
    pub(crate) root: PathBuf,
    /// The kernel and its modules.
    pub(crate) kernel: PathBuf,
}

/// What to fetch from where.
pub(crate) struct Source<'a> {
    /// `trixie`, `sid`…
    pub(crate) suite: &'a str,
    /// The server.
    pub(crate) mirror: &'a str,
    /// Ask the server even if all is there.
    pub(crate) renew: bool,
}

impl Suite {
    /// The packages, fetched if they are not there yet.
    pub(crate) fn get(workspace: &Workspace, source: &Source<'_>) -> Result<Suite, Failure> {
        let folder = folder(workspace).join(source.suite);
        let suite = Suite {
            root: folder.join("root"),
            kernel: folder.join("kernel"),
        };
        let there = std::fs::read_to_string(folder.join(STAMP));
        if source.renew || there.ok() != Some(PACKAGES.join("\n")) {
            let step = progress::start(&format!("fetching Debian's packages of {}", source.suite));
            let fetched = suite.fetch(&folder, source);
            step.finish(fetched.is_ok());
            fetched?;
        }
        Ok(suite)
    }

    /// Further packages with all that they depend on, unpacked into a folder; fetched if they are not there yet. `None` if none is
    /// wanted.
    pub(crate) fn extra(
        &self,
        workspace: &Workspace,
        source: &Source<'_>,
        names: &[String],
    ) -> Result<Option<PathBuf>, Failure> {
        if names.is_empty() {
            return Ok(None);
        }
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let stamp = names.join("\n");
        let suite = folder(workspace).join(source.suite);
        let folder = suite.join(format!("extra-{:08x}", crc32fast::hash(stamp.as_bytes())));
        let root = folder.join("root");
        let there = std::fs::read_to_string(folder.join(STAMP));
        if !source.renew && there.is_ok_and(|there| there == stamp) {
            return Ok(Some(root));
        }
        check_tools()?;
        let _ = std::fs::remove_file(folder.join(STAMP));
        let apt = Apt::new(&suite, source)?;
        if let Some(name) = names.iter().find(|name| !apt.has(name)) {
            return Err(Failure::refused(DebianError::NoPackage {
                suite: source.suite.to_owned(),
                name: (*name).to_owned(),
            }));
        }
        let step = progress::start(&format!("fetching {}", names.join(", ")));
        let fetched = apt.fetch_with_dependencies(&suite, &names).or_else(|_| {
            // The server may have newer packages than the list, and these no longer.
            apt.run("apt-get", &["update", "-q"])?;
            apt.fetch_with_dependencies(&suite, &names)
        });
        step.finish(fetched.is_ok());
        unpack(&fetched?, &root, &folder)?;
        whole_file::put(&folder.join(STAMP), stamp.as_bytes())?;
        Ok(Some(root))
    }

    fn fetch(&self, folder: &Path, source: &Source<'_>) -> Result<(), Failure> {
        check_tools()?;
        let made =
            |made: std::io::Result<()>| made.map_err(|cause| Failure::unwritable(folder, cause));
        for made_here in ["apt/lists/partial", "apt/archives/partial"] {
            made(std::fs::create_dir_all(folder.join(made_here)))?;
        }
        // What is being replaced is not whole.
        let _ = std::fs::remove_file(folder.join(STAMP));
        let apt = Apt::new(folder, source)?;
        apt.run("apt-get", &["update", "-q"])?;
        let kernel = apt.kernel_packages(source.suite)?;
        let archives = folder.join("apt/archives");
        // Packages of another day would be unpacked with these.
        for old in packages_in(&archives) {
            let _ = std::fs::remove_file(old);
        }
        let mut install = vec!["install", "-q", "-y", "--download-only"];
        install.extend(PACKAGES);
        apt.run("apt-get", &install)?;
        unpack(&packages_in(&archives), &self.root, folder)?;
        let of_kernel = folder.join("apt/kernel");
        let _ = std::fs::remove_dir_all(&of_kernel);
        made(std::fs::create_dir_all(&of_kernel))?;
        let mut download = vec!["download", "-q"];
        download.extend(kernel.iter().map(String::as_str));
        apt.run_in(&of_kernel, "apt-get", &download)?;
        unpack(&packages_in(&of_kernel), &self.kernel, folder)?;
        whole_file::put(&folder.join(STAMP), PACKAGES.join("\n").as_bytes())
    }
}

fn check_tools() -> Result<(), Failure> {
    let tools = ["apt-get", "apt-cache", "dpkg-deb"];
    let missing = tools
        .into_iter()
        .find(|tool| !eitri_launch::tools::in_path(tool));
    missing.map_or(Ok(()), |program| {
        Err(Failure::missing(DebianError::NoTool { program }))
    })
}

/// Packages of a kernel that a person names, unpacked.
pub(crate) fn unpack_kernel(
    workspace: &Workspace,
    packages: &[PathBuf],
) -> Result<PathBuf, Failure> {
    let folder = folder(workspace).join("given");
    let to = folder.join("kernel");
    for package in packages {
        std::fs::File::open(package).map_err(|cause| Failure::unreadable(package, cause))?;
    }
    unpack(packages, &to, &folder)?;
    Ok(to)
}

/// Where packages are kept.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_folder().join("linux")
}

/// `apt` with a state of its own.
struct Apt {
    configuration: PathBuf,
    log: PathBuf,
}

impl Apt {
    fn new(folder: &Path, source: &Source<'_>) -> Result<Apt, Failure> {
        let state = folder.join("apt");
        let configuration = state.join("apt.conf");
        let sources = format!(
            "deb [arch=arm64] {} {} main contrib non-free-firmware\n",
            source.mirror, source.suite
        );
        whole_file::put(&state.join("sources.list"), sources.as_bytes())?;
        // Nothing is installed: what is needed comes along, whatever this machine has.
        whole_file::put(&state.join("status"), b"")?;
        let state = state.display();
        let text = format!(
            r#"Dir::State "{state}";
Dir::State::lists "{state}/lists";
Dir::State::status "{state}/status";
Dir::Cache "{state}";
Dir::Cache::archives "{state}/archives";
Dir::Etc::SourceList "{state}/sources.list";
Dir::Etc::SourceParts "-";
APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Debug::NoLocking "true";
"#
        );
        whole_file::put(&configuration, text.as_bytes())?;
        let log = folder.join("apt.log");
        Ok(Apt { configuration, log })
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command.arg("-c").arg(&self.configuration).args(arguments);
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, Failure> {
        run(&mut self.command(program, arguments), &self.log)
    }

    fn run_in(&self, folder: &Path, program: &str, arguments: &[&str]) -> Result<String, Failure> {
        run(
            self.command(program, arguments).current_dir(folder),
            &self.log,
        )
    }

    /// Tells whether the package list of the suite has this name.
    fn has(&self, name: &str) -> bool {
        self.run("apt-cache", &["show", name]).is_ok()
    }

    /// The files of packages and of all that they depend on. What the suite has fetched already is not fetched again.
    fn fetch_with_dependencies(
        &self,
        suite: &Path,
        names: &[&str],
    ) -> Result<Vec<PathBuf>, Failure> {
        let simulate = [&["install", "-q", "-s"], names].concat();
        let simulated = run_logged(
            &mut self.command("apt-get", &simulate),
            &self.log,
            FETCH_LIMIT,
        )?;
        let output = simulated.output();
        if !matches!(simulated.end, End::Exited(status) if status.success()) {
            return Err(Failure::refused(DebianError::Conflict { output }));
        }
        let archives = suite.join("apt/extra");
        let partial = archives.join("partial");
        std::fs::create_dir_all(&partial).map_err(|cause| Failure::unwritable(&partial, cause))?;
        for file in packages_in(&suite.join("apt/archives")) {
            if let Some(name) = file.file_name() {
                // A package that can't be hard-linked from the cache is fetched.
                let _ = std::fs::hard_link(&file, archives.join(name));
            }
        }
        let option = format!("Dir::Cache::archives={}", archives.display());
        let download = ["install", "-q", "-y", "--download-only", "-o", &option];
        self.run("apt-get", &[&download, names].concat())?;
        Ok(installed_files(&output)
            .map(|name| archives.join(name))
            .collect())
    }

    /// The names of the packages that hold the suite's kernel: one, or since Linux 7 one that names those of its parts.
    fn kernel_packages(&self, suite: &str) -> Result<Vec<String>, Failure> {
        let depends = |name: &str| self.run("apt-cache", &["depends", "--important", name]);
        let Some(image) = dependency(&depends(KERNEL)?, "linux-image-") else {
            let suite = suite.to_owned();
            return Err(Failure::missing(DebianError::NoKernel { suite }));
        };
        let told = depends(&image)?;
        let parts = PARTS.iter().filter_map(|part| dependency(&told, part));
        let mut packages: Vec<String> = parts.collect();
        packages.push(image);
        Ok(packages)
    }
}

/// The package whose name begins so among what `apt-cache depends` lists.
fn dependency(told: &str, beginning: &str) -> Option<String> {
    told.lines().find_map(|line| {
        let name = line.trim().strip_prefix("Depends: ")?;
        name.starts_with(beginning).then(|| name.to_owned())
    })
}

/// The names of the package files that `apt-get install -s` would install: of `Inst NAME (VERSION ORIGIN [ARCHITECTURE])`.
fn installed_files(told: &str) -> impl Iterator<Item = String> {
    told.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
        let (about, _) = rest.split_once('(')?.1.split_once(')')?;
        let (version, rest) = about.split_once(' ')?;
        let (_, architecture) = rest.rsplit_once('[')?;
        let architecture = architecture.strip_suffix(']')?;
        // As `apt-get` names files: an epoch's colon is escaped.
        let version = version.replace(':', "%3a");
        Some(format!("{name}_{version}_{architecture}.deb"))
    })
}

fn run(command: &mut Command, log: &Path) -> Result<String, Failure> {
    let finished = run_logged(command, log, FETCH_LIMIT)?;
    match finished.end {
        End::Exited(status) if status.success() => Ok(finished.output()),
        _ => Err(Failure::missing(DebianError::Command {
            command: format!("{command:?}").replace('"', ""),
            output: finished.output(),
        })),
    }
}

/// The packages in a folder.
fn packages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut packages: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .collect();
    packages.sort();
    packages
}

/// Unpacks packages into a folder, which holds nothing else afterwards.
fn unpack(packages: &[PathBuf], to: &Path, logs: &Path) -> Result<(), Failure> {
    let fresh = to.with_extension("new");
    let _ = std::fs::remove_dir_all(&fresh);
    std::fs::create_dir_all(&fresh).map_err(|cause| Failure::unwritable(&fresh, cause))?;
    for package in packages {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(package).arg(&fresh);
        let finished = run_logged(&mut unpack, &logs.join("dpkg.log"), FETCH_LIMIT)?;
        if !matches!(finished.end, End::Exited(status) if status.success()) {
            return Err(Failure::refused(DebianError::NotAPackage {
                path: package.display().to_string(),
                output: finished.output(),
            }));
        }
    }
    let _ = std::fs::remove_dir_all(to);
    std::fs::rename(&fresh, to).map_err(|cause| Failure::unwritable(to, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_what_its_package_depends_on() {
        let told =
            "linux-image-arm64\n  Depends: linux-base-arm64\n  Depends: linux-image-7.2.1-arm64\n";
        let kernel = dependency(told, "linux-image-");
        assert_eq!(kernel.as_deref(), Some("linux-image-7.2.1-arm64"));
        assert_eq!(dependency(told, "linux-binary-"), None);
    }

    #[test]
    fn files_are_named_as_apt_names_them() {
        let told = "Reading package lists...\n\
            Inst libgcc-s1 (14.2.0-19 Debian:13.1/stable [arm64]) []\n\
            Inst vim-common (2:9.1.1230-2 Debian:13.1/stable [all])\n\
            Conf libgcc-s1 (14.2.0-19 Debian:13.1/stable [arm64])\n";
        let files: Vec<String> = installed_files(told).collect();
        let wanted = [
            "libgcc-s1_14.2.0-19_arm64.deb",
            "vim-common_2%3a9.1.1230-2_all.deb",
        ];
        assert_eq!(files, wanted);
    }
}
