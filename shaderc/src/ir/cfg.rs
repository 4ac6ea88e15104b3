//! Control flow: predecessors, dominance and loops.
//!
//! Needs: terminators.  Guarantees: `Cfg` describes the function as it was; a pass that changes edges makes a new one.
//! No step recurses, and the time is near linear in blocks and edges, however deep they nest.
//! Facts: hardware/compiler-ir.md 1.2.
use smallvec::{SmallVec, smallvec};

use super::function::Function;
use super::{BlockId, Value, ValueDef};
use crate::dominators::DominatorTree;

/// A natural loop: the blocks that reach its latch without going through its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
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

/// The blocks that may jump to one. Most have no more than two, and then need no memory for them.
pub type Predecessors = SmallVec<[BlockId; 2]>;

/// Facts about edges, by block index. Unreachable blocks have none.
#[derive(Clone, Debug)]
pub struct Cfg {
    predecessors: Vec<Predecessors>,
    order: Vec<Option<u32>>,
    rpo: Vec<BlockId>,
    dominators: DominatorTree,
    /// Numbers of a walk of the dominator tree: on the way down, and the least that comes after the subtree.
    subtree: Vec<(u32, u32)>,
    /// Natural loops, outer before inner.
    pub loops: Vec<Loop>,
    /// The blocks of loops: those of one loop stand together, its header first.
    by_loop: Vec<BlockId>,
    innermost: Vec<Option<usize>>,
    irreducible: Option<(BlockId, BlockId)>,
}

impl Cfg {
    /// Analyses a function.
    pub fn new(function: &Function) -> Cfg {
        let count = function.block_count();
        let mut cfg = Cfg {
            predecessors: vec![smallvec![]; count],
            order: vec![None; count],
            rpo: vec![],
            dominators: DominatorTree::new(count),
            subtree: vec![(0, 0); count],
            by_loop: vec![],
            loops: vec![],
            innermost: vec![None; count],
            irreducible: None,
        };
        if function.layout.is_empty() {
            return cfg;
        }
        cfg.rpo = reverse_postorder(function);
        for (number, block) in cfg.rpo.iter().enumerate() {
            cfg.order[block.index()] = Some(number as u32);
        }
        for block in &cfg.rpo {
            for target in function.block(*block).terminator.targets() {
                // A block's edges are looked at together.
                let list = &mut cfg.predecessors[target.index()];
                if list.last() != Some(block) {
                    list.push(*block);
                }
            }
        }
        cfg.find_dominators();
        cfg.number_subtrees();
        cfg.find_loops();
        cfg.list_loops();
        cfg
    }

    /// The blocks that may jump here, each once.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.predecessors[block.index()]
    }

    /// All lists of [`Cfg::predecessors`], by block index, for a pass that keeps them up to date itself.
    pub fn into_predecessors(self) -> Vec<Predecessors> {
        self.predecessors
    }

    /// Whether control can get here at all.
    pub fn reachable(&self, block: BlockId) -> bool {
        self.order[block.index()].is_some()
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
        self.innermost[block.index()]
    }

    /// The blocks of a loop, inner loops' included. Its header is the first; own blocks are in reverse postorder.
    pub fn loop_blocks(&self, natural: usize) -> &[BlockId] {
        let Loop { first, count, .. } = self.loops[natural];
        &self.by_loop[first..first + count]
    }

    /// The blocks of a loop that are in no loop inside it.
    pub fn loop_own_blocks(&self, natural: usize) -> &[BlockId] {
        let blocks = self.loop_blocks(natural);
        let inner = |block: &BlockId| self.innermost[block.index()] != Some(natural);
        let end = blocks.iter().position(inner).unwrap_or(blocks.len());
        &blocks[..end]
    }

    /// Whether a block belongs to a loop or to one inside it.
    pub fn in_loop(&self, block: BlockId, natural: usize) -> bool {
        let Loop { first, count, .. } = self.loops[natural];
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

    /// The dominator tree: the children of each block, by index.
    pub fn dominator_children(&self) -> Vec<Vec<BlockId>> {
        let mut children = vec![vec![]; self.order.len()];
        for block in &self.rpo {
            if let Some(parent) = self.idom(*block) {
                children[parent.index()].push(*block);
            }
        }
        children
    }

    /// Reachable blocks down the dominator tree: a subtree in one piece.
    pub fn dominator_preorder(&self) -> Vec<BlockId> {
        let mut blocks = self.rpo.clone();
        blocks.sort_by_key(|block| self.subtree[block.index()].0);
        blocks
    }

    /// The dominance frontier of each block, by index.
    pub fn dominance_frontiers(&self) -> Vec<Vec<BlockId>> {
        let mut frontiers: Vec<Vec<BlockId>> = vec![vec![]; self.order.len()];
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
                    let list = &mut frontiers[at.index()];
                    if list.last() != Some(block) {
                        list.push(*block);
                    }
                    match self.idom(at) {
                        Some(up) => at = up,
                        None => break,
                    }
                }
            }
        }
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
            let from = self.predecessors[block.index()].iter();
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
            let (latches, strangers): (Vec<BlockId>, Vec<BlockId>) = self.predecessors
                [header.index()]
            .iter()
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
                        self.innermost[block.index()] = Some(own);
                        block
                    }
                    Some(inner) => {
                        let outer = outermost(&mut around, inner);
                        if outer == own {
                            continue;
                        }
                        around[outer] = own;
                        self.loops[outer].parent = Some(own);
                        self.loops[outer].header
                    }
                };
                if entry != header {
                    work.extend(&self.predecessors[entry.index()]);
                }
            }
            self.innermost[header.index()].get_or_insert(own);
            self.loops.push(Loop {
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
        let turned = |number: &mut Option<usize>| *number = number.map(|number| last - number);
        self.innermost.iter_mut().for_each(turned);
        for number in 0..self.loops.len() {
            turned(&mut self.loops[number].parent);
            if let Some(parent) = self.loops[number].parent {
                self.loops[number].depth = self.loops[parent].depth + 1;
            }
        }
    }

    /// Gives each loop its place in `by_loop`: its own blocks, then loop after loop inside it.
    fn list_loops(&mut self) {
        let mut free = vec![0; self.loops.len()];
        for block in &self.rpo {
            if let Some(number) = self.innermost[block.index()] {
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
            let Loop { parent, count, .. } = self.loops[number];
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
            if let Some(number) = self.innermost[block.index()] {
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
    let mut order = vec![];
    let mut seen = vec![false; function.block_count()];
    let entry = function.entry();
    seen[entry.index()] = true;
    let mut stack = vec![(entry, function.block(entry).terminator.targets())];
    while let Some((block, targets)) = stack.last_mut() {
        // The last target first, so that the first one comes first in the reversed order.
        match targets.pop() {
            Some(target) => {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, function.block(target).terminator.targets()));
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
