//! Simple framebuffer: the display that a boot loader has set up and left on, by the device tree that it hands over.
//!
//! Its memory is mapped as normal memory that is not cached: what is written there is gathered, and goes past the caches.
//! Facts: hardware/boards.md 3.1 items 2 and 3; `eitri_boards::device_tree::Framebuffer`.

use super::{Caching, Display, DisplayError};
use crate::memory;
use eitri_boards::Board;
use eitri_boards::device_tree::DeviceTree;
use eitri_picture::{Mode, PixelFormat};

/// Takes the display that a tree names.
///
/// # Safety
/// The tree is what the loader of this machine, which is such a board, has handed over. Called once.
pub(super) unsafe fn open(tree: DeviceTree<'_>, board: &Board) -> Result<Display, DisplayError> {
    let found = tree.framebuffer(board).map_err(DisplayError::Tree)?;
    let format = PixelFormat::of_device_tree(found.format).ok_or(DisplayError::Format)?;
    let mode = Mode::new(found.width, found.height, found.stride, format);
    let mode = mode.map_err(DisplayError::Layout)?;
    mode.fits(found.memory.bytes)
        .map_err(DisplayError::Layout)?;
    // SAFETY: the caller's promise: the loader says that a display reads this memory and nobody else uses it, and it is apart from
    // everything that the board maps.
    let memory = unsafe { memory::uncached(found.pages(), found.memory) };
    Ok(Display::new(mode, memory, Caching::None))
}
