//! Where everything stands in the blob: one row a header word.
//!
//! Two formats have the same tables: programs of one entry point (compute) and of several (a stage of graphics), which say other
//! things in the header's words between stage and scratch memory, and have four more tables before the name.
//!
//! Needs: nothing.  Guarantees: the only place that knows offsets.

use eitri_program_file::{CODE_WORD_BYTES, Format, Section, Tables};

/// How a program begins.
pub(crate) const FORMAT: Format = Format {
    magic: *b"EITRIPRG",
    version: 3,
    header_bytes: 0x58,
};

/// How a program of a stage of graphics begins.
pub(crate) const GRAPHICS_FORMAT: Format = Format {
    magic: *b"EITRIGFX",
    version: 1,
    ..FORMAT
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

/// Words of the header that a stage of graphics has in place of registers, preload mask, workgroup and shared memory.
#[rustfmt::skip]
pub(crate) mod graphics_word {
    pub(crate) const FACTS:        usize = 0x1C; // of the stage
    pub(crate) const RECORD_BYTES: usize = 0x20; // of varyings of a vertex
    pub(crate) const ENTRY_POINTS: usize = 0x24;
    pub(crate) const ATTRIBUTES:   usize = 0x28;
    pub(crate) const OUTPUTS:      usize = 0x2C;
    pub(crate) const VARYINGS:     usize = 0x30;
}

/// Bytes of one record of each table: the code follows the header at once, so it is 8-byte aligned. They follow the code and the data in this order; the entry's name is
/// last.
pub(crate) const DATA_WORD_BYTES: usize = 8;
pub(crate) const FAU_BYTES: usize = 8;
pub(crate) const FAU_STEP_BYTES: usize = 8;
pub(crate) const BINDING_BYTES: usize = 28;
pub(crate) const PUSH_RANGE_BYTES: usize = 8;
pub(crate) const ENTRY_POINT_BYTES: usize = 16;
pub(crate) const ATTRIBUTE_BYTES: usize = 4;
pub(crate) const OUTPUT_BYTES: usize = 4;
pub(crate) const VARYING_BYTES: usize = 8;

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
    /// Bytes of the tables that only stages of graphics have.
    pub(crate) graphics: usize,
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
        let graphics = Section::after(push_ranges.end, counts.graphics, 1)?;
        let entry = Section::after(graphics.end, counts.entry, 1)?;
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

/// How many records the tables of graphics hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphicsCounts {
    pub(crate) entry_points: usize,
    pub(crate) attributes: usize,
    pub(crate) outputs: usize,
    pub(crate) varyings: usize,
}

/// Byte ranges of those tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GraphicsSections {
    pub(crate) entry_points: Section,
    pub(crate) attributes: Section,
    pub(crate) outputs: Section,
    pub(crate) varyings: Section,
}

impl GraphicsSections {
    /// Lays them out from `start` on; `None` when the sum leaves the address space.
    pub(crate) fn of(start: usize, counts: &GraphicsCounts) -> Option<GraphicsSections> {
        let entry_points = Section::after(start, counts.entry_points, ENTRY_POINT_BYTES)?;
        let attributes = Section::after(entry_points.end, counts.attributes, ATTRIBUTE_BYTES)?;
        let outputs = Section::after(attributes.end, counts.outputs, OUTPUT_BYTES)?;
        let varyings = Section::after(outputs.end, counts.varyings, VARYING_BYTES)?;
        Some(GraphicsSections {
            entry_points,
            attributes,
            outputs,
            varyings,
        })
    }

    /// Bytes of all of them.
    pub(crate) fn bytes(&self) -> usize {
        // In this order, so nothing is lost.
        self.varyings.end.saturating_sub(self.entry_points.start)
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
