//! Loader's tree: the device tree that a boot loader hands over, compared with the board, and what it tells.
//!
//! An image that does not read it has none of this, and none of `eitri_boards::device_tree`, linked into it.
//! Facts: hardware/boards.md 2.2, 2.3.

use crate::start::announce;
use crate::{console, crash, linked, memory, println};
use eitri_boards::device_tree::{self, DeviceTree, Identity, TreeError};
use eitri_boards::{Board, Conduit, Description, Exit, Memory, Region};

/// What reads the tree.
#[derive(Clone, Copy)]
pub struct TreeReader {
    /// Ends the image when the tree lies at an address where it can't stay.
    pub(crate) check: fn(usize, &'static Board),
    /// Reads it, compares it with the board, and goes on with the console that it names. Safety: the map proper is in use; at the
    /// address lies memory that nobody writes, up to the length that a tree there says it has, and it passed `check`.
    pub(crate) read: unsafe fn(usize, &'static Board) -> FromLoader,
}

impl TreeReader {
    pub(crate) const NEW: TreeReader = TreeReader { check, read };
}

/// What the loader has told.
#[derive(Clone, Copy, Default)]
pub(crate) struct FromLoader {
    /// The tree.
    pub(crate) tree: Option<DeviceTree<'static>>,
    /// How the firmware is called.
    pub(crate) conduit: Option<Conduit>,
    /// The file beside the image.
    pub(crate) file: Option<&'static [u8]>,
}

fn check(tree: usize, board: &'static Board) {
    device_tree::is_apart(tree, &as_linked(board)).unwrap_or_else(|error| refuse(error));
}

/// See [`TreeReader::read`].
unsafe fn read(tree: usize, board: &'static Board) -> FromLoader {
    // SAFETY: the caller's promise.
    let tree = unsafe { open(tree, board) };
    if let Some(console) = tree.console(&as_linked(board)) {
        println!(
            "the device tree's console is the UART at {:#x}: it goes on there",
            console.base().address()
        );
        // SAFETY: the loader's own console: its registers are there, and the loader has set it up and is gone.
        unsafe {
            memory::device(console.base().address());
            console::change(&console);
        }
        announce(board.title);
    }
    let identity = tree.identity();
    if identity != Identity::default() {
        println!("machine: {identity}");
    }
    FromLoader {
        tree: Some(tree),
        conduit: tree.conduit(),
        // SAFETY: the caller's promise: the loader has put the file where the tree says.
        file: unsafe { file(tree, board) },
    }
}

/// The board with the memory that this image has of it, which is less than it could have: only that is the loader's business.
fn as_linked(board: &Board) -> Description {
    let description = *board.description();
    let memory = Memory {
        image: linked::image(),
        ..description.memory
    };
    Description {
        memory,
        ..description
    }
}

/// Reads the device tree and compares it with the board.
///
/// # Safety
/// The map proper is in use. At `tree`, which is apart from what the board uses, lies memory that nobody writes, up to the
/// length that a tree there says it has.
unsafe fn open(tree: usize, board: &'static Board) -> DeviceTree<'static> {
    let read = || {
        // SAFETY: the caller's promise: the first bytes say how many there are.
        let begin = unsafe {
            memory::constants(Region {
                base: tree,
                bytes: 8,
            })
        };
        let begin = begin.first_chunk().copied().unwrap_or_default();
        let bytes = device_tree::total_bytes(begin)?;
        // SAFETY: the caller's promise.
        let bytes = unsafe { memory::constants(Region { base: tree, bytes }) };
        let tree = DeviceTree::parse(bytes)?;
        tree.check(&as_linked(board))?;
        Ok(tree)
    };
    read().unwrap_or_else(|error| refuse(error))
}

/// The file beside the image.
///
/// # Safety
/// The map proper is in use. Where the tree says that a file is lies memory that nobody writes.
unsafe fn file(tree: DeviceTree<'_>, board: &'static Board) -> Option<&'static [u8]> {
    let region = tree
        .file(&as_linked(board))
        .unwrap_or_else(|error| refuse(error))?;
    println!(
        "beside the image: {} bytes at {:#x}",
        region.bytes, region.base
    );
    // SAFETY: the caller's promise; `file` has seen to it that it is apart from what the board uses.
    Some(unsafe { memory::constants(region) })
}

/// Ends an image that this machine is not for.
pub(crate) fn refuse(error: TreeError) -> ! {
    println!("{error}");
    crash::end(Exit::Refused)
}
