//! Scoreboard slots: waits, choice of slots, state, shared scoreboards.
//!
//! Facts: hardware/command-stream.md 3.

use super::deferred::{Issue, Operation};
use super::execute::{Current, Known, Step};
use super::{Blocked, Stream};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::fidelity::Inexact;
use eitri_cs::Instr;
use eitri_cs::enums::{DeferMode, SlotFormat, SlotSelection, WaitMode};
use eitri_csf::registers::identity::gpu_features;

impl Stream {
    /// Scoreboard slots: waits, choice of slots, state, shared scoreboards.
    pub(super) fn use_scoreboards(&mut self, current: &mut Current<'_>, instr: &Instr) -> Known {
        let Current {
            fabric,
            memory,
            word,
            outcome,
        } = current;
        let word = *word;
        Ok(Some(match instr {
            Instr::Wait(i) => {
                let mask = match i.wait_mode {
                    WaitMode::Immediate => i.wait_mask.bits(),
                    WaitMode::Indirect => self.mask_wait,
                };
                let step = self.wait(fabric, word, mask);
                if let Step::Done = step {
                    self.count_progress(fabric, word, i.progress_increment);
                }
                step
            }
            Instr::SetSbEntry(i) => {
                self.endpoint_slot = self.slot(fabric, word, i.endpoint_entry.number().into());
                self.other_slot = self.slot(fabric, word, i.other_entry.number().into());
                Step::Done
            }
            Instr::SetState(i) => {
                let value = self.read32(fabric, word, i.source)?;
                self.set_state(fabric, word, i.state, value)
            }
            Instr::SetStateImm32(i) => self.set_state(fabric, word, i.state, i.value),
            Instr::NextSbEntry(i) => {
                let Some(slot) = self.choose_slot() else {
                    return Ok(Some(Step::Blocked(Blocked::SlotChoice)));
                };
                fabric.fidelity.meet(Inexact::SlotChoice);
                let result = match i.format {
                    SlotFormat::Index => u32::from(slot),
                    SlotFormat::Mask => 1 << slot,
                };
                self.write32(fabric, word, i.destination, result)?;
                self.last_choice = slot;
                match i.sb_type {
                    SlotSelection::NoChange => {}
                    SlotSelection::Endpoint => self.endpoint_slot = slot,
                    SlotSelection::Other => self.other_slot = slot,
                    SlotSelection::Deferred => self.deferred_slot = slot,
                }
                Step::Done
            }
            Instr::SharedSbInc(i) => {
                self.check_shared_scoreboards(fabric, word);
                self.count_progress(fabric, word, i.progress_increment);
                let (wait, indirect) = match i.defer_mode {
                    DeferMode::Immediate => (i.sb_mask.bits(), false),
                    DeferMode::Indirect => (self.mask_wait, true),
                };
                self.check_mask(fabric, word, wait);
                let issue = Issue {
                    word,
                    wait,
                    slot: None,
                    always_counted: indirect,
                    operation: Operation::SharedIncrement {
                        entry: i.shared_entry,
                    },
                };
                match self.issue(fabric, *memory, issue) {
                    Ok(effects) => {
                        outcome.effects.join(effects);
                        Step::Done
                    }
                    Err(hindrance) => hindrance.into(),
                }
            }
            Instr::SharedSbDec(i) => {
                self.check_shared_scoreboards(fabric, word);
                self.count_progress(fabric, word, i.progress_increment);
                // The counters are the group's: it lets the stream go on.
                Step::Blocked(Blocked::Shared(i.shared_entry))
            }
            _ => return Ok(None),
        }))
    }

    fn check_shared_scoreboards(&mut self, fabric: &mut Fabric, word: u64) {
        if !gpu_features::SHARED_SCOREBOARDS.get(fabric.config.product.gpu_features) {
            self.report(fabric, word, StreamMisuse::WithoutSharedScoreboards);
        }
    }
}
