//! Misuse by the instructions of a stream.

use core::fmt;

/// An instruction of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPlace {
    /// Group slot.
    pub group: u8,
    /// Stream number.
    pub stream: u8,
    /// Frames in use; 1 is the ring itself.
    pub depth: u8,
    /// GPU address of the instruction.
    pub address: u64,
    /// The instruction.
    pub word: u64,
}

impl fmt::Display for StreamPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StreamPlace {
            group,
            stream,
            depth,
            address,
            word,
        } = self;
        write!(
            f,
            "slot {group} stream {stream}, instruction {word:#018x} at {address:#x} (depth {depth})"
        )
    }
}

misuses! {
    /// Misuse by an instruction of a stream; the numbers are the checks of the table in command-stream.md 8.
    StreamMisuse {
        Undefined                                       = "the opcode or a field has no meaning on this architecture", "command-stream.md 8 (1 to 3)";
        NotModelled                                     = "the instruction is known but not modelled", "command-stream.md 3";
        TileEnableMap                                   = "a pass with a tile enable map is known but not modelled: the format of the map is not published", "command-stream.md 10 (13)";
        PositionArray                                   = "RUN_TILING is known but not modelled: how its array of positions is laid out is not published", "command-stream.md 10 (14)";
        Topology { mode: u8 }                           = "draw mode {mode} is known but not modelled: how its primitives assemble is not published", "graphics-draw.md 3.20";
        ReservedBits { bits: u64 }                      = "reserved bits {bits:#x} are set", "command-stream.md 8 (4)";
        RegisterOutOfRange { register: u32 }            = "register r{register} does not exist", "command-stream.md 8 (5)";
        OddPair { register: u32 }                       = "the pair at r{register} begins with an odd register", "command-stream.md 8 (6)";
        NeverWritten { register: u32 }                  = "r{register} is read but was never written", "command-stream.md 8 (7)";
        ReadWhileLoading { register: u32 }              = "r{register} is read while a load to it is outstanding", "command-stream.md 8 (8)";
        KernelRegister { register: u32 }                = "r{register} belongs to the code in the ring; called code may use it to link buffers, and for nothing else", "command-stream.md 8 (11)";
        BufferAlignment { address: u64, length: u64 }   = "the buffer {address:#x}, {length:#x} bytes, is not 64-byte aligned with whole instructions", "command-stream.md 8 (13)";
        CallStackOverflow                               = "CALL with 8 frames in use", "command-stream.md 8 (14)";
        JumpInRing                                      = "JUMP in the ring itself", "command-stream.md 8 (15)";
        BranchOutside { target: u64 }                   = "the branch to {target:#x} leaves the buffer", "command-stream.md 8 (16)";
        EndlessLoop                                     = "the stream loops without blocking or any effect on memory", "command-stream.md 8 (17)";
        DataAlignment { address: u64, alignment: u64 }  = "address {address:#x} is not a multiple of {alignment}", "command-stream.md 8 (18)";
        SlotOutOfRange { slot: u32 }                    = "scoreboard slot {slot} does not exist", "command-stream.md 8 (20)";
        WaitsForItself { slot: u32 }                    = "a deferred instruction signals slot {slot}, which it waits for", "command-stream.md 8 (21)";
        SlotWithoutWait { slot: u32 }                   = "signal slot {slot} is given though nothing is waited for", "command-stream.md 8 (22)";
        WaitOnUnusedSlot { slot: u32 }                  = "slot {slot} alone is waited for, but nothing was ever counted on it", "command-stream.md 8 (23)";
        WithoutSharedScoreboards                        = "shared scoreboards are used on a GPU whose GPU_FEATURES do not name them", "command-stream.md 3.4";
        NeverSignalled { address: u64, value: u64, reference: u64 } = "everything waits; the object at {address:#x} holds {value:#x} against {reference:#x}", "command-stream.md 8 (24)";
        WithoutResource { needed: u32 }                 = "a job runs without holding resources {needed:#x}", "command-stream.md 8 (29)";
        StagingInvalid { register: u32, value: u64 }    = "staging register r{register} = {value:#x} is not valid for the job", "command-stream.md 8 (32)";
        DescriptorAlignment { address: u64, alignment: u64 } = "the descriptor at {address:#x} is not aligned to {alignment}", "command-stream.md 8 (33)";
        DescriptorInvalid { address: u64, field: &'static str } = "the field {field} of the descriptor at {address:#x} is not valid for the job", "descriptors.md 3";
        AttachmentsOverlap { one: &'static str, other: &'static str, address: u64 } = "{one} and {other} of a pass are both written at {address:#x}", "graphics-framebuffer.md 5.8";
        Unwritten { attachment: &'static str, x: u16, y: u16 } = "the write-back of {attachment} fails in the tile at ({x}, {y}) (a note)", "graphics-framebuffer.md 5.8";
        WorkgroupTooLarge { threads: u64 }              = "a workgroup of {threads} threads", "descriptors.md 13";
        MergedWithSharedMemory                          = "workgroups may be merged, but the job has workgroup memory", "descriptors.md 13";
        WithoutHeap                                     = "the instruction needs a heap context, and HEAP_SET has bound none", "command-stream.md 8 (34)";
        HeapOrder                                       = "vt_end without a vt_start before it", "command-stream.md 8 (35)";
        ChunkList { first: u64, last: u64 }             = "the list of chunks from {first:#x} to {last:#x} has one end only", "command-stream.md 8 (36)";
        HandlerInHandler                                = "an exception handler is installed inside of one", "command-stream.md 8 (41)";
        RegionTooLong { size: u64 }                     = "PROT_REGION of {size:#x} bytes is larger than the rest of the buffer", "command-stream.md 8 (45)";
        CounterDisabled                                 = "the cycle counter is stored while it is disabled", "command-stream.md 8 (44)";
        Progress                                        = "progress values are used, whose rules are not established", "command-stream.md 8 (46)";
    }
}
