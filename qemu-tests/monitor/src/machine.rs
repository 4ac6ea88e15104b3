//! Machine: which board the image sees, and where in QEMU's memory that board's memory is.
//!
//! QEMU's own machine is seen as it is. Of another board the image sees the memory that it uses, at the board's addresses; the
//! interrupt controller, whose private interrupts are QEMU's; a console, and stand-ins for what is around the GPU. Nothing else
//! answers. Addresses of the image's are physical ones of that board; only this module knows QEMU's.
//! An outline's image sees QEMU's memory, console and interrupt controller, which its device tree names, and the outline's own
//! registers; the memory at other addresses than QEMU's, since those are other machines' registers.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use eitri_boards::device_tree::Machine as Described;
use eitri_boards::qemu_virt::{ANYWHERE_RAM, BOARD as QEMU, GUEST_RAM, MONITOR_RAM, TREE};
use eitri_boards::{Board, Console, Gic, Outline, Region, Target};
use spin::Once;

/// What the image sees of memory and of registers that are passed on: where, and where it is in QEMU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The board's addresses.
    pub(crate) seen: Region,
    /// QEMU's first address.
    pub(crate) place: usize,
}

/// The machine.
pub(crate) struct Machine {
    pub(crate) board: &'static Board,
    ram: Vec<Part>,
}

static MACHINE: Once<Machine> = Once::new();

/// Where the device tree is, as the image sees it, on a board that is not QEMU's: behind the memory that it uses.
pub(crate) fn tree(board: &Board) -> Region {
    match is_outlined(board) {
        true => anywhere(TREE),
        false => Region::new(board.memory.shared.end(), TREE.bytes),
    }
}

/// Where memory of QEMU's is seen by an image that runs anywhere.
fn anywhere(region: Region) -> Region {
    Region::new(
        region.base - GUEST_RAM.base + ANYWHERE_RAM.base,
        region.bytes,
    )
}

/// Whether only an outline of the board is known to its image.
fn is_outlined(board: &Board) -> bool {
    Target::named(board.name).is_some_and(|target| target.board().is_none())
}

/// The board of that name; an outline is one on a machine that is QEMU's but for its memory's addresses.
pub(crate) fn named(name: &str) -> Option<&'static Board> {
    match Target::named(name)? {
        Target::Board(board) => Some(board),
        Target::Outline(outline) => outlined(outline),
    }
}

fn outlined(outline: &Outline) -> Option<&'static Board> {
    const PAGE: usize = 0x1000;
    let (memory, gic) = (QEMU.memory, QEMU.gic);
    let machine = Described {
        image: anywhere(memory.image),
        heap: anywhere(memory.heap),
        shared: anywhere(memory.shared),
        controller: None,
        console: QEMU.console,
        gic,
        virtual_timer_ppi: QEMU.virtual_timer_ppi,
        physical_timer_ppi: QEMU.physical_timer_ppi,
        devices: [QEMU.console.base(), gic.distributor(), gic.of_cpus()]
            .map(|base| Region::new(base.address(), PAGE)),
    };
    let devices = [outline.devices, &machine.devices].concat();
    // SAFETY: nothing of it becomes a pointer here: it says what the image sees, and `Part` where that is.
    let board = unsafe { outline.on(&machine, devices.leak()) };
    board.ok().map(|board| &*Box::leak(Box::new(board)))
}

/// Lets the image see a board; QEMU's own with so much memory above the monitor.
pub(crate) fn show(board: &'static Board, above: usize) {
    let part = |seen: Region, place: Region| {
        assert!(seen.bytes <= place.bytes, "QEMU has less than {seen:x?}");
        let place = place.base;
        Part { seen, place }
    };
    let (memory, qemu) = (board.memory, QEMU.memory);
    let ram = match is_qemu(board) {
        true => [GUEST_RAM, Region::new(MONITOR_RAM.end(), above)]
            .into_iter()
            .filter(|region| region.bytes != 0)
            .map(|region| part(region, region))
            .collect(),
        false if is_outlined(board) => vec![part(ANYWHERE_RAM, GUEST_RAM)],
        false => vec![
            part(memory.image, qemu.image),
            part(memory.heap, qemu.heap),
            part(memory.shared, qemu.shared),
            part(tree(board), TREE),
        ],
    };
    MACHINE.call_once(|| Machine { board, ram });
}

/// Whether a board is QEMU's own machine.
pub(crate) fn is_qemu(board: &Board) -> bool {
    board.name == QEMU.name
}

/// The board.
pub(crate) fn board() -> &'static Board {
    MACHINE.get().map_or(&QEMU, |machine| machine.board)
}

/// The memory that the image sees.
pub(crate) fn ram() -> &'static [Part] {
    MACHINE.get().map_or(&[], |machine| &machine.ram)
}

/// Where `bytes` bytes of memory are in QEMU that the image sees at an address; `None` where not all of them are memory.
pub(crate) fn place(address: u64, bytes: usize) -> Option<usize> {
    let start = usize::try_from(address).ok()?;
    let end = start.checked_add(bytes)?;
    let part = ram()
        .iter()
        .find(|part| part.seen.contains(start) && end <= part.seen.end())?;
    Some(start - part.seen.base + part.place)
}

/// Registers that are QEMU's own, as the image sees them on a board that is not QEMU's.
pub(crate) fn devices(board: &Board) -> Vec<Part> {
    /// The first frame of a redistributor; the second is passed on by hand.
    const FRAME: usize = 0x1_0000;
    const PAGE: usize = 0x1000;
    let mut parts = match board.gic {
        Gic::V3 { redistributors, .. } => vec![Part {
            seen: Region::new(redistributors.address(), FRAME),
            place: QEMU.gic.of_cpus().address(),
        }],
        Gic::V2 { .. } => Vec::new(),
    };
    if let Console::Pl011 { base, .. } = board.console {
        parts.push(Part {
            seen: Region::new(base.address(), PAGE),
            place: QEMU.console.base().address(),
        });
    }
    parts
}
