//! Rules: what a function may violate, in words.

use std::fmt;

use crate::ir::{BlockId, Type, Value};

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The block where, if in one.
    pub block: Option<BlockId>,
    /// The instruction, phi or terminator as text, if at one.
    pub text: Option<String>,
    /// What is wrong.
    pub rule: Rule,
}

/// What a function may violate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// There is no block.
    NoBlocks,
    /// A block stands in the layout twice.
    BlockTwice,
    /// The entry can be jumped to.
    EntryHasPredecessor(BlockId),
    /// The block can't be reached.
    Unreachable,
    /// The target isn't in the layout.
    MissingTarget(BlockId),
    /// Both sides of a branch, or two cases of a switch with one value, are the same.
    SameTarget,
    /// An edge goes up to a block that doesn't dominate its source.
    EdgeUp(BlockId),
    /// The block stands between blocks of a loop to whose construct it doesn't belong.
    LoopNotContiguous(BlockId),
    /// An edge enters a loop beside its header.
    Irreducible(BlockId),
    /// The instruction stands in two places.
    InstTwice,
    /// So many operands were wanted.
    OperandCount(usize),
    /// So many results were wanted.
    ResultCount(usize),
    /// An operand has the other type than this.
    OperandType(Value, Type),
    /// A result has the other type than this.
    ResultType(Value, Type),
    /// The value's definition stands in no block.
    NotPlaced(Value),
    /// The value isn't defined on every path to here.
    NotDominated(Value),
    /// The phi has no source for that predecessor.
    PhiSourceMissing(BlockId),
    /// The phi has a source for a block that isn't a predecessor, or two for one.
    PhiSourceExtra(BlockId),
    /// Elements, their number or the alignment are impossible.
    BadAccess,
    /// The operation doesn't exist at this width.
    Width(Type),
    /// There is no binding of that number, or it has no such element.
    NoBinding(Value),
    /// There is no variable of that number.
    NoVariable,
    /// No shader of this stage has such an operation.
    Stage(&'static str),
    /// The output is stored twice.
    OutputTwice,
    /// The input or output can't be: components beyond the fourth, a target beyond the last, or flat without perspective.
    BadInterface,
    /// Not allowed in the lowered form.
    NotLowered,
    /// Lowered form: a constant stands before the last operand of an operation that commutes.
    ConstantFirst,
    /// Lowered form: an edge between a block with several successors and one with several predecessors.
    CriticalEdge(BlockId),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(block) = self.block {
            write!(f, "{block}: ")?;
        }
        if let Some(text) = &self.text {
            write!(f, "`{text}`: ")?;
        }
        write!(f, "{}", self.rule)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::NoBlocks => write!(f, "a function has at least one block"),
            Rule::BlockTwice => write!(f, "the block stands in the layout twice"),
            Rule::EntryHasPredecessor(from) => write!(f, "{from} jumps to the entry"),
            Rule::Unreachable => write!(f, "no path leads here"),
            Rule::MissingTarget(target) => write!(f, "{target} is not in the layout"),
            Rule::SameTarget => write!(f, "two alternatives are the same"),
            Rule::EdgeUp(target) => {
                write!(f, "goes up to {target}, which doesn't dominate this block")
            }
            Rule::LoopNotContiguous(header) => {
                write!(f, "stands inside the loop of {header} but isn't part of it")
            }
            Rule::Irreducible(header) => write!(f, "enters the loop of {header} from the side"),
            Rule::InstTwice => write!(f, "the instruction stands in two places"),
            Rule::OperandCount(wanted) => write!(f, "needs {wanted} operands"),
            Rule::ResultCount(wanted) => write!(f, "needs {wanted} results"),
            Rule::OperandType(value, ty) => write!(f, "operand {value} must be {ty}"),
            Rule::ResultType(value, ty) => write!(f, "result {value} must be {ty}"),
            Rule::NotPlaced(value) => write!(f, "{value} is defined in no block"),
            Rule::NotDominated(value) => write!(f, "{value} isn't defined on every path to here"),
            Rule::PhiSourceMissing(from) => write!(f, "no source for predecessor {from}"),
            Rule::PhiSourceExtra(from) => write!(f, "one source too many for {from}"),
            Rule::BadAccess => {
                write!(
                    f,
                    "1 to 4 elements (an atomic: 1 of 32 or 64 bits), aligned to 1 to 16 bytes, small ones held in words"
                )
            }
            Rule::Width(ty) => write!(f, "the operation has no form for {ty}"),
            Rule::NoBinding(value) => write!(f, "{value} is no element of a binding"),
            Rule::NoVariable => write!(f, "there is no such variable"),
            Rule::Stage(stage) => write!(f, "there is no such operation in a {stage} shader"),
            Rule::OutputTwice => write!(f, "the output is stored a second time"),
            Rule::BadInterface => write!(
                f,
                "1 to 4 components up to the fourth, targets up to 7, the second colour only of target 0"
            ),
            Rule::NotLowered => write!(f, "not allowed in the lowered form"),
            Rule::ConstantFirst => write!(f, "the constant must be the last operand"),
            Rule::CriticalEdge(target) => write!(f, "the edge to {target} is critical"),
        }
    }
}
