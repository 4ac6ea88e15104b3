//! Caches: what the GPU's may hold of objects, so that they are flushed when that matters and not with every job.
//!
//! The host knows which object a job has used. Where it is about to read or write what caches may hold lines of, it flushes them
//! first: a line that a job has written would hide from the host that reads, and come down on top of what the host writes. So a
//! job whose buffers nobody looks at flushes nothing, and of many buffers the first one that is looked at pays for all.
//!
//! What the host writes while a job in flight uses it may be fetched too early: then the jobs that follow begin with a flush.
//! Flush ids tell those apart from the first, which does it: the hardware skips those whose id is older than its last flush.
//! Facts: hardware/command-stream.md 1.10 and 3.7 (FLUSH_CACHE2), csf-mmio.md 6 and 13, csf-scheduling.md 4.

use super::{Device, DeviceLost, Object};
use crate::access::RegisterAccess;
use crate::error::{Error, Thing};
use crate::gpu::caches::flush;
use crate::mmu::MmuError;
use crate::platform::Platform;
use crate::queue::{Begin, CacheUse, JobFlush, Reach};
use crate::slab::Key;
use crate::vm::VmError;
use core::ops::Range;
use eitri_csf::command::CacheFlush;
use eitri_csf::registers::doorbell::{FLUSH_ALWAYS, LATEST_FLUSH};

/// A flush that the next job begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    flush: JobFlush,
    /// When the host wrote last.
    stamp: u64,
}

/// What is known of the GPU's caches. Stamps grow with whatever happens: a job ends, the host writes, caches are flushed.
#[derive(Debug)]
pub(crate) struct Caches {
    stamp: u64,
    /// All caches were flushed then.
    flushed: u64,
    /// The caches of the shader cores were.
    refreshed: u64,
    /// Those of them that are only read through were invalidated.
    invalidated: u64,
    /// A job that may have written texels of images ended last.
    texels_written: u64,
    /// Jobs in flight that may write texels of images.
    texel_writers: u32,
    pending: Option<Pending>,
    /// Jobs in flight that flush some caches only.
    partial: u32,
}

impl Caches {
    /// Those of a GPU that has just got its power: empty.
    pub(crate) const fn new() -> Caches {
        Caches {
            stamp: 0,
            flushed: 0,
            refreshed: 0,
            invalidated: 0,
            texels_written: 0,
            texel_writers: 0,
            pending: None,
            partial: 0,
        }
    }

    const fn next(&mut self) -> u64 {
        self.stamp = self.stamp.wrapping_add(1);
        self.stamp
    }

    /// A job ends that left lines of what it used: since when they are there.
    pub(super) const fn left(&mut self) -> u64 {
        self.next()
    }

    /// The flush to put before the next job, given the flushes that the job does itself.
    // FACT: whether a flush of some caches moves LATEST_FLUSH is not published (hardware/csf-mmio.md 13 says "the last cache
    // flush performed"); if it does, an id must not be trusted while one may happen, so it is dropped then. Settled by
    // LATEST_FLUSH before and after a FLUSH_CACHE2 that only invalidates, on any board.
    #[inline]
    pub(super) fn begin(&mut self, uses: CacheUse) -> Begin {
        if self.pending.is_none() && !uses.concerns_others() {
            return Begin::NOTHING;
        }
        self.begin_with(uses)
    }

    #[inline(never)]
    fn begin_with(&mut self, uses: CacheUse) -> Begin {
        if let Some(pending) = &mut self.pending
            && (uses.partial || self.partial > 0)
        {
            pending.flush.id = FLUSH_ALWAYS;
        }
        let mut begin = self.pending.map_or(Begin::NOTHING, |pending| Begin {
            reach: Some(pending.flush.reach),
            id: pending.flush.id,
            stamp: pending.stamp,
        });
        if uses.samples && self.texels_may_be_stale() {
            if begin.reach.is_none() {
                begin.stamp = self.next();
            }
            begin.reach = begin.reach.max(Some(Reach::ReadOnly));
            // Jobs have written since the host did: an id of that time says nothing of them.
            begin.id = FLUSH_ALWAYS;
        }
        if is_partial(uses, begin) {
            self.partial = self.partial.saturating_add(1);
        }
        self.texel_writers = self.texel_writers.saturating_add(uses.writes_texels.into());
        begin
    }

