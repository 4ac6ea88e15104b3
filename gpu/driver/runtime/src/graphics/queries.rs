//! Queries of draws: how many samples pass the tests, and when a pass is done.
//!
//! Samples are counted into the query's result by the fixed function, while the draws of the query say so. A result is there when
//! the fragments of its pass are done and the caches that counted were cleaned: then the query's sync object is set.
//! Of Vulkan's pipeline statistics none of graphics is a number that streams or cores could store.
//! Facts: hardware/command-stream.md 6.16, graphics-raster.md 4.9 and 4.12, graphics.md 1.5.

use super::error::{GraphicsError, Unsupported};
use super::lane::{DEFERRED, OTHERS, TEMPORARY, VALUE};
use super::pass::RenderPass;
use crate::command::{CommandError, Level, QUERY_BYTES, Recorder, SYNC_OFFSET};
use crate::error::Error;
use crate::handle::QueryPool;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::SubQueue;
use crate::vm::GpuAddress;
use eitri_cs::enums::{FlushMode, OtherFlushMode, StoredState, SyncScope};
use eitri_cs::instr::{FlushCache2, StoreMultiple, StoreState, SyncSet32};
use eitri_cs::{Reg, RegMask, Slot, SlotMask, r, slot};
use eitri_descriptors::raster::OcclusionMode;
use heapless::Vec;

/// The slot on which stores of times, and flushes of what was counted, count.
const QUERIES: Slot = slot!(2);
/// The register that flushes take their id from.
const FLUSH_ID: Reg = r!(70);
/// Registers that hold zeros.
const ZEROS: Reg = VALUE.low();
/// Ended queries that a pass keeps by itself: more stand in the commands' memory.
const KEPT: usize = 4;

/// How exactly a query counts samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occlusion {
    /// The result is 0 if no sample passes, else 1.
    Any,
    /// The result is how many samples pass.
    Precise,
}

impl Occlusion {
    const fn mode(self) -> OcclusionMode {
        match self {
            Occlusion::Any => OcclusionMode::Predicate,
            Occlusion::Precise => OcclusionMode::Counter,
        }
    }
}

/// A query that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counting {
    /// Where the result is.
    pub(super) at: GpuAddress,
    how: Occlusion,
    /// Queries from there on that have a result: one for each view of its pass, of which the first has the sum.
    queries: u32,
}

impl Counting {
    /// The bits of a draw's flags that say so.
    pub(super) const fn flags(self) -> u32 {
        // hardware/graphics-raster.md 4.13: bits 14 and 15 of word 0.
        self.how.mode().number() << 14
    }
}

/// What is done for a query when its pass is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The result was counted.
    Counted(GpuAddress),
    /// The time is stored.
    Timed(GpuAddress),
}

/// Queries of a pass that are to be made available when it is done.
#[derive(Debug, Default)]
pub(super) struct EndedQueries {
    last: Vec<Ended, KEPT>,
    /// Where those before stand in memory: the place of those before these, and then theirs.
    before: Option<PhysicalAddress>,
}

impl EndedQueries {
    /// Those of no pass.
    pub(super) const NOTHING: EndedQueries = EndedQueries {
        last: Vec::new(),
        before: None,
    };

    #[inline]
    fn is_empty(&self) -> bool {
        self.last.is_empty() && self.before.is_none()
    }

    /// Another pass begins: one that was not ended may have left some.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.before = None;
    }
}

/// A query as a word in memory: results are at multiples of 16.
const fn word_of(ended: Ended) -> u64 {
    match ended {
        Ended::Counted(at) => at.0,
        Ended::Timed(at) => at.0 | 1,
    }
}

