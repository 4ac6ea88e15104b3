//! Queries: times, and invocations of compute shaders.
//!
//! A query is a 64-bit result with a sync object that says whether it is there. Of what Vulkan calls pipeline statistics, a stream
//! has no counter that commands could store: invocations of compute shaders are known from the grids when they are recorded; all
//! others belong to graphics, as occlusion queries do: see [`crate::RenderPass::begin_query`].
//! Facts: hardware/command-stream.md sections 1.8, 3.2 (STORE_STATE) and 6.16.

use super::accesses::{Accesses, ShaderStage};
use super::error::CommandError;
use super::recorder::Recorder;
use super::words;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, QueryPool, Space};
use crate::platform::{PhysicalAddress, Platform};
use crate::vm::{GpuAddress, Protection};
use eitri_cs::enums::{Condition, ErrorReject, StoredState};
use eitri_cs::instr::{LoadMultiple, StoreMultiple, StoreState, SyncWait32};
use eitri_cs::{Pair, Reg, RegMask, Slot, SlotMask, d, r};

const WHAT: Thing = Thing::QueryPool;

/// A query: the result, then the sync object.
pub(crate) const QUERY_BYTES: u64 = 16;
pub(crate) const SYNC_OFFSET: u64 = 8;
/// Queries that one instruction resets, and results that one stores: 16 registers.
const RESET_AT_ONCE: u32 = 4;
const COPIED_AT_ONCE: u32 = 8;
/// 16 registers that no compute job reads, and two addresses.
pub(super) const LINE: Reg = r!(40);
pub(super) const FROM: Pair = d!(56);
pub(super) const TO: Pair = d!(82);

/// Where a count of invocations begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it is for `end_invocations`"]
pub struct Invocations(Option<u64>);

impl<P: Platform> Device<'_, '_, P> {
    /// Makes a pool of `count` queries without results.
    ///
    /// # Errors
    /// If `count` is 0, or there is no memory or no place in the storage for it.
    pub fn create_query_pool(&mut self, space: Space, count: u32) -> Result<QueryPool, Error> {
        if count == 0 {
            return Err(Error::Empty { what: WHAT });
        }
        let bytes = u64::from(count).saturating_mul(QUERY_BYTES);
        let kind = Kind::Queries { count };
        let key = self.create_object(space, "queries", bytes, Protection::Shared, kind)?;
        Ok(QueryPool(key))
    }

