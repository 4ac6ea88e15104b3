//! Where everything stands in the blob: one row a header word.
//!
//! Needs: nothing.  Guarantees: the only place that knows offsets.

use eitri_program_file::{CODE_WORD_BYTES, Format, Section, Tables};

/// How a program begins.
pub(crate) const FORMAT: Format = Format {
    magic: *b"EITRIPRG",
    version: 3,
    header_bytes: 0x58,
};

/// Byte offsets of the header's words, behind those that every format has.
#[rustfmt::skip]
pub(crate) mod word {
    pub(crate) const ARCH:           usize = 0x14; // architecture major
    pub(crate) const STAGE:          usize = 0x18;
    pub(crate) const REGISTERS:      usize = 0x1C; // 32 or 64
    pub(crate) const PRELOAD:        usize = 0x20; // bit n: r(48 + n)
    pub(crate) const WORKGROUP_X:    usize = 0x24;
    pub(crate) const WORKGROUP_Y:    usize = 0x28;
    pub(crate) const WORKGROUP_Z:    usize = 0x2C;
    pub(crate) const SHARED_BYTES:   usize = 0x30; // per workgroup
    pub(crate) const SCRATCH_BYTES:  usize = 0x34; // per thread
    pub(crate) const PUSH_BYTES:     usize = 0x38;
    pub(crate) const ENTRY_BYTES:    usize = 0x3C; // of the entry point's name
    pub(crate) const CODE_WORDS:     usize = 0x40; // 64-bit words
    pub(crate) const FAU_WORDS:      usize = 0x44;
    pub(crate) const BINDINGS:       usize = 0x48;
    pub(crate) const PUSH_RANGES:    usize = 0x4C;
    pub(crate) const DATA_WORDS:     usize = 0x50; // 64-bit words
    pub(crate) const FAU_STEPS:      usize = 0x54;
}
/// Bytes of one record of each table: the code follows the header at once, so it is 8-byte aligned. They follow the code and the data in this order; the entry's name is
/// last.
pub(crate) const DATA_WORD_BYTES: usize = 8;
pub(crate) const FAU_BYTES: usize = 8;
pub(crate) const FAU_STEP_BYTES: usize = 8;
pub(crate) const BINDING_BYTES: usize = 28;
pub(crate) const PUSH_RANGE_BYTES: usize = 8;

/// Byte ranges of the tables, from their counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sections {
    pub(crate) code: Section,
    pub(crate) data: Section,
    pub(crate) fau: Section,
    pub(crate) fau_steps: Section,
    pub(crate) bindings: Section,
    pub(crate) push_ranges: Section,
    pub(crate) entry: Section,
}

/// How many records each table holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) code: usize,
    pub(crate) data: usize,
    pub(crate) fau: usize,
    pub(crate) fau_steps: usize,
    pub(crate) bindings: usize,
    pub(crate) push_ranges: usize,
    pub(crate) entry: usize,
}

impl Sections {
    /// Lays the tables out one after the other; `None` when the sum leaves the address space.
    pub(crate) fn of(counts: &Counts) -> Option<Sections> {
        let code = Section::after(FORMAT.header_bytes, counts.code, CODE_WORD_BYTES)?;
        let data = Section::after(code.end, counts.data, DATA_WORD_BYTES)?;
        let fau = Section::after(data.end, counts.fau, FAU_BYTES)?;
        let fau_steps = Section::after(fau.end, counts.fau_steps, FAU_STEP_BYTES)?;
        let bindings = Section::after(fau_steps.end, counts.bindings, BINDING_BYTES)?;
        let push_ranges = Section::after(bindings.end, counts.push_ranges, PUSH_RANGE_BYTES)?;
        let entry = Section::after(push_ranges.end, counts.entry, 1)?;
        Some(Sections {
            code,
            data,
            fau,
            fau_steps,
            bindings,
            push_ranges,
            entry,
        })
    }
}

impl Tables for Sections {
    fn code(&self) -> Section {
        self.code
    }

    fn entry(&self) -> Section {
        self.entry
    }
}
