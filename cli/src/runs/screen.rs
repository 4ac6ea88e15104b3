//! Screen: what becomes of the picture that an image shows in QEMU: a window, or a file with what the screen shows.
//!
//! The image stays until QEMU ends: the user closes the window, or QEMU is ended once the screen is in the file.

use crate::input::buffer_source::BindingName;
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::output::whole_file::Pending;
use crate::runs::qmp::{Qmp, QmpError};
use eitri_job::SHOWN;
use eitri_launch::tools::Tool;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use thiserror::Error;

/// Longest that QEMU may take to end when it was asked to.
const ENDING: Duration = Duration::from_secs(20);
/// The limit that the monitor is given in milliseconds: a picture may be looked at for days.
pub(crate) const NO_LIMIT: &str = "31536000000";

/// Kinds of windows that QEMU may have been built with, the best first.
const WINDOWS: &[&str] = &["gtk", "sdl", "cocoa"];

/// An image of a job that is shown.
pub(crate) struct Show {
    pub(crate) name: BindingName,
    pub(crate) screen: Screen,
}

/// What shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    /// A window of this kind, until it is closed.
    Window(&'static str),
    /// None: what it would show is kept.
    Kept,
}

/// Why nothing is to be seen.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ScreenError {
    #[error("there is no display for a window: neither DISPLAY nor WAYLAND_DISPLAY is set")]
    #[diagnostic(help("--screen FILE.png writes what the window would show"))]
    NoDesktop,
    #[error("this QEMU has no windows")]
    #[diagnostic(help(
        "on Debian they are in the package qemu-system-gui; --screen FILE.png writes what the window would show"
    ))]
    NoWindows,
    #[error("QEMU can't be asked which windows it has")]
    Ask(#[source] std::io::Error),
    #[error("the screen can't be read")]
    Qmp(#[source] QmpError),
    #[error("QEMU wrote no picture of the screen: {what}")]
    Pixmap { what: &'static str },
    #[error("the screen can't be written as a picture")]
    Png(#[source] png::EncodingError),
    #[error("the image showed nothing\n{console}")]
    Nothing { console: String },
}

impl Screen {
    /// A window on this machine.
    pub(crate) fn window() -> Result<Screen, Failure> {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let desktop = cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
        if !desktop {
            return Err(Failure::missing(ScreenError::NoDesktop));
        }
        let mut command = Command::new(Tool::Qemu.program());
        let listed = command.args(["-display", "help"]).stdin(Stdio::null());
        let listed = listed
            .output()
            .map_err(|cause| Failure::missing(ScreenError::Ask(cause)))?;
        let kind = kind_of_window(&String::from_utf8_lossy(&listed.stdout));
        kind.map(Screen::Window)
            .ok_or_else(|| Failure::missing(ScreenError::NoWindows))
    }

    /// QEMU's arguments for it.
    pub(crate) fn arguments(&self, socket: &Path) -> Vec<String> {
        let kind = match self {
            Screen::Window(kind) => kind,
            Screen::Kept => "none",
        };
        let mut arguments = vec!["-device".into(), "ramfb".into()];
        arguments.extend(["-display".into(), kind.into()]);
        if *self == Screen::Kept {
            let path = socket.display().to_string().replace(',', ",,");
            let chardev = format!("socket,id=qmp,path={path},server=on,wait=off");
            arguments.extend(["-chardev".into(), chardev]);
            arguments.extend(["-mon".into(), "chardev=qmp,mode=control".into()]);
        }
        arguments
    }
}

/// The best window of those in QEMU's list.
fn kind_of_window(listed: &str) -> Option<&'static str> {
    let mut kinds = WINDOWS.iter().copied();
    kinds.find(|kind| listed.lines().any(|line| line.trim() == *kind))
}

/// Watches a machine that is to show a picture.
pub(crate) struct Attendant<'s> {
    screen: &'s Screen,
    console: PathBuf,
    socket: PathBuf,
    dump: PathBuf,
    /// Longest that it may take until it shows something.
    limit: Duration,
    /// Since when it is shown.
    shown: Option<Duration>,
    /// What went wrong when the screen was to be kept.
    error: Option<QmpError>,
}

impl<'s> Attendant<'s> {
    /// For a machine whose console goes into this file. Everything else goes into its folder.
    pub(crate) fn new(screen: &'s Screen, console: &Path, limit: Duration) -> Attendant<'s> {
        Attendant {
            screen,
            console: console.to_owned(),
            socket: console.with_file_name("qmp"),
            dump: console.with_file_name("screen.ppm"),
            limit,
            shown: None,
            error: None,
        }
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        self.screen.arguments(&self.socket)
    }

    /// Called again and again while the machine runs, with how long it has. Tells whether it may go on.
    pub(crate) fn attend(&mut self, since: Duration) -> bool {
        match (self.shown, self.screen) {
            (None, _) if !has_shown(&self.console) => since < self.limit,
            (None, Screen::Window(_)) => {
                talk!("the picture is in QEMU's window; close that to go on");
                self.shown = Some(since);
                true
            }
            (None, Screen::Kept) => {
                self.shown = Some(since);
                self.error = keep(&self.socket, &self.dump).err();
                self.error.is_none()
            }
            (Some(_), Screen::Window(_)) => true,
            (Some(shown), Screen::Kept) => since < shown + ENDING,
        }
    }

    /// What the screen showed, as a portable pixmap; none of a window. `console` is for when nothing was shown.
    pub(crate) fn finish(self, console: &str) -> Result<Option<Vec<u8>>, Failure> {
        // An image that ends by itself may have said so last of all.
        if self.shown.is_none() && !has_shown(&self.console) {
            let console = console.to_owned();
            return Err(Failure::refused(ScreenError::Nothing { console }));
        }
        if let Some(error) = self.error {
            return Err(Failure::missing(ScreenError::Qmp(error)));
        }
        match self.screen {
            Screen::Window(_) => Ok(None),
            Screen::Kept => std::fs::read(&self.dump)
                .map(Some)
                .map_err(|cause| Failure::unreadable(self.dump.display().to_string(), cause)),
        }
    }
}

fn has_shown(console: &Path) -> bool {
    let said = std::fs::read(console).unwrap_or_default();
    let mut parts = said.windows(SHOWN.len());
    parts.any(|part| part == SHOWN.as_bytes())
}

fn keep(socket: &Path, dump: &Path) -> Result<(), QmpError> {
    let mut qemu = Qmp::connect(socket)?;
    qemu.screendump(dump)?;
    match qemu.quit() {
        // It ends before it has answered.
        Err(QmpError::Closed { .. } | QmpError::Socket(_)) => Ok(()),
        done => done,
    }
}

/// What a screen showed: red, green and blue of its pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pixmap<'p> {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: &'p [u8],
}

impl<'p> Pixmap<'p> {
    /// Reads a portable pixmap as QEMU writes it: `P6`, width, height, 255, each a word, one space, the pixels.
    pub(crate) fn parse(bytes: &'p [u8]) -> Result<Pixmap<'p>, ScreenError> {
        let wrong = |what| ScreenError::Pixmap { what };
        let mut rest = bytes;
        let mut word = || {
            let end = rest.iter().position(u8::is_ascii_whitespace)?;
            let (word, after) = rest.split_at(end);
            rest = after.get(1..)?;
            std::str::from_utf8(word).ok()
        };
        if word() != Some("P6") {
            return Err(wrong("it does not begin with P6"));
        }
        let mut number = || word()?.parse::<usize>().ok();
        let (Some(width), Some(height), Some(255)) = (number(), number(), number()) else {
            return Err(wrong("width, height and 255 are not there"));
        };
        let wanted = width.checked_mul(height).and_then(|it| it.checked_mul(3));
        if wanted != Some(rest.len()) {
            return Err(wrong("it has not so many pixels"));
        }
        Ok(Pixmap {
            width,
            height,
            pixels: rest,
        })
    }

    fn png(&self) -> Result<Vec<u8>, ScreenError> {
        let mut file = Vec::new();
        // QEMU's screens have few pixels.
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(self.pixels)?;
            writer.finish()
        });
        written.map_err(ScreenError::Png)?;
        Ok(file)
    }
}

