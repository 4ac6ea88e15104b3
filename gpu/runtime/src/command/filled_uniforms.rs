//! Uniforms that the stream fills in: words of buffers, as they are when it gets there.
//!
//! Words that stand side by side in both are moved together, as many as there are registers for.
//! Guarantees: what a program reads is in memory before its job starts, and not in a cache as it was before.
//! Facts: hardware/command-stream.md sections 1.6 (loads and stores), 3.2, 6.10.

use super::recorder::{Level, Recorder};
use super::transfer::{FROM, LINE_WORDS, LINES, TO, load, store};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::Reach;
use eitri_cs::Reg;
use eitri_program::{DescriptorSlot, FauWord};
use heapless::Vec;

/// Words that stand side by side in a buffer and in the uniforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    slot: DescriptorSlot,
    /// Bytes from the start of the buffer, and of the uniforms.
    from: u32,
    to: u32,
    words: u8,
}

/// Words in registers, on their way to the uniforms.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    register: Reg,
    words: u8,
    to: i16,
}

/// What is on its way: a word a run at least.
type AllLoaded = Vec<Loaded, { 2 * LINE_WORDS as usize }>;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Puts the words of buffers into the uniforms at an address; what is outside of its buffer stays what it is.
    // FACT: through which cache uniforms are read, and whether it keeps memory that the L2 does not cache, is not published
    // (hardware/command-stream.md 1.10). A run before may have left old words there, so the caches of the cores are flushed
    // once behind the first words that these commands write; no two of their dispatches have words in one line.
    // Settled by running one recording twice with other words and without that flush, on any board.
    pub(super) fn copy_buffer_words(&mut self, uniforms: u64) -> Result<(), Error> {
        if !self.filled && self.level != Level::Primary {
            // Jobs of the call before may still read them.
            self.wait_for_jobs()?;
        }
        self.load_pair(TO, uniforms)?;
        let program = *self.program()?;
        let mut free = [LINE_WORDS; LINES.len()];
        let mut loaded = AllLoaded::new();
        for run in runs(program.fau()) {
            let (address, bytes) = self.buffer(run.slot)?;
            let inside = bytes.saturating_sub(run.from) / 4;
            let words = run.words.min(u8::try_from(inside).unwrap_or(u8::MAX));
            if words == 0 {
                continue;
            }
            let line = match free.iter().position(|free| *free >= words) {
                Some(line) => line,
                None => {
                    self.store_loaded(&mut loaded)?;
                    free = [LINE_WORDS; LINES.len()];
                    0
                }
            };
            let (Some(free), Some(base)) = (free.get_mut(line), LINES.get(line)) else {
                continue;
            };
            let number = base
                .number()
                .saturating_add(LINE_WORDS.saturating_sub(*free));
            *free = free.saturating_sub(words);
            let register = Reg::new(number);
            self.load_pair(FROM, address.saturating_add(run.from.into()))?;
            self.push(load(register, words, 0))?;
            let to = i16::try_from(run.to).unwrap_or(0);
            // There is room: each has a register of its own.
            let _ = loaded.push(Loaded {
                register,
                words,
                to,
            });
        }
        self.store_loaded(&mut loaded)?;
        self.wait_for_memory()?;
        self.exclusive = true;
        if !self.filled {
            self.filled = true;
            self.flush(Reach::Cores)?;
        }
        Ok(())
    }

    /// Waits for what was loaded, and stores it.
    fn store_loaded(&mut self, loaded: &mut AllLoaded) -> Result<(), Error> {
        if !loaded.is_empty() {
            let wait = self.words()?.wait_others;
            self.put(wait)?;
            for it in &*loaded {
                self.push(store(it.register, it.words, it.to))?;
            }
            self.running.memory = true;
            loaded.clear();
        }
        Ok(())
    }
}

/// The words of buffers among uniform words, as runs.
fn runs(words: impl Iterator<Item = FauWord>) -> impl Iterator<Item = Run> {
    let words = words.zip((0_u32..).step_by(4));
    let mut words = words.filter_map(|(word, to)| match word {
        FauWord::BufferWord { slot, offset } => Some(Run {
            slot,
            from: offset,
            to,
            words: 1,
        }),
        _ => None,
    });
    let mut next = words.next();
    core::iter::from_fn(move || {
        let mut run = next?;
        next = words.next();
        while let Some(more) = next
            && run.words < LINE_WORDS
            && run.followed_by(&more)
        {
            run.words = run.words.saturating_add(1);
            next = words.next();
        }
        Some(run)
    })
}

impl Run {
    /// Whether a word stands behind it, in both places.
    fn followed_by(&self, word: &Run) -> bool {
        let bytes = u32::from(self.words).saturating_mul(4);
        self.slot == word.slot
            && self.from.checked_add(bytes) == Some(word.from)
            && self.to.checked_add(bytes) == Some(word.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_side_by_side_are_one_run() {
        let slot = |index| DescriptorSlot { table: 0, index };
        let word = |index, offset| FauWord::BufferWord {
            slot: slot(index),
            offset,
        };
        let words = [
            word(1, 8),
            word(1, 12),
            FauWord::Constant(7),
            word(1, 16),
            word(2, 20),
            word(2, 28),
        ];
        let found: std::vec::Vec<_> = runs(words.into_iter())
            .map(|run| (run.slot.index, run.from, run.to, run.words))
            .collect();
        let expected = [(1, 8, 0, 2), (1, 16, 12, 1), (2, 20, 16, 1), (2, 28, 20, 1)];
        assert_eq!(found, expected);
        let many = (0..40).map(|number| word(3, 4 * number));
        let lengths: std::vec::Vec<_> = runs(many).map(|run| run.words).collect();
        assert_eq!(lengths, [16, 16, 8]);
    }
}
