//! What the automaton is told, and what it tells.

/// What a message does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Act {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes in one.
    Atomic,
}

/// A memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// The shared memory of the workgroup; places are bytes from its beginning.
    Shared,
    /// All that workgroups have in common; places are addresses.
    Global,
}

/// What a lane accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    /// Its number in the warp.
    pub lane: u8,
    /// The memory.
    pub memory: Memory,
    /// First byte.
    pub start: u64,
    /// Bytes, at most 16.
    pub bytes: u8,
    /// What is stored.
    pub value: u128,
}

/// A message of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'m> {
    /// The workgroup, by a number of the caller's.
    pub group: u32,
    /// The warp, by a number that no warp of another workgroup has.
    pub warp: u32,
    /// Lanes that run, a bit each.
    pub running: u16,
    /// How often lanes of the warp that had gone apart have all run together again.
    pub joined: u32,
    /// What it does.
    pub act: Act,
    /// Whether it moves one word a lane, so that it may be an atomic load or store.
    pub may_be_atomic: bool,
    /// The instruction: a number of the caller's.
    pub site: u32,
    /// What lanes access.
    pub lanes: &'m [Lane],
}

/// How certain it is that two accesses race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// Both store the same, or they may be an atomic load and an atomic store by which workgroups exchange something.
    Doubtful,
    /// They may be an atomic load and an atomic store of one workgroup, which has barriers for that.
    Likely,
    /// One of them can't be atomic, or both instructions access another word in each lane, as atomics hardly do.
    Certain,
}

/// One side of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Party {
    /// The workgroup.
    pub group: u32,
    /// The warp.
    pub warp: u32,
    /// The lane.
    pub lane: u8,
    /// The instruction.
    pub site: u32,
    /// What it does.
    pub act: Act,
}

/// Two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// The earlier one in this run.
    pub first: Party,
    /// The later one.
    pub second: Party,
    /// The memory.
    pub memory: Memory,
    /// The first byte of the word.
    pub start: u64,
    /// Whether both store the same value.
    pub same_value: bool,
    /// How certain it is.
    pub certainty: Certainty,
    /// How often these instructions race.
    pub count: u64,
}
