//! Lanes: what commands have for the streams of vertices and of fragments, and how the streams wait for each other.
//!
//! Each stream counts what it has done in a sync object of the queue's page; another waits until the count has come so far.
//! What one stream does with the iterators counts on slots 3 to 7 of its scoreboard, in turn: a pass's fragments may run while the
//! next pass is tiled.
//! Facts: hardware/graphics.md 1.3 to 1.5 and 1.11, command-stream.md 1.8, 6.7 to 6.9.

use super::batch::Batch;
use super::draw_uniforms::DrawUniforms;
use super::encoded::{EncodedDraws, ITERATORS, OfIterator};
use super::error::{GraphicsError, Unsupported};
use super::first_draw::LanePassState;
use super::pass_bound::PassBound;
use super::pass_parts::{Part, PassParts};
use super::pass_template::LastTargets;
use super::queries::{Counting, EndedQueries};
use super::registers::Loaded;
use super::tiling::LastContext;
use crate::command::{Accesses, CommandError, Level, Recorder, Streams, Writer};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::{CacheUse, Code, Reach, SubQueue};
use crate::vm::GpuAddress;
use eitri_cs::instr::{AddImm64, Wait};
use eitri_cs::{Pair, Reg, Slot, SlotMask, d, slot};

/// Slots of a lane's scoreboard: loads, stores and flushes; and what is deferred.
pub(super) const OTHERS: Slot = slot!(0);
pub(super) const DEFERRED: Slot = slot!(1);

/// Registers that no job reads: two pairs for whatever is at hand, the lane's own sync object, and a one.
pub(super) const TEMPORARY: Pair = d!(66);
pub(super) const VALUE: Pair = d!(68);
pub(super) const OWN: Pair = d!(88);
pub(super) const ONE: Pair = d!(82);

/// The slots of iterators.
pub(super) const fn iterators() -> [Slot; ITERATORS] {
    [slot!(3), slot!(4), slot!(5), slot!(6), slot!(7)]
}

/// What commands have for a stream of vertices or of fragments.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(super) writer: Writer,
    /// The iterator that the lane uses now, from the first one on, and the slots that may be busy.
    iterator: usize,
    pub(super) busy: SlotMask,
    /// How far the stream counts.
    pub(super) count: u32,
    pub(super) after: Streams,
    /// What is waited for already, of each stream.
    pub(super) waited: [u32; 3],
    /// It flushes caches.
    pub(super) flushes: bool,
    /// The stream copies words of buffers into uniforms, and no cache holds them as they were.
    pub(super) filled: bool,
    /// What the registers of draws hold.
    pub(super) loaded: Loaded,
}

impl Lane {
    /// Nothing yet.
    pub(super) const fn new(writer: Writer) -> Lane {
        Lane {
            writer,
            iterator: 0,
            busy: SlotMask::NONE,
            count: 0,
            after: Streams::NONE,
            waited: [0; 3],
            flushes: false,
            filled: false,
            loaded: Loaded::NOTHING,
        }
    }

    /// Slots on which iterators may count.
    pub(super) fn busy(&self) -> SlotMask {
        if self.count == 0 {
            SlotMask::NONE
        } else {
            self.busy | slot_of(self.iterator).mask()
        }
    }
}

/// What commands have of render passes. Reached through pointers from where all commands pass: see
/// [`super::Drawing`].
#[derive(Debug)]
pub(crate) struct Passes<'r, 's, 'd, P> {
    /// Ends the lanes.
    finish: Finish<'r, 's, 'd, P>,
    /// Orders what lanes do.
    pub(super) order: Order<'r, 's, 'd, P>,
    pub(super) tiling: Option<Lane>,
    pub(super) fragments: Option<Lane>,
    /// Of the compute stream: how far it counts, and where its commands ended then.
    pub(super) compute: (u32, u64),
    /// What it waits for already, of each stream.
    pub(super) waited: [u32; 3],
    /// Where the table of sample positions stands that was written last, and for how many samples.
    pub(super) locations: Option<(u32, GpuAddress)>,
    /// The stream into whose lane instructions go now, where they do.
    pub(super) current: Option<SubQueue>,
    /// The query that counts in all passes.
    pub(super) query: Option<Counting>,
    /// The last pass was suspended.
    pub(super) suspended: bool,
    /// Draws that run in turn are counted.
    pub(super) marks: bool,
    /// Push constants of the pass, and the uniforms of the pipeline that was used last.
    pub(super) uniforms: DrawUniforms,
    /// Queries that are over with the pass that is recorded.
    pub(super) ended: EndedQueries,
    /// What the last passes render to, and what is bound in the one that is recorded.
    pub(super) targets: LastTargets,
    pub(super) bound: PassBound,
    /// What of the last pass the registers of the vertex lane hold.
    pub(super) last_state: LanePassState,
    /// The context of a tiling that has begun and is not finished: that of the pass that is recorded, or of one that was dropped.
    pub(super) unfinished: Option<GpuAddress>,
    /// The words of the last tiler context.
    pub(super) context: Option<LastContext>,
}