/// A screen's file, not yet visible: a PNG where its name ends so, else the pixmap.
pub(crate) fn file(path: &str, pixmap: &[u8]) -> Result<Pending, Failure> {
    let read = Pixmap::parse(pixmap).map_err(Failure::missing)?;
    if path.to_ascii_lowercase().ends_with(".png") {
        return Pending::write(path, &read.png().map_err(Failure::missing)?);
    }
    Pending::write(path, pixmap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_one_that_qemu_has() {
        let listed = "Available display backend types:\nnone\nsdl\ngtk\nvnc\n";
        assert_eq!(kind_of_window(listed), Some("gtk"));
        assert_eq!(kind_of_window("none\nsdl\n"), Some("sdl"));
        assert_eq!(kind_of_window("none\negl-headless\n"), None);
    }

    #[test]
    fn a_pixmap_has_all_of_its_pixels() {
        let bytes = b"P6\n2 1\n255\n\x01\x02\x03\n\x0A\xFF";
        let read = Pixmap::parse(bytes).unwrap();
        assert_eq!((read.width, read.height), (2, 1));
        assert_eq!(read.pixels, b"\x01\x02\x03\n\x0A\xFF");
        for wrong in [
            &bytes[..bytes.len() - 1],
            b"P5\n2 1\n255\n123456",
            b"P6\n2 1\n65535\n123456",
            b"P6\n2",
            b"",
        ] {
            assert!(Pixmap::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_machine_is_waited_for_until_it_shows_something() {
        let folder = tempfile::tempdir().unwrap();
        let console = folder.path().join("console.log");
        let limit = Duration::from_secs(5);
        let window = Screen::Window("gtk");
        let mut attendant = Attendant::new(&window, &console, limit);
        assert!(attendant.attend(Duration::from_secs(4)));
        assert!(!attendant.attend(limit), "it shows nothing");
        std::fs::write(&console, format!("GPU on\n{SHOWN} 1 x 1\n")).unwrap();
        assert!(attendant.attend(limit));
        assert!(attendant.attend(Duration::from_secs(1 << 20)));
        assert_eq!(attendant.finish("").unwrap(), None);
    }

    #[test]
    fn an_image_that_shows_nothing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let console = folder.path().join("console.log");
        let attendant = Attendant::new(&Screen::Kept, &console, Duration::ZERO);
        assert!(attendant.finish("the console").is_err());
    }
}
