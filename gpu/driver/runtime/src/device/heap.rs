//! Tiler heaps: memory that the tiler takes while it bins, in chunks, and that the host adds to when it runs out.
//!
//! A heap grows in `poll`, from chunks that were made before: nothing is mapped there. What is used up is made again by
//! [`Device::refill_tiler_heap`]. A heap that may not grow is answered with nothing: then the firmware waits for fragments that free
//! chunks, and if there are none it runs the handler of the pass, which renders what is binned so far (`graphics/incremental.rs`).
//! A stream of the caller's own without a handler fails, or waits for one.
//! Facts: hardware/csf-scheduling.md 7, command-stream.md 1.12.

use super::{Device, Kind};
use crate::error::{Error, Thing};
use crate::fault::{Cause, Recovery};
use crate::group::{STREAMS, TilerBinding, ring_streams};
use crate::handle::{Queue, Space, TilerHeap};
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::fail;
use crate::slab::Key;
use crate::tiler_page::{self, GEOMETRY_BYTES, HEAP_DESCRIPTOR, PAGE_BYTES};
use crate::vm::{GpuAddress, Protection};
use eitri_csf::interface::stream::{
    CS_HEAP_ADDRESS, CS_HEAP_FRAG_END, CS_HEAP_VT_END, CS_HEAP_VT_START, CS_TILER_HEAP_END,
    CS_TILER_HEAP_START, cs_req,
};

const WHAT: Thing = Thing::TilerHeap;

/// Bytes of a heap context: opaque to the host, zero at first.
const CONTEXT_BYTES: u64 = 32;
/// Bytes of a chunk that its header takes.
const CHUNK_HEADER: u64 = 64;
/// The tags of a heap's other areas: the page of the queue that it serves, and the memory between its position shading and its
/// tiler. Those of chunks are their numbers.
const PAGE: u32 = 1 << 30;
const GEOMETRY: u32 = PAGE + 1;
/// Units of a chunk's size in the encoding of its address, which are below what addresses are aligned to.
const UNIT: u64 = 4096;

/// How a tiler heap is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilerHeapConfig {
    /// Bytes of a chunk: 128 KiB to 8 MiB, a multiple of 4096.
    pub chunk_bytes: u32,
    /// Chunks at first; at least one.
    pub initial: u32,
    /// Chunks at most, those in reserve included.
    pub most: u32,
    /// Chunks that lie ready for the heap to grow by.
    pub reserve: u32,
    /// Render passes that may be in flight when the heap grows: with more of them it waits for one to end.
    pub passes: u32,
}

impl Default for TilerHeapConfig {
    /// As one driver has it (hardware/command-stream.md 6.19), with two chunks in reserve.
    fn default() -> TilerHeapConfig {
        TilerHeapConfig {
            chunk_bytes: 2 << 20,
            initial: 5,
            most: 64,
            reserve: 2,
            passes: 65_535,
        }
    }
}

/// What is known of a heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heap {
    config: TilerHeapConfig,
    /// Chunks that there are, and those of them that the GPU has.
    made: u32,
    given: u32,
    /// The chunk that leads to all others that it had when they were linked last.
    first: u32,
    /// The queue that it serves.
    serves: Option<Key>,
}

/// Where a heap is, for command streams and the tiler's heap descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilerHeapInfo {
    /// The heap context, for HEAP_SET.
    pub context: GpuAddress,
    /// The first chunk, for the descriptor.
    pub first_chunk: GpuAddress,
    /// Bytes of each chunk.
    pub chunk_bytes: u32,
    /// Chunks that the GPU has.
    pub chunks: u32,
    /// Chunks that lie ready.
    pub reserve: u32,
}

/// A heap that has no memory left, as a stream's words tell it.
#[derive(Clone, Copy, Debug)]
struct Exhausted {
    context: GpuAddress,
    started: u32,
    ended: u32,
    fragments: u32,
}

