//! Events: what the automata are told of.
pub use eitri_shaderc::ir::notes::{Classes, Order, Reach, Scope};

/// Who does something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Agent {
    /// Its number among all of the run; of an invocation that of its workgroup comes in.
    pub lane: u32,
    /// Its subgroup, by a number that no subgroup of another workgroup has.
    pub subgroup: u32,
    /// Its workgroup, by a number that is used once in a run of several dispatches.
    pub group: u32,
}

impl Agent {
    /// The CPU.
    pub const HOST: Agent = Agent {
        lane: u32::MAX,
        subgroup: u32::MAX,
        group: u32::MAX,
    };

    /// Whether a scope around this agent has the other in it.
    pub(crate) fn reaches(self, other: Agent, scope: Scope) -> bool {
        match scope {
            Scope::Invocation => self.lane == other.lane,
            Scope::Subgroup => self.subgroup == other.subgroup,
            Scope::Workgroup => self.group == other.group,
            Scope::Device => true,
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes in one.
    Update,
}

/// An access to bytes that lie together: one element, so that neighbours are accesses of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Who.
    pub agent: Agent,
    /// Which memory: a buffer, an image, the shared memory of a workgroup. A number of the caller's.
    pub object: u32,
    /// What sort of memory that is: one bit.
    pub class: Classes,
    /// First byte; of an image a number that no other texel has, times four.
    pub start: u64,
    /// How many, at most eight.
    pub bytes: u32,
    /// What is done.
    pub kind: Kind,
    /// How it takes part in the order.
    pub reach: Reach,
    /// What an atomic orders besides.
    pub order: Option<Order>,
    /// What is written.
    pub value: u64,
    /// Whether that does not depend on the invocation: a constant, or the same for the whole dispatch.
    pub fixed: bool,
    /// The instruction: a number of the caller's.
    pub site: u32,
}
