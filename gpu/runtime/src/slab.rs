//! Slab: values in storage of the caller's, named by keys that a later value in the same place does not answer to.
//!
//! Guarantees: a key names one value, ever; what does not fit is given back.  Never: allocates, grows, forgets.

/// Names a value: its place, and which of those that were there in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    index: u16,
    generation: u32,
}

impl Key {
    /// Names nothing: there is no such place.
    pub(crate) const NONE: Key = Key {
        index: u16::MAX,
        generation: 0,
    };

    /// Its place.
    pub(crate) const fn index(self) -> usize {
        self.index as usize
    }
}

/// A place.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Entry<T> {
    /// A place that never held anything.
    pub(crate) const EMPTY: Entry<T> = Entry {
        generation: 0,
        value: None,
    };
}

/// Values in places of the caller's.
#[derive(Debug)]
pub(crate) struct Slab<'s, T> {
    entries: &'s mut [Entry<T>],
    used: usize,
}

impl<'s, T> Slab<'s, T> {
    /// An empty slab; what the places held is dropped, and no key of it is good any more. Of more than 65,536 places the
    /// first are used.
    pub(crate) fn new(entries: &'s mut [Entry<T>]) -> Slab<'s, T> {
        for entry in entries.iter_mut() {
            entry.value = None;
            entry.generation = entry.generation.wrapping_add(1);
        }
        Slab { entries, used: 0 }
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
        let mut places = (0_u16..=u16::MAX).zip(self.entries.iter_mut());
        let Some((index, entry)) = places.find(|(_, entry)| entry.value.is_none()) else {
            return Err(value);
        };
        entry.value = Some(value);
        self.used = self.used.saturating_add(1);
        Ok(Key {
            index,
            generation: entry.generation,
        })
    }

    /// The value that a key names, if it is still there.
    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let entry = self.entries.get(key.index())?;
        let value = entry.value.as_ref()?;
        (entry.generation == key.generation).then_some(value)
    }

    /// As [`Slab::get`], to be changed.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let entry = self.entries.get_mut(key.index())?;
        let generation = entry.generation;
        let value = entry.value.as_mut()?;
        (generation == key.generation).then_some(value)
    }

    /// Takes the value that a key names out; the key is void.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let entry = self.entries.get_mut(key.index())?;
        if entry.generation != key.generation {
            return None;
        }
        let value = entry.value.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.used = self.used.saturating_sub(1);
        Some(value)
    }

    /// The key of the value at a place.
    pub(crate) fn key_at(&self, index: usize) -> Option<Key> {
        let entry = self.entries.get(index)?;
        entry.value.as_ref()?;
        Some(Key {
            index: u16::try_from(index).ok()?,
            generation: entry.generation,
        })
    }

    /// All values with their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &T)> + Clone {
        let places = (0_u16..=u16::MAX).zip(self.entries.iter());
        places.filter_map(|(index, entry)| {
            let key = Key {
                index,
                generation: entry.generation,
            };
            entry.value.as_ref().map(|value| (key, value))
        })
    }

    /// All values with their keys, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        let places = (0_u16..=u16::MAX).zip(self.entries.iter_mut());
        places.filter_map(|(index, entry)| {
            let key = Key {
                index,
                generation: entry.generation,
            };
            entry.value.as_mut().map(|value| (key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_one_value_ever() {
        let mut places = [const { Entry::EMPTY }; 2];
        let mut slab = Slab::new(&mut places);
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
    }

    #[test]
    fn keys_of_an_earlier_owner_of_the_storage_are_void() {
        let mut places = [const { Entry::EMPTY }; 1];
        let old = Slab::new(&mut places).insert(1).expect("room");
        let mut slab = Slab::new(&mut places);
        assert_eq!(slab.get(old), None);
        let new = slab.insert(2).expect("room");
        assert_eq!((slab.get(old), slab.get(new)), (None, Some(&2)));
    }
}
