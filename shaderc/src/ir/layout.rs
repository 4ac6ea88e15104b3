//! The order of blocks: constructs in one piece, edges down.
//!
//! Needs: reducible flow.  Guarantees: the order that [`crate::ir`] describes; nothing recurses.
//! Where threads of a warp part, those at the lowest address run on first. Code on a loop's way out that stands behind
//! the loop is run once, by all threads that left it; code that stands inside it, before what the next round does, is run
//! by the threads that leave together, once for each round in which some leave. The first costs less. The second is
//! wanted where what is computed depends on which threads are there ([`Op::is_convergent`](super::Op::is_convergent)).
//! Where a loop's construct ends isn't in the flow; [`Block::merge`](super::Block::merge) keeps what SPIR-V says of it.
//! Facts: hardware/compiler-ir.md 1.2 and 1.3; hardware/compiler-backend.md 8.4.
use super::BlockId;
use super::block::{Merge, Targets};
use super::cfg::Cfg;
use super::function::Function;
use crate::lists::Lists;

/// The constructs of loops, by number of the loop in [`Cfg::loops`]: all that is entered through the header and isn't
/// past the merge.
pub struct Constructs {
    /// The construct around each.
    parent: Vec<Option<usize>>,
    depth: Vec<u32>,
    /// By block index: the innermost construct.
    of: Vec<Option<usize>>,
}

impl Constructs {
    /// Finds those of a function.
    pub fn new(function: &Function, cfg: &Cfg) -> Constructs {
        Constructs::find(function, cfg, &vec![true; cfg.loops.len()])
    }

    /// `whole` says by loop whether its construct counts; else it is the natural loop.
    fn find(function: &Function, cfg: &Cfg, whole: &[bool]) -> Constructs {
        let mut constructs = Constructs {
            parent: vec![None; cfg.loops.len()],
            depth: vec![0; cfg.loops.len()],
            of: vec![None; function.block_count()],
        };
        if cfg.loops.is_empty() {
            return constructs;
        }
        let mut header_of = vec![None; function.block_count()];
        for (number, natural) in cfg.loops.iter().enumerate() {
            header_of[natural.header.index()] = Some(number);
        }
        let loops = cfg.loops.iter().enumerate();
        let ends =
            loops.filter_map(
                |(number, natural)| match function.block(natural.header).merge {
                    Some(Merge::At(merge)) => Some((merge.index(), number)),
                    Some(Merge::Nowhere) | None => None,
                },
            );
        let ends_at = Lists::gather(function.block_count(), ends);
        let mut seen = vec![false; function.block_count()];
        for block in cfg.rpo() {
            seen[block.index()] = true;
            let mut around = None;
            let before = cfg.predecessors(*block).iter();
            for (number, from) in before
                .filter(|from| seen[from.index()] && *from != block)
                .enumerate()
            {
                let own = constructs.of[from.index()];
                around = match number {
                    0 => own,
                    _ => constructs.common(around, own),
                };
            }
            while let Some(number) = around
                && match function.block(cfg.loops[number].header).merge {
                    Some(merge) if whole[number] => merge == Merge::At(*block),
                    _ => !cfg.in_loop(*block, number),
                }
            {
                around = constructs.parent[number];
            }
            for number in ends_at.of(block.index()) {
                if constructs.contains(*number, around) {
                    around = constructs.parent[*number];
                }
            }
            constructs.of[block.index()] = around;
            if let Some(number) = header_of[block.index()] {
                constructs.parent[number] = around;
                constructs.depth[number] = constructs.depth_of(around) + 1;
                constructs.of[block.index()] = Some(number);
            }
        }
        constructs
    }

    /// The innermost construct that a block belongs to.
    pub fn of(&self, block: BlockId) -> Option<usize> {
        self.of[block.index()]
    }

    fn depth_of(&self, construct: Option<usize>) -> u32 {
        construct.map_or(0, |number| self.depth[number])
    }

    /// Whether `inner` is `outer` or lies in it.
    pub fn contains(&self, outer: usize, inner: Option<usize>) -> bool {
        let mut at = inner;
        while let Some(number) = at.filter(|number| self.depth[*number] > self.depth[outer]) {
            at = self.parent[number];
        }
        at == Some(outer)
    }

    /// The innermost construct around both.
    fn common(&self, mut a: Option<usize>, mut b: Option<usize>) -> Option<usize> {
        while a != b {
            let deeper = if self.depth_of(a) >= self.depth_of(b) {
                &mut a
            } else {
                &mut b
            };
            *deeper = deeper.and_then(|number| self.parent[number]);
        }
        a
    }

    /// The outermost construct that an edge leaves.
    fn left(&self, from: BlockId, to: BlockId) -> Option<usize> {
        let common = self.common(self.of(from), self.of(to));
        let mut at = self.of(from);
        let mut left = None;
        while at != common {
            left = at;
            at = self.parent[at?];
        }
        left
    }
}

