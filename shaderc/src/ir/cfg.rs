//! Control flow: predecessors, dominance and loops.
//!
//! Needs: terminators.  Guarantees: `Cfg` describes the function as it was; a pass that changes edges asks for a new one.
//! Most passes change none, so the last is kept with the function, and compared with it before it is used again.
//! No step recurses, and the time is near linear in blocks and edges, however deep they nest.
//! Facts: hardware/compiler-ir.md 1.2.
use std::sync::Arc;

use super::function::Function;
use super::{BlockId, Value, ValueDef};
use crate::dominators::DominatorTree;
use crate::lists::Lists;

/// A natural loop: the blocks that reach its latch without going through its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NaturalLoop {
    /// The block that is entered; it dominates the others.
    pub header: BlockId,
    /// Blocks that jump back to the header.
    pub latches: Vec<BlockId>,
    /// Index in [`Cfg::loops`] of the loop around it.
    pub parent: Option<usize>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Where its blocks begin in `Cfg::by_loop`, and how many there are, inner loops' included.
    first: usize,
    count: usize,
}

/// Facts about edges, by block index. Unreachable blocks have none.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Of reachable blocks, as their terminators have them.
    successors: Lists<BlockId>,
    predecessors: Lists<BlockId>,
    /// One more than the block's place in `rpo`; 0 of one that can't be reached.
    order: Vec<u32>,
    rpo: Vec<BlockId>,
    dominators: DominatorTree,
    /// Numbers of a walk of the dominator tree: on the way down, and the least that comes after the subtree.
    subtree: Vec<(u32, u32)>,
    /// Natural loops, outer before inner.
    pub loops: Vec<NaturalLoop>,
    /// The blocks of loops: those of one loop stand together, its header first.
    by_loop: Vec<BlockId>,
    /// By block: the innermost loop around it. Empty where there is no loop.
    innermost: Vec<Option<u32>>,
    irreducible: Option<(BlockId, BlockId)>,
}

impl Cfg {
    /// Analyses a function.
    pub fn new(function: &Function) -> Cfg {
        let count = function.block_count();
        let rpo = match function.layout.is_empty() {
            true => vec![],
            false => reverse_postorder(function),
        };
        let mut order = vec![0; count];
        for (number, block) in rpo.iter().enumerate() {
            order[block.index()] = number as u32 + 1;
        }
        // Listed, as they are gone through four times.
        let mut edges = Vec::with_capacity(2 * rpo.len());
        for block in &rpo {
            let targets = function.block(*block).terminator.each_target();
            edges.extend(targets.map(|target| (*block, target)));
        }
        let edges = edges.iter().copied();
        let successors = Lists::gather(count, edges.clone().map(|(from, to)| (from.index(), to)));
        let mut predecessors = Lists::gather(count, edges.map(|(from, to)| (to.index(), from)));
        // A block's edges are looked at together.
        predecessors.dedup();
        let mut cfg = Cfg {
            successors,
            predecessors,
            order,
            rpo,
            dominators: DominatorTree::new(count),
            subtree: vec![(0, 0); count],
            by_loop: vec![],
            loops: vec![],
            innermost: vec![],
            irreducible: None,
        };
        cfg.find_dominators();
        cfg.number_subtrees();
        if cfg.goes_back() {
            cfg.innermost = vec![None; count];
            cfg.find_loops();
            cfg.list_loops();
        }
        cfg
    }

    /// That of a function, analysed anew only if edges have changed since it was asked for last.
    pub fn of(function: &mut Function) -> Arc<Cfg> {
        let cfg = Cfg::shared(function);
        function.cfg = Some(cfg.clone());
        cfg
    }

    /// The same of a function that can't keep it.
    pub fn shared(function: &Function) -> Arc<Cfg> {
        let known = function.cfg.as_ref();
        let known = known.filter(|known| known.describes(function));
        known.map_or_else(|| Arc::new(Cfg::new(function)), Arc::clone)
    }

    /// Whether the function still has these edges and no others: from the entry on, block by block.
    fn describes(&self, function: &Function) -> bool {
        let same = |block: &BlockId| {
            let targets = function.block(*block).terminator.each_target();
            targets.eq(self.successors.of(block.index()).iter().copied())
        };
        self.order.len() == function.block_count()
            && self.rpo.first() == function.layout.first()
            && self.rpo.iter().all(same)
    }

