//! Notes: what the source says of an instruction and the instruction itself no longer does.
//!
//! Made only for an interpreter that checks ([`crate::interp::Observer`]): scopes and semantics of the memory model, the lengths of
//! arrays inside of memory objects, lane numbers before they were cut off, names of variables.
//! Needs: a function as it was translated.  Never: read by a pass or a back end; no pass keeps notes.
use std::collections::HashMap;
use std::sync::Arc;

use super::{Inst, Value};

/// How many invocations something concerns, from few to many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// One.
    Invocation,
    /// Those of a subgroup.
    Subgroup,
    /// Those of a workgroup.
    Workgroup,
    /// All of the device, or of a queue family: here there is one.
    Device,
}

/// The memories that semantics name, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Classes(pub u8);

impl Classes {
    /// Storage buffers.
    pub const BUFFER: Classes = Classes(1);
    /// Shared memory.
    pub const SHARED: Classes = Classes(2);
    /// Images.
    pub const IMAGE: Classes = Classes(4);
    /// How many there are.
    pub const COUNT: usize = 3;

    /// Whether all of these are among them.
    pub fn has(self, other: Classes) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What an atomic, a fence or a barrier orders.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Order {
    /// Of the memory, not of the execution.
    pub scope: Scope,
    /// What comes after it stays after it.
    pub acquire: bool,
    /// What comes before it stays before it.
    pub release: bool,
    /// With a release: what was written before is made available.
    pub available: bool,
    /// With an acquire: what is read behind sees what is available.
    pub visible: bool,
    /// What it is about.
    pub classes: Classes,
}

/// How an access takes part in the order between invocations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reach {
    /// It takes no part: not NonPrivate, not coherent.
    pub private: bool,
    /// A write is available to so many at once; a read sees what is available to so many.
    pub coherent: Option<Scope>,
    /// It is atomic, of that scope.
    pub atomic: Option<Scope>,
}

/// What a variable is called.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Named {
    /// In the source; of a block without a name that of the member.
    pub name: String,
    /// Set and number, of what has them.
    pub binding: Option<(u32, u32)>,
}

/// An index of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Index {
    /// The number.
    pub value: Value,
    /// Whether it counts below zero too.
    pub signed: bool,
    /// How many elements there are; none if the buffer's size decides.
    pub len: Option<u32>,
    /// Bytes from one element to the next, where it matters.
    pub stride: u32,
}

/// Whose value an operation of lanes asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// That of the lane with that number.
    Lane(Value),
    /// That of the own number, exclusive or with this.
    Xor(Value),
    /// That of so many below.
    Up(Value),
    /// That of so many above.
    Down(Value),
    /// That of the lane with that number, which must be the same in all lanes.
    Same(Value),
    /// That of the lane that the instruction itself names.
    Given,
}

/// When a function of GLSL gives nothing defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Domain {
    /// Signed: the second is greater than the third.
    SClamp,
    /// Unsigned: the second is greater than the third.
    UClamp,
    /// The second is greater than the third.
    FClamp,
    /// The first is not less than the second.
    SmoothStep,
    /// The first is less than zero, or both are zero, or the first is and the second is less.
    Pow,
    /// The first is less than zero.
    Negative,
    /// The first is beyond -1 or 1.
    BeyondOne,
}

/// What the source says of an instruction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Note {
    /// What is accessed.
    pub named: Option<Arc<Named>>,
    /// Indices that led there.
    pub indices: Vec<Index>,
    /// How the access takes part in the order between invocations.
    pub reach: Option<Reach>,
    /// What an atomic, fence or barrier orders.
    pub order: Option<Order>,
    /// A fence or barrier at which so many wait.
    pub control: Option<Scope>,
    /// Whose value is asked for.
    pub source: Option<Source>,
    /// The operation of the source has undefined results for some operands, and this is it.
    pub arithmetic: bool,
    /// Functions of GLSL that the instruction is a part of, with their operands.
    pub domains: Vec<(Domain, [Value; 3])>,
    /// The resource may differ between invocations.
    pub non_uniform: bool,
}

/// The notes of a function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Notes(HashMap<Inst, Note>);

impl Notes {
    /// What is noted of an instruction.
    pub fn of(&self, inst: Inst) -> Option<&Note> {
        self.0.get(&inst)
    }

    /// The note of an instruction, to add to.
    pub fn at(&mut self, inst: Inst) -> &mut Note {
        self.0.entry(inst).or_default()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Inst, &Note)> {
        self.0.iter().map(|(inst, note)| (*inst, note))
    }
}