impl<'r, 's, 'd, P> Passes<'r, 's, 'd, P> {
    /// No pass yet, behind commands of the compute stream that end at an address.
    pub(super) const fn new(
        finish: Finish<'r, 's, 'd, P>,
        order: Order<'r, 's, 'd, P>,
        end: u64,
    ) -> Self {
        Passes {
            finish,
            order,
            tiling: None,
            fragments: None,
            compute: (0, end),
            waited: [0; 3],
            locations: None,
            current: None,
            query: None,
            suspended: false,
            marks: false,
            uniforms: DrawUniforms::NOTHING,
            ended: EndedQueries::NOTHING,
            targets: LastTargets::NOTHING,
            bound: PassBound::NOTHING,
            last_state: LanePassState::NOTHING,
            unfinished: None,
            context: None,
        }
    }

    /// The lane of a stream, if there is one.
    const fn lane(&self, stream: SubQueue) -> Option<&Lane> {
        match stream {
            SubQueue::VertexTiler => self.tiling.as_ref(),
            SubQueue::Fragment => self.fragments.as_ref(),
            SubQueue::Compute => None,
        }
    }

    /// The same, to be changed.
    pub(super) const fn lane_mut(&mut self, stream: SubQueue) -> Option<&mut Lane> {
        match stream {
            SubQueue::VertexTiler => self.tiling.as_mut(),
            SubQueue::Fragment => self.fragments.as_mut(),
            SubQueue::Compute => None,
        }
    }

    /// The writer of the lane of a stream: `current` if instructions go there now.
    pub(super) fn writer<'w>(
        &'w mut self,
        stream: SubQueue,
        current: &'w mut Writer,
    ) -> Option<&'w mut Writer> {
        if self.current == Some(stream) {
            return Some(current);
        }
        self.lane_mut(stream).map(|lane| &mut lane.writer)
    }

    /// The writer of the lane of vertices, as [`Passes::writer`] has it, and what the registers of draws hold.
    #[inline(always)]
    pub(super) fn tiling_writer<'w>(
        &'w mut self,
        current: &'w mut Writer,
    ) -> Option<(&'w mut Writer, &'w mut Loaded)> {
        self.parts_of_draws(current).tiling
    }

    /// What draws write to, and what they write of.
    #[inline(always)]
    pub(super) fn parts_of_draws<'w>(&'w mut self, current: &'w mut Writer) -> PartsOfDraws<'w> {
        let is_current = self.current == Some(SubQueue::VertexTiler);
        let tiling = self.tiling.as_mut().map(|lane| {
            // Of secondary commands the lane is all there is.
            let writer = if is_current {
                current
            } else {
                &mut lane.writer
            };
            (writer, &mut lane.loaded)
        });
        PartsOfDraws {
            tiling,
            uniforms: &mut self.uniforms,
            bound: &mut self.bound,
        }
    }
}

/// What draws write to, and what they write of.
pub(super) struct PartsOfDraws<'w> {
    /// The writer of the lane of vertices, and what the registers of draws hold; if there is such a lane.
    pub(super) tiling: Option<(&'w mut Writer, &'w mut Loaded)>,
    pub(super) uniforms: &'w mut DrawUniforms,
    pub(super) bound: &'w mut PassBound,
}

