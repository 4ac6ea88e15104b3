//! Reading a dump: segments as physical memory, notes as values.
//!
//! The file is hostile, or was cut short while it was copied: what is there of it is read, and the rest counted.  Guarantees: no panic; memory for as many entries as the file has program headers, and no more; nothing
//! is copied.  Notes of other owners and of types that are not known are counted and passed over.

use crate::elf::{HEADER_BYTES, Header, NotCore, PT_LOAD, PT_NOTE, SEGMENT_BYTES, Segment};
use crate::note::{Fault, Incomplete, Kind, Label, NONE, OWNER, Reporter, Ring, Submission};
use crate::source::{Memory, Unreadable};
use crate::walk::{SPACES, Space};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use eitri_csf::interface::group::{CSG_CONFIG, csg_config};
use eitri_csf::product::GpuId;
use eitri_csf::registers::identity::{AS_PRESENT, GPU_ID};
use eitri_csf::table::{Register, Width};
use eitri_program_file::CodeLines;

/// Why a file is no dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It does not begin as an ELF file.
    NotElf,
    /// It is ELF, but not of 64 bits, little endian.
    ElfKind,
    /// It is ELF, but of another type than a core file (4).
    ElfType(u16),
    /// Its program headers are not of 56 bytes.
    SegmentSize(u16),
    /// It is shorter than its headers say.
    Truncated {
        /// What lies beyond the end.
        what: &'static str,
        /// Where it ends, as the headers say.
        end: u64,
        /// Bytes of the file.
        bytes: u64,
    },
    /// A segment has more bytes in the file than in memory, or ends beyond the address space.
    Segment {
        /// Its physical address.
        address: u64,
    },
    /// Two segments hold the same memory.
    Overlap {
        /// A physical address that both have.
        address: u64,
    },
    /// A note is malformed.
    Note {
        /// Where it begins in the file.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// No note says anything about a GPU: a core file of something else.
    NotOfGpu,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::NotElf => f.write_str("not an ELF file"),
            ReadError::ElfKind => f.write_str("not a 64-bit little-endian ELF file"),
            ReadError::ElfType(found) => write!(f, "ELF file of type {found}, not a core file (4)"),
            ReadError::SegmentSize(found) => {
                write!(f, "program headers of {found} bytes, not {SEGMENT_BYTES}")
            }
            ReadError::Truncated { what, end, bytes } => {
                write!(
                    f,
                    "cut short: {what} ends at {end:#x}, the file at {bytes:#x}"
                )
            }
            ReadError::Segment { address } => {
                write!(f, "the segment at {address:#x} has an impossible size")
            }
            ReadError::Overlap { address } => {
                write!(f, "two segments hold the memory at {address:#x}")
            }
            ReadError::Note { offset, what } => write!(f, "the note at offset {offset:#x} {what}"),
            ReadError::NotOfGpu => {
                f.write_str("a core file without a note of the owner Mali-CSF: not a GPU's")
            }
        }
    }
}

impl core::error::Error for ReadError {}

impl From<NotCore> for ReadError {
    fn from(error: NotCore) -> ReadError {
        match error {
            NotCore::NotElf => ReadError::NotElf,
            NotCore::Kind => ReadError::ElfKind,
            NotCore::Type(found) => ReadError::ElfType(found),
            NotCore::SegmentSize(found) => ReadError::SegmentSize(found),
        }
    }
}

/// Words of an interface block: offset in the block, value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    /// All of them, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        self.0
            .chunks_exact(8)
            .map(|pair| (u32_at(pair, 0), u32_at(pair, 4)))
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The value of a word, both halves of one of 64 bits; `None` if the dump does not have it.
    pub fn get(self, row: Register) -> Option<u64> {
        let word = |offset| {
            self.iter()
                .find(|(at, _)| *at == offset)
                .map(|(_, value)| u64::from(value))
        };
        let high = match row.width {
            Width::Bits32 => 0,
            Width::Bits64 => word(row.offset + 4)?,
        };
        Some(high << 32 | word(row.offset)?)
    }
}

/// Control, input and output words that belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockWords<'a> {
    /// What the firmware says of it.
    pub control: Words<'a>,
    /// What the host wrote.
    pub input: Words<'a>,
    /// What the firmware answered.
    pub output: Words<'a>,
}

/// A group on a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// The slot.
    pub slot: u32,
    /// Its address space, or [`crate::note::NONE`].
    pub space: u32,
    /// Its words.
    pub words: BlockWords<'a>,
}

impl Group<'_> {
    /// Its address space: of the note, or of its words where it is not on its slot any more.
    pub fn address_space(&self) -> Option<u32> {
        if self.space != NONE {
            return Some(self.space);
        }
        let config = self.words.input.get(CSG_CONFIG)?;
        Some(csg_config::JASID.get(config))
    }
}

/// A stream of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream<'a> {
    /// The group's slot.
    pub slot: u32,
    /// Its number in the group.
    pub number: u32,
    /// Its ring.
    pub ring: Ring,
    /// Its words.
    pub words: BlockWords<'a>,
}

/// Memory of the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents<'a> {
    /// Physical address.
    pub address: u64,
    /// Bytes of memory; what `data` does not have is zero.
    pub bytes: u64,
    /// What the file has of it.
    pub data: &'a [u8],
}

