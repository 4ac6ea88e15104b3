//! The blocks of a group slot: start, suspend, endpoints, suspend buffers, events.
//!
//! Facts: hardware/csf-firmware.md section 9, csf-scheduling.md section 3.

use crate::table::{fields, registers, values};

values! {
    /// `CSG_REQ.STATE`; ACK takes the value when the change is complete.
    CsgState: Level {
        0 Terminate "drop everything at once; nothing is saved";
        1 Start     "begin with fresh streams";
        2 Suspend   "stop and save into the suspend buffer";
        3 Resume    "go on from the suspend buffer";
    }
}

fields! {
    /// `CSG_REQ`, `CSG_ACK`, `CSG_ACK_IRQ_MASK`.
    csg_req {
        2:0 STATE:                CsgState = "the state wanted; the three bits are one value";
        4   EP_CFG:               Toggle = "take EP_REQ and ALLOW_*";
        5   STATUS_UPDATE:        Toggle = "refresh the STATUS_* words of the group and its streams";
        28  SYNC_UPDATE:          Event  = "the group changed a sync object with system scope";
        29  IDLE:                 Event  = "all streams are idle";
        30  DOORBELL:             Event  = "ACK and mask only (V)";
        31  PROGRESS_TIMER_EVENT: Event  = "PROGRESS_TIMER ran out";
    }
    /// `CSG_EP_REQ`, and the low word of `CSG_EP_REQ2`.
    ep_req {
        7:0   COMPUTE:            u32  = "most endpoints for compute";
        15:8  FRAGMENT:           u32  = "most endpoints for fragment";
        19:16 TILER:              u32  = "most tilers";
        20    COMPUTE_EXCLUSIVE:  bool = "compute endpoints are not shared";
        21    FRAGMENT_EXCLUSIVE: bool = "fragment endpoints are not shared";
        31:28 PRIORITY:           u32  = "priority among slots, 15 highest; two slots must not have the same";
    }
    /// `CSG_CONFIG`.
    csg_config {
        3:0 JASID:    u32  = "address space of the group";
        8   L2_RING:  bool = "allocate the ring in the L2";
        16  L2_OTHER: bool = "allocate other accesses in the L2";
    }
    /// `CSG_DVS_BUF`.
    dvs_buf {
        11:0  SIZE:    u32 = "size";
        63:12 POINTER: u64 = "address / 4096";
    }
    /// `CSG_STATUS_EP_CURRENT`.
    ep_current {
        7:0   COMPUTE:  u32 = "compute endpoints held";
        15:8  FRAGMENT: u32 = "fragment endpoints held";
        19:16 TILER:    u32 = "tilers held";
    }
    /// `CSG_STATUS_EP_REQ`.
    ep_wanted {
        7:0   COMPUTE:            u32  = "compute endpoints wanted";
        15:8  FRAGMENT:           u32  = "fragment endpoints wanted";
        19:16 TILER:              u32  = "tilers wanted";
        20    COMPUTE_EXCLUSIVE:  bool = "compute endpoints are not shared";
        21    FRAGMENT_EXCLUSIVE: bool = "fragment endpoints are not shared";
    }
    /// `CSG_STATUS_STATE`.
    csg_status_state {
        0 IDLE: bool = "all streams are idle";
    }
    /// `CSG_RESOURCE_DEP`.
    resource_dep {
        7:0   COMBINATIONS: u32 = "bit n: a stream uses or waits for the combination n of compute (1), fragment (2), tiler (4)";
        18:16 AVAILABLE:    u32 = "resources available";
        22:20 REQUESTED:    u32 = "resources actively requested";
    }
}

registers! {
    /// Group input, written by the host.
    block CSG_INPUT Shared 0 = "requests of the host for a group slot";
    0x00 CSG_REQ               32 RW V10  Modelled csg_req    "requests, and acknowledgements of events";
    0x04 CSG_ACK_IRQ_MASK      32 RW V10  Modelled csg_req    "which changes of CSG_ACK raise the slot's interrupt; STATE bits all or none";
    0x08 CSG_DB_REQ            32 RW V10  Modelled -          "bit s: doorbell for stream s, toggled against CSG_DB_ACK";
    0x0C CSG_IRQ_ACK           32 RW V10  Modelled -          "bit s: answer to CSG_IRQ_REQ";
    0x20 CSG_ALLOW_COMPUTE     64 RW V10  Modelled -          "shader cores that compute may use";
    0x28 CSG_ALLOW_FRAGMENT    64 RW V10  Modelled -          "shader cores that fragment may use";
    0x30 CSG_ALLOW_OTHER       32 RW V10  Modelled -          "tilers that may be used";
    0x34 CSG_EP_REQ            32 RW V10  Modelled ep_req     "endpoints and priority; interface before 4.0";
    0x38 CSG_EP_REQ2           64 RW I4_0 Modelled ep_req     "endpoints and priority; interface 4.0 and later";
    0x40 CSG_SUSPEND_BUF       64 RW V10  Modelled -          "suspend buffer, an address in address space 0";
    0x48 CSG_PROTM_SUSPEND_BUF 64 RW V10  Modelled -          "suspend buffer for protected mode, an address in address space 0";
    0x50 CSG_CONFIG            32 RW V10  Modelled csg_config "address space of the group";
    0x54 CSG_ITER_TRACE_CONFIG 32 RW V10  Known    -          "a number that names the group in the iterator trace (V)";
    0x60 CSG_DVS_BUF           64 RW I3_2 Known    dvs_buf    "deferred vertex shading buffer; a size without a pointer is an error (V)";
}

registers! {
    /// Group output, written by the firmware.
    block CSG_OUTPUT Shared 0 = "answers of the firmware for a group slot";
    0x00 CSG_ACK               32 R V10 Modelled csg_req          "answers to CSG_REQ, and events";
    0x08 CSG_DB_ACK            32 R V10 Modelled -                "bit s: the doorbell of stream s was seen";
    0x0C CSG_IRQ_REQ           32 R V10 Modelled -                "bit s is made to differ from CSG_IRQ_ACK when stream s wants attention";
    0x10 CSG_STATUS_EP_CURRENT 32 R V10 Modelled ep_current       "endpoints held";
    0x14 CSG_STATUS_EP_REQ     32 R V10 Modelled ep_wanted        "endpoints wanted";
    0x18 CSG_STATUS_STATE      32 R V10 Modelled csg_status_state "whether the group is idle";
    0x1C CSG_RESOURCE_DEP      32 R V10 Known    resource_dep     "resources used or waited for; newer firmware: PROGRESS_TIMER_STATE, 0 compute, 1 fragment, 2 tiler, 3 neural (V)";
}
