//! The user page and the doorbells, each alone in 64 KiB so that it can be given away.
//!
//! Facts: hardware/csf-mmio.md section 13.

use crate::table::{fields, registers};

fields! {
    /// `LATEST_FLUSH`.
    latest_flush {
        23:0 ID:  u32  = "id of the last cache flush";
        31   TOP: bool = "part of the id";
    }
    /// `DOORBELL`.
    doorbell {
        0 RING: bool = "rings";
    }
}

/// Flush id that makes FLUSH_CACHE2 flush in any case.
pub const FLUSH_ALWAYS: u32 = 0;
/// Flush id for work whose buffers were written while the GPU was off: caches are clean after power-up.
pub const FLUSH_WHILE_OFF: u32 = 1;
/// The doorbell of the global interface.
pub const KERNEL_DOORBELL: u32 = 0;

registers! {
    /// User page and doorbells.
    block DOORBELLS Window 0x10000 = "latest flush id, and the doorbells: 0 for the global interface, others for streams";
    0x00000 LATEST_FLUSH                32 R V10 Modelled latest_flush "id of the last cache flush; not readable while the GPU is off";
    0x70000 DOORBELL      [64; 0x10000] 32 W V10 Modelled doorbell     "rings one doorbell; reads are undefined; the vendor gives away numbers 1 to 23 (V)";
}
