//! Tiler: from shaded vertices to lists of primitives by tile, in the memory of a tiler heap.
//!
//! Needs: positions that a vertex program has stored; memory by GPU address ([`HeapMemory`]).  Guarantees: whatever call is
//! refused for want of memory, or because an access waits, can be made again, and nothing is lost or entered twice.
//! Never: runs shaders, or decides coverage.  Facts: hardware/graphics-model.md 1, 6; graphics.md 2; graphics-draw.md 3.20.
//!
//! Call order for a draw: [`PolygonList::open`], [`PolygonList::set_draw`], [`PolygonList::allocate_vertices`] and the
//! vertex programs, [`Assembler`], [`cull`], [`PolygonList::add`], [`PolygonList::store`]. For a tile:
//! [`ListReader::open`], [`ListReader::tile`], [`TilePrimitives::next`].
//!
//! The form of everything but the words that a driver reads (polygon list pointer, completed top and bottom, chunk headers)
//! is the model's own.

mod assemble;
mod bins;
mod clip;
mod context;
mod cull;
#[cfg(test)]
mod draw;
#[cfg(test)]
mod exhaustion;
mod heap;
mod list;
mod memory;
mod read;
mod record;
mod vertices;

pub(crate) use assemble::{Assembled, Assembler, ProvokingVertex, Topology};
pub(crate) use clip::lies_on_guard_band;
pub(crate) use context::{OpenError, Opening};
pub(crate) use cull::{CullRules, Fate, cull};
pub(crate) use heap::TilingStop;
pub(crate) use list::{PolygonList, Resumed};
pub(crate) use memory::HeapMemory;
pub(crate) use read::{ListReader, ReadStop, TilePrimitives};
pub(crate) use record::{DrawState, ListedPrimitive, Piece, PrimitiveKind, VertexReference};
pub(crate) use vertices::{VertexBatch, VertexLayout};
