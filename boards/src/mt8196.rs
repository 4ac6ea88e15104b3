//! MT8196 (Kompanio Ultra; the Chromebooks "Navi"): Immortalis-G925.
//!
//! Of its machines the GPU and what powers it are known, and neither memory nor console nor interrupt controller: those are the
//! device tree's to say. Its loader is depthcharge, which hands one over. A microcontroller, the GPUEB, powers and clocks the
//! GPU; it is woken by registers, and asked by messages.
//! Facts: hardware/boards-others.md 2, hardware/boards-labs.md 3.4; the sections are named at each table. Nothing here was tried
//! on a board yet.

use crate::board::{Coherency, Gpu, Spi};
use crate::expected::Expected;
use crate::host::Ending;
use crate::lab::{DeviceType, Lab};
use crate::loader::{Depthcharge, Loader};
use crate::outline::Outline;
use crate::region::Region;
use crate::steps::{Action, Argument, Bits, Mailbox, MailboxChannel, MailboxMessage, Step};
use core::time::Duration;

// FACT: what the root of a device tree is compatible with is not in the facts (boards-others.md 2.1), so a tree is not asked which
// machine it is of; one that has memory where this chip's registers are is refused. Settled by any tree of such a Chromebook.
// FACT: whether the GPU sees the CPU's caches is not stated (boards.md 1); memory is shared uncached, which is right either way.
// Settled by COHERENCY_FEATURES and a test both ways on the machine.
// FACT: the clock that the GPU has after its power-on is not published; limits of waits are those for a tenth of Linux's.
// Settled by the suite's test `clock.frequency` on the machine.
/// The machine.
pub const OUTLINE: Outline = Outline {
    name: "mt8196",
    title: "MT8196: Chromebook \"Navi\"",
    compatible: &[],
    devices: &[
        Region::new(0x4B09_F000, 0x0000_1000), // GPUEB: general registers and mailbox data
        Region::new(0x4B17_0000, 0x0000_1000), // GPUEB: mailbox control
        Region::new(0x4B80_0000, 0x0000_1000), // RPC
        Region::new(0x4B86_0000, 0x0000_1000), // hardware revision
    ],
    gpu: Gpu {
        window: Region::new(0x4800_0000, 0x0048_0000),
        job: Spi(606),
        mmu: Spi(605),
        gpu: Spi(604),
        coherency: Coherency::None,
        expected: Some(Expected {
            gpu_id: Bits::word(GPU_ID),
            shader_present: Some(0xEE_0077),
        }),
        supply: &[],
        power_on: POWER_ON,
        power_off: POWER_OFF,
        slowdown: 10,
        slice_hash: Some([0xB, 0xE, 0x0]),
        usable_cores: Some(USABLE_CORES),
    },
    controller_bytes: 0x2000,
    loader: Loader::Depthcharge(Depthcharge {
        starts: "Starting depthcharge on Navi...",
        prompt: "rauru_keymatrixv30:",
        ends: "jumping to kernel",
    }),
    ending: Ending::Reset,
    lab: Some(Lab {
        name: "mt8196-navi",
        baud: 115_200,
        off_seconds: 5,
        lava: DeviceType::Shipped("mt8196-rauru-navi-sku0"),
    }),
}
.checked();

const GPU_ID: u32 = 0xD830_0015;

/// Registers of the table in section 2.2.
#[rustfmt::skip]
mod register {
    const GENERAL:                  usize = 0x4B09_FD00;
    pub(super) const STARTED:       usize = GENERAL + 0x28;
    pub(super) const MAGIC:         usize = GENERAL + 0x34;
    pub(super) const MAILBOX:       usize = 0x4B09_FD80;
    const CONTROL:                  usize = 0x4B17_0000;
    pub(super) const SENT:          usize = CONTROL;
    pub(super) const SEND:          usize = CONTROL + 0x04;
    pub(super) const CLEAR:         usize = CONTROL + 0x74;
    pub(super) const ARRIVED:       usize = CONTROL + 0x78;
    const RPC:                      usize = 0x4B80_0000;
    pub(super) const STATE:         usize = RPC + 0x504;
    pub(super) const TRIGGER_E2:    usize = RPC + 0x658;
    pub(super) const CONTROLS:      usize = RPC + 0x800;
    pub(super) const BUSY:          usize = RPC + 0x9A4;
    pub(super) const REVISION:      usize = 0x4B86_0128;
    pub(super) const GPU_ID:        usize = 0x4800_0000;
}
use register::{BUSY, CONTROLS, REVISION, STATE, TRIGGER_E2};

/// REVISION: "E2", whose trigger is elsewhere.
const E2: Bits = Bits::word(0x101);
/// STATE: the GPUEB's domain is on.
const ON: Bits = Bits::set(0b11 << 30);
/// BUSY: nothing of this is under way.
const IDLE: Bits = Bits::clear(1 << 16 | 0xFF);
/// The trigger.
const TRIGGER: u32 = 1 << 0;
/// CONTROLS: what is taken down and up again.
const REQUEST: u32 = 1 << 2;
/// Longest that the domain may take. The facts state it for STATE; BUSY is given as long.
const POWER_LIMIT: Duration = Duration::from_millis(10);
// FACT: how long the GPUEB's own software takes to start is not published (boards-others.md 2.2 item 4). Settled by the looks that
// the image prints.
/// Longest that the GPUEB may take to start.
const START_LIMIT: Duration = Duration::from_secs(1);

