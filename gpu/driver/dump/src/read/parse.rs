//! From the file's headers and notes to values.
//!
//! The file is hostile, or was cut short while it was copied: what is there of it is read, and the rest counted.  Guarantees: no panic;
//! memory for as many entries as the file has program headers, and no more.

use super::Dump;
use super::error::ReadError;
use super::words::{BlockWords, Contents, Group, Stream, Words, u32_at, u64_at};
use crate::elf::{HEADER_BYTES, Header, PT_LOAD, PT_NOTE, SEGMENT_BYTES, Segment};
use crate::note::{Fault, Incomplete, Kind, Label, OWNER, Reporter, Ring, Submission};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use eitri_program_file::CodeLines;

/// The bytes of the file from `offset` on.
fn part<'a>(
    file: &'a [u8],
    offset: u64,
    bytes: u64,
    what: &'static str,
) -> Result<&'a [u8], ReadError> {
    let end = offset.saturating_add(bytes);
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    let found = range.and_then(|(start, end)| file.get(start..end));
    found.ok_or(ReadError::Truncated {
        what,
        end,
        bytes: file.len() as u64,
    })
}

/// What the file has of `bytes` bytes from `offset` on, and how many of them it does not have.
fn head(file: &[u8], offset: u64, bytes: u64) -> (&[u8], u64) {
    let there = usize::try_from(offset).ok().and_then(|at| file.get(at..));
    let there = there.unwrap_or_default();
    let most = usize::try_from(bytes).unwrap_or(usize::MAX);
    let found = &there[..there.len().min(most)];
    (found, bytes - found.len() as u64)
}

