//! Uses: which objects jobs in flight use.
//!
//! Commands hold what they refer to: from their first submission on it is counted as used, and it stays so when their jobs are
//! over, until somebody asks for an object that is held. Then whatever only idle commands hold is let go
//! ([`Device::refresh_uses`]). So submitting commands again costs one count, however much they use, and a job's end another.

use super::{Device, Kind, Object};
use crate::error::{Error, Thing};
use crate::handle::{Fence, Queue};
use crate::links::{Links, List};
use crate::platform::Platform;
use crate::queue::{Ended, Reach, SubQueue};
use crate::slab::{Key, Slab};

/// Does something with everything that jobs of `commands` use, themselves included.
fn for_each_used<'d>(
    objects: &mut Slab<'_, Object<'d>>,
    links: &Links<'_>,
    commands: Key,
    mut action: impl FnMut(Key, Option<&mut Object<'d>>),
) {
    let mut act = |key| {
        let mut object = objects.get_mut(key);
        action(key, object.as_deref_mut());
        let kept = object.map(|object| (object.list, matches!(object.kind, Kind::Set { .. })));
        kept.unwrap_or((List::EMPTY, false))
    };
    let (list, _) = act(commands);
    for used in links.keys(list) {
        if let (bound, true) = act(used) {
            for bound in links.keys(bound) {
                act(bound);
            }
        }
    }
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Fails if a job in flight uses an object.
    pub(crate) fn unused(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        if self.refreshed(key, what)?.uses == 0 {
            return Ok(());
        }
        match self.user_of(key, |_| false) {
            Some(by) => Err(Error::InUse { what, by }),
            None => Ok(()),
        }
    }

    /// A job in flight that uses an object, none of those that are left out.
    fn user_of(&mut self, key: Key, but: impl Fn(Fence) -> bool) -> Option<Fence> {
        for index in 0..self.jobs.capacity() {
            let job = self.jobs.key_at(index).and_then(|job| self.jobs.get(job));
            let Some(job) = job else { continue };
            let (fence, commands) = (job.fence, job.commands);
            if but(fence) {
                continue;
            }
            let points = job.points.and_then(|points| self.points.get(points));
            let mut points = points.into_iter().flat_map(|points| points.all());
            let mut found = points.any(|point| point.semaphore == key);
            if let Some(commands) = commands {
                for_each_used(&mut self.objects, &self.links, commands, |used, _| {
                    found |= used == key;
                });
            }
            if found {
                return Some(fence);
            }
        }
        None
    }

    /// Fails if commands with memory of their own can't run beside the jobs in flight of other streams.
    pub(crate) fn check_exclusive(
        &mut self,
        commands: Key,
        queue: Queue,
        sub_queue: SubQueue,
    ) -> Result<(), Error> {
        let own = |fence: Fence| (fence.queue, fence.sub_queue) == (queue, sub_queue);
        self.check_exclusive_but(commands, own)
    }

    /// The same beside all jobs but some.
    pub(super) fn check_exclusive_but(
        &mut self,
        commands: Key,
        but: impl Fn(Fence) -> bool,
    ) -> Result<(), Error> {
        self.refresh_uses();
        let mut busy = None;
        for_each_used(&mut self.objects, &self.links, commands, |key, object| {
            if let Some(object) = object
                && object.uses > 0
                && let Kind::Commands(it) = &object.kind
                && it.recorded.is_some_and(|recorded| recorded.exclusive)
            {
                busy = Some(key);
            }
        });
        match busy.and_then(|key| self.user_of(key, but)) {
            Some(by) => Err(Error::InUse {
                what: Thing::CommandBuffer,
                by,
            }),
            None => Ok(()),
        }
    }

    /// The object as it is now: what [`Self::refresh_uses`] may change of it has changed.
    pub(super) fn refreshed(&mut self, key: Key, what: Thing) -> Result<&Object<'d>, Error> {
        if self.object(key, what)?.uses > 0 {
            self.refresh_uses();
        }
        self.object(key, what)
    }

    /// Lets commands hold what they use, which is not destroyed or changed then.
    ///
    /// # Errors
    /// If something of it was destroyed: nothing is held then.
    #[cold]
    pub(super) fn hold(&mut self, commands: Key) -> Result<(), Error> {
        let mut missing = false;
        for_each_used(
            &mut self.objects,
            &self.links,
            commands,
            |_, object| match object {
                Some(object) => object.uses = object.uses.saturating_add(1),
                None => missing = true,
            },
        );
        if missing {
            self.note_uses(commands, None, true);
            return Err(Error::NotRecorded);
        }
        let next = self.holders;
        if let Some(it) = self.commands_mut(commands) {
            it.held = true;
            it.next = next;
            self.holders = Some(commands);
        }
        Ok(())
    }

    /// Lets what only idle commands hold go, and notes what jobs that are over have left in the GPU's caches.
    #[cold]
    pub(super) fn refresh_uses(&mut self) {
        let mut next = self.holders.take();
        // There are no more holders than objects.
        for _ in 0..self.objects.capacity() {
            let Some(commands) = next else { break };
            let kept = self.holders;
            let Some(it) = self.commands_mut(commands) else {
                break;
            };
            let (left, idle) = (it.left.take(), it.jobs == 0);
            (next, it.next) = (it.next, kept);
            it.held = !idle;
            if !idle {
                self.holders = Some(commands);
            }
            if idle || left.is_some() {
                self.note_uses(commands, left, idle);
            }
        }
    }

    /// Notes for what commands use since when lines of it are in the GPU's caches; and, if they are `idle`, that they use it no
    /// more.
    fn note_uses(&mut self, commands: Key, left: Option<u64>, idle: bool) {
        let (left, fewer) = (left.unwrap_or(0), u32::from(idle));
        for_each_used(&mut self.objects, &self.links, commands, |_, object| {
            if let Some(object) = object {
                object.uses = object.uses.saturating_sub(fewer);
                object.touched = object.touched.max(left);
            }
        });
    }

    /// A job of a group is over.
    pub(super) fn count_end(&mut self, group: Key, ended: Ended) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.file(group);
        self.caches.end(ended.uses, ended.begin, ended.ran);
        if let Some(points) = ended.points {
            self.end_points(points);
        }
        let left = self.caches.left();
        let Some(commands) = ended.commands else {
            // It may have used anything in its space; what the host wrote meanwhile it may have seen before.
            let space = self.groups.get(group).map(|group| group.space);
            for (_, object) in self.objects.iter_mut() {
                if Some(object.space) == space {
                    object.touched = left;
                }
            }
            self.flush_first(Reach::All);
            return;
        };
        let clean = ended.uses.clean && ended.well;
        if let Some(it) = self.commands_mut(commands) {
            it.jobs = it.jobs.saturating_sub(1);
            if !clean {
                it.left = Some(left);
            }
        }
    }
}
