//! Links: which objects refer to which, in storage of the caller's: lists that share one array.
//!
//! A command buffer refers to its pipelines, sets and areas; a set to what is bound to it. Free places are a list, too: taking one
//! and giving one back costs the same however many there are.

use crate::slab::Key;

/// The place that there is not.
const NONE: u16 = u16::MAX;

/// One reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    to: Option<Key>,
    tag: Option<u32>,
    next: u16,
}

impl Link {
    pub(crate) const EMPTY: Link = Link {
        to: None,
        tag: None,
        next: NONE,
    };
}

/// What one object refers to: where its list begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List(u16);

impl List {
    /// Nothing.
    pub(crate) const EMPTY: List = List(NONE);
}

/// Every place is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The references of all objects.
#[derive(Debug)]
pub(crate) struct Links<'s> {
    links: &'s mut [Link],
    /// The first free place; each leads to the next.
    free: u16,
}

impl<'s> Links<'s> {
    /// No references yet. Of more than 65,535 places the first are used.
    pub(crate) fn new(links: &'s mut [Link]) -> Links<'s> {
        for (link, next) in links.iter_mut().zip(1..=NONE) {
            *link = Link {
                next,
                ..Link::EMPTY
            };
        }
        Links { links, free: 0 }
    }

    /// How many references there can be.
    pub(crate) const fn capacity(&self) -> usize {
        self.links.len()
    }

    /// Whether there is no place for another reference.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.free as usize >= self.links.len()
    }

    /// What a list refers to, with the tags.
    pub(crate) fn of(&self, list: List) -> impl Iterator<Item = (Key, Option<u32>)> + Clone {
        let mut at = list.0;
        let next = move || {
            let link = self.links.get(usize::from(at))?;
            at = link.next;
            link.to.map(|to| (to, link.tag))
        };
        // A list has no more links than there are.
        core::iter::from_fn(next).take(self.links.len())
    }

    /// What a list refers to.
    pub(crate) fn keys(&self, list: List) -> impl Iterator<Item = Key> + Clone {
        let mut at = list.0;
        let next = move || {
            let link = self.links.get(usize::from(at))?;
            at = link.next;
            link.to
        };
        // A list has no more links than there are.
        core::iter::from_fn(next).take(self.links.len())
    }

    /// The first reference of a list with its tag, and the list behind it.
    pub(crate) fn first(&self, list: List) -> Option<(Key, Option<u32>, List)> {
        let link = self.links.get(usize::from(list.0))?;
        Some((link.to?, link.tag, List(link.next)))
    }

    /// What a list refers to by a tag.
    pub(crate) fn tagged(&self, list: List, tag: u32) -> Option<Key> {
        let mut all = self.of(list);
        all.find(|(_, it)| *it == Some(tag)).map(|(to, _)| to)
    }

    /// Lets a list refer to `to` by a tag, in place of what had it. Costs a look at each reference of the list.
    pub(crate) fn put(&mut self, list: &mut List, to: Key, tag: u32) -> Result<(), Full> {
        let mut at = list.0;
        while let Some(link) = self.links.get_mut(usize::from(at)) {
            if link.tag == Some(tag) {
                link.to = Some(to);
                return Ok(());
            }
            at = link.next;
        }
        self.push(list, to, Some(tag))
    }

    /// Lets a list refer to `to`, which nothing of it does yet: the reference becomes its first one.
    #[inline]
    pub(crate) fn push(&mut self, list: &mut List, to: Key, tag: Option<u32>) -> Result<(), Full> {
        let place = self.free;
        let link = self.links.get_mut(usize::from(place)).ok_or(Full)?;
        self.free = link.next;
        *link = Link {
            to: Some(to),
            tag,
            next: list.0,
        };
        *list = List(place);
        Ok(())
    }

    /// Takes the first reference of a list out, with its tag.
    pub(crate) fn pop(&mut self, list: &mut List) -> Option<(Key, Option<u32>)> {
        let place = list.0;
        let link = self.links.get_mut(usize::from(place))?;
        *list = List(link.next);
        let free = Link {
            next: self.free,
            ..Link::EMPTY
        };
        self.free = place;
        let link = core::mem::replace(link, free);
        Some((link.to?, link.tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slab::{Entry, Slab};
    use std::vec::Vec;

    #[test]
    fn lists_share_the_places_and_give_them_back() {
        let mut places = [const { Entry::EMPTY }; 3];
        let mut slab = Slab::new(&mut places, crate::slab::DeviceNumber::next());
        let keys: Vec<Key> = (0..3).map(|it| slab.insert(it).expect("room")).collect();
        let mut array = [Link::EMPTY; 4];
        let mut links = Links::new(&mut array);
        let (mut a, mut b) = (List::EMPTY, List::EMPTY);
        for key in [keys[0], keys[1]] {
            links.push(&mut a, key, None).expect("room");
        }
        links.put(&mut b, keys[0], 7).expect("room");
        links.put(&mut b, keys[2], 7).expect("it replaces");
        assert_eq!(links.of(a).count(), 2);
        assert_eq!(links.of(b).collect::<Vec<_>>(), [(keys[2], Some(7))]);
        assert_eq!(
            (links.tagged(b, 7), links.tagged(b, 8)),
            (Some(keys[2]), None)
        );
        links.put(&mut b, keys[2], 8).expect("room");
        assert_eq!(links.put(&mut b, keys[2], 9), Err(Full));
        while links.pop(&mut a).is_some() {}
        assert_eq!(links.put(&mut b, keys[2], 9), Ok(()));
        assert_eq!((links.of(a).count(), links.of(b).count()), (0, 3));
    }

    /// Whatever is taken and given back in whatever order: each place is in one list, and all are found again.
    #[test]
    fn no_place_is_lost_or_given_twice() {
        let mut places = [const { Entry::EMPTY }; 1];
        let key = Slab::new(&mut places, crate::slab::DeviceNumber::next())
            .insert(0)
            .expect("room");
        let mut array = [Link::EMPTY; 9];
        let mut links = Links::new(&mut array);
        let mut lists = [List::EMPTY; 3];
        let mut counts = [0_usize; 3];
        let mut random = 7_u64;
        for round in 0..3000_u32 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let which = (random >> 33) as usize % 3;
            if random >> 62 & 1 == 0 {
                let full = counts.iter().sum::<usize>() == 9;
                let pushed = links.push(&mut lists[which], key, Some(round));
                assert_eq!(pushed.is_err(), full, "round {round}");
                counts[which] += usize::from(!full);
            } else {
                let popped = links.pop(&mut lists[which]).is_some();
                assert_eq!(popped, counts[which] > 0, "round {round}");
                counts[which] -= usize::from(popped);
            }
            let found = lists.map(|list| links.of(list).count());
            assert_eq!(found, counts, "round {round}");
        }
    }
}
