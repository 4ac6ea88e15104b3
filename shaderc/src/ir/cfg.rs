//! Control flow: predecessors, dominance, loops, and the order of blocks.
//!
//! Needs: terminators.  Guarantees: `Cfg` describes the function as it was; a pass that changes edges makes a new one.
//! Facts: hardware/compiler-ir.md 1.2; hardware/compiler-backend.md 8.4 for the order.
use super::function::Function;
use super::{BlockId, Value, ValueDef};

/// A natural loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The block that is entered; it dominates the others.
    pub header: BlockId,
    /// Blocks that jump back to the header.
    pub latches: Vec<BlockId>,
    /// All blocks, header and inner loops' included, in layout order.
    pub blocks: Vec<BlockId>,
    /// Index in [`Cfg::loops`] of the loop around it.
    pub parent: Option<usize>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

/// Facts about edges, by block index. Unreachable blocks have none.
#[derive(Clone, Debug)]
pub struct Cfg {
    predecessors: Vec<Vec<BlockId>>,
    order: Vec<Option<u32>>,
    rpo: Vec<BlockId>,
    idom: Vec<Option<BlockId>>,
    /// Natural loops, outer before inner.
    pub loops: Vec<Loop>,
    innermost: Vec<Option<usize>>,
    irreducible: Option<(BlockId, BlockId)>,
}

