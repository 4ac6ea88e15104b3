//! Reading a dump: segments as physical memory, notes as values.
//!
//! Guarantees: nothing is copied. Notes of other owners and of types that are not known are counted and passed over.

mod error;
mod parse;
mod words;

use crate::note::{Fault, Incomplete, Label, Submission};
use crate::source::{Memory, Unreadable};
use crate::walk::{SPACES, Space};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use eitri_csf::product::GpuId;
use eitri_csf::registers::identity::{AS_PRESENT, GPU_ID};
use eitri_csf::table::{Register, Width};
use eitri_program_file::CodeLines;
pub use error::ReadError;
pub use words::{BlockWords, Contents, Group, Stream, Words};

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

impl<'a> Dump<'a> {
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
