//! Special values: what a source can read besides registers, uniforms and constants.
//!
//! Facts: hardware/valhall-isa.md section 2.2.

use crate::arch::{Arch, ArchSet};

/// A 64-bit value that the hardware provides. A source names one of its two words, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Index of the warp in its core, and the number of warps (the split of the bits is not established).
    WarpId,
    /// Largest x and y of the bounding box (packing not established).
    FramebufferSize,
    /// The opaque word that ATEST takes (word 0).
    AtestDatum,
    /// Address of the table of sample positions.
    Sample,
    /// Internal blend word of a render target; word 1 is the low half of the blend shader's address when there is one.
    BlendDescriptor(RenderTarget),
    /// Base address of the thread's own memory.
    ThreadLocalPointer,
    /// Base address of the workgroup's memory.
    WorkgroupLocalPointer,
    /// Address of the shader resource tables.
    ResourceTablePointer,
    /// The thread's position in its warp, 0 to 15.
    LaneId,
    /// Number of the core.
    CoreId,
    /// Output of the shader (v12 and later).
    ShaderOutput,
    /// State of the pre-pass (v13 and later).
    PrepassState,
    /// Address of the *following* instruction.
    ProgramCounter,
}

/// A render target, 0 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RenderTarget(u8);

impl RenderTarget {
    /// Target `index`, or `None` above 7.
    pub const fn new(index: u8) -> Option<Self> {
        if index < 8 { Some(Self(index)) } else { None }
    }

    /// Its number, 0 to 7.
    pub const fn index(self) -> u8 {
        self.0
    }
}

/// One row of the table of special values.
#[derive(Clone, Copy, Debug)]
pub struct SpecialRow {
    /// The value.
    pub special: Special,
    /// Page of the fast-access unit (bits 57..58).
    pub page: u8,
    /// Index in the page.
    pub index: u8,
    /// Its name in both dialects.
    pub name: &'static str,
    /// The generations that have it.
    pub archs: ArchSet,
}

#[rustfmt::skip]
impl Special {
    /// Every special value.
    pub const ALL: [SpecialRow; 20] = [
        //  value                        page idx  name                       generations
        row(Self::WarpId,                 0,  2,  "warp_id",                 ArchSet::ALL),
        row(Self::FramebufferSize,        0,  4,  "framebuffer_size",        ArchSet::ALL),
        row(Self::AtestDatum,             0,  5,  "atest_datum",             ArchSet::ALL),
        row(Self::Sample,                 0,  6,  "sample",                  ArchSet::ALL),
        row(blend(0),                     0,  8,  "blend_descriptor_0",      ArchSet::ALL),
        row(blend(1),                     0,  9,  "blend_descriptor_1",      ArchSet::ALL),
        row(blend(2),                     0, 10,  "blend_descriptor_2",      ArchSet::ALL),
        row(blend(3),                     0, 11,  "blend_descriptor_3",      ArchSet::ALL),
        row(blend(4),                     0, 12,  "blend_descriptor_4",      ArchSet::ALL),
        row(blend(5),                     0, 13,  "blend_descriptor_5",      ArchSet::ALL),
        row(blend(6),                     0, 14,  "blend_descriptor_6",      ArchSet::ALL),
        row(blend(7),                     0, 15,  "blend_descriptor_7",      ArchSet::ALL),
        row(Self::ThreadLocalPointer,     1,  1,  "thread_local_pointer",    ArchSet::ALL),
        row(Self::WorkgroupLocalPointer,  1,  3,  "workgroup_local_pointer", ArchSet::ALL),
        row(Self::ResourceTablePointer,   1,  7,  "resource_table_pointer",  ArchSet::ALL),
        row(Self::LaneId,                 3,  1,  "lane_id",                 ArchSet::ALL),
        row(Self::CoreId,                 3,  3,  "core_id",                 ArchSet::ALL),
        row(Self::ShaderOutput,           3,  4,  "shader_output",           ArchSet::since(Arch::V12)),
        row(Self::PrepassState,           3,  5,  "prepass_state",           ArchSet::since(Arch::V13)),
        row(Self::ProgramCounter,         3, 15,  "program_counter",         ArchSet::ALL),
    ];
}

const fn row(
    special: Special,
    page: u8,
    index: u8,
    name: &'static str,
    archs: ArchSet,
) -> SpecialRow {
    SpecialRow {
        special,
        page,
        index,
        name,
        archs,
    }
}

const fn blend(target: u8) -> Special {
    Special::BlendDescriptor(RenderTarget(target))
}

impl Special {
    /// The value at `index` of `page`, if `arch` has one there.
    pub fn from_bits(page: u8, index: u8, arch: Arch) -> Option<Self> {
        let found = Self::ALL
            .iter()
            .find(|row| row.page == page && row.index == index)?;
        found.archs.contains(arch).then_some(found.special)
    }

    /// The value called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.special)
    }

    /// Its row of the table.
    pub const fn row(self) -> &'static SpecialRow {
        let rows: &'static [SpecialRow] = &Self::ALL;
        &rows[self.position()]
    }

    /// Where its row stands.
    const fn position(self) -> usize {
        match self {
            Self::WarpId => 0,
            Self::FramebufferSize => 1,
            Self::AtestDatum => 2,
            Self::Sample => 3,
            Self::BlendDescriptor(target) => 4 + target.0 as usize,
            Self::ThreadLocalPointer => 12,
            Self::WorkgroupLocalPointer => 13,
            Self::ResourceTablePointer => 14,
            Self::LaneId => 15,
            Self::CoreId => 16,
            Self::ShaderOutput => 17,
            Self::PrepassState => 18,
            Self::ProgramCounter => 19,
        }
    }
}

/// Rows stand where `position` says.
const _: () = {
    let mut index = 0;
    while index < Special::ALL.len() {
        assert!(
            Special::ALL[index].special.position() == index,
            "rows of special values are out of order"
        );
        index += 1;
    }
};
