//! RK3588 and RK3588S: Radxa ROCK 5B, Orange Pi 5 (Mali-G610 MP4).
//!
//! Loaded by U-Boot's `booti` at its `kernel_addr_r`, which is the image's address here. GPU clocks and power are
//! registers; no voltage is written.
//! Facts: hardware/boards-rk3588.md; the sections are named at each table. Nothing here was tried on a board yet.

use crate::board::{
    Board, Coherency, Conduit, Console, Description, Firmware, Gic, Gpu, Memory, Spi,
};
use crate::display::Display;
use crate::expected::Expected;
use crate::host::Ending;
use crate::lab::{DeviceType, Lab};
use crate::loader::{Loader, Prompt};
use crate::region::{Region, RegisterBase};
use crate::steps::bus::{Device, Transfer, Within};
use crate::steps::{Action, Bits, Step, Suspect};
use crate::uart::Kind;
use core::time::Duration;

/// Every board of that chip, and the ROCK 5B where its surroundings count.
pub const BOARD: Board = {
    // SAFETY: the addresses are those of the chip (boards-rk3588.md 2, 4, 5, 6). The image, the heap and the shared memory
    // lie in its first DRAM, apart from what firmware keeps (2) and from where U-Boot puts the device tree. The steps are
    // those of section 16 and of section 10.
    unsafe { Board::new(DESCRIPTION) }
};

/// The Orange Pi 5: a board of that chip with surroundings of its own.
pub const ORANGE_PI_5: Board = {
    // SAFETY: as above: the chip is the same but for ports that are not used here (section 1).
    unsafe { Board::new(ON_ORANGE_PI_5) }
};

const DESCRIPTION: Description = Description {
    name: "rk3588",
    title: "RK3588: Radxa ROCK 5B, Orange Pi 5",
    compatible: &["rockchip,rk3588", "rockchip,rk3588s"],
    memory: Memory {
        // From kernel_addr_r to below OP-TEE's window at 0x0840_0000.
        image: Region::new(0x0200_0000, 0x0600_0000),
        heap: Region::new(0x2000_0000, 0x1000_0000),
        shared: Region::new(0x4000_0000, 0x2000_0000),
        controller: None,
        devices: &[
            Region::new(0xFD7C_0000, 0x0000_1000), // CRU
            Region::new(0xFD8D_8000, 0x0000_1000), // PMU
            Region::new(0xFDF3_5000, 0x0000_1000), // QoS of the GPU's masters
            Region::new(0xFE60_0000, 0x0001_0000), // GICD
            Region::new(0xFE68_0000, 0x0010_0000), // GICR, eight
            Region::new(0xFEB5_0000, 0x0000_1000), // UART2
        ],
        never: &[
            Region::new(0x0000_0000, 0x0020_0000), // BL31, and what is shared with it
            Region::new(0x0840_0000, 0x0100_0000), // OP-TEE
        ],
    },
    console: Console::Polled {
        base: RegisterBase::new(0xFEB5_0000),
        kind: Kind::DW8250,
    },
    gic: Gic::V3 {
        distributor: RegisterBase::new(0xFE60_0000),
        redistributors: RegisterBase::new(0xFE68_0000),
        cpus: 8,
    },
    virtual_timer_ppi: 11,
    physical_timer_ppi: 14,
    gpu: Gpu {
        window: Region::new(0xFB00_0000, 0x0020_0000),
        job: Spi(92),
        mmu: Spi(93),
        gpu: Spi(94),
        coherency: Coherency::None,
        expected: Some(Expected {
            gpu_id: Bits::word(GPU_ID),
            shader_present: Some(0x5_0005),
        }),
        supply: SUPPLY,
        power_on: POWER_ON,
        power_off: POWER_OFF,
        slowdown: 1,
        slice_hash: None,
        usable_cores: None,
    },
    power_controllers: &[],
    display: Display::OfLoader,
    firmware: Firmware::Psci(Conduit::Smc),
    loader: Loader::UBoot(Prompt {
        text: "=> ",
        before_network: &["pci enum"],
        card: Some(1),
        character_ms: 10,
    }),
    // FACT: the chip has a watchdog, but neither its address nor its registers are in the facts (boards.md 2.5 says only that U-Boot
    // does not start it). An access that never returns ends with somebody who switches the power off. Settled by the chip's manual.
    watchdog: None,
    ending: Ending::Reset,
    lab: Some(Lab {
        name: "rock5b",
        baud: 1_500_000,
        off_seconds: 5,
        lava: DeviceType::Shipped("rk3588-rock-5b"),
    }),
};

