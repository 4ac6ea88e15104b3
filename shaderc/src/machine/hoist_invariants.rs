//! Loop-invariant code motion (LICM): what gives the same in every round of a loop is computed before it.
//!
//! Needs: SSA; blocks in program order, so that a back edge leads up.  Guarantees: only instructions that touch no memory
//! move, from blocks that every round goes through, to a block before the loop that leads nowhere else.
//! It makes words live longer: `pipeline` compares what comes of it with what comes without.
//! Facts: hardware/compiler-optimization.md 2 (15).

use super::function::{BlockId, Function, Value};
use super::interface::{Instruction, Machine};
use crate::dominators::DominatorTree;
use crate::lists::Lists;

/// Most instructions that come to blocks before loops around one place: there are no registers for the results of more.
const MOST: usize = 64;

/// A loop that is done.
struct Done {
    header: BlockId,
    /// The block before it, to which its invariants were moved.
    preheader: Option<BlockId>,
    /// The most that live in it because loops inside it moved them to their preheaders.
    inside: usize,
}

/// A loop: its header is the first block in program order, and its last latch the last one.
struct Extent {
    header: BlockId,
    last: BlockId,
}

impl Extent {
    fn contains(&self, block: BlockId) -> bool {
        (self.header..=self.last).contains(&block)
    }
}

/// Moves what can be moved. True when anything did.
pub(crate) fn hoist_invariants<M: Machine>(function: &mut Function<M>) -> bool {
    if function.loop_count() == 0 {
        return false;
    }
    let mut motion = Motion::new(function);
    // Inner loops come later: what leaves one may go on and leave the one around it.
    let headers = (0..motion.function.blocks.len()).rev();
    headers.for_each(|header| motion.visit(BlockId(header as u32)));
    motion.changed
}

/// The function while instructions move.
struct Motion<'f, M: Machine> {
    function: &'f mut Function<M>,
    predecessors: Lists<BlockId>,
    dominators: DominatorTree,
    /// By value: the block that defines it.
    home: Vec<Option<BlockId>>,
    /// By value: whether its instruction has been moved.
    came: Vec<bool>,
    /// By block: how many instructions have come to it.
    moved: Vec<usize>,
    /// Loops that are done, and not the one around them.
    open: Vec<Done>,
    changed: bool,
}

impl<M: Machine> Motion<'_, M> {
    fn new(function: &mut Function<M>) -> Motion<'_, M> {
        let mut home: Vec<Option<BlockId>> = vec![None; function.values.len()];
        for id in function.block_ids() {
            let block = function.block(id);
            let phis = block.phis.iter().map(|phi| phi.dest);
            let values = phis.chain(block.instrs.iter().flat_map(Instruction::written_values));
            values.for_each(|value| home[value.index()] = Some(id));
        }
        let predecessors = function.predecessors();
        Motion {
            dominators: dominators(&predecessors, function.blocks.len()),
            predecessors,
            home,
            came: vec![false; function.values.len()],
            moved: vec![0; function.blocks.len()],
            open: vec![],
            changed: false,
            function,
        }
    }

    /// Moves the invariants of the loop with that header, if it is one.
    fn visit(&mut self, header: BlockId) {
        let (latches, outside): (Vec<BlockId>, Vec<BlockId>) = self
            .predecessors
            .of(header.index())
            .iter()
            .partition(|from| **from >= header);
        let Some(&last) = latches.iter().max() else {
            return;
        };
        let extent = Extent { header, last };
        let mut inner = vec![];
        while let Some(done) = self.open.pop_if(|done| extent.contains(done.header)) {
            inner.push(done);
        }
        let mut done = Done {
            header,
            preheader: None,
            inside: self.live(&inner),
        };
        if let Some(preheader) = self.preheader(&outside) {
            for block in self.every_round(&extent, &latches) {
                self.move_out(block, &extent, preheader, done.inside);
            }
            done.preheader = Some(preheader);
            done.inside = self.live(&inner);
        }
        self.open.push(done);
    }

    /// The most that live in one of these loops because of instructions that were moved.
    fn live(&self, inner: &[Done]) -> usize {
        let each = inner.iter().map(|done| {
            let before = done.preheader.map_or(0, |block| self.moved[block.index()]);
            done.inside + before
        });
        each.max().unwrap_or(0)
    }

    /// The only block outside that leads to a loop, if it leads nowhere else.
    fn preheader(&self, outside: &[BlockId]) -> Option<BlockId> {
        let &[before] = outside else { return None };
        let successors = self.function.block(before).terminator.successors();
        (successors.count() == 1).then_some(before)
    }

    /// The blocks that every round goes through, from the header down: those that dominate every latch.
    fn every_round(&self, extent: &Extent, latches: &[BlockId]) -> Vec<BlockId> {
        let at = |block: usize| BlockId(block as u32);
        let mut path = vec![];
        let ends = latches.iter().map(|latch| latch.index());
        let mut next = ends.reduce(|a, b| self.dominators.meet(a, b)).map(at);
        while let Some(block) = next.filter(|block| *block >= extent.header) {
            path.push(block);
            next = self.dominators.up(block.index()).map(at);
        }
        path.reverse();
        path
    }

    /// Moves the invariants of a block to the preheader, as long as there is room beside what lives inside already.
    fn move_out(&mut self, block: BlockId, extent: &Extent, preheader: BlockId, inside: usize) {
        let instrs = std::mem::take(&mut self.function.blocks[block.index()].instrs);
        let mut kept = Vec::with_capacity(instrs.len());
        for instr in instrs {
            let room = self.moved[preheader.index()] + inside < MOST;
            if !room || !self.is_invariant(&instr, extent) {
                kept.push(instr);
                continue;
            }
            let mut further = false;
            for value in instr.written_values() {
                self.home[value.index()] = Some(preheader);
                further |= std::mem::replace(&mut self.came[value.index()], true);
            }
            if further {
                self.moved[block.index()] -= 1;
            }
            self.function.blocks[preheader.index()].instrs.push(instr);
            self.moved[preheader.index()] += 1;
            self.changed = true;
        }
        self.function.blocks[block.index()].instrs = kept;
    }

    fn is_invariant(&self, instr: &M::Instr, extent: &Extent) -> bool {
        let outside = |value: Value| {
            let home = self.home[value.index()];
            home.is_none_or(|home| !extent.contains(home))
        };
        instr.may_move() && instr.read_values().all(outside)
    }
}

/// Edges that lead up are those of loops, which change nothing: so one walk down is enough.
fn dominators(predecessors: &Lists<BlockId>, count: usize) -> DominatorTree {
    let mut dominators = DominatorTree::new(count);
    dominators.add_root(0);
    for block in 1..count {
        let before = predecessors.of(block).iter().map(|from| from.index());
        dominators.add(block, before.filter(|from| *from < block));
    }
    dominators
}
