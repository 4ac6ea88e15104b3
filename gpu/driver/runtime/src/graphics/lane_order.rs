//! Order of streams: which streams do some accesses, and how one waits until another has done them.
//!
//! Each stream counts what it has done in a sync object of the queue's page; another waits until the count has come so far.
//! Facts: hardware/graphics.md 1.11, command-stream.md 1.8 and 6.7.

use super::encoded::EncodedDraws;
use super::lane::{DEFERRED, TEMPORARY, VALUE};
use super::tiler_page::{BASE, PAGE, count_of};
use crate::command::{Accesses, Recorder, ShaderStage, Streams};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::{Reach, SubQueue};
use eitri_cs::SlotMask;
use eitri_cs::builder::Checked;
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::SyncSet64;

/// The streams that do some of these accesses.
fn streams_of(accesses: Accesses) -> Streams {
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

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Orders what other streams do.
    pub(crate) fn order_streams(&mut self, before: Accesses, after: Accesses) -> Result<(), Error> {
        if let Some(order) = self.passes.as_ref().map(|passes| passes.order) {
            return order(self, before, after);
        }
        let (all_before, all_after) = self.ordered;
        self.ordered = (all_before | before, all_after | after);
        let others = Streams::ALL.without(Streams::of(SubQueue::Compute));
        // A barrier of all stages has added them all.
        if self.after != others && streams_of(after).has(SubQueue::Compute) {
            self.after = self
                .after
                .and(streams_of(before))
                .without(Streams::of(SubQueue::Compute));
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
        match self.wait_words(stream, other)? {
            Some(all) => self.in_lane(stream, |it| it.put_together(all)),
            None => Ok(()),
        }
    }

    /// What one stream waits with until another has come as far as it counts now, if it does not wait for that already: it will.
    pub(super) fn wait_words(
        &mut self,
        stream: SubQueue,
        other: SubQueue,
    ) -> Result<Option<[Checked; 3]>, Error> {
        let Some(passes) = &mut self.passes else {
            return Ok(None);
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
            return Ok(None);
        }
        let Some(waited) = waited.and_then(|all| all.get_mut(number)) else {
            return Ok(None);
        };
        if *waited >= count {
            return Ok(None);
        }
        *waited = count;
        let EncodedDraws {
            count_of: [first, second, third],
            count: number,
            wait_count,
            ..
        } = self.encoded()?;
        let address = match other {
            SubQueue::VertexTiler => first,
            SubQueue::Fragment => second,
            SubQueue::Compute => third,
        };
        let count = number.with(count.saturating_sub(1));
        Ok(Some([*address, count, *wait_count]))
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
    pub(super) fn order_passes(&mut self, before: Accesses, after: Accesses) -> Result<(), Error> {
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
}
