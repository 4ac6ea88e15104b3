//! Lanes: what commands have for the streams of vertices and of fragments, and how the streams wait for each other.
//!
//! Each stream counts what it has done in a sync object of the queue's page; another waits until the count has come so far.
//! What one stream does with the iterators counts on slots 3 to 7 of its scoreboard, in turn: a pass's fragments may run while the
//! next pass is tiled.
//! Facts: hardware/graphics.md 1.3 to 1.5 and 1.11, command-stream.md 1.8, 6.7 to 6.9.

use super::error::{GraphicsError, Unsupported};
use super::queries::Counting;
use crate::command::{
    Accesses, CommandError, Level, Part, PassParts, Recorder, ShaderStage, Streams, Writer,
};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::{CacheUse, Code, Reach, SubQueue};
use crate::tiler_page::{BASE, HEAP_CONTEXT, PAGE, count_of};
use crate::vm::GpuAddress;
use eitri_cs::enums::{Condition, ErrorReject, StreamState, SyncScope};
use eitri_cs::instr::{
    AddImm64, HeapSet, LoadMultiple, Move32, ReqResource, SetSbEntry, SetStateImm32, SyncAdd64,
    SyncSet64, SyncWait64, Wait,
};
use eitri_cs::{Arch, Pair, Reg, RegMask, Slot, SlotMask, d, slot};

/// Slots of a lane's scoreboard: loads, stores and flushes; what is deferred; and the iterators', of which this is the first.
pub(super) const OTHERS: Slot = slot!(0);
pub(super) const DEFERRED: Slot = slot!(1);
const FIRST_ITERATOR: u8 = 3;
const LAST_ITERATOR: u8 = 7;

/// Registers that no job reads: two pairs for whatever is at hand, the lane's own sync object, and a one.
pub(super) const TEMPORARY: Pair = d!(66);
pub(super) const VALUE: Pair = d!(68);
const OWN: Pair = d!(88);
const ONE: Pair = d!(82);

/// What commands have for a stream of vertices or of fragments.
#[derive(Debug)]
pub(crate) struct Lane {
    writer: Writer,
    /// The slot of the iterator that the lane uses now, and those that may be busy.
    iterator: u8,
    busy: SlotMask,
    /// How far the stream counts.
    pub(super) count: u32,
    after: Streams,
    /// What is waited for already, of each stream.
    waited: [u32; 3],
    /// It flushes caches.
    pub(super) flushes: bool,
    /// The stream copies words of buffers into uniforms, and no cache holds them as they were.
    pub(super) filled: bool,
}

impl Lane {
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
/// [`crate::device::Drawing`].
#[derive(Debug)]
pub(crate) struct Passes<'r, 's, 'd, P> {
    /// Ends the lanes.
    pub(crate) finish: Finish<'r, 's, 'd, P>,
    /// Orders what lanes do.
    pub(crate) order: Order<'r, 's, 'd, P>,
    tiling: Option<Lane>,
    fragments: Option<Lane>,
    /// Of the compute stream: how far it counts, and where its commands ended then.
    compute: (u32, u64),
    /// What it waits for already, of each stream.
    waited: [u32; 3],
    /// Where the table of sample positions stands that was written last, and for how many samples.
    pub(super) locations: Option<(u32, GpuAddress)>,
    /// The query that counts in all passes.
    pub(super) query: Option<Counting>,
}

