//! Lines: each load and store of the image is looked at, so that it is known who stored what was not cleaned.
//!
//! They come here because stage 2 leaves the memory out. Nothing is evicted by itself: a line that was not cleaned never gets to
//! memory, so that it is found each time.

use super::{PAGE, Told, in_memory};
use crate::physical_memory::GuestMemory;
use crate::report::Code;
use alloc::collections::BTreeMap;
use eitri_aarch64::Upkeep;
use eitri_cache_line::{CacheLine, LINE, Missing, pieces};
use eitri_model::{Accessor, PhysicalMemory};

type Line = CacheLine<Code, Accessor>;

/// The lines that the image has used.
#[derive(Default)]
pub(super) struct Lines {
    lines: BTreeMap<u64, Line>,
    /// Writes of registers: what was stored before one should be in memory by then.
    writes: u64,
}

impl Lines {
    /// The image writes a register: from here on the GPU may look.
    pub(super) fn announce(&mut self) {
        self.writes += 1;
    }

    /// Nothing of a page is in the cache.
    pub(super) fn forget(&mut self, page: u64) {
        let first = page & !(PAGE - 1);
        for at in (first..first + PAGE).step_by(LINE as usize) {
            self.lines.remove(&at);
        }
    }

    fn line(&mut self, at: u64) -> &mut Line {
        let line = self.lines.entry(at);
        line.or_insert_with(|| Line::fetched(in_memory(at)))
    }

    /// A load of `bytes` bytes, inside of a line, by some code.
    pub(super) fn load(&mut self, told: &mut Told, address: u64, bytes: u32, loads: Code) -> u64 {
        let (at, inside) = (address & !(LINE - 1), (address % LINE) as usize);
        let range = inside..(inside + bytes as usize).min(LINE as usize);
        let now = in_memory(at);
        let line = self.line(at);
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(&line.bytes()[range.clone()]) {
            *to = *from;
        }
        if line.is_stale(range, &now) {
            told.tell(&Missing::Invalidate {
                address,
                loads,
                written: line.written_by(),
            });
        }
        u64::from_le_bytes(word)
    }

    /// A store of `bytes` bytes, inside of a line, by some code.
    pub(super) fn store(&mut self, address: u64, bytes: u32, value: u64, code: Code) {
        let (at, inside) = (address & !(LINE - 1), (address % LINE) as usize);
        let writes = self.writes;
        let value = value.to_le_bytes();
        let value = value.get(..bytes as usize).unwrap_or(&value);
        self.line(at).store(inside, value, code, writes);
    }

    /// A cache instruction.
    pub(super) fn upkeep(
        &mut self,
        told: &mut Told,
        upkeep: Upkeep,
        address: u64,
        code: impl Fn() -> Code,
    ) {
        let at = address & !(LINE - 1);
        let Some(mut line) = self.lines.remove(&at) else {
            return;
        };
        let stored = line.stored_by().copied().unwrap_or_default();
        if upkeep == Upkeep::Invalidate {
            if line.loses_stores() {
                told.tell(&Missing::DroppedStore {
                    line: at,
                    stored,
                    drops: code(),
                });
            }
            return;
        }
        if line.is_dirty() {
            let now = in_memory(at);
            // The whole line is written, with what was fetched of it long ago. Shared memory is RAM.
            let _ = GuestMemory.write(at, line.bytes());
            if line.overwrites(&now) {
                told.tell(&Missing::DroppedWrite {
                    line: at,
                    stored,
                    cleans: code(),
                    written: line.written_by(),
                });
            }
            line.clean();
        }
        if upkeep == Upkeep::Clean {
            self.lines.insert(at, line);
        }
    }

    /// A unit of the GPU reads: what of it was stored, announced, and not cleaned?
    pub(super) fn look(&self, told: &mut Told, address: u64, bytes: u64, reads: Accessor) {
        for (line, part) in pieces(address, bytes) {
            let stored = self.lines.get(&line);
            let stored = stored.and_then(|line| line.missed(part, self.writes));
            if let Some(stored) = stored.copied() {
                told.tell(&Missing::Clean {
                    line,
                    stored,
                    reads,
                });
            }
        }
    }

    /// A unit of the GPU writes.
    pub(super) fn written(&mut self, address: u64, bytes: u64, unit: Accessor) {
        for (at, _) in pieces(address, bytes) {
            if let Some(line) = self.lines.get_mut(&at) {
                line.gpu_writes(unit);
            }
        }
    }
}
