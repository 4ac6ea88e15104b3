//! The IR: SSA over booleans and words of 8 to 64 bits, one function, blocks in structured order.
//!
//! Needs: nothing.  Guarantees: what `verify` checks.  Facts: hardware/compiler-ir.md 1 and 6.
//!
//! # Shape
//! * A [`Function`] is a whole entry point: calls are inlined by the front end.
//! * A [`Value`] is one scalar: a [`Type::Bool`], a word of 8, 16, 32 or 64 bits without a kind, or a
//!   [`Type::Resource`]. Whether a word is an integer or a float is said by the operation that reads it, so a bitcast is
//!   nothing at all.
//!   There are no vectors: a memory access has 1 to 4 results or 1 to 4 stored values.
//! * An operation exists at several widths; which one is meant, its operands say.
//! * A value is defined by an instruction, by a phi, or it is a constant; constants are interned and stand in no
//!   block. There is no undefined value: what SPIR-V leaves undefined is zero.
//! * A [`Block`] has phis, instructions and one [`Terminator`].
//! * Every instruction keeps a [`Position`]: where it came from in the SPIR-V and in the source.
//! * A buffer access names its descriptor by a *resource*, which is an element of one of the function's [`Binding`]s, and
//!   has a byte offset. Nearly always the resource is a constant; [`Op::Resource`] chooses the element at run time. How a
//!   machine finds the descriptor is its back end's affair.
//!
//! # Stages
//! A [`Function`] is of one [`Stage`], and each operation exists in some of them ([`Op::stages`]). What a vertex or fragment
//! shader hands on it stores once and whole, at its end: [`Op::StoreOutput`]. A lane of a fragment shader that doesn't count,
//! because it lies beside its primitive or was demoted ([`Op::Demote`]), runs on for its quad: its stores and atomics do
//! nothing. Operations that need such lanes say so ([`Effects::needs_quad`]).
//!
//! # Block order
//! [`Function::layout`] lists the blocks in the order in which they will be placed. The entry is first. Every edge
//! goes down, except that a loop's latch jumps up to its header, which dominates it. A loop is contiguous, and what is
//! done on leaving it stands behind it. Where something convergent is done on a way out, the loop's construct (what is
//! entered through its header and isn't past its [`Merge`]) is contiguous instead, and in it the ways out of the loop
//! stand before what goes round again. So every join comes after all blocks that lead to it, which is what reconvergence
//! wants (compiler-backend.md 8.4), and what depends on who does it together is done by those that leave together. The same
//! is done with a way out that writes atomically what the loop waits for. Loops, joins and dominance are not stored:
//! [`mod@cfg`] and [`loops`] derive them.
//!
//! # The lowered form
//! What the back end receives; `verify::lowered` checks it:
//! * no [`Op::LoadVar`], [`Op::StoreVar`], no [`Terminator::Switch`];
//! * a position is stored in window coordinates ([`PositionSpace`]), and no varying is loaded without regard to
//!   perspective;
//! * no [`Alu`] whose row says [`Level::High`], and none at a width that the target lacks;
//! * the only values of 64 bits are made by [`Alu::Pack64`] or an atomic, and read by memory accesses, [`Alu::Low64`] and
//!   [`Alu::High64`]; there are none of 8 or 16 bits: accesses of such elements say how 32-bit words hold them
//!   ([`inst::Held`]);
//! * loads and stores are aligned to the power of two not less than their size (4, 8 or 16 bytes), so that none
//!   straddles 16 bytes;
//! * a constant operand of a commutative operation is the last one, so `iadd x, constant` is how an address with a
//!   constant part looks;
//! * no critical edges: an edge out of a block with two successors leads to a block with one predecessor;
//! * every block is reachable from the entry. A loop may have no exit; then nothing may return.
pub mod alias;
pub mod alu;
pub mod binding;
pub mod block;
pub mod build;
pub mod cfg;
pub(crate) mod control_dependence;
pub(crate) mod copy;
pub mod function;
pub mod image;
pub mod inputs_outputs;
pub mod inst;
mod lane_mask;
pub mod lanes;
pub mod layout;
pub mod loops;
pub mod notes;
pub mod parse;
pub mod print;
#[cfg(test)]
pub(crate) mod random_expression;
pub mod range;
pub(crate) mod reads;
pub mod rewrite;
pub mod source_names;
mod spaces;
pub mod stage;
pub mod sysval;
pub mod uniform;
pub(crate) mod uniform_load;
pub mod uniformity;
pub mod verify;

pub use alu::{Alu, Kind, Level, Widths};
pub use binding::{Binding, BindingId, BindingKind};
pub use block::{Block, Merge, Phi, Targets, Terminator};
pub use build::Builder;
pub use function::{Axis, Function, Position, PositionId, SourceLine, ValueDef, Var, VarData};
pub use image::{Dim, ImageAction, ImageOp, ImageShape, ImageType, Lod, TexelKind};
pub use inputs_outputs::{
    Attribute, COLOR_TARGETS, Output, OutputGroup, Sampling, TileLoad, Varying,
};
pub use inst::{Access, AtomicOp, Effects, Held, Inst, InstData, Kinds, Memory, Op, Space, Values};
pub(crate) use lane_mask::LaneMask;
pub use lanes::{Combine, LaneOp, Lanes, ScanForm};
pub use spaces::Spaces;
pub use stage::{DepthClaim, FragmentStage, PositionSpace, Stage, Stages, VertexStage};
pub use sysval::SysVal;
pub use uniform::Uniform;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Type {
    /// True or false. It has no size; a back end chooses a form.
    Bool,
    /// 8 bits: an integer of either sign.
    W8,
    /// 16 bits: an integer of either sign or a binary16, as the reading operation says.
    W16,
    /// 32 bits: an integer of either sign or a binary32, as the reading operation says.
    W32,
    /// 64 bits: an integer of either sign or an address.
    W64,
    /// An element of a binding: a descriptor. It has no size; a back end chooses a form.
    Resource,
}

impl Type {
    /// All of them.
    pub const ALL: [Type; 6] = [
        Type::Bool,
        Type::W8,
        Type::W16,
        Type::W32,
        Type::W64,
        Type::Resource,
    ];

    /// Bits of a value; a boolean counts as one, and a resource as those that [`Function::resource`] gives it.
    pub fn bits(self) -> u32 {
        match self {
            Type::Bool => 1,
            Type::W8 => 8,
            Type::W16 => 16,
            Type::W32 => 32,
            Type::W64 | Type::Resource => 64,
        }
    }

    /// Bytes of a value in memory. Booleans and resources have none.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Resource => 0,
            _ => self.bits() / 8,
        }
    }

    /// The bits that a value of it can have.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Whether it is a word of any width.
    pub fn is_word(self) -> bool {
        !matches!(self, Type::Bool | Type::Resource)
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::W8 => "w8",
            Type::W16 => "w16",
            Type::W32 => "w32",
            Type::W64 => "w64",
            Type::Resource => "resource",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A number that names one thing of a function; printed with the prefix of its kind.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The number, to index a table that has an entry for each.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(crate) use id;

id! {
    /// A value, printed `%3` (a constant is printed as the constant).
    Value, "%"
}
id! {
    /// A block, printed `b2`.
    BlockId, "b"
}
