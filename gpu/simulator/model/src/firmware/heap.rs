//! Tiler heaps: what happens when the tiler has no memory left.
//!
//! Running out is a state of a stream's tiling iterator; the stream itself goes on. An injection makes it happen at an allocation
//! of the tiler, or, where nothing is drawn, blocks a stream that has a render pass open as if its tiler had asked. What follows
//! is the firmware's exchange with the host, chunk by chunk.
//!
//! Facts: hardware/csf-scheduling.md 7, command-stream.md 1.12 and 3.3 (exception handlers).

use super::group::Group;
use super::interface::{GroupBlocks, Stop, Words};
use super::slot::Slot;
use crate::defect::DrawDefect;
use crate::diagnosis::FirmwareMisuse;
use crate::fabric::Access;
use crate::fidelity::Inexact;
use crate::mmu::{Refused, Source};
use crate::stream::{Blocked, Frame, HeapWait, exception};
use eitri_csf::interface::handshake;
use eitri_csf::interface::stream::{
    CS_HEAP_ADDRESS, CS_HEAP_FRAG_END, CS_HEAP_VT_END, CS_HEAP_VT_START, CS_REQ, CS_TILER_HEAP_END,
    CS_TILER_HEAP_START, cs_req,
};

/// Bytes of a chunk's header: the address of the next, and zeros.
const HEADER: usize = 64;
/// The size in a chunk's encoded address, in units of 4096 bytes.
const SIZE: u64 = 0xfff;
/// Chunks that one answer may bring: more than any host's limit of a heap.
const MOST_CHUNKS: usize = 1024;

impl Group {
    /// vt_start, vt_end and frag_end of a heap context: what all streams of the group have moved them by.
    pub(super) fn heap_counters(&self, context: u64) -> [u32; 3] {
        let streams = self.streams.iter().flatten();
        streams.fold([0; 3], |sums, stream| {
            let moves = stream.heap_moves(context);
            core::array::from_fn(|index| sums[index].wrapping_add(moves[index]))
        })
    }

    /// The stream that has an exception handler for a heap context: the one that asks, before others.
    // FACT: which stream runs the handler when the blocked one has none is not established (hardware/command-stream.md 10,
    // 20); one with the same context. Settled by two handlers with one context on any board.
    fn handler(&self, asking: usize, context: u64) -> Option<usize> {
        let count = self.streams.len();
        (0..count)
            .map(|distance| (asking + distance) % count.max(1))
            .find(|&index| {
                let stream = self.streams.get(index).and_then(Option::as_ref);
                stream.is_some_and(|stream| {
                    stream.handler.is_some()
                        && stream.handler_depth.is_none()
                        && stream.heap_address() == context
                        && !matches!(stream.blocked, Blocked::Fault | Blocked::Fatal)
                })
            })
    }

    /// Lets streams go on for which memory was freed meanwhile.
    pub(super) fn settle_heap_waits(&mut self) {
        for index in 0..self.streams.len() {
            let Some(stream) = &self.streams[index] else {
                continue;
            };
            let free = match stream.heap_wait {
                Some(HeapWait::Fragments(then)) => {
                    let [_, _, fragments] = self.heap_counters(stream.heap_address());
                    fragments != then
                }
                Some(HeapWait::Handler) => {
                    let streams = self.streams.iter().flatten();
                    let mut running = streams.filter(|other| other.handler_depth.is_some());
                    !running.any(|other| other.heap_address() == stream.heap_address())
                }
                Some(HeapWait::NoHandler) => {
                    let context = stream.heap_address();
                    if let Some(handler) = self.handler(index, context) {
                        self.run_handler(index, handler);
                    }
                    false
                }
                _ => false,
            };
            if free && let Some(stream) = &mut self.streams[index] {
                stream.end_heap_wait();
            }
        }
    }

    /// Lets stream `handler` run its exception handler for stream `asking`.
    fn run_handler(&mut self, asking: usize, handler: usize) {
        self.set_heap_wait(asking, HeapWait::Handler);
        if let Some(stream) = &mut self.streams[handler]
            && let Some((start, length)) = stream.handler
        {
            // Whatever it waited for is looked at again when the handler has ended.
            stream.handler_depth = Some(stream.frames.len());
            stream.frames.push(Frame {
                start,
                next: start,
                end: start.saturating_add(length),
            });
            stream.blocked = Blocked::No;
        }
    }

    fn set_heap_wait(&mut self, index: usize, wait: HeapWait) {
        if let Some(stream) = &mut self.streams[index] {
            stream.heap_wait = Some(wait);
        }
    }
}

