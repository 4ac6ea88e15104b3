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
use crate::display::Display;
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
    gic: Gic::V3 {
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
        // The model works beside the image, in the emulated CPU: a tile of a hundred triangles takes it longer than a group has to
        // be saved.
        slowdown: 10,
        slice_hash: None,
        usable_cores: None,
    },
    power_controllers: &[],
    display: Display::Ramfb {
        fw_cfg: RegisterBase::new(0x0902_0000),
    },
    // By SMC or by HVC, as the machine was started.
    firmware: Firmware::AsTreeSays,
    // One of several that QEMU runs; it is the one that can be typed at.
    loader: Loader::UBoot(Prompt {
        text: "=> ",
        before_network: &[],
        card: None,
        character_ms: 0,
    }),
    watchdog: None,
    ending: Ending::Host(&Semihosting),
    lab: None,
};

/// The same machine with a GIC of version 2 (`gic-version=2`). The monitor needs one of version 3.
///
/// Where its CPU interface is, QEMU's own device tree says (`dumpdtb`).
pub const WITH_GICV2: Board = {
    let description = Description {
        gic: Gic::V2 {
            distributor: DESCRIPTION.gic.distributor(),
            cpu_interface: RegisterBase::new(0x0801_0000),
        },
        ..DESCRIPTION
    };
    // SAFETY: as above.
    unsafe { Board::new(description) }
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

/// Where an operating system, or an image of tests, tells the monitor something: words that [`control`] names. Beside the GPU's
/// window, in the same hole.
pub const CONTROL: Region = Region::new(0x0B20_0000, 0x1000);

/// Words of [`CONTROL`], in bytes from its begin.
#[rustfmt::skip]
pub mod control {
    /// Written: the exit status; the machine ends.
    pub const END:       usize = 0;
    /// Written: something of the GPU goes wrong from now on. Bits 7:0 are its number in the model's list; with bit 16, bits 15:8 say
    /// which space or exception it is about.
    pub const FAULT:     usize = 4;
    /// The same, which does no longer.
    pub const NO_FAULT:  usize = 8;
    /// Written: there is a new GPU, as a [`super::NewGpu`] says.
    pub const NEW_GPU:   usize = 12;
    /// Written: the GPU's supply goes.
    pub const CUT_POWER: usize = 16;
    /// Read: the levels of the GPU's lines: JOB, MMU, GPU from bit 0 on.
    pub const LINES:     usize = 20;
    /// Written: the number, from 0, of something that the GPU has to say of its driver. Read: its next four bytes; zeros at its end,
    /// and where there is none.
    pub const DIAGNOSIS: usize = 24;
    /// The same of what was wrong with the upkeep of caches, since the machine began.
    pub const UPKEEP:    usize = 28;
    /// Written: the address of the first of some pages of 4096 bytes that have a new owner, with how many follow it in bits 11:0;
    /// nothing of them is in caches. Behind a new GPU no page has an owner.
    pub const NEW_PAGES: usize = 32;
    /// Written: the exit status, of a machine that goes on until the host ends it.
    pub const STATUS:    usize = 36;
}

/// The GPU that an image of tests asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewGpu {
    /// Its number in the model's list of products.
    pub product: u8,
    /// Whether its L2 keeps what it has until it is flushed.
    pub l2: bool,
    /// The interface version that its firmware speaks, if not the released one: major and minor.
    pub interface: Option<(u8, u8)>,
}

impl NewGpu {
    const L2: u32 = 1 << 8;
    const INTERFACE: u32 = 1 << 9;

    /// As a word.
    pub const fn word(self) -> u32 {
        let l2 = if self.l2 { NewGpu::L2 } else { 0 };
        let interface = match self.interface {
            Some((major, minor)) => NewGpu::INTERFACE | (major as u32) << 24 | (minor as u32) << 16,
            None => 0,
        };
        self.product as u32 | l2 | interface
    }

    /// What a word says.
    pub const fn of_word(word: u32) -> NewGpu {
        NewGpu {
            product: word as u8,
            l2: word & NewGpu::L2 != 0,
            interface: match word & NewGpu::INTERFACE {
                0 => None,
                _ => Some(((word >> 24) as u8, (word >> 16) as u8)),
            },
        }
    }
}

/// How much of that is its heap: the model, and its page tables.
pub const MONITOR_HEAP_BYTES: usize = 0x2000_0000;