/// What differs where the chip is on an Orange Pi 5 (section 3): its network is the chip's own, and LAVA does not know it.
const ON_ORANGE_PI_5: Description = Description {
    name: "orangepi5",
    title: "Orange Pi 5 (RK3588S)",
    compatible: &["xunlong,orangepi-5"],
    loader: Loader::UBoot(Prompt {
        text: "=> ",
        before_network: &[],
        card: Some(0),
        character_ms: 10,
    }),
    lab: Some(Lab {
        name: "orangepi5",
        baud: 1_500_000,
        off_seconds: 5,
        lava: DeviceType::Own("rk3588s-orangepi-5"),
    }),
    ..DESCRIPTION
};

const GPU_ID: u32 = 0xA867_0005;
/// Longest wait for power and buses: Linux's own is 10 ms.
const LIMIT: Duration = Duration::from_millis(10);

/// Registers of clocks and power (boards-rk3588.md 8 and 10). In most of them bits 31:16 say which of bits 15:0 are
/// written.
#[rustfmt::skip]
mod register {
    pub(super) const CLKSEL_158:         usize = 0xFD7C_0578;
    pub(super) const CLKSEL_159:         usize = 0xFD7C_057C;
    pub(super) const CLKSEL_160:         usize = 0xFD7C_0580;
    pub(super) const CLKSEL_161:         usize = 0xFD7C_0584;
    pub(super) const CLKGATE_66:         usize = 0xFD7C_0908;
    pub(super) const CLKGATE_67:         usize = 0xFD7C_090C;
    pub(super) const SOFTRST_66:         usize = 0xFD7C_0B08;
    pub(super) const SOFTRST_67:         usize = 0xFD7C_0B0C;
    pub(super) const BUS_IDLE_SFTCON0:   usize = 0xFD8D_810C;
    pub(super) const BUS_IDLE_ACK0:      usize = 0xFD8D_8118;
    pub(super) const BUS_IDLE_ST0:       usize = 0xFD8D_8120;
    pub(super) const PWR_GATE_SFTCON0:   usize = 0xFD8D_814C;
    pub(super) const PWR_GATE_ST0:       usize = 0xFD8D_8180;
    pub(super) const BISR_STATUS4:       usize = 0xFD8D_8290;
    pub(super) const GPU_ID:             usize = 0xFB00_0000;
    pub(super) const SHADER_PRESENT_LO:  usize = 0xFB00_0100;
    pub(super) const SHADER_PRESENT_HI:  usize = 0xFB00_0104;
}
use register::{
    BISR_STATUS4, BUS_IDLE_ACK0, BUS_IDLE_SFTCON0, BUS_IDLE_ST0, CLKGATE_66, CLKGATE_67,
    CLKSEL_158, PWR_GATE_SFTCON0, PWR_GATE_ST0, SOFTRST_66,
};

/// BISR_STATUS4: the GPU's domain is on, and its memories are repaired.
const GPU_ON: u32 = 1 << 1;
/// The GPU's bit in the registers of buses and power gates.
const GPU_BUS: u32 = 1 << 0;
/// PWR_GATE_ST0: the GPU's domain is off.
const GPU_OFF: u32 = 1 << 0;
/// CLKGATE_66: the clocks that are opened. Bit 0 is not the GPU's.
const GPU_CLOCKS: u32 = 0xFFFE;
/// SOFTRST_66: GPU, SYS_GPU and the buses and monitors around them (section 8, item 3).
const GPU_RESETS: u32 = 0xDF30;

