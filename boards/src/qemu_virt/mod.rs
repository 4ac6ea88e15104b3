//! QEMU's `virt` machine, with a GPU that QEMU does not have.
//!
//! The window lies in a hole that every configuration leaves empty; the monitor of `qemu-tests/monitor` lets the model
//! answer there. The three interrupts are free on `virt`, and those of the RK3588.
//!
//! QEMU puts its device tree at 0x4000_0000 or 0x4800_0000: neither is in the memory stated here, which ends with the
//! first gibibyte (`-m 1G`).
//! Facts: hardware/boards.md section 4; window and interrupts are our choice by its item 4.

mod semihosting;

use crate::board::{
    Board, Coherency, Console, Description, Firmware, Gic, Gpu, LineSpeed, Memory, Spi,
};
use crate::host::Ending;
use crate::loader::{Loader, Prompt};
use crate::region::{Region, RegisterBase};
use semihosting::Semihosting;

/// The board.
///
/// The image is linked for where QEMU's loader puts one whose header says "anywhere".
pub const BOARD: Board = {
    // SAFETY: the addresses are those of the machine (hardware/boards.md section 4) when it has 1 GiB of memory or more;
    // the GPU's window is where the monitor lets the model answer, and empty without it.
    unsafe { Board::new(DESCRIPTION) }
};

const DESCRIPTION: Description = Description {
    name: "qemu-virt",
    title: "QEMU's virt machine, with the model as its GPU",
    compatible: &["linux,dummy-virt"],
    memory: Memory {
        image: Region::new(0x4020_0000, 0x07E0_0000),
        heap: Region::new(0x7000_0000, 0x1000_0000),
        shared: Region::new(0x5000_0000, 0x2000_0000),
        controller: None,
        devices: &[
            Region::new(0x0800_0000, 0x0100_0000), // GIC distributor, ITS, redistributors
            Region::new(0x0900_0000, 0x0000_1000), // PL011
        ],
        never: &[],
    },
    console: Console::Pl011 {
        base: RegisterBase::new(0x0900_0000),
        set_up: Some(LineSpeed {
            clock_hertz: 24_000_000,
            baud: 115_200,
        }),
    },
    gic: Gic {
        distributor: RegisterBase::new(0x0800_0000),
        redistributors: RegisterBase::new(0x080A_0000),
        cpus: 8,
    },
    virtual_timer_ppi: 11,
    physical_timer_ppi: 14,
    gpu: Gpu {
        window: Region::new(0x0B00_0000, 0x0020_0000),
        job: Spi(92),
        mmu: Spi(93),
        gpu: Spi(94),
        coherency: Coherency::None,
        // Which one the model plays, and that it is there at all, is the monitor's.
        expected: None,
        supply: &[],
        power_on: &[],
        power_off: &[],
        slowdown: 1,
        slice_hash: None,
        usable_cores: None,
    },
    power_controllers: &[],
    // By SMC or by HVC, as the machine was started.
    firmware: Firmware::AsTreeSays,
    // One of several that QEMU runs; it is the one that can be typed at.
    loader: Loader::UBoot(Prompt {
        text: "=> ",
        before_network: &[],
        character_ms: 0,
    }),
    watchdog: None,
    ending: Ending::Host(&Semihosting),
    lab: None,
};

/// All of the machine's memory that an image may see when it was given 1 GiB (`-m 1G`).
pub const GUEST_RAM: Region = Region::new(0x4000_0000, 0x4000_0000);

/// Where a device tree lies that the monitor shows the image of another board: between the image and what the GPU shares.
pub const TREE: Region = Region::new(0x4800_0000, 0x20_0000);

/// Where the monitor shows that memory to an image that runs anywhere: apart from the registers of every machine.
pub const ANYWHERE_RAM: Region = Region::new(0x8000_0000, GUEST_RAM.bytes);

/// What the monitor keeps for itself (`-m 2G`), above what it shows the image.
pub const MONITOR_RAM: Region = Region::new(0x8000_0000, 0x4000_0000);

/// The last page of it: where the monitor and the model meet, if the model is in a process of the host.
pub const MAILBOX: Region = Region::new(MONITOR_RAM.end() - 0x1000, 0x1000);

/// Where an operating system under the monitor tells it something: words that [`control`] names. Beside the GPU's window, in the
/// same hole.
pub const CONTROL: Region = Region::new(0x0B20_0000, 0x1000);

/// Words of [`CONTROL`], in bytes from its begin. They are written.
#[rustfmt::skip]
pub mod control {
    /// The exit status: the machine ends.
    pub const END:      usize = 0;
    /// The number of something of the GPU that goes wrong from now on, in the model's list.
    pub const FAULT:    usize = 4;
    /// The same, which does no longer.
    pub const NO_FAULT: usize = 8;
}

/// How much of that is its heap: the model, and its page tables.
pub const MONITOR_HEAP_BYTES: usize = 0x2000_0000;
