//! Start: brings the parts up, in order, and calls the image's `main`.

use crate::{
    build_id::BuildId, console, crash, firmware, found, heap, interrupts, linked, logger, memory,
    println, watchdog,
};
use cortex_a::registers::{CurrentEL, MPIDR_EL1, Readable};
use eitri_boards::device_tree::{self, DeviceTree, TreeError};
use eitri_boards::{Board, Description, Exit, Memory, Region, Target};

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
unsafe fn open_tree(tree: usize, board: &'static Board) -> DeviceTree<'static> {
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
unsafe fn open_file(tree: DeviceTree<'_>, board: &'static Board) -> Option<&'static [u8]> {
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

/// What an image states about itself: see [`crate::image!`].
#[derive(Clone, Copy)]
pub struct Image {
    /// What it is built for.
    pub target: Target,
    /// The tables of the initial map.
    pub tables: memory::Pages,
    /// Called while the initial map is still in use, with the console alone.
    pub first: Option<fn(&'static Board)>,
    /// Called when everything is there.
    pub main: fn(Kernel) -> Exit,
}

/// The first line of an image: which it is, and for what.
pub(crate) fn announce(title: &str) {
    println!(
        "eitri {} on {title}, build {}",
        env!("CARGO_PKG_VERSION"),
        BuildId::of_image()
    );
}

/// Called by what [`crate::image!`] expands to; never by an image itself.
///
/// # Safety
/// Called once, by the entry of the image, with the initial map of `image.target` in use, whose tables are `image.tables`.
pub unsafe fn start(image: Image, device_tree: u64) -> ! {
    let board = match image.target {
        Target::Board(board) => {
            // SAFETY: a board's registers are there, the initial map has the console as device memory, and nothing has run
            // before that could drive it.
            unsafe { console::open(&board.console) };
            firmware::open(board.firmware, None);
            crash::end_as(board.ending);
            announce(board.title);
            board
        }
        // SAFETY: the caller's promise; the entry has mapped the tree, if there is one.
        Target::Outline(outline) => unsafe { found::board(outline, image.tables, device_tree) },
    };
    println!(
        "EL{}, MPIDR {:#x}, x0 {device_tree:#x}",
        CurrentEL.read(CurrentEL::EL),
        MPIDR_EL1.get()
    );
    let tree = usize::try_from(device_tree).ok().filter(|tree| *tree != 0);
    if let Some(tree) = tree {
        device_tree::is_apart(tree, &as_linked(board)).unwrap_or_else(|error| refuse(error));
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
    let tree = tree.map(|tree| unsafe { open_tree(tree, board) });
    if let Some(console) = tree.and_then(|tree| tree.console(&as_linked(board))) {
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
    // SAFETY: the same: it is apart from what the board uses, and the loader has put it there.
    let file = tree.and_then(|tree| unsafe { open_file(tree, board) });
    firmware::open(board.firmware, tree);
    logger::announce();
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
        println!("the watchdog can't be refreshed: {error:?}");
    }
    interrupts::unmask();
    let exit = main(kernel);
    println!("exit status {}", exit.status());
    crash::end(exit)
}
