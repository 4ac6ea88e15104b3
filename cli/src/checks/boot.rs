//! `eitri boot`: images that know nothing of Eitri meet the model, and the crate to copy builds and runs by the steps of its page.

use super::Case;
use super::own_command::this_command;
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::process::{self, Finished};
use crate::workspace::{BARE_METAL_TARGET, Workspace};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Longest that one step may take, builds included.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// Where the image by hand is linked: not where Eitri's own are.
const ADDRESS: u64 = 0x4100_0000;
/// The status that it ends with.
pub(super) const STATUS: i32 = 7;

/// An image by hand: reads GPU_ID, prints the letter of its top nibble (an A for a G610), and ends with a status by semihosting.
#[rustfmt::skip]
const CODE: [u32; 13] = [
    0xD2A1_6000, // mov  x0, #0x0B000000       the GPU's registers
    0xB940_0001, // ldr  w1, [x0]              GPU_ID
    0x531C_7C21, // lsr  w1, w1, #28
    0x1100_DC21, // add  w1, w1, #'A' - 10
    0xD2A1_2002, // mov  x2, #0x09000000       the console
    0xB900_0041, // str  w1, [x2]
    0x1000_0061, // adr  x1, block
    0x5280_0300, // mov  w0, #0x18             SYS_EXIT
    0xD45E_0000, // hlt  #0xF000
    0x0002_0026, // block: the application has exited,
    0,
    STATUS as u32, // with this status
    0,
];

/// Another: stores to a register of the GPU, prints the letter behind each of three that its console receives, and ends as the first.
#[rustfmt::skip]
const ECHO: [u32; 19] = [
    0xD2A1_6000, // mov  x0, #0x0B000000       the GPU's registers
    0x5280_0021, // mov  w1, #1
    0xB900_2801, // str  w1, [x0, #0x28]       GPU_IRQ_MASK
    0xD2A1_2002, // mov  x2, #0x09000000       the console
    0x5280_0063, // mov  w3, #3
    0xB940_1841, // again: ldr w1, [x2, #0x18] its flags
    0x3727_FFE1, // tbnz w1, #4, again         nothing was received
    0xB940_0041, // ldr  w1, [x2]
    0x1100_0421, // add  w1, w1, #1
    0xB900_0041, // str  w1, [x2]
    0x7100_0463, // subs w3, w3, #1
    0x54FF_FF41, // b.ne again
    0x1000_0061, // adr  x1, block
    0x5280_0300, // mov  w0, #0x18             SYS_EXIT
    0xD45E_0000, // hlt  #0xF000
    0x0002_0026, // block: the application has exited,
    0,
    STATUS as u32, // with this status
    0,
];

/// The ELF file around the first image.
fn by_hand() -> Vec<u8> {
    elf_of(&CODE)
}

/// The ELF file around code: one segment.
pub(super) fn elf_of(code: &[u32]) -> Vec<u8> {
    let mut file = vec![0x7F, b'E', b'L', b'F', 2, 1, 1];
    file.resize(16, 0);
    let bytes = 4 * code.len() as u64;
    // An executable for AArch64.
    file.extend([2u16, 183].map(u16::to_le_bytes).as_flattened());
    file.extend(1u32.to_le_bytes());
    file.extend([ADDRESS, 64, 0].map(u64::to_le_bytes).as_flattened());
    file.extend(0u32.to_le_bytes());
    file.extend([64u16, 56, 1, 0, 0, 0].map(u16::to_le_bytes).as_flattened());
    // The one loaded segment is readable and executable.
    file.extend([1u32, 5].map(u32::to_le_bytes).as_flattened());
    let segment = [120, ADDRESS, ADDRESS, bytes, bytes, 4];
    file.extend(segment.map(u64::to_le_bytes).as_flattened());
    file.extend(code.iter().flat_map(|word| word.to_le_bytes()));
    file
}

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/boot");
    let eitri = this_command()?;
    let check = Check {
        workspace,
        folder,
        eitri,
    };
    Ok(vec![
        Case::ran(
            "an image by hand prints, and its status is passed on",
            check.image_by_hand()?,
        ),
        Case::ran("a timeline of it is written", check.timeline()?),
        Case::ran(
            "its console receives, and its end leaves a core dump",
            check.input_and_dump()?,
        ),
        Case::ran(
            "an image that hangs is stopped after its time",
            check.hang()?,
        ),
        Case::ran(
            "examples/standalone builds and runs by copy",
            check.standalone()?,
        ),
    ])
}

struct Check<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    eitri: PathBuf,
}

