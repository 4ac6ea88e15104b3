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