    /// Whether read-only caches may hold texels as they were before a job wrote them: one that is in flight, or that has ended
    /// since these caches were invalidated.
    const fn texels_may_be_stale(&self) -> bool {
        self.texel_writers > 0 || self.texels_written > self.invalidated
    }

    /// A job is over that began so. `done`: it has run, so that what it began with has happened to all that was there at the
    /// stamp.
    #[inline]
    pub(super) fn end(&mut self, uses: CacheUse, begin: Begin, done: bool) {
        if begin.reach.is_some() || uses.concerns_others() {
            self.end_with(uses, begin, done);
        }
    }

    #[inline(never)]
    fn end_with(&mut self, uses: CacheUse, begin: Begin, done: bool) {
        let Begin { reach, stamp, .. } = begin;
        if is_partial(uses, begin) {
            self.partial = self.partial.saturating_sub(1);
        }
        if uses.writes_texels {
            self.texel_writers = self.texel_writers.saturating_sub(1);
            self.texels_written = self.next();
        }
        if let (Some(reach), true) = (reach, done) {
            self.invalidated = self.invalidated.max(stamp);
            if reach >= Reach::Cores {
                self.refreshed = self.refreshed.max(stamp);
            }
            if reach == Reach::All {
                self.flushed = self.flushed.max(stamp);
            }
            if self
                .pending
                .is_some_and(|it| it.stamp <= stamp && it.flush.reach <= reach)
            {
                self.pending = None;
            }
        }
    }

    /// All caches are empty.
    const fn emptied(&mut self) {
        let now = self.next();
        self.flushed = now;
        self.refreshed = now;
        self.invalidated = now;
        self.pending = None;
    }
}

/// Whether a job flushes some caches only, by itself or at its beginning.
fn is_partial(uses: CacheUse, begin: Begin) -> bool {
    uses.partial || begin.reach.is_some_and(|reach| reach < Reach::All)
}

impl<P: Platform> Device<'_, '_, P> {
    /// The host has written to an object, and cleaned what it wrote: if the GPU may hold older lines, the next job begins with a
    /// flush.
    pub(crate) fn host_wrote(&mut self, key: Key) {
        let Ok(object) = self.refreshed(key, Thing::Buffer) else {
            return;
        };
        // Memory that the L2 does not cache may still be in the caches of the cores.
        let (used, touched, uncached) = (object.uses > 0, object.touched, object.uncached);
        let (reach, since) = if uncached {
            (Reach::Cores, self.caches.refreshed)
        } else {
            (Reach::All, self.caches.flushed)
        };
        if used || touched > since {
            self.flush_first(reach);
        }
    }

    /// Lets the next job begin with a flush.
    pub(super) fn flush_first(&mut self, reach: Reach) {
        let kept = self.caches.pending.map(|pending| pending.flush.reach);
        let reach = kept.map_or(reach, |kept| kept.max(reach));
        let id = match reach {
            Reach::All if self.caches.partial == 0 && self.is_running() => {
                // The id is read when what was written is in memory.
                self.hw.platform.publish();
                self.hw.platform.read_word(LATEST_FLUSH)
            }
            _ => FLUSH_ALWAYS,
        };
        let stamp = self.caches.next();
        let flush = JobFlush { reach, id };
        self.caches.pending = Some(Pending { flush, stamp });
    }

    /// Lets the host see what jobs have written to a part of an object.
    ///
    /// # Errors
    /// If the caches are not flushed in time, which costs the device; or if the GPU was reset before they were, and what jobs
    /// wrote there is lost.
    pub(crate) fn host_reads(
        &mut self,
        key: Key,
        what: Thing,
        part: &Range<u64>,
    ) -> Result<(), Error> {
        self.object(key, what)?;
        self.wait_for_mmu();
        let object = self.refreshed(key, what)?;
        if object.lost.overlaps(part) {
            Err(Error::ContentsLost { what })
        } else if object.uses > 0 && !object.uncached {
            // A job in flight may have signalled that what it wrote is to be read.
            self.empty_caches()
        } else {
            self.empty_caches_of(key, what)
        }
    }