impl Check<'_> {
    /// Runs this command in a folder; its output is in a log of this name.
    fn eitri(&self, name: &str, folder: &Path, arguments: &[&str]) -> Result<Finished, Failure> {
        let mut command = Command::new(&self.eitri);
        command.current_dir(folder).args(arguments);
        let log = self.folder.join(format!("{name}.log"));
        Ok(process::run_logged(&mut command, &log, LIMIT)?)
    }

    fn image_by_hand(&self) -> Result<Option<String>, Failure> {
        whole_file::put(&self.folder.join("by-hand.elf"), &by_hand())?;
        let finished = self.eitri("by-hand", &self.folder, &["boot", "by-hand.elf"])?;
        Ok(wrong(&finished, STATUS, "A"))
    }

    fn timeline(&self) -> Result<Option<String>, Failure> {
        let arguments = ["boot", "--trace", "trace.json", "by-hand.elf"];
        let finished = self.eitri("trace", &self.folder, &arguments)?;
        let path = self.folder.join("trace.json");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let is_trace = text.contains("traceEvents");
        Ok(wrong(&finished, STATUS, "A").or((!is_trace).then_some(text)))
    }

    fn input_and_dump(&self) -> Result<Option<String>, Failure> {
        whole_file::put(&self.folder.join("echo.elf"), &elf_of(&ECHO))?;
        whole_file::put(&self.folder.join("input.txt"), b"GHS")?;
        // A file of an earlier run would pass for one of this run.
        let dump = self.folder.join("echo.core");
        let _ = std::fs::remove_file(&dump);
        let arguments = [
            "boot",
            "--timeout",
            "5",
            "--input",
            "input.txt",
            "--dump",
            "echo.core",
            "echo.elf",
        ];
        let finished = self.eitri("echo", &self.folder, &arguments)?;
        if let Some(failure) = wrong(&finished, STATUS, "HIT") {
            return Ok(Some(failure));
        }
        let shown = self.eitri("echo-dump", &self.folder, &["dump", "show", "echo.core"])?;
        Ok(wrong(&shown, 0, "GPU_IRQ_MASK (0x028) = 0x1"))
    }

    fn hang(&self) -> Result<Option<String>, Failure> {
        let mut image = by_hand();
        // b .
        let code = image.len() - 4 * CODE.len();
        if let Some(first) = image.get_mut(code..code + 4) {
            first.copy_from_slice(&0x1400_0000u32.to_le_bytes());
        }
        whole_file::put(&self.folder.join("hang.elf"), &image)?;
        let arguments = ["boot", "--timeout", "1", "hang.elf"];
        let finished = self.eitri("hang", &self.folder, &arguments)?;
        Ok(wrong(&finished, 1, "did not end within 1 s"))
    }

    /// The steps of the example's README.
    fn standalone(&self) -> Result<Option<String>, Failure> {
        let (from, to) = (
            self.workspace.root().join("examples/standalone"),
            self.folder.join("standalone"),
        );
        for file in [
            "Cargo.toml",
            "build.rs",
            "double.wgsl",
            "link.ld",
            ".cargo/config.toml",
            "src/main.rs",
            "src/start.rs",
        ] {
            let text = std::fs::read_to_string(from.join(file))
                .map_err(|cause| Failure::unreadable(from.join(file), cause))?;
            let root = self.workspace.root().display().to_string();
            let text = text.replace("../..", &root);
            whole_file::put(&to.join(file), text.as_bytes())?;
        }
        let steps: [&[&str]; 2] = [
            &["compile", "double.wgsl", "-o", "double.program"],
            &["firmware", "stub", "-o", "firmware.bin"],
        ];
        for step in steps {
            let finished = self.eitri("standalone", &to, step)?;
            if !finished.end.good() {
                return Ok(Some(finished.output()));
            }
        }
        let mut cargo = self.workspace.cargo(&["run", "--release"]);
        cargo.current_dir(&to);
        // Built like others, but apart from them: it is no member of the workspace.
        cargo.env("CARGO_TARGET_DIR", self.folder.join("standalone-target"));
        // The build takes longest, and the program need not be fast.
        cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
        let runner = format!(
            "CARGO_TARGET_{}_RUNNER",
            BARE_METAL_TARGET.to_uppercase().replace('-', "_")
        );
        // Variables of this build would have cargo build another monitor, with all its crates.
        let plain = "env -u CARGO_TARGET_DIR -u CARGO_PROFILE_RELEASE_OPT_LEVEL";
        cargo.env(runner, format!("{plain} {} boot", self.eitri.display()));
        let log = self.folder.join("standalone.log");
        let finished = process::run_logged(&mut cargo, &log, LIMIT)?;
        Ok(wrong(
            &finished,
            0,
            "doubled: [[0, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0]",
        ))
    }
}

/// The failure of a step, if it ends with another status than expected or does not print the expected text.
pub(super) fn wrong(finished: &Finished, status: i32, printed: &str) -> Option<String> {
    let output = finished.output();
    let ended = match finished.end {
        process::End::Exited(status) => status.code(),
        process::End::TimedOut => None,
    };
    let good = ended == Some(status) && output.contains(printed);
    (!good).then(|| format!("ended with {ended:?}, wanted {status} and `{printed}`\n{output}"))
}
