//! Start: brings the parts up, in order, and calls the image's `main`.

use crate::found::{self, Finder};
use crate::loader_tree::{FromLoader, TreeReader};
use crate::{
    build_id::{BuildId, about},
    console, crash, firmware, heap, interrupts, linked, memory, println, watchdog,
};
use cortex_a::registers::{CurrentEL, MPIDR_EL1, Readable};
use eitri_boards::device_tree::DeviceTree;
use eitri_boards::{Board, Exit, Outline, Target};

/// What an image's `main` is given.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The board that it runs on.
    pub board: &'static Board,
    /// The device tree that the loader has handed over, which agrees with the board.
    pub tree: Option<DeviceTree<'static>>,
    /// The file that the loader has put beside the image: the GPU's firmware.
    pub file: Option<&'static [u8]>,
    /// The host has asked for cached memory of the GPU's, with the word `cached`: whoever uses it keeps the caches up.
    pub shared_is_cached: bool,
}

/// The word on the host's command line that asks for cached memory of the GPU's.
const CACHED: &str = "cached";

/// Whether the host has asked for it.
fn is_cached(board: &Board) -> bool {
    let mut buffer = [0; 4096];
    let line = board
        .host()
        .and_then(|host| host.command_line(&mut buffer).ok());
    line.is_some_and(|line| line.split_ascii_whitespace().any(|word| word == CACHED))
}

impl Kernel {
    /// The command line: the host's, or else the boot loader's. `buffer` is for the host's; one that does not fit there is
    /// none.
    pub fn command_line<'b>(&self, buffer: &'b mut [u8]) -> &'b str {
        match self.board.host() {
            Some(host) => host.command_line(buffer).unwrap_or_default(),
            None => self.tree.map_or("", |tree| tree.arguments()),
        }
    }
}

/// What an image states about itself: see [`crate::image!`].
#[derive(Clone, Copy)]
pub struct Image {
    /// How it comes to its board.
    pub origin: Origin,
    /// The tables of the initial map.
    pub tables: memory::Pages,
    /// Called while the initial map is still in use, with the console alone.
    pub first: Option<fn(&'static Board)>,
    /// Called when everything is there.
    pub main: fn(Kernel) -> Exit,
}

/// How an image comes to its board. What reads device trees is linked into those images alone that read one.
#[derive(Clone, Copy)]
pub enum Origin {
    /// It states the board. The loader's device tree is compared with it, or nobody looks at it.
    Stated(&'static Board, Option<TreeReader>),
    /// It finds the rest of an outline in the loader's device tree.
    Found(&'static Outline, Finder, TreeReader),
}

impl Origin {
    /// Of an image for this target, which reads the loader's device tree or does not.
    ///
    /// # Panics
    /// While it is compiled: when it is for an outline, and does not.
    pub const fn of(target: Target, reads_tree: bool) -> Origin {
        match (target, reads_tree) {
            (Target::Board(board), true) => Origin::Stated(board, Some(TreeReader::NEW)),
            (Target::Board(board), false) => Origin::Stated(board, None),
            (Target::Outline(outline), true) => {
                Origin::Found(outline, found::board, TreeReader::NEW)
            }
            (Target::Outline(_), false) => {
                panic!("only its device tree says what this machine has: the image has to read it")
            }
        }
    }

    const fn reader(self) -> Option<TreeReader> {
        match self {
            Origin::Stated(_, reader) => reader,
            Origin::Found(_, _, reader) => Some(reader),
        }
    }
}

/// The first lines of an image: which it is, for what, and what it was made of.
pub(crate) fn announce(title: &str) {
    println!(
        "eitri {} on {title}, build {}",
        env!("CARGO_PKG_VERSION"),
        BuildId::of_image()
    );
    if let Some(about) = about() {
        println!("image: {about}");
    }
}

/// Called by what [`crate::image!`] expands to; never by an image itself.
///
/// # Safety
/// Called once, by the entry of the image, with the initial map of `image` in use, whose tables are `image.tables`.
pub unsafe fn start(image: Image, device_tree: u64) -> ! {
    let board = match image.origin {
        Origin::Stated(board, _) => {
            // SAFETY: a board's registers are there, the initial map has the console as device memory, and nothing has run
            // before that could drive it.
            unsafe { console::open(&board.console) };
            firmware::open(board.firmware, None);
            crash::end_as(board.ending);
            announce(board.title);
            board
        }
        // SAFETY: the caller's promise; the entry has mapped the tree, if there is one.
        Origin::Found(outline, find, _) => unsafe { find(outline, image.tables, device_tree) },
    };
    println!(
        "EL{}, MPIDR {:#x}, x0 {device_tree:#x}",
        CurrentEL.read(CurrentEL::EL),
        MPIDR_EL1.get()
    );
    let tree = usize::try_from(device_tree).ok().filter(|tree| *tree != 0);
    let tree = tree.zip(image.origin.reader());
    if let Some((tree, reader)) = tree {
        (reader.check)(tree, board);
    }
    if let Some(first) = image.first {
        first(board);
    }
    let shared_is_cached = is_cached(board);
    // SAFETY: a board's heap is memory for nobody else, and the initial map has it; the map proper has the GIC's registers
    // as device memory. Each is opened here alone.
    unsafe {
        heap::open(board.memory.heap);
        memory::map(board, shared_is_cached);
        interrupts::open(&board.gic);
    }
    // SAFETY: the map proper is in use; the loader has put a tree there, or it is refused.
    let from_loader = tree.map(|(tree, reader)| unsafe { (reader.read)(tree, board) });
    let FromLoader {
        tree,
        conduit,
        file,
    } = from_loader.unwrap_or_default();
    firmware::open(board.firmware, conduit);
    let kernel = Kernel {
        board,
        tree,
        file,
        shared_is_cached,
    };
    on_main_stack(kernel, image.main)
}

/// Goes on with SP_EL0: exceptions then have SP_EL1, so that a stack that overflows can still be reported.
fn on_main_stack(kernel: Kernel, main: fn(Kernel) -> Exit) -> ! {
    let mut call = (kernel, main);
    let top = linked::main_stack().end();
    // SAFETY: the main stack is mapped, 16-byte aligned and used by nobody else. The old stack, with `call` in it, stays
    // as it is: exceptions push below the stack pointer that SP_EL1 keeps.
    unsafe {
        core::arch::asm!(
            "msr spsel, #0",
            "mov sp, {top}",
            "mov x29, xzr",
            "mov x30, xzr",
            "b {go}",
            top = in(reg) top,
            in("x0") &raw mut call,
            go = sym go,
            options(noreturn),
        )
    }
}

extern "C" fn go(call: &(Kernel, fn(Kernel) -> Exit)) -> ! {
    let (kernel, main) = *call;
    if let Err(error) = watchdog::open(kernel.board) {
        println!("the watchdog can't be refreshed: {error}");
    }
    interrupts::unmask();
    let exit = main(kernel);
    println!("exit status {}", exit.status());
    crash::end(exit)
}
