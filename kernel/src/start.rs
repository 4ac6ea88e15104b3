//! Start: brings the parts up, in order, and calls the image's `main`.

use crate::{
    build_id::BuildId, console, crash, firmware, heap, interrupts, linked, logger, memory, println,
};
use cortex_a::registers::{CurrentEL, MPIDR_EL1, Readable};
use eitri_boards::{Board, Exit};

/// What an image's `main` is given.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The board that it runs on.
    pub board: &'static Board,
    /// What the loader left in x0: the address of a device tree, or 0.
    pub device_tree: u64,
}

/// What an image states about itself: see [`crate::image!`].
#[derive(Clone, Copy)]
pub struct Image {
    /// The board that it is linked for.
    pub board: &'static Board,
    /// Called while the initial map is still in use, with the console alone.
    pub first: Option<fn(&'static Board)>,
    /// Called when everything is there.
    pub main: fn(Kernel) -> Exit,
}

/// Called by what [`crate::image!`] expands to; never by an image itself.
///
/// # Safety
/// Called once, by the entry of the image, with the initial map of `image.board` in use.
pub unsafe fn start(image: Image, device_tree: u64) -> ! {
    let board = image.board;
    // SAFETY: a board's registers are there, the initial map has the console as device memory, and nothing has run
    // before that could drive it.
    unsafe { console::open(&board.console) };
    firmware::open(board.firmware);
    crash::end_as(board.ending);
    println!(
        "eitri {} on {}, build {}",
        env!("CARGO_PKG_VERSION"),
        board.title,
        BuildId::of_image()
    );
    println!(
        "EL{}, MPIDR {:#x}, x0 {device_tree:#x}",
        CurrentEL.read(CurrentEL::EL),
        MPIDR_EL1.get()
    );
    if let Some(first) = image.first {
        first(board);
    }
    // SAFETY: a board's heap is memory for nobody else, and the initial map has it; the map proper has the GIC's registers
    // as device memory. Each is opened here alone.
    unsafe {
        heap::open(board.memory.heap);
        memory::map(board);
        interrupts::open(&board.gic);
    }
    logger::announce();
    let kernel = Kernel { board, device_tree };
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
    interrupts::unmask();
    let exit = main(kernel);
    println!("exit status {}", exit.status());
    crash::end(exit)
}
