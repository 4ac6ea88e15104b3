//! CIX P1 (Sky1): Radxa Orion O6 (Immortalis-G720).
//!
//! Started by UEFI firmware, as an application: there is no U-Boot for it. Its GPU's power is the secure firmware's, asked
//! over SCMI; its reset is a register among those of the memory controller and the interconnect, of which one bit is changed.
//! Facts: hardware/boards-others.md 1; the sections are named at each table. Nothing here was tried on a board yet.

use crate::board::{
    Board, Coherency, Conduit, Console, Description, Firmware, Gic, Gpu, Memory, Spi,
};
use crate::display::Display;
use crate::expected::Expected;
use crate::host::Ending;
use crate::lab::{DeviceType, Lab};
use crate::loader::Loader;
use crate::region::{Region, RegisterBase};
use crate::steps::{
    Action, Bits, Channel, Doorbell, Message, SmcCall, Step, Suspect, header, power_state::OFF,
    power_state::ON,
};
use core::time::Duration;

/// The board.
pub const BOARD: Board = {
    // SAFETY: the addresses are those of the chip (boards-others.md 1.1 to 1.5). Image, heap and shared memory lie in its
    // first bank of memory, apart from what is kept there (1.1); the application that UEFI starts asks it for each of them,
    // and does not go on without. The steps are those of 1.4.
    unsafe { Board::new(DESCRIPTION) }
};

// FACT: what the root of a device tree is compatible with is not in the facts (boards-others.md 1.1), so a tree is not asked
// which machine it is of. Settled by `fdt print / compatible` on a board that was switched to device trees.
// FACT: the clock that the GPU has after its power-on is not published; limits of waits are those for a tenth of Linux's.
// Settled by the suite's test `clock.frequency` on an Orion O6.
const DESCRIPTION: Description = Description {
    name: "cix-p1",
    title: "CIX P1: Radxa Orion O6",
    compatible: &[],
    memory: Memory {
        image: Region::new(0x9000_0000, 0x0600_0000),
        heap: Region::new(0xA800_0000, 0x1000_0000),
        shared: Region::new(0xD000_0000, 0x2000_0000),
        controller: None,
        devices: &[
            Region::new(0x040D_0000, 0x0000_1000), // UART2
            Region::new(0x0659_0000, 0x0000_1000), // the power controller's page and mailbox
            Region::new(0x0E01_0000, 0x0001_0000), // GICD
            Region::new(0x0E09_0000, 0x0030_0000), // GICR, twelve
            Region::new(0x1500_0000, 0x0001_0000), // RCSU of the GPU
            Region::new(0x1600_0000, 0x0000_1000), // resets
            Region::new(0x8438_0000, 0x0000_1000), // the page that is shared with the secure firmware
        ],
        never: &[
            Region::new(0x8000_0000, 0x0250_0000), // secure
            Region::new(0x83BF_0000, 0x0000_1000), // power counters
            Region::new(0xA000_0000, 0x0800_0000), // reserved on at least one firmware
            Region::new(0xBCE0_0000, 0x1000_0000), // protected buffers of VPU and GPU
        ],
    },
    // FACT: that the firmware has set the console up, at 115200 baud, is inferred (boards-others.md 1.1), and its clock is not
    // published: it is left as it is. Settled by the first character.
    console: Console::Pl011 {
        base: RegisterBase::new(0x040D_0000),
        set_up: None,
    },
    gic: Gic::V3 {
        distributor: RegisterBase::new(0x0E01_0000),
        redistributors: RegisterBase::new(0x0E09_0000),
        cpus: 12,
    },
    virtual_timer_ppi: 11,
    physical_timer_ppi: 14,
    gpu: Gpu {
        window: Region::new(0x1501_0000, 0x0048_0000),
        job: Spi(237),
        mmu: Spi(238),
        gpu: Spi(239),
        coherency: Coherency::None,
        expected: Some(Expected {
            gpu_id: GPU_ID,
            shader_present: Some(0x55_0555),
        }),
        supply: &[],
        power_on: POWER_ON,
        power_off: POWER_OFF,
        slowdown: 10,
        slice_hash: None,
        usable_cores: None,
    },
    power_controllers: &[SECURE_FIRMWARE, POWER_CONTROLLER],
    display: Display::OfLoader,
    firmware: Firmware::Psci(Conduit::Smc),
    loader: Loader::Uefi,
    watchdog: None,
    ending: Ending::Reset,
    lab: Some(Lab {
        name: "orion-o6",
        baud: 115_200,
        off_seconds: 5,
        lava: DeviceType::Own("cix-p1-orion-o6"),
    }),
};

/// The product alone: revisions differ.
const GPU_ID: Bits = Bits {
    mask: 0xFFFF_0000,
    value: 0xC870_0000,
};
const GPU_DOMAIN: u32 = 21;

/// Section 1.4, row 1. The firmware is told the page's number, and where in it the message is.
const SECURE_FIRMWARE: Channel = Channel {
    page: 0x8438_0000,
    bytes: 0x1000,
    doorbell: Doorbell::Smc(SmcCall {
        function: 0xC200_0001,
        arguments: [0x8_4380, 0],
    }),
};

