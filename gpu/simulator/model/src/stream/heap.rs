//! Tiler heaps as a stream knows them: the counters that it moves, the chunks that it gives back.
//!
//! Facts: hardware/command-stream.md 1.12, 3.6 (FINISH_FRAGMENT), 3.7; csf-scheduling.md 7.1.

use super::{Blocked, Stream};
use crate::fabric::Fabric;
use crate::fidelity::Inexact;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};

/// How far a request for tiler memory has come: a state of the stream's tiling iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeapWait {
    /// The host is to be asked.
    Wanted,
    /// The host was asked, when so many render passes had given their chunks back.
    Asked(u32),
    /// The host gave nothing: a render pass in flight must give chunks back; so many were complete then.
    Fragments(u32),
    /// The host gave nothing, and no stream has an exception handler: one that installs it runs it.
    NoHandler,
    /// The exception handler runs.
    Handler,
}

/// How much a stream has moved the counters of a heap context. Those of the context are the sums over the streams of the
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeapMoves {
    context: u64,
    /// vt_start, vt_end, frag_end.
    counters: [u32; 3],
}

/// Heap contexts whose counters a stream keeps: more than drivers bind in turn.
const KEPT_HEAPS: usize = 16;

impl Stream {
    /// How much this stream has moved the counters of a heap context: vt_start, vt_end, frag_end.
    pub(crate) fn heap_moves(&self, context: u64) -> [u32; 3] {
        let moves = self.heaps.iter().find(|moves| moves.context == context);
        moves.map_or([0; 3], |moves| moves.counters)
    }

    /// There may be memory: the tiling iterator, or what stands for it, goes on.
    pub(crate) fn end_heap_wait(&mut self) {
        self.heap_wait = None;
        if self.blocked == Blocked::Heap {
            self.blocked = Blocked::No;
        }
    }

    /// Whether a render pass of its heap has begun and not ended tiling.
    pub(crate) fn has_open_pass(&self) -> bool {
        let [started, ended, _] = self.heap_moves(self.heap_context);
        self.heap_context != 0 && started.wrapping_sub(ended) as i32 > 0
    }

    /// Moves a counter of its heap context: 0 vt_start, 1 vt_end, 2 frag_end.
    pub(super) fn move_heap(&mut self, counter: u8) {
        let context = self.heap_context;
        let known = self.heaps.iter_mut().find(|moves| moves.context == context);
        let moves = match known {
            Some(moves) => moves,
            None => {
                if self.heaps.len() == KEPT_HEAPS {
                    self.heaps.remove(0);
                }
                self.heaps.push(HeapMoves {
                    context,
                    counters: [0; 3],
                });
                let last = self.heaps.len() - 1;
                &mut self.heaps[last]
            }
        };
        let counter = &mut moves.counters[usize::from(counter) % 3];
        *counter = counter.wrapping_add(1);
    }

    /// Puts a list of chunks in front of the free list, whose head is the first word of the heap context.
    // FACT: at which end of the free list chunks are put is not known (hardware/csf-scheduling.md 7.1 names the head alone).
    // Settled by a dump of a heap context after FINISH_FRAGMENT on any board.
    pub(crate) fn give_back(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        first: u64,
        last: u64,
    ) -> Result<(), Refused<u64>> {
        let refused = |address| move |refusal: Refusal| refusal.at(address);
        fabric.fidelity.meet(Inexact::FreeChunks);
        let context = self.heap_context;
        let head = fabric.read64(memory, self.access(context));
        let head = head.map_err(refused(context))?;
        let tail = last & !0xfff;
        let linked = fabric.write(memory, self.access(tail), &head.to_le_bytes());
        linked.map_err(refused(tail))?;
        let written = fabric.write(memory, self.access(context), &first.to_le_bytes());
        written.map_err(refused(context))
    }
}