impl<P: Platform> Device<'_, '_, P> {
    /// Makes a tiler heap.
    ///
    /// # Errors
    /// If the configuration is none, or there is no memory or no place in the storage for it. A chunk is an object.
    pub fn create_tiler_heap(
        &mut self,
        space: Space,
        config: TilerHeapConfig,
    ) -> Result<TilerHeap, Error> {
        let bytes = u64::from(config.chunk_bytes);
        let sizes = (128 << 10)..=(8 << 20);
        let good = sizes.contains(&bytes) && bytes.is_multiple_of(UNIT);
        if !good || config.initial == 0 || config.initial > config.most {
            return Err(Error::TilerHeap(config));
        }
        let heap = Heap {
            config,
            made: 0,
            given: config.initial,
            first: config.initial.saturating_sub(1),
            serves: None,
        };
        let kind = Kind::Heap(heap);
        let what = "a tiler heap";
        let key = self.create_object(space, what, CONTEXT_BYTES, Protection::Data, kind)?;
        let heap = TilerHeap(key);
        let ready = config.initial.saturating_add(config.reserve);
        if let Err(error) = self.make_chunks(key, ready.min(config.most)) {
            let _ = self.destroy_tiler_heap(heap);
            return Err(error);
        }
        Ok(heap)
    }

    /// Destroys a tiler heap with its chunks. No queue of its space may have work that uses it.
    ///
    /// # Errors
    /// If a queue of its space has a job in flight. Or if it can't be unmapped, which costs the device.
    pub fn destroy_tiler_heap(&mut self, heap: TilerHeap) -> Result<(), Error> {
        let space = self.object(heap.0, WHAT)?.space;
        // Which heap a stream uses stands in its commands.
        let of_space = |queue: crate::handle::Queue| {
            self.groups
                .get(queue.0)
                .is_some_and(|group| group.space == space)
        };
        let open = self.jobs.iter();
        let open = open
            .map(|(_, job)| job)
            .find(|job| !job.over && of_space(job.fence.queue));
        if let Some(by) = open.map(|job| job.fence) {
            return Err(Error::InUse { what: WHAT, by });
        }
        self.destroy_object(heap.0, WHAT)
    }

