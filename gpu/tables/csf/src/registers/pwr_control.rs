//! Power and reset of architecture 14, where these registers replace the power bitmaps and the reset command.
//!
//! A domain is either *allowed* to the host or *delegated* to the firmware; the L2 is never delegated.
//! Facts: hardware/csf-mmio.md section 15.

use crate::command::pwr_command;
use crate::table::{fields, registers};

fields! {
    /// Sources of the power block, which raises the GPU line.
    pwr_irq {
        0  POWER_CHANGED_SINGLE: bool = "one power change has finished";
        1  POWER_CHANGED_ALL:    bool = "all power changes have finished";
        2  DELEGATION_CHANGED:   bool = "a domain was delegated or taken back";
        3  RESET_COMPLETED:      bool = "a reset has finished";
        4  RETRACT_COMPLETED:    bool = "a domain was taken back";
        5  INSPECT_COMPLETED:    bool = "an inspection has finished";
        30 COMMAND_NOT_ALLOWED:  bool = "a command that is not allowed now";
        31 COMMAND_INVALID:      bool = "a malformed command";
    }
    /// `PWR_STATUS`.
    pwr_status {
        0  ALLOW_L2:          bool = "the host may switch the L2";
        1  ALLOW_TILER:       bool = "the host may switch the tiler";
        8  ALLOW_SHADER:      bool = "the host may switch shader cores";
        9  ALLOW_NEURAL:      bool = "the host may switch the neural engine (V)";
        14 ALLOW_BASE:        bool = "the host may switch the base domain";
        15 ALLOW_STACK:       bool = "the host may switch core stacks";
        16 DELEGATED_L2:      bool = "never set";
        17 DELEGATED_TILER:   bool = "the firmware switches the tiler";
        24 DELEGATED_SHADER:  bool = "the firmware switches shader cores";
        25 DELEGATED_NEURAL:  bool = "the firmware switches the neural engine (V)";
        30 DELEGATED_BASE:    bool = "the firmware switches the base domain";
        31 DELEGATED_STACK:   bool = "the firmware switches core stacks";
        32 ALLOW_HARD_RESET:  bool = "a hard reset is allowed (V)";
        33 ALLOW_SOFT_RESET:  bool = "a soft reset is allowed";
        34 ALLOW_FAST_RESET:  bool = "a fast reset is allowed";
        41 PENDING_POWER:     bool = "a power change is pending";
        42 PENDING_RESET:     bool = "a reset is pending";
        43 PENDING_RETRACT:   bool = "a retraction is pending";
        44 PENDING_INSPECT:   bool = "an inspection is pending";
    }
}

registers! {
    /// Power control of v14.
    block PWR_CONTROL Window 0x800 = "power and reset of architecture 14";
    0x000 PWR_IRQ_RAWSTAT      32 RW V14 Modelled pwr_irq     "latched sources; a write sets bits";
    0x004 PWR_IRQ_CLEAR        32 W  V14 Modelled pwr_irq     "clears latched sources";
    0x008 PWR_IRQ_MASK         32 RW V14 Modelled pwr_irq     "sources let through";
    0x00C PWR_IRQ_STATUS       32 R  V14 Modelled pwr_irq     "RAWSTAT & MASK";
    0x020 PWR_STATUS           64 R  V14 Modelled pwr_status  "what is allowed, delegated, pending";
    0x028 PWR_COMMAND          32 W  V14 Modelled pwr_command "starts a power command";
    0x030 PWR_CMDARG           64 RW V14 Modelled -           "units for POWER_UP and POWER_DOWN";
    0x100 PWR_L2_PRESENT       64 C  V14 Modelled -           "L2 caches that exist";
    0x108 PWR_L2_READY         64 R  V14 Modelled -           "L2 caches that are powered";
    0x110 PWR_L2_PWRTRANS      64 R  V14 Modelled -           "L2 caches that are changing state";
    0x118 PWR_L2_PWRACTIVE     64 R  V14 Modelled -           "L2 caches that are in use";
    0x140 PWR_TILER_PRESENT    64 C  V14 Modelled -           "tilers that exist";
    0x148 PWR_TILER_READY      64 R  V14 Modelled -           "tilers that are powered";
    0x150 PWR_TILER_PWRTRANS   64 R  V14 Modelled -           "tilers that are changing state";
    0x158 PWR_TILER_PWRACTIVE  64 R  V14 Modelled -           "tilers that are executing";
    0x200 PWR_SHADER_PRESENT   64 C  V14 Modelled -           "shader cores that exist";
    0x208 PWR_SHADER_READY     64 R  V14 Modelled -           "shader cores that are powered";
    0x210 PWR_SHADER_PWRTRANS  64 R  V14 Modelled -           "shader cores that are changing state";
    0x218 PWR_SHADER_PWRACTIVE 64 R  V14 Modelled -           "shader cores that are executing";
    0x380 PWR_BASE_PRESENT     64 C  V14 Known    -           "base domain units that exist";
    0x388 PWR_BASE_READY       64 R  V14 Known    -           "base domain units that are powered";
    0x390 PWR_BASE_PWRTRANS    64 R  V14 Known    -           "base domain units that are changing state";
    0x398 PWR_BASE_PWRACTIVE   64 R  V14 Known    -           "base domain units that are in use";
    0x3C0 PWR_STACK_PRESENT    64 C  V14 Known    -           "core stacks that exist";
    0x3C8 PWR_STACK_READY      64 R  V14 Known    -           "core stacks that are powered";
    0x3D0 PWR_STACK_PWRTRANS   64 R  V14 Known    -           "core stacks that are changing state";
}
