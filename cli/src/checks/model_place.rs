//! `--model host|guest`: what a machine in QEMU gives is the same wherever its model runs, and neither outlives the other.

use super::Case;
use super::boot::{STATUS, elf_of, wrong};
use super::own_command::this_command;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use crate::process::{self, Finished};
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest that one step may take, builds included.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// Longest that what is interrupted may take to end.
const ENDING: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
/// The status of a command that SIGINT has ended.
const INTERRUPTED: i32 = 130;
const PLACES: [&str; 2] = ["host", "guest"];

/// An image by hand: stores where the GPU has no register, and ends with a status by semihosting.
#[rustfmt::skip]
const NOWHERE: [u32; 11] = [
    0xD2A1_6000, // mov  x0, #0x0B000000       the GPU's registers
    0xF2A1_6060, // movk x0, #0x0B03, lsl #16  where none is
    0xB900_0001, // str  w1, [x0]
    0xD503_201F, // nop
    0x1000_0061, // adr  x1, block
    0x5280_0300, // mov  w0, #0x18             SYS_EXIT
    0xD45E_0000, // hlt  #0xF000
    0x0002_0026, // block: the application has exited,
    0,
    STATUS as u32, // with this status
    0,
];

/// Another: reads a register of the GPU, then memory that it has not; the exception is one that nothing handles.
#[rustfmt::skip]
const DIES: [u32; 4] = [
    0xD2A1_6000, // mov  x0, #0x0B000000       the GPU's registers
    0xB940_0001, // ldr  w1, [x0]
    0xD2A0_2000, // mov  x0, #0x01000000       no memory
    0xB940_0001, // ldr  w1, [x0]
];

/// Another: reads a register of the GPU, and hangs.
#[rustfmt::skip]
const HANGS: [u32; 3] = [
    0xD2A1_6000, // mov  x0, #0x0B000000       the GPU's registers
    0xB940_0001, // ldr  w1, [x0]
    0x1400_0000, // b    .
];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/model-place");
    let eitri = this_command()?;
    let check = Check {
        workspace,
        folder,
        eitri,
    };
    for (name, code) in [
        ("nowhere", &NOWHERE[..]),
        ("dies", &DIES),
        ("hangs", &HANGS),
    ] {
        let path = check.folder.join(format!("{name}.elf"));
        whole_file::put(&path, &elf_of(code))?;
    }
    let mut cases = Vec::new();
    for place in PLACES {
        let case =
            |what: &str, failure| Case::ran(format!("{what}, model in the {place}"), failure);
        cases.push(case("a job and its trace", check.job(place)?));
        cases.push(case("a job that never ends", check.endless(place)?));
        cases.push(case(
            "a diagnosis",
            check.boot(place, "nowhere", &NOWHERE_SAID)?,
        ));
        cases.push(case(
            "a guest that dies",
            check.boot(place, "dies", &DIES_SAID)?,
        ));
        cases.push(case(
            "a guest that hangs",
            check.boot(place, "hangs", &HANGS_SAID)?,
        ));
        cases.push(case("an interrupt", check.interrupted(place)?));
    }
    cases.push(Case::ran("what a place can't do", check.refused()?));
    Ok(cases)
}

/// The status that a boot ends with, and what it says.
type Said = (i32, &'static str);

const NOWHERE_SAID: Said = (STATUS, "monitor: diagnosis: ");
const DIES_SAID: Said = (102, "monitor: stopped: ");
const HANGS_SAID: Said = (1, "did not end within 1 s");

struct Check<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    eitri: PathBuf,
}