/// The RK806, which supplies the GPU (section 11).
const RK806: Device = Device::Spi {
    bus: 2,
    chip_select: 0,
    mode: 0,
    hertz: 1_000_000,
};

/// Reads a register of the RK806. A frame is a byte whose bit 7 asks for a write and whose low bits are the length less 1, and
/// the register's number in two bytes; then come the data (section 11.2).
const fn rk806<const REGISTER: u8>(wanted: &'static [Within; 1]) -> Step {
    Step::Transfer(Transfer {
        device: RK806,
        send: &[0x00, REGISTER, 0x00],
        reply: wanted,
    })
}

// FACT: "0x5A, 0x5B: id 0x806x" (boards-rk3588.md 11.2) is read as the high byte first. Settled by reading both on a board.
// FACT: addresses of the SPI controller's registers are known, their bits are not (boards-rk3588.md 11.2), so that there is no
// driver for it here; an image brings one that implements `SpiDevice`. Settled by the chip's manual.
/// Section 11.2, "order", as far as nothing is written: the right device, its output on, and no voltage outside of the table of
/// section 11.1 (0.5 V and 6.25 mV for each step: 0.675 to 0.85 V).
#[rustfmt::skip]
const SUPPLY: &[Action] = &[
    Action::sourced("RK806, id",                      rk806::<0x5A>(&[Within::bits(0xFF, 0x80)])),
    Action::sourced("RK806, id, low",                 rk806::<0x5B>(&[Within::bits(0xF0, 0x60)])),
    Action::sourced("VDD_GPU is on",                  rk806::<0x00>(&[Within::bits(0x01, 0x01)])),
    Action::sourced("VDD_GPU, steps above 0.5 V",     rk806::<0x1A>(&[Within { mask: 0xFF, least: 0x1C, most: 0x38 }])),
];

// FACT: that the GPU's resets may be released by hand is inferred (boards-rk3588.md 8, item 3): Linux uses none of them. It is
// done only where inferred steps are asked for. Settled by SOFTRST_CON66 of a ROCK 5B as U-Boot leaves it.
/// Section 8, item 3: resets that somebody has left asserted.
const RELEASE: &[Action] = &[Action::spare(
    "resets of the GPU, released",
    Step::Write {
        at: SOFTRST_66,
        value: GPU_RESETS << 16,
    },
)];

