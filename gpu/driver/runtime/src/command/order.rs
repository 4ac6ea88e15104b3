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
    /// Shaders and copies see what shaders and copies have written when these are done: their caches are coherent with the L2.
    /// For the host all caches are flushed at this place; without such a barrier the host does it when it reads.
    ///
    /// # Errors
    /// If there is no memory for more commands.
    pub fn barrier(&mut self, before: Accesses, after: Accesses) -> Result<&mut Self, Error> {
        if after == Accesses::NONE || before == Accesses::NONE {
            return Ok(self);
        }
        if before.any_of(Accesses::SHADER_READ | Accesses::SHADER_WRITE) {
            self.wait_for_jobs()?;
        }
        let copies = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE;
        if before.any_of(copies) {
            self.wait_for_memory()?;
        }
        let writes = Accesses::SHADER_WRITE | Accesses::TRANSFER_WRITE;
        if before.any_of(writes) && after.any_of(Accesses::HOST_READ) && self.unflushed {
            self.wait_for_jobs()?;
            self.wait_for_memory()?;
            self.flush(Reach::All)?;
            self.unflushed = false;
        }
        Ok(self)
    }

    /// Waits for jobs, if some may run.
    pub(super) fn wait_for_jobs(&mut self) -> Result<(), Error> {
        if self.running.jobs {
            let wait = self.words()?.wait_jobs;
            self.put(wait)?;
            self.running.jobs = false;
            self.running.storage = false;
        }
        Ok(())
    }

    /// Waits for loads and stores of the stream, and for what was deferred.
    pub(super) fn wait_for_memory(&mut self) -> Result<(), Error> {
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
        match self.running.jobs || self.running.memory {
            // Always the same: operations that wait for the same slots are done in order (hardware/command-stream.md 1.8).
            true => words::JOBS.mask() | words::OTHERS.mask(),
            false => SlotMask::NONE,
        }
    }

    /// Flushes caches, and waits for that.
    pub(super) fn flush(&mut self, reach: Reach) -> Result<(), Error> {
        let words = self.words()?;
        let all = [
            words.count.with(FLUSH_ALWAYS),
            words.flush(reach),
            words.wait_others,
        ];
        self.partial |= reach == Reach::Cores;
        self.running.memory = false;
        self.put_together(&all)
    }
}
