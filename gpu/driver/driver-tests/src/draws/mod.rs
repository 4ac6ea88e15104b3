//! Draws: render passes through the driver's calls, with pictures that are worked out here.

mod shaders;
mod triangle;

pub(crate) use triangle::*;