// FACT: that the rows from "power gate" on are harmless where the domain is on already is inferred (boards-rk3588.md 10);
// section 16 has them without a condition, and so do we. Settled by running the sequence twice on a ROCK 5B.
/// Section 16, whole; 198 MHz, at which every voltage that the supply may have is enough. Between its rows the registers of
/// sections 7 and 8 that tell why the GPU would not answer: shown as the loader left them, and checked before the GPU's first
/// register is read, since that read would hang the machine.
#[rustfmt::skip]
const POWER_ON: &[Action] = &[
    Action::sourced("GPU domain as found (bit 1)",    Step::Show   { at: BISR_STATUS4 }),
    Action::sourced("PWR_GATE_ST0 as found",          Step::Show   { at: PWR_GATE_ST0 }),
    Action::sourced("SOFTRST_CON66 as found",         Step::Show   { at: SOFTRST_66 }),
    Action::sourced("SOFTRST_CON67 as found",         Step::Show   { at: register::SOFTRST_67 }),
    Action::sourced("CLKGATE_CON66 as found",         Step::Show   { at: CLKGATE_66 }),
    Action::sourced("CLKGATE_CON67 as found",         Step::Show   { at: CLKGATE_67 }),
    Action::sourced("CLKSEL_CON158 as found",         Step::Show   { at: CLKSEL_158 }),
    Action::sourced("CLKSEL_CON159 as found",         Step::Show   { at: register::CLKSEL_159 }),
    Action::sourced("CLKSEL_CON160 as found",         Step::Show   { at: register::CLKSEL_160 }),
    Action::sourced("CLKSEL_CON161 as found",         Step::Show   { at: register::CLKSEL_161 }),
    Action::sourced("clock gates of the GPU, open",   Step::Write  { at: CLKGATE_66, value: 0xFFFE_0000 }),
    Action::sourced("the other clock gates, open",    Step::Write  { at: CLKGATE_67, value: 0x000F_0000 }),
    Action::sourced("CLKGATE_CON66 as set",           Step::Check  { at: CLKGATE_66, bits: Bits::clear(GPU_CLOCKS), suspect: Suspect::ClockGate }),
    Action::sourced("GPU clock: divided by 6",        Step::Write  { at: CLKSEL_158, value: 0x001F_0005 }),
    Action::sourced("GPU clock: of GPLL",             Step::Write  { at: CLKSEL_158, value: 0x00E0_0000 }),
    Action::sourced("GPU clock: not of PVTPLL",       Step::Write  { at: CLKSEL_158, value: 0x4000_0000 }),
    Action::sourced("GPU clock as set: 198 MHz",      Step::Expect { at: CLKSEL_158, bits: Bits { mask: 0x40FF, value: 0x0005 } }),
    Action::sourced("power gate of the GPU, on",      Step::Write  { at: PWR_GATE_SFTCON0, value: 0x0001_0000 }),
    Action::sourced("GPU domain on and repaired",     Step::Poll   { at: BISR_STATUS4, until: Bits::set(GPU_ON), limit: LIMIT }),
    Action::sourced("GPU bus not idle any more",      Step::Write  { at: BUS_IDLE_SFTCON0, value: 0x0001_0000 }),
    Action::sourced("GPU bus acknowledges",           Step::Poll   { at: BUS_IDLE_ACK0, until: Bits::clear(GPU_BUS), limit: LIMIT }),
    Action::sourced("GPU bus runs",                   Step::Poll   { at: BUS_IDLE_ST0, until: Bits::clear(GPU_BUS), limit: LIMIT }),
    Action::sourced("PWR_GATE_ST0 of the GPU",        Step::Check  { at: PWR_GATE_ST0, bits: Bits::clear(GPU_OFF), suspect: Suspect::PowerGate }),
    Action::sourced("resets of the GPU",              Step::Choose { at: SOFTRST_66, bits: Bits::clear(GPU_RESETS), so: &[], otherwise: RELEASE }),
    Action::sourced("SOFTRST_CON66 of the GPU",       Step::Check  { at: SOFTRST_66, bits: Bits::clear(GPU_RESETS), suspect: Suspect::Reset }),
    Action::sourced("GPU_ID",                         Step::Expect { at: register::GPU_ID, bits: Bits::word(GPU_ID) }),
    Action::sourced("SHADER_PRESENT, low",            Step::Show   { at: register::SHADER_PRESENT_LO }),
    Action::sourced("SHADER_PRESENT, high",           Step::Show   { at: register::SHADER_PRESENT_HI }),
];

/// Section 10, "power off". The GPU's microcontroller is stopped and its L2 off before. Quality-of-service registers are not
/// restored: they have their reset values until somebody writes them, and nobody here does.
#[rustfmt::skip]
const POWER_OFF: &[Action] = &[
    Action::sourced("GPU bus idle, please",           Step::Write  { at: BUS_IDLE_SFTCON0, value: 0x0001_0001 }),
    Action::sourced("GPU bus acknowledges",           Step::Poll   { at: BUS_IDLE_ACK0, until: Bits::set(GPU_BUS), limit: LIMIT }),
    Action::sourced("GPU bus is idle",                Step::Poll   { at: BUS_IDLE_ST0, until: Bits::set(GPU_BUS), limit: LIMIT }),
    Action::sourced("power gate of the GPU, off",     Step::Write  { at: PWR_GATE_SFTCON0, value: 0x0001_0001 }),
    Action::sourced("GPU domain off",                 Step::Poll   { at: BISR_STATUS4, until: Bits::clear(GPU_ON), limit: LIMIT }),
];
