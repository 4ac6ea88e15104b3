//! Words of uniform buffers among the uniforms of draws: the stream copies them there before the draw.
//!
//! Each lane copies for its own programs: the vertices' words in the lane of vertices, the fragments' in the lane of fragments, so
//! that a barrier which names a stage orders what that stage's words are read from. Each recorded draw whose uniforms changed has
//! memory of its own for them: draws before may still read theirs. Commands that are called again write the same words there, or words
//! that have changed behind a barrier, which waits for the draws that read them.
//! Facts: hardware/command-stream.md 1.6, 1.10, 6.10.

use super::lane::{OTHERS, TEMPORARY};
use super::uniforms::set_for;
use crate::command::{Recorder, Run};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::{Reach, SubQueue};
use crate::resource::BoundSet;
use eitri_cs::instr::{LoadMultiple, StoreMultiple};
use eitri_cs::{Reg, RegMask, r};
use eitri_program::{EntryPoint, FauWord};

/// Registers that no job reads, which hold the words on their way, and how many; the address is in [`TEMPORARY`].
const WORDS: Reg = r!(68);
const MOST: u8 = 14;

/// Whether uniforms of a program are words of buffers.
pub(super) fn has_buffer_words(entry: &EntryPoint<'_>) -> bool {
    entry
        .fau()
        .any(|word| matches!(word, FauWord::BufferWord { .. }))
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// No cache holds what the stream is about to write into uniforms of a lane as a run of these commands before has left it
    /// (see `command/filled_uniforms.rs`). It is the commands of that lane that are recorded.
    pub(super) fn fresh_uniforms(&mut self, stream: SubQueue) -> Result<(), Error> {
        let filled = self.lane(stream).map(|lane| {
            lane.flushes = true;
            core::mem::replace(&mut lane.filled, true)
        });
        if filled != Some(false) {
            return Ok(());
        }
        self.flush_lane(Reach::Cores)
    }

    /// Copies the words of buffers into the uniforms at an address, in the lane of the program's stream. Words outside of their
    /// buffer stay what they are.
    pub(super) fn copy_draw_words(
        &mut self,
        stream: SubQueue,
        entry: &EntryPoint<'_>,
        uniforms: u64,
        sets: &[Option<BoundSet>],
    ) -> Result<(), Error> {
        self.fresh_uniforms(stream)?;
        let mut run = Run::NONE;
        let mut known = None;
        for (word, to) in entry.fau().zip((uniforms..).step_by(4)) {
            let FauWord::BufferWord { slot, offset } = word else {
                continue;
            };
            let (address, bytes) = match known.filter(|(of, _)| *of == slot) {
                Some((_, buffer)) => buffer,
                None => {
                    let buffer = self.draw_buffer(slot, set_for(sets, slot))?;
                    known = Some((slot, buffer));
                    buffer
                }
            };
            let from = address.saturating_add(offset.into());
            if offset / 4 < bytes / 4 && !run.take(from, to, MOST) {
                self.copy_draw_run(run)?;
                run = Run::of(from, to);
            }
        }
        self.copy_draw_run(run)
    }

    fn copy_draw_run(&mut self, run: Run) -> Result<(), Error> {
        if run.words == 0 {
            return Ok(());
        }
        let mask = RegMask::first(run.words);
        self.load_pair(TEMPORARY, run.from)?;
        self.push(LoadMultiple {
            base_register: WORDS,
            mask,
            address: TEMPORARY,
            offset: 0,
        })?;
        self.wait_slots(OTHERS.mask())?;
        self.load_pair(TEMPORARY, run.to)?;
        self.push(StoreMultiple {
            base_register: WORDS,
            mask,
            address: TEMPORARY,
            offset: 0,
        })?;
        self.wait_slots(OTHERS.mask())
    }
}
