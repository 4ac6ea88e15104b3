//! Links: which objects refer to which, in storage of the caller's: lists that share one array.
//!
//! A command buffer refers to its pipelines, sets and areas; a set to what is bound to it.

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
    /// Where the search for a free place begins.
    free: u16,
}

impl<'s> Links<'s> {
    /// No references yet. Of more than 65,535 places the first are used.
    pub(crate) fn new(links: &'s mut [Link]) -> Links<'s> {
        links.fill(Link::EMPTY);
        Links { links, free: 0 }
    }

    /// How many references there can be.
    pub(crate) const fn capacity(&self) -> usize {
        self.links.len()
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

    /// What a list refers to by a tag.
    pub(crate) fn tagged(&self, list: List, tag: u32) -> Option<Key> {
        let mut all = self.of(list);
        all.find(|(_, it)| *it == Some(tag)).map(|(to, _)| to)
    }

    /// Lets a list refer to `to`: by a tag, in place of what had it, or once without one.
    pub(crate) fn add(&mut self, list: &mut List, to: Key, tag: Option<u32>) -> Result<(), Full> {
        let mut at = list.0;
        while let Some(link) = self.links.get_mut(usize::from(at)) {
            match tag {
                Some(_) if link.tag == tag => {
                    link.to = Some(to);
                    return Ok(());
                }
                None if link.to == Some(to) => return Ok(()),
                _ => at = link.next,
            }
        }
        let free = |links: &[Link], first: u16, last: u16| {
            let mut places = first..last;
            places.find(|place| {
                let link = links.get(usize::from(*place));
                link.is_some_and(|link| link.to.is_none())
            })
        };
        let end = u16::try_from(self.links.len()).unwrap_or(NONE);
        let place = free(self.links, self.free, end).or_else(|| free(self.links, 0, self.free));
        let place = place.ok_or(Full)?;
        let link = self.links.get_mut(usize::from(place)).ok_or(Full)?;
        self.free = place.saturating_add(1);
        *link = Link {
            to: Some(to),
            tag,
            next: list.0,
        };
        *list = List(place);
        Ok(())
    }

    /// Lets a list refer, without tags, to all that another refers to.
    pub(crate) fn add_all(&mut self, list: &mut List, other: List) -> Result<(), Full> {
        let mut at = other.0;
        while let Some(link) = self.links.get(usize::from(at)) {
            let (to, next) = (link.to, link.next);
            if let Some(to) = to {
                self.add(list, to, None)?;
            }
            at = next;
        }
        Ok(())
    }

    /// Takes the first reference of a list out, with its tag.
    pub(crate) fn pop(&mut self, list: &mut List) -> Option<(Key, Option<u32>)> {
        let place = list.0;
        let link = self.links.get_mut(usize::from(place))?;
        *list = List(link.next);
        self.free = place;
        let link = core::mem::replace(link, Link::EMPTY);
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
        for key in [keys[0], keys[1], keys[0]] {
            links.add(&mut a, key, None).expect("room");
        }
        links.add(&mut b, keys[0], Some(7)).expect("room");
        links.add(&mut b, keys[2], Some(7)).expect("it replaces");
        assert_eq!(links.of(a).count(), 2, "once each");
        assert_eq!(links.of(b).collect::<Vec<_>>(), [(keys[2], Some(7))]);
        assert_eq!(
            (links.tagged(b, 7), links.tagged(b, 8)),
            (Some(keys[2]), None)
        );
        links.add(&mut b, keys[2], Some(8)).expect("room");
        assert_eq!(links.add(&mut b, keys[2], Some(9)), Err(Full));
        while links.pop(&mut a).is_some() {}
        assert_eq!(links.add(&mut b, keys[2], Some(9)), Ok(()));
        assert_eq!((links.of(a).count(), links.of(b).count()), (0, 3));
    }
}
