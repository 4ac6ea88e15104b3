//! Analysis: what spilling knows of a function, however many units may be in use: it is found once for all attempts.
//!
//! Needs: SSA.  Guarantees: edges of the function are split, and nothing else of it has changed.

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use super::SpillError;
use super::next_use::NextUses;
use crate::lists::Lists;
use crate::machine::allocate::spill::Remakes;
use crate::machine::liveness::{self, Ranges};
use crate::machine::split_edges::split_all_edges;
use crate::machine::{Block, BlockId, Function, Instruction, Machine, Value, Word};

/// By value: the instructions of a block that read it, ascending; the terminator follows the last instruction.
pub(super) type ReadsOfBlock = HashMap<Value, SmallVec<[u32; 2]>>;

/// A function in SSA form whose edges are split, and what spilling needs to know of it.
pub(crate) struct Analysis<M: Machine> {
    pub(super) function: Function<M>,
    /// By value: where it lives.
    pub(super) ranges: Vec<Ranges>,
    pub(super) predecessors: Lists<BlockId>,
    pub(super) remakes: Remakes<M>,
    pub(super) uses: NextUses,
    /// By block.
    pub(super) reads: Vec<ReadsOfBlock>,
}

impl<M: Machine> Analysis<M> {
    /// Analyses a function.
    ///
    /// # Errors
    /// Its form can't be spilled.
    pub(crate) fn of(mut function: Function<M>) -> Result<Analysis<M>, SpillError> {
        split_all_edges(&mut function);
        let predecessors = function.predecessors();
        if function.blocks.is_empty() || !predecessors.of(0).is_empty() {
            return Err(SpillError::Refused);
        }
        Ok(Analysis {
            ranges: liveness::compute(&function).ranges,
            predecessors,
            remakes: Remakes::find(&function),
            uses: NextUses::of(&function),
            reads: function.blocks.iter().map(reads_of).collect(),
            function,
        })
    }

    /// The function, its edges split.
    pub(crate) fn function(&self) -> &Function<M> {
        &self.function
    }
}

fn reads_of<M: Machine>(block: &Block<M>) -> ReadsOfBlock {
    let mut reads = ReadsOfBlock::default();
    let length = block.instrs.len() as u32;
    for (at, instr) in (0..length).zip(&block.instrs) {
        for value in instr.read_values() {
            reads.entry(value).or_default().push(at);
        }
    }
    if let Some(value) = block.terminator.read().and_then(Word::value) {
        reads.entry(value).or_default().push(length);
    }
    reads
}
