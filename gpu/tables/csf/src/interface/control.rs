//! Control blocks: what the firmware says of itself, its group slots and their streams.
//!
//! Facts: hardware/csf-firmware.md sections 6 and 7.

use crate::table::{fields, registers};
use core::fmt;

/// Where the firmware's shared section begins, in its own address space.
pub const SHARED_VA: u32 = 0x0400_0000;
/// Where host-made objects may lie in the firmware's address space, together with the shared section (exclusive).
pub const SHARED_VA_END: u32 = 0x0800_0000;
/// Offset of the first group control block in the shared section.
pub const GROUP_CONTROL_OFFSET: u32 = 0x1000;
/// Offset of the first stream control block in its group control block.
pub const STREAM_CONTROL_OFFSET: u32 = 0x40;
/// Fewest and most group slots that a host accepts.
pub const GROUPS: core::ops::RangeInclusive<u32> = 3..=31;
/// Fewest and most streams of a slot that a host accepts.
pub const STREAMS: core::ops::RangeInclusive<u32> = 8..=32;

fields! {
    /// `GLB_VERSION`.
    glb_version {
        15:0  PATCH: u32 = "patch";
        23:16 MINOR: u32 = "minor";
        31:24 MAJOR: u32 = "major";
    }
    /// `GLB_FEATURES`.
    glb_features {
        0 COMPUTE_SUSPEND:   bool = "compute work can be suspended";
        1 FRAGMENT_SUSPEND:  bool = "fragment work can be suspended";
        2 TILER_SUSPEND:     bool = "tiler work can be suspended";
        3 PROGRESS_WAITS:    bool = "several progress waits at once";
        4 ITERATOR_TRACE:    bool = "iterators can be traced";
    }
    /// `GLB_GROUP_NUM`.
    glb_group_num {
        4:0 GROUPS: u32 = "group slots";
    }
    /// `GLB_PRFCNT_SIZE`.
    glb_prfcnt_size {
        15:0  HARDWARE: u32 = "hardware part of a sample, in units of 256 bytes";
        31:16 FIRMWARE: u32 = "firmware part of a sample, in units of 256 bytes";
    }
    /// `GLB_INSTR_FEATURES`.
    glb_instr_features {
        3:0 OFFSET_RATE: u32 = "how often the trace offset is updated";
        7:4 EVENT_SIZE:  u32 = "largest trace event";
    }
    /// `GLB_PRFCNT_FEATURES`.
    glb_prfcnt_features {
        3:0 METADATA: u32 = "size of metadata, in units of 256 bytes";
    }
    /// `GROUP_FEATURES`.
    group_features {
        7:0 SUSPEND_TYPE: u32  = "kind of suspend data; slots of one kind are interchangeable";
        8   DETAILED:     bool = "detailed resource tracking";
    }
    /// `GROUP_STREAM_NUM`.
    group_stream_num {
        5:0 STREAMS: u32 = "streams of the slot";
    }
    /// `STREAM_FEATURES`.
    stream_features {
        7:0  REGISTERS_MINUS_1: u32  = "work registers, minus one";
        15:8 SCOREBOARDS:       u32  = "scoreboard entries";
        16   COMPUTE:           bool = "takes compute jobs";
        17   FRAGMENT:          bool = "takes fragment jobs";
        18   TILER:             bool = "takes tiler jobs";
    }
}

registers! {
    /// The firmware as a whole.
    block GLB_CONTROL Shared 0 = "the firmware: version, features, where its blocks are";
    0x00 GLB_VERSION         32 R V10  Modelled glb_version         "interface version; 0: not booted";
    0x04 GLB_FEATURES        32 R V10  Modelled glb_features        "what the firmware can do";
    0x08 GLB_INPUT_VA        32 R V10  Modelled -                   "firmware address of GLB_INPUT";
    0x0C GLB_OUTPUT_VA       32 R V10  Modelled -                   "firmware address of GLB_OUTPUT";
    0x10 GLB_GROUP_NUM       32 R V10  Modelled glb_group_num       "how many group slots";
    0x14 GLB_GROUP_STRIDE    32 R V10  Modelled -                   "bytes from one group control block to the next";
    0x18 GLB_PRFCNT_SIZE     32 R V10  Modelled glb_prfcnt_size     "size of a performance counter sample";
    0x1C GLB_INSTR_FEATURES  32 R I1_1 Known    glb_instr_features  "trace points of streams";
    0x20 GLB_PRFCNT_FEATURES 32 R V10  Known    glb_prfcnt_features "performance counters (V)";
}

