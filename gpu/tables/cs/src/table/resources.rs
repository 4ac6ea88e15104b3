//! Resources, caches, and the tiler heap.
//!
//! Facts: hardware/command-stream.md 1.10 to 1.12, 3.7.

#[rustfmt::skip]
macro_rules! resources { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Holds exactly the named hardware from here on; blocks until it is granted.
    REQ_RESOURCE ReqResource 0x22 ALL Resource Blocking {
        compute:          bool[0]             "compute endpoints";
        fragment:         bool[1]             "fragment endpoints";
        tiler:            bool[2]             "the tiler";
        idvs:             bool[3]             "index-driven vertex shading";
        rt:               bool[4 FROM_V11]    "ray tracing";
    } "REQ_RESOURCE{compute?.compute}{fragment?.fragment}{tiler?.tiler}{idvs?.idvs}";

    /// Flushes caches; always counted on the slot. Nothing is done when a flush has happened since the flush id was read.
    FLUSH_CACHE2 FlushCache2 0x24 ALL Cache SignalSlot {
        l2_flush_mode:    FlushMode[3:0]       "the L2";
        lsc_flush_mode:   FlushMode[7:4]       "the load/store caches of the cores";
        other_flush_mode: OtherFlushMode[11:8] "the read-only first-level caches";
        latest_flush_id:  Reg[47:40]           "the flush id from which on the caller cares; 0: flush" .reads();
        wait_mask; signal_slot; defer_mode;
    } "FLUSH_CACHE2.{l2_flush_mode}_l2.{lsc_flush_mode}_lsc.{other_flush_mode}<.{defer_mode}> r{latest_flush_id}, #{wait_mask:x}, #{signal_slot}";

    /// Binds the stream to a heap context of the kernel.
    HEAP_SET HeapSet 0x30 ALL Heap Inline {
        address;
    } "HEAP_SET d{address}";

    /// Adds 1 to a counter of the heap context.
    HEAP_OPERATION HeapOperation 0x31 ALL Heap Deferrable {
        operation:        HeapOperationKind[33:32 V10, 34:32 FROM_V11] "the counter";
        wait_mask; signal_slot; defer_mode;
    } "HEAP_OPERATION.{operation} #{wait_mask:x}, #{signal_slot}";

} } } }
pub(crate) use resources;
