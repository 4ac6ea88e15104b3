//! Conditional draws: the stream branches over what a word in memory says is not to be drawn.
//!
//! Only the job itself is left out: registers are loaded all the same, so that what they hold is known behind it.
//! Facts: hardware/command-stream.md 3.2 and 3.3.

use super::lane::{OTHERS, TEMPORARY};
use super::pass::RenderPass;
use crate::command::Recorder;
use crate::error::Error;
use crate::handle::Buffer;
use crate::platform::Platform;
use crate::vm::GpuAddress;
use eitri_cs::builder::{BuildFault, Checked, Config, WithNumber};
use eitri_cs::enums::Condition;
use eitri_cs::instr::{Branch, LoadMultiple};
use eitri_cs::{Reg, RegMask, r};

/// The register that the word is loaded to, which no job reads.
const WORD: Reg = r!(68);
/// Most instructions of a job that is left out, without those of a loop, which makes room by itself.
const JOB: u32 = 16;

/// The word on which draws depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Predicate {
    at: GpuAddress,
    /// What is drawn is drawn where the word is 0.
    inverted: bool,
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws and clears from here on take place only if a word of a buffer is not 0; if `inverted`, only if it is 0.
    /// [`crate::Accesses::INDIRECT_READ`] reads it.
    ///
    /// # Errors
    /// If the offset is no multiple of 4, the word is not inside the buffer, or there is no place for the reference.
    pub fn begin_conditional(
        &mut self,
        buffer: Buffer,
        offset: u64,
        inverted: bool,
    ) -> Result<&mut Self, Error> {
        let at = self.recorder.part_of(buffer, offset, 4)?;
        self.state.predicate = Some(Predicate { at, inverted });
        // The next draw is no repetition of one that depended on nothing.
        self.state.last = None;
        Ok(self)
    }

    /// Draws take place again, whatever a buffer says.
    pub fn end_conditional(&mut self) -> &mut Self {
        self.state.predicate = None;
        self
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Records a job that takes place if the predicate says so; it is in one block with its branch: `words` are more of its
    /// instructions than a plain one has.
    pub(super) fn if_predicate(
        &mut self,
        predicate: Option<Predicate>,
        words: u32,
        record: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(Predicate { at, inverted }) = predicate else {
            return record(self);
        };
        let &EncodedConditional { load, left_out } = &self.encoded()?.conditional;
        let [if_zero, unless_zero] = left_out;
        self.load_pair(TEMPORARY, at.0)?;
        self.put(load)?;
        self.wait_slots(OTHERS.mask())?;
        self.make_room(JOB.saturating_add(words))?;
        let branch = if inverted { unless_zero } else { if_zero };
        let place = self.writer.end();
        self.put(branch.with(0))?;
        record(self)?;
        let bytes = self.writer.end().0.saturating_sub(place.0);
        let offset = i16::try_from(bytes / 8)
            .unwrap_or(i16::MAX)
            .saturating_sub(1);
        let branch = branch.with(offset.into());
        self.device.hw.platform.store64(place, branch.word());
        Ok(())
    }
}

/// Instructions of conditional draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodedConditional {
    /// Loads the word.
    load: Checked,
    /// Pass over what follows if the word is 0, and if it is not.
    left_out: [WithNumber; 2],
}

impl EncodedConditional {
    pub(super) fn new(config: &Config) -> Result<EncodedConditional, BuildFault> {
        let left_out = |condition| {
            WithNumber::new(config, |offset| Branch {
                condition,
                value: WORD,
                offset,
            })
        };
        Ok(EncodedConditional {
            load: config.checked(LoadMultiple {
                base_register: WORD,
                mask: RegMask::first(1),
                address: TEMPORARY,
                offset: 0,
            })?,
            left_out: [left_out(Condition::Equal)?, left_out(Condition::NotEqual)?],
        })
    }
}