/// Puts the layout into the order that [`crate::ir`] describes and drops unreachable blocks with their phi sources.
///
/// The flow must be reducible; blocks of an irreducible part are kept, in some order.
pub fn order_blocks(function: &mut Function) {
    if function.layout.is_empty() {
        return;
    }
    let cfg = Cfg::of(function);
    forget_merges(function, &cfg);
    function.layout = match cfg.loops.is_empty() {
        // There is nothing to hold together.
        true => cfg.rpo().to_vec(),
        false => order(function, &cfg),
    };
    // By block: the block of which it was last seen to be a predecessor.
    let mut leads_to = vec![None; function.block_count()];
    for block in function.layout.clone() {
        let predecessors = cfg.predecessors(block);
        for from in predecessors {
            leads_to[from.index()] = Some(block);
        }
        for phi in &mut function.block_mut(block).phis {
            if phi.sources.len() > predecessors.len() {
                phi.sources
                    .retain(|(from, _)| leads_to[from.index()] == Some(block));
            }
        }
    }
}

/// Drops the merges of what is no loop any more, those that can't be reached, those from which their loop goes on, and those
/// in the middle of a loop that begins behind theirs: its construct would begin in one construct and go on outside of it.
fn forget_merges(function: &mut Function, cfg: &Cfg) {
    let mut header = vec![None; function.block_count()];
    for (number, natural) in cfg.loops.iter().enumerate() {
        header[natural.header.index()] = Some(number);
    }
    for block in cfg.rpo() {
        let data = function.block_mut(*block);
        let ends = |merge: BlockId, number: usize| {
            let mut around = cfg.innermost_loop(merge);
            if let Some(own) = around.filter(|own| cfg.loops[*own].header == merge) {
                around = cfg.loops[own].parent;
            }
            cfg.reachable(merge)
                && !cfg.in_loop(merge, number)
                && around.is_none_or(|around| cfg.in_loop(*block, around))
        };
        let stays = match (header[block.index()], data.merge) {
            (Some(number), Some(Merge::At(merge))) => ends(merge, number),
            (number, _) => number.is_some(),
        };
        if !stays {
            data.merge = None;
        }
    }
}

/// By loop: whether something convergent stands on a way out of it, in its construct.
fn convergent_ways_out(function: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut insts = function.placed_insts();
    if !insts.any(|(_, inst)| function.inst(inst).op.is_convergent()) {
        return vec![false; cfg.loops.len()];
    }
    let constructs = Constructs::new(function, cfg);
    // How much is convergent in the construct and in the natural loop, which is a part of it.
    let mut around = vec![0usize; cfg.loops.len()];
    let mut inside = around.clone();
    for block in cfg.rpo() {
        let insts = function.block(*block).insts.iter();
        let count = insts
            .filter(|inst| function.inst(**inst).op.is_convergent())
            .count();
        if let Some(number) = constructs.of(*block) {
            around[number] += count;
        }
        if let Some(number) = cfg.innermost_loop(*block) {
            inside[number] += count;
        }
    }
    // A loop comes after those around it, a construct's number too: it is that of its loop.
    for number in (0..cfg.loops.len()).rev() {
        if let Some(parent) = constructs.parent[number] {
            around[parent] += around[number];
        }
        if let Some(parent) = cfg.loops[number].parent {
            inside[parent] += inside[number];
        }
    }
    let counts = around.iter().zip(&inside);
    counts.map(|(around, inside)| around > inside).collect()
}

/// A reverse postorder in which everything behind a construct is finished before its header is left.
fn order(function: &Function, cfg: &Cfg) -> Vec<BlockId> {
    let constructs = Constructs::find(function, cfg, &convergent_ways_out(function, cfg));
    let mut behind: Vec<Vec<BlockId>> = vec![vec![]; cfg.loops.len()];
    for block in cfg.rpo() {
        for target in function.block(*block).terminator.each_target() {
            if let Some(number) = constructs.left(*block, target) {
                behind[number].push(target);
            }
        }
    }
    let next = |block: BlockId| -> Targets {
        // What is taken first, from the end, comes last in the order: behind the loop, then what stays in it.
        let mut targets = function.block(block).terminator.targets();
        if let Some(number) = cfg.innermost_loop(block) {
            targets.sort_by_key(|target| cfg.in_loop(*target, number));
        }
        if let Some(number) = constructs.of(block)
            && cfg.loops[number].header == block
        {
            targets.extend_from_slice(&behind[number]);
        }
        targets
    };
    let mut order = vec![];
    let mut seen = vec![false; function.block_count()];
    seen[function.entry().index()] = true;
    let mut stack = vec![(function.entry(), next(function.entry()))];
    while let Some((block, targets)) = stack.last_mut() {
        match targets.pop() {
            Some(target) => {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, next(target)));
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