/// A dump: the file, indexed.
#[derive(Clone, Debug)]
pub struct Dump<'a> {
    segments: Vec<Contents<'a>>,
    registers: BTreeMap<u32, u32>,
    firmware: Option<BlockWords<'a>>,
    groups: Vec<Group<'a>>,
    streams: Vec<Stream<'a>>,
    submissions: Vec<Submission>,
    labels: Vec<Label<'a>>,
    lines: Vec<CodeLines<'a>>,
    line_notes: Vec<&'a [u8]>,
    faults: Vec<Fault>,
    incomplete: Incomplete,
    remarks: Vec<&'a str>,
    producer: Option<&'a str>,
    other_notes: usize,
    /// Bytes of segments that the file does not have.
    cut: u64,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|word| word.first_chunk());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at + 4)) << 32 | u64::from(u32_at(bytes, at))
}

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

    /// The memory, by rising address.
    pub fn memory(&self) -> &[Contents<'a>] {
        &self.segments
    }

    /// All register words, by rising offset.
    pub fn registers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.registers
            .iter()
            .map(|(offset, value)| (*offset, *value))
    }

    /// The value of a register, both words of one of 64 bits; `None` if the dump does not have it.
    pub fn register(&self, row: Register) -> Option<u64> {
        let word = |offset| self.registers.get(&offset).map(|word| u64::from(*word));
        let high = match row.width {
            Width::Bits32 => 0,
            Width::Bits64 => word(row.offset + 4)?,
        };
        Some(high << 32 | word(row.offset)?)
    }

    /// Which GPU it is; `None` if the dump does not say.
    pub fn gpu_id(&self) -> Option<GpuId> {
        self.register(GPU_ID).map(|id| GpuId(id as u32))
    }

    /// An address space, by its registers; `None` if the dump does not have them.
    pub fn space(&self, number: u8) -> Option<Space> {
        let mut missing = number >= SPACES;
        let space = Space::read(number, &mut |row| {
            let value = self.register(row);
            // Without the width of addresses the largest is assumed.
            missing |= value.is_none() && row != eitri_csf::registers::identity::MMU_FEATURES;
            value.unwrap_or(0)
        });
        (!missing).then_some(space)
    }

    /// Every address space that the dump has registers of.
    pub fn spaces(&self) -> impl Iterator<Item = Space> {
        let present = self.register(AS_PRESENT).unwrap_or(u64::MAX);
        (0..SPACES)
            .filter(move |number| present >> number & 1 != 0)
            .filter_map(|number| self.space(number))
    }

    /// The firmware's global words.
    pub fn firmware(&self) -> Option<BlockWords<'a>> {
        self.firmware
    }

    /// Groups, in the order of the file.
    pub fn groups(&self) -> &[Group<'a>] {
        &self.groups
    }

    /// The group on a slot.
    pub fn group(&self, slot: u32) -> Option<&Group<'a>> {
        self.groups.iter().find(|group| group.slot == slot)
    }

    /// Streams, in the order of the file.
    pub fn streams(&self) -> &[Stream<'a>] {
        &self.streams
    }

    /// A stream of a group.
    pub fn stream(&self, slot: u32, number: u32) -> Option<&Stream<'a>> {
        let wanted = (slot, number);
        self.streams
            .iter()
            .find(|stream| (stream.slot, stream.number) == wanted)
    }

    /// What the driver calls ranges of addresses, in the order of the file.
    pub fn labels(&self) -> &[Label<'a>] {
        &self.labels
    }

    /// The source lines of code, in the order of the file.
    pub fn lines(&self) -> &[CodeLines<'a>] {
        &self.lines
    }

    /// The same as they stand in the file, for [`crate::add_lines`] to another dump of the same programs.
    pub fn line_notes(&self) -> &[&'a [u8]] {
        &self.line_notes
    }

    /// Submissions, in the order of the file.
    pub fn submissions(&self) -> &[Submission] {
        &self.submissions
    }

    /// Faults that the driver told of, in the order of the file.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// What the driver has concluded from faults, in the order of the file.
    pub fn remarks(&self) -> &[&'a str] {
        &self.remarks
    }

    /// What the dump says is not in it.
    pub fn incomplete(&self) -> Incomplete {
        self.incomplete
    }

    /// Who wrote it.
    pub fn producer(&self) -> Option<&'a str> {
        self.producer
    }

    /// Bytes of memory and notes that the file should have and does not: it was not copied whole.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Notes of other owners, or of types that are not known.
    pub fn other_notes(&self) -> usize {
        self.other_notes
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

impl Memory for &Dump<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let after = self
            .segments
            .partition_point(|contents| contents.address <= address);
        let contents = after.checked_sub(1).map(|index| &self.segments[index]);
        let found = contents.and_then(|contents| {
            let start = address - contents.address;
            let end = start.checked_add(bytes.len() as u64)?;
            (end <= contents.bytes).then_some((contents, start))
        });
        let (contents, start) = found.ok_or(Unreadable { address })?;
        // What the file does not have is zero.
        let from = usize::try_from(start)
            .unwrap_or(usize::MAX)
            .min(contents.data.len());
        let stored = &contents.data[from..];
        let count = stored.len().min(bytes.len());
        bytes[..count].copy_from_slice(&stored[..count]);
        bytes[count..].fill(0);
        Ok(())
    }
}

/// Headers that a file begins with must fit in it.
const _: () = assert!(HEADER_BYTES == 64);
