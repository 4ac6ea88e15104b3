//! Blocks: phis, instructions, and where control goes on.
//!
//! Needs: nothing.  Guarantees: every list of a terminator's targets comes from [`Terminator::each_target`].

use std::cmp::Ordering;
use std::ops::Range;

use smallvec::SmallVec;

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

/// The targets of a terminator, one by one.
#[derive(Clone, Debug)]
pub struct EachTarget<'t> {
    terminator: &'t Terminator,
    /// Of those that are still to come.
    numbers: Range<usize>,
}

impl Iterator for EachTarget<'_> {
    type Item = BlockId;

    fn next(&mut self) -> Option<BlockId> {
        let number = self.numbers.next()?;
        self.terminator.target(number)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl DoubleEndedIterator for EachTarget<'_> {
    fn next_back(&mut self) -> Option<BlockId> {
        let number = self.numbers.next_back()?;
        self.terminator.target(number)
    }
}

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
        self.each_target().collect()
    }

    /// The target with that number, in the order of [`Terminator::targets`]; none beyond the last.
    fn target(&self, number: usize) -> Option<BlockId> {
        match self {
            Terminator::Jump(target) => (number == 0).then_some(*target),
            Terminator::Branch {
                then, otherwise, ..
            } => [*then, *otherwise].get(number).copied(),
            Terminator::Switch { cases, default, .. } => match number.cmp(&cases.len()) {
                Ordering::Less => Some(cases[number].1),
                Ordering::Equal => Some(*default),
                Ordering::Greater => None,
            },
            Terminator::Return | Terminator::Unreachable => None,
        }
    }

    /// How many targets there are.
    fn target_count(&self) -> usize {
        match self {
            Terminator::Jump(_) => 1,
            Terminator::Branch { .. } => 2,
            Terminator::Switch { cases, .. } => cases.len() + 1,
            Terminator::Return | Terminator::Unreachable => 0,
        }
    }

    /// As [`Terminator::targets`], one by one, from either end.
    pub fn each_target(&self) -> EachTarget<'_> {
        EachTarget {
            terminator: self,
            numbers: 0..self.target_count(),
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
    /// In a function that was called, with `merge`. Should nothing lead there any more, it is left only by returning, and
    /// ends behind the call: with `returned`.
    InCall {
        /// Where it ends.
        merge: BlockId,
        /// Where the function's returns come together, if there is a way there that does not go through `merge`.
        returned: Option<BlockId>,
    },
    /// Nowhere: it is left only by returning from `main`.
    Nowhere,
}

impl Merge {
    /// The block that it ends with.
    pub fn block(self) -> Option<BlockId> {
        match self {
            Merge::At(merge) | Merge::InCall { merge, .. } => Some(merge),
            Merge::Nowhere => None,
        }
    }

    /// All blocks that it names.
    pub fn blocks(self) -> impl Iterator<Item = BlockId> {
        let returned = match self {
            Merge::InCall { returned, .. } => returned,
            Merge::At(_) | Merge::Nowhere => None,
        };
        self.block().into_iter().chain(returned)
    }

    /// The same with other blocks in their places.
    pub fn map(self, mut to: impl FnMut(BlockId) -> BlockId) -> Merge {
        match self {
            Merge::At(merge) => Merge::At(to(merge)),
            Merge::InCall { merge, returned } => Merge::InCall {
                merge: to(merge),
                returned: returned.map(to),
            },
            Merge::Nowhere => Merge::Nowhere,
        }
    }
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
