//! Progress values and trace points.
//!
//! Facts: hardware/command-stream.md 3.

use super::deferred::Operation;
use super::execute::{Current, Known, Step};
use super::{Blocked, Stream};
use crate::diagnosis::StreamMisuse;
use eitri_cs::Instr;

impl Stream {
    /// Progress values and trace points.
    pub(super) fn use_progress(&mut self, current: &mut Current<'_>, instr: &Instr) -> Known {
        let Current { fabric, word, .. } = current;
        let word = *word;
        Ok(Some(match instr {
            Instr::ProgressStore(i) => {
                self.report(fabric, word, StreamMisuse::Progress);
                self.progress = self.read64(fabric, word, i.source)?;
                Step::Done
            }
            Instr::ProgressLoad(i) => {
                self.report(fabric, word, StreamMisuse::Progress);
                let value = self.progress;
                self.write64(fabric, word, i.destination, value)?;
                Step::Done
            }
            Instr::ProgressWait(i) => {
                self.report(fabric, word, StreamMisuse::Progress);
                let value = self.read64(fabric, word, i.source)?;
                Step::DoneAfter(Blocked::Progress {
                    queue: i.queue,
                    value,
                })
            }
            Instr::TracePoint(i) => {
                self.check_tuple(
                    i.base_register,
                    u32::from(i.register_count).saturating_sub(1),
                )?;
                let slots = (i.wait_mask, i.signal_slot, i.defer_mode);
                self.defer(current, slots, Operation::Nothing)
            }
            _ => return Ok(None),
        }))
    }
}
