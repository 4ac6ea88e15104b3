//! What `eitri image --lab` writes is taken by the labs' own tools: labgrid reads the environments and imports the strategy, and
//! LAVA's schemas hold for jobs, device types and device dictionaries.
//!
//! Both are fetched into the target folder: labgrid by pip, LAVA's schemas and templates out of Debian's packages.

use super::own_command::{named_eitri, this_command};
use super::{Case, make_folder};
use crate::images::boot_file::Format;
use crate::images::lab_files::{self, LabKind};
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::process::run_logged;
use crate::workspace::Workspace;
use eitri_boards::{DeviceType, Target};
use eitri_launch::tools::Tool;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What pip installs: labgrid, and what LAVA's schemas are written with.
const PACKAGES: &[&str] = &[
    "labgrid==26.0.1",
    "pytest",
    "voluptuous",
    "jinja2",
    "pyyaml",
];
/// The schemas, and the templates of device types.
const DEBIAN: &[&str] = &["lava-common", "lava-server"];
const SCHEMAS: &str = "usr/lib/python3/dist-packages";
const CHECKER: &str = "usr/share/lava-common/lava-schema.py";
const TEMPLATES: &str = "usr/share/lava-server/device-types";
/// Longest that one step may take.
const LIMIT: Duration = Duration::from_secs(600);
/// The checker that reads labgrid's files.
const LABGRID: &str = include_str!("labgrid.py");
/// What stands for a board when labgrid's tests are run.
const CONFTEST: &str = include_str!("labgrid_conftest.py");

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/labs");
    let (python, lava) = (folder.join("python"), folder.join("lava"));
    let files = folder.join("files");
    make_folder(&files)?;
    make_folder(&lava)?;
    let tools = Tools {
        python: python.join("bin/python"),
        lava,
        folder,
    };
    if let Some(case) = tools.fetch(&python)? {
        return Ok(vec![case]);
    }
    let mut cases = Vec::new();
    let mut environments = Vec::new();
    let mut jobs = Vec::new();
    let mut devices = Vec::new();
    for board in Target::all() {
        let image = format!("eitri-{}.{}", board.name(), Format::of(board).extension());
        whole_file::put(&files.join(&image), b"an image")?;
        for kind in [LabKind::Labgrid, LabKind::Lava] {
            for file in lab_files::files(kind, board, &image) {
                let path = files.join(&file.name);
                whole_file::put(&path, file.text.as_bytes())?;
                match file.name.as_str() {
                    name if name.ends_with(".labgrid.yaml") => environments.push(path),
                    name if name.ends_with(".lava.yaml") => jobs.push(path),
                    name if name.ends_with(".lava.jinja2") => devices.push(path),
                    _ => {}
                }
            }
        }
        // A device type that LAVA has got since this release of Debian's.
        if let Some(DeviceType::Shipped(name)) = board.lab().map(|lab| lab.lava) {
            let name = format!("{name}.jinja2");
            if !tools.lava.join(TEMPLATES).join(&name).exists() {
                let base = b"{% extends 'base-uboot.jinja2' %}\n";
                whole_file::put(&files.join(name), base)?;
            }
        }
    }
    let script = files.join("labgrid_check.py");
    whole_file::put(&script, LABGRID.as_bytes())?;
    for path in &environments {
        let mut command = Command::new(&tools.python);
        command.arg(&script).arg(path).current_dir(&files);
        // The name of a place in the lab, which whoever runs it gives.
        command.env("LG_PLACE", "a-board");
        cases.push(tools.case("labgrid takes", path, &mut command)?);
    }
    cases.extend(tools.pytest(&files)?);
    for path in &jobs {
        let mut command = tools.schema("job");
        command.arg("--strict").arg(path);
        cases.push(tools.case("LAVA takes", path, &mut command)?);
    }
    for path in &devices {
        let mut command = tools.schema("device");
        command.arg("--path").arg(&files);
        command
            .arg("--path")
            .arg(tools.lava.join(TEMPLATES))
            .arg(path);
        cases.push(tools.case("LAVA takes", path, &mut command)?);
    }
    Ok(cases)
}

/// The labs' own tools.
struct Tools {
    python: PathBuf,
    lava: PathBuf,
    folder: PathBuf,
}

