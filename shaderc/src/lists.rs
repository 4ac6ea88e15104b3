//! Lists of lists: many short lists by number, in one piece of memory.
//!
//! A vector of vectors asks for memory list by list, and its lists lie anywhere; walks over all blocks or values feel both.

/// A list of `T` for each number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lists<T> {
    /// By number: where its list begins in `items`; one more for the end of the last.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// So many lists: each item in that whose number stands before it, in the order given.
    pub(crate) fn gather(
        count: usize,
        items: impl Iterator<Item = (usize, T)> + Clone,
    ) -> Lists<T> {
        let mut starts = vec![0; count + 2];
        let mut last = None;
        for (list, item) in items.clone() {
            starts[list + 2] += 1;
            last = Some(item);
        }
        for list in 1..=count {
            starts[list + 1] += starts[list];
        }
        // One place behind its own, each goes on from the start of its list to the end: the start of the next one.
        let mut gathered = last.map_or(vec![], |item| vec![item; starts[count + 1] as usize]);
        for (list, item) in items {
            gathered[starts[list + 1] as usize] = item;
            starts[list + 1] += 1;
        }
        starts.truncate(count + 1);
        Lists {
            starts,
            items: gathered,
        }
    }

    /// The list with that number.
    pub(crate) fn of(&self, list: usize) -> &[T] {
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

impl<T: Copy + PartialEq> Lists<T> {
    /// Drops, from every list, what follows its equal.
    pub(crate) fn dedup(&mut self) {
        let mut kept = 0;
        for list in 0..self.starts.len() - 1 {
            let (start, end) = (self.starts[list] as usize, self.starts[list + 1] as usize);
            self.starts[list] = kept as u32;
            for at in start..end {
                if at == start || self.items[at] != self.items[at - 1] {
                    self.items[kept] = self.items[at];
                    kept += 1;
                }
            }
        }
        self.items.truncate(kept);
        if let Some(end) = self.starts.last_mut() {
            *end = kept as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn items_come_into_their_lists_in_order() {
        let items = [(2, 'a'), (0, 'b'), (2, 'a'), (2, 'c'), (0, 'd'), (2, 'c')];
        let mut lists = Lists::gather(4, items.into_iter());
        let all = |lists: &Lists<char>| -> Vec<String> {
            (0..4).map(|list| lists.of(list).iter().collect()).collect()
        };
        assert_eq!(all(&lists), ["bd", "", "aacc", ""]);
        lists.dedup();
        assert_eq!(all(&lists), ["bd", "", "ac", ""]);
        assert_eq!(all(&Lists::gather(4, [].into_iter())), ["", "", "", ""]);
    }
}