// FACT: which of the mailbox's registers forgets a reply, and that a channel's bit is that of its number, is not spelt out: "clear"
// stands between TX set and RX status (boards-others.md 2.2 item 6). Settled by a second message that is answered.
const MAILBOX: Mailbox = Mailbox {
    data: register::MAILBOX,
    sent: register::SENT,
    send: register::SEND,
    arrived: register::ARRIVED,
    clear: register::CLEAR,
    magic: register::MAGIC,
};

/// Section 2.2, item 5.
const POWER_CHANNEL: MailboxChannel = MailboxChannel {
    mailbox: &MAILBOX,
    number: 1,
    message: 0x10,
    reply: 0xF0,
};

/// Commands.
#[rustfmt::skip]
mod command {
    pub(super) const GIVE_MEMORY: u32 = 0;
    pub(super) const POWER:       u32 = 6;
}

/// The first word of the memory that the GPUEB is given.
const MEMORY_MAGIC: u32 = 0xBABA_DADA;
/// SHADER_PRESENT there.
const USABLE_CORES: usize = 0xD8;

// FACT: the value of a message's `target`, and how wide the base of memory is in one, are not published (boards-others.md 2.2
// item 5); 0 and 64 bits are taken. So are messages inferred, and sent only where that is asked for. Settled by the replies on an
// MT8196.
/// A message to the GPUEB.
const fn message(command: u32, arguments: &'static [Argument]) -> Step {
    Step::Mailbox(MailboxMessage {
        to: &POWER_CHANNEL,
        command,
        target: 0,
        arguments,
    })
}

const fn modify(at: usize, mask: u32, value: u32) -> Step {
    Step::Modify {
        at,
        bits: Bits { mask, value },
    }
}

const fn wait(at: usize, until: Bits, limit: Duration) -> Step {
    Step::Poll { at, until, limit }
}

/// Section 2.2, item 3, with the trigger where this revision has it.
#[rustfmt::skip]
macro_rules! wake {
    ($trigger:expr) => {
        &[
            Action::sourced("nothing of the GPUEB's is under way", wait(BUSY, IDLE, POWER_LIMIT)),
            Action::sourced("trigger of the GPUEB's domain, set",   modify($trigger, TRIGGER, TRIGGER)),
            Action::sourced("request to the domain, down",          modify(CONTROLS, REQUEST, 0)),
            Action::sourced("request to the domain, up",            modify(CONTROLS, REQUEST, REQUEST)),
            Action::sourced("trigger of the GPUEB's domain, off",   modify($trigger, TRIGGER, 0)),
            Action::sourced("GPUEB's domain is on",                 wait(STATE, ON, POWER_LIMIT)),
        ]
    };
}

/// The domain is off: which trigger it has is the revision's.
const WAKE: &[Action] = &[Action::sourced(
    "hardware revision",
    Step::Choose {
        at: REVISION,
        bits: E2,
        so: wake!(TRIGGER_E2),
        otherwise: wake!(CONTROLS),
    },
)];

// FACT: item 1 of the sequence, regulators behind SPMI and their clocks, has no addresses (boards-others.md 2.3): they are as the
// loader left them. Settled by GPUEB's domain going on.
/// Section 2.2, items 2 to 5.
#[rustfmt::skip]
const POWER_ON: &[Action] = &[
    Action::sourced ("GPUEB's domain as found",     Step::Choose { at: STATE, bits: ON, so: &[], otherwise: WAKE }),
    Action::sourced ("GPUEB has started",           wait(register::STARTED, Bits::word(1), START_LIMIT)),
    Action::sourced ("what messages begin with",    Step::Show { at: register::MAGIC }),
    Action::inferred("mark of the GPUEB's memory",  Step::Put { offset: 0, value: MEMORY_MAGIC }),
    Action::inferred("memory for the GPUEB, given", message(command::GIVE_MEMORY, &[Argument::MemoryBase, Argument::MemoryBytes])),
    Action::inferred("cores that are usable",       Step::Get { offset: USABLE_CORES }),
    Action::inferred("GPU, on",                     message(command::POWER, &[Argument::Word(1)])),
    Action::sourced ("GPU_ID",                      Step::Expect { at: register::GPU_ID, bits: Bits::word(GPU_ID) }),
];

// FACT: the value that switches the GPU off is not published; 1 switches it on (boards-others.md 2.2 item 5). Settled by GPU_ID after
// it.
/// The way back.
const POWER_OFF: &[Action] = &[Action::inferred(
    "GPU, off",
    message(command::POWER, &[Argument::Word(0)]),
)];
