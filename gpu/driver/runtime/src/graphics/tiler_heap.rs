//! Tiler heaps: memory that the tiler takes while it bins, in chunks, and that the host adds to when it runs out.
//!
//! A heap grows in `poll`, from chunks that were made before: nothing is mapped there. What is used up is made again by
//! [`Device::refill_tiler_heap`]. A heap that may not grow is answered with nothing: then the firmware waits for fragments that free
//! chunks, and if there are none it runs the handler of the pass, which renders what is binned so far (`graphics/incremental.rs`).
//! A stream of the caller's own without a handler fails, or waits for one.
//! Facts: hardware/csf-scheduling.md 7, command-stream.md 1.12.

use super::tiler_page::{self, GEOMETRY_BYTES, HEAP_DESCRIPTOR, PAGE_BYTES};
use crate::access::SharedBlock;
use crate::device::{Device, Kind, NoSuchHeap};
use crate::error::{Error, Thing};
use crate::handle::{Queue, Space, TilerHeap};
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::Key;
use crate::vm::{GpuAddress, Protection};
use core::fmt;
use eitri_csf::interface::stream::{
    CS_HEAP_ADDRESS, CS_HEAP_FRAG_END, CS_HEAP_VT_END, CS_HEAP_VT_START,
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

/// Writes why there is no such heap.
pub(crate) fn fmt_refused_heap(
    config: &TilerHeapConfig,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let TilerHeapConfig {
        chunk_bytes,
        initial,
        most,
        ..
    } = config;
    write!(
        f,
        "a tiler heap of {initial} to {most} chunks of {chunk_bytes} bytes can't be: a chunk has 128 KiB to 8 MiB in whole pages, and there is one at least"
    )
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

/// The tiler heap that the passes of a group use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TilerBinding {
    pub(crate) heap: Key,
    /// The page in which called code finds the heap, and by which its streams follow one another: [`super::tiler_page`].
    pub(crate) page: GpuAddress,
    /// From this value on the streams count in the next submission.
    pub(crate) base: u64,
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
    pub(crate) fn rebuild_heap(&mut self, key: Key) {
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

    /// A chunk of the reserve for the exhausted heap that a stream's words describe; none if it may not grow, or the reserve is used
    /// up.
    pub(crate) fn grow_tiler_heap(
        &mut self,
        space: Key,
        words: SharedBlock,
    ) -> Result<Option<u64>, NoSuchHeap> {
        let it = &mut self.hw.platform;
        let context = GpuAddress(words.read(it, CS_HEAP_ADDRESS));
        let started = words.read_word(it, CS_HEAP_VT_START);
        let ended = words.read_word(it, CS_HEAP_VT_END);
        let fragments = words.read_word(it, CS_HEAP_FRAG_END);
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
        let (key, heap) = heap.ok_or(NoSuchHeap)?;
        if fragments > ended || ended >= started {
            return Err(NoSuchHeap);
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

/// A chunk as the GPU names it: its address, and its size in the bits below.
const fn encoded(address: GpuAddress, bytes: u32) -> u64 {
    address.0 | (bytes as u64 / UNIT)
}
