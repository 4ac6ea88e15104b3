//! Values and what takes their place, for both forms of a function: the IR's and the machine's.
//!
//! Whoever replaces asks of every operand, so this is a table and no map.

use std::collections::VecDeque;

/// A value, by its number in the function.
pub(crate) trait Numbered: Copy + PartialEq {
    /// The value with that number.
    fn at(index: usize) -> Self;

    /// The number.
    fn number(self) -> usize;
}

/// Values and what takes their place.
pub(crate) struct Replaced<V> {
    /// By value: what takes its place; itself, and whatever lies beyond the end, if nothing does.
    by: Vec<V>,
    count: usize,
}

impl<V> Default for Replaced<V> {
    fn default() -> Replaced<V> {
        Replaced {
            by: vec![],
            count: 0,
        }
    }
}

impl<V: Numbered> Replaced<V> {
    /// Lets a value take the place of another.
    pub(crate) fn insert(&mut self, old: V, new: V) {
        self.by.extend((self.by.len()..=old.number()).map(V::at));
        self.count += usize::from(self.by[old.number()] == old);
        self.by[old.number()] = new;
    }

    /// The same for several, pair by pair.
    pub(crate) fn extend(&mut self, pairs: impl IntoIterator<Item = (V, V)>) {
        pairs
            .into_iter()
            .for_each(|(old, new)| self.insert(old, new));
    }

    /// What takes a value's place, which may itself be replaced; the value if nothing does.
    pub(crate) fn get(&self, value: V) -> V {
        self.by.get(value.number()).copied().unwrap_or(value)
    }

    /// Whether something takes a value's place.
    pub(crate) fn has(&self, value: V) -> bool {
        self.get(value) != value
    }

    /// Whether nothing is replaced.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Where the chain of replacements ends that begins with a value. What is walked is shorter next time; that ends a cycle,
    /// too, if a pass made one.
    pub(crate) fn end(&mut self, value: V) -> V {
        let mut at = value;
        loop {
            let next = self.get(at);
            let further = self.get(next);
            if next == further {
                return next;
            }
            self.by[at.number()] = further;
            at = further;
        }
    }

    /// Lets the end of each chain take the place of all that are in it, so that `get` gives it at once.
    pub(crate) fn flatten(&mut self) {
        for index in 0..self.by.len() {
            let end = self.end(V::at(index));
            self.by[index] = end;
        }
    }
}

/// A phi: what it defines, and what comes from the predecessors.
pub(crate) trait Joins<V> {
    fn result(&self) -> V;
    fn sources(&self) -> impl Iterator<Item = V>;
}

/// Finds the phis whose sources are all one value, or themselves, and others that become so when those give way to that
/// value.
pub(crate) fn trivial_phis<V: Numbered, P: Joins<V>>(phis: &[P]) -> Replaced<V> {
    let mut replaced = Replaced::default();
    let mut readers: Option<Readers> = None;
    let mut waits = vec![true; phis.len()];
    let mut work: VecDeque<usize> = (0..phis.len()).collect();
    while let Some(number) = work.pop_front() {
        waits[number] = false;
        let result = phis[number].result();
        if replaced.has(result) {
            continue;
        }
        let mut only = None;
        let trivial = phis[number].sources().all(|source| {
            let value = replaced.end(source);
            value == result || *only.get_or_insert(value) == value
        });
        // Only itself: a loop that is never entered, so any value will do.
        if let (true, Some(value)) = (trivial, only) {
            replaced.insert(result, value);
            // Most functions have no trivial phi, and then nobody asks.
            let readers = readers.get_or_insert_with(|| Readers::of(phis));
            let stands = |reader: usize| !replaced.has(phis[reader].result());
            for reader in readers.hand_over(number, value, stands) {
                let reader = reader as usize;
                if !std::mem::replace(&mut waits[reader], true) {
                    work.push_back(reader);
                }
            }
        }
    }
    replaced.flatten();
    replaced
}

/// Which phis read which, by number.
struct Readers {
    /// By value: the number of the phi that it is.
    phis: Vec<Option<u32>>,
    /// By phi: those that read it, or a phi whose place it took.
    readers: Vec<Vec<u32>>,
}

