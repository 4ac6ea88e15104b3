//! Entry state: what registers hold where an image begins at EL1.
//!
//! Facts: hardware/boards.md 2.2.

/// SCTLR_EL1: MMU and caches off, the bits that must be one set.
pub const SCTLR_EL1: u64 = 0x30D0_0800;
/// SPSR_EL2 for the way to EL1: its own stack pointer, everything masked.
pub const SPSR_EL2: u64 = 0x3C5;
/// CPTR_EL2: no traps of FP and SIMD.
pub const CPTR_EL2: u64 = 0x33FF;
/// ID_AA64PFR0_EL1.GIC, four bits from this one on: 0 where the GIC has no system registers, as one of version 2.
pub const GIC_IN_PFR0: u64 = 24;
/// ICC_SRE_EL2: the GIC's registers as system registers, for EL1 too.
pub const ICC_SRE_EL2: u64 = 0xF;
/// CNTHCTL_EL2: counter and physical timer for EL1.
pub const CNTHCTL_EL2: u64 = 3;
