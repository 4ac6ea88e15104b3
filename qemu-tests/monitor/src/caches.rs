//! Caches that the GPU does not see, before the memory that it shares with the image.
//!
//! As on a board without coherent caches: what the image stores stays in its cache until it cleans the line, and what it
//! has fetched it goes on reading until it invalidates the line. Memory is what the GPU sees. The image's loads, stores and
//! cache instructions come here because stage 2 leaves the memory out and `HCR_EL2.TPCP` traps the instructions.
//!
//! Guarantees: upkeep that is missing is told, with the place in memory and the code that wrote it.  Nothing is evicted by
//! itself: a line that was not cleaned never gets to memory, so that it is found each time.

use crate::physical_memory::GuestMemory;
use crate::report::say;
use alloc::collections::{BTreeMap, BTreeSet};
use eitri_aarch64::Upkeep;
use eitri_model::{BusError, PhysicalMemory};

/// Bytes of a line.
const LINE: u64 = 64;
type Bytes = [u8; LINE as usize];

/// What goes wrong is told so often.
const MOST_SAID: usize = 16;

/// A line of the image's cache.
struct Line {
    bytes: Bytes,
    /// What memory held when it was fetched, or cleaned.
    clean: Bytes,
    /// Which bytes were stored since, a bit a byte.
    stored: u64,
    /// The code that stored last.
    writer: u64,
    /// How often the image had written a register by then.
    at: u64,
}

/// The cache, and memory behind it.
pub(crate) struct Caches {
    memory: GuestMemory,
    /// `None`: the memory is coherent.
    lines: Option<BTreeMap<u64, Line>>,
    /// Writes of registers: what was stored before one should be in memory by then.
    writes: u64,
    /// Lines that something was said of.
    told: BTreeSet<u64>,
}

impl Caches {
    /// No caches, or empty ones.
    pub(crate) fn new(coherent: bool) -> Caches {
        Caches {
            memory: GuestMemory,
            lines: (!coherent).then(BTreeMap::new),
            writes: 0,
            told: BTreeSet::new(),
        }
    }

    /// The image writes a register: from here on the GPU may look.
    pub(crate) fn announce(&mut self) {
        self.writes += 1;
    }

    fn line(&mut self, at: u64) -> Option<&mut Line> {
        let Caches { memory, lines, .. } = self;
        Some(lines.as_mut()?.entry(at).or_insert_with(|| {
            let mut bytes = [0; LINE as usize];
            // Shared memory is RAM.
            let _ = memory.read(at, &mut bytes);
            Line {
                bytes,
                clean: bytes,
                stored: 0,
                writer: 0,
                at: 0,
            }
        }))
    }

    /// A load of `bytes` bytes, inside of a line, by the code at `pc`.
    pub(crate) fn load(&mut self, address: u64, bytes: u32, pc: u64) -> u64 {
        let (at, inside) = (address & !(LINE - 1), (address % LINE) as usize);
        let range = inside..(inside + bytes as usize).min(LINE as usize);
        let mut now = [0; LINE as usize];
        let _ = self.memory.read(at, &mut now);
        let Some(line) = self.line(at) else { return 0 };
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(&line.bytes[range.clone()]) {
            *to = *from;
        }
        let stale = line.stored == 0 && line.bytes[range.clone()] != now[range];
        if stale && self.tell(at) {
            say!(
                "diagnosis: cache: the code at {pc:#x} loads {address:#x}, which the GPU has written since the line \
                 was fetched: it is not invalidated"
            );
        }
        u64::from_le_bytes(word)
    }

    /// A store of `bytes` bytes, inside of a line, by the code at `pc`.
    pub(crate) fn store(&mut self, address: u64, bytes: u32, value: u64, pc: u64) {
        let (at, inside) = (address & !(LINE - 1), (address % LINE) as usize);
        let writes = self.writes;
        let Some(line) = self.line(at) else { return };
        for (offset, byte) in (inside..LINE as usize)
            .zip(value.to_le_bytes())
            .take(bytes as usize)
        {
            line.bytes[offset] = byte;
            line.stored |= 1 << offset;
        }
        (line.writer, line.at) = (pc, writes);
    }

    /// A cache instruction.
    pub(crate) fn upkeep(&mut self, upkeep: Upkeep, address: u64, pc: u64) {
        let at = address & !(LINE - 1);
        let Some(lines) = &mut self.lines else { return };
        let Some(mut line) = lines.remove(&at) else {
            return;
        };
        if upkeep == Upkeep::Invalidate {
            if line.stored != 0 && line.bytes != line.clean && self.tell(at) {
                let writer = line.writer;
                say!(
                    "diagnosis: cache: the code at {pc:#x} invalidates the line of {at:#x}, where the code at {writer:#x} \
                     has stored what was not cleaned: it is lost"
                );
            }
            return;
        }
        if line.stored != 0 {
            let mut now = [0; LINE as usize];
            let _ = self.memory.read(at, &mut now);
            // The whole line is written, with what was fetched of it long ago.
            let _ = self.memory.write(at, &line.bytes);
            if now != line.clean && self.tell(at) {
                let writer = line.writer;
                say!(
                    "diagnosis: cache: the code at {pc:#x} cleans the line of {at:#x}, in which the code at {writer:#x} \
                     has stored and the GPU has written since: what the GPU wrote is lost"
                );
            }
            line.clean = line.bytes;
            line.stored = 0;
        }
        if upkeep == Upkeep::Clean
            && let Some(lines) = &mut self.lines
        {
            lines.insert(at, line);
        }
    }

    /// The GPU reads: what of it was stored, announced, and not cleaned?
    fn look(&mut self, address: u64, bytes: u64) {
        let Some(lines) = &self.lines else { return };
        let first = address & !(LINE - 1);
        let end = address.saturating_add(bytes);
        let writes = self.writes;
        let missed = lines.range(first..end).find(|(at, line)| {
            let inside = |offset: u64| (address..end).contains(&(*at + offset));
            let wanted = (0..LINE).filter(|offset| inside(*offset));
            let mut wanted = wanted.filter(|offset| line.stored >> offset & 1 != 0);
            line.at < writes
                && wanted.any(|offset| line.bytes[offset as usize] != line.clean[offset as usize])
        });
        let Some((at, writer)) = missed.map(|(at, line)| (*at, line.writer)) else {
            return;
        };
        if self.tell(at) {
            say!(
                "diagnosis: cache: the GPU reads the line of {at:#x}, in which the code at {writer:#x} has stored what \
                 was not cleaned"
            );
        }
    }

    /// Whether something is to be said of a line: once, and not of too many.
    fn tell(&mut self, line: u64) -> bool {
        self.told.len() < MOST_SAID && self.told.insert(line)
    }
}

impl PhysicalMemory for Caches {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.look(address, bytes.len() as u64);
        self.memory.read(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.memory.write(address, bytes)
    }

    fn read32(&mut self, address: u64) -> Result<u32, BusError> {
        self.look(address, 4);
        self.memory.read32(address)
    }

    fn read64(&mut self, address: u64) -> Result<u64, BusError> {
        self.look(address, 8);
        self.memory.read64(address)
    }

    fn write32(&mut self, address: u64, value: u32) -> Result<(), BusError> {
        self.memory.write32(address, value)
    }

    fn write64(&mut self, address: u64, value: u64) -> Result<(), BusError> {
        self.memory.write64(address, value)
    }
}
