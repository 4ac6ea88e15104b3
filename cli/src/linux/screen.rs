//! Screen: a display beside the GPU, for compositors and X servers; its last picture goes to a file.
//!
//! The device is QEMU's virtio-gpu without 3D: it shows pictures, and draws none.

use super::machine::MachineError;
use crate::outcome::Failure;
use crate::runs::boot;
use crate::runs::qmp::{Qmp, QmpError};
use crate::runs::screen;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Columns and rows of the screen. Few, because what draws without the GPU does so in the emulated CPU.
const SIZE: (u32, u32) = (640, 480);

/// The screen of one run.
pub(super) struct GuestScreen<'d> {
    /// File for the picture: a PNG if its name ends so, else a pixmap.
    file: &'d str,
    /// Where QEMU listens for commands.
    socket: PathBuf,
    /// Where QEMU writes the picture.
    dump: PathBuf,
}

impl<'d> GuestScreen<'d> {
    /// A screen whose picture goes to `file`. What QEMU needs for it is in `folder`.
    pub(super) fn new(file: &'d str, folder: &Path) -> GuestScreen<'d> {
        GuestScreen {
            file,
            socket: folder.join("qmp"),
            dump: folder.join("screen.ppm"),
        }
    }

    /// Adds the device to the machine, and the socket by which its picture is read.
    pub(super) fn add(&self, command: &mut Command) {
        let (columns, rows) = SIZE;
        // The device exists only in the transport's present form.
        command.args(["-global", "virtio-mmio.force-legacy=false"]);
        let device = format!("virtio-gpu-device,xres={columns},yres={rows}");
        command.args(["-device", &device]);
        let socket = boot::doubled(&self.socket.display().to_string());
        let chardev = format!("socket,id=qmp,path={socket},server=on,wait=off");
        command.args(["-chardev", &chardev, "-mon", "chardev=qmp,mode=control"]);
    }

    /// Writes the picture to its file, and asks QEMU to end.
    pub(super) fn keep(&self) -> Result<(), Failure> {
        let unreadable = |cause| Failure::missing(MachineError::Screen(cause));
        let mut qemu = Qmp::connect(&self.socket).map_err(unreadable)?;
        qemu.screendump(&self.dump).map_err(unreadable)?;
        let pixmap = std::fs::read(&self.dump);
        let pixmap = pixmap.map_err(|cause| Failure::unreadable(&self.dump, cause))?;
        screen::file(self.file, &pixmap)?.commit()?;
        match qemu.quit() {
            // QEMU may end before it has answered.
            Err(QmpError::Closed { .. } | QmpError::Socket(_)) => Ok(()),
            done => done.map_err(unreadable),
        }
    }
}
