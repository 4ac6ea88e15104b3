//! i.MX95 EVK, 19x19 and 15x15 (Mali-G310).
//!
//! Clocks and power belong to the System Manager, a microcontroller that is asked over SCMI; what is wrong there is an
//! answer, and no hang. Loaded by U-Boot's `booti` at its `kernel_addr_r`, which is the image's address here.
//! Facts: hardware/boards-imx95.md; the sections are named at each table. Nothing here was tried on a board yet.

use crate::board::{
    Board, Coherency, Conduit, Console, Description, Firmware, Gic, Gpu, Memory, Spi,
};
use crate::display::Display;
use crate::expected::Expected;
use crate::host::Ending;
use crate::lab::{DeviceType, Lab};
use crate::loader::{Loader, Prompt};
use crate::region::{Region, RegisterBase};
use crate::steps::{
    Action, Bits, Channel, Doorbell, Message, Step, header, power_state::OFF, power_state::ON,
};
use crate::uart::Kind;
use crate::watchdog::Watchdog;
use core::time::Duration;

/// The board.
pub const BOARD: Board = {
    // SAFETY: the addresses are those of the chip (boards-imx95.md 2, 4, 5, 6, 7, 8). Image, heap and shared memory lie in
    // the first bank as U-Boot declares it, apart from its device tree and from the reserved MiB at 0xA000_0000.
    unsafe { Board::new(DESCRIPTION) }
};

const DESCRIPTION: Description = Description {
    name: "imx95",
    title: "i.MX95 EVK, 19x19 and 15x15",
    compatible: &["fsl,imx95"],
    memory: Memory {
        // From kernel_addr_r to where U-Boot has the device tree.
        image: Region::new(0x9040_0000, 0x02C0_0000),
        heap: Region::new(0xA020_0000, 0x0FE0_0000),
        shared: Region::new(0xB000_0000, 0x2000_0000),
        controller: None,
        devices: &[
            Region::new(0x4249_0000, 0x0000_1000), // WDOG3
            Region::new(0x4438_0000, 0x0000_1000), // LPUART1
            Region::new(0x445B_0000, 0x0000_2000), // MU2 and its buffers
            Region::new(0x4800_0000, 0x0001_0000), // GICD
            Region::new(0x4806_0000, 0x000C_0000), // GICR, six
        ],
        never: &[
            Region::new(0x8000_0000, 0x0800_0000), // the M7's
            Region::new(0x8A00_0000, 0x0400_0000), // secure world
            Region::new(0xA000_0000, 0x0010_0000), // VPU boot
        ],
    },
    console: Console::Polled {
        base: RegisterBase::new(0x4438_0000),
        kind: Kind::LPUART,
    },
    gic: Gic::V3 {
        distributor: RegisterBase::new(0x4800_0000),
        redistributors: RegisterBase::new(0x4806_0000),
        cpus: 6,
    },
    virtual_timer_ppi: 11,
    physical_timer_ppi: 14,
    gpu: Gpu {
        window: Region::new(0x4D90_0000, 0x0048_0000),
        job: Spi(289),
        mmu: Spi(290),
        gpu: Spi(288),
        coherency: Coherency::None,
        expected: Some(Expected {
            gpu_id: Bits::word(GPU_ID),
            shader_present: Some(1),
        }),
        supply: &[],
        power_on: POWER_ON,
        power_off: POWER_OFF,
        slowdown: 20,
        slice_hash: None,
        usable_cores: None,
    },
    power_controllers: &[Channel {
        page: 0x445B_1000,
        bytes: 0x80,
        doorbell: Doorbell::Mailbox {
            at: 0x445B_0114,
            bit: 1 << 0,
        },
    }],
    display: Display::OfLoader,
    firmware: Firmware::Psci(Conduit::Smc),
    loader: Loader::UBoot(Prompt {
        text: "u-boot=> ",
        before_network: &[],
        card: Some(1),
        character_ms: 5,
    }),
    watchdog: Some(Watchdog {
        base: RegisterBase::new(0x4249_0000),
        expires: Duration::from_secs(40),
    }),
    ending: Ending::Reset,
    lab: Some(Lab {
        name: "imx95evk",
        baud: 115_200,
        off_seconds: 5,
        lava: DeviceType::Shipped("imx95-19x19-evk"),
    }),
};

/// Which of the power controllers: there is one.
const SYSTEM_MANAGER: usize = 0;
const GPU_ID: u32 = 0xAC74_0001;
const GPU_DOMAIN: u32 = 14;
const GPU_CLOCK: u32 = 174;
const GPU_PERFORMANCE: u32 = 9;
/// The level at which the GPU's clock is 24 MHz, and at which it starts (section 7.3): slow, and good for a beginning.
const PARKED: u32 = 0;

/// What the System Manager alone understands (boards-imx95.md 7.4).
const BUILD: u32 = 0x2_1006;

/// A message, and the words that its reply must have after its status.
const fn message(header: u32, payload: &'static [u32], reply: &'static [Bits]) -> Step {
    Step::Scmi(Message {
        to: SYSTEM_MANAGER,
        header,
        payload,
        reply,
    })
}

/// Section 7.2. The ids of domain, clock and performance domain are those of the System Manager's own headers.
#[rustfmt::skip]
const POWER_ON: &[Action] = &[
    Action::sourced("SCMI base version",            message(header::BASE_VERSION, &[],                             &[Bits { mask: !0xF, value: 0x2_0000 }])),
    Action::sourced("build of the System Manager",  message(BUILD,                        &[],                             &[])),
    Action::sourced("GPU domain as found",          message(header::POWER_GET,    &[GPU_DOMAIN],                   &[])),
    Action::sourced("GPU domain, on",               message(header::POWER_SET,    &[0, GPU_DOMAIN, ON],            &[])),
    Action::sourced("GPU domain is on",             message(header::POWER_GET,    &[GPU_DOMAIN],                   &[Bits::word(ON)])),
    Action::sourced("GPU clock, on",                message(header::CLOCK_CONFIG, &[GPU_CLOCK, 1, 0],              &[])),
    Action::sourced("performance level as found",   message(header::LEVEL_GET,    &[GPU_PERFORMANCE],              &[])),
    Action::sourced("performance level: 24 MHz",    message(header::LEVEL_SET,    &[GPU_PERFORMANCE, PARKED],      &[])),
    Action::sourced("GPU_ID",                       Step::Expect { at: 0x4D90_0000, bits: Bits::word(GPU_ID) }),
];

/// Section 7.2, "off". The GPU's microcontroller is stopped and its L2 off before.
#[rustfmt::skip]
const POWER_OFF: &[Action] = &[
    Action::sourced("GPU clock, off",               message(header::CLOCK_CONFIG, &[GPU_CLOCK, 0, 0],              &[])),
    Action::sourced("GPU domain, off",              message(header::POWER_SET,    &[0, GPU_DOMAIN, OFF],           &[])),
];
