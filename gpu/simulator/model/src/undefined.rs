//! Undefined memory: which bytes of a workgroup's shared memory and of its threads' scratch memory nobody has written.
//!
//! What such a byte holds is anybody's guess. To find out whether it matters, a warp that has loaded one goes on with other contents
//! beside what memory holds (`shader::others`): if a branch, an address or what is stored to global memory then is another, the value
//! decides it. So what is reported can happen, and what is copied, masked or selected away is not reported.
//!
//! Guarantees: bounded memory a core; without a sink that wants accesses nothing is kept.

use crate::trace::{MemorySort, OwnMemory, UndefinedLoad};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

/// Other contents that are tried of each undefined byte.
pub(crate) const OTHERS: usize = 2;

/// Differences to what a byte holds, by other content.
pub(crate) type Differences = [u8; OTHERS];

/// Bytes of a workgroup's shared or scratch memory that are followed at most; those beyond count as written.
const FOLLOWED: u64 = 16 << 20;
/// Undefined bytes that were stored which are followed at most; those beyond count as written.
const STORED: usize = 1 << 16;

/// What a byte that nobody wrote might hold besides: the complement, and something that differs from byte to byte.
fn guess(at: u64) -> Differences {
    let mixed = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
    [0xff, mixed | 1]
}

/// Bytes of memory that hold nothing defined.
#[derive(Clone, Debug, Default)]
struct Shadow {
    /// Address of the first byte.
    base: u64,
    /// A bit for each byte that nobody wrote.
    never: Vec<u64>,
    /// Bytes to which something undefined was stored, and where that was loaded.
    stored: BTreeMap<u64, (Differences, UndefinedLoad)>,
}

impl Shadow {
    /// Nobody has written these bytes.
    fn forget(&mut self, bytes: &Range<u64>) {
        self.base = bytes.start;
        self.stored.clear();
        let count = (bytes.end - bytes.start).min(FOLLOWED);
        self.never.clear();
        self.never.resize(count.div_ceil(64) as usize, u64::MAX);
    }

    fn is_never(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.base);
        let word = self.never.get((at / 64) as usize);
        word.is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Whether all of up to 16 bytes are defined.
    fn is_defined(&self, address: u64, bytes: u8) -> bool {
        let end = address.wrapping_add(bytes.into());
        !(address..end).any(|at| self.is_never(at))
            && (self.stored.is_empty() || self.stored.range(address..end).next().is_none())
    }

    fn write(&mut self, address: u64, differences: &[Differences], load: Option<UndefinedLoad>) {
        for (number, byte) in (0..).zip(differences) {
            let address = address.wrapping_add(number);
            let at = address.wrapping_sub(self.base);
            if let Some(word) = self.never.get_mut((at / 64) as usize) {
                *word &= !(1 << (at % 64));
            }
            match load {
                Some(load) if *byte != [0; OTHERS] && self.stored.len() < STORED => {
                    self.stored.insert(address, (*byte, load));
                }
                _ if self.stored.is_empty() => {}
                _ => {
                    self.stored.remove(&address);
                }
            }
        }
    }
}

/// What a load has met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// Differences of the other contents, as numbers.
    pub(crate) differences: [u128; OTHERS],
    /// Where the first undefined byte was loaded, if it was stored again since.
    pub(crate) load: Option<UndefinedLoad>,
}

/// A job, by its number, and the core that its workgroup is on: jobs take turns on the cores.
pub(crate) type Holder = (u64, u8);

/// Workgroups whose memory is followed at a time at most; beyond, that of the oldest job counts as written.
const HOLDERS: usize = 256;

/// The memories of the workgroup of each job on each core.
#[derive(Clone, Debug, Default)]
pub(crate) struct UndefinedMemory(BTreeMap<Holder, [Shadow; 2]>);

fn index(sort: MemorySort) -> Option<usize> {
    match sort {
        MemorySort::Shared => Some(0),
        MemorySort::Scratch => Some(1),
        MemorySort::Global => None,
    }
}

impl UndefinedMemory {
    /// A workgroup begins: nobody has written its memory.
    pub(crate) fn begin(&mut self, holder: Holder, own: &OwnMemory) {
        if self.0.len() >= HOLDERS && !self.0.contains_key(&holder) {
            self.0.pop_first();
        }
        let [shared, scratch] = self.0.entry(holder).or_default();
        shared.forget(&own.shared);
        scratch.forget(&own.scratch);
    }

    /// A job has ended.
    pub(crate) fn end(&mut self, job: u64) {
        if !self.0.is_empty() {
            self.0.retain(|(holder, _), _| *holder != job);
        }
    }

    /// What a load from the workgroup's own memory meets; `None` if all is defined.
    #[inline]
    pub(crate) fn load(
        &self,
        holder: Holder,
        sort: MemorySort,
        (address, bytes): (u64, u8),
    ) -> Option<Met> {
        let shadow = &self.0.get(&holder)?[index(sort)?];
        if shadow.is_defined(address, bytes) {
            return None;
        }
        let mut met = Met {
            differences: [0; OTHERS],
            load: None,
        };
        for number in 0..u64::from(bytes.min(16)) {
            let at = address.wrapping_add(number);
            let differences = match shadow.stored.get(&at) {
                _ if shadow.is_never(at) => guess(at),
                Some((differences, load)) => {
                    met.load.get_or_insert(*load);
                    *differences
                }
                None => continue,
            };
            for (all, byte) in met.differences.iter_mut().zip(differences) {
                *all |= u128::from(byte) << (8 * number);
            }
        }
        Some(met)
    }

