//! Display: a screen that shows what lies in memory.
//!
//! [`Display::open`] takes the board's display, [`Display::show`] puts a picture on it, as often as there are new ones: a frame costs a
//! pass over the screen's memory and no allocation. Nothing else of the kernel names this module, so that it is not linked into an image
//! that shows nothing.
//!
//! Guarantees: the screen's memory has one owner.  Never: sets up a display controller: on a board the boot loader did.
//! Facts: hardware/boards.md 3.1 items 2 and 3 (memory that a device reads).

mod fw_cfg;
mod ramfb;
mod simple_framebuffer;

use crate::{Kernel, cache};
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use eitri_boards::device_tree::FramebufferError;
use eitri_boards::{Display as Described, Region};
use eitri_picture::{LayoutError, Mode, Picture, Placement, row};
use fw_cfg::FwCfgError;
use ramfb::Ramfb;

/// A display with the memory that it reads.
pub struct Display {
    mode: Mode,
    memory: &'static mut [u8],
    caching: Caching,
    /// One line of it, where the CPU is quick.
    line: Vec<u8>,
    /// Where the last picture went.
    last: Option<Placement>,
    /// The device, if it can be told to read elsewhere. It can't here: the memory is the one that it reads.
    movable: Option<Ramfb>,
}

/// How the CPU sees a display's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caching {
    /// Through its caches: what was written is cleaned.
    WriteBack,
    /// Past them.
    None,
}

/// Why there is no display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayError {
    /// It has an owner already.
    Taken,
    /// QEMU's configuration device does not do what it should, or there is no `ramfb`.
    FwCfg(FwCfgError),
    /// The image has no device tree, which would say where the loader has left one.
    NoTree,
    /// The device tree gives none.
    Tree(FramebufferError),
    /// Its pixel format is not known.
    Format,
    /// Its sizes contradict each other.
    Layout(LayoutError),
}

impl fmt::Display for DisplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DisplayError::Taken => f.write_str("the display is in use already"),
            DisplayError::FwCfg(error) => error.fmt(f),
            DisplayError::NoTree => f.write_str(
                "the boot loader has handed over no device tree, which names its display",
            ),
            DisplayError::Tree(error) => error.fmt(f),
            DisplayError::Format => {
                f.write_str("the display that the boot loader has left has an unknown pixel format")
            }
            DisplayError::Layout(error) => write!(f, "the display that was left: {error}"),
        }
    }
}

impl core::error::Error for DisplayError {}

static TAKEN: AtomicBool = AtomicBool::new(false);

impl Display {
    /// Takes the board's display. It shows what it showed before until the first picture.
    ///
    /// # Errors
    /// When there is none, or it was taken before.
    pub fn open(kernel: &Kernel) -> Result<Display, DisplayError> {
        if TAKEN.swap(true, Ordering::Relaxed) {
            return Err(DisplayError::Taken);
        }
        let left = kernel.tree.ok_or(DisplayError::NoTree);
        // SAFETY: it is the tree that the loader has handed over for this board; `TAKEN` makes this the only owner.
        let left = left.and_then(|tree| unsafe { simple_framebuffer::open(tree, kernel.board) });
        match (left, kernel.board.display) {
            (
                Err(DisplayError::NoTree | DisplayError::Tree(FramebufferError::None)),
                Described::Ramfb { fw_cfg },
            ) => {
                // SAFETY: the board says that the device is there; `TAKEN` makes this the only user of it.
                unsafe { ramfb::open(fw_cfg) }
            }
            (left, _) => left,
        }
    }

    fn new(mode: Mode, memory: &'static mut [u8], caching: Caching) -> Display {
        Display {
            mode,
            memory,
            caching,
            line: alloc::vec![0; mode.line_bytes()],
            last: None,
            movable: None,
        }
    }

    /// The display as one that reads pictures where they lie; itself again if it reads where it does for good: QEMU's can be moved,
    /// one that a boot loader has left can not. It shows what it shows until it is told.
    #[expect(
        clippy::result_large_err,
        reason = "it is the display, which is moved once"
    )]
    pub fn into_direct(mut self) -> Result<DirectDisplay, Display> {
        match self.movable.take() {
            Some(ramfb) => Ok(DirectDisplay { ramfb }),
            None => Err(self),
        }
    }

    /// Size and format.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// Shows a picture: enlarged or shrunk by a whole factor, in the middle, on black. Gives where it is.
    pub fn show(&mut self, picture: &Picture<'_>) -> Placement {
        let placement = Placement::of(picture, &self.mode);
        // What is black stays black for as long as pictures go to the same place.
        let all = self.last != Some(placement);
        self.last = Some(placement);
        let mut made = None;
        let lines = self.memory.chunks_mut(self.mode.stride());
        for (y, memory) in lines.take(self.mode.height()).enumerate() {
            let source = placement.source_line(y);
            if source.is_none() && !all {
                continue;
            }
            if made != Some(source) {
                made = Some(source);
                row(picture, &placement, &self.mode, y, &mut self.line);
            }
            if let Some(memory) = memory.get_mut(..self.line.len()) {
                memory.copy_from_slice(&self.line);
            }
        }
        self.finish();
        placement
    }

    /// Lets the display see what was written.
    fn finish(&self) {
        match self.caching {
            Caching::WriteBack => cache::clean_and_invalidate(Region {
                base: self.memory.as_ptr().addr(),
                bytes: self.memory.len(),
            }),
            Caching::None => cache::finish_writes(),
        }
    }
}

/// A display that reads each picture where it was made.
pub struct DirectDisplay {
    ramfb: Ramfb,
}

impl DirectDisplay {
    /// The pixels that it reads, by Vulkan's name.
    pub const FORMAT: &'static str = "B8G8R8A8_UNORM";

    /// Lets it read a picture: `width` pixels a row, `row_bytes` from one to the next, `height` rows. It goes on reading there until the
    /// next one.
    ///
    /// # Errors
    /// If the device does not obey.
    pub fn read_from(
        &mut self,
        address: u64,
        size: (u32, u32),
        row_bytes: u32,
    ) -> Result<(), DisplayError> {
        Ok(self.ramfb.read_from(address, size, row_bytes)?)
    }
}