impl<'a> Dump<'a> {
    /// Reads the headers and notes of a file. One that was cut short is read as far as it goes: [`Dump::cut`].
    ///
    /// # Errors
    /// [`ReadError`] says what is wrong, and where.
    pub fn parse(file: &'a [u8]) -> Result<Dump<'a>, ReadError> {
        let header = Header::parse(file)?;
        let table = part(
            file,
            header.segments_at,
            SEGMENT_BYTES * u64::from(header.segments),
            "the table of program headers",
        )?;
        let mut dump = Dump {
            segments: Vec::new(),
            registers: BTreeMap::new(),
            firmware: None,
            groups: Vec::new(),
            streams: Vec::new(),
            submissions: Vec::new(),
            labels: Vec::new(),
            lines: Vec::new(),
            line_notes: Vec::new(),
            faults: Vec::new(),
            incomplete: Incomplete::default(),
            remarks: Vec::new(),
            producer: None,
            other_notes: 0,
            cut: 0,
        };
        let mut known = 0;
        for bytes in table.as_chunks().0 {
            let segment = Segment::parse(bytes);
            match segment.kind {
                PT_LOAD if segment.memory_bytes != 0 => dump.add_memory(file, segment)?,
                PT_NOTE => {
                    let (notes, missing) = head(file, segment.offset, segment.file_bytes);
                    dump.cut = dump.cut.saturating_add(missing);
                    known += dump.add_notes(notes, segment.offset, missing != 0)?;
                }
                _ => {}
            }
        }
        if known == 0 && dump.cut != 0 {
            return Err(ReadError::Truncated {
                what: "the first note",
                end: file.len() as u64 + dump.cut,
                bytes: file.len() as u64,
            });
        }
        if known == 0 {
            return Err(ReadError::NotOfGpu);
        }
        dump.segments.sort_by_key(|contents| contents.address);
        for pair in dump.segments.windows(2) {
            let address = pair[1].address;
            if address - pair[0].address < pair[0].bytes {
                return Err(ReadError::Overlap { address });
            }
        }
        Ok(dump)
    }

    fn add_memory(&mut self, file: &'a [u8], segment: Segment) -> Result<(), ReadError> {
        let (address, bytes) = (segment.address, segment.memory_bytes);
        if segment.file_bytes > bytes || address.checked_add(bytes).is_none() {
            return Err(ReadError::Segment { address });
        }
        let (data, missing) = head(file, segment.offset, segment.file_bytes);
        self.cut = self.cut.saturating_add(missing);
        // What was lost is not zero: it is no memory of the dump.
        let bytes = match missing {
            0 => bytes,
            _ => data.len() as u64,
        };
        if bytes == 0 {
            return Ok(());
        }
        self.segments.push(Contents {
            address,
            bytes,
            data,
        });
        Ok(())
    }

    /// The notes of a segment at `offset` of the file; how many were known. Of a segment that is cut short the last note may be, too.
    fn add_notes(
        &mut self,
        notes: &'a [u8],
        offset: u64,
        is_cut: bool,
    ) -> Result<usize, ReadError> {
        let mut at = 0;
        let mut known = 0;
        while at < notes.len() {
            let wrong = |what| ReadError::Note {
                offset: offset + at as u64,
                what,
            };
            let rest = &notes[at..];
            if rest.len() < 12 {
                return if is_cut {
                    Ok(known)
                } else {
                    Err(wrong("is cut short"))
                };
            }
            let sizes = [u32_at(rest, 0) as usize, u32_at(rest, 4) as usize];
            let end_of_name = 12usize.checked_add(sizes[0].next_multiple_of(4));
            let name = rest.get(12..12usize.saturating_add(sizes[0]));
            let (Some(start), Some(name)) = (end_of_name, name) else {
                if is_cut {
                    return Ok(known);
                }
                return Err(wrong("has a name that is cut short"));
            };
            let Some(body) = rest.get(start..start.saturating_add(sizes[1])) else {
                if is_cut {
                    return Ok(known);
                }
                return Err(wrong("has a body that is cut short"));
            };
            let kind = Kind::from_number(u32_at(rest, 8)).filter(|_| name == OWNER);
            match kind {
                Some(kind) => {
                    self.add_note(kind, body).map_err(wrong)?;
                    known += 1;
                }
                None => self.other_notes += 1,
            }
            // The padding behind the last note may be missing.
            at += start + sizes[1].next_multiple_of(4);
        }
        Ok(known)
    }

    fn add_note(&mut self, kind: Kind, body: &'a [u8]) -> Result<(), &'static str> {
        let long_enough = |bytes: usize| match body.len() >= bytes {
            true => Ok(()),
            false => Err("is too short for its type"),
        };
        match kind {
            Kind::Registers => {
                if !body.len().is_multiple_of(8) {
                    return Err("does not hold pairs");
                }
                self.registers.extend(Words(body).iter());
            }
            Kind::Firmware => self.firmware = Some(blocks(body, 0)?),
            Kind::Group => {
                let words = blocks(body, 8)?;
                self.groups.push(Group {
                    slot: u32_at(body, 0),
                    space: u32_at(body, 4),
                    words,
                });
            }
            Kind::Stream => {
                let words = blocks(body, 40)?;
                self.streams.push(Stream {
                    slot: u32_at(body, 0),
                    number: u32_at(body, 4),
                    ring: Ring {
                        address: u64_at(body, 8),
                        bytes: u64_at(body, 16),
                        insert: u64_at(body, 24),
                        extract: u64_at(body, 32),
                    },
                    words,
                });
            }
            Kind::Submission => {
                long_enough(40)?;
                self.submissions.push(Submission {
                    slot: u32_at(body, 0),
                    stream: u32_at(body, 4),
                    sequence: u64_at(body, 8),
                    position: u64_at(body, 16),
                    bytes: u64_at(body, 24),
                    start: u64_at(body, 32),
                });
            }
            Kind::Fault => {
                long_enough(32)?;
                let reporter = Reporter::from_number(u32_at(body, 0));
                self.faults.push(Fault {
                    reporter: reporter.ok_or("tells of a fault of an unknown reporter")?,
                    slot: u32_at(body, 4),
                    stream: u32_at(body, 8),
                    space: u32_at(body, 12),
                    status: u32_at(body, 16),
                    address: u64_at(body, 24),
                });
            }
            Kind::Incomplete => {
                long_enough(24)?;
                self.incomplete = Incomplete {
                    no_room: u64_at(body, 0),
                    unreadable: u64_at(body, 8),
                    tables: u64_at(body, 16),
                };
            }
            Kind::Label => {
                long_enough(24)?;
                let name = body.get(24..).unwrap_or_default();
                self.labels.push(Label {
                    space: u32_at(body, 0),
                    number: u32_at(body, 4),
                    start: u64_at(body, 8),
                    bytes: u64_at(body, 16),
                    name: core::str::from_utf8(name).map_err(|_| "is not text")?,
                });
            }
            Kind::Lines => {
                let lines = CodeLines::parse(body);
                self.lines.push(lines.map_err(|_| "has no table of lines")?);
                self.line_notes.push(body);
            }
            Kind::Remark => {
                let text = core::str::from_utf8(body).map_err(|_| "is not text")?;
                self.remarks.push(text);
            }
            Kind::Producer => {
                let text = core::str::from_utf8(body).map_err(|_| "is not text")?;
                self.producer = Some(text);
            }
        }
        Ok(())
    }
}

/// The blocks behind `head` bytes: three counts, and as many pairs.
fn blocks(body: &[u8], head: usize) -> Result<BlockWords<'_>, &'static str> {
    let counts = body.get(head..head + 12).ok_or("is too short")?;
    let mut rest = &body[head + 12..];
    let mut take = |at: usize| {
        let bytes = (u32_at(counts, at) as usize).checked_mul(8);
        let (now, later) = bytes
            .and_then(|bytes| rest.split_at_checked(bytes))
            .ok_or("has fewer words than it says")?;
        rest = later;
        Ok(Words(now))
    };
    Ok(BlockWords {
        control: take(0)?,
        input: take(4)?,
        output: take(8)?,
    })
}

/// Headers that a file begins with must fit in it.
const _: () = assert!(HEADER_BYTES == 64);
