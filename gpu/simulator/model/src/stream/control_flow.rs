//! Branches, calls and the exception handler.
//!
//! Facts: hardware/command-stream.md 3.

use super::Stream;
use super::execute::{Current, Known, Step};
use crate::diagnosis::StreamMisuse;
use eitri_cs::Instr;

impl Stream {
    /// Branches, calls and the exception handler.
    pub(super) fn control_flow(&mut self, current: &mut Current<'_>, instr: &Instr) -> Known {
        let Current { fabric, word, .. } = current;
        let word = *word;
        Ok(Some(match instr {
            Instr::Branch(i) => self.branch(fabric, word, i.condition, i.value, i.offset)?,
            Instr::Call(i) => self.call(fabric, word, i.address, i.length, true)?,
            Instr::Jump(i) => self.call(fabric, word, i.address, i.length, false)?,
            Instr::SetExceptionHandler(i) => {
                let address = self.read64(fabric, word, i.address)?;
                let length = self.read32(fabric, word, i.length)?;
                if self.handler_depth.is_some() {
                    self.report(fabric, word, StreamMisuse::HandlerInHandler);
                }
                let installs = address != 0 && length != 0;
                self.handler = installs.then_some((address, length.into()));
                Step::Done
            }
            Instr::ErrorBarrier(_) => {
                self.error = 0;
                Step::Done
            }
            Instr::ProtRegion(i) => self.prot_region(fabric, word, i.size.bytes().into()),
            _ => return Ok(None),
        }))
    }
}
