//! Loads, stores and cache flushes.
//!
//! Facts: hardware/command-stream.md 3.

use super::Stream;
use super::deferred::{Issue, Operation};
use super::execute::{Current, Known, Step};
use eitri_cs::Instr;
use eitri_cs::enums::{DeferMode, FlushMode, OtherFlushMode};
use eitri_csf::command::{CacheFlush, FlushMode as CacheMode};

impl Stream {
    /// Loads, stores and cache flushes.
    pub(super) fn access_memory(&mut self, current: &mut Current<'_>, instr: &Instr) -> Known {
        let Current {
            fabric,
            memory,
            word,
            outcome,
        } = current;
        let word = *word;
        Ok(Some(match instr {
            Instr::LoadMultiple(i) => {
                let address = self.read64(fabric, word, i.address)?;
                self.load(
                    fabric,
                    *memory,
                    word,
                    address,
                    i.offset,
                    i.base_register,
                    i.mask,
                )?
            }
            Instr::StoreMultiple(i) => {
                let address = self.read64(fabric, word, i.address)?;
                self.store(
                    fabric,
                    *memory,
                    word,
                    address,
                    i.offset,
                    i.base_register,
                    i.mask,
                )?
            }
            Instr::StoreState(i) => {
                let base = self.read64(fabric, word, i.address)?;
                let address = base.wrapping_add_signed(i.offset.into());
                self.check_aligned(fabric, word, address, 8);
                let state = i.state;
                let operation = Operation::StoreState { address, state };
                self.defer(
                    current,
                    (i.wait_mask, i.signal_slot, i.defer_mode),
                    operation,
                )
            }
            Instr::FlushCache2(i) => {
                let id = self.read32(fabric, word, i.latest_flush_id)?;
                let (wait, slot) = match i.defer_mode {
                    DeferMode::Immediate => (i.wait_mask.bits(), i.signal_slot.number()),
                    DeferMode::Indirect => (self.mask_wait, self.deferred_slot),
                };
                let slot = Some(self.slot(fabric, word, slot.into()));
                let issue = Issue {
                    word,
                    wait,
                    slot,
                    always_counted: true,
                    operation: Operation::Flush {
                        id,
                        flush: CacheFlush {
                            l2: mode(i.l2_flush_mode),
                            load_store: mode(i.lsc_flush_mode),
                            other: match i.other_flush_mode {
                                OtherFlushMode::None => CacheMode::None,
                                OtherFlushMode::Invalidate => CacheMode::Invalidate,
                            },
                        },
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
            _ => return Ok(None),
        }))
    }
}

/// What FLUSH_CACHE2 does to a cache, in the words of GPU_COMMAND.
fn mode(mode: FlushMode) -> CacheMode {
    match mode {
        FlushMode::None => CacheMode::None,
        FlushMode::Clean => CacheMode::Clean,
        FlushMode::CleanAndInvalidate => CacheMode::CleanInvalidate,
    }
}
