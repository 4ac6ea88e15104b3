//! The dominator tree: the nearest block that every path to a block goes through.
//!
//! Needs: blocks given one by one, each after those above it: in reverse postorder, or in program order.
//! Guarantees: the nearest common dominator of two blocks in logarithmic time, by jumps over many levels.
//! Blocks are their numbers: the IR and the machine IR both have such a tree.

/// A tree that grows downwards.
#[derive(Clone, Debug)]
pub(crate) struct DominatorTree {
    nodes: Vec<Node>,
}

/// Small: a walk up the tree of a function of many blocks goes all over the list.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The immediate dominator; the root's is itself, as is that of a block which is not in the tree.
    up: u32,
    /// One more than the dominators that it has above it; 0 of a block that is not in the tree.
    height: u32,
    /// One of them, near or far.
    jump: u32,
}

impl DominatorTree {
    /// One that may have so many blocks, and has none.
    pub(crate) fn new(count: usize) -> DominatorTree {
        let alone = |block: u32| Node {
            up: block,
            height: 0,
            jump: block,
        };
        DominatorTree {
            nodes: (0..count as u32).map(alone).collect(),
        }
    }

    /// Adds the entry.
    pub(crate) fn add_root(&mut self, block: usize) {
        self.nodes[block].height = 1;
    }

    /// Adds a block below the nearest common dominator of those predecessors that are in the tree. One that has none of
    /// these is left out.
    pub(crate) fn add(&mut self, block: usize, predecessors: impl Iterator<Item = usize>) {
        let known = predecessors.filter(|from| self.nodes[*from].height > 0);
        let Some(up) = known.reduce(|a, b| self.meet(a, b)) else {
            return;
        };
        let Node { height, jump, .. } = self.nodes[up];
        // Two jumps of one length make one of the double length.
        let once = self.nodes[jump as usize];
        let twice = self.nodes[once.jump as usize];
        self.nodes[block] = Node {
            up: up as u32,
            height: height + 1,
            jump: match height - once.height == once.height - twice.height {
                true => once.jump,
                false => up as u32,
            },
        };
    }

    /// The immediate dominator; none for the entry, and for what is not in the tree.
    pub(crate) fn up(&self, block: usize) -> Option<usize> {
        let up = self.nodes[block].up as usize;
        (up != block).then_some(up)
    }

    /// The nearest common dominator of two blocks of the tree.
    pub(crate) fn meet(&self, a: usize, b: usize) -> usize {
        let node = |block: u32| self.nodes[block as usize];
        let (mut a, mut b) = (a as u32, b as u32);
        if node(a).height < node(b).height {
            (a, b) = (b, a);
        }
        // Also of a block that is not in the tree, there is nothing above the root.
        let height = node(b).height.max(1);
        while node(a).height > height {
            let Node { up, jump, .. } = node(a);
            a = match node(jump).height >= height {
                true => jump,
                false => up,
            };
        }
        // From one height jumps lead to one height. Nothing is above the entry.
        while a != b && node(a).height > 1 {
            let (left, right) = (node(a), node(b));
            (a, b) = match left.jump == right.jump {
                true => (left.up, right.up),
                false => (left.jump, right.jump),
            };
        }
        a as usize
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
