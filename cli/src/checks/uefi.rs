//! UEFI firmware starts the application that carries an image: EDK2, and U-Boot, which has UEFI's services too, find it in a file
//! system. Both leave the MMU and the caches on. An image draws on the screen that EDK2 leaves.

use super::display::difference_on;
use super::{Case, make_folder};
use crate::images::boot_file::{self, Format};
use crate::images::image::Builder;
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::process::run_logged;
use crate::runs::boot::{Boot, Booted, Start, boot, boot_shown};
use crate::runs::screen::{Attendant, Pixmap, Screen};
use crate::workspace::{UEFI_TARGET, Workspace};
use eitri_boards::Target;
use eitri_boards::qemu_virt::BOARD;
use eitri_launch::tools::Tool;
use std::path::Path;
use std::time::Duration;

/// Longest that firmware and image may take.
const LIMIT: Duration = Duration::from_secs(180);
/// Longest that the lints may take.
const LINTS_LIMIT: Duration = Duration::from_secs(15 * 60);
/// Exit status of an image that has no job.
const NO_JOB: i32 = 2;

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/uefi");
    // A folder that EDK2 sees as a FAT file system, where it looks for what starts by itself.
    let disk = folder.join("disk");
    let boot_folder = disk.join("EFI/BOOT");
    make_folder(&boot_folder)?;
    let image = Builder::new()?.build("eitri-image", "eitri-image")?;
    let application = boot_file::encode(&image, Target::Board(&BOARD), Format::Efi, None)?;
    whole_file::put(&boot_folder.join("BOOTAA64.EFI"), &application)?;
    let mut cases = Vec::new();
    for (name, firmware) in [("EDK2", Tool::Uefi), ("U-Boot", Tool::UBoot)] {
        let logs = folder.join(name);
        make_folder(&logs)?;
        let booted = boot(&Boot {
            start: Start::Uefi {
                firmware,
                disk: &disk,
            },
            words: &[],
            folder: &logs,
            limit: LIMIT,
            model: None,
        })?;
        cases.push(Case::ran(
            format!("{name} starts the application"),
            wrong(&booted),
        ));
    }
    cases.push(screen(&folder)?);
    let mut lints = workspace.cargo(&[
        "clippy",
        "--target",
        UEFI_TARGET,
        "-p=eitri-uefi",
        "--",
        "-D",
        "warnings",
    ]);
    let finished = run_logged(&mut lints, &folder.join("clippy.log"), LINTS_LIMIT)?;
    cases.push(Case::ran(
        "lints of the application".to_owned(),
        (!finished.end.good()).then(|| finished.output()),
    ));
    Ok(cases)
}

/// The picture of the image `eitri-shown`: qemu-tests/kernel-tests/src/shown.rs.
const PICTURE: (usize, usize) = (90, 53);

fn pixel(x: usize, y: usize) -> [u8; 4] {
    let chequered = if (x ^ y) & 1 == 1 { 255 } else { 0 };
    // Both sides are far below 64.
    [x as u8 * 2, y as u8 * 4, chequered, 255]
}

/// Starts an image that draws on the screen which EDK2 has set up, and compares QEMU's screen with its picture.
fn screen(folder: &Path) -> Result<Case, Failure> {
    let logs = folder.join("screen");
    let disk = logs.join("disk");
    let boot_folder = disk.join("EFI/BOOT");
    make_folder(&boot_folder)?;
    let image = Builder::new()?.build("eitri-kernel-tests", "eitri-shown")?;
    let application = boot_file::encode(&image, Target::Board(&BOARD), Format::Efi, None)?;
    whole_file::put(&boot_folder.join("BOOTAA64.EFI"), &application)?;
    let kept = Screen::Kept;
    let mut attendant = Attendant::new(&kept, &logs.join("console.log"), LIMIT);
    let booted = boot_shown(
        &Boot {
            start: Start::Uefi {
                firmware: Tool::Uefi,
                disk: &disk,
            },
            words: &[],
            folder: &logs,
            limit: LIMIT,
            model: None,
        },
        &mut attendant,
    )?;
    let console = String::from_utf8_lossy(&booted.console);
    let shown = attendant.finish(&console)?.unwrap_or_default();
    let (width, height) = PICTURE;
    let places = (0..height).flat_map(|y| (0..width).map(move |x| pixel(x, y)));
    let pixels: Vec<[u8; 4]> = places.collect();
    let wrong = match Pixmap::parse(&shown) {
        Ok(screen) => difference_on(&screen, &pixels, width),
        Err(error) => Some(error.to_string()),
    };
    let name = "EDK2's screen shows a picture".to_owned();
    Ok(Case::ran(name, wrong))
}

/// What is wrong with how it went.
fn wrong(booted: &Booted) -> Option<String> {
    let console = String::from_utf8_lossy(&booted.console);
    let wanted = [
        "eitri: image for QEMU's virt machine",
        "on QEMU's virt machine",
        "no job",
    ];
    if let Some(part) = wanted.into_iter().find(|part| !console.contains(part)) {
        return Some(format!(
            "no `{part}` on the console:\n{console}{}",
            booted.qemu
        ));
    }
    (booted.status() != Some(NO_JOB))
        .then(|| format!("status {:?}, wanted {NO_JOB}\n{console}", booted.status()))
}
