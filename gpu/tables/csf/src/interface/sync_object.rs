//! Sync objects: a value that streams add to, set and wait for, and the status of the work that did.
//!
//! A 32-bit one is 8 bytes and 8-byte aligned, a 64-bit one 16 bytes and 16-byte aligned, so that neither crosses a
//! cache line.  Facts: hardware/csf-scheduling.md section 5.

use crate::table::registers;

/// Bytes, and alignment, of a 64-bit sync object.
pub const SYNC64_BYTES: u64 = 16;

registers! {
    /// A 64-bit sync object.
    block SYNC64 Shared 0 = "a 64-bit sync object";
    0x0 SYNC64_VALUE  64 RW V10 Modelled - "value";
    0x8 SYNC64_STATUS 32 RW V10 Modelled - "0: no fault; other: the work that signalled has failed";
}

registers! {
    /// A 32-bit sync object.
    block SYNC32 Shared 0 = "a 32-bit sync object";
    0x0 SYNC32_VALUE  32 RW V10 Modelled - "value";
    0x4 SYNC32_STATUS 32 RW V10 Modelled - "0: no fault; other: the work that signalled has failed";
}