type Finish<'r, 's, 'd, P> = fn(&mut Recorder<'r, 's, 'd, P>) -> Result<PassParts, Error>;
type Order<'r, 's, 'd, P> =
    fn(&mut Recorder<'r, 's, 'd, P>, Accesses, Accesses) -> Result<(), Error>;

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    /// Lets commands have render passes.
    pub(super) fn begin_passes(&mut self) -> Result<(), Error> {
        if self.level != Level::Primary {
            return Err(GraphicsError::unsupported(Unsupported::Secondary).into());
        }
        self.device.enable_drawing()?;
        if self.passes.is_none() {
            // What was recorded before the first pass is not counted yet; nothing needs no count.
            let begun = self.words()?.begin_count();
            let end = match self.writer.holds_only(begun) {
                true => self.writer.end().0,
                false => 0,
            };
            self.passes = Some(Passes::new(Self::finish_passes, Self::order_passes, end));
            // Tiler contexts are memory of the commands' own.
            self.exclusive = true;
            let (before, after) = self.ordered;
            self.order_passes(before, after)?;
        }
        Ok(())
    }

    /// Ends the lanes, if there are some.
    pub(crate) fn finish_lanes(&mut self) -> Result<Option<PassParts>, Error> {
        let finish = self.passes.as_ref().map(|passes| passes.finish);
        finish.map(|finish| finish(self)).transpose()
    }

    /// The lane of a stream, if there is one.
    pub(super) fn lane(&mut self, stream: SubQueue) -> Option<&mut Lane> {
        self.passes.as_mut()?.lane_mut(stream)
    }

    /// Records what `record` says for a stream, of which there is a lane. Where that is recorded already it costs nothing.
    pub(super) fn in_lane<T>(
        &mut self,
        stream: SubQueue,
        record: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let before = self.set_current(Some(stream));
        if before == Some(stream) {
            return record(self);
        }
        self.swap_writers(stream);
        let result = record(self);
        self.swap_writers(stream);
        self.set_current(before);
        result
    }

    /// Notes into whose lane instructions go; gives into whose they went before.
    fn set_current(&mut self, stream: Option<SubQueue>) -> Option<SubQueue> {
        let passes = self.passes.as_mut()?;
        core::mem::replace(&mut passes.current, stream)
    }

    /// Lets instructions and data go into a lane; and back again.
    fn swap_writers(&mut self, stream: SubQueue) {
        let Some(passes) = &mut self.passes else {
            return;
        };
        if let Some(lane) = passes.lane_mut(stream) {
            lane.writer.exchange(&mut self.writer);
        }
    }

    /// Makes the lane of a stream, which begins with what all commands of that stream need.
    pub(super) fn open_lane(&mut self, stream: SubQueue) -> Result<(), Error> {
        if self.lane(stream).is_some() {
            return Ok(());
        }
        let block = self.new_block(0)?;
        let lane = Lane::new(Writer::new(block));
        if let Some(passes) = &mut self.passes {
            match stream {
                SubQueue::VertexTiler => passes.tiling = Some(lane),
                SubQueue::Fragment => passes.fragments = Some(lane),
                SubQueue::Compute => {}
            }
        }
        if self.level != Level::Primary {
            // The lane of the caller has all of this.
            return Ok(());
        }
        let begin = *self.encoded()?.begin(stream);
        self.in_lane(stream, |it| it.put_words(begin.words()))
    }

    /// The instructions that the runtime records for passes.
    pub(super) fn encoded(&self) -> Result<&EncodedDraws, Error> {
        let missing = CommandError::from(GraphicsError::NoPipeline);
        let drawing = self.device.drawing.as_ref().ok_or(missing)?;
        Ok(&drawing.encoded)
    }

    /// Those that name the slot of an iterator.
    fn of_iterator(&self, number: usize) -> Result<&OfIterator, Error> {
        let all = &self.encoded()?.iterators;
        let [first, ..] = all;
        Ok(all.get(number).unwrap_or(first))
    }

    /// Those of the iterator that a lane uses now.
    pub(super) fn own_iterator(&self, stream: SubQueue) -> Result<&OfIterator, Error> {
        let lane = self.passes.as_ref().and_then(|it| it.lane(stream));
        self.of_iterator(lane.map_or(0, |lane| lane.iterator))
    }

    /// Goes on to the next iterator slot of a lane when it has drained.
    #[inline(always)]
    pub(super) fn add_next_iterator(
        &mut self,
        stream: SubQueue,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let Some(lane) = self.lane(stream) else {
            return Ok(());
        };
        lane.busy = lane.busy | slot_of(lane.iterator).mask();
        lane.iterator = lane.iterator.wrapping_add(1);
        if lane.iterator >= ITERATORS {
            lane.iterator = 0;
        }
        let (next, busy) = (lane.iterator, lane.busy);
        let &OfIterator { select, wait, .. } = self.of_iterator(next)?;
        if busy.contains(slot_of(next)) {
            batch.put(wait);
        }
        batch.put(select);
        Ok(())
    }

    /// The slots that count what a lane has begun last: secondary commands don't know which of their caller's it is.
    pub(super) fn slots_of_iterator(&mut self, stream: SubQueue) -> SlotMask {
        if self.level == Level::Primary {
            self.iterator(stream).mask()
        } else {
            all_iterators()
        }
    }

    /// The slot that a lane's iterator counts on now.
    pub(super) fn iterator(&mut self, stream: SubQueue) -> Slot {
        self.lane(stream)
            .map_or(OTHERS, |lane| slot_of(lane.iterator))
    }

    /// Waits until slots have drained.
    pub(super) fn wait_slots(&mut self, wait_mask: SlotMask) -> Result<(), Error> {
        if wait_mask == OTHERS.mask() {
            let wait = self.words()?.wait_others();
            return self.put(wait);
        }
        self.push(Wait {
            wait_mask,
            ..Wait::default()
        })
    }

    /// Loads a pair with another and a number below 2^31.
    pub(super) fn add_to(&mut self, to: Pair, from: Pair, number: u32) -> Result<(), Error> {
        self.push(AddImm64 {
            destination: to,
            source: from,
            immediate: i32::try_from(number).unwrap_or(i32::MAX),
        })
    }

    /// Loads a register that no job's state is kept in.
    pub(super) fn move_to(&mut self, destination: Reg, immediate: u32) -> Result<(), Error> {
        let load = self.words()?.any().load32(destination);
        let load = load.map_err(CommandError::Build)?;
        self.put(load.with(immediate))
    }

    /// Notes that a lane counts one more.
    pub(super) fn note_count(&mut self, stream: SubQueue) {
        if let Some(lane) = self.lane(stream) {
            lane.count = lane.count.saturating_add(1);
        }
    }

    /// Flushes caches, and waits for that, in the commands of a lane.
    pub(super) fn flush_lane(&mut self, reach: Reach) -> Result<(), Error> {
        let words = self.words()?;
        let all = [
            words.flush_always(),
            words.flush(reach),
            words.wait_others(),
        ];
        self.put_together(all)
    }

    /// Ends the lanes, which are recorded then.
    fn finish_passes(&mut self) -> Result<PassParts, Error> {
        self.finish_dropped()?;
        let words = self.words()?;
        let (begun, end) = (words.begin_count(), words.end);
        // The last instruction stands there already: it lets go of the cores.
        let computes = !self.writer.holds_only(begun.saturating_add(1));
        let mut counts = self.passes.as_ref().map_or(0, |passes| passes.compute.0);
        let mut parts = [None; 2];
        for (part, stream) in parts
            .iter_mut()
            .zip([SubQueue::VertexTiler, SubQueue::Fragment])
        {
            if self.lane(stream).is_none() {
                continue;
            }
            self.in_lane(stream, |it| it.put(end))?;
            let Some(passes) = &mut self.passes else {
                break;
            };
            let Some(lane) = passes.lane_mut(stream) else {
                continue;
            };
            counts = counts.max(lane.count);
            let (start, bytes) = lane.writer.finish(&mut self.device.hw.platform);
            *part = Some(Part {
                code: Code { start, bytes },
                uses: CacheUse {
                    partial: lane.flushes,
                    clean: false,
                    // What a pass before has rendered may be sampled by any draw.
                    samples: true,
                    writes_texels: stream == SubQueue::Fragment,
                },
                after: lane.after,
            });
        }
        let [tiling, fragments] = parts;
        let nothing = || CommandError::from(GraphicsError::Area);
        Ok(PassParts {
            tiling,
            fragments: fragments.ok_or_else(nothing)?,
            computes,
            counts,
        })
    }
}

/// The slots of all iterators.
pub(super) fn all_iterators() -> SlotMask {
    let slots = iterators().into_iter();
    slots.fold(SlotMask::NONE, |mask, slot| mask | slot.mask())
}

fn slot_of(iterator: usize) -> Slot {
    // In memory: a list that is made for each question costs more.
    static SLOTS: [Slot; ITERATORS] = iterators();
    SLOTS.get(iterator).copied().unwrap_or(OTHERS)
}
