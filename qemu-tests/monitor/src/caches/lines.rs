//! Lines: each load and store of the image is looked at, so that it is known who stored what was not cleaned.
//!
//! They come here because stage 2 leaves the memory out. Nothing is evicted by itself: a line that was not cleaned never gets to
//! memory, so that it is found each time.

use super::{Bytes, LINE, PAGE, Told, in_memory};
use crate::physical_memory::GuestMemory;
use crate::report::Code;
use alloc::collections::BTreeMap;
use alloc::format;
use eitri_aarch64::Upkeep;
use eitri_model::PhysicalMemory;

/// A line of the image's cache.
struct Line {
    bytes: Bytes,
    /// What memory held when it was fetched, or cleaned.
    clean: Bytes,
    /// Which bytes were stored since, a bit a byte.
    stored: u64,
    /// The code that stored last.
    writer: Code,
    /// How often the image had written a register by then.
    at: u64,
}

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
        self.lines.entry(at).or_insert_with(|| {
            let bytes = in_memory(at);
            Line {
                bytes,
                clean: bytes,
                stored: 0,
                writer: Code::default(),
                at: 0,
            }
        })
    }

    /// A load of `bytes` bytes, inside of a line, by some code.
    pub(super) fn load(&mut self, told: &mut Told, address: u64, bytes: u32, code: Code) -> u64 {
        let (at, inside) = (address & !(LINE - 1), (address % LINE) as usize);
        let range = inside..(inside + bytes as usize).min(LINE as usize);
        let now = in_memory(at);
        let line = self.line(at);
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(&line.bytes[range.clone()]) {
            *to = *from;
        }
        let stale = line.stored == 0 && line.bytes[range.clone()] != now[range];
        if stale {
            told.tell(at, || {
                format!(
                    "{code} loads {address:#x}, which the GPU has written since the line was fetched: it is \
                     not invalidated"
                )
            });
        }
        u64::from_le_bytes(word)
    }

    /// A store of `bytes` bytes, inside of a line, by some code.
    pub(super) fn store(&mut self, address: u64, bytes: u32, value: u64, code: Code) {
        let (at, inside) = (address & !(LINE - 1), (address % LINE) as usize);
        let writes = self.writes;
        let line = self.line(at);
        for (offset, byte) in (inside..LINE as usize)
            .zip(value.to_le_bytes())
            .take(bytes as usize)
        {
            line.bytes[offset] = byte;
            line.stored |= 1 << offset;
        }
        (line.writer, line.at) = (code, writes);
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
        let writer = line.writer;
        if upkeep == Upkeep::Invalidate {
            if line.stored != 0 && line.bytes != line.clean {
                told.tell(at, || {
                    format!(
                        "{} invalidates the line of {at:#x}, where {writer} has stored what \
                         was not cleaned: it is lost",
                        code()
                    )
                });
            }
            return;
        }
        if line.stored != 0 {
            let now = in_memory(at);
            // The whole line is written, with what was fetched of it long ago. Shared memory is RAM.
            let _ = GuestMemory.write(at, &line.bytes);
            let kept = |byte: &usize| line.stored >> byte & 1 == 0;
            let mut kept = (0..LINE as usize).filter(kept);
            if kept.any(|byte| now[byte] != line.clean[byte]) {
                told.tell(at, || {
                    format!(
                        "{} cleans the line of {at:#x}, in which {writer} has stored and the \
                         GPU has written since: what the GPU wrote is lost",
                        code()
                    )
                });
            }
            line.clean = line.bytes;
            line.stored = 0;
        }
        if upkeep == Upkeep::Clean {
            self.lines.insert(at, line);
        }
    }

    /// The GPU reads: what of it was stored, announced, and not cleaned?
    pub(super) fn look(&self, told: &mut Told, address: u64, bytes: u64) {
        let first = address & !(LINE - 1);
        let end = address.saturating_add(bytes);
        let writes = self.writes;
        let missed = self.lines.range(first..end).find(|(at, line)| {
            let inside = |offset: u64| (address..end).contains(&(*at + offset));
            let wanted = (0..LINE).filter(|offset| inside(*offset));
            let mut wanted = wanted.filter(|offset| line.stored >> offset & 1 != 0);
            line.at < writes
                && wanted.any(|offset| line.bytes[offset as usize] != line.clean[offset as usize])
        });
        let Some((at, writer)) = missed.map(|(at, line)| (*at, line.writer)) else {
            return;
        };
        told.tell(at, || {
            format!(
                "the GPU reads the line of {at:#x}, in which {writer} has stored what was not cleaned"
            )
        });
    }
}
