//! The kernel blocks of a stream: ring buffer, start and stop, status, faults, tiler heap.
//!
//! Facts: hardware/csf-firmware.md section 10, csf-scheduling.md sections 6 and 7.

use crate::table::{fields, registers, values};

values! {
    /// `CS_REQ.STATE`.
    CsState: Level {
        0 Stop  "stop; a running job finishes first";
        1 Start "initialise and run";
    }
    /// What a waiting instruction is (`CS_STATUS_WAIT` bits 19:16).
    WaitSource {
        0 None "nothing waits";
        8 Wait "a WAIT instruction";
    }
    /// Condition of a sync wait.
    SyncCondition {
        0 LessEqual    "until the object is less than or equal to the value";
        1 Greater      "until the object is greater than the value";
        5 GreaterEqual "until the object is greater than or equal to the value; interface 1.4, 2.6, 3.6 and later (V)";
    }
    /// Why a stream does not go on.
    BlockedReason {
        0 Unblocked  "it is not blocked";
        1 Scoreboard "it waits for scoreboard entries";
        2 Progress   "it waits for progress of another stream";
        3 Sync       "it waits for a sync object";
        4 Deferred   "a deferred instruction is pending";
        5 Resource   "it waits for an iterator";
        6 Flush      "it waits for a cache flush";
    }
}

fields! {
    /// `CS_REQ`, `CS_ACK`, `CS_ACK_IRQ_MASK`.
    cs_req {
        2:0 STATE:              CsState = "the state wanted; in ACK the state reached, which interrupts when the mask has all three bits (V)";
        4   EXTRACT_EVENT:      Level = "report when EXTRACT moves; in ACK the event";
        8   IDLE_SYNC_WAIT:     bool  = "a stream blocked in a sync wait counts as idle; no ACK";
        9   IDLE_PROTM_PEND:    bool  = "a stream waiting for protected mode counts as idle; no ACK";
        10  IDLE_EMPTY:         bool  = "an empty ring counts as idle; no ACK";
        11  IDLE_RESOURCE_REQ:  bool  = "a stream waiting for resources counts as idle; no ACK";
        12  IDLE_SHARED_SB_DEC: bool  = "newer: a stream waiting for a shared scoreboard counts as idle; no ACK (V)";
        26  TILER_OOM:          Event = "the tiler heap is exhausted; acknowledge when memory was given or refused";
        27  PROTM_PEND:         Event = "stalled: wants protected mode";
        30  FATAL:              Event = "the stream is dead: see CS_FATAL";
        31  FAULT:              Event = "an operation failed: see CS_FAULT";
    }
    /// `CS_CONFIG`.
    cs_config {
        3:0  PRIORITY: u32 = "priority inside the group, 15 highest";
        15:8 DOORBELL: u32 = "number of the stream's own doorbell";
    }
    /// `CS_INSTR_CONFIG`.
    instr_config {
        3:0   JASID:       u32 = "address space of the trace buffer";
        7:4   EVENT_SIZE:  u32 = "size of a trace event";
        23:16 EVENT_STATE: u32 = "which events";
    }
    /// `CS_STATUS_WAIT`.
    status_wait {
        15:0  SCOREBOARDS: u32           = "scoreboard entries waited for";
        19:16 SOURCE:      WaitSource    = "which instruction waits; interface 1.3, 2.6, 3.5 and later (V)";
        27:24 CONDITION:   SyncCondition = "condition of a sync wait";
        28    PROGRESS:    bool          = "a progress wait (before 14.x.4)";
        29    PROTECTED:   bool          = "waits for protected mode";
        30    SYNC_64:     bool          = "the sync object is 64 bits wide";
        31    SYNC:        bool          = "a sync wait";
    }
    /// `CS_STATUS_REQ_RESOURCE`.
    req_resource {
        0  COMPUTE:          bool = "compute requested";
        1  FRAGMENT:         bool = "fragment requested";
        2  TILER:            bool = "tiler requested";
        3  IDVS:             bool = "IDVS requested";
        16 COMPUTE_GRANTED:  bool = "compute granted";
        17 FRAGMENT_GRANTED: bool = "fragment granted";
        18 TILER_GRANTED:    bool = "tiler granted";
        19 IDVS_GRANTED:     bool = "IDVS granted";
    }
    /// `CS_STATUS_SCOREBOARDS`.
    status_scoreboards {
        15:0 NONZERO: u32 = "entries that are not zero";
    }
    /// `CS_STATUS_BLOCKED_REASON`.
    blocked_reason {
        3:0 REASON: BlockedReason = "why the stream does not go on";
    }
    /// `CS_FAULT`, `CS_FATAL`.
    cs_fault {
        7:0  EXCEPTION: u32 = "exception code";
        31:8 DATA:      u32 = "data of the exception, undocumented";
    }
    /// A chunk of the tiler heap, as `CS_TILER_HEAP_*` and chunk headers name it.
    heap_chunk {
        11:0  SIZE:    u32 = "size / 4096";
        63:12 ADDRESS: u64 = "address / 4096";
    }
}

