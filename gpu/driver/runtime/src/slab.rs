//! Slab: values in storage of the caller's, named by keys that a later value in the same place does not answer to, nor a value of
//! another device.
//!
//! Guarantees: a key names one value, ever; what does not fit is given back.  Never: allocates, grows, forgets.

use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU16, Ordering};

/// Tells devices apart: two that one program has at a time, or one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceNumber(u16);

impl DeviceNumber {
    /// Numbers before they repeat: as many as a key has bits for.
    const COUNT: u16 = 1 << 15;

    /// The next number. It repeats after 32,768 devices.
    pub(crate) fn next() -> DeviceNumber {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        // Nothing but the number itself is shared.
        DeviceNumber(NEXT.fetch_add(1, Ordering::Relaxed) % Self::COUNT)
    }

    /// What the keys of a device have in common: above place and generation.
    const fn owner(self) -> u64 {
        const SET: u64 = 1 << 63;
        SET | (self.0 as u64) << (u16::BITS + u32::BITS)
    }
}

/// Names a value: its device, its place, and which of those that were there in turn. One word, also where there may be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(NonZeroU64);

impl Key {
    /// Names nothing: there is no such place.
    pub(crate) const NONE: Key = Key(NonZeroU64::MAX);

    fn new(owner: u64, index: u16, generation: u32) -> Key {
        let word = owner | u64::from(generation) << u16::BITS | u64::from(index);
        Key(NonZeroU64::new(word).unwrap_or(NonZeroU64::MAX))
    }

    /// The key as a number.
    pub(crate) const fn number(self) -> u64 {
        self.0.get()
    }

    /// The key that is this number.
    pub(crate) fn of_number(number: u64) -> Option<Key> {
        NonZeroU64::new(number).map(Key)
    }

    /// Its place.
    pub(crate) const fn index(self) -> usize {
        self.0.get() as u16 as usize
    }

    /// Whether it names the value of this generation at its place of this owner.
    fn is_of(self, owner: u64, generation: u32) -> bool {
        self.0.get() | u64::from(u16::MAX)
            == owner | u64::from(generation) << u16::BITS | u64::from(u16::MAX)
    }
}

/// A place.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    generation: u32,
    taken: bool,
    /// The next free place, if this one is free.
    next: u16,
    /// What is there if it is taken; or what was there last, to be written over.
    value: Option<T>,
}

impl<T> Entry<T> {
    /// A place that never held anything, for arrays of them.
    #[cfg(test)]
    pub(crate) const EMPTY: Entry<T> = Entry::empty();

    /// A place that never held anything, written where it is: a constant is copied with all that a value would take.
    pub(crate) const fn empty() -> Entry<T> {
        Entry {
            generation: 0,
            taken: false,
            next: 0,
            value: None,
        }
    }
}

/// Values in places of the caller's.
#[derive(Debug)]
pub(crate) struct Slab<'s, T> {
    entries: &'s mut [Entry<T>],
    /// What its keys have in common.
    owner: u64,
    used: usize,
    /// The first free place; each leads to the next.
    free: u16,
}

impl<'s, T> Slab<'s, T> {
    /// An empty slab of a device; what the places held is dropped, and no key of it is good any more. Of more than 65,535 places the
    /// first are used.
    pub(crate) fn new(entries: &'s mut [Entry<T>], device: DeviceNumber) -> Slab<'s, T> {
        let used = entries.len().min(usize::from(u16::MAX));
        let (entries, _) = entries.split_at_mut_checked(used).unwrap_or_default();
        for (entry, next) in entries.iter_mut().zip(1..=u16::MAX) {
            entry.value = None;
            entry.taken = false;
            entry.next = next;
            entry.generation = entry.generation.wrapping_add(1);
        }
        Slab {
            entries,
            owner: device.owner(),
            used: 0,
            free: 0,
        }
    }

    /// How many values there are.
    pub(crate) const fn len(&self) -> usize {
        self.used
    }

    /// How many there can be.
    pub(crate) const fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// Keeps a value, or gives it back if every place is taken.
    pub(crate) fn insert(&mut self, value: T) -> Result<Key, T> {
        match self.take() {
            Some((key, place)) => {
                *place = Some(value);
                Ok(key)
            }
            None => Err(value),
        }
    }

    /// Keeps the value that `make` makes, which it makes where the value stays. `None` if every place is taken.
    #[inline]
    pub(crate) fn insert_with(&mut self, make: impl FnOnce() -> T) -> Option<Key> {
        let (key, place) = self.take()?;
        *place = Some(make());
        Some(key)
    }

    /// Takes a place with what was there last, or with what `first` makes: a large value is written over, not moved. `None` if
    /// every place is taken.
    #[inline]
    pub(crate) fn reuse(&mut self, first: impl FnOnce() -> T) -> Option<(Key, &mut T)> {
        let (key, place) = self.take()?;
        Some((key, place.get_or_insert_with(first)))
    }

    #[inline]
    fn take(&mut self) -> Option<(Key, &mut Option<T>)> {
        let index = self.free;
        let entry = self.entries.get_mut(usize::from(index))?;
        entry.taken = true;
        self.used = self.used.wrapping_add(1);
        self.free = entry.next;
        let key = Key::new(self.owner, index, entry.generation);
        Some((key, &mut entry.value))
    }

    /// The value that a key names, if it is still there. What is only left in a place has no key: its generation is over.
    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let entry = self.entries.get(key.index())?;
        let value = entry.value.as_ref()?;
        key.is_of(self.owner, entry.generation).then_some(value)
    }

