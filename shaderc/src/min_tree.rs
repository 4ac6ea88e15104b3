//! Minima by range: the first place of a range whose number is below a limit, in a list whose numbers change.
//!
//! A tree of minima: a change and a question take as many steps as the logarithm of the list's length.

use std::ops::Range;

/// A list of numbers.
#[derive(Clone, Debug)]
pub(crate) struct MinTree {
    /// Leaves of the tree, a power of two.
    leaves: usize,
    /// Node n has its parts at 2n and 2n + 1; the leaves stand last.
    nodes: Vec<u32>,
}

impl MinTree {
    pub(crate) fn new(numbers: impl ExactSizeIterator<Item = u32>) -> MinTree {
        let leaves = numbers.len().next_power_of_two();
        let mut nodes = vec![u32::MAX; 2 * leaves];
        for (leaf, number) in nodes[leaves..].iter_mut().zip(numbers) {
            *leaf = number;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        MinTree { leaves, nodes }
    }

    /// Changes the number at a place.
    pub(crate) fn set(&mut self, place: usize, number: u32) {
        let mut node = self.leaves + place;
        self.nodes[node] = number;
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }

    /// The first place in the range whose number is below the limit.
    pub(crate) fn first_below(&self, range: Range<usize>, limit: u32) -> Option<usize> {
        self.search(1, 0..self.leaves, &range, limit)
    }

    /// The same among the places below a node.
    fn search(
        &self,
        node: usize,
        below: Range<usize>,
        range: &Range<usize>,
        limit: u32,
    ) -> Option<usize> {
        let apart = below.end <= range.start || range.end <= below.start;
        if apart || self.nodes[node] >= limit {
            return None;
        }
        if below.len() == 1 {
            return Some(below.start);
        }
        let middle = below.start + below.len() / 2;
        self.search(2 * node, below.start..middle, range, limit)
            .or_else(|| self.search(2 * node + 1, middle..below.end, range, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_walk_finds(
            mut numbers in prop::collection::vec(0u32..20, 1..40),
            changes in prop::collection::vec((0usize..40, 0u32..20, 0usize..40, 0usize..40), 0..20),
        ) {
            let mut tree = MinTree::new(numbers.iter().copied());
            for (place, number, from, to) in changes {
                let place = place % numbers.len();
                numbers[place] = number;
                tree.set(place, number);
                let range = from..to;
                let expected = (0..numbers.len()).find(|at| range.contains(at) && numbers[*at] < number);
                prop_assert_eq!(tree.first_below(range, number), expected);
            }
        }
    }
}