    /// Where a heap is, and how many chunks it has.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn tiler_heap(&self, heap: TilerHeap) -> Result<TilerHeapInfo, Error> {
        let (context, it) = self.heap(heap.0)?;
        let (_, first_chunk) = self
            .chunk(heap.0, it.first)
            .ok_or(Error::Gone { what: WHAT })?;
        Ok(TilerHeapInfo {
            context,
            first_chunk,
            chunk_bytes: it.config.chunk_bytes,
            chunks: it.given,
            reserve: it.made.saturating_sub(it.given),
        })
    }

    /// Makes chunks until the reserve of a heap is full again, as far as the heap may have more.
    ///
    /// # Errors
    /// If it was destroyed, or there is no memory or no place in the storage.
    pub fn refill_tiler_heap(&mut self, heap: TilerHeap) -> Result<(), Error> {
        let (_, it) = self.heap(heap.0)?;
        let ready = it.given.saturating_add(it.config.reserve);
        self.make_chunks(heap.0, ready.min(it.config.most))
    }

    /// Lets render passes of a queue use a heap, which serves no other queue that is still there. The heap begins anew: what was
    /// tiled into it before is void.
    ///
    /// # Errors
    /// If one of both was destroyed, they are in different spaces, the heap serves another queue, or the queue has a job in
    /// flight; if there is no memory or no place in the storage; or if the GPU's caches are not cleaned in time, which costs the
    /// device.
    pub fn bind_tiler_heap(&mut self, queue: Queue, heap: TilerHeap) -> Result<(), Error> {
        let (_, it) = self.heap(heap.0)?;
        let group = self.group(queue)?;
        if group.space != self.object(heap.0, WHAT)?.space {
            return Err(Error::OtherSpace { what: WHAT });
        }
        let mut busy = group.streams.iter();
        if let Some(by) = busy.find_map(|stream| stream.oldest(&self.jobs)) {
            let (what, by) = (Thing::Queue, by.fence);
            return Err(Error::InUse { what, by });
        }
        let served = it.serves.filter(|other| *other != queue.0);
        if served.is_some_and(|other| self.group(Queue(other)).is_ok()) {
            return Err(Error::TilerHeapServes {
                heap,
                queue: Queue(served.unwrap_or(queue.0)),
            });
        }
        self.enable_drawing()?;
        let page = self.heap_area(heap.0, PAGE, PAGE_BYTES, Protection::Shared)?;
        let geometry = self.heap_area(heap.0, GEOMETRY, GEOMETRY_BYTES, Protection::Data)?;
        self.wait_for_mmu();
        self.empty_caches()?;
        if let Some(it) = self.heap_mut(heap.0) {
            it.serves = Some(queue.0);
        }
        self.rebuild_heap(heap.0);
        let context = self.object(heap.0, WHAT)?.mapping.address();
        let mapping = &self.object(page, WHAT)?.mapping;
        let (memory, address) = (mapping.memory(), mapping.address());
        let geometry = self.object(geometry, WHAT)?.mapping.address();
        let words = tiler_page::words(context.offset(HEAP_DESCRIPTOR), geometry, context);
        self.hw.platform.write_words(memory, &words);
        self.hw.platform.clean(memory.span(PAGE_BYTES));
        if let Some(group) = self.groups.get_mut(queue.0) {
            group.tiler = Some(TilerBinding {
                heap: heap.0,
                page: address,
                base: 0,
            });
        }
        Ok(())
    }

    /// An area of a heap, made when it is asked for first.
    fn heap_area(
        &mut self,
        heap: Key,
        tag: u32,
        bytes: u64,
        protection: Protection,
    ) -> Result<Key, Error> {
        let object = self.object(heap, WHAT)?;
        if let Some(area) = self.links.tagged(object.list, tag) {
            return Ok(area);
        }
        let space = Space(object.space);
        let key = self.create_object(space, "a tiler's memory", bytes, protection, Kind::Area)?;
        if let Err(error) = self.link_new(heap, key, Some(tag)) {
            let _ = self.destroy_object(key, WHAT);
            return Err(error);
        }
        Ok(key)
    }

    /// Lets a heap begin anew: nobody has tiled into it. The GPU does not use it, and its caches hold nothing of it.
    pub(super) fn rebuild_heap(&mut self, key: Key) {
        let Ok((_, heap)) = self.heap(key) else {
            return;
        };
        let bytes = heap.config.chunk_bytes;
        let mut before = None;
        let mut head = None;
        for number in 0..heap.given {
            let Some((at, address)) = self.chunk(key, number) else {
                break;
            };
            let next = before.map_or(0, |before| encoded(before, bytes));
            self.hw
                .platform
                .write_words(at, &[next, 0, 0, 0, 0, 0, 0, 0]);
            self.hw.platform.clean(at.span(CHUNK_HEADER));
            (before, head) = (Some(address), Some(number));
        }
        let (Some(first), Some(number)) = (before, head) else {
            return;
        };
        if let Some(heap) = self.heap_mut(key) {
            heap.first = number;
        }
        let Some(memory) = self.objects.get(key).map(|it| it.mapping.memory()) else {
            return;
        };
        self.hw.platform.zero(memory, CONTEXT_BYTES);
        // A chunk's size is a multiple of 4096, which is all that can be wrong with it.
        let arch = self.hw.properties.arch;
        if let Ok(words) = tiler_page::heap_descriptor(arch, first, bytes) {
            let at = memory.offset(HEAP_DESCRIPTOR);
            for (word, place) in words.into_iter().zip((0..).step_by(4)) {
                self.hw.platform.store32(at.offset(place), word);
            }
        }
        self.hw
            .platform
            .clean(memory.span(HEAP_DESCRIPTOR.saturating_add(64)));
    }

    fn heap(&self, key: Key) -> Result<(GpuAddress, Heap), Error> {
        let object = self.object(key, WHAT)?;
        match object.kind {
            Kind::Heap(heap) => Ok((object.mapping.address(), heap)),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    fn heap_mut(&mut self, key: Key) -> Option<&mut Heap> {
        match &mut self.objects.get_mut(key)?.kind {
            Kind::Heap(heap) => Some(heap),
            _ => None,
        }
    }

    /// A chunk, by its number.
    fn chunk(&self, heap: Key, number: u32) -> Option<(PhysicalAddress, GpuAddress)> {
        let list = self.objects.get(heap)?.list;
        let chunk = self.links.tagged(list, number)?;
        let mapping = &self.objects.get(chunk)?.mapping;
        Some((mapping.memory(), mapping.address()))
    }

    /// Makes chunks until there are so many. Those that the GPU has from the beginning are a list: each leads to the one that was
    /// made before, and the last to nothing.
    fn make_chunks(&mut self, heap: Key, wanted: u32) -> Result<(), Error> {
        let (_, Heap { config, .. }) = self.heap(heap)?;
        let space = Space(self.object(heap, WHAT)?.space);
        while let Some(heap_now) = self.heap_mut(heap).filter(|heap| heap.made < wanted) {
            let number = heap_now.made;
            let bytes = config.chunk_bytes.into();
            let what = "a tiler chunk";
            let key = self.create_object(space, what, bytes, Protection::Data, Kind::Area)?;
            if let Err(error) = self.link_new(heap, key, Some(number)) {
                let _ = self.destroy_object(key, WHAT);
                return Err(error);
            }
            let before = number.checked_sub(1).filter(|_| number < config.initial);
            if let Some((_, before)) = before.and_then(|before| self.chunk(heap, before)) {
                let at = self.object(key, WHAT)?.mapping.memory();
                self.hw
                    .platform
                    .store64(at, encoded(before, config.chunk_bytes));
                self.hw.platform.clean(at.span(8));
            }
            if let Some(heap) = self.heap_mut(heap) {
                heap.made = heap.made.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Answers the streams of a group whose heaps are exhausted. One that has left its slot meanwhile asks again.
    pub(super) fn answer_heaps(&mut self, key: Key, exhausted: u32) {
        let Some(group) = self.groups.get(key) else {
            return;
        };
        let (space, slot) = (group.space, group.slot());
        let mut bells = 0;
        for number in 0..STREAMS {
            let bit = 1_u32.checked_shl(number as u32).unwrap_or(0);
            if exhausted & bit == 0 {
                continue;
            }
            let slot = slot.and_then(|slot| self.hw.interface.slots.get(slot));
            let Some(blocks) = slot.and_then(|slot| slot.streams.get(number).copied()) else {
                continue;
            };
            let (input, output) = (blocks.input, blocks.output);
            let it = &mut self.hw.platform;
            let told = Exhausted {
                context: GpuAddress(output.read(it, CS_HEAP_ADDRESS)),
                started: output.read_word(it, CS_HEAP_VT_START),
                ended: output.read_word(it, CS_HEAP_VT_END),
                fragments: output.read_word(it, CS_HEAP_FRAG_END),
            };
            let chunk = match self.grow(space, told) {
                Ok(chunk) => chunk.unwrap_or(0),
                // No heap of ours, or counters that no heap can have: whatever the firmware does with nothing.
                Err(Inconsistent) => {
                    let group = self.groups.get(key);
                    let stream = group.and_then(|group| group.streams.get(number));
                    let job =
                        stream.and_then(|it| it.current_job(&mut self.hw.platform, &self.jobs));
                    if let Some(job) = job {
                        fail(&mut self.jobs, job, Cause::TilerMemory, Recovery::Continue);
                    }
                    0
                }
            };
            let it = &mut self.hw.platform;
            input.write(it, CS_TILER_HEAP_START, chunk);
            input.write(it, CS_TILER_HEAP_END, chunk);
            blocks
                .requests()
                .take_events(it, cs_req::TILER_OOM.mask32());
            bells |= bit;
        }
        if let Some(slot) = slot.and_then(|slot| self.hw.interface.slots.get(slot)) {
            ring_streams(
                &mut self.hw.platform,
                &self.hw.interface.global,
                slot,
                bells,
            );
        }
    }

    /// A chunk of the reserve for an exhausted heap; none if it may not grow, or the reserve is used up.
    fn grow(&mut self, space: Key, told: Exhausted) -> Result<Option<u64>, Inconsistent> {
        let Exhausted {
            context,
            started,
            ended,
            fragments,
        } = told;
        let heap = self
            .objects
            .iter()
            .find_map(|(key, object)| match object.kind {
                Kind::Heap(heap)
                    if object.space == space && object.mapping.address() == context =>
                {
                    Some((key, heap))
                }
                _ => None,
            });
        let (key, heap) = heap.ok_or(Inconsistent)?;
        if fragments > ended || ended >= started {
            return Err(Inconsistent);
        }
        if started.wrapping_sub(fragments) > heap.config.passes || heap.given >= heap.made {
            return Ok(None);
        }
        let Some((_, address)) = self.chunk(key, heap.given) else {
            return Ok(None);
        };
        if let Some(heap) = self.heap_mut(key) {
            heap.given = heap.given.saturating_add(1);
        }
        Ok(Some(encoded(address, heap.config.chunk_bytes)))
    }
}

/// What a stream tells of its heap makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inconsistent;

/// A chunk as the GPU names it: its address, and its size in the bits below.
const fn encoded(address: GpuAddress, bytes: u32) -> u64 {
    address.0 | (bytes as u64 / UNIT)
}