impl Cfg {
    /// Analyses a function.
    pub fn new(function: &Function) -> Cfg {
        let count = function.block_count();
        let mut cfg = Cfg {
            predecessors: vec![vec![]; count],
            order: vec![None; count],
            rpo: vec![],
            idom: vec![None; count],
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
                let list = &mut cfg.predecessors[target.index()];
                if !list.contains(block) {
                    list.push(*block);
                }
            }
        }
        cfg.find_dominators();
        cfg.find_loops(function);
        cfg
    }

    /// The blocks that may jump here, each once.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.predecessors[block.index()]
    }

    /// All lists of [`Cfg::predecessors`], by block index, for a pass that keeps them up to date itself.
    pub fn into_predecessors(self) -> Vec<Vec<BlockId>> {
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
        self.idom[block.index()].filter(|dominator| *dominator != block)
    }

    /// Whether every path to `b` goes through `a` (a block dominates itself). False if either is unreachable.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (Some(goal), Some(_)) = (self.order[a.index()], self.order[b.index()]) else {
            return false;
        };
        let mut at = b;
        while self.order[at.index()].is_some_and(|order| order > goal) {
            match self.idom(at) {
                Some(up) => at = up,
                None => return false,
            }
        }
        at == a
    }

    /// Index in [`Cfg::loops`] of the innermost loop around a block.
    pub fn innermost_loop(&self, block: BlockId) -> Option<usize> {
        self.innermost[block.index()]
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
        let mut children = vec![vec![]; self.idom.len()];
        for block in &self.rpo {
            if let Some(parent) = self.idom(*block) {
                children[parent.index()].push(*block);
            }
        }
        children
    }

    /// The dominance frontier of each block, by index.
    pub fn dominance_frontiers(&self) -> Vec<Vec<BlockId>> {
        let mut frontiers: Vec<Vec<BlockId>> = vec![vec![]; self.idom.len()];
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
                    if !list.contains(block) {
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

    fn find_dominators(&mut self) {
        let Some(entry) = self.rpo.first().copied() else {
            return;
        };
        self.idom[entry.index()] = Some(entry);
        let mut changed = true;
        while changed {
            changed = false;
            for block in self.rpo.iter().skip(1) {
                let mut new: Option<BlockId> = None;
                for predecessor in &self.predecessors[block.index()] {
                    if self.idom[predecessor.index()].is_some() {
                        new =
                            Some(new.map_or(*predecessor, |other| self.meet(*predecessor, other)));
                    }
                }
                if new.is_some() && self.idom[block.index()] != new {
                    self.idom[block.index()] = new;
                    changed = true;
                }
            }
        }
    }

    /// The nearest common dominator of two blocks that have dominators.
    pub fn meet(&self, a: BlockId, b: BlockId) -> BlockId {
        let (mut a, mut b) = (a, b);
        while a != b {
            let later = if self.order[a.index()] > self.order[b.index()] {
                &mut a
            } else {
                &mut b
            };
            match self.idom[later.index()] {
                Some(up) if up != *later => *later = up,
                _ => break,
            }
        }
        a
    }

    fn find_loops(&mut self, function: &Function) {
        // Headers in reverse postorder, so that outer loops come first.
        for header in self.rpo.clone() {
            let mut latches = vec![];
            for predecessor in self.predecessors[header.index()].clone() {
                if self.order[predecessor.index()] >= self.order[header.index()] {
                    if self.dominates(header, predecessor) {
                        latches.push(predecessor);
                    } else {
                        self.irreducible.get_or_insert((predecessor, header));
                    }
                }
            }
            if latches.is_empty() {
                continue;
            }
            let mut inside = vec![false; self.idom.len()];
            inside[header.index()] = true;
            let mut work = latches.clone();
            while let Some(block) = work.pop() {
                if !std::mem::replace(&mut inside[block.index()], true) {
                    work.extend(self.predecessors[block.index()].iter().copied());
                }
            }
            let parent = self.innermost[header.index()];
            let depth = parent.map_or(1, |number| self.loops[number].depth + 1);
            let blocks: Vec<BlockId> = function
                .layout
                .iter()
                .copied()
                .filter(|block| inside[block.index()])
                .collect();
            for block in &blocks {
                self.innermost[block.index()] = Some(self.loops.len());
            }
            self.loops.push(Loop {
                header,
                latches,
                blocks,
                parent,
                depth,
            });
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

/// Puts the layout into the order that [`crate::ir`] describes and drops unreachable blocks with their phi sources.
///
/// The flow must be reducible; blocks of an irreducible part are kept, in some order.
pub fn order_blocks(function: &mut Function) {
    if function.layout.is_empty() {
        return;
    }
    let cfg = Cfg::new(function);
    let mut layout = Vec::with_capacity(cfg.rpo.len());
    order_region(function, &cfg, None, function.entry(), &mut layout);
    function.layout = layout;
    for block in function.layout.clone() {
        for phi in &mut function.block_mut(block).phis {
            phi.sources
                .retain(|(from, _)| cfg.predecessors(block).contains(from));
        }
    }
}

/// Appends the blocks of one loop (or of the whole function), a child loop as one piece, so that edges go down.
fn order_region(
    function: &Function,
    cfg: &Cfg,
    region: Option<usize>,
    entry: BlockId,
    layout: &mut Vec<BlockId>,
) {
    // A node is a block of this region itself, or the header of a loop directly inside it.
    let node_of = |block: BlockId| -> Option<BlockId> {
        let mut at = cfg.innermost_loop(block);
        let mut child = None;
        while at != region {
            child = at;
            at = cfg.loops[at?].parent;
        }
        Some(child.map_or(block, |number| cfg.loops[number].header))
    };
    let successors = |node: BlockId| -> Vec<BlockId> {
        let own = cfg.innermost_loop(node);
        let blocks = match own {
            Some(number) if own != region => cfg.loops[number].blocks.clone(),
            _ => vec![node],
        };
        let mut list = vec![];
        for block in blocks {
            for target in function.block(block).terminator.targets() {
                match node_of(target) {
                    Some(other) if other != node && !list.contains(&other) => list.push(other),
                    _ => {}
                }
            }
        }
        list
    };
    let mut order = vec![];
    let mut seen = vec![false; function.block_count()];
    seen[entry.index()] = true;
    let mut stack = vec![(entry, successors(entry))];
    while let Some((node, targets)) = stack.last_mut() {
        match targets.pop() {
            Some(target) => {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, successors(target)));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    for node in order.into_iter().rev() {
        let own = cfg.innermost_loop(node);
        if own == region {
            layout.push(node);
        } else {
            order_region(function, cfg, own, node, layout);
        }
    }
}