const fn ended_of(word: u64) -> Ended {
    let at = GpuAddress(word & !1);
    if word & 1 == 0 {
        Ended::Counted(at)
    } else {
        Ended::Timed(at)
    }
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Begins to count samples that pass depth and stencil into a query without a result. In a pass of several views, as many
    /// queries from this one on have a result as there are views: the first of them the sum of all views, the others 0.
    ///
    /// # Errors
    /// If a query counts already, or as [`Recorder::write_timestamp`].
    pub fn begin_query(
        &mut self,
        pool: QueryPool,
        query: u32,
        how: Occlusion,
    ) -> Result<&mut Self, Error> {
        self.has_queries()?;
        if self.state.query.is_some() {
            return Err(CommandError::from(GraphicsError::QueryBegun).into());
        }
        let queries = self.framebuffer().view_mask.count_ones().max(1);
        let query = self.recorder.begin_counting(pool, (query, queries), how)?;
        self.state.query = Some(query);
        self.state.forget_words();
        Ok(self)
    }

    /// Ends counting: the result is there when the pass is done.
    ///
    /// # Errors
    /// If no query of this pass counts, or there is no memory for more commands.
    pub fn end_query(&mut self) -> Result<&mut Self, Error> {
        let outer = self
            .recorder
            .passes
            .as_ref()
            .and_then(|passes| passes.query);
        let begun = self.state.query.filter(|query| Some(*query) != outer);
        let missing = CommandError::from(GraphicsError::NoQueryBegun);
        let query = begun.ok_or(missing)?;
        self.state.query = None;
        self.state.forget_words();
        for number in 0..u64::from(query.queries) {
            let at = query.at.offset(number.wrapping_mul(QUERY_BYTES));
            self.keep_ended(Ended::Counted(at))?;
        }
        Ok(self)
    }

    /// Stores the time when the pass is done.
    ///
    /// # Errors
    /// As [`Recorder::write_timestamp`].
    pub fn write_timestamp(&mut self, pool: QueryPool, query: u32) -> Result<&mut Self, Error> {
        self.has_queries()?;
        let at = self.recorder.query(pool, query, 1)?;
        self.recorder.wait_for_resets()?;
        self.keep_ended(Ended::Timed(at))?;
        Ok(self)
    }

    /// Fails in secondary commands: what queries need stands in the lanes of a pass.
    fn has_queries(&self) -> Result<(), Error> {
        match self.recorder.level {
            Level::Primary => Ok(()),
            Level::Secondary(_) | Level::Draws(_) => {
                Err(GraphicsError::unsupported(Unsupported::SecondaryQuery).into())
            }
        }
    }

    fn keep_ended(&mut self, ended: Ended) -> Result<(), Error> {
        let all = self.recorder.passes.as_mut().map(|it| &mut it.ended);
        let ended = match all.map(|all| all.last.push(ended)) {
            Some(Err(ended)) => ended,
            Some(Ok(())) | None => return Ok(()),
        };
        let bytes = (KEPT as u32).saturating_add(1).saturating_mul(8);
        let (memory, _) = self
            .recorder
            .in_lane(SubQueue::Fragment, |it| it.room(bytes))?;
        let platform = &mut self.recorder.device.hw.platform;
        if let Some(passes) = &mut self.recorder.passes {
            let all = &mut passes.ended;
            let before = all.before.replace(memory);
            platform.store64(memory, before.map_or(0, |before| before.0));
            for (ended, place) in all.last.iter().zip((8..).step_by(8)) {
                platform.store64(memory.offset(place), word_of(*ended));
            }
            all.last.clear();
            // There is room now.
            let _ = all.last.push(ended);
        }
        Ok(())
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Begins to count samples that pass depth and stencil in all passes that come, into a query without a result.
    ///
    /// # Errors
    /// If a query counts already, these are other commands' to run, or as [`Recorder::write_timestamp`].
    pub fn begin_query(
        &mut self,
        pool: QueryPool,
        query: u32,
        how: Occlusion,
    ) -> Result<&mut Self, Error> {
        self.begin_passes()?;
        if self.passes.as_ref().is_some_and(|it| it.query.is_some()) {
            return Err(CommandError::from(GraphicsError::QueryBegun).into());
        }
        let query = self.begin_counting(pool, (query, 1), how)?;
        if let Some(passes) = &mut self.passes {
            passes.query = Some(query);
        }
        Ok(self)
    }

    /// Ends counting: the result is there when the passes before are done.
    ///
    /// # Errors
    /// If no query counts, or there is no memory for more commands.
    pub fn end_query(&mut self) -> Result<&mut Self, Error> {
        let query = self.passes.as_mut().and_then(|passes| passes.query.take());
        let missing = CommandError::from(GraphicsError::NoQueryBegun);
        let query = query.ok_or(missing)?;
        let lane = self.lane(SubQueue::Fragment);
        let busy = lane.map_or(SlotMask::NONE, |lane| lane.busy());
        self.in_lane(SubQueue::Fragment, |it| {
            it.flush_counted(busy)?;
            it.end_one(Ended::Counted(query.at), busy)
        })?;
        Ok(self)
    }

    /// The stream of fragments lets so many queries from one on begin at 0.
    fn begin_counting(
        &mut self,
        pool: QueryPool,
        (first, queries): (u32, u32),
        how: Occlusion,
    ) -> Result<Counting, Error> {
        let at = self.query(pool, first, queries)?;
        self.open_lane(SubQueue::Fragment)?;
        self.wait_for_resets()?;
        self.in_lane(SubQueue::Fragment, |it| {
            for number in 0..4 {
                it.move_to(Reg::new(ZEROS.number().wrapping_add(number)), 0)?;
            }
            it.load_pair(TEMPORARY, at.0)?;
            // Of 32 views the last is at 496.
            for offset in (0_i16..)
                .step_by(QUERY_BYTES as usize)
                .take(queries as usize)
            {
                it.push(StoreMultiple {
                    base_register: ZEROS,
                    mask: RegMask::first(4),
                    address: TEMPORARY,
                    offset,
                })?;
            }
            it.wait_slots(OTHERS.mask())
        })?;
        Ok(Counting { at, how, queries })
    }

    /// The stream of fragments comes behind the resets of queries, which the compute stream does.
    fn wait_for_resets(&mut self) -> Result<(), Error> {
        if core::mem::take(&mut self.queries_reset) {
            self.wait_for_stream(SubQueue::Fragment, SubQueue::Compute)?;
        }
        Ok(())
    }

    /// Whether queries are over with the pass that is recorded.
    pub(super) fn has_ended_queries(&self) -> bool {
        self.passes.as_ref().is_some_and(|it| !it.ended.is_empty())
    }

    /// Makes the queries of a pass available, whose fragments count on slots.
    pub(super) fn finish_queries(&mut self, slots: SlotMask) -> Result<(), Error> {
        let ended = match &mut self.passes {
            Some(passes) if !passes.ended.is_empty() => core::mem::take(&mut passes.ended),
            _ => return Ok(()),
        };
        self.in_lane(SubQueue::Fragment, |it| {
            it.flush_counted(slots)?;
            for ended in &ended.last {
                it.end_one(*ended, slots)?;
            }
            let mut next = ended.before;
            while let Some(memory) = next {
                for place in (8..).step_by(8).take(KEPT) {
                    let word = it.device.hw.platform.load64(memory.offset(place));
                    it.end_one(ended_of(word), slots)?;
                }
                let before = it.device.hw.platform.load64(memory);
                next = (before != 0).then_some(PhysicalAddress(before));
            }
            Ok(())
        })
    }

    /// What the cores have counted is in memory, behind what counts on slots.
    fn flush_counted(&mut self, wait_mask: SlotMask) -> Result<(), Error> {
        if let Some(lane) = self.lane(SubQueue::Fragment) {
            lane.flushes = true;
        }
        let always = self.words()?.flush_always();
        self.put(always)?;
        self.push(FlushCache2 {
            l2_flush_mode: FlushMode::Clean,
            lsc_flush_mode: FlushMode::Clean,
            other_flush_mode: OtherFlushMode::None,
            latest_flush_id: FLUSH_ID,
            wait_mask,
            signal_slot: QUERIES,
            ..FlushCache2::default()
        })
    }

    /// A result is there behind what counts on slots.
    fn end_one(&mut self, ended: Ended, slots: SlotMask) -> Result<(), Error> {
        let at = match ended {
            Ended::Counted(at) => at,
            Ended::Timed(at) => {
                self.load_pair(TEMPORARY, at.0)?;
                self.push(StoreState {
                    state: StoredState::Timestamp,
                    address: TEMPORARY,
                    wait_mask: slots,
                    signal_slot: QUERIES,
                    ..StoreState::default()
                })?;
                at
            }
        };
        self.load_pair(TEMPORARY, at.offset(SYNC_OFFSET).0)?;
        self.load_pair(VALUE, 1)?;
        self.push(SyncSet32 {
            address: TEMPORARY,
            data: VALUE.low(),
            scope: SyncScope::System,
            error_propagate: true,
            wait_mask: slots | QUERIES.mask(),
            signal_slot: DEFERRED,
            ..SyncSet32::default()
        })
    }
}
