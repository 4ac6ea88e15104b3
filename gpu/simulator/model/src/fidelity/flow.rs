//! Flow: which rows the values in registers and in memory rest on.

use super::InexactSet;
use crate::shader::REGISTERS;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;

/// What the registers of a warp rest on; nothing is kept while all are exact.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegisterMarks(Option<Box<[InexactSet; REGISTERS]>>);

impl RegisterMarks {
    /// What some registers together rest on, a bit a register.
    pub(crate) fn of(&self, registers: u64) -> InexactSet {
        let Some(marks) = &self.0 else {
            return InexactSet::EMPTY;
        };
        let marks = marks.iter().enumerate();
        let marks = marks.filter(|(index, _)| registers >> index & 1 != 0);
        marks.fold(InexactSet::EMPTY, |all, (_, one)| all.union(*one))
    }

    /// Registers are written. What they held is gone if every lane writes all of them.
    pub(crate) fn set(&mut self, registers: u64, marks: InexactSet, all_of_it: bool) {
        if self.0.is_none() && marks.is_empty() {
            return;
        }
        let held = self
            .0
            .get_or_insert_with(|| Box::new([InexactSet::EMPTY; REGISTERS]));
        for (index, held) in held.iter_mut().enumerate() {
            if registers >> index & 1 == 0 {
                continue;
            }
            *held = if all_of_it { marks } else { held.union(marks) };
        }
    }
}

/// Bytes of memory that are followed together.
const GRANULE: u64 = 16;

/// What bytes of memory rest on; nothing is kept of those that are exact.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryMarks(BTreeMap<u64, Box<[InexactSet; GRANULE as usize]>>);

impl MemoryMarks {
    /// What some bytes together rest on.
    pub(super) fn of(&self, physical: u64, bytes: u64) -> InexactSet {
        let mut marks = InexactSet::EMPTY;
        if bytes == 0 || self.0.is_empty() {
            return marks;
        }
        let (first, last) = (physical, physical.saturating_add(bytes - 1));
        for (number, granule) in self.0.range(first / GRANULE..=last / GRANULE) {
            for (index, one) in granule.iter().enumerate() {
                let at = number * GRANULE + index as u64;
                if first <= at && at <= last {
                    marks.add(*one);
                }
            }
        }
        marks
    }

    /// Bytes are written.
    pub(super) fn set(&mut self, physical: u64, bytes: u64, marks: InexactSet) {
        for at in physical..physical.saturating_add(bytes) {
            let index = (at % GRANULE) as usize;
            let number = at / GRANULE;
            match self.0.get_mut(&number) {
                Some(granule) => granule[index] = marks,
                None if marks.is_empty() => continue,
                None => {
                    let mut granule = Box::new([InexactSet::EMPTY; GRANULE as usize]);
                    granule[index] = marks;
                    self.0.insert(number, granule);
                }
            }
            let gone = |granule: &[InexactSet]| granule.iter().all(|one| one.is_empty());
            if marks.is_empty() && self.0.get(&number).is_some_and(|it| gone(&it[..])) {
                self.0.remove(&number);
            }
        }
    }
}
