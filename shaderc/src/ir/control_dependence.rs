//! Control dependence: which branches decide whether a block is run.
//!
//! A block depends on a branch if one side of the branch always leads to the block and another side may avoid it.
//!
//! Needs: reducible flow.  Guarantees: dependence within one round of every loop. An edge back to a header counts as an end,
//! so the analysed flow has no cycles; callers that remove branches treat latches and exits of loops themselves.
//! Time n log n, however deep the flow nests. There may be n squared dependences, so no list of them is made: each edge out
//! of a branch is found once, by the first block asked for that depends on it.
//! Facts: hardware/compiler-ir.md 1.2.
use super::cfg::Cfg;
use super::{BlockId, Function};
use crate::dominators::DominatorTree;

/// The branches of a function. The first block asked for that depends on a branch finds it.
pub(crate) struct ControlDependence {
    /// The node behind all blocks: where control ends or goes round again.
    end: usize,
    /// By block: the node that every path from the block to the end goes through first.
    up: Vec<usize>,
    /// By node: how many post-dominators it has.
    depth: Vec<u32>,
    /// By node: its place in a walk down the tree of post-dominators, and the least place behind its subtree.
    subtree: Vec<(usize, usize)>,
    edges: Edges,
}

impl ControlDependence {
    /// Analyses a function.
    pub(crate) fn new(function: &Function, cfg: &Cfg) -> ControlDependence {
        let end = function.block_count();
        let mut found = ControlDependence {
            end,
            up: vec![end; end],
            depth: vec![0; end + 1],
            subtree: vec![(0, 0); end + 1],
            edges: Edges::default(),
        };
        found.find_post_dominators(function, cfg);
        found.number_subtrees(cfg);
        found.edges = found.list_edges(function, cfg);
        found
    }

    /// The nearest block that every path from a block to the end goes through; none if paths meet at the end alone.
    pub(crate) fn post_dominator(&self, block: BlockId) -> Option<BlockId> {
        let up = self.up[block.index()];
        (up != self.end).then_some(BlockId(up as u32))
    }

    /// Adds to `found` the blocks whose branch decides whether `block` is run, without those found before. A switch may be
    /// found several times, once for each edge.
    pub(crate) fn take_branches(&mut self, block: BlockId, found: &mut Vec<BlockId>) {
        let (first, end) = self.subtree[block.index()];
        self.edges
            .take(first, end, self.depth[block.index()], found);
    }

    /// Adds blocks to the tree in reverse topological order: each after all blocks it leads to.
    fn find_post_dominators(&mut self, function: &Function, cfg: &Cfg) {
        let mut tree = DominatorTree::new(self.end + 1);
        tree.add_root(self.end);
        for block in cfg.rpo().iter().rev() {
            let mut targets = targets(function, cfg, *block, self.end).peekable();
            match targets.peek() {
                Some(_) => tree.add(block.index(), targets),
                None => tree.add(block.index(), std::iter::once(self.end)),
            }
            if let Some(up) = tree.up(block.index()) {
                self.up[block.index()] = up;
                self.depth[block.index()] = self.depth[up] + 1;
            }
        }
    }

    /// In reverse topological order a post-dominator precedes its subtree, so places are given in that order, and sizes
    /// are summed in the opposite one.
    fn number_subtrees(&mut self, cfg: &Cfg) {
        let mut sizes = vec![1; self.end + 1];
        for block in cfg.rpo() {
            sizes[self.up[block.index()]] += sizes[block.index()];
        }
        // By node: the place of the next subtree below it.
        let mut next = vec![1; self.end + 1];
        self.subtree[self.end] = (0, sizes[self.end]);
        for block in cfg.rpo().iter().rev() {
            let (block, up) = (block.index(), self.up[block.index()]);
            let first = next[up];
            next[up] += sizes[block];
            next[block] = first + 1;
            self.subtree[block] = (first, first + sizes[block]);
        }
    }

    /// Edges out of branches, but for those that lead to where all ways of the branch meet: nothing depends on them.
    fn list_edges(&self, function: &Function, cfg: &Cfg) -> Edges {
        let mut list = vec![];
        for block in cfg.rpo() {
            if function.block(*block).terminator.operand().is_none() {
                continue;
            }
            let meet = self.up[block.index()];
            let mut last = meet;
            for target in targets(function, cfg, *block, self.end) {
                // Cases of a switch that share a block mostly stand in a row.
                if target != meet && target != last {
                    list.push((self.subtree[target].0, self.depth[meet], *block));
                }
                last = target;
            }
        }
        Edges::new(list)
    }
}

/// The nodes that a block leads to. The header of a loop that the block goes back to counts as the end.
fn targets<'f>(
    function: &'f Function,
    cfg: &'f Cfg,
    block: BlockId,
    end: usize,
) -> impl Iterator<Item = usize> + use<'f> {
    let targets = function.block(block).terminator.each_target();
    targets.map(move |target| match cfg.dominates(target, block) {
        true => end,
        false => target.index(),
    })
}

