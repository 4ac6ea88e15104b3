//! Sync objects: set, add, wait.
//!
//! Facts: hardware/command-stream.md 3.

use super::Stream;
use super::deferred::Operation;
use super::execute::{Current, Known};
use eitri_cs::Instr;

impl Stream {
    /// Sync objects: set, add, wait.
    pub(super) fn synchronise(&mut self, current: &mut Current<'_>, instr: &Instr) -> Known {
        let Current {
            fabric,
            memory,
            word,
            ..
        } = current;
        let word = *word;
        macro_rules! sync {
            ($i:expr, $data:expr, $wide:literal, $add:literal) => {{
                let address = self.read64(fabric, word, $i.address)?;
                let value = $data;
                self.check_aligned(fabric, word, address, if $wide { 16 } else { 8 });
                let operation = Operation::Sync {
                    address,
                    value,
                    wide: $wide,
                    add: $add,
                    propagate: $i.error_propagate,
                    scope: $i.scope,
                };
                self.defer(
                    current,
                    ($i.wait_mask, $i.signal_slot, $i.defer_mode),
                    operation,
                )
            }};
        }
        Ok(Some(match instr {
            Instr::SyncAdd32(i) => sync!(i, self.read32(fabric, word, i.data)?.into(), false, true),
            Instr::SyncSet32(i) => {
                sync!(i, self.read32(fabric, word, i.data)?.into(), false, false)
            }
            Instr::SyncAdd64(i) => sync!(i, self.read64(fabric, word, i.data)?, true, true),
            Instr::SyncSet64(i) => sync!(i, self.read64(fabric, word, i.data)?, true, false),
            Instr::SyncWait32(i) => {
                let reference = self.read32(fabric, word, i.data)?.into();
                self.sync_wait(
                    fabric,
                    *memory,
                    word,
                    i.address,
                    i.condition,
                    i.error_reject,
                    (reference, false),
                )?
            }
            Instr::SyncWait64(i) => {
                let reference = self.read64(fabric, word, i.data)?;
                self.sync_wait(
                    fabric,
                    *memory,
                    word,
                    i.address,
                    i.condition,
                    i.error_reject,
                    (reference, true),
                )?
            }
            _ => return Ok(None),
        }))
    }
}
