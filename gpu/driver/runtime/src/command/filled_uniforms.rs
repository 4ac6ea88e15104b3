//! Uniforms that the stream fills in: words of buffers, as they are when it gets there.
//!
//! EncodedInstructions that stand side by side in both are moved together.
//! Guarantees: what a program reads is in memory before its job starts, and not in a cache as it was before.
//! Facts: hardware/command-stream.md sections 1.6 (loads and stores), 3.2, 6.10.

use super::recorder::{Level, Recorder};
use super::transfer::{LINE_WORDS, LINES};
use super::words;
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::Reach;
use eitri_cs::RegMask;
use eitri_cs::instr::{LoadMultiple, StoreMultiple};
use eitri_program::FauWord;

/// EncodedInstructions that stand side by side in memory and in the uniforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) words: u8,
}

impl Run {
    /// No words.
    pub(crate) const NONE: Run = Run {
        from: 0,
        to: 0,
        words: 0,
    };

    /// One word.
    pub(crate) const fn of(from: u64, to: u64) -> Run {
        Run { from, to, words: 1 }
    }

    /// Takes in a word; false if it does not stand behind those that are there, or these are as many as move at once.
    pub(crate) fn take(&mut self, from: u64, to: u64, most: u8) -> bool {
        let bytes = u64::from(self.words).saturating_mul(4);
        let behind =
            self.from.checked_add(bytes) == Some(from) && self.to.checked_add(bytes) == Some(to);
        let takes = behind && self.words < most;
        self.words = self.words.saturating_add(takes.into());
        takes
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Puts the words of buffers into the uniforms at an address; what is outside of its buffer stays what it is.
    // FACT: through which cache uniforms are read, and whether it keeps memory that the L2 does not cache, is not published
    // (hardware/command-stream.md 1.10). A run before may have left old words there, so the caches of the cores are flushed
    // once before the first words that these commands write; no two of their dispatches have words in one line.
    // Settled by running one recording twice with other words and without that flush, on any board.
    #[inline(never)]
    pub(super) fn copy_buffer_words(&mut self, uniforms: u64) -> Result<(), Error> {
        if !self.filled {
            self.filled = true;
            if self.level != Level::Primary {
                // Jobs of the last call of these commands may still read theirs.
                self.wait_for_jobs()?;
            }
            self.flush(Reach::Cores)?;
        }
        let mut run = Run::NONE;
        let (mut known, mut address, mut bytes) = (None, 0, 0);
        for (word, to) in self.program()?.fau().zip((uniforms..).step_by(4)) {
            let FauWord::BufferWord { slot, offset } = word else {
                continue;
            };
            if known != Some(slot) {
                (address, bytes) = self.buffer(slot)?;
                known = Some(slot);
            }
            let from = address.saturating_add(offset.into());
            if offset / 4 < bytes / 4 && !run.take(from, to, LINE_WORDS) {
                self.copy_run(run)?;
                run = Run::of(from, to);
            }
        }
        self.exclusive = true;
        self.copy_run(run)
    }

    #[inline(never)]
    fn copy_run(&mut self, run: Run) -> Result<(), Error> {
        if run.words == 0 {
            return Ok(());
        }
        let [base_register, _] = LINES;
        let (mask, address) = (RegMask::first(run.words), words::ADDRESS);
        let load = self.check(LoadMultiple {
            base_register,
            mask,
            address,
            offset: 0,
        })?;
        let store = self.check(StoreMultiple {
            base_register,
            mask,
            address,
            offset: 0,
        })?;
        let wait = self.words()?.wait_others;
        for (address, it) in [(run.from, load), (run.to, store)] {
            self.load_wide(|words| words.address, address)?;
            self.put_together([it, wait])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_side_by_side_are_one_run() {
        let mut run = Run::NONE;
        let take = |run: &mut Run, from, to| run.take(from, to, LINE_WORDS);
        assert!(!take(&mut run, 0x1008, 4), "it stands behind nothing");
        run = Run::of(0x1008, 4);
        let elsewhere = [(0x100c, 4, "the uniforms"), (0x1010, 8, "memory")];
        for (from, to, what) in elsewhere {
            assert!(!take(&mut run, from, to), "it stands elsewhere in {what}");
        }
        for word in 1..16 {
            assert!(take(&mut run, 0x1008 + 4 * word, 4 + 4 * word));
        }
        assert_eq!(run.words, LINE_WORDS);
        assert!(!take(&mut run, 0x1048, 68), "no more move at once");
    }
}
