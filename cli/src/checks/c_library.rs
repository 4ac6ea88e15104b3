//! The driver for C: the example builds by the steps of its page, computes and draws in QEMU; so does a program that calls what the example
//! does not; and the library builds without drawing.

use super::Case;
use super::own_command::this_command;
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::process::{self, Finished};
use crate::workspace::{BARE_METAL_TARGET, Workspace};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Longest that one step may take, builds included.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// The example's files, without its program.
const FILES: &[&str] = &[
    "build.sh",
    "double.wgsl",
    "link.ld",
    "start.S",
    "triangle.frag",
    "triangle.vert",
];

/// What the example prints: numbers from a shader, the picture of a triangle, and an error's text.
const PRINTED: &str = "\
Mali-G610
doubled: 0 2 4 6 8 10 12 14 ...
triangle: 496 pixels magenta, 528 green
#...............
###.............
#####...........
#######.........
#########.......
###########.....
#############...
###############.
in parts: the same
refused: the address space was destroyed
";

/// The output of the program that calls the rest of the interface.
const CALLED: &str = "\
words and times: right
an imported buffer: right
events and dumps: right
semaphores: right
stencil and indirect draws: right
images: right
";

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let check = Check {
        workspace,
        folder: workspace.target_folder().join("eitri/c-library"),
        eitri: this_command()?,
    };
    let header = check.header()?;
    let parts = check.parts()?;
    let program = |main, printed| match &parts {
        Some(wrong) => Ok(Some(wrong.clone())),
        None => check.program(main, printed),
    };
    Ok(vec![
        Case::ran("eitri.h is what the source says", header),
        Case::ran(
            "examples/c computes and draws in QEMU",
            program("examples/c/main.c", PRINTED)?,
        ),
        Case::ran(
            "qemu-tests/c-program calls everything else in QEMU",
            program("qemu-tests/c-program/main.c", CALLED)?,
        ),
        Case::ran("the library builds without drawing", check.compute_only()?),
    ])
}

struct Check<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    /// The command.
    eitri: PathBuf,
}

impl Check<'_> {
    /// Runs a command; its output is kept.
    fn step(&self, command: &mut Command) -> Result<Finished, Failure> {
        let log = self.folder.join("step.log");
        Ok(process::run_logged(command, &log, LIMIT)?)
    }

    /// The tests of the header, a workspace of their own; gives what is wrong.
    fn header(&self) -> Result<Option<String>, Failure> {
        let manifest = self.workspace.root().join("gpu/driver/c-interface/header");
        let mut test = self.workspace.cargo(&["test", "--quiet"]);
        test.current_dir(manifest);
        test.env("CARGO_TARGET_DIR", self.folder.join("header-target"));
        let finished = self.step(&mut test)?;
        Ok((!finished.end.good()).then(|| finished.output()))
    }

    /// A copy of the example's folder.
    fn copy(&self) -> PathBuf {
        self.folder.join("example")
    }

    /// Copies a file of the workspace to the copy of the folder.
    fn put(&self, from: &str, name: &str) -> Result<(), Failure> {
        let from = self.workspace.root().join(from);
        let bytes = std::fs::read(&from).map_err(|cause| Failure::unreadable(&from, cause))?;
        whole_file::put(&self.copy().join(name), &bytes)
    }

    /// Does steps in their order; gives what is wrong with the first that fails.
    fn steps(&self, steps: Vec<Command>) -> Result<Option<String>, Failure> {
        for mut step in steps {
            let finished = self.step(&mut step)?;
            if !finished.end.good() {
                return Ok(Some(format!("{step:?}\n{}", finished.output())));
            }
        }
        Ok(None)
    }

    /// The steps of the example's README that come before its program, in a copy of its folder; gives what is wrong.
    fn parts(&self) -> Result<Option<String>, Failure> {
        for file in FILES {
            self.put(&format!("examples/c/{file}"), file)?;
        }
        let build = [
            "build",
            "--release",
            "--target",
            BARE_METAL_TARGET,
            "-p=eitri-c-library",
        ];
        let mut steps = vec![self.workspace.cargo(&build)];
        let arguments: [&[&str]; 3] = [
            &["compile", "double.wgsl", "-o", "double.program"],
            &[
                "compile",
                "triangle.vert",
                "--fragment",
                "triangle.frag",
                "-o",
                ".",
            ],
            &["firmware", "stub", "-o", "firmware.bin"],
        ];
        for arguments in arguments {
            let mut command = Command::new(&self.eitri);
            command.current_dir(self.copy()).args(arguments);
            steps.push(command);
        }
        self.steps(steps)
    }

    /// The steps of the example's README for a program, which takes the place of the example's; gives what is wrong.
    fn program(&self, main: &str, printed: &str) -> Result<Option<String>, Failure> {
        self.put(main, "main.c")?;
        let library = format!("{BARE_METAL_TARGET}/release/libeitri.a");
        let mut compiler = Command::new("sh");
        compiler
            .current_dir(self.copy())
            .arg("build.sh")
            .env("EITRI", self.workspace.root())
            .env(
                "EITRI_LIBRARY",
                self.workspace.target_folder().join(library),
            );
        if let Some(wrong) = self.steps(vec![compiler])? {
            return Ok(Some(wrong));
        }
        let mut boot = Command::new(&self.eitri);
        boot.current_dir(self.copy())
            .args(["boot", "--timeout", "60", "example.elf"]);
        let finished = self.step(&mut boot)?;
        let output = finished.output();
        let good = finished.end.good() && output.contains(printed);
        Ok((!good).then(|| format!("wanted\n{printed}found\n{output}")))
    }

    fn compute_only(&self) -> Result<Option<String>, Failure> {
        // With what the whole library has been built with. Of the driver, too, nothing of graphics is there.
        let mut check = self.workspace.cargo(&[
            "check",
            "--release",
            "--target",
            BARE_METAL_TARGET,
            "-p=eitri-c-interface",
            "--no-default-features",
            "--features=text",
        ]);
        let finished = self.step(&mut check)?;
        let good = finished.end.good() && !finished.output().contains("warning");
        Ok((!good).then(|| finished.output()))
    }
}
