//! Indirect draws: their numbers stand in buffers, and a loop of the stream reads them, one draw a round.
//!
//! What depends on a draw's first vertex or instance, uniforms and descriptors of inputs, the stream writes into copies, of which
//! there are a few: when all are in use, the loop waits until the draws before have been tiled. A multiplication there is not on
//! all generations: a stride is added for each bit of the first instance, which costs nothing where that is 0.
//! Facts: hardware/graphics-draw.md 3.5, 3.6, 3.13 and 3.14, command-stream.md 3.2 and 3.3.

mod copies;
mod stream;
mod words;

pub(super) use copies::Copies;
pub(super) use stream::IndirectRun;
pub(super) use words::EncodedIndirect;

use super::pass::RenderPass;
use super::repeat::DrawKind;
use crate::error::Error;
use crate::handle::Buffer;
use crate::platform::Platform;
use crate::vm::GpuAddress;

/// What there may be copies of, and the number of the inputs among it.
const COPIED: usize = 3;
const INPUTS: usize = 2;

/// Draws whose numbers stand in a buffer, in Vulkan's structures: `VkDrawIndirectCommand`, or `VkDrawIndexedIndirectCommand`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndirectDraws {
    /// The buffer.
    pub buffer: Buffer,
    /// Where the first one stands; a multiple of 4.
    pub offset: u64,
    /// How many there are, or at most, below 2^31.
    pub draws: u32,
    /// Bytes from one to the next; a multiple of 4 below 2^31.
    pub stride: u32,
    /// The buffer and the offset, a multiple of 4, of the word that says how many are drawn of them; without it all.
    pub count: Option<(Buffer, u64)>,
}

/// Indirect draws that were checked: addresses in place of buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    at: GpuAddress,
    draws: u32,
    stride: u32,
    count: Option<GpuAddress>,
    indexed: bool,
}

impl Parameters {
    pub(super) const fn kind(&self) -> DrawKind {
        match self.indexed {
            true => DrawKind::IndexedIndirect,
            false => DrawKind::Indirect,
        }
    }

    /// Words of a draw's parameters.
    const fn words(self) -> u64 {
        if self.indexed { 5 } else { 4 }
    }
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws vertices, as many and as often as a buffer says. [`crate::Accesses::INDIRECT_READ`] reads it.
    ///
    /// # Errors
    /// As [`RenderPass::draw`]; or if an offset or the stride is no multiple of 4, or something is not inside its buffer.
    pub fn draw_indirect(&mut self, draws: IndirectDraws) -> Result<&mut Self, Error> {
        let parameters = self.parameters(draws, false)?;
        self.draw_parameters(parameters, None)
    }

    /// Draws vertices by their indices, as many and as often as a buffer says.
    ///
    /// # Errors
    /// As [`RenderPass::draw_indirect`]; or if no index buffer is bound.
    pub fn draw_indexed_indirect(&mut self, draws: IndirectDraws) -> Result<&mut Self, Error> {
        let indices = self.bound_indices()?;
        let parameters = self.parameters(draws, true)?;
        self.draw_parameters(parameters, Some(indices))
    }

    fn parameters(&mut self, draws: IndirectDraws, indexed: bool) -> Result<Parameters, Error> {
        let IndirectDraws {
            buffer,
            offset,
            draws,
            stride,
            count,
        } = draws;
        let mut parameters = Parameters {
            at: GpuAddress(0),
            draws,
            stride,
            count: None,
            indexed,
        };
        let words = parameters.words();
        let last = u64::from(draws.saturating_sub(1)).saturating_mul(stride.into());
        let bytes = last.saturating_add(words.saturating_mul(4));
        if !stride.is_multiple_of(4) || i32::try_from(stride.max(draws)).is_err() {
            return Err(Error::Misaligned {
                offset: stride.into(),
            });
        }
        let bytes = if draws == 0 { 0 } else { bytes };
        parameters.at = self.recorder.part_of(buffer, offset, bytes)?;
        if let Some((buffer, offset)) = count {
            parameters.count = Some(self.recorder.part_of(buffer, offset, 4)?);
        }
        Ok(parameters)
    }

    fn draw_parameters(
        &mut self,
        parameters: Parameters,
        indices: Option<super::put_draw::Indices>,
    ) -> Result<&mut Self, Error> {
        if parameters.draws == 0 || self.repeat_indirect(&parameters)? {
            return Ok(self);
        }
        self.draw_from(super::put_draw::Source::Buffer(parameters), indices)
    }
}
