//! The dominator tree: the nearest block that every path to a block goes through.
//!
//! Needs: blocks given one by one, each after those above it: in reverse postorder, or in program order.
//! Guarantees: the nearest common dominator of two blocks in logarithmic time, by jumps over many levels.
//! Blocks are their numbers: the IR and the machine IR both have such a tree.

/// A tree that grows downwards.
#[derive(Clone, Debug)]
pub(crate) struct DominatorTree {
    nodes: Vec<Option<Node>>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The immediate dominator; the root's is itself.
    up: usize,
    /// How many dominators it has above it.
    height: u32,
    /// One of them, near or far.
    jump: usize,
}

impl DominatorTree {
    /// One that may have so many blocks, and has none.
    pub(crate) fn new(count: usize) -> DominatorTree {
        DominatorTree {
            nodes: vec![None; count],
        }
    }

    /// Adds the entry.
    pub(crate) fn add_root(&mut self, block: usize) {
        self.nodes[block] = Some(Node {
            up: block,
            height: 0,
            jump: block,
        });
    }

    /// Adds a block below the nearest common dominator of those predecessors that are in the tree. One that has none of
    /// these is left out.
    pub(crate) fn add(&mut self, block: usize, predecessors: impl Iterator<Item = usize>) {
        let known = predecessors.filter(|from| self.nodes[*from].is_some());
        let Some(up) = known.reduce(|a, b| self.meet(a, b)) else {
            return;
        };
        let Node { height, jump, .. } = self.node(up);
        // Two jumps of one length make one of the double length.
        let once = self.node(jump);
        let twice = self.node(once.jump);
        self.nodes[block] = Some(Node {
            up,
            height: height + 1,
            jump: match height - once.height == once.height - twice.height {
                true => once.jump,
                false => up,
            },
        });
    }

    /// One that is not in the tree is a root of its own.
    fn node(&self, block: usize) -> Node {
        self.nodes[block].unwrap_or(Node {
            up: block,
            height: 0,
            jump: block,
        })
    }

    /// The immediate dominator; none for the entry, and for what is not in the tree.
    pub(crate) fn up(&self, block: usize) -> Option<usize> {
        self.nodes[block]
            .map(|node| node.up)
            .filter(|up| *up != block)
    }

    /// The nearest common dominator of two blocks of the tree.
    pub(crate) fn meet(&self, mut a: usize, mut b: usize) -> usize {
        if self.node(a).height < self.node(b).height {
            (a, b) = (b, a);
        }
        let height = self.node(b).height;
        while self.node(a).height > height {
            let Node { up, jump, .. } = self.node(a);
            a = match self.node(jump).height >= height {
                true => jump,
                false => up,
            };
        }
        // From one height jumps lead to one height. Nothing is above the entry.
        while a != b && self.node(a).height > 0 {
            let (left, right) = (self.node(a), self.node(b));
            (a, b) = match left.jump == right.jump {
                true => (left.up, right.up),
                false => (left.jump, right.jump),
            };
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::DominatorTree;

    /// The tree of a chain of 100 blocks, of which each even one also leads to 100 + its number.
    fn comb() -> DominatorTree {
        let mut tree = DominatorTree::new(201);
        tree.add_root(0);
        for block in 1..100 {
            tree.add(block, [block - 1].into_iter());
        }
        for block in (0..100).step_by(2) {
            tree.add(100 + block, [block].into_iter());
        }
        tree
    }

    #[test]
    fn two_blocks_meet_at_the_nearest_that_is_above_both() {
        let tree = comb();
        assert_eq!(tree.meet(99, 0), 0);
        assert_eq!(tree.meet(0, 99), 0);
        assert_eq!(tree.meet(57, 57), 57);
        for (a, b, expected) in [(198, 102, 2), (150, 31, 31), (33, 150, 33), (164, 150, 50)] {
            assert_eq!(tree.meet(a, b), expected, "{a} and {b}");
        }
    }

    #[test]
    fn a_block_stands_below_where_its_predecessors_meet() {
        let mut tree = comb();
        tree.add(200, [198, 164, 77].into_iter());
        assert_eq!(tree.up(200), Some(64));
        assert_eq!(tree.up(0), None);
        // Nothing leads to it.
        assert_eq!(tree.up(101), None);
    }
}