impl Tools {
    /// Fetches what is not there yet. Gives what could not be had.
    fn fetch(&self, python: &Path) -> Result<Option<Case>, Failure> {
        let mut steps = Vec::new();
        if !python.join("lib").exists() || !self.is_installed()? {
            let mut make = Command::new(Tool::Python.program());
            make.args(["-m", "venv"]).arg(python);
            let mut install = Command::new(&self.python);
            install
                .args(["-m", "pip", "install", "--quiet"])
                .args(PACKAGES);
            steps.extend([make, install]);
        }
        if !self.lava.join(CHECKER).exists() {
            let mut download = Command::new("apt-get");
            download
                .arg("download")
                .args(DEBIAN)
                .current_dir(&self.lava);
            let mut unpack = Command::new("sh");
            unpack.args([
                "-c",
                "for package in *.deb; do dpkg-deb -x \"$package\" . || exit 1; done",
            ]);
            unpack.current_dir(&self.lava);
            steps.extend([download, unpack]);
        }
        for mut step in steps {
            let finished = run_logged(&mut step, &self.folder.join("fetch.log"), LIMIT)?;
            if !finished.end.good() {
                let command = format!("{step:?}").replace('"', "");
                let why = format!("{command}: {}", finished.output().trim());
                return Ok(Some(Case::skipped("the labs' own tools", why)));
            }
        }
        Ok(None)
    }

    fn is_installed(&self) -> Result<bool, Failure> {
        let mut import = Command::new(&self.python);
        import.args(["-c", "import labgrid, pytest, voluptuous, jinja2, yaml"]);
        if !self.python.exists() {
            return Ok(false);
        }
        let finished = run_logged(&mut import, &self.folder.join("import.log"), LIMIT)?;
        Ok(finished.end.good())
    }

    /// labgrid's tests, run on what the suite says on the model: each is a case, and a failed one is the one that failed.
    fn pytest(&self, files: &Path) -> Result<Vec<Case>, Failure> {
        let eitri = this_command()?;
        whole_file::put(&files.join("conftest.py"), CONFTEST.as_bytes())?;
        let log = files.join("console.log");
        let mut validate = Command::new(&eitri);
        validate.args(["validate", "--only", "power.", "--console", "lava"]);
        let said = run_logged(&mut validate, &log, LIMIT)?.output();
        let said = said.replace('\n', "\r\n");
        // The tests find the command by its name.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folder = named_eitri(&self.folder)?;
        let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders);
        let path = path.unwrap_or_default();
        let run = |log_text: &str, name: &str| {
            whole_file::put(&log, log_text.as_bytes())?;
            let mut command = Command::new(&self.python);
            // Its plugin wants an environment, whose board is not used.
            let environment = ["--lg-env", "eitri-qemu-virt.labgrid.yaml"];
            command
                .args(["-m", "pytest", "-q", "-rf"])
                .args(environment);
            command.arg("test_eitri.py").env("LG_PLACE", "a-board");
            command.current_dir(files).env("PATH", &path);
            command
                .env("EITRI_LOG", &log)
                .env("EITRI_RESULTS", files.join(name));
            let log = self.folder.join(format!("{name}.log"));
            Ok::<_, Failure>(run_logged(&mut command, &log, LIMIT)?)
        };
        let good = run(&said, "pytest-good")?;
        let judged = |output: String, good: bool, part: &str| {
            (!good || !output.contains(part)).then(|| format!("no `{part}`\n{output}"))
        };
        let failed = said.replace("@R power.l2 pass", "@R power.l2 fail");
        let bad = run(&failed, "pytest-bad")?;
        Ok(vec![
            Case::ran(
                "labgrid's tests pass where the suite's do",
                judged(good.output(), good.end.good(), " passed"),
            ),
            Case::ran(
                "labgrid's test of a test that failed fails",
                judged(
                    bad.output(),
                    !bad.end.good(),
                    "FAILED test_eitri.py::test_validation[power.l2]",
                ),
            ),
        ])
    }

    /// LAVA's checker of one kind of file.
    fn schema(&self, kind: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.env("PYTHONPATH", self.lava.join(SCHEMAS));
        command.arg(self.lava.join(CHECKER)).arg(kind);
        command
    }

    fn case(&self, what: &str, path: &Path, command: &mut Command) -> Result<Case, Failure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let finished = run_logged(command, &self.folder.join("check.log"), LIMIT)?;
        Ok(Case::ran(
            format!("{what} {name}"),
            (!finished.end.good()).then(|| finished.output()),
        ))
    }
}
