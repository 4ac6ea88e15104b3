//! Power bitmaps of the three domains that a host sees: one bit a unit. Architectures 10 to 13.
//!
//! A mask written to `PWRON` starts units; `PWRTRANS` is 1 meanwhile; then `READY` is 1. With CSF the host powers
//! only the L2: firmware powers tiler and shader cores by need.  Never write a unit whose `PWRTRANS` is 1.
//! On v14 `PWR_CONTROL` replaces all of these.
//! Facts: hardware/csf-mmio.md sections 4 and 10.

use super::identity::{L2_PRESENT, SHADER_PRESENT, TILER_PRESENT};
use crate::table::{Register, registers};
use core::fmt;

registers! {
    /// Power bitmaps.
    block GPU_POWER Window 0x000 = "power of the L2, tiler and shader domains, a bit a unit (v10 to v13)";
    0x140 SHADER_READY     64 R V10 Modelled - "shader cores that are powered and usable";
    0x150 TILER_READY      64 R V10 Modelled - "tilers that are powered and usable";
    0x160 L2_READY         64 R V10 Modelled - "L2 caches that are powered and usable";
    0x180 SHADER_PWRON     64 W V10 Modelled - "starts to power shader cores up; firmware does this";
    0x190 TILER_PWRON      64 W V10 Modelled - "starts to power tilers up; firmware does this";
    0x1A0 L2_PWRON         64 W V10 Modelled - "starts to power L2 caches up";
    0x1C0 SHADER_PWROFF    64 W V10 Modelled - "starts to power shader cores down";
    0x1D0 TILER_PWROFF     64 W V10 Modelled - "starts to power tilers down";
    0x1E0 L2_PWROFF        64 W V10 Modelled - "starts to power L2 caches down";
    0x200 SHADER_PWRTRANS  64 R V10 Modelled - "shader cores that are changing state";
    0x210 TILER_PWRTRANS   64 R V10 Modelled - "tilers that are changing state";
    0x220 L2_PWRTRANS      64 R V10 Modelled - "L2 caches that are changing state; stuck: is the clock running?";
    0x240 SHADER_PWRACTIVE 64 R V10 Modelled - "shader cores that are executing";
    0x250 TILER_PWRACTIVE  64 R V10 Modelled - "tilers that are executing";
    0x260 L2_PWRACTIVE     64 R V10 Modelled - "L2 caches that are in use";
    0xE10 STACK_READY      64 R V10 Known    - "core stacks that are powered (V)";
    0xE20 STACK_PWRON      64 W V10 Known    - "starts to power core stacks up (V)";
    0xE30 STACK_PWROFF     64 W V10 Known    - "starts to power core stacks down (V)";
    0xE40 STACK_PWRTRANS   64 R V10 Known    - "core stacks that are changing state (V)";
}

/// A power domain with its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Level-2 cache: the only one a CSF host switches.
    L2,
    /// Tiler.
    Tiler,
    /// Shader cores.
    Shader,
}

impl Domain {
    /// All domains.
    pub const ALL: [Domain; 3] = [Domain::L2, Domain::Tiler, Domain::Shader];

    /// Which units exist.
    pub const fn present(self) -> Register {
        match self {
            Domain::L2 => L2_PRESENT,
            Domain::Tiler => TILER_PRESENT,
            Domain::Shader => SHADER_PRESENT,
        }
    }

    /// Which units are powered.
    pub const fn ready(self) -> Register {
        match self {
            Domain::L2 => L2_READY,
            Domain::Tiler => TILER_READY,
            Domain::Shader => SHADER_READY,
        }
    }

    /// Starts units.
    pub const fn power_on(self) -> Register {
        match self {
            Domain::L2 => L2_PWRON,
            Domain::Tiler => TILER_PWRON,
            Domain::Shader => SHADER_PWRON,
        }
    }

    /// Stops units.
    pub const fn power_off(self) -> Register {
        match self {
            Domain::L2 => L2_PWROFF,
            Domain::Tiler => TILER_PWROFF,
            Domain::Shader => SHADER_PWROFF,
        }
    }

    /// Which units change state.
    pub const fn transition(self) -> Register {
        match self {
            Domain::L2 => L2_PWRTRANS,
            Domain::Tiler => TILER_PWRTRANS,
            Domain::Shader => SHADER_PWRTRANS,
        }
    }

    /// Which units execute.
    pub const fn active(self) -> Register {
        match self {
            Domain::L2 => L2_PWRACTIVE,
            Domain::Tiler => TILER_PWRACTIVE,
            Domain::Shader => SHADER_PWRACTIVE,
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Domain::L2 => "L2",
            Domain::Tiler => "tiler",
            Domain::Shader => "shader",
        })
    }
}