impl Readers {
    fn of<V: Numbered, P: Joins<V>>(phis: &[P]) -> Readers {
        let last = phis.iter().map(|phi| phi.result().number()).max();
        let mut numbers = vec![None; last.map_or(0, |last| last + 1)];
        for (number, phi) in phis.iter().enumerate() {
            numbers[phi.result().number()] = Some(number as u32);
        }
        let mut of = Readers {
            phis: numbers,
            readers: vec![vec![]; phis.len()],
        };
        for (reader, phi) in phis.iter().enumerate() {
            for read in phi.sources() {
                if let Some(read) = of.phi(read) {
                    of.readers[read].push(reader as u32);
                }
            }
        }
        of
    }

    fn phi<V: Numbered>(&self, value: V) -> Option<usize> {
        let number = self.phis.get(value.number()).copied().flatten();
        number.map(|number| number as usize)
    }

    /// Gives the readers of a phi to the value that takes its place, and names those that `stands` says are still there.
    fn hand_over<V: Numbered>(
        &mut self,
        phi: usize,
        to: V,
        stands: impl Fn(usize) -> bool,
    ) -> Vec<u32> {
        let mut readers = std::mem::take(&mut self.readers[phi]);
        readers.retain(|&reader| stands(reader as usize));
        if let Some(to) = self.phi(to) {
            self.readers[to].extend(&readers);
        }
        readers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Numbered for usize {
        fn at(index: usize) -> usize {
            index
        }

        fn number(self) -> usize {
            self
        }
    }

    impl Joins<usize> for (usize, Vec<usize>) {
        fn result(&self) -> usize {
            self.0
        }

        fn sources(&self) -> impl Iterator<Item = usize> {
            self.1.iter().copied()
        }
    }

    fn check(pairs: &[(usize, usize)], expected: &[usize]) {
        let mut replaced = Replaced::default();
        replaced.extend(pairs.iter().copied());
        let ends: Vec<usize> = (0..expected.len())
            .map(|value| replaced.end(value))
            .collect();
        assert_eq!(ends, expected, "{pairs:?}");
    }

    #[test]
    fn chains_are_followed_to_their_ends() {
        check(&[], &[0, 1]);
        check(&[(1, 0), (2, 1), (4, 2), (3, 5)], &[0, 0, 0, 5, 0, 5]);
    }

    #[test]
    fn a_cycle_has_an_end() {
        let mut replaced = Replaced::default();
        replaced.extend([(0, 1), (1, 2), (2, 0)]);
        assert!(replaced.end(0) < 3);
    }

    /// Phis by result, and what takes the place of each value up to the last of them.
    fn check_phis(phis: &[(usize, &[usize])], expected: &[usize]) {
        let phis: Vec<(usize, Vec<usize>)> = phis
            .iter()
            .map(|(result, sources)| (*result, sources.to_vec()))
            .collect();
        let replaced = trivial_phis(&phis);
        let found: Vec<usize> = (0..expected.len())
            .map(|value| replaced.get(value))
            .collect();
        assert_eq!(found, expected, "{phis:?}");
    }

    #[test]
    fn phis_give_way_to_their_only_source() {
        check_phis(&[(2, &[0, 1])], &[0, 1, 2]);
        check_phis(&[(1, &[0, 0]), (2, &[1, 2]), (3, &[2, 0])], &[0; 4]);
        check_phis(&[(0, &[0])], &[0]);
    }

    #[test]
    fn phis_that_read_what_gave_way_are_looked_at_again() {
        // The first to be looked at becomes trivial last: its source gives way to a phi, and only then that to a value.
        check_phis(
            &[(3, &[1, 0]), (1, &[2, 1]), (4, &[2, 3]), (2, &[0, 4])],
            &[0, 2, 2, 3, 4],
        );
        check_phis(&[(3, &[1, 0]), (1, &[2, 1]), (2, &[0, 0])], &[0; 4]);
        check_phis(
            &[(4, &[1, 0]), (1, &[2, 1]), (3, &[0, 0]), (2, &[3, 0])],
            &[0; 5],
        );
    }

    #[test]
    fn long_chains_take_no_longer_a_phi_than_short_ones() {
        // Loops in loops, through all of which one value lives: each header's phi reads the one around and itself.
        let count = 200_000;
        let phis: Vec<(usize, Vec<usize>)> = (1..=count)
            .map(|phi| (phi, vec![phi - 1, (phi + 1).min(count)]))
            .collect();
        let replaced = trivial_phis(&phis);
        assert!((0..=count).all(|phi| replaced.get(phi) == 0));
    }
}