/// Edges out of branches. An edge decides about the nodes on the path up the tree from its target to the branch's
/// post-dominator, which is excluded. So a node depends on the edges that lead into its subtree and whose branch has its
/// post-dominator above the node.
#[derive(Default)]
struct Edges {
    /// By edge, in this order: the place of the target in the walk down the tree.
    places: Vec<usize>,
    /// By edge: the block with the branch.
    branches: Vec<BlockId>,
    /// By edge: the depth of the branch's post-dominator; `u32::MAX` once the edge was taken.
    meets: Vec<u32>,
    /// A tournament tree: at `count + edge` the edge itself, at `n` that of `2n` and `2n + 1` with the lesser depth.
    first: Vec<u32>,
}

impl Edges {
    /// From places, depths and branches.
    fn new(mut list: Vec<(usize, u32, BlockId)>) -> Edges {
        list.sort_by_key(|(place, ..)| *place);
        let count = list.len();
        let mut edges = Edges {
            places: list.iter().map(|(place, ..)| *place).collect(),
            branches: list.iter().map(|(.., branch)| *branch).collect(),
            meets: list.iter().map(|(_, meet, _)| *meet).collect(),
            first: (0..2 * count)
                .map(|at| at.saturating_sub(count) as u32)
                .collect(),
        };
        for at in (1..count).rev() {
            edges.play(at);
        }
        edges
    }

    /// That of two edges with the lesser depth.
    fn higher(&self, a: u32, b: u32) -> u32 {
        match self.meets[b as usize] < self.meets[a as usize] {
            true => b,
            false => a,
        }
    }

    fn play(&mut self, at: usize) {
        self.first[at] = self.higher(self.first[2 * at], self.first[2 * at + 1]);
    }

    /// Takes the edges into a range of places whose depth is less than `depth`.
    fn take(&mut self, first: usize, end: usize, depth: u32, found: &mut Vec<BlockId>) {
        let low = self.places.partition_point(|place| *place < first);
        let high = self.places.partition_point(|place| *place < end);
        while let Some(edge) = self.highest(low, high)
            && self.meets[edge] < depth
        {
            found.push(self.branches[edge]);
            self.meets[edge] = u32::MAX;
            let mut at = (self.places.len() + edge) / 2;
            while at > 0 {
                self.play(at);
                at /= 2;
            }
        }
    }

    /// That of a range of edges with the least depth.
    fn highest(&self, low: usize, high: usize) -> Option<usize> {
        let count = self.places.len();
        let (mut low, mut high) = (low + count, high + count);
        let mut best: Option<u32> = None;
        let mut ask = |at: usize| {
            let edge = self.first[at];
            best = Some(best.map_or(edge, |best| self.higher(best, edge)));
        };
        while low < high {
            if low % 2 == 1 {
                ask(low);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                ask(high);
            }
            low /= 2;
            high /= 2;
        }
        best.map(|edge| edge as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Terminator;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A function of so many blocks without cycles: each leads to one or two later ones or returns.
    fn function(choices: &[(u8, u8)]) -> Function {
        let mut function = Function::new("main");
        let blocks: Vec<BlockId> = choices.iter().map(|_| function.new_block()).collect();
        for (number, (a, b)) in choices.iter().enumerate() {
            let later = &blocks[number + 1..];
            let target = |choice: u8| later.get(usize::from(choice)).copied();
            let condition = function.bool(true);
            function.block_mut(blocks[number]).terminator = match (target(*a), target(*b)) {
                (Some(then), Some(otherwise)) if then != otherwise => Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                },
                (Some(target), _) | (None, Some(target)) => Terminator::Jump(target),
                (None, None) => Terminator::Return,
            };
        }
        function
    }

    /// Whether some path from a block to the end passes `avoided` by.
    fn avoids(function: &Function, from: BlockId, avoided: BlockId) -> bool {
        let mut targets = function.block(from).terminator.each_target();
        from != avoided
            && (function
                .block(from)
                .terminator
                .each_target()
                .next()
                .is_none()
                || targets.any(|target| avoids(function, target, avoided)))
    }

    proptest! {
        #[test]
        fn a_block_finds_the_branches_that_can_pass_it_by_on_one_side_only(
            choices in proptest::collection::vec((0u8..4, 0u8..4), 1..14)
        ) {
            let function = function(&choices);
            let cfg = Cfg::new(&function);
            for block in cfg.rpo() {
                let expected: BTreeSet<BlockId> = cfg
                    .rpo()
                    .iter()
                    .copied()
                    .filter(|branch| {
                        let targets = function.block(*branch).terminator.targets();
                        let mut sure = targets.iter();
                        *branch != *block
                            && avoids(&function, *branch, *block)
                            && sure.any(|target| !avoids(&function, *target, *block))
                    })
                    .collect();
                let mut found = vec![];
                ControlDependence::new(&function, &cfg).take_branches(*block, &mut found);
                prop_assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), &expected, "{}: {}", block, function);
            }
        }

        #[test]
        fn each_edge_is_found_once(choices in proptest::collection::vec((0u8..4, 0u8..4), 1..30)) {
            let function = function(&choices);
            let cfg = Cfg::new(&function);
            let mut dependence = ControlDependence::new(&function, &cfg);
            let mut found = vec![];
            for block in cfg.rpo() {
                dependence.take_branches(*block, &mut found);
            }
            // Only branches have two edges.
            let mut counts = vec![0; function.block_count()];
            for branch in &found {
                counts[branch.index()] += 1;
            }
            prop_assert!(counts.iter().all(|count| *count <= 2), "{function}");
        }
    }
}
