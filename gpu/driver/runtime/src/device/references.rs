//! References: what an object refers to by tags of its own, and what the commands that are recorded mention.
//!
//! A recording marks what it mentions, so that an object is held once however often it is used.

use super::{Device, Kind, Object};
use crate::error::{Error, Table, Thing};
use crate::links::{Full, List};
use crate::platform::Platform;
use crate::slab::Key;

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Takes what an object refers to out; its own areas go with it.
    pub(crate) fn forget_links(&mut self, key: Key) {
        self.keep_links(key, |_| false);
    }

    /// Takes what an object refers to out, but for its own areas with tags that `keep` says.
    pub(crate) fn keep_links(&mut self, key: Key, keep: impl Fn(u32) -> bool) {
        let Some(object) = self.objects.get_mut(key) else {
            return;
        };
        let mut list = core::mem::replace(&mut object.list, List::EMPTY);
        let mut kept = List::EMPTY;
        while let Some((used, tag)) = self.links.pop(&mut list) {
            let is_area = |object: &Object<'_>| matches!(object.kind, Kind::Area | Kind::Stage(_));
            // Without a tag it is another's: of commands that these call.
            if tag.is_none() || !self.objects.get(used).is_some_and(is_area) {
                continue;
            }
            if tag.is_some_and(&keep) {
                // There is a place: the one that was just left.
                let _ = self.links.push(&mut kept, used, tag);
            } else if let Some(area) = self.take_object(used) {
                // A space that does not obey has cost the device, which says so from now on.
                let _ = self.unmap(Some(area.space), [Some(area.mapping), None, None]);
            }
        }
        if let Some(object) = self.objects.get_mut(key) {
            object.list = kept;
        }
    }

    /// Lets an object refer to another by a tag, in place of what had the tag.
    pub(crate) fn link(&mut self, from: Key, to: Key, tag: u32) -> Result<(), Error> {
        let Some(object) = self.objects.get_mut(from) else {
            return Ok(());
        };
        let put = self.links.put(&mut object.list, to, tag);
        put.map_err(|Full| no_references(self.links.capacity()))
    }

    /// Lets an object refer to another, which it does not do yet.
    pub(crate) fn link_new(&mut self, from: Key, to: Key, tag: Option<u32>) -> Result<(), Error> {
        let Some(object) = self.objects.get_mut(from) else {
            return Ok(());
        };
        let pushed = self.links.push(&mut object.list, to, tag);
        pushed.map_err(|Full| no_references(self.links.capacity()))
    }

    /// Begins a recording: its commands have mentioned nothing yet.
    pub(crate) fn begin_mentions(&mut self) {
        self.recordings = self.recordings.wrapping_add(1);
        if self.recordings == 0 {
            // Once in 2^32 recordings: what another has left is not taken for this one's.
            for (_, object) in self.objects.iter_mut() {
                object.mentioned = 0;
                if let Kind::Set { mentioned, .. } = &mut object.kind {
                    *mentioned = 0;
                }
            }
            self.recordings = 1;
        }
    }

    /// Lets the commands that are being recorded refer to something in their `space`, once however often they mention it; gives
    /// what `take` takes of it.
    ///
    /// # Errors
    /// If it was destroyed, `take` finds it to be something else, it is in another space, or there is no place for the reference.
    /// After an error `take` was not called, or returned `None`.
    #[inline]
    pub(crate) fn mention<T>(
        &mut self,
        (commands, space): (Key, Key),
        key: Key,
        what: Thing,
        take: impl FnOnce(&Object<'d>) -> Option<T>,
    ) -> Result<T, Error> {
        let object = self.objects.get_mut(key).ok_or(Error::Gone { what })?;
        if object.space != space {
            return Err(Error::OtherSpace { what });
        }
        let is_first = object.mentioned != self.recordings;
        // Before anything is taken: the commands must be able to refer to it.
        if is_first && self.links.is_full() {
            return Err(no_references(self.links.capacity()));
        }
        let taken = take(object).ok_or(Error::Gone { what })?;
        if is_first {
            object.mentioned = self.recordings;
            self.link_mentioned(commands, key);
        }
        Ok(taken)
    }

    /// The commands that are being recorded refer to all that is bound to a set.
    pub(crate) fn note_bound_mentioned(&mut self, set: Key) {
        let recording = self.recordings;
        if let Some(object) = self.objects.get_mut(set)
            && let Kind::Set { mentioned, .. } = &mut object.kind
        {
            *mentioned = recording;
        }
    }

    /// The number of this recording, which objects carry that its commands refer to. No other has it.
    pub(crate) const fn recording(&self) -> u32 {
        self.recordings
    }

    /// Counts buffers and images that were destroyed. As long as it is the same, everything that is bound to a set still exists.
    pub(crate) const fn removals(&self) -> u64 {
        self.removals
    }

    /// Lets commands refer to what was marked as mentioned just now.
    #[inline(never)]
    fn link_mentioned(&mut self, commands: Key, key: Key) {
        if let Some(object) = self.objects.get_mut(commands) {
            // There is a place: the caller has asked.
            let _ = self.links.push(&mut object.list, key, None);
        }
    }

    /// Lets the commands that are being recorded refer to all that others refer to.
    pub(crate) fn mention_all(&mut self, commands: Key, others: Key) -> Result<(), Error> {
        let list = self.objects.get(others).map(|object| object.list);
        let mut at = list.unwrap_or(List::EMPTY);
        // A list has no more links than there are.
        for _ in 0..self.links.capacity() {
            let Some((used, _, rest)) = self.links.first(at) else {
                break;
            };
            at = rest;
            let object = self.objects.get(used);
            // Of what was destroyed there is no mark; nothing is held of it, and so nothing of these commands.
            if object.is_none_or(|object| object.mentioned != self.recordings) {
                self.link_new(commands, used, None)?;
                if let Some(object) = self.objects.get_mut(used) {
                    object.mentioned = self.recordings;
                }
            }
        }
        Ok(())
    }
}

/// The error that all of so many references are taken.
#[cold]
const fn no_references(places: usize) -> Error {
    Error::Full {
        table: Table::References,
        places,
    }
}