registers! {
    /// A group slot.
    block GROUP_CONTROL Shared 0 = "a group slot: suspend buffer sizes, where its blocks are";
    0x00 GROUP_FEATURES           32 R V10 Modelled group_features   "what the slot can do";
    0x04 GROUP_INPUT_VA           32 R V10 Modelled -                "firmware address of CSG_INPUT";
    0x08 GROUP_OUTPUT_VA          32 R V10 Modelled -                "firmware address of CSG_OUTPUT";
    0x0C GROUP_SUSPEND_SIZE       32 R V10 Modelled -                "bytes of a suspend buffer; filled at boot";
    0x10 GROUP_PROTM_SUSPEND_SIZE 32 R V10 Modelled -                "bytes of a suspend buffer for protected mode; filled at boot";
    0x14 GROUP_STREAM_NUM         32 R V10 Modelled group_stream_num "how many streams";
    0x18 GROUP_STREAM_STRIDE      32 R V10 Modelled -                "bytes from one stream control block to the next";
}

registers! {
    /// A stream of a slot.
    block STREAM_CONTROL Shared 0 = "a stream of a slot: registers, scoreboards, where its blocks are";
    0x00 STREAM_FEATURES  32 R V10 Modelled stream_features "what the stream has; filled at boot";
    0x04 STREAM_INPUT_VA  32 R V10 Modelled -               "firmware address of CS_KERNEL_INPUT";
    0x08 STREAM_OUTPUT_VA 32 R V10 Modelled -               "firmware address of CS_KERNEL_OUTPUT";
}

/// A firmware interface version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major.
    pub major: u8,
    /// Minor.
    pub minor: u8,
    /// Patch.
    pub patch: u16,
}

impl Version {
    /// From here on `GLB_INSTR_FEATURES` is valid.
    pub const INSTR_FEATURES: Version = Version::new(1, 1);
    /// From here on `CSG_DVS_BUF` is read.
    pub const DVS_BUF: Version = Version::new(3, 2);
    /// From here on `CSG_EP_REQ2` replaces `CSG_EP_REQ`.
    pub const EP_REQ2: Version = Version::new(4, 0);
    /// From here on `GLB_REQ.STATE` replaces HALT and SLEEP.
    pub const GLB_STATE: Version = Version::new(4, 1);

    /// Whether `CS_STATUS_WAIT` tells the source of a scoreboard wait: 1.3, 2.6, 3.5 and later.
    pub const fn has_wait_source(self) -> bool {
        self.is_since(3, 6, 5)
    }

    /// Whether SYNC_WAIT knows the condition "greater or equal": 1.4, 2.6, 3.6 and later.
    pub const fn has_greater_equal(self) -> bool {
        self.is_since(4, 6, 6)
    }

    /// Whether a feature is there that came to majors 1, 2 and 3 with these minors.
    const fn is_since(self, minor_1: u8, minor_2: u8, minor_3: u8) -> bool {
        match self.major {
            0 => false,
            1 => self.minor >= minor_1,
            2 => self.minor >= minor_2,
            3 => self.minor >= minor_3,
            _ => true,
        }
    }

    /// The first version with these numbers.
    pub const fn new(major: u8, minor: u8) -> Version {
        Version {
            major,
            minor,
            patch: 0,
        }
    }

    /// From `GLB_VERSION` or the version word of an image; `None` for 0, which means "not booted".
    pub const fn from_word(word: u32) -> Option<Version> {
        if word == 0 {
            return None;
        }
        Some(Version {
            major: (word >> 24) as u8,
            minor: (word >> 16) as u8,
            patch: word as u16,
        })
    }

    /// The word that says this version.
    pub const fn word(self) -> u32 {
        (self.major as u32) << 24 | (self.minor as u32) << 16 | self.patch as u32
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
