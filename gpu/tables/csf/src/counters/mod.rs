//! Performance counters: where each stands in a sample, what it counts, and how a sample is laid out.
//!
//! A sample is a row of equal blocks, a block a row of 32-bit words: four of header, then counters. A counter's index is
//! that of its word. Only set 0 has public names.  Facts: hardware/csf-perfcnt.md, data/perfcnt.json.
//!
//! ```
//! use eitri_csf::Arch;
//! use eitri_csf::counters::{BlockKind, SampleLayout, find};
//!
//! let counter = find("GPU_ACTIVE", Arch::V10).unwrap();
//! assert_eq!((counter.block, counter.index), (BlockKind::FrontEnd, 4));
//! // A G610 of RK3588: no firmware blocks, 4 slices of L2, 19 positions of shader cores.
//! let layout = SampleLayout::new(Arch::V10, 0, 0, 4, 0x50005);
//! assert_eq!(layout.hardware_bytes(), 6400);
//! ```

mod front_end;
mod memory_system;
mod sample;
mod shader_core;
mod tiler;

use crate::arch::{Arch, ArchSet};
use core::fmt;
pub use sample::{HEADER_WORDS, SampleLayout, header};

/// Sets of generations, as rows name them.
pub(crate) mod on {
    use crate::arch::{Arch, ArchSet, SUPPORTED};

    pub(crate) const ALL: ArchSet = SUPPORTED;
    pub(crate) const V10: ArchSet = ArchSet::only(Arch::V10);
    pub(crate) const V11: ArchSet = ArchSet::only(Arch::V11);
    pub(crate) const V12: ArchSet = ArchSet::only(Arch::V12);
    pub(crate) const V14: ArchSet = ArchSet::only(Arch::V14);
    pub(crate) const TO_V11: ArchSet = ArchSet::range(Arch::V10, Arch::V11);
    pub(crate) const TO_V12: ArchSet = ArchSet::range(Arch::V10, Arch::V12);
    pub(crate) const TO_V13: ArchSet = ArchSet::range(Arch::V10, Arch::V13);
    pub(crate) const V11_V12: ArchSet = ArchSet::range(Arch::V11, Arch::V12);
    pub(crate) const V11_V13: ArchSet = ArchSet::range(Arch::V11, Arch::V13);
    pub(crate) const FROM_V11: ArchSet = ArchSet::range(Arch::V11, Arch::V14);
    pub(crate) const FROM_V12: ArchSet = ArchSet::range(Arch::V12, Arch::V14);
    pub(crate) const FROM_V13: ArchSet = ArchSet::range(Arch::V13, Arch::V14);
}

/// The kinds of blocks that have named counters, in the order of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// The command-stream front end: one block. Enabled by `GLB_PRFCNT_CSF_EN`.
    FrontEnd,
    /// The tiler: one block. Enabled by `GLB_PRFCNT_TILER_EN`.
    Tiler,
    /// MMU and L2: one block a slice. Enabled by `GLB_PRFCNT_MMU_L2_EN`.
    MemorySystem,
    /// Shader cores: one block a position of `SHADER_PRESENT`, holes included. Enabled by `GLB_PRFCNT_SHADER_EN`.
    ShaderCore,
}

impl BlockKind {
    /// All of them, in the order of a sample.
    pub const ALL: [BlockKind; 4] = [
        BlockKind::FrontEnd,
        BlockKind::Tiler,
        BlockKind::MemorySystem,
        BlockKind::ShaderCore,
    ];

    /// The rows of its counters, by index.
    pub const fn counters(self) -> &'static [Counter] {
        match self {
            BlockKind::FrontEnd => front_end::FRONT_END,
            BlockKind::Tiler => tiler::TILER,
            BlockKind::MemorySystem => memory_system::MEMORY_SYSTEM,
            BlockKind::ShaderCore => shader_core::SHADER_CORE,
        }
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlockKind::FrontEnd => "front end",
            BlockKind::Tiler => "tiler",
            BlockKind::MemorySystem => "memory system",
            BlockKind::ShaderCore => "shader core",
        })
    }
}

macro_rules! units {
    ($($unit:ident $text:literal;)*) => {
        /// What a counter counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are plain words")]
        pub enum Unit {
            $($unit,)*
        }

        impl Unit {
            /// The word for it; empty where none is published.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Unit::$unit => $text,)*
                }
            }
        }
    };
}

units! {
    Beats "beats";
    Boxes "boxes";
    Cycles "cycles";
    Instructions "instructions";
    Interrupts "interrupts";
    Issues "issues";
    Jobs "jobs";
    Nodes "nodes";
    Primitives "primitives";
    Quads "quads";
    Rays "rays";
    Requests "requests";
    Tasks "tasks";
    Tests "tests";
    Threads "threads";
    Tiles "tiles";
    Transactions "transactions";
    Warps "warps";
    Unnamed "";
}

/// A counter: one row of the tables. Its name is in several rows if its place or meaning differs between generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The block that it is in.
    pub block: BlockKind,
    /// Its word in the block, header included: 4 and more.
    pub index: u8,
    /// Name.
    pub name: &'static str,
    /// Where this row holds.
    pub archs: ArchSet,
    /// Unit.
    pub unit: Unit,
    /// It counts in units of 2 to this power.
    pub shift: u8,
    /// What it counts, a phrase; empty where only the name is published.
    pub about: &'static str,
}

impl Counter {
    /// The bit of the block's enable word that selects it, with three neighbours.
    pub const fn enable_bit(&self) -> u32 {
        1 << (self.index / 4)
    }
}

/// A row of the tables.
const fn row(
    block: BlockKind,
    index: u8,
    name: &'static str,
    archs: ArchSet,
    unit: Unit,
    shift: u8,
    about: &'static str,
) -> Counter {
    Counter {
        block,
        index,
        name,
        archs,
        unit,
        shift,
        about,
    }
}

/// All counters of all blocks and generations.
pub fn counters() -> impl Iterator<Item = &'static Counter> {
    BlockKind::ALL.into_iter().flat_map(BlockKind::counters)
}

/// The counter of this name, in any case, on `arch`. Names are unique over all blocks.
pub fn find(name: &str, arch: Arch) -> Option<&'static Counter> {
    counters().find(|it| it.archs.contains(arch) && it.name.eq_ignore_ascii_case(name))
}
