//! Show: an image that a job has left, on the board's display.
//!
//! The picture stays until the machine is switched off: the image does not end. What is wrong is said on the console.

use crate::job::{exit_of, given, open, run_bundle};
use core::fmt;
use eitri_boards::Exit;
use eitri_job::{Bundle, Content, SHOWN, Saved, Verdict};
use eitri_kernel::display::{Display, DisplayError};
use eitri_kernel::{Kernel, interrupts, println};
use eitri_picture::{LayoutError, Picture, PixelFormat};

/// Why there is nothing to be seen.
enum ShowError {
    /// What is to be shown has no name that there could be.
    Name,
    /// The job has no such image, or does not save it.
    NoImage,
    /// Its format can't be shown.
    Format(&'static str),
    /// Its size can't be shown.
    Layout(LayoutError),
    /// There is no display.
    Display(DisplayError),
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShowError::Name => f.write_str("what is to be shown has no set, binding and element"),
            ShowError::NoImage => f.write_str("the job leaves no such image"),
            ShowError::Format(name) => write!(f, "{name} can't be shown"),
            ShowError::Layout(error) => write!(f, "the picture: {error}"),
            ShowError::Display(error) => error.fmt(f),
        }
    }
}

/// Runs a job bundle as [`crate::run_job`] does, then shows an image that it saves: `shown` is its set, binding and element, with spaces
/// between. Returns only when there is nothing to be shown.
pub fn run_job_and_show(kernel: Kernel, bundle: &[u8], shown: &str) -> Exit {
    let bundle = &*given(&kernel, bundle);
    let bundle = match open(bundle) {
        Ok(bundle) => bundle,
        Err(exit) => return exit,
    };
    let ended = match run_bundle(&kernel, &bundle) {
        Ok(ended) => ended,
        Err(exit) => return exit,
    };
    if ended.verdict != Verdict::Good {
        return exit_of(ended.verdict);
    }
    match show(&kernel, &bundle, &ended.saved, shown) {
        Ok(()) => stay(),
        Err(error) => {
            println!("nothing is shown: {error}");
            Exit::Failed
        }
    }
}

fn show(
    kernel: &Kernel,
    bundle: &Bundle<'_>,
    saved: &[Saved],
    shown: &str,
) -> Result<(), ShowError> {
    let picture = picture(bundle, saved, shown)?;
    let mut display = Display::open(kernel).map_err(ShowError::Display)?;
    let placement = display.show(&picture);
    println!(
        "{SHOWN} {} x {}, {}, on {} x {}",
        picture.width(),
        picture.height(),
        placement.scale,
        display.mode().width(),
        display.mode().height()
    );
    Ok(())
}

/// The first level and layer of the image that is to be shown.
fn picture<'s>(
    bundle: &Bundle<'_>,
    saved: &'s [Saved],
    shown: &str,
) -> Result<Picture<'s>, ShowError> {
    let mut numbers = shown.split_ascii_whitespace().map(str::parse);
    let (Some(Ok(set)), Some(Ok(binding)), Some(Ok(element))) =
        (numbers.next(), numbers.next(), numbers.next())
    else {
        return Err(ShowError::Name);
    };
    let place = (set, binding, element);
    let info = bundle.resources().find_map(|resource| {
        let here = (resource.set, resource.binding, resource.element) == place;
        match resource.content {
            Content::Image(info) if here => Some(info),
            _ => None,
        }
    });
    let saved = saved.iter().find(|saved| saved.place == place);
    let (info, saved) = info.zip(saved).ok_or(ShowError::NoImage)?;
    let name = info.format.name;
    let format = PixelFormat::of_vulkan(name).ok_or(ShowError::Format(name))?;
    let (width, height) = (info.width as usize, info.height as usize);
    let stride = width.saturating_mul(format.bytes());
    Picture::new(width, height, stride, format, &saved.bytes).map_err(ShowError::Layout)
}

/// The board's display for pictures that follow one another.
pub struct Shown {
    display: Display,
    /// Whether the console has been told.
    said: bool,
}

impl Shown {
    /// Takes the board's display; what is wrong is said on the console.
    ///
    /// # Errors
    /// How the image has to end, if there is none.
    pub fn open(kernel: &Kernel) -> Result<Shown, Exit> {
        match Display::open(kernel) {
            Ok(display) => Ok(Shown {
                display,
                said: false,
            }),
            Err(error) => {
                println!("nothing is shown: {error}");
                Err(Exit::Failed)
            }
        }
    }

    /// Shows a picture of 8-bit red, green, blue and alpha. The first is said on the console.
    ///
    /// # Errors
    /// If it has fewer bytes than pixels.
    pub fn show(&mut self, width: usize, height: usize, pixels: &[u8]) -> Result<(), LayoutError> {
        let format = PixelFormat::R8G8B8A8;
        let stride = width.saturating_mul(format.bytes());
        let picture = Picture::new(width, height, stride, format, pixels)?;
        let placement = self.display.show(&picture);
        if !self.said {
            self.said = true;
            let mode = self.display.mode();
            println!(
                "{SHOWN} {width} x {height}, {}, on {} x {}",
                placement.scale,
                mode.width(),
                mode.height()
            );
        }
        Ok(())
    }

    /// Leaves the display as it is, for good.
    pub fn stay(self) -> ! {
        stay()
    }
}

/// Leaves the display as it is.
fn stay() -> ! {
    loop {
        interrupts::sleep();
    }
}