    /// Takes in a store to the workgroup's own memory, with what the other contents store instead and where that was loaded.
    pub(crate) fn store(
        &mut self,
        holder: Holder,
        sort: MemorySort,
        (address, bytes): (u64, u8),
        (differences, load): ([u128; OTHERS], Option<UndefinedLoad>),
    ) {
        let (Some(shadows), Some(index)) = (self.0.get_mut(&holder), index(sort)) else {
            return;
        };
        let byte = |number: usize| differences.map(|all| (all >> (8 * number)) as u8);
        let all: [Differences; 16] = core::array::from_fn(byte);
        let count = usize::from(bytes).min(all.len());
        shadows[index].write(address, &all[..count], load);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: OwnMemory = OwnMemory {
        shared: 0x1000..0x1100,
        scratch: 0..0,
    };
    const LOAD: UndefinedLoad = UndefinedLoad {
        instruction: (0x40, 0),
        sort: MemorySort::Shared,
        address: 0x1004,
        offset: 4,
        thread: 0,
    };

    #[test]
    fn bytes_are_undefined_until_they_are_written() {
        let mut memory = UndefinedMemory::default();
        assert!(
            memory
                .load((1, 0), MemorySort::Shared, (0x1000, 4))
                .is_none()
        );
        memory.begin((1, 0), &OWN);
        let met = memory
            .load((1, 0), MemorySort::Shared, (0x1000, 4))
            .unwrap();
        assert_eq!(met.differences[0], 0xffff_ffff);
        memory.store((1, 0), MemorySort::Shared, (0x1002, 2), ([0; OTHERS], None));
        let met = memory
            .load((1, 0), MemorySort::Shared, (0x1000, 4))
            .unwrap();
        assert_eq!(met.differences[0], 0xffff, "{met:x?}");
        memory.store((1, 0), MemorySort::Shared, (0x1000, 2), ([0; OTHERS], None));
        assert!(
            memory
                .load((1, 0), MemorySort::Shared, (0x1000, 4))
                .is_none()
        );
        assert!(
            memory
                .load((1, 1), MemorySort::Shared, (0x1010, 4))
                .is_none(),
            "another core"
        );
        memory.begin((1, 0), &OWN);
        assert!(
            memory
                .load((1, 0), MemorySort::Shared, (0x1000, 4))
                .is_some(),
            "another workgroup"
        );
    }

    #[test]
    fn what_was_stored_undefined_is_undefined_where_it_is_loaded() {
        let mut memory = UndefinedMemory::default();
        memory.begin((1, 0), &OWN);
        let differences = [0xff00, 0x0100];
        memory.store(
            (1, 0),
            MemorySort::Shared,
            (0x1010, 4),
            (differences, Some(LOAD)),
        );
        let met = memory
            .load((1, 0), MemorySort::Shared, (0x1010, 4))
            .unwrap();
        assert_eq!(met.differences, differences);
        assert_eq!(met.load, Some(LOAD));
        memory.store((1, 0), MemorySort::Shared, (0x1010, 4), ([0; OTHERS], None));
        assert!(
            memory
                .load((1, 0), MemorySort::Shared, (0x1010, 4))
                .is_none()
        );
    }

    #[test]
    fn bytes_beyond_what_is_followed_count_as_written() {
        let mut memory = UndefinedMemory::default();
        let own = OwnMemory {
            shared: 0..u64::MAX,
            scratch: 0..0,
        };
        memory.begin((1, 0), &own);
        assert!(
            memory
                .load((1, 0), MemorySort::Shared, (FOLLOWED - 4, 4))
                .is_some()
        );
        assert!(
            memory
                .load((1, 0), MemorySort::Shared, (FOLLOWED, 4))
                .is_none()
        );
    }

    #[test]
    fn jobs_that_take_turns_on_a_core_have_memories_of_their_own() {
        let mut memory = UndefinedMemory::default();
        let word = (0x1000, 4);
        memory.begin((1, 0), &OWN);
        memory.store((1, 0), MemorySort::Shared, word, ([0; OTHERS], None));
        memory.begin((2, 0), &OWN);
        assert!(memory.load((1, 0), MemorySort::Shared, word).is_none());
        assert!(memory.load((2, 0), MemorySort::Shared, word).is_some());
        memory.end(2);
        assert!(memory.load((2, 0), MemorySort::Shared, word).is_none());
    }

    #[test]
    fn the_oldest_job_counts_as_written_once_too_many_take_turns() {
        let mut memory = UndefinedMemory::default();
        let word = (0x1000, 4);
        let is_followed = |memory: &UndefinedMemory, job: u64| {
            memory.load((job, 0), MemorySort::Shared, word).is_some()
        };
        let most = HOLDERS as u64;
        for job in 0..most {
            memory.begin((job, 0), &OWN);
        }
        // Another workgroup of a job that is followed takes no room.
        memory.begin((7, 0), &OWN);
        assert!((0..most).all(|job| is_followed(&memory, job)));
        memory.begin((most, 0), &OWN);
        assert!(!is_followed(&memory, 0), "the oldest is followed still");
        assert!((1..=most).all(|job| is_followed(&memory, job)));
    }

    #[test]
    fn so_many_undefined_bytes_that_were_stored_are_followed() {
        let mut memory = UndefinedMemory::default();
        let most = STORED as u64;
        let own = OwnMemory {
            shared: 0..2 * most,
            scratch: 0..0,
        };
        memory.begin((1, 0), &own);
        let undefined = ([u128::MAX; OTHERS], Some(LOAD));
        for at in (0..most + 16).step_by(16) {
            memory.store((1, 0), MemorySort::Shared, (at, 16), undefined);
        }
        let load = |at| memory.load((1, 0), MemorySort::Shared, (at, 1));
        assert!(load(most - 1).is_some(), "the last of them");
        assert!(load(most).is_none(), "one more");
    }
}
