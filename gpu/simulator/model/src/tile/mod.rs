//! Pixels of a tile: the tile buffer, what draws do to it, and what of it reaches memory.
//!
//! Everything here is a function of values that a test writes by hand: words of descriptors, codes, coverage masks. Memory is
//! reached through [`GpuMemory`] alone. Colours are computed in f64, exact from the stored codes and the registers, and rounded
//! once, to nearest even, where they become codes again (free choice of hardware/graphics-model.md 0).
//!
//! Never: knows warps, registers, the fabric or the order of fragments (`fragment::order` does).
//! Facts: hardware/graphics-model.md 4, hardware/graphics-framebuffer.md, hardware/graphics-formats.md.

pub(crate) mod afbc;
pub(crate) mod blend;
pub(crate) mod buffer;
pub(crate) mod depth;
pub(crate) mod fit;
pub(crate) mod framebuffer;
pub(crate) mod layout;
pub(crate) mod operand;
pub(crate) mod surface;
pub(crate) mod target;
pub(crate) mod write_back;

pub(crate) use blend::BlendState;
pub(crate) use buffer::{Loaded, Pixel, Source, TileBuffer, TileError};
pub(crate) use depth::{DepthBounds, StoredZs, ZsState};
pub(crate) use fit::{Attachment, Overlap};
pub(crate) use framebuffer::{Framebuffer, FramebufferSpan};
pub(crate) use operand::{BlendOperand, Conversion, Output, TileIndex, TilePlane};
pub(crate) use write_back::{PixelBox, Unwritten, write_back};

/// Memory as write-back needs it.
pub(crate) trait GpuMemory {
    /// Why an access did not happen: it stalls, or it failed.
    type Refusal;

    /// Writes bytes at a GPU virtual address.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Self::Refusal>;
}

#[cfg(test)]
mod clear_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
pub(crate) mod tests;