impl Slot {
    /// TILER_OOM of each stream whose heap is exhausted.
    pub(super) fn report_exhausted_heaps(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let event = cs_req::TILER_OOM.mask32();
        for (index, at) in blocks.streams.iter().enumerate() {
            let Some(group) = &mut self.group else {
                return Ok(());
            };
            let Some(stream) = &group.streams[index] else {
                continue;
            };
            if stream.heap_wait != Some(HeapWait::Wanted) {
                continue;
            }
            let context = stream.heap_address();
            let req = words.get32(at.input, CS_REQ)?;
            if handshake::pending(req, self.stream_acks[index], event) {
                continue;
            }
            let [started, ended, fragments] = group.heap_counters(context);
            words.set32(at.output, CS_HEAP_VT_START, started)?;
            words.set32(at.output, CS_HEAP_VT_END, ended)?;
            words.set32(at.output, CS_HEAP_FRAG_END, fragments)?;
            words.set(at.output, CS_HEAP_ADDRESS, context)?;
            if let Some(stream) = &mut group.streams[index] {
                stream.heap_wait = Some(HeapWait::Asked(fragments));
            }
            self.stream_raised[index] |= event;
            let ack = handshake::raise(req, self.stream_acks[index], event);
            self.acknowledge_stream(words, blocks, index, ack)?;
        }
        Ok(())
    }

    /// The host has acknowledged TILER_OOM: takes the chunks that it gave, or does without.
    pub(super) fn take_heap_memory(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        index: usize,
    ) -> Result<(), Stop> {
        let at = blocks.streams[index];
        let first = words.get(at.input, CS_TILER_HEAP_START)?;
        let last = words.get(at.input, CS_TILER_HEAP_END)?;
        let number = self.number;
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        let space = group.space;
        let Some(stream) = &mut group.streams[index] else {
            return Ok(());
        };
        let context = stream.heap_address();
        let blocks_stream = stream.blocked == Blocked::Heap;
        let wait = stream.heap_wait;
        if first != 0 || last != 0 {
            check_chunks(words, (number, index as u8, space), first, last)?;
            let lost = DrawDefect::AddedChunksForgotten;
            if words.fabric.defects.draw_has(lost) {
                stream.end_heap_wait();
                return Ok(());
            }
            let linked = stream.give_back(words.fabric, words.memory, first, last);
            if let Err(Refused::Stalled(_)) = linked {
                return Err(Stop::Wait);
            }
            stream.end_heap_wait();
            return Ok(());
        }
        let [_, ended, fragments] = group.heap_counters(context);
        // FACT: what firmware makes of a refusal when a pass has given its chunks back since it asked is not said
        // (hardware/csf-scheduling.md 7.2). It looks at the heap again, as it does when a pass ends behind the refusal: a host
        // can't know of such a pass. Settled by a late refusal on any board.
        let freed = matches!(wait, Some(HeapWait::Asked(then)) if then != fragments);
        if freed {
            words.fabric.fidelity.meet(Inexact::LateRefusal);
        }
        if freed && let Some(stream) = &mut group.streams[index] {
            stream.end_heap_wait();
            return Ok(());
        }
        if ended != fragments {
            group.set_heap_wait(index, HeapWait::Fragments(fragments));
            return Ok(());
        }
        match group.handler(index, context) {
            Some(handler) => {
                if handler != index {
                    words.fabric.fidelity.meet(Inexact::HandlerStream);
                }
                group.run_handler(index, handler);
            }
            // Pending until a stream installs a handler (hardware/graphics.md 2.2).
            None if !blocks_stream => group.set_heap_wait(index, HeapWait::NoHandler),
            None => {
                if let Some(stream) = &mut group.streams[index] {
                    stream.heap_wait = None;
                    stream.fault(exception::OOM, context);
                }
            }
        }
        Ok(())
    }
}

/// Reports chunks that are not as a host must make them: mapped, with a header of zeros behind the address of the next.
fn check_chunks(
    words: &mut Words<'_>,
    (group, stream, space): (u8, u8, u8),
    first: u64,
    last: u64,
) -> Result<(), Stop> {
    let mut chunk = first;
    for _ in 0..MOST_CHUNKS {
        let address = chunk & !SIZE;
        let report = |words: &mut Words<'_>| {
            let misuse = FirmwareMisuse::HeapChunk {
                group,
                stream,
                chunk,
            };
            words.fabric.journal.report(misuse);
        };
        let access = Access {
            space,
            address,
            source: Source::Stream { group, stream },
        };
        let mut header = [0; HEADER];
        let read = words.fabric.read(words.memory, access, &mut header);
        if let Err(refusal) = read {
            if Stop::from(refusal) == Stop::Wait {
                return Err(Stop::Wait);
            }
            report(words);
            return Ok(());
        }
        let (next, rest) = header.split_at(8);
        let next = next
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte));
        let ends = chunk == last;
        if chunk & SIZE == 0 || rest.iter().any(|byte| *byte != 0) || ends == (next != 0) {
            report(words);
            return Ok(());
        }
        if ends {
            return Ok(());
        }
        chunk = next;
    }
    Ok(())
}