    /// As [`Slab::get`], to be changed.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let entry = self.entries.get_mut(key.index())?;
        let generation = entry.generation;
        let value = entry.value.as_mut()?;
        key.is_of(self.owner, generation).then_some(value)
    }

    /// Takes the value that a key names out; the key is void.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        self.release(key)?.take()
    }

    /// Voids a key; its place is free, and holds the value until it is taken.
    pub(crate) fn release(&mut self, key: Key) -> Option<&mut Option<T>> {
        let entry = self.entries.get_mut(key.index())?;
        if !key.is_of(self.owner, entry.generation) || !entry.taken {
            return None;
        }
        entry.taken = false;
        entry.generation = entry.generation.wrapping_add(1);
        // There are no more places than that.
        entry.next = core::mem::replace(&mut self.free, key.index() as u16);
        self.used = self.used.saturating_sub(1);
        Some(&mut entry.value)
    }

    /// The key of the value at a place.
    pub(crate) fn key_at(&self, index: usize) -> Option<Key> {
        let entry = self.entries.get(index).filter(|entry| entry.taken)?;
        Some(Key::new(self.owner, index as u16, entry.generation))
    }

    /// All values with their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &T)> + Clone {
        let (owner, places) = (self.owner, (0_u16..=u16::MAX).zip(self.entries.iter()));
        places.filter_map(move |(index, entry)| {
            let key = Key::new(owner, index, entry.generation);
            let value = entry.value.as_ref().filter(|_| entry.taken);
            value.map(|value| (key, value))
        })
    }

    /// All values with their keys, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        let (owner, places) = (self.owner, (0_u16..=u16::MAX).zip(self.entries.iter_mut()));
        places.filter_map(move |(index, entry)| {
            let key = Key::new(owner, index, entry.generation);
            let value = entry.value.as_mut().filter(|_| entry.taken);
            value.map(|value| (key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_one_value_ever() {
        let mut places = [const { Entry::EMPTY }; 2];
        let mut slab = Slab::new(&mut places, DeviceNumber::next());
        let a = slab.insert('a').expect("room");
        let b = slab.insert('b').expect("room");
        assert_eq!(slab.insert('c'), Err('c'), "it is full and says so");
        assert_eq!(slab.remove(a), Some('a'));
        let c = slab.insert('c').expect("room");
        assert_eq!(c.index(), a.index());
        assert_eq!(
            (slab.get(a), slab.get(b), slab.get(c)),
            (None, Some(&'b'), Some(&'c'))
        );
        assert_eq!(slab.remove(a), None);
        assert_eq!((slab.len(), slab.capacity()), (2, 2));
        // Given back in any order, every place is found again.
        assert_eq!((slab.remove(b), slab.remove(c)), (Some('b'), Some('c')));
        assert!(slab.insert('d').is_ok() && slab.insert('e').is_ok());
        assert_eq!(slab.insert('f'), Err('f'));
    }

    #[test]
    fn what_is_left_in_a_place_is_written_over_and_never_found() {
        let mut places = [const { Entry::EMPTY }; 1];
        let mut slab = Slab::new(&mut places, DeviceNumber::next());
        let old = slab.insert('a').expect("room");
        assert!(slab.release(old).is_some() && slab.release(old).is_none());
        assert_eq!((slab.get(old), slab.key_at(0), slab.len()), (None, None, 0));
        assert!(slab.iter().next().is_none() && slab.iter_mut().next().is_none());
        let (new, place) = slab.reuse(|| 'b').expect("room");
        assert_eq!(*place, 'a', "it stays until it is written over");
        *place = 'c';
        assert_eq!((slab.get(old), slab.get(new)), (None, Some(&'c')));
    }

    #[test]
    fn keys_of_an_earlier_owner_of_the_storage_are_void() {
        let mut places = [const { Entry::EMPTY }; 1];
        let old = Slab::new(&mut places, DeviceNumber::next())
            .insert(1)
            .expect("room");
        let mut slab = Slab::new(&mut places, DeviceNumber::next());
        assert_eq!(slab.get(old), None);
        assert_eq!(slab.key_at(0), None, "the place is free");
        let new = slab.insert(2).expect("room");
        assert_eq!((slab.get(old), slab.get(new)), (None, Some(&2)));
    }

    #[test]
    fn keys_of_one_device_name_nothing_of_another() {
        let mut places = [const { [const { Entry::EMPTY }; 2] }; 2];
        let [a, b] = &mut places;
        let [mut a, mut b] = [a, b].map(|it| Slab::new(it, DeviceNumber::next()));
        let [of_a, of_b] = [&mut a, &mut b].map(|it| it.insert(it.capacity()).expect("room"));
        assert_ne!(of_a, of_b);
        assert_eq!((of_a.index(), of_b.index()), (0, 0));
        assert_eq!((a.get(of_b), b.get(of_a)), (None, None));
        assert_eq!(a.get_mut(of_b), None);
        assert_eq!(a.remove(of_b), None);
        assert!(a.release(of_b).is_none() && a.get(of_a).is_some());
        assert_eq!(a.get(Key::NONE), None);
        assert_eq!(b.key_at(0), Some(of_b));
        assert!(b.iter().all(|(key, _)| key == of_b));
    }
}
