//! Writing a dump: headers, notes, memory, in one go and without holding any of it.
//!
//! The file is written front to back into a [`Sink`]. Notes are told twice, first to count their bytes, since the headers in
//! front state them.  Guarantees: no allocation; a page of memory at a time; the file is well formed, or an error says why not.

use crate::elf::{
    ALIGNMENT, HEADER_BYTES, Header, MOST_SEGMENTS, PT_LOAD, PT_NOTE, SEGMENT_BYTES, Segment,
};
use crate::note::{Fault, Incomplete, Kind, Label, OWNER, Ring, Submission};
use crate::regions::Region;
use crate::source::Unreadable;
use core::fmt;

/// Where a dump goes.
pub trait Sink {
    /// Why it can't take bytes.
    type Error;

    /// Takes the next bytes.
    ///
    /// # Errors
    /// The sink's own.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

#[cfg(feature = "alloc")]
impl Sink for alloc::vec::Vec<u8> {
    type Error = core::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), core::convert::Infallible> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Why a dump could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError<E> {
    /// The sink refused.
    Sink(E),
    /// Memory that was there is no longer.
    Memory(Unreadable),
    /// Notes had another length when they were told a second time.
    NotesChanged,
    /// More regions than an ELF file states, or regions that are not page aligned and in order.
    Regions,
}

impl<E: fmt::Display> fmt::Display for WriteError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Sink(error) => error.fmt(f),
            WriteError::Memory(error) => write!(f, "while it was dumped: {error}"),
            WriteError::NotesChanged => f.write_str("notes changed while they were written"),
            WriteError::Regions => {
                f.write_str("too many regions, or some are not page aligned and in order")
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for WriteError<E> {}

/// Takes the notes of a dump: counts their bytes at first, then writes them.
#[derive(Debug)]
pub struct Notes<'s, K: Sink> {
    sink: Option<&'s mut K>,
    /// Bytes so far.
    bytes: u64,
    /// Bytes that there may be.
    limit: u64,
    /// Words that the note begun still lacks.
    missing: u64,
    error: Option<WriteError<K::Error>>,
}

/// The words of a block, each with its offset in it. Told twice: both times the same number.
pub type Pairs<'p> = &'p mut dyn FnMut(&mut dyn FnMut(u32, u32));

impl<K: Sink> Notes<'_, K> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.error.is_some() {
            return;
        }
        if self.bytes > self.limit {
            self.error = Some(WriteError::NotesChanged);
        } else if let Some(sink) = &mut self.sink
            && let Err(error) = sink.put(bytes)
        {
            self.error = Some(WriteError::Sink(error));
        }
    }

    fn begin(&mut self, kind: Kind, bytes: u32) {
        if self.missing != 0 {
            self.error = self.error.take().or(Some(WriteError::NotesChanged));
        }
        let name = OWNER.len().next_multiple_of(4);
        self.put(&(OWNER.len() as u32).to_le_bytes());
        self.put(&bytes.to_le_bytes());
        self.put(&(kind as u32).to_le_bytes());
        self.put(OWNER);
        self.put([0; 4].get(..name - OWNER.len()).unwrap_or_default());
        self.missing = u64::from(bytes.div_ceil(4));
    }

    fn word(&mut self, word: u32) {
        match self.missing.checked_sub(1) {
            Some(missing) => self.missing = missing,
            None => self.error = self.error.take().or(Some(WriteError::NotesChanged)),
        }
        self.put(&word.to_le_bytes());
    }

    fn long(&mut self, long: u64) {
        self.word(long as u32);
        self.word((long >> 32) as u32);
    }

    fn pairs(&mut self, pairs: Pairs<'_>) {
        pairs(&mut |offset, value| {
            self.word(offset);
            self.word(value);
        });
    }

    /// A note of `head` words, three counts of pairs, and the pairs.
    fn blocks(&mut self, kind: Kind, head: &[u32], blocks: [Pairs<'_>; 3]) {
        let mut counts = [0u32; 3];
        let mut blocks = blocks;
        for (count, block) in counts.iter_mut().zip(&mut blocks) {
            block(&mut |_, _| *count += 1);
        }
        let words = head.len() as u32 + 3 + 2 * counts.iter().sum::<u32>();
        self.begin(kind, 4 * words);
        for word in head.iter().chain(&counts) {
            self.word(*word);
        }
        for block in blocks {
            self.pairs(block);
        }
    }

    /// Registers: MMIO offset and value, 32 bits each.
    pub fn registers(&mut self, registers: Pairs<'_>) {
        let mut count = 0;
        registers(&mut |_, _| count += 1);
        self.begin(Kind::Registers, 8 * count);
        self.pairs(registers);
    }

    /// The firmware's control, input and output words.
    pub fn firmware(&mut self, control: Pairs<'_>, input: Pairs<'_>, output: Pairs<'_>) {
        self.blocks(Kind::Firmware, &[], [control, input, output]);
    }

    /// A group on `slot`, in an address space or [`crate::note::NONE`]: its control, input and output words.
    pub fn group(&mut self, slot: u32, space: u32, blocks: [Pairs<'_>; 3]) {
        self.blocks(Kind::Group, &[slot, space], blocks);
    }

    /// A stream of a group: its ring, its control, input and output words.
    pub fn stream(&mut self, slot: u32, stream: u32, ring: Ring, blocks: [Pairs<'_>; 3]) {
        let mut head = [slot, stream, 0, 0, 0, 0, 0, 0, 0, 0];
        let longs = [ring.address, ring.bytes, ring.insert, ring.extract];
        for (place, long) in head[2..].chunks_exact_mut(2).zip(longs) {
            place.copy_from_slice(&[long as u32, (long >> 32) as u32]);
        }
        self.blocks(Kind::Stream, &head, blocks);
    }

    /// Work that was submitted.
    pub fn submission(&mut self, submission: Submission) {
        self.begin(Kind::Submission, 40);
        self.word(submission.slot);
        self.word(submission.stream);
        self.long(submission.sequence);
        self.long(submission.position);
        self.long(submission.bytes);
        self.long(submission.start);
    }

    /// A fault as the driver saw it.
    pub fn fault(&mut self, fault: Fault) {
        self.begin(Kind::Fault, 32);
        self.word(fault.reporter as u32);
        self.word(fault.slot);
        self.word(fault.stream);
        self.word(fault.space);
        self.word(fault.status);
        self.word(0);
        self.long(fault.address);
    }

    /// What is not in the dump.
    pub fn incomplete(&mut self, incomplete: Incomplete) {
        self.begin(Kind::Incomplete, 24);
        self.long(incomplete.no_room);
        self.long(incomplete.unreadable);
        self.long(incomplete.tables);
    }

    /// Who writes the dump.
    pub fn producer(&mut self, name: &str) {
        self.begin(Kind::Producer, name.len() as u32);
        self.text(name);
    }

    /// What the driver has concluded from a fault.
    pub fn remark(&mut self, text: &str) {
        self.begin(Kind::Remark, text.len() as u32);
        self.text(text);
    }

    /// What the driver calls a range of addresses.
    pub fn label(&mut self, label: Label<'_>) {
        self.begin(Kind::Label, 24 + label.name.len() as u32);
        self.word(label.space);
        self.word(label.number);
        self.long(label.start);
        self.long(label.bytes);
        self.text(label.name);
    }

    /// Text at the end of a note.
    fn text(&mut self, text: &str) {
        for chunk in text.as_bytes().chunks(4) {
            let mut word = [0; 4];
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.word(u32::from_le_bytes(word));
        }
    }

    fn finish(self) -> Result<u64, WriteError<K::Error>> {
        match self.error {
            Some(error) => Err(error),
            None if self.missing != 0 => Err(WriteError::NotesChanged),
            None => Ok(self.bytes),
        }
    }
}

/// Writes a dump: what `notes` tells, then the memory of `regions`, which `memory` reads.
///
/// `notes` is called twice and must tell the same notes with the same lengths; their values may have changed. `memory` is asked
/// for a page at a time. Regions are page aligned, in order, and do not overlap, as those of [`crate::Regions`].
///
/// # Errors
/// [`WriteError`]; the sink then holds part of a file.
pub fn write<K: Sink>(
    sink: &mut K,
    regions: &[Region],
    mut notes: impl FnMut(&mut Notes<'_, K>),
    mut memory: impl FnMut(u64, &mut [u8]) -> Result<(), Unreadable>,
) -> Result<(), WriteError<K::Error>> {
    check(regions).ok_or(WriteError::Regions)?;
    let mut counting = Notes {
        sink: None,
        bytes: 0,
        limit: u64::MAX,
        missing: 0,
        error: None,
    };
    notes(&mut counting);
    let note_bytes = counting.finish()?;
    let segments = regions.len() as u64 + 1;
    let notes_at = HEADER_BYTES + SEGMENT_BYTES * segments;
    let memory_at = (notes_at + note_bytes).next_multiple_of(ALIGNMENT);

    let header = Header {
        segments_at: HEADER_BYTES,
        segments: segments as u16,
    };
    sink.put(&header.bytes()).map_err(WriteError::Sink)?;
    let segment = Segment {
        kind: PT_NOTE,
        offset: notes_at,
        address: 0,
        file_bytes: note_bytes,
        memory_bytes: 0,
    };
    sink.put(&segment.bytes()).map_err(WriteError::Sink)?;
    let mut offset = memory_at;
    for region in regions {
        let segment = Segment {
            kind: PT_LOAD,
            offset,
            address: region.start,
            file_bytes: region.bytes,
            memory_bytes: region.bytes,
        };
        sink.put(&segment.bytes()).map_err(WriteError::Sink)?;
        offset += region.bytes;
    }

    let mut writing = Notes {
        sink: Some(&mut *sink),
        bytes: 0,
        limit: note_bytes,
        missing: 0,
        error: None,
    };
    notes(&mut writing);
    if writing.finish()? != note_bytes {
        return Err(WriteError::NotesChanged);
    }
    let mut page = [0; ALIGNMENT as usize];
    let padding = (memory_at - notes_at - note_bytes) as usize;
    let padding = page.get(..padding).unwrap_or_default();
    sink.put(padding).map_err(WriteError::Sink)?;
    for region in regions {
        for address in (region.start..region.end()).step_by(ALIGNMENT as usize) {
            memory(address, &mut page).map_err(WriteError::Memory)?;
            sink.put(&page).map_err(WriteError::Sink)?;
        }
    }
    Ok(())
}

/// `None` unless the regions can be written; their sum then fits a file.
fn check(regions: &[Region]) -> Option<()> {
    let aligned = |number: u64| number.is_multiple_of(ALIGNMENT);
    let mut end = 0;
    let mut sum = 0u64;
    for region in regions {
        let fits = aligned(region.start) && aligned(region.bytes) && region.start >= end;
        end = region.start.checked_add(region.bytes).filter(|_| fits)?;
        sum = sum.checked_add(region.bytes)?;
    }
    (regions.len() < MOST_SEGMENTS && sum < u64::MAX / 2).then_some(())
}
