//! Where everything stands in the blob: one row a header word.
//!
//! Needs: nothing.  Guarantees: the only place that knows offsets.

use eitri_program_file::{CODE_WORD_BYTES, Format, Section, Tables};

/// How a program begins.
pub(crate) const FORMAT: Format = Format {
    magic: *b"EITRIIR3",
    version: 2,
    header_bytes: 0x70,
};

/// Byte offsets of the header's words, behind those that every format has.
#[rustfmt::skip]
pub(crate) mod word {
    pub(crate) const GENERATION:     usize = 0x14; // 6: a6xx
    pub(crate) const FULL_REGISTERS: usize = 0x18; // vec4
    pub(crate) const HALF_REGISTERS: usize = 0x1C; // vec4
    pub(crate) const BRANCH_STACK:   usize = 0x20; // points that are open at once, at most
    pub(crate) const WAVE:           usize = 0x24; // 64 or 128
    pub(crate) const LOCAL_ID:       usize = 0x28; // register, or 252
    pub(crate) const WORKGROUP_ID:   usize = 0x2C; // register, or 252
    pub(crate) const WORKGROUP_X:    usize = 0x30;
    pub(crate) const WORKGROUP_Y:    usize = 0x34;
    pub(crate) const WORKGROUP_Z:    usize = 0x38;
    pub(crate) const SHARED_BYTES:   usize = 0x3C; // per workgroup
    pub(crate) const PRIVATE_BYTES:  usize = 0x40; // per lane
    pub(crate) const PUSH_BYTES:     usize = 0x44;
    pub(crate) const PUSH_WORDS:     usize = 0x48; // in the const file
    pub(crate) const DRIVER_PARAMS:  usize = 0x4C; // bit n: component n
    pub(crate) const ENTRY_BYTES:    usize = 0x50; // of the entry point's name
    pub(crate) const CODE_WORDS:     usize = 0x54; // 64-bit words
    pub(crate) const DATA_WORDS:     usize = 0x58; // 32-bit words
    pub(crate) const IMMEDIATES:     usize = 0x5C; // 32-bit words
    pub(crate) const BINDINGS:       usize = 0x60;
    pub(crate) const PUSH_RANGES:    usize = 0x64;
    pub(crate) const UNIFORMS:       usize = 0x68; // ranges of uniform buffers
    pub(crate) const UNIFORM_VEC4:   usize = 0x6C; // of all of them, in the const file
}
/// Words of the header behind the sum.
pub(crate) const HEADER_WORDS: usize = 23;

/// Bytes of one record of each table. They follow the header in this order; the entry's name is last.
pub(crate) const WORD_BYTES: usize = 4;
pub(crate) const UNIFORM_BYTES: usize = 16;
pub(crate) const BINDING_BYTES: usize = 24;
pub(crate) const PUSH_RANGE_BYTES: usize = 8;

/// Byte ranges of the tables, from their counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sections {
    pub(crate) code: Section,
    pub(crate) data: Section,
    pub(crate) immediates: Section,
    pub(crate) uniforms: Section,
    pub(crate) bindings: Section,
    pub(crate) push_ranges: Section,
    pub(crate) entry: Section,
}

/// How many records each table holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) code: usize,
    pub(crate) data: usize,
    pub(crate) immediates: usize,
    pub(crate) uniforms: usize,
    pub(crate) bindings: usize,
    pub(crate) push_ranges: usize,
    pub(crate) entry: usize,
}

impl Sections {
    /// Lays the tables out one after the other; `None` when the sum leaves the address space.
    pub(crate) fn of(counts: &Counts) -> Option<Sections> {
        let code = Section::after(FORMAT.header_bytes, counts.code, CODE_WORD_BYTES)?;
        let data = Section::after(code.end, counts.data, WORD_BYTES)?;
        let immediates = Section::after(data.end, counts.immediates, WORD_BYTES)?;
        let uniforms = Section::after(immediates.end, counts.uniforms, UNIFORM_BYTES)?;
        let bindings = Section::after(uniforms.end, counts.bindings, BINDING_BYTES)?;
        let push_ranges = Section::after(bindings.end, counts.push_ranges, PUSH_RANGE_BYTES)?;
        let entry = Section::after(push_ranges.end, counts.entry, 1)?;
        Some(Sections {
            code,
            data,
            immediates,
            uniforms,
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