    /// The blocks that may jump here, each once.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.predecessors.of(block.index())
    }

    /// Whether control can get here at all.
    pub fn reachable(&self, block: BlockId) -> bool {
        self.order[block.index()] > 0
    }

    /// How many blocks the function has, reachable or not.
    pub(super) fn block_count(&self) -> usize {
        self.order.len()
    }

    /// Reachable blocks in some reverse postorder: a block after its dominator.
    pub fn rpo(&self) -> &[BlockId] {
        &self.rpo
    }

    /// The nearest block that every path to this one goes through; none for the entry.
    pub fn idom(&self, block: BlockId) -> Option<BlockId> {
        let up = self.dominators.up(block.index());
        up.map(|up| BlockId(up as u32))
    }

    /// Whether every path to `b` goes through `a` (a block dominates itself). False if either is unreachable.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (first, end) = self.subtree[a.index()];
        self.reachable(a) && self.reachable(b) && (first..end).contains(&self.subtree[b.index()].0)
    }

    /// Index in [`Cfg::loops`] of the innermost loop around a block.
    pub fn innermost_loop(&self, block: BlockId) -> Option<usize> {
        let innermost = self.innermost.get(block.index()).copied().flatten();
        innermost.map(|number| number as usize)
    }

    /// The blocks of a loop, inner loops' included. Its header is the first; own blocks are in reverse postorder.
    pub fn loop_blocks(&self, natural: usize) -> &[BlockId] {
        let NaturalLoop { first, count, .. } = self.loops[natural];
        &self.by_loop[first..first + count]
    }

    /// The blocks of a loop that are in no loop inside it.
    pub fn loop_own_blocks(&self, natural: usize) -> &[BlockId] {
        let blocks = self.loop_blocks(natural);
        let inner = |block: &BlockId| self.innermost_loop(*block) != Some(natural);
        let end = blocks.iter().position(inner).unwrap_or(blocks.len());
        &blocks[..end]
    }

    /// Whether a block belongs to a loop or to one inside it.
    pub fn in_loop(&self, block: BlockId, natural: usize) -> bool {
        let NaturalLoop { first, count, .. } = self.loops[natural];
        self.innermost_loop(block)
            .is_some_and(|own| (first..first + count).contains(&self.loops[own].first))
    }

    /// Number of loops around a block.
    pub fn depth(&self, block: BlockId) -> u32 {
        self.innermost_loop(block)
            .map_or(0, |number| self.loops[number].depth)
    }

    /// An edge that goes back to a block which doesn't dominate its source, if there is one.
    pub fn irreducible_edge(&self) -> Option<(BlockId, BlockId)> {
        self.irreducible
    }

    /// Reachable blocks down the dominator tree: a subtree in one piece.
    pub fn dominator_preorder(&self) -> Vec<BlockId> {
        let mut blocks = self.rpo.clone();
        for block in &self.rpo {
            let (place, _) = self.subtree[block.index()];
            blocks[place as usize] = *block;
        }
        blocks
    }

    /// The dominance frontier of each block, by index.
    pub(crate) fn dominance_frontiers(&self) -> Lists<BlockId> {
        let mut frontiers: Vec<(usize, BlockId)> = vec![];
        for block in &self.rpo {
            let predecessors = self.predecessors(*block);
            let Some(idom) = self.idom(*block) else {
                // Back edges to the entry would make it its own frontier; the verifier refuses them.
                continue;
            };
            if predecessors.len() < 2 {
                continue;
            }
            for predecessor in predecessors {
                let mut at = *predecessor;
                while at != idom {
                    frontiers.push((at.index(), *block));
                    match self.idom(at) {
                        Some(up) => at = up,
                        None => break,
                    }
                }
            }
        }
        let mut frontiers = Lists::gather(self.order.len(), frontiers.iter().copied());
        frontiers.dedup();
        frontiers
    }

    /// The block that defines a value; none for a constant. `places` comes from [`inst_blocks`].
    pub fn block_of(
        &self,
        function: &Function,
        places: &[Option<BlockId>],
        value: Value,
    ) -> Option<BlockId> {
        match function.def(value) {
            ValueDef::Word(_) | ValueDef::Bool(_) => None,
            ValueDef::Result(inst, _) => places[inst.index()],
            ValueDef::Phi(block) => Some(block),
        }
    }

    /// One walk in reverse postorder: what comes back up is dominated by where it comes to, or the flow is irreducible,
    /// which shows by these dominators as well as by the true ones.
    fn find_dominators(&mut self) {
        let Some(entry) = self.rpo.first().copied() else {
            return;
        };
        self.dominators.add_root(entry.index());
        for block in &self.rpo[1..] {
            let from = self.predecessors.of(block.index()).iter();
            self.dominators
                .add(block.index(), from.map(|from| from.index()));
        }
    }

    /// The nearest common dominator of two blocks that have dominators, in logarithmic time.
    pub fn meet(&self, a: BlockId, b: BlockId) -> BlockId {
        BlockId(self.dominators.meet(a.index(), b.index()) as u32)
    }

    /// A block comes after its dominator in reverse postorder, so sizes are known from the end, and places from the start.
    fn number_subtrees(&mut self) {
        let mut sizes = vec![1u32; self.order.len()];
        for block in self.rpo.iter().rev() {
            if let Some(up) = self.idom(*block) {
                sizes[up.index()] += sizes[block.index()];
            }
        }
        // By block: the number of the next subtree below it.
        let mut next = vec![0; self.order.len()];
        for block in &self.rpo {
            let size = sizes[block.index()];
            let first = match self.idom(*block) {
                Some(up) => {
                    let first = next[up.index()];
                    next[up.index()] += size;
                    first
                }
                None => 0,
            };
            self.subtree[block.index()] = (first, first + size);
            next[block.index()] = first + 1;
        }
    }

    /// Whether an edge leads to a block that stands no later, as one in every loop does.
    fn goes_back(&self) -> bool {
        let order = |block: &BlockId| self.order[block.index()];
        self.rpo.iter().any(|block| {
            let mut targets = self.successors.of(block.index()).iter();
            targets.any(|target| order(target) <= order(block))
        })
    }

    /// Finds natural loops, inner ones first, each walked backward from its latches; a loop inside counts as one step.
    fn find_loops(&mut self) {
        // For each loop, one that it lies in, or itself: shortened as it is followed.
        let mut around: Vec<usize> = vec![];
        let outermost = |around: &mut Vec<usize>, number: usize| {
            let mut at = number;
            while around[at] != at {
                around[at] = around[around[at]];
                at = around[at];
            }
            at
        };
        for header in self.rpo.clone().into_iter().rev() {
            let order = self.order[header.index()];
            let from = self.predecessors.of(header.index()).iter();
            let (latches, strangers): (Vec<BlockId>, Vec<BlockId>) = from
                .filter(|from| self.order[from.index()] >= order)
                .partition(|from| self.dominates(header, **from));
            if let Some(from) = strangers.first() {
                self.irreducible = Some((*from, header));
            }
            if latches.is_empty() {
                continue;
            }
            let own = self.loops.len();
            around.push(own);
            let mut work = latches.clone();
            while let Some(block) = work.pop() {
                let entry = match self.innermost[block.index()] {
                    None => {
                        self.innermost[block.index()] = Some(own as u32);
                        block
                    }
                    Some(inner) => {
                        let outer = outermost(&mut around, inner as usize);
                        if outer == own {
                            continue;
                        }
                        around[outer] = own;
                        self.loops[outer].parent = Some(own);
                        self.loops[outer].header
                    }
                };
                if entry != header {
                    work.extend(self.predecessors.of(entry.index()));
                }
            }
            self.innermost[header.index()].get_or_insert(own as u32);
            self.loops.push(NaturalLoop {
                header,
                latches,
                parent: None,
                depth: 1,
                first: 0,
                count: 0,
            });
        }
        // Outer before inner.
        let last = self.loops.len().wrapping_sub(1);
        self.loops.reverse();
        for number in self.innermost.iter_mut().flatten() {
            *number = last as u32 - *number;
        }
        for number in 0..self.loops.len() {
            let parent = &mut self.loops[number].parent;
            *parent = parent.map(|parent| last - parent);
            if let Some(parent) = self.loops[number].parent {
                self.loops[number].depth = self.loops[parent].depth + 1;
            }
        }
    }

    /// Gives each loop its place in `by_loop`: its own blocks, then loop after loop inside it.
    fn list_loops(&mut self) {
        let mut free = vec![0; self.loops.len()];
        for block in &self.rpo {
            if let Some(number) = self.innermost_loop(*block) {
                self.loops[number].count += 1;
                free[number] += 1;
            }
        }
        for number in (0..self.loops.len()).rev() {
            if let Some(parent) = self.loops[number].parent {
                self.loops[parent].count += self.loops[number].count;
            }
        }
        // `free` becomes where the next inner loop starts.
        let mut end = 0;
        for number in 0..self.loops.len() {
            let NaturalLoop { parent, count, .. } = self.loops[number];
            let next = match parent {
                Some(parent) => &mut free[parent],
                None => &mut end,
            };
            let first = *next;
            *next += count;
            self.loops[number].first = first;
            free[number] += first;
        }
        let Some(entry) = self.rpo.first() else {
            return;
        };
        self.by_loop = vec![*entry; end];
        let mut next: Vec<usize> = self.loops.iter().map(|natural| natural.first).collect();
        for block in &self.rpo {
            if let Some(number) = self.innermost_loop(*block) {
                self.by_loop[next[number]] = *block;
                next[number] += 1;
            }
        }
    }
}

/// The block of every placed instruction, by instruction index.
pub fn inst_blocks(function: &Function) -> Vec<Option<BlockId>> {
    let mut places = vec![None; function.inst_count()];
    for (block, inst) in function.placed_insts() {
        places[inst.index()] = Some(block);
    }
    places
}

fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    let mut order = Vec::with_capacity(function.layout.len());
    let mut seen = vec![false; function.block_count()];
    let entry = function.entry();
    seen[entry.index()] = true;
    let targets = |block: BlockId| function.block(block).terminator.each_target();
    let mut stack = vec![(entry, targets(entry))];
    while let Some((block, open)) = stack.last_mut() {
        // The last target first, so that the first one comes first in the reversed order.
        match open.next_back() {
            Some(target) => {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, targets(target)));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