    /// The host is about to write to a part of an object: nothing that a job has written there before comes on top of it.
    ///
    /// # Errors
    /// If the caches are not flushed in time, which costs the device.
    pub(crate) fn host_writes(
        &mut self,
        key: Key,
        what: Thing,
        part: &Range<u64>,
    ) -> Result<(), Error> {
        self.object(key, what)?;
        self.wait_for_mmu();
        self.empty_caches_of(key, what)?;
        if let Some(object) = self.objects.get_mut(key) {
            object.lost.restore(part);
        }
        Ok(())
    }

    /// Flushes the caches if they may hold lines of an object. Nothing else is under way: one flush at a time, and none while
    /// the GPU is being stopped, which brings everything to memory.
    fn empty_caches_of(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        let object = self.refreshed(key, what)?;
        let (uncached, touched) = (object.uncached, object.touched);
        if uncached || touched <= self.caches.flushed {
            return Ok(());
        }
        self.empty_caches()
    }

    /// The host is about to let jobs go on that wait for it: what it has written for them is not hidden by older lines, which
    /// another job may have left beside it.
    ///
    /// # Errors
    /// If the caches are not flushed in time, which costs the device.
    pub(crate) fn flush_for_waiters(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        if self.refreshed(key, what)?.uses == 0 || self.caches.pending.is_none() {
            return Ok(());
        }
        self.wait_for_mmu();
        self.empty_caches()
    }

    pub(crate) fn empty_caches(&mut self) -> Result<(), Error> {
        if !self.is_running() {
            return Ok(());
        }
        match flush(&mut self.hw.platform, CacheFlush::ALL) {
            Ok(()) => {
                self.caches.emptied();
                Ok(())
            }
            Err(late) => {
                let error = MmuError::Flush(late);
                self.stop_now(DeviceLost::Mmu(error));
                Err(Error::Vm(VmError::Mmu(error)))
            }
        }
    }

    /// Whether jobs have left what they wrote in the caches.
    pub(super) fn jobs_have_written(&mut self) -> bool {
        self.refresh_uses();
        let flushed = self.caches.flushed;
        let left = |object: &Object<'_>| !object.uncached && object.touched > flushed;
        self.objects.iter().any(|(_, object)| left(object))
    }

    /// Notes what jobs left in the caches as lost, since it can't reach memory before the reset: a read of it fails.
    pub(super) fn forget_written(&mut self) {
        self.refresh_uses();
        let flushed = self.caches.flushed;
        for (_, object) in self.objects.iter_mut() {
            if !object.uncached && object.touched > flushed {
                object.lose_contents();
            }
        }
    }

