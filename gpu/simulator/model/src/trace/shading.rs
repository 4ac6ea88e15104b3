//! Shading: which vertices and fragments run, told to who checks or counts what shaders do with them.
//!
//! Needs: nothing; without a sink that wants it nothing is made.  Never: what the driver draws by rectangles, which is its own affair.

use alloc::vec::Vec;

/// Vertices whose positions a warp begins to shade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexWarp {
    /// Number of the draw's job, over all streams.
    pub job: u64,
    /// Its vertices, a lane each.
    pub vertices: Vec<StartedVertex>,
}

/// A vertex of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedVertex {
    /// Its number: the index, before the base is added.
    pub vertex: u32,
    /// The number of the instance, from 0.
    pub instance: u32,
    /// The addresses of its positions, by view: names by which primitives refer to it.
    pub positions: Vec<u64>,
}

/// Fragments of one primitive that a warp begins to shade.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentWarp {
    /// Number of the draw's job, over all streams.
    pub job: u64,
    /// The layer of the framebuffer; of a pass of several views the view.
    pub layer: u32,
    /// The number that the program sees of the primitive.
    pub primitive: u32,
    /// Whether its back is seen.
    pub back: bool,
    /// The corner that flat values come from.
    pub provoking: usize,
    /// The addresses of its corners' positions, one to three.
    pub corners: Vec<u64>,
    /// Places of a pixel's samples, from its upper left corner, in pixels.
    pub samples: Vec<[f32; 2]>,
    /// Its lanes, four a quad.
    pub lanes: Vec<StartedFragment>,
}

/// A fragment reads from the tile: what the tile holds of it, which older fragments have left.
#[derive(Clone, Debug, PartialEq)]
pub struct TileRead {
    /// The number that the program sees of the primitive.
    pub primitive: u32,
    /// The addresses of the primitive's corners, as [`FragmentWarp::corners`] has them.
    pub corners: Vec<u64>,
    /// The fragment.
    pub fragment: StartedFragment,
    /// What the tile holds.
    pub contents: TileContents,
}

/// What a tile holds of a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileContents {
    /// By number of the colour target.
    pub colors: Vec<TileColor>,
    /// The depth.
    pub depth: f32,
    /// The stencil value.
    pub stencil: u8,
}

/// A colour in a tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TileColor {
    /// Four components of a format that hardware blends.
    Floats([f32; 4]),
    /// Four integers.
    Integers([u32; 4]),
    /// The bits of another format, as they will be in memory.
    Raw(u128),
}

impl TileColor {
    /// The components of a colour, as the model computes with them.
    pub(crate) fn of(colour: [f64; 4], is_integer: bool) -> TileColor {
        match is_integer {
            true => TileColor::Integers(colour.map(|value| value as i64 as u32)),
            false => TileColor::Floats(colour.map(|value| value as f32)),
        }
    }
}

/// A lane of such a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartedFragment {
    /// Column and row.
    pub pixel: [u32; 2],
    /// The samples that count after the early tests, a bit each; none of a lane that only helps.
    pub coverage: u16,
    /// The sample that it runs for, where each has a run of its own.
    pub sample: Option<u8>,
}
