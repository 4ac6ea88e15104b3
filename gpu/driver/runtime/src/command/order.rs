//! Order: barriers, and the waits and flushes that they come to.
//!
//! Guarantees: nothing is waited for that was not started since the last wait.
//! Facts: hardware/command-stream.md sections 1.8, 1.10, 6.7 to 6.9.

use super::accesses::Accesses;
use super::recorder::Recorder;
use super::words;
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::Reach;
use eitri_cs::SlotMask;
use eitri_csf::registers::doorbell::FLUSH_ALWAYS;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Orders commands: what those before it do (`before`) comes before what those after it do (`after`), and is seen by them.
    /// Costs nothing where there is nothing to wait for.
    ///
    /// Loads and stores of shaders and of the stream see what others have written when these are done: the load/store cache is
    /// coherent with the L2. Caches that are only read through (textures) are not: they are invalidated before the next dispatch
    /// that samples, if `before` writes and `after` samples. For the host all caches are flushed at this place; without such a
    /// barrier the host does it when it reads.
    ///
    /// # Errors
    /// If there is no memory for more commands.
    pub fn barrier(&mut self, before: Accesses, after: Accesses) -> Result<&mut Self, Error> {
        if after == Accesses::NONE || before == Accesses::NONE {
            return Ok(self);
        }
        self.order_streams(before, after)?;
        if before.any_of(Accesses::OF_JOBS) {
            self.wait_for_jobs()?;
        }
        let copies = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE;
        if before.any_of(copies) {
            if self.running.copies {
                self.wait_for_jobs()?;
            }
            self.wait_for_memory()?;
        }
        let writes = before.any_of(Accesses::WRITES);
        if writes && after.any_of(Accesses::THROUGH_TEXTURES) && self.unflushed {
            self.texels_changed();
        }
        if writes && after.any_of(Accesses::HOST_READ) && self.unflushed {
            self.wait_for_jobs()?;
            self.wait_for_memory()?;
            self.flush(Reach::All)?;
            self.unflushed = false;
        }
        Ok(self)
    }

    /// What is sampled from here on may have been written since texels were fetched into read-only caches: the next dispatch
    /// that samples invalidates them first.
    pub(super) fn texels_changed(&mut self) {
        self.stale_texels = true;
        if self.samples() {
            // It is not to be repeated without that.
            self.made.forget_state();
        }
    }

    /// Invalidates read-only caches if what is sampled may stand there as it was before it was written.
    pub(super) fn refresh_texels(&mut self) -> Result<(), Error> {
        if self.stale_texels {
            self.flush(Reach::ReadOnly)
        } else {
            Ok(())
        }
    }

    /// Waits for jobs, if some may run.
    pub(crate) fn wait_for_jobs(&mut self) -> Result<(), Error> {
        if self.running.jobs {
            let wait = self.words()?.wait_jobs;
            self.put(wait)?;
            self.running.jobs = false;
            self.running.storage = false;
            self.running.copies = false;
        }
        Ok(())
    }

    /// Waits for loads and stores of the stream, and for what was deferred.
    pub(crate) fn wait_for_memory(&mut self) -> Result<(), Error> {
        self.wait_for_signals()?;
        if self.running.memory {
            let wait = self.words()?.wait_others;
            self.put(wait)?;
            self.running.memory = false;
        }
        Ok(())
    }

    /// Waits for what was deferred.
    pub(super) fn wait_for_signals(&mut self) -> Result<(), Error> {
        if self.running.signals {
            let wait = self.words()?.wait_states;
            self.put(wait)?;
            self.running.signals = false;
        }
        Ok(())
    }

    /// The slots on which something may be counted that came before, deferred operations aside.
    pub(super) fn busy(&self) -> SlotMask {
        if self.running.jobs || self.running.memory {
            // Always the same: operations that wait for the same slots are done in order (hardware/command-stream.md 1.8).
            words::JOBS.mask() | words::OTHERS.mask()
        } else {
            SlotMask::NONE
        }
    }

    /// Flushes caches, and waits for that.
    pub(crate) fn flush(&mut self, reach: Reach) -> Result<(), Error> {
        let words = self.words()?;
        let all = [
            words.count.with(FLUSH_ALWAYS),
            words.flush(reach),
            words.wait_others,
        ];
        self.partial |= reach != Reach::All;
        self.running.memory = false;
        // Each of them invalidates what is only read through.
        self.stale_texels = false;
        self.put_together(all)
    }
}