    /// A reset has emptied them.
    pub(super) fn caches_are_empty(&mut self) {
        self.caches.emptied();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: CacheUse = CacheUse::NONE;
    const ALL: JobFlush = JobFlush {
        reach: Reach::All,
        id: 7,
    };

    fn pending(caches: &mut Caches, flush: JobFlush) {
        let stamp = caches.next();
        caches.pending = Some(Pending { flush, stamp });
    }

    fn flush_of(begin: Begin) -> Option<JobFlush> {
        let reach = begin.reach?;
        Some(JobFlush {
            reach,
            id: begin.id,
        })
    }

    #[test]
    fn a_flush_is_carried_until_a_job_that_carried_it_has_run() {
        let mut caches = Caches::new();
        assert_eq!(caches.begin(NOTHING), Begin::NOTHING);
        pending(&mut caches, ALL);
        let first = caches.begin(NOTHING);
        let second = caches.begin(NOTHING);
        let carried = [first, second].map(flush_of);
        assert_eq!(carried, [Some(ALL), Some(ALL)]);
        caches.end(NOTHING, first, false);
        let next = flush_of(caches.begin(NOTHING));
        assert_eq!(next, Some(ALL), "it was cancelled");
        caches.end(NOTHING, second, true);
        assert_eq!(caches.begin(NOTHING), Begin::NOTHING);
        let stamp = first.stamp;
        assert_eq!((caches.flushed, caches.refreshed), (stamp, stamp));
    }

    #[test]
    fn what_was_written_after_a_job_is_not_flushed_by_it() {
        let mut caches = Caches::new();
        pending(&mut caches, ALL);
        let begin = caches.begin(NOTHING);
        let later = JobFlush { id: 8, ..ALL };
        pending(&mut caches, later);
        caches.end(NOTHING, begin, true);
        assert_eq!(flush_of(caches.begin(NOTHING)), Some(later));
    }

    #[test]
    fn an_id_is_not_trusted_beside_a_flush_of_some_caches() {
        let partial = CacheUse {
            partial: true,
            ..NOTHING
        };
        let mut caches = Caches::new();
        let nothing = caches.begin(partial);
        pending(&mut caches, ALL);
        let always = JobFlush {
            id: FLUSH_ALWAYS,
            ..ALL
        };
        assert_eq!(flush_of(caches.begin(NOTHING)), Some(always));
        caches.end(partial, nothing, true);
        assert_eq!(caches.partial, 0);
        let light = JobFlush {
            reach: Reach::Cores,
            id: FLUSH_ALWAYS,
        };
        caches.emptied();
        pending(&mut caches, light);
        let begin = caches.begin(NOTHING);
        assert_eq!((flush_of(begin), caches.partial), (Some(light), 1));
        caches.end(NOTHING, begin, true);
        assert_eq!(caches.partial, 0);
        assert!(caches.refreshed > caches.flushed);
    }

    const SAMPLES: CacheUse = CacheUse {
        samples: true,
        ..NOTHING
    };
    const WRITES: CacheUse = CacheUse {
        writes_texels: true,
        ..NOTHING
    };

    fn reach_of(caches: &mut Caches, uses: CacheUse) -> Option<Reach> {
        let begin = caches.begin(uses);
        caches.end(uses, begin, true);
        begin.reach
    }

    #[test]
    fn a_job_that_samples_what_another_has_written_invalidates_first() {
        let mut caches = Caches::new();
        assert_eq!(reach_of(&mut caches, SAMPLES), None, "nothing was written");
        assert_eq!(reach_of(&mut caches, WRITES), None);
        assert_eq!(reach_of(&mut caches, NOTHING), None, "it samples nothing");
        let failed = caches.begin(SAMPLES);
        assert_eq!(failed.reach, Some(Reach::ReadOnly));
        caches.end(SAMPLES, failed, false);
        let first = reach_of(&mut caches, SAMPLES);
        assert_eq!(first, Some(Reach::ReadOnly), "the last one has not run");
        assert_eq!(reach_of(&mut caches, SAMPLES), None, "it is done");
        assert_eq!((caches.partial, caches.texel_writers), (0, 0));
        assert_eq!(reach_of(&mut caches, WRITES), None);
        caches.emptied();
        assert_eq!(reach_of(&mut caches, SAMPLES), None, "a flush of all");
    }

    #[test]
    fn a_writer_in_flight_is_behind_no_invalidation() {
        let mut caches = Caches::new();
        let writer = caches.begin(WRITES);
        for round in 0..2 {
            let reach = reach_of(&mut caches, SAMPLES);
            assert_eq!(reach, Some(Reach::ReadOnly), "round {round}");
        }
        caches.emptied();
        caches.end(WRITES, writer, true);
        let reach = reach_of(&mut caches, SAMPLES);
        assert_eq!(reach, Some(Reach::ReadOnly), "it wrote after that");
        assert_eq!(reach_of(&mut caches, SAMPLES), None);
    }

    /// The hardware skips a flush whose id is older than its last one; what a job wrote since is not seen to by that.
    #[test]
    fn an_id_of_the_hosts_last_write_says_nothing_of_what_jobs_wrote() {
        let mut caches = Caches::new();
        pending(&mut caches, ALL);
        let writer = caches.begin(WRITES);
        assert_eq!(flush_of(writer), Some(ALL));
        let always = JobFlush {
            id: FLUSH_ALWAYS,
            ..ALL
        };
        assert_eq!(flush_of(caches.begin(SAMPLES)), Some(always));
        assert_eq!(flush_of(caches.begin(NOTHING)), Some(ALL));
    }
}