impl Check<'_> {
    /// Runs this command in the check's folder; its output is in a log of this name.
    fn eitri(&self, name: &str, arguments: &[&str]) -> Result<Finished, Failure> {
        let mut command = Command::new(&self.eitri);
        command.current_dir(&self.folder).args(arguments);
        let log = self.folder.join(format!("{name}.log"));
        Ok(process::run_logged(&mut command, &log, LIMIT)?)
    }

    fn shader(&self, path: &str) -> String {
        self.workspace.root().join(path).display().to_string()
    }

    /// The demo that sums up, over 256 ones, with a trace.
    fn job(&self, place: &str) -> Result<Option<String>, Failure> {
        let shader = self.shader("cli/demo/reduce.wgsl");
        let ones: Vec<u8> = [1u32; 256]
            .iter()
            .flat_map(|one| one.to_le_bytes())
            .collect();
        whole_file::put(&self.folder.join("ones"), &ones)?;
        let trace = format!("{place}.json");
        let arguments = [
            "run",
            &shader,
            "--on",
            "qemu",
            "--model",
            place,
            "--trace",
            &trace,
            "--buffer",
            "0=ones",
            "--buffer",
            "1=zero:12",
            "--groups",
            "2",
            "--print",
            "1",
        ];
        let finished = self.eitri(&format!("job-{place}"), &arguments)?;
        if let Some(failure) = wrong(&finished, 0, "0:1 u32[0..3]: 256 1 2") {
            return Ok(Some(failure));
        }
        let text = std::fs::read_to_string(self.folder.join(&trace)).unwrap_or_default();
        let has_job = text.contains("traceEvents") && text.contains("workgroup");
        Ok((!has_job).then(|| format!("no workgroups are traced: {text}")))
    }

    fn endless(&self, place: &str) -> Result<Option<String>, Failure> {
        let shader = self.shader("cli/tests/shaders/endless.wgsl");
        let arguments = [
            "run",
            &shader,
            "--on",
            "qemu",
            "--model",
            place,
            "--timeout",
            "1",
            "--check",
            "none",
            "--buffer",
            "0=zero:8",
        ];
        let finished = self.eitri(&format!("endless-{place}"), &arguments)?;
        Ok(wrong(&finished, 2, "was still running after 1s"))
    }

    fn boot(
        &self,
        place: &str,
        image: &str,
        (status, said): &Said,
    ) -> Result<Option<String>, Failure> {
        let file = format!("{image}.elf");
        let arguments = ["boot", "--model", place, "--timeout", "1", &file];
        let finished = self.eitri(&format!("{image}-{place}"), &arguments)?;
        Ok(wrong(&finished, *status, said))
    }

    /// A machine that hangs is interrupted: the command ends, and QEMU with it.
    fn interrupted(&self, place: &str) -> Result<Option<String>, Failure> {
        let mut command = Command::new(&self.eitri);
        command.current_dir(&self.folder);
        command.args(["boot", "--model", place, "hangs.elf"]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn();
        let mut child =
            child.map_err(|cause| Failure::missing(FileError::at("start", &self.eitri, cause)))?;
        let machine = wait(LIMIT, || machine_of(child.id()));
        let Some(machine) = machine else {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(Some("QEMU was not started".to_owned()));
        };
        // Until the image has read the register and hangs.
        std::thread::sleep(Duration::from_secs(1));
        let kill = format!("kill -s INT {}", child.id());
        let interrupted = Command::new("sh").args(["-c", &kill]).status();
        let ended = wait(ENDING, || child.try_wait().ok().flatten());
        if ended.is_none() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let gone = wait(ENDING, || (!is_running(machine)).then_some(()));
        let status = ended.and_then(|status| status.code());
        let good = interrupted.is_ok() && gone.is_some() && status == Some(INTERRUPTED);
        Ok((!good).then(|| format!("ended with {status:?}; QEMU has ended: {}", gone.is_some())))
    }

    fn refused(&self) -> Result<Option<String>, Failure> {
        let shader = self.shader("cli/demo/reduce.wgsl");
        let caches = [
            "run",
            &shader,
            "--on",
            "qemu",
            "--non-coherent",
            "--model",
            "host",
        ];
        let of_boot = ["boot", "--coherent", "no", "--model", "host", "hangs.elf"];
        let dump = ["boot", "--dump", "gpu.core", "--model", "host", "hangs.elf"];
        let no_machine = ["validate", "--model", "guest"];
        let wanted = [
            (&caches[..], "--non-coherent needs the model in the machine"),
            (&of_boot, "--coherent no needs the model in the machine"),
            (&dump, "--dump needs the model in the machine"),
            (&no_machine, "--model is for machines in QEMU"),
        ];
        for (arguments, said) in wanted {
            let finished = self.eitri("refused", arguments)?;
            if let Some(failure) = wrong(&finished, 2, said) {
                return Ok(Some(failure));
            }
        }
        Ok(None)
    }
}

/// Polls until something is found, for so long at most.
fn wait<T>(limit: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let begin = Instant::now();
    loop {
        match found() {
            None if begin.elapsed() < limit => std::thread::sleep(POLL),
            found => return found,
        }
    }
}

/// The QEMU that a process has started.
fn machine_of(process: u32) -> Option<u32> {
    let children = format!("/proc/{process}/task/{process}/children");
    let children = std::fs::read_to_string(children).ok()?;
    let mut children = children.split_whitespace();
    let is_machine = |child: &&str| {
        let name = std::fs::read_to_string(format!("/proc/{child}/comm"));
        name.is_ok_and(|name| name.starts_with("qemu-system"))
    };
    children.find(is_machine)?.parse().ok()
}

fn is_running(process: u32) -> bool {
    let state = std::fs::read_to_string(Path::new("/proc").join(format!("{process}/stat")));
    state.is_ok_and(|state| !state.contains(") Z "))
}
