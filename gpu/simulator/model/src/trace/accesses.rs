//! Accesses: what warps of compute jobs do to memory, reported to who checks it.
//!
//! Needs: nothing; without a sink that wants it nothing is made.  Never: accesses of vertex and fragment shaders.

use core::ops::Range;

/// A workgroup of a compute job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkgroupPlace {
    /// Number of the job, over all streams.
    pub job: u64,
    /// Number of the workgroup in the job.
    pub number: u64,
    /// Its id in x, y, z, without the job's offset.
    pub id: [u32; 3],
}

/// What happens to a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkgroupStep {
    /// It begins.
    Begun {
        /// Where its threads begin.
        entry: u64,
    },
    /// All its threads that have not ended have met at a barrier.
    Barrier,
    /// All its threads have ended.
    Ended,
}

/// What a message does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryAct {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes in one: ATOM and its like.
    Atomic,
}

/// Memory by who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemorySort {
    /// The shared memory of a workgroup (WLS).
    Shared,
    /// The scratch memory of a thread (TLS).
    Scratch,
    /// All else.
    Global,
}

/// The memory of a workgroup and its threads, in virtual addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnMemory {
    /// Its shared memory.
    pub shared: Range<u64>,
    /// The scratch memory of all threads of the core.
    pub scratch: Range<u64>,
}

impl OwnMemory {
    /// What sort of memory an address is in.
    pub fn sort(&self, address: u64) -> MemorySort {
        if self.shared.contains(&address) {
            MemorySort::Shared
        } else if self.scratch.contains(&address) {
            MemorySort::Scratch
        } else {
            MemorySort::Global
        }
    }
}

/// One lane's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneAccess {
    /// The lane.
    pub lane: u8,
    /// Virtual address.
    pub address: u64,
    /// Bytes, at most 16.
    pub bytes: u8,
    /// What is stored by STORE; of texels a number that differs where their registers do; of reads and atomics 0.
    pub value: u128,
}

/// A message of a warp that has accessed memory.
#[derive(Clone, Debug)]
pub struct WarpAccess<'a> {
    /// The workgroup.
    pub workgroup: WorkgroupPlace,
    /// Number of the warp's first thread in the workgroup.
    pub first_thread: u32,
    /// GPU address of the instruction, and the instruction.
    pub instruction: (u64, u64),
    /// Lanes that execute it, a bit each.
    pub lanes: u16,
    /// How often all lanes of the warp that had gone apart have run together again.
    pub joined: u32,
    /// What it does.
    pub act: MemoryAct,
    /// Whether it moves one word of 4 or 8 bytes a lane: machine code has no other form for atomic loads and stores.
    pub may_be_atomic: bool,
    /// Which memory is the workgroup's own.
    pub own: &'a OwnMemory,
    /// The accesses, in the order of the lanes.
    pub accesses: &'a [LaneAccess],
}

/// What a value decides that memory had which nobody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decides {
    /// Where a lane goes on.
    Branch,
    /// An address, an index or a handle.
    Address,
    /// What is stored to global memory.
    Store,
    /// What an atomic leaves in global memory.
    Atomic,
}

/// A load from memory that nobody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndefinedLoad {
    /// GPU address of the instruction, and the instruction.
    pub instruction: (u64, u64),
    /// The memory.
    pub sort: MemorySort,
    /// Virtual address of the access.
    pub address: u64,
    /// Bytes from the beginning of the workgroup's shared memory, or of the thread's scratch memory.
    pub offset: u64,
    /// Number of the thread in the workgroup.
    pub thread: u32,
}

/// A value of memory that nobody wrote has decided something: with something else in that memory, another thing would have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndefinedUse {
    /// The workgroup.
    pub workgroup: WorkgroupPlace,
    /// Number of the thread in the workgroup.
    pub thread: u32,
    /// GPU address of the instruction, and the instruction.
    pub instruction: (u64, u64),
    /// What was decided.
    pub decides: Decides,
    /// Where the value comes from.
    pub load: UndefinedLoad,
}
