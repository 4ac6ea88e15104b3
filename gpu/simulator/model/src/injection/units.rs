//! Units of the graphics pipeline, as injections name them.
//!
//! Facts: exceptions of jobs hardware/command-stream.md 1.13; who accesses memory hardware/gpu-mmu.md 8.1.

use crate::mmu::Source;

/// A unit of the graphics pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphicsUnit {
    /// Fetches the next indices of a draw.
    VertexFetch,
    /// Allocates memory for vertices, enters a primitive in its bins, stores the heads of the lists.
    Tiler,
    /// Fetches a vertex attribute: LD_ATTR.
    Attributes,
    /// Interpolates a varying: LD_VAR and its kin.
    Varyings,
    /// Fetches or samples texels: the TEX instructions.
    Textures,
    /// Begins a tile, queues a frame shader over it, rasterises the next primitive.
    FragmentFrontEnd,
    /// Tests and updates depth and stencil: early tests of a warp's fragments, ATEST, ZS_EMIT.
    DepthStencil,
    /// Blends, or writes a colour to the tile: BLEND.
    Blending,
    /// Reads or writes a tile for a program: LD_TILE, ST_TILE.
    TileBuffer,
    /// Writes a finished tile to the attachments.
    WriteBack,
    /// Adds counted samples to the slots of occlusion queries.
    Queries,
}

impl GraphicsUnit {
    /// All of them; the place is the number.
    pub const ALL: [GraphicsUnit; 11] = [
        GraphicsUnit::VertexFetch,
        GraphicsUnit::Tiler,
        GraphicsUnit::Attributes,
        GraphicsUnit::Varyings,
        GraphicsUnit::Textures,
        GraphicsUnit::FragmentFrontEnd,
        GraphicsUnit::DepthStencil,
        GraphicsUnit::Blending,
        GraphicsUnit::TileBuffer,
        GraphicsUnit::WriteBack,
        GraphicsUnit::Queries,
    ];

    /// The exception of a job in which the unit fails: the typical cause of each is a job, a fragment job, or an access by a shader.
    pub fn exception(self) -> u8 {
        const TILE_RANGE_FAULT: u8 = 0x59;
        const ADDR_RANGE_FAULT: u8 = 0x5A;
        const IMPRECISE_FAULT: u8 = 0x5B;
        match self {
            GraphicsUnit::VertexFetch | GraphicsUnit::Tiler => ADDR_RANGE_FAULT,
            GraphicsUnit::FragmentFrontEnd | GraphicsUnit::WriteBack | GraphicsUnit::Queries => {
                TILE_RANGE_FAULT
            }
            GraphicsUnit::Attributes
            | GraphicsUnit::Varyings
            | GraphicsUnit::Textures
            | GraphicsUnit::DepthStencil
            | GraphicsUnit::Blending
            | GraphicsUnit::TileBuffer => IMPRECISE_FAULT,
        }
    }
}

/// A unit of shader core or tiler that accesses memory, as fault status registers tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryUnit {
    /// The load/store cache of a shader core, and its instruction cache: buffers, attributes, varyings, images, descriptors.
    ShaderCore,
    /// The texture unit of a shader core.
    Texture,
    /// The tile buffer of a shader core, which writes back.
    TileBuffer,
    /// The tiler.
    Tiler,
}

impl MemoryUnit {
    /// All of them; the place is the number.
    pub const ALL: [MemoryUnit; 4] = [
        MemoryUnit::ShaderCore,
        MemoryUnit::Texture,
        MemoryUnit::TileBuffer,
        MemoryUnit::Tiler,
    ];

    /// The unit that makes accesses from this source; `None` for those of the front end.
    pub(crate) fn of(source: Source) -> Option<MemoryUnit> {
        match source {
            Source::Core(_) => Some(MemoryUnit::ShaderCore),
            Source::Texture(_) => Some(MemoryUnit::Texture),
            Source::TileBuffer(_) => Some(MemoryUnit::TileBuffer),
            Source::Tiler => Some(MemoryUnit::Tiler),
            Source::Mcu | Source::Stream { .. } | Source::StreamFetch { .. } => None,
        }
    }
}

/// The place of `item` among `all`, which is its number.
pub(super) fn number<T: PartialEq>(all: &[T], item: &T) -> u8 {
    let place = all.iter().position(|it| it == item);
    place.unwrap_or_default() as u8
}

/// The item with this number; `item` itself where there is none.
pub(super) fn numbered<T: Copy>(all: &[T], number: u8, item: T) -> T {
    all.get(usize::from(number)).copied().unwrap_or(item)
}
