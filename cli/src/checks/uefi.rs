//! UEFI firmware starts the application that carries an image: EDK2, and U-Boot, which has UEFI's services too, find it in a file
//! system. Both leave the MMU and the caches on.

use super::{Case, make_folder};
use crate::images::boot_file::{self, Format};
use crate::images::image::Builder;
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::process::run_logged;
use crate::runs::boot::{Boot, Booted, Start, boot};
use crate::workspace::{UEFI_TARGET, Workspace};
use eitri_boards::Target;
use eitri_boards::qemu_virt::BOARD;
use eitri_launch::tools::Tool;
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
        })?;
        cases.push(Case::ran(
            format!("{name} starts the application"),
            wrong(&booted),
        ));
    }
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