    /// Destroys a pool of queries.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_query_pool(&mut self, pool: QueryPool) -> Result<(), Error> {
        self.destroy_object(pool.0, WHAT)
    }

    /// Reads results from the query `first` on: `None` where there is none yet. Times are in ticks of the GPU's timestamp, which
    /// is the system's counter.
    ///
    /// # Errors
    /// If there are not so many queries.
    pub fn query_results(
        &mut self,
        pool: QueryPool,
        first: u32,
        results: &mut [Option<u64>],
    ) -> Result<(), Error> {
        let count = u32::try_from(results.len()).unwrap_or(u32::MAX);
        let (memory, _) = self.queries(pool, first, count)?;
        let bytes = u64::from(count).wrapping_mul(QUERY_BYTES);
        self.hw.platform.observe();
        self.hw.platform.invalidate(memory.span(bytes));
        for (result, place) in results.iter_mut().zip((0..).step_by(QUERY_BYTES as usize)) {
            let at = memory.offset(place);
            let there = self.hw.platform.load32(at.offset(SYNC_OFFSET)) != 0;
            // The result was stored before its sync object.
            self.hw.platform.observe();
            *result = there.then_some(self.hw.platform.load64(at));
        }
        Ok(())
    }

    /// Forgets the results of `count` queries from `first` on.
    ///
    /// # Errors
    /// If a job in flight uses the pool, or there are not so many queries.
    pub fn reset_queries(&mut self, pool: QueryPool, first: u32, count: u32) -> Result<(), Error> {
        self.unused(pool.0, WHAT)?;
        let (memory, _) = self.queries(pool, first, count)?;
        let bytes = u64::from(count).wrapping_mul(QUERY_BYTES);
        self.hw.platform.zero(memory, bytes);
        self.hw.platform.clean(memory.span(bytes));
        self.host_wrote(pool.0);
        Ok(())
    }

    /// Where queries are.
    fn queries(
        &self,
        pool: QueryPool,
        first: u32,
        count: u32,
    ) -> Result<(PhysicalAddress, GpuAddress), Error> {
        let object = self.object(pool.0, WHAT)?;
        let Kind::Queries { count: size } = object.kind else {
            return Err(Error::Gone { what: WHAT });
        };
        if first.checked_add(count).is_none_or(|end| end > size) {
            return Err(CommandError::NoQuery { first, count, size }.into());
        }
        let offset = u64::from(first).wrapping_mul(QUERY_BYTES);
        let mapping = &object.mapping;
        Ok((
            mapping.memory().offset(offset),
            mapping.address().offset(offset),
        ))
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Stores the time when all commands before are done. Nobody waits for that here.
    ///
    /// # Errors
    /// If there is no such query, the pool is in another space, or there is no place for the reference or memory for more
    /// commands.
    pub fn write_timestamp(&mut self, pool: QueryPool, query: u32) -> Result<&mut Self, Error> {
        let at = self.query(pool, query, 1)?;
        self.wait_for_passes()?;
        self.load_wide(|words| words.address, at.0)?;
        let wait_mask = self.busy();
        let deferred = wait_mask != SlotMask::NONE;
        if !deferred {
            self.wait_for_signals()?;
        }
        self.push(StoreState {
            state: StoredState::Timestamp,
            address: words::ADDRESS,
            wait_mask,
            signal_slot: if deferred {
                words::STATES
            } else {
                Slot::default()
            },
            ..StoreState::default()
        })?;
        self.running.signals |= deferred;
        self.make_available(at, words::STATES.mask())?;
        Ok(self)
    }

    /// Begins to count invocations of compute shaders.
    pub fn begin_invocations(&mut self) -> Invocations {
        Invocations(self.invocations)
    }

    /// Writes how many invocations of compute shaders there were since `begin`, when all commands before are done.
    ///
    /// # Errors
    /// As [`Recorder::write_timestamp`]; or if a dispatch between the two reads its counts from a buffer.
    pub fn end_invocations(
        &mut self,
        begin: Invocations,
        pool: QueryPool,
        query: u32,
    ) -> Result<&mut Self, Error> {
        let Invocations(begin) = begin;
        let count = self.invocations.zip(begin);
        let count = count.map(|(end, begin)| end.wrapping_sub(begin));
        let count = count.ok_or(CommandError::NotCounted)?;
        let at = self.query(pool, query, 1)?;
        self.load_wide(|words| words.address, at.0)?;
        self.load_wide(|words| words.value, count)?;
        self.push(StoreMultiple {
            base_register: words::VALUE.low(),
            mask: RegMask::first(2),
            address: words::ADDRESS,
            offset: 0,
        })?;
        self.running.memory = true;
        self.make_available(at, SlotMask::NONE)?;
        Ok(self)
    }

    /// Says that a result is there, when it is, and what counts on the slots of `also` is done.
    fn make_available(&mut self, at: GpuAddress, also: SlotMask) -> Result<(), Error> {
        self.load_wide(|words| words.address, at.offset(SYNC_OFFSET).0)?;
        self.load_wide(|words| words.value, 1)?;
        self.signal(also)
    }

    /// Forgets the results of `count` queries from `first` on, when what was asked of them before is done. What comes after waits
    /// for it.
    ///
    /// # Errors
    /// As [`Recorder::write_timestamp`].
    pub fn reset_queries(
        &mut self,
        pool: QueryPool,
        first: u32,
        count: u32,
    ) -> Result<&mut Self, Error> {
        let mut at = self.query(pool, first, count)?;
        if self.device.drawing.is_some() {
            self.wait_for_passes()?;
            self.queries_reset = true;
        }
        self.wait_for_signals()?;
        for pair in 0..8 {
            self.load_pair(pair_of(LINE, pair), 0)?;
        }
        let mut left = count;
        while left > 0 {
            let now = left.min(RESET_AT_ONCE);
            self.load_pair(TO, at.0)?;
            self.push(StoreMultiple {
                base_register: LINE,
                mask: RegMask::first((now as u8).saturating_mul(4)),
                address: TO,
                offset: 0,
            })?;
            at = at.offset(u64::from(now).wrapping_mul(QUERY_BYTES));
            left = left.saturating_sub(now);
        }
        self.running.memory = true;
        self.wait_for_memory()?;
        Ok(self)
    }

    /// Copies the results of `count` queries from `first` on into a buffer, 8 bytes each, one behind the other; waits for those
    /// that are not there yet.
    ///
    /// # Errors
    /// As [`Recorder::write_timestamp`]; or if they are not inside the buffer.
    pub fn copy_query_results(
        &mut self,
        pool: QueryPool,
        first: u32,
        count: u32,
        (buffer, offset): (Buffer, u64),
    ) -> Result<&mut Self, Error> {
        let mut from = self.query(pool, first, count)?;
        let bytes = u64::from(count).saturating_mul(8);
        let mut to = self.part_of(buffer, offset, bytes)?;
        self.load_wide(|words| words.value, 0)?;
        for number in 0..u64::from(count) {
            let sync = number.wrapping_mul(QUERY_BYTES).wrapping_add(SYNC_OFFSET);
            self.load_wide(|words| words.address, from.offset(sync).0)?;
            self.push(SyncWait32 {
                address: words::ADDRESS,
                data: words::VALUE.low(),
                condition: Condition::Greater,
                error_reject: ErrorReject::Reject,
            })?;
        }
        let mut left = count;
        while left > 0 {
            let now = left.min(COPIED_AT_ONCE);
            self.load_pair(FROM, from.0)?;
            self.load_pair(TO, to.0)?;
            for number in 0..now {
                self.push(LoadMultiple {
                    base_register: pair_of(LINE, number as u8).low(),
                    mask: RegMask::first(2),
                    address: FROM,
                    offset: (number as i16).saturating_mul(QUERY_BYTES as i16),
                })?;
            }
            self.running.memory = true;
            let wait = self.words()?.wait_others;
            self.put(wait)?;
            self.push(StoreMultiple {
                base_register: LINE,
                mask: RegMask::first((now as u8).saturating_mul(2)),
                address: TO,
                offset: 0,
            })?;
            from = from.offset(u64::from(now).wrapping_mul(QUERY_BYTES));
            to = to.offset(u64::from(now).wrapping_mul(8));
            left = left.saturating_sub(now);
        }
        self.unflushed = true;
        Ok(self)
    }

    /// The compute stream waits for what the passes before do on others.
    fn wait_for_passes(&mut self) -> Result<(), Error> {
        if self.device.drawing.is_none() {
            return Ok(());
        }
        let compute = Accesses::SHADER_READ.in_stage(ShaderStage::Compute);
        self.order_streams(Accesses::ALL, compute)
    }

    /// Where queries are, which the commands refer to from here on.
    pub(crate) fn query(
        &mut self,
        pool: QueryPool,
        first: u32,
        count: u32,
    ) -> Result<GpuAddress, Error> {
        self.refer(pool.0, WHAT)?;
        let (_, address) = self.device.queries(pool, first, count)?;
        Ok(address)
    }
}

/// The n-th pair from a register on.
pub(super) const fn pair_of(first: Reg, number: u8) -> Pair {
    let register = first.number().saturating_add(number.saturating_mul(2));
    match Pair::new(register) {
        Some(pair) => pair,
        None => Pair::ZERO,
    }
}
