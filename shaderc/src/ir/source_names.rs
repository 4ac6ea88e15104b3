//! Variables of the source: what they are called, their types, and where the IR keeps them. For a debugger.
//!
//! Needs: `Options::notes`; a function as it was translated.  Never: read by a pass or a back end; no pass keeps them.
use std::collections::HashMap;
use std::sync::Arc;

use super::{BindingId, PositionId, Value, Var};

/// A type of the source.
#[derive(Clone, PartialEq, Debug)]
pub enum SourceType {
    /// True or false; a word of 32 bits in memory.
    Bool,
    /// An integer.
    Int {
        /// Its width.
        bits: u32,
        /// Whether it counts below zero too.
        signed: bool,
    },
    /// A float.
    Float {
        /// Its width.
        bits: u32,
    },
    /// Components, columns or elements of one type.
    Sequence(Sequence),
    /// A struct.
    Struct(Vec<SourceMember>),
    /// An address, a pointer, an image: shown as a number at most.
    Opaque,
}

/// What a sequence is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SequenceKind {
    /// Components.
    Vector,
    /// Columns.
    Matrix,
    /// Elements.
    Array,
}

/// Parts of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct Sequence {
    /// What it is.
    pub kind: SequenceKind,
    /// Type of each part.
    pub part: Arc<SourceType>,
    /// Number of parts; none if the size of a buffer decides.
    pub count: Option<u32>,
    /// Bytes from one part to the next in memory.
    pub stride: u32,
}

/// A member of a struct.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceMember {
    /// Its name, or `_` and its number.
    pub name: String,
    /// Its type.
    pub ty: SourceType,
    /// Bytes from the start of the struct in memory.
    pub offset: u32,
}

impl SourceType {
    /// Whether its parts have numbers rather than names.
    pub fn is_array(&self) -> bool {
        matches!(self, SourceType::Sequence(own) if own.kind != SequenceKind::Vector)
    }

    /// Number of scalars of a value of this type, of which a `Home` lists each; none of what the size of a buffer decides.
    pub fn scalars(&self) -> usize {
        match self {
            SourceType::Bool
            | SourceType::Int { .. }
            | SourceType::Float { .. }
            | SourceType::Opaque => 1,
            SourceType::Sequence(sequence) => {
                sequence.part.scalars() * sequence.count.unwrap_or(0) as usize
            }
            SourceType::Struct(members) => members.iter().map(|member| member.ty.scalars()).sum(),
        }
    }
}

/// Where the IR keeps a variable.
#[derive(Clone, PartialEq, Debug)]
pub enum Home {
    /// Elements of variables of the IR, one for each scalar.
    Vars(Vec<(Var, u32)>),
    /// Values of the IR, one for each scalar.
    Values(Vec<Value>),
    /// Shared memory, from that byte on.
    Shared(u32),
    /// The first element of a binding, a buffer, from that byte on.
    Buffer(BindingId, u32),
    /// Push constants, from that byte on.
    Push(u32),
}

/// A variable of the source.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceVariable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SourceType,
    /// Where its value is.
    pub home: Home,
    /// Where it is visible.
    pub visible: Visible,
}

/// Where a variable is visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visible {
    /// Everywhere: a variable outside functions.
    Everywhere,
    /// In the function that is called at that place; of the entry point without one.
    InCall(Option<PositionId>),
}

/// The names of a function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SourceNames {
    /// Its variables, in the order of their declarations.
    pub variables: Vec<SourceVariable>,
    /// By place of a call: the name of the function that is called there.
    pub callees: HashMap<PositionId, String>,
}
