//! Draws: render passes through the driver's calls, with pictures that are worked out here.

mod bench;
mod images;
mod loss;
mod observed;
mod passes;
mod shaders;
mod state;
mod triangle;

pub(crate) use images::*;
pub(crate) use loss::*;
pub(crate) use observed::*;
pub(crate) use passes::*;
pub(crate) use state::*;
pub(crate) use triangle::*;