registers! {
    /// Stream input, written by the host.
    block CS_KERNEL_INPUT Shared 0 = "requests of the host for a stream";
    0x00 CS_REQ                         32 RW V10 Modelled cs_req       "requests, and acknowledgements of events";
    0x04 CS_CONFIG                      32 RW V10 Modelled cs_config    "priority and doorbell";
    0x0C CS_ACK_IRQ_MASK                32 RW V10 Modelled cs_req       "which changes of CS_ACK raise the slot's interrupt";
    0x10 CS_BASE                        64 RW V10 Modelled -            "ring buffer, in the group's address space";
    0x18 CS_SIZE                        32 RW V10 Modelled -            "bytes of the ring buffer, a power of two";
    0x20 CS_TILER_HEAP_START            64 RW V10 Modelled heap_chunk   "first new chunk; 0 refuses memory";
    0x28 CS_TILER_HEAP_END              64 RW V10 Modelled heap_chunk   "last new chunk; 0 refuses memory";
    0x30 CS_USER_INPUT                  64 RW V10 Modelled -            "page with INSERT, in address space 0";
    0x38 CS_USER_OUTPUT                 64 RW V10 Modelled -            "page with EXTRACT, in address space 0";
    0x40 CS_INSTR_CONFIG                32 RW V10 Known    instr_config "trace-point buffer";
    0x44 CS_INSTR_BUFFER_SIZE           32 RW V10 Known    -            "bytes of the trace-point buffer";
    0x48 CS_INSTR_BUFFER_BASE           64 RW V10 Known    -            "address of the trace-point buffer";
    0x50 CS_INSTR_BUFFER_OFFSET_POINTER 64 RW V10 Known    -            "where firmware stores the insert offset";
}

registers! {
    /// Stream output, written by the firmware.
    block CS_KERNEL_OUTPUT Shared 0 = "answers of the firmware for a stream";
    0x00 CS_ACK                       32 R V10 Modelled cs_req             "answers to CS_REQ, and events";
    0x40 CS_STATUS_CMD_PTR            64 R V10 Modelled -                  "address of the current instruction";
    0x48 CS_STATUS_WAIT               32 R V10 Modelled status_wait        "what the stream waits for";
    0x4C CS_STATUS_REQ_RESOURCE       32 R V10 Modelled req_resource       "iterators requested and granted";
    0x50 CS_STATUS_WAIT_SYNC_POINTER  64 R V10 Modelled -                  "sync object waited for";
    0x58 CS_STATUS_WAIT_SYNC_VALUE    32 R V10 Modelled -                  "value waited for, low word";
    0x5C CS_STATUS_SCOREBOARDS        32 R V10 Modelled status_scoreboards "scoreboard entries in use";
    0x60 CS_STATUS_BLOCKED_REASON     32 R V10 Modelled blocked_reason     "why the stream does not go on";
    0x64 CS_STATUS_WAIT_SYNC_VALUE_HI 32 R V10 Modelled -                  "value waited for, high word";
    0x80 CS_FAULT                     32 R V10 Modelled cs_fault           "the recoverable fault; valid at its event";
    0x84 CS_FATAL                     32 R V10 Modelled cs_fault           "the fatal fault; valid at its event";
    0x88 CS_FAULT_INFO                64 R V10 Modelled -                  "further data of the fault, usually the address";
    0x90 CS_FATAL_INFO                64 R V10 Modelled -                  "further data of the fatal fault, usually the address";
    0xC0 CS_HEAP_VT_START             32 R V10 Modelled -                  "vertex/tiling passes started; valid at TILER_OOM";
    0xC4 CS_HEAP_VT_END               32 R V10 Modelled -                  "vertex/tiling passes completed; valid at TILER_OOM";
    0xCC CS_HEAP_FRAG_END             32 R V10 Modelled -                  "fragment passes completed; valid at TILER_OOM";
    0xD0 CS_HEAP_ADDRESS              64 R V10 Modelled -                  "heap context the stream uses; valid at TILER_OOM";
}
