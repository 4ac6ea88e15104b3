//! Found: the board that an outline is, once its device tree was read.
//!
//! Relies on: the entry has mapped the image and the tree, and nothing else. The console comes first, so that what is missing of the
//! rest can be said; a tree without a console that can be driven ends the image without a word, by a reset where the tree names a
//! firmware.  Facts: hardware/boards.md 2.2, 3.1 item 4.

use crate::loader_tree::refuse;
use crate::memory::{self, Kind, Pages};
use crate::start::announce;
use crate::{console, crash, firmware, heap, interrupts, linked, println};
use alloc::boxed::Box;
use core::slice;
use eitri_boards::device_tree::{DeviceTree, TreeError, total_bytes};
use eitri_boards::uart;
use eitri_boards::{Board, Console, Exit, Firmware, Gic, Outline, Region};

/// What finds the board.
pub(crate) type Finder = unsafe fn(&'static Outline, Pages, u64) -> &'static Board;

/// Finds everything that the outline does not have; the console and the heap are open afterwards.
///
/// # Safety
/// The initial map is in use, these are its tables, and it has the image and what lies up to 2 MiB behind `device_tree`, unless
/// that is 0. Called once.
pub(crate) unsafe fn board(
    outline: &'static Outline,
    tables: Pages,
    device_tree: u64,
) -> &'static Board {
    let place = usize::try_from(device_tree).unwrap_or(0);
    // SAFETY: the caller's promise.
    let Some(tree) = (unsafe { read(place) }) else {
        silent();
    };
    firmware::open(Firmware::AsTreeSays, tree.conduit());
    crash::end_as(outline.ending);
    let Some(named) = tree.named_console() else {
        crash::end(Exit::Refused);
    };
    let page = Region {
        base: named.console.base().address(),
        bytes: 1,
    };
    // SAFETY: the caller's promise; where the loader's own console is are registers, which nobody drives any more.
    unsafe {
        if !memory::add_to_initial(tables, page, Kind::Device) {
            crash::end(Exit::Refused);
        }
        console::open(&named.console);
    }
    announce(outline.title);
    if named.inferred {
        println!(
            "that the console is a 16550 with registers of 32 bits is only inferred, and was asked for"
        );
    }
    let contradiction = |what| refuse(TreeError::Contradiction { what });
    let machine = tree.machine(outline, named.console, linked::image(), place);
    let machine = machine.unwrap_or_else(|error| refuse(error));
    // SAFETY: the tree has this memory for nobody else, and it is apart from image and tree.
    if !unsafe { memory::add_to_initial(tables, machine.heap, Kind::Data) } {
        contradiction("the heap lies where it can't be mapped");
    }
    // SAFETY: the same; it is mapped now.
    unsafe { heap::open(machine.heap) };
    println!(
        "of the device tree: {} at {:#x}, GIC of version {} at {:#x} and {:#x}, timers PPI {} and {}",
        kind(&machine.console),
        machine.console.base().address(),
        match machine.gic {
            Gic::V2 { .. } => 2,
            Gic::V3 { .. } => 3,
        },
        machine.gic.distributor().address(),
        machine.gic.of_cpus().address(),
        machine.virtual_timer_ppi,
        machine.physical_timer_ppi
    );
    let devices = [outline.devices, &machine.devices].concat().leak();
    // SAFETY: the image was built for this outline, whose addresses are the chip's, and the loader has described this machine.
    let board = unsafe { outline.on(&machine, devices) };
    Box::leak(Box::new(board.unwrap_or_else(contradiction)))
}

/// The tree; `None` where there is none.
///
/// # Safety
/// As for [`board`].
unsafe fn read(place: usize) -> Option<DeviceTree<'static>> {
    if place == 0 || !place.is_multiple_of(8) {
        return None;
    }
    // SAFETY: the caller's promise: so much is mapped.
    let begin = unsafe { slice::from_raw_parts(place as *const u8, 8) };
    let bytes = total_bytes(*begin.first_chunk()?).ok()?;
    // SAFETY: the same: a tree has 2 MiB at most. Nobody writes it.
    DeviceTree::parse(unsafe { slice::from_raw_parts(place as *const u8, bytes) }).ok()
}

/// There is nothing that a word could be said with.
fn silent() -> ! {
    loop {
        interrupts::sleep();
    }
}

fn kind(console: &Console) -> &'static str {
    match console {
        Console::Pl011 { .. } => "a PL011",
        Console::Polled {
            kind: uart::Kind::DW8250,
            ..
        } => "a 16550",
        Console::Polled {
            kind: uart::Kind::LPUART,
            ..
        } => "an LPUART",
        Console::Polled { .. } => "a UART of a kind of its own",
    }
}
