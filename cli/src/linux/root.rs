//! The root file system: what the guest finds when it has started.

use super::extra;
use super::faults;
use super::initramfs::Archive;
use super::kernel_modules::Modules;
use super::libraries::{self, read};
use crate::outcome::Failure;
use eitri_boards::qemu_virt::{CONTROL, control};
use eitri_csf::product::GpuId;
use std::path::Path;

/// Where Debian has shared libraries for arm64.
pub(super) const LIBRARIES: &str = "usr/lib/aarch64-linux-gnu";
/// What starts a program that is linked to them.
const LOADER: &str = "ld-linux-aarch64.so.1";
/// Programs that a person would look for.
const PROGRAMS: &[&str] = &["usr/bin/vulkaninfo", "usr/bin/vkcube"];
/// The user-space driver, what finds it, and what it is found by.
const DRIVER: &[&str] = &["libvulkan_panfrost.so", "libvulkan.so.1"];
const DRIVER_FILE: &str = "usr/share/vulkan/icd.d/panfrost_icd.json";
/// Where the kernel's driver looks for the GPU's firmware.
const FIRMWARE_FOLDER: &str = "lib/firmware/arm/mali";
/// The kernel's driver, and what the device tree's other nodes need.
const DRIVERS: &[&str] = &["fixed", "panthor"];
/// What shares a folder.
const SHARING: &[&str] = &["virtio_mmio", "9pnet_virtio", "9p"];
/// What finds a disk, and file systems that it may have.
const DISKS: &[&str] = &[
    "virtio_mmio",
    "virtio_blk",
    "crc32c_generic",
    "ext4",
    "squashfs",
];
/// What drives the screen.
const SCREENS: &[&str] = &["virtio_mmio", "virtio_gpu"];
const INIT: &str = include_str!("init.sh");

/// What a run wants of the guest.
pub(crate) struct Wanted<'a> {
    /// Debian's packages, unpacked.
    pub(crate) packages: &'a Path,
    /// The kernel's package, unpacked; `None` where a kernel was given alone, which has all that it needs inside.
    pub(crate) kernel: Option<&'a Path>,
    /// The GPU's firmware in place of the packaged ones.
    pub(crate) firmware: Option<&'a [u8]>,
    /// The GPU, whose generation is part of the firmware's path.
    pub(crate) gpu: GpuId,
    /// What is run; a shell if it is empty.
    pub(crate) command: &'a [String],
    /// Further packages, unpacked: all of them is in the guest.
    pub(crate) extra: Option<&'a Path>,
    /// The program that runs kernels through Vulkan.
    pub(crate) runner: Option<&'a [u8]>,
    /// Whether a folder is shared.
    pub(crate) share: bool,
    /// Whether there is a disk with a root file system.
    pub(crate) disk: bool,
    /// Whether there is a screen.
    pub(crate) screen: bool,
}

/// The file system's archive.
pub(crate) fn archive(wanted: &Wanted<'_>) -> Result<Vec<u8>, Failure> {
    let mut archive = Archive::new();
    for folder in [
        "proc", "sys", "tmp", "run", "root", "share", "disk", "usr/sbin",
    ] {
        archive.folder(folder);
    }
    archive.program("init", INIT.as_bytes());
    archive.program(
        "bin/busybox",
        &read(&wanted.packages.join("usr/bin/busybox"))?,
    );
    archive.link("bin/sh", "busybox");
    if let Some(runner) = wanted.runner {
        archive.program("bin/vulkan-runner", runner);
    }
    // QEMU has to be there still when the screen's picture is read.
    let ending = match wanted.screen {
        true => control::STATUS,
        false => control::END,
    };
    let ending = CONTROL.base + ending;
    archive.file("eitri/ending", format!("{ending:#x}\n").as_bytes());
    faults::put(&mut archive);
    if !wanted.command.is_empty() {
        let line: Vec<String> = wanted.command.iter().map(|word| quoted(word)).collect();
        archive.file(
            "eitri/command",
            format!("exec {}\n", line.join(" ")).as_bytes(),
        );
    }
    let mut modules = DRIVERS.to_vec();
    if wanted.share {
        archive.file("eitri/share", b"");
        modules.extend(SHARING);
    }
    if wanted.disk {
        archive.file("eitri/disk", b"");
        modules.extend(DISKS);
    }
    if wanted.screen {
        archive.file("eitri/screen", b"");
        modules.extend(SCREENS);
    }
    // First, so that the libraries are as new as the programs need them.
    if let Some(folder) = wanted.extra {
        extra::put(folder, &mut archive)?;
    }
    put_driver(wanted, &mut archive)?;
    put_firmware(wanted, &mut archive)?;
    let found = match wanted.kernel.and_then(Modules::find) {
        Some(found) => {
            // Kernels differ in what is a module and what is inside.
            modules.retain(|name| found.has(name));
            found.put(&modules, &mut archive)?;
            modules
        }
        None => Vec::new(),
    };
    let list: String = found.iter().map(|name| format!("{name}\n")).collect();
    archive.file("eitri/modules", list.as_bytes());
    Ok(archive.finish())
}

/// The user-space driver, programs, and the libraries that they need.
fn put_driver(wanted: &Wanted<'_>, archive: &mut Archive) -> Result<(), Failure> {
    let packages = wanted.packages;
    let libraries = packages.join(LIBRARIES);
    let mut files: Vec<Vec<u8>> = wanted.runner.map(<[u8]>::to_vec).into_iter().collect();
    for program in PROGRAMS {
        // Suites differ in what the packages of tools hold.
        if packages.join(program).is_file() {
            let content = read(&packages.join(program))?;
            archive.program(program, &content);
            files.push(content);
        }
    }
    for library in DRIVER {
        let content = read(&libraries.join(library))?;
        archive.program(&format!("{LIBRARIES}/{library}"), &content);
        files.push(content);
    }
    let needed = libraries::needed(files.iter().map(Vec::as_slice), &libraries)?;
    for library in needed {
        let path = format!("{LIBRARIES}/{library}");
        archive.program(&path, &read(&packages.join(&path))?);
    }
    archive.link(&format!("lib/{LOADER}"), &format!("/{LIBRARIES}/{LOADER}"));
    archive.link("lib/aarch64-linux-gnu", &format!("/{LIBRARIES}"));
    archive.file(DRIVER_FILE, &read(&packages.join(DRIVER_FILE))?);
    Ok(())
}

/// The firmware: what was given, and else whatever is packaged. Its folder has the generation's name.
fn put_firmware(wanted: &Wanted<'_>, archive: &mut Archive) -> Result<(), Failure> {
    let path = |generation: &str| format!("{FIRMWARE_FOLDER}/{generation}/mali_csffw.bin");
    if let Some(given) = wanted.firmware {
        let (major, minor, _) = wanted.gpu.arch_version();
        archive.file(&path(&format!("arch{major}.{minor}")), given);
    }
    let packaged = wanted.packages.join("usr").join(FIRMWARE_FOLDER);
    let folders = std::fs::read_dir(packaged).into_iter().flatten().flatten();
    for folder in folders {
        let file = folder.path().join("mali_csffw.bin");
        if file.is_file() {
            archive.file(&path(&folder.file_name().to_string_lossy()), &read(&file)?);
        }
    }
    Ok(())
}

/// A word as the shell takes it for itself.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_command_as_they_are() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }
}
