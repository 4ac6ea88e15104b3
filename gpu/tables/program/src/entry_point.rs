//! Entry points: the programs that are made of one shader of the graphics pipeline.
//!
//! Facts: hardware/graphics-compiler.md 1.1 (which there are), compiler-abi.md 3.9 (code in memory).

use crate::header::{Arch, RegisterFile, Stage};

/// What an entry point is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// Before v12: positions of vertices, without the size of points.
    Position,
    /// Before v12: positions with the size of points; there if the shader writes one.
    PositionWithPoints,
    /// Before v12: varyings of vertices; there if the shader has any.
    Varying,
    /// From v12 on: everything of vertices but the size of points.
    Vertex,
    /// From v12 on: everything of vertices; there if the shader writes the size of points.
    VertexWithPoints,
    /// Fragments.
    Fragment,
}

impl EntryKind {
    const ALL: [EntryKind; 6] = [
        EntryKind::Position,
        EntryKind::PositionWithPoints,
        EntryKind::Varying,
        EntryKind::Vertex,
        EntryKind::VertexWithPoints,
        EntryKind::Fragment,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            EntryKind::Position => "position",
            EntryKind::PositionWithPoints => "position with points",
            EntryKind::Varying => "varying",
            EntryKind::Vertex => "vertex",
            EntryKind::VertexWithPoints => "vertex with points",
            EntryKind::Fragment => "fragment",
        }
    }

    /// Whether programs of a stage have it, on a generation.
    pub(crate) fn is_of(self, stage: Stage, arch: Arch) -> bool {
        match self {
            EntryKind::Position | EntryKind::PositionWithPoints | EntryKind::Varying => {
                stage == Stage::Vertex && arch < Arch::V12
            }
            EntryKind::Vertex | EntryKind::VertexWithPoints => {
                stage == Stage::Vertex && arch >= Arch::V12
            }
            EntryKind::Fragment => stage == Stage::Fragment,
        }
    }

    /// The one that every program of a stage has, which is its first.
    pub(crate) fn first(stage: Stage, arch: Arch) -> EntryKind {
        match stage {
            Stage::Vertex if arch >= Arch::V12 => EntryKind::Vertex,
            Stage::Vertex => EntryKind::Position,
            Stage::Compute | Stage::Fragment => EntryKind::Fragment,
        }
    }

    /// Whether it writes the size of points.
    pub const fn has_points(self) -> bool {
        matches!(
            self,
            EntryKind::PositionWithPoints | EntryKind::VertexWithPoints
        )
    }

    const fn number(self) -> u32 {
        self as u32
    }
}

/// The fixed part of an entry point, as a record holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryRecord {
    pub(crate) kind: EntryKind,
    /// Words of its code, without padding: at least one.
    pub(crate) code: u32,
    pub(crate) registers: RegisterFile,
    pub(crate) preload: u16,
    pub(crate) fau: u16,
    pub(crate) steps: u16,
}

/// Words that an entry point's code is padded to: its first instruction must be at a multiple of 128 bytes.
const CODE_ALIGNMENT: usize = 16;
/// Words after an entry point's code that must be zero at least: the instruction fetcher runs ahead.
const CODE_PADDING: usize = 2;

/// Words of an entry point's code with its padding; `None` when that leaves the address space.
pub(crate) fn padded(code: usize) -> Option<usize> {
    code.checked_add(CODE_PADDING)?
        .checked_next_multiple_of(CODE_ALIGNMENT)
}

/// Where the upper half of a word begins.
const UPPER: u32 = 16;

impl EntryRecord {
    pub(crate) fn to_record(self) -> [u32; 4] {
        [
            self.kind.number(),
            self.code,
            self.registers.registers() | u32::from(self.preload) << UPPER,
            u32::from(self.fau) | u32::from(self.steps) << UPPER,
        ]
    }

    /// The entry point of a record; `None` when a field has no meaning.
    pub(crate) fn from_record([kind, code, registers, fau]: [u32; 4]) -> Option<EntryRecord> {
        let upper = |word: u32| (word >> UPPER) as u16;
        let lower = |word: u32| word & 0xffff;
        Some(EntryRecord {
            kind: *EntryKind::ALL.get(kind as usize)?,
            code: (code > 0).then_some(code)?,
            registers: RegisterFile::from_registers(lower(registers))?,
            preload: upper(registers),
            fau: lower(fau) as u16,
            steps: upper(fau),
        })
    }
}
