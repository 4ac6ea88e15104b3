//! Copies of query results as the caller wants them: how wide, how far apart, with or without whether they are there.
//!
//! Facts: hardware/command-stream.md sections 3.2, 3.3 and 6.16.

use super::query::{FROM, LINE, QUERY_BYTES, SYNC_OFFSET, TO, pair_of};
use super::recorder::Recorder;
use super::words;
use crate::error::Error;
use crate::handle::{Buffer, QueryPool};
use crate::platform::Platform;
use eitri_cs::enums::{Condition, ErrorReject};
use eitri_cs::instr::{Branch, LoadMultiple, Move32, StoreMultiple, SyncWait32};
use eitri_cs::{Reg, RegMask};

/// How results of queries are copied. Names and meaning are Vulkan's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryCopy {
    /// Results have 64 bits; without it 32.
    pub wide: bool,
    /// Results that are not there are waited for; without it their places stay as they are.
    pub wait: bool,
    /// Behind each result stands a number of its width that is 0 if it is not there.
    pub availability: bool,
    /// Bytes from one result to the next, a multiple of 4.
    pub stride: u32,
}

/// Whether the result is there, and a zero behind it.
const THERE: Reg = pair_of(LINE, 1).low();
const ZERO: Reg = Reg::new(THERE.number() + 1);

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Copies the results of `count` queries from `first` on into a buffer.
    ///
    /// # Errors
    /// As [`Recorder::write_timestamp`]; or if they are not inside the buffer, or the stride is no multiple of 4.
    pub fn copy_query_results_as(
        &mut self,
        pool: QueryPool,
        (first, count): (u32, u32),
        (buffer, offset): (Buffer, u64),
        how: QueryCopy,
    ) -> Result<&mut Self, Error> {
        let QueryCopy {
            wide,
            wait,
            availability,
            stride,
        } = how;
        if !stride.is_multiple_of(4) {
            return Err(Error::Misaligned {
                offset: stride.into(),
            });
        }
        if count == 0 {
            return Ok(self);
        }
        let from = self.query(pool, first, count)?;
        let words = if wide { 2 } else { 1 };
        let one = if availability { words * 2 } else { words };
        let before = u64::from(count.saturating_sub(1)).saturating_mul(stride.into());
        let bytes = before.saturating_add(u64::from(one).saturating_mul(4));
        let to = self.part_of(buffer, offset, bytes)?;
        self.load_wide(|words| words.value, 0)?;
        self.push(Move32 {
            destination: ZERO,
            immediate: 0,
        })?;
        for number in 0..u64::from(count) {
            let from = from.offset(number.wrapping_mul(QUERY_BYTES));
            let to = to.offset(number.wrapping_mul(stride.into()));
            if wait {
                self.load_wide(|words| words.address, from.offset(SYNC_OFFSET).0)?;
                self.push(SyncWait32 {
                    address: words::ADDRESS,
                    data: words::VALUE.low(),
                    condition: Condition::Greater,
                    error_reject: ErrorReject::Reject,
                })?;
            }
            self.load_pair(FROM, from.0)?;
            self.load_pair(TO, to.0)?;
            self.push(LoadMultiple {
                base_register: LINE,
                mask: RegMask::first(3),
                address: FROM,
                offset: 0,
            })?;
            let loaded = self.words()?.wait_others;
            self.put(loaded)?;
            let store = |base_register, offset| StoreMultiple {
                base_register,
                mask: RegMask::first(words),
                address: TO,
                offset,
            };
            let value = self.check(store(LINE, 0))?;
            if wait {
                self.put(value)?;
            } else {
                let skip = self.check(Branch {
                    condition: Condition::Equal,
                    value: THERE,
                    offset: 1,
                })?;
                self.put_together([skip, value])?;
            }
            if availability {
                self.push(store(THERE, i16::from(words) * 4))?;
            }
        }
        self.running.memory = true;
        self.unflushed = true;
        Ok(self)
    }
}
