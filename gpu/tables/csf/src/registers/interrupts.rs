//! The interrupt blocks of the GPU, JOB and MMU lines, all of one layout.
//!
//! `RAWSTAT` holds latched sources (a write *sets* bits, a test aid); `CLEAR` clears them; `MASK` lets them through;
//! `STATUS` is `RAWSTAT & MASK`, and the line is high while it is not zero.
//! Facts: hardware/csf-mmio.md sections 3, 7 and 12.

use super::pwr_control::{PWR_IRQ_CLEAR, PWR_IRQ_MASK, PWR_IRQ_RAWSTAT, PWR_IRQ_STATUS};
use crate::table::{Register, fields, registers};

fields! {
    /// Sources of the GPU line.
    gpu_irq {
        0  GPU_FAULT:                bool = "GPU_FAULTSTATUS newly holds a fault";
        1  GPU_PROTECTED_FAULT:      bool = "a fault in protected mode, without details";
        8  RESET_COMPLETED:          bool = "a reset has finished";
        9  POWER_CHANGED_SINGLE:     bool = "one power domain has finished a change";
        10 POWER_CHANGED_ALL:        bool = "all pending power changes have finished";
        17 CLEAN_CACHES_COMPLETED:   bool = "FLUSH_CACHES has finished";
        18 DOORBELL_MIRROR:          bool = "a doorbell was rung while the MCU slept; only masking or waking the MCU removes it";
        19 MCU_STATUS_CHANGED:       bool = "MCU_STATUS has changed";
        20 FLUSH_PA_RANGE_COMPLETED: bool = "FLUSH_PA_RANGE has finished (V)";
    }
    /// Sources of the JOB line.
    job_irq {
        30:0 CSG:    u32  = "bit n: group slot n wants attention";
        31   GLOBAL: bool = "the global interface wants attention; the first after a start is the boot notice";
    }
    /// Sources of the MMU line.
    mmu_irq {
        15:0  PAGE_FAULT: u32 = "bit n: a page fault in address space n";
        31:16 COMPLETED:  u32 = "bit n: a command has completed in address space n";
    }
}

registers! {
    /// The GPU line.
    block GPU_IRQ_BLOCK Window 0x020 = "interrupts of the GPU line: faults, reset, power, caches";
    0x0 GPU_IRQ_RAWSTAT 32 RW V10 Modelled gpu_irq "latched sources; a write sets bits";
    0x4 GPU_IRQ_CLEAR   32 W  V10 Modelled gpu_irq "clears latched sources";
    0x8 GPU_IRQ_MASK    32 RW V10 Modelled gpu_irq "sources let through; may not survive a reset";
    0xC GPU_IRQ_STATUS  32 R  V10 Modelled gpu_irq "RAWSTAT & MASK";
}

registers! {
    /// The JOB line.
    block JOB_CONTROL Window 0x1000 = "interrupts of the JOB line: what the firmware reports";
    0x0 JOB_IRQ_RAWSTAT 32 RW V10 Modelled job_irq "latched sources; a write sets bits";
    0x4 JOB_IRQ_CLEAR   32 W  V10 Modelled job_irq "clears latched sources; before reading the interface";
    0x8 JOB_IRQ_MASK    32 RW V10 Modelled job_irq "sources let through; may not survive a reset";
    0xC JOB_IRQ_STATUS  32 R  V10 Modelled job_irq "RAWSTAT & MASK";
}

registers! {
    /// The MMU line.
    block MMU_CONTROL Window 0x2000 = "interrupts of the MMU line: page faults, completed commands";
    0x0 MMU_IRQ_RAWSTAT 32 RW V10 Modelled mmu_irq "latched sources; a write sets bits";
    0x4 MMU_IRQ_CLEAR   32 W  V10 Modelled mmu_irq "clears latched sources";
    0x8 MMU_IRQ_MASK    32 RW V10 Modelled mmu_irq "sources let through; may not survive a reset";
    0xC MMU_IRQ_STATUS  32 R  V10 Modelled mmu_irq "RAWSTAT & MASK";
}

/// The four registers of one interrupt line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptBlock {
    /// Latched sources.
    pub rawstat: Register,
    /// Clears latched sources.
    pub clear: Register,
    /// Sources let through.
    pub mask: Register,
    /// Latched and let through.
    pub status: Register,
}

/// The GPU line.
pub const GPU_IRQ: InterruptBlock = InterruptBlock {
    rawstat: GPU_IRQ_RAWSTAT,
    clear: GPU_IRQ_CLEAR,
    mask: GPU_IRQ_MASK,
    status: GPU_IRQ_STATUS,
};

/// The JOB line.
pub const JOB_IRQ: InterruptBlock = InterruptBlock {
    rawstat: JOB_IRQ_RAWSTAT,
    clear: JOB_IRQ_CLEAR,
    mask: JOB_IRQ_MASK,
    status: JOB_IRQ_STATUS,
};

/// The MMU line.
pub const MMU_IRQ: InterruptBlock = InterruptBlock {
    rawstat: MMU_IRQ_RAWSTAT,
    clear: MMU_IRQ_CLEAR,
    mask: MMU_IRQ_MASK,
    status: MMU_IRQ_STATUS,
};

/// The power-control block of v14, which raises the GPU line too.
pub const PWR_IRQ: InterruptBlock = InterruptBlock {
    rawstat: PWR_IRQ_RAWSTAT,
    clear: PWR_IRQ_CLEAR,
    mask: PWR_IRQ_MASK,
    status: PWR_IRQ_STATUS,
};
