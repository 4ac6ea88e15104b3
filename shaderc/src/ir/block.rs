//! Blocks: phis, instructions, and where control goes on.
//!
//! Needs: nothing.  Guarantees: every list of a terminator's targets comes from [`Terminator::targets`].

use smallvec::{SmallVec, smallvec};

use super::function::PositionId;
use super::inst::Inst;
use super::{BlockId, Value};

/// A choice between values by the block that control came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phi {
    /// What it defines.
    pub result: Value,
    /// One value for each predecessor, each predecessor once, in any order.
    pub sources: Vec<(BlockId, Value)>,
}

/// Blocks that a terminator may go to. All but those of switches need no memory.
pub type Targets = SmallVec<[BlockId; 2]>;

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// To that block.
    Jump(BlockId),
    /// By a boolean. The two blocks differ.
    Branch {
        /// A [`Type::Bool`](super::Type::Bool).
        condition: Value,
        /// Where to if it is true.
        then: BlockId,
        /// Where to if it is false.
        otherwise: BlockId,
    },
    /// By a word. High. Several cases may share a block.
    Switch {
        /// A word of any width.
        selector: Value,
        /// Where to for which value; each value once.
        cases: Vec<(u64, BlockId)>,
        /// Where to for all others.
        default: BlockId,
    },
    /// The invocation ends.
    Return,
    /// Control never comes here. A back end ends the invocation.
    Unreachable,
}

impl Terminator {
    /// The blocks it may go to, in order; one may be there twice.
    pub fn targets(&self) -> Targets {
        match self {
            Terminator::Jump(target) => smallvec![*target],
            Terminator::Branch {
                then, otherwise, ..
            } => smallvec![*then, *otherwise],
            Terminator::Switch { cases, default, .. } => {
                let cases = cases.iter().map(|(_, block)| *block);
                cases.chain([*default]).collect()
            }
            Terminator::Return | Terminator::Unreachable => smallvec![],
        }
    }

    /// Replaces every target.
    pub fn map_targets(&mut self, mut map: impl FnMut(BlockId) -> BlockId) {
        match self {
            Terminator::Jump(target) => *target = map(*target),
            Terminator::Branch {
                then, otherwise, ..
            } => {
                *then = map(*then);
                *otherwise = map(*otherwise);
            }
            Terminator::Switch { cases, default, .. } => {
                for (_, target) in cases {
                    *target = map(*target);
                }
                *default = map(*default);
            }
            Terminator::Return | Terminator::Unreachable => {}
        }
    }

    /// The value that decides, if one does.
    pub fn operand(&self) -> Option<Value> {
        match self {
            Terminator::Branch { condition, .. } => Some(*condition),
            Terminator::Switch { selector, .. } => Some(*selector),
            Terminator::Jump(_) | Terminator::Return | Terminator::Unreachable => None,
        }
    }

    /// The value that decides, to be replaced.
    pub fn operand_mut(&mut self) -> Option<&mut Value> {
        match self {
            Terminator::Branch { condition, .. } => Some(condition),
            Terminator::Switch { selector, .. } => Some(selector),
            Terminator::Jump(_) | Terminator::Return | Terminator::Unreachable => None,
        }
    }
}

/// Where the construct of a loop ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merge {
    /// With this block, where all that leave the loop come together, unless they return.
    At(BlockId),
    /// Nowhere: it is left only by returning.
    Nowhere,
}

/// Straight code.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// All at once, on entry.
    pub phis: Vec<Phi>,
    /// In order.
    pub insts: Vec<Inst>,
    /// Of a loop's header: where its construct ends, if that is known. Else it is the natural loop.
    pub merge: Option<Merge>,
    /// Last.
    pub terminator: Terminator,
    /// Where the terminator came from.
    pub position: PositionId,
}
