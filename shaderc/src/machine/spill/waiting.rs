//! Which of several writes of slots comes next: each waits for all others that read what it destroys.
//!
//! Pure.  Guarantees: every write has its turn once; how long that takes grows with the writes, times their logarithm.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap as HashMap;

use crate::machine::Value;

/// What a write reads that another one may destroy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The slot that it loads, if that is not the one that it writes.
    pub(super) slot: Option<u32>,
    /// The value of the program that it writes.
    pub(super) value: Option<Value>,
}

/// What is to be done, by the number of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nobody reads any more what it destroys.
    Free(usize),
    /// All wait for each other: this one's operand is held elsewhere, so that it reads nothing.
    Circle(usize),
}

/// Writes that wait.
pub(super) struct Waiting {
    reads: Vec<Reading>,
    /// The writes of each slot, and of each phi.
    of_slot: HashMap<u32, Vec<usize>>,
    of_phi: HashMap<Value, usize>,
    /// How many others read what each destroys.
    readers: Vec<usize>,
    /// Those that nobody waits with.
    free: BTreeSet<usize>,
    /// Those that still read what others destroy.
    reading: BTreeSet<usize>,
}

impl Waiting {
    /// Writes of phis, each with its slot, and what they read.
    pub(super) fn new(written: Vec<(Value, u32)>, reads: Vec<Reading>) -> Waiting {
        let mut of_slot: HashMap<u32, Vec<usize>> = HashMap::default();
        let mut of_phi = HashMap::default();
        for (number, (phi, slot)) in written.iter().enumerate() {
            of_slot.entry(*slot).or_default().push(number);
            of_phi.insert(*phi, number);
        }
        let mut all = Waiting {
            readers: vec![0; reads.len()],
            reading: BTreeSet::new(),
            free: BTreeSet::new(),
            reads,
            of_slot,
            of_phi,
        };
        for reader in 0..all.reads.len() {
            for write in all.destroyers(reader) {
                all.readers[write] += 1;
                all.reading.insert(reader);
            }
        }
        let nobody = |number: &usize| all.readers[*number] == 0;
        all.free = (0..all.reads.len()).filter(nobody).collect();
        all
    }

    /// What comes next; `None` when all have had their turn.
    pub(super) fn next(&mut self) -> Option<Next> {
        if let Some(number) = self.free.pop_first() {
            self.has_read(number);
            return Some(Next::Free(number));
        }
        let number = *self.reading.first()?;
        self.has_read(number);
        Some(Next::Circle(number))
    }

    /// The writes that destroy what one reads, each once.
    fn destroyers(&self, reader: usize) -> Vec<usize> {
        let Reading { slot, value } = self.reads[reader];
        let of_slot = slot.and_then(|slot| self.of_slot.get(&slot));
        let mut all: Vec<usize> = of_slot.cloned().unwrap_or_default();
        all.extend(value.and_then(|value| self.of_phi.get(&value)));
        all.sort_unstable();
        all.dedup();
        all.retain(|write| *write != reader);
        all
    }

    /// One reads nothing any more.
    fn has_read(&mut self, reader: usize) {
        if !self.reading.remove(&reader) {
            return;
        }
        for write in self.destroyers(reader) {
            self.readers[write] -= 1;
            if self.readers[write] == 0 {
                self.free.insert(write);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(number: usize) -> Value {
        Value(number as u32)
    }

    /// Phi `n` has slot `n`, and is written from the slots that are named; the order in which all is done.
    fn order(sources: &[Option<usize>]) -> Vec<Next> {
        let written = (0..sources.len()).map(|number| (value(number), number as u32));
        let reads = sources.iter().map(|source| Reading {
            slot: source.map(|source| source as u32),
            value: source.map(value),
        });
        let mut waiting = Waiting::new(written.collect(), reads.collect());
        std::iter::from_fn(|| waiting.next()).collect()
    }

    #[test]
    fn what_is_read_is_written_behind_its_readers() {
        // 0 from 1, 1 from 2, 2 from a constant.
        let all = order(&[Some(1), Some(2), None]);
        assert_eq!(all, [Next::Free(0), Next::Free(1), Next::Free(2)]);
        // 2 from 1, 1 from 0.
        let all = order(&[None, Some(0), Some(1)]);
        assert_eq!(all, [Next::Free(2), Next::Free(1), Next::Free(0)]);
        // What a write reads of itself it doesn't wait for.
        assert_eq!(order(&[Some(0)]), [Next::Free(0)]);
    }

    #[test]
    fn one_of_a_circle_is_held() {
        let all = order(&[Some(1), Some(0), Some(0)]);
        assert_eq!(
            all,
            [Next::Free(2), Next::Circle(0), Next::Free(1), Next::Free(0)]
        );
        // Two circles: one operand of each.
        let held = |next: &&Next| matches!(next, Next::Circle(_));
        let all = order(&[Some(1), Some(0), Some(3), Some(2)]);
        assert_eq!(all.iter().filter(held).count(), 2, "{all:?}");
        assert_eq!(all.len(), 6, "{all:?}");
    }

    /// The slot that one loads may be another phi's than the value that is there.
    #[test]
    fn who_reads_nothing_is_not_held() {
        let read = |slot, phi| Reading {
            slot: Some(slot),
            value: Some(value(phi)),
        };
        let written = (0..3).map(|number| (value(number), number as u32));
        // 0 reads nothing of the others; 1 and 2 read each other, and both what 0 destroys.
        let reads = vec![Reading::default(), read(0, 2), read(0, 1)];
        let mut waiting = Waiting::new(written.collect(), reads);
        let all: Vec<Next> = std::iter::from_fn(|| waiting.next()).collect();
        let frees = all.iter().filter(|next| matches!(next, Next::Free(_)));
        assert_eq!(frees.count(), 3, "{all:?}");
        assert!(!all.contains(&Next::Circle(0)), "{all:?}");
    }

    /// Words that rotate in a loop wait for each other in one circle.
    #[test]
    fn a_large_circle_is_written_from_one_end_to_the_other() {
        const COUNT: usize = 20_000;
        let sources: Vec<Option<usize>> = (0..COUNT).map(|n| Some((n + 1) % COUNT)).collect();
        let all = order(&sources);
        assert_eq!(all.len(), COUNT + 1);
        assert_eq!(all[..3], [Next::Circle(0), Next::Free(1), Next::Free(2)]);
        assert_eq!(all[COUNT], Next::Free(0));
    }
}