type Finish<'r, 's, 'd, P> = fn(&mut Recorder<'r, 's, 'd, P>) -> Result<PassParts, Error>;
type Order<'r, 's, 'd, P> =
    fn(&mut Recorder<'r, 's, 'd, P>, Accesses, Accesses) -> Result<(), Error>;

/// The streams that do some of these accesses.
pub(crate) fn streams_of(accesses: Accesses) -> Streams {
    let vertex = Accesses::INDEX_READ | Accesses::VERTEX_READ | Accesses::INDIRECT_READ;
    let fragment = Accesses::INPUT_ATTACHMENT_READ
        | Accesses::COLOR_READ
        | Accesses::COLOR_WRITE
        | Accesses::DEPTH_STENCIL_READ
        | Accesses::DEPTH_STENCIL_WRITE
        // Clears, blits and resolves of images are passes.
        | Accesses::TRANSFER_READ
        | Accesses::TRANSFER_WRITE;
    let compute = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE | Accesses::INDIRECT_READ;
    let shaders = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
    let of = |own: Accesses, stage, stream| {
        let by_shaders = shaders.in_stage(stage);
        if accesses.any_of(own) || accesses.any_of(by_shaders) {
            Streams::of(stream)
        } else {
            Streams::NONE
        }
    };
    of(vertex, ShaderStage::Vertex, SubQueue::VertexTiler)
        .and(of(fragment, ShaderStage::Fragment, SubQueue::Fragment))
        .and(of(compute, ShaderStage::Compute, SubQueue::Compute))
}

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    /// Lets commands have render passes.
    pub(super) fn begin_passes(&mut self) -> Result<(), Error> {
        if self.level != Level::Primary {
            return Err(GraphicsError::unsupported(Unsupported::Secondary).into());
        }
        self.device.enable_drawing()?;
        if self.passes.is_none() {
            self.passes = Some(Passes {
                finish: Self::finish_passes,
                order: Self::order_passes,
                tiling: None,
                fragments: None,
                compute: (0, self.writer.end().0),
                waited: [0; 3],
                locations: None,
                query: None,
            });
            // Tiler contexts are memory of the commands' own.
            self.exclusive = true;
            let (before, after) = self.ordered;
            self.order_passes(before, after)?;
        }
        Ok(())
    }

    /// The lane of a stream, if there is one.
    pub(super) fn lane(&mut self, stream: SubQueue) -> Option<&mut Lane> {
        let passes = self.passes.as_mut()?;
        match stream {
            SubQueue::VertexTiler => passes.tiling.as_mut(),
            SubQueue::Fragment => passes.fragments.as_mut(),
            SubQueue::Compute => None,
        }
    }

    /// Records what `record` says for a stream, of which there is a lane.
    pub(super) fn in_lane<T>(
        &mut self,
        stream: SubQueue,
        record: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.swap_writers(stream);
        let result = record(self);
        self.swap_writers(stream);
        result
    }

    /// Lets instructions and data go into a lane; and back again.
    fn swap_writers(&mut self, stream: SubQueue) {
        let Some(passes) = &mut self.passes else {
            return;
        };
        let lane = match stream {
            SubQueue::VertexTiler => passes.tiling.as_mut(),
            SubQueue::Fragment => passes.fragments.as_mut(),
            SubQueue::Compute => None,
        };
        if let Some(lane) = lane {
            core::mem::swap(&mut lane.writer, &mut self.writer);
        }
    }

    /// Makes the lane of a stream, which begins with what all commands of that stream need.
    pub(super) fn open_lane(&mut self, stream: SubQueue) -> Result<(), Error> {
        if self.lane(stream).is_some() {
            return Ok(());
        }
        let block = self.new_block(0)?;
        let lane = Lane {
            writer: Writer::new(block),
            iterator: FIRST_ITERATOR,
            busy: SlotMask::NONE,
            count: 0,
            after: Streams::NONE,
            waited: [0; 3],
            flushes: false,
            filled: false,
        };
        if let Some(passes) = &mut self.passes {
            match stream {
                SubQueue::VertexTiler => passes.tiling = Some(lane),
                SubQueue::Fragment => passes.fragments = Some(lane),
                SubQueue::Compute => {}
            }
        }
        self.in_lane(stream, |it| {
            it.push(match stream {
                SubQueue::Fragment => ReqResource {
                    fragment: true,
                    ..ReqResource::default()
                },
                _ => ReqResource {
                    tiler: true,
                    idvs: true,
                    ..ReqResource::default()
                },
            })?;
            if it.arch() >= Arch::V11 {
                it.push(SetStateImm32 {
                    state: StreamState::SelectOther,
                    value: OTHERS.number().into(),
                })?;
            }
            it.select(FIRST_ITERATOR)?;
            it.add_to(OWN, PAGE, count_of(stream))?;
            it.push(SyncSet64 {
                address: OWN,
                data: BASE,
                scope: SyncScope::Csg,
                ..SyncSet64::default()
            })?;
            it.load_pair(ONE, 1)?;
            it.push(LoadMultiple {
                base_register: TEMPORARY.low(),
                mask: RegMask::first(2),
                address: PAGE,
                offset: HEAP_CONTEXT,
            })?;
            it.wait_slots(OTHERS.mask())?;
            it.push(HeapSet { address: TEMPORARY })
        })
    }

    /// Selects the slot of an iterator; loads and stores stay where they are.
    fn select(&mut self, iterator: u8) -> Result<(), Error> {
        let endpoint = slot_of(iterator);
        if self.arch() < Arch::V11 {
            self.push(SetSbEntry {
                endpoint_entry: endpoint,
                other_entry: OTHERS,
            })
        } else {
            self.push(SetStateImm32 {
                state: StreamState::SelectEndpoint,
                value: iterator.into(),
            })
        }
    }

    /// Goes on to the next iterator slot of a lane, in whose commands this is, when it has drained; gives the one before.
    pub(super) fn next_iterator(&mut self, stream: SubQueue) -> Result<Slot, Error> {
        let Some(lane) = self.lane(stream) else {
            return Ok(OTHERS);
        };
        let before = slot_of(lane.iterator);
        lane.busy = lane.busy | before.mask();
        lane.iterator = match lane.iterator {
            FIRST_ITERATOR..LAST_ITERATOR => lane.iterator.wrapping_add(1),
            _ => FIRST_ITERATOR,
        };
        let (next, busy) = (lane.iterator, lane.busy);
        let mask = slot_of(next).mask();
        if busy.contains(slot_of(next)) {
            self.wait_slots(mask)?;
        }
        self.select(next)?;
        Ok(before)
    }

    /// The slot that a lane's iterator counts on now.
    pub(super) fn iterator(&mut self, stream: SubQueue) -> Slot {
        self.lane(stream)
            .map_or(OTHERS, |lane| slot_of(lane.iterator))
    }

    /// Waits until slots have drained.
    pub(super) fn wait_slots(&mut self, wait_mask: SlotMask) -> Result<(), Error> {
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
        self.push(Move32 {
            destination,
            immediate,
        })
    }

    /// Counts one more when the work on a slot is done, in the commands of that lane.
    pub(super) fn count_up(&mut self, stream: SubQueue, slot: Slot) -> Result<(), Error> {
        self.push(SyncAdd64 {
            address: OWN,
            data: ONE,
            scope: SyncScope::Csg,
            error_propagate: false,
            wait_mask: slot.mask(),
            signal_slot: DEFERRED,
            ..SyncAdd64::default()
        })?;
        if let Some(lane) = self.lane(stream) {
            lane.count = lane.count.saturating_add(1);
        }
        Ok(())
    }

    /// Lets one stream wait until another has come as far as it counts now; if it counts nothing yet, for what it has of before.
    pub(super) fn wait_for_stream(
        &mut self,
        stream: SubQueue,
        other: SubQueue,
    ) -> Result<(), Error> {
        if other == SubQueue::Compute {
            self.count_compute()?;
        }
        let Some(passes) = &mut self.passes else {
            return Ok(());
        };
        let number = other as usize;
        let count = match other {
            SubQueue::VertexTiler => passes.tiling.as_ref().map_or(0, |lane| lane.count),
            SubQueue::Fragment => passes.fragments.as_ref().map_or(0, |lane| lane.count),
            SubQueue::Compute => passes.compute.0,
        };
        let waited = match stream {
            SubQueue::VertexTiler => passes.tiling.as_mut().map(|it| &mut it.waited),
            SubQueue::Fragment => passes.fragments.as_mut().map(|it| &mut it.waited),
            SubQueue::Compute => Some(&mut passes.waited),
        };
        if count == 0 {
            let after = match stream {
                SubQueue::VertexTiler => passes.tiling.as_mut().map(|it| &mut it.after),
                SubQueue::Fragment => passes.fragments.as_mut().map(|it| &mut it.after),
                SubQueue::Compute => Some(&mut self.after),
            };
            if let Some(after) = after {
                *after = after.and(Streams::of(other));
            }
            return Ok(());
        }
        let Some(waited) = waited.and_then(|all| all.get_mut(number)) else {
            return Ok(());
        };
        if *waited >= count {
            return Ok(());
        }
        *waited = count;
        self.in_lane(stream, |it| {
            it.add_to(TEMPORARY, PAGE, count_of(other))?;
            it.add_to(VALUE, BASE, count.saturating_sub(1))?;
            it.push(SyncWait64 {
                address: TEMPORARY,
                data: VALUE,
                condition: Condition::Greater,
                // Whose work failed is told by its own status.
                error_reject: ErrorReject::Reject,
            })
        })
    }

    /// Counts one more on the compute stream, behind what it has been given since that was done last.
    fn count_compute(&mut self) -> Result<(), Error> {
        let end = self.writer.end().0;
        let Some(passes) = &self.passes else {
            return Ok(());
        };
        if passes.compute.1 == end {
            return Ok(());
        }
        let count = passes.compute.0.saturating_add(1);
        self.wait_for_jobs()?;
        self.wait_for_memory()?;
        self.add_to(TEMPORARY, PAGE, count_of(SubQueue::Compute))?;
        self.add_to(VALUE, BASE, count)?;
        self.push(SyncSet64 {
            address: TEMPORARY,
            data: VALUE,
            scope: SyncScope::Csg,
            ..SyncSet64::default()
        })?;
        let end = self.writer.end().0;
        if let Some(passes) = &mut self.passes {
            passes.compute = (count, end);
        }
        Ok(())
    }

    /// Orders what streams do: those that do what is after wait for those that did what was before, and read-only caches are
    /// invalidated before what reads through them.
    fn order_passes(&mut self, before: Accesses, after: Accesses) -> Result<(), Error> {
        let (sources, targets) = (streams_of(before), streams_of(after));
        // Blits and resolves read through textures, too.
        let through = Accesses::THROUGH_TEXTURES | Accesses::TRANSFER_READ;
        let stale = before.any_of(Accesses::WRITES) && after.any_of(through);
        for target in SubQueue::ALL {
            if !targets.has(target) {
                continue;
            }
            if target != SubQueue::Compute {
                self.open_lane(target)?;
            }
            for source in SubQueue::ALL {
                if source != target && sources.has(source) {
                    self.wait_for_stream(target, source)?;
                }
            }
            if target == SubQueue::Compute {
                continue;
            }
            let busy = self.lane(target).map_or(SlotMask::NONE, |lane| lane.busy());
            self.in_lane(target, |it| {
                if sources.has(target) && busy != SlotMask::NONE {
                    it.wait_slots(busy | DEFERRED.mask())?;
                }
                if stale {
                    it.flush_lane(Reach::ReadOnly)?;
                }
                Ok(())
            })?;
            if let Some(lane) = self.lane(target) {
                lane.flushes |= stale;
                if sources.has(target) {
                    lane.busy = SlotMask::NONE;
                }
            }
        }
        Ok(())
    }

    /// Flushes caches, and waits for that, in the commands of a lane.
    pub(super) fn flush_lane(&mut self, reach: Reach) -> Result<(), Error> {
        let words = self.words()?;
        let all = [
            words.flush_always(),
            words.flush(reach),
            words.wait_others(),
        ];
        self.put_together(&all)
    }

    /// Ends the lanes, which are recorded then.
    fn finish_passes(&mut self) -> Result<PassParts, Error> {
        let begun = self.words()?.begin_count();
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
            self.in_lane(stream, |it| it.push(ReqResource::default()))?;
            let Some(passes) = &mut self.passes else {
                break;
            };
            let lane = match stream {
                SubQueue::VertexTiler => passes.tiling.as_mut(),
                _ => passes.fragments.as_mut(),
            };
            let Some(lane) = lane else { continue };
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

fn slot_of(iterator: u8) -> Slot {
    Slot::new(iterator).unwrap_or(OTHERS)
}
