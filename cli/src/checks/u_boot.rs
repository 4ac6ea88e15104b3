//! U-Boot itself loads the image, in QEMU, in every form that it takes; its own tool reads the containers for every board.

use super::Case;
use crate::images::boot_file::{self, Beside, Format, tftp};
use crate::images::image::{Builder, Image};
use crate::input::board_tree;
use crate::outcome::Failure;
use crate::output::whole_file::put;
use crate::process::run_logged;
use crate::runs::boot::{Boot, Booted, Start, boot};
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_boards::qemu_virt::{BOARD, TREE};
use eitri_launch::tools::Tool;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Longest that U-Boot and an image without a job may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Longest that U-Boot's tool may take.
const TOOL_LIMIT: Duration = Duration::from_secs(20);
/// Characters that U-Boot may lose while it sets up its console, and the one that stops it from booting by itself.
const LEAD_IN: usize = 40;
/// Where a script is loaded: behind the other file.
const SCRIPT: usize = BOARD.description().memory.heap.base + (64 << 20);
/// Where firmware is loaded: apart from what the image uses.
const FIRMWARE: usize = TREE.base;
const FIRMWARE_BYTES: usize = 0x1_2345;
/// Exit status of an image that has no job.
const NO_JOB: i32 = 2;

/// The forms that U-Boot boots.
const FORMATS: &[Format] = &[Format::Image, Format::Fit, Format::Uimage];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/u-boot");
    let board = &BOARD;
    let image = Builder::new()?.build("eitri-image", "eitri-image")?;
    let mut cases = Vec::new();
    let firmware = folder.join("firmware.bin");
    put(&firmware, &[0xFE; FIRMWARE_BYTES])?;
    for &format in FORMATS {
        let path = write(
            &folder,
            format,
            &boot_file::encode(&image, board.into(), format, None)?,
        )?;
        // As typed for firmware beside the image, but that nothing is loaded from a network.
        let beside = Beside {
            at: FIRMWARE,
            name: String::new(),
        };
        let lines = boot_file::u_boot_lines_with(board, format, "", &beside);
        let mut lines: Vec<String> = lines
            .into_iter()
            .filter(|line| !line.starts_with("tftpboot "))
            .collect();
        lines.insert(0, format!("setenv filesize {FIRMWARE_BYTES:x}"));
        // Only an ELF file has no address, and U-Boot is given none.
        let at = boot_file::u_boot_address(board, format).unwrap_or_default();
        let files = [(path.as_path(), at), (&firmware, FIRMWARE)];
        let booted = type_at_prompt(&folder, &files, None, &lines)?;
        let said = format!("beside the image: {FIRMWARE_BYTES} bytes at {FIRMWARE:#x}");
        let said = String::from_utf8_lossy(&booted.console).contains(&said);
        let unsaid = || Some(format!("the image does not find the file at {FIRMWARE:#x}"));
        cases.push(Case::ran(
            format!("U-Boot boots the {format:?}, with a file beside it"),
            wrong(&booted, format).or_else(|| if said { None } else { unsaid() }),
        ));
    }
    let format = Format::Image;
    let path = write(
        &folder,
        format,
        &boot_file::encode(&image, board.into(), format, None)?,
    )?;
    let script = folder.join("boot.scr");
    let lines = boot_file::u_boot_lines(board, format, None);
    put(&script, &boot_file::boot_script(&lines)?)?;
    let files = [(path.as_path(), board.memory.image.base), (&script, SCRIPT)];
    let source = [format!("source {SCRIPT:#x}")];
    let booted = type_at_prompt(&folder, &files, None, &source)?;
    cases.push(Case::ran(
        "U-Boot runs the boot script",
        wrong(&booted, format),
    ));
    // All over the network: what `eitri image --tftp` leaves on a server.
    let served = folder.join("tftp");
    let name = tftp::name(board.into(), "eitri.img");
    let lines = boot_file::u_boot_lines(board, format, Some(&name));
    put(
        &served.join(&name),
        &std::fs::read(&path).unwrap_or_default(),
    )?;
    let script = served.join(tftp::name(board.into(), tftp::SCRIPT));
    put(&script, &boot_file::boot_script(&lines)?)?;
    // One line: U-Boot throws away what is typed while it fetches a file.
    let [fetch, run] = tftp::lines(board.into(), &format!("{SCRIPT:#x}"));
    let typed = [format!("setenv autoload no; dhcp; {fetch}; {run}")];
    let booted = type_at_prompt(&folder, &[], Some(&served), &typed)?;
    cases.push(Case::ran(
        "U-Boot fetches the script and the image from a TFTP server",
        wrong(&booted, format),
    ));
    Ok(cases)
}

/// What U-Boot's own tool has against the containers of a board's image.
pub(super) fn unreadable(
    folder: &Path,
    board: Target,
    image: &Image,
) -> Result<Option<String>, Failure> {
    // What depthcharge loads is an image tree with a device tree in it, and goes where that wants.
    let (formats, address, tree) = match board.board() {
        Some(board) => (
            &[Format::Fit, Format::Uimage][..],
            board.memory.image.base,
            None,
        ),
        None => (&[Format::Fit][..], 0, Some(board_tree::build(board, "")?)),
    };
    for &format in formats {
        let bytes = boot_file::encode(image, board, format, tree.as_deref())?;
        let path = write(folder, format, &bytes)?;
        let mut command = Command::new(Tool::MkImage.program());
        command.arg("-l").arg(&path);
        let finished = run_logged(&mut command, &folder.join("mkimage.log"), TOOL_LIMIT)?;
        let output = finished.output();
        let address = format!("{address:08x}");
        let says = [board.name(), &address]
            .iter()
            .all(|part| output.contains(part));
        if !finished.end.good() || !says {
            return Ok(Some(format!(
                "mkimage -l of the {format:?}: wanted {} and {address} in\n{output}",
                board.name()
            )));
        }
    }
    Ok(None)
}

fn type_at_prompt(
    folder: &Path,
    files: &[(&Path, usize)],
    served: Option<&Path>,
    lines: &[String],
) -> Result<Booted, Failure> {
    let typed = folder.join("typed");
    let text = format!("{}{}\n", "\n".repeat(LEAD_IN), lines.join("\n"));
    put(&typed, text.as_bytes())?;
    boot(&Boot {
        start: Start::UBoot {
            files,
            served,
            typed: &typed,
        },
        words: &[],
        folder,
        limit: LIMIT,
        model: None,
    })
}

/// What is wrong with how it went.
fn wrong(booted: &Booted, format: Format) -> Option<String> {
    let console = String::from_utf8_lossy(&booted.console);
    let mut wanted = vec![
        "loader U-Boot ",
        "Starting kernel",
        "on QEMU's virt machine",
        ", build ",
        "no job",
    ];
    if format == Format::Fit {
        wanted.push("crc32+ OK");
    }
    let missing = wanted.into_iter().find(|part| !console.contains(part));
    if let Some(part) = missing {
        return Some(format!(
            "no `{part}` on the console:\n{console}{}",
            booted.qemu
        ));
    }
    (booted.status() != Some(NO_JOB))
        .then(|| format!("status {:?}, wanted {NO_JOB}\n{console}", booted.status()))
}

fn write(folder: &Path, format: Format, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let path = folder.join(format!("eitri.{}", format.extension()));
    put(&path, bytes)?;
    Ok(path)
}