/// Section 1.5.
const POWER_CONTROLLER: Channel = Channel {
    page: 0x0659_0000,
    bytes: 0x80,
    doorbell: Doorbell::Mailbox {
        at: 0x0659_0080,
        bit: 1 << 0,
    },
};

/// Registers of section 1.3 and 1.4.
#[rustfmt::skip]
mod register {
    pub(super) const RESETS:       usize = 0x1600_0400;
    pub(super) const RCSU_RESETS:  usize = 0x1600_0800;
    pub(super) const RCSU_GATING:  usize = 0x1500_0218;
    pub(super) const GPU_ID:       usize = 0x1501_0000;
}
use register::{RCSU_GATING, RCSU_RESETS, RESETS};

/// RESETS: 1 lets the GPU run. Bits 0 to 5 are the memory controller's and the interconnect's.
const GPU_RESET_N: u32 = 1 << 6;
/// RCSU_RESETS: 1 lets the GPU's reset and clock unit run.
const RCSU_RESET_N: u32 = 1 << 28;
/// RCSU_GATING: clocks are gated by the Q-channel.
const Q_CHANNEL: u32 = 1 << 0;
/// What Linux waits after each change of a reset, at most.
const AFTER_RESET: Duration = Duration::from_micros(100);

/// A message to the secure firmware.
const fn firmware(header: u32, payload: &'static [u32], reply: &'static [Bits]) -> Step {
    let to = 0;
    Step::Scmi(Message {
        to,
        header,
        payload,
        reply,
    })
}

/// A message to the power controller.
const fn controller(header: u32, payload: &'static [u32]) -> Step {
    let (to, reply) = (1, &[]);
    Step::Scmi(Message {
        to,
        header,
        payload,
        reply,
    })
}

// FACT: whether clocks run after the power-on is open, and how the power controller's mailbox answers is known by its
// registers alone (boards-others.md 1.4 row 2, 1.5); its messages are sent only where inferred steps are asked for. Settled
// by SHADER_PWRON on an Orion O6 without them.
/// Section 1.4. The domain is asked before and after, since its sources disagree on who may switch it. The resets of section 1.3
/// are checked before an access that hangs the machine while they are asserted.
#[rustfmt::skip]
const POWER_ON: &[Action] = &[
    Action::sourced("GPU domain as found",           firmware(header::POWER_GET, &[GPU_DOMAIN],        &[])),
    Action::sourced("GPU domain, on",                firmware(header::POWER_SET, &[0, GPU_DOMAIN, ON], &[])),
    Action::sourced("GPU domain is on",              firmware(header::POWER_GET, &[GPU_DOMAIN],        &[Bits::word(ON)])),
    Action::spare  ("core clock as found",           controller(header::CLOCK_ATTRIBUTES, &[31])),
    Action::spare  ("core clock, on",                controller(header::CLOCK_CONFIG, &[31, 1, 0])),
    Action::spare  ("stacks clock, on",              controller(header::CLOCK_CONFIG, &[32, 1, 0])),
    Action::spare  ("bus clock at 400 MHz, on",      controller(header::CLOCK_CONFIG, &[30, 1, 0])),
    Action::spare  ("bus clock at 200 MHz, on",      controller(header::CLOCK_CONFIG, &[272, 1, 0])),
    Action::sourced("GPU, in reset",                 Step::Modify { at: RESETS, bits: Bits { mask: GPU_RESET_N, value: 0 } }),
    Action::sourced("the reset lasts",               Step::Delay(AFTER_RESET)),
    Action::sourced("GPU, out of reset",             Step::Modify { at: RESETS, bits: Bits::set(GPU_RESET_N) }),
    Action::sourced("the GPU comes out of it",       Step::Delay(AFTER_RESET)),
    Action::sourced("GPU_RESET_N",                   Step::Check  { at: RESETS, bits: Bits::set(GPU_RESET_N), suspect: Suspect::Reset }),
    Action::sourced("GPU_RCSU_RESET_N",              Step::Check  { at: RCSU_RESETS, bits: Bits::set(RCSU_RESET_N), suspect: Suspect::Reset }),
    Action::sourced("clock gating by the Q-channel", Step::Modify { at: RCSU_GATING, bits: Bits::set(Q_CHANNEL) }),
    Action::sourced("clock gating as set",           Step::Check  { at: RCSU_GATING, bits: Bits::set(Q_CHANNEL), suspect: Suspect::ClockGate }),
    Action::sourced("GPU_ID",                        Step::Expect { at: register::GPU_ID, bits: GPU_ID }),
];

// FACT: no source has a sequence for power-off (boards-others.md 1.4); the state is SCMI's own. Settled by a power-off and a
// power-on on an Orion O6.
/// The way back.
const POWER_OFF: &[Action] = &[Action::inferred(
    "GPU domain, off",
    firmware(header::POWER_SET, &[0, GPU_DOMAIN, OFF], &[]),
)];
