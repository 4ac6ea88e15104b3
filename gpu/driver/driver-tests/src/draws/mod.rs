//! Draws: render passes through the driver's calls, with pictures that are worked out here.

mod bench;
mod buffer_words;
mod clears;
mod dynamic;
mod images;
mod incremental;
mod indirect;
mod loss;
mod many_triangles;
mod observed;
mod passes;
mod passes_in_turn;
mod queries;
mod shaders;
mod soak;
mod state;
mod suspended;
mod triangle;
mod worked_example;

pub(crate) use buffer_words::*;
pub(crate) use clears::*;
pub(crate) use dynamic::*;
pub(crate) use images::*;
pub(crate) use incremental::*;
pub(crate) use indirect::*;
pub(crate) use loss::*;
pub(crate) use observed::*;
pub(crate) use passes::*;
pub(crate) use passes_in_turn::*;
pub(crate) use queries::*;
pub(crate) use soak::*;
pub(crate) use state::*;
pub(crate) use suspended::*;
pub(crate) use triangle::*;
pub(crate) use worked_example::*;
