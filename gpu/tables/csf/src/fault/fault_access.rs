//! The kind of access that failed, as the fault status registers give it.
//!
//! Facts: hardware/csf-mmio.md section 8, gpu-mmu.md section 8.

use crate::table::values;

values! {
    /// What kind of access failed.
    AccessKind {
        0 Atomic  "an atomic operation";
        1 Execute "an instruction fetch";
        2 Read    "a read";
        3 Write   "a write";
    }
}
