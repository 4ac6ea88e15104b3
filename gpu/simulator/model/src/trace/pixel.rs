//! History of a pixel: what each fragment that covers it does, told to who asks for one pixel.
//!
//! Needs: nothing; without a sink that names a pixel nothing is made.

use super::shading::{TileColor, TileContents};
use alloc::vec::Vec;

/// Something that a fragment of the pixel did.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelStep {
    /// Number of the draw's job, over all streams; `None` of what its program does: it is the job of the primitive's early tests.
    pub job: Option<u64>,
    /// The number that the program sees of the primitive.
    pub primitive: u32,
    /// The addresses of the primitive's corners: a name of it.
    pub corners: Vec<u64>,
    /// The sample that the fragment runs for, where each has a run of its own.
    pub sample: Option<u8>,
    /// What it did.
    pub kind: PixelStepKind,
    /// Samples before it and behind it, a bit each: of the primitive, or that are left.
    pub coverage: [u16; 2],
    /// What the tile held of that sample, or of the first, before it and behind it.
    pub contents: [TileContents; 2],
}

/// What a fragment does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PixelStepKind {
    /// The primitive covers the pixel, and the tests before its program were made.
    EarlyTests,
    /// Its program begins.
    Begins,
    /// Its program discards it.
    Discarded,
    /// The tests of ATEST or ZS_EMIT were made.
    LateTests,
    /// A colour goes to a target.
    Colour {
        /// The target.
        target: u8,
        /// The colour that the program gives.
        source: TileColor,
        /// Whether it is blended with what is there.
        blended: bool,
    },
}
