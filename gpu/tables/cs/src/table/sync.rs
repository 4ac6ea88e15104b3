//! Sync objects: a sequence number and an error word in memory, added to, set, waited for.
//!
//! A sync32 has 8 bytes (number, error), a sync64 16 (number, error, unused).  Facts: hardware/command-stream.md 1.9, 3.5.

#[rustfmt::skip]
macro_rules! sync { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Adds to the number of a sync32 and wakes waiters.
    SYNC_ADD32 SyncAdd32 0x25 ALL Sync Deferrable {
        address; data = data32; scope; error_propagate; wait_mask; signal_slot; defer_mode;
    } "SYNC_ADD32{error_propagate?.error_propagate}.{scope}<.{defer_mode}> [d{address}], r{data}, #{wait_mask:x}, #{signal_slot}";

    /// Sets the number of a sync32 and wakes waiters.
    SYNC_SET32 SyncSet32 0x26 ALL Sync Deferrable {
        address; data = data32; scope; error_propagate; wait_mask; signal_slot; defer_mode;
    } "SYNC_SET32{error_propagate?.error_propagate}.{scope}<.{defer_mode}> [d{address}], r{data}, #{wait_mask:x}, #{signal_slot}"
        .text24("SYNC_SET32.{error_propagate?.error_propagate}.{scope} [d{address}], r{data}, #{wait_mask:x}, #{signal_slot}");

    /// Blocks until the number of a sync32, unsigned, is LEQUAL, GREATER or GEQUAL to the operand.
    SYNC_WAIT32 SyncWait32 0x27 ALL Sync Blocking {
        address; data = data32; error_reject;
        condition:      Condition[31:28] "LEQUAL or GREATER; GEQUAL with firmware interface 1.4, 2.6, 3.6 or later; the others are undefined";
    } "SYNC_WAIT32{condition}.{error_reject} d{address}, r{data}";

    /// Adds to the number of a sync64 and wakes waiters.
    SYNC_ADD64 SyncAdd64 0x33 ALL Sync Deferrable {
        address; data = data64; scope; error_propagate; wait_mask; signal_slot; defer_mode;
    } "SYNC_ADD64{error_propagate?.error_propagate}.{scope}<.{defer_mode}> [d{address}], d{data}, #{wait_mask:x}, #{signal_slot}";

    /// Sets the number of a sync64 and wakes waiters.
    SYNC_SET64 SyncSet64 0x34 ALL Sync Deferrable {
        address; data = data64; scope; error_propagate; wait_mask; signal_slot; defer_mode;
    } "SYNC_SET64.{error_propagate?.error_propagate}.{scope}<.{defer_mode}> [d{address}], d{data}, #{wait_mask:x}, #{signal_slot}";

    /// Blocks until the number of a sync64, unsigned, is LEQUAL, GREATER or GEQUAL to the operand.
    SYNC_WAIT64 SyncWait64 0x35 ALL Sync Blocking {
        address; data = data64; error_reject;
        condition:      Condition[31:28] "LEQUAL or GREATER; GEQUAL with firmware interface 1.4, 2.6, 3.6 or later; the others are undefined";
    } "SYNC_WAIT64{condition}.{error_reject} d{address}, d{data}";

} } } }
pub(crate) use sync;
