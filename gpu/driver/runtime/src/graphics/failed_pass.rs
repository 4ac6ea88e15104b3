//! Failed passes: where in a frame a submission failed: the pass, the draw, the pipeline, the place in its code, the pixels.
//!
//! The values are here. How they are found out, and how they are put into words, is in `graphics/failed`, which an image that only
//! computes does without: a value refers to its words by a pointer.

use crate::handle::GraphicsPipeline;
use core::fmt;

/// Where in the render passes of a submission a job failed.
///
/// Nothing is recorded for it: the driver finds it out when a job fails, from the counts of the streams, the instruction at which a
/// stream stood, the address that the fault names, and the commands themselves. [`FailedDraws::by`] says what the draws were
/// concluded from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FailedPass {
    /// Number of the pass in its submission, from 0 in the order of recording. Clears, blits and resolves of images are passes, too; a
    /// pass that neither draws nor clears does not count.
    pub pass: u32,
    /// How many passes may have failed, from `pass` on: those that ran side by side; 1: it is that pass.
    pub passes: u32,
    /// The part of the pass that failed.
    pub part: PassPart,
    /// The draws that may have failed; `None` if the pass has none there, what failed is a clear of attachments, or several passes may
    /// have failed.
    pub draws: Option<FailedDraws>,
    /// The pipeline of these draws, if all have the same.
    pub pipeline: Option<GraphicsPipeline>,
    /// The instruction that failed, if the fault names one.
    pub code: Option<FailedCode>,
    /// The pixels that were accessed, if the fault names an address in an image.
    pub pixels: Option<PixelRange>,
    pub(crate) words: &'static FailedPassWords,
}

/// A part of a render pass, by the stream that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassPart {
    /// Vertices and the tiler.
    Vertices,
    /// Fragments, and the writing of tiles.
    Fragments,
}

/// Draws of a pass that may have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedDraws {
    /// Number of the first in the pass, from 0 in the order of recording. What a buffer says counts as one draw, however many there
    /// are; draws of no vertices or no instances do not count, nor do clears of attachments.
    pub first: u32,
    /// Number of the last.
    pub last: u32,
    /// How many between `first` and `last` may have failed; 1: it is that draw.
    pub count: u32,
    /// What they were concluded from.
    pub by: DrawsKnownBy,
}

/// What draws were concluded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawsKnownBy {
    /// The stream stood at an instruction that prepares or begins the draw.
    Instruction,
    /// Only these draws have the code that failed.
    Code,
    /// Only these draws name the memory with the address that failed, or that is nearest to it.
    Address,
    /// The draws before it had ended, and it is the only one that had begun: the pass has [`crate::RenderPass::draw_in_turn`].
    Turn,
    /// The pass had begun these draws, and no more is known.
    Order,
}

/// An instruction of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedCode {
    /// The stage whose shader it is.
    pub stage: PassPart,
    /// Bytes from the start of the shader's code.
    pub offset: u32,
}

/// Pixels of an image: both corners are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRange {
    /// Number of the image, as messages have it.
    pub image: u16,
    /// The first pixel, in x and y.
    pub first: [u16; 2],
    /// The last pixel.
    pub last: [u16; 2],
    /// The level of the image.
    pub level: u8,
    /// The layer, or the slice of an image of three dimensions.
    pub layer: u16,
}

impl FailedDraws {
    /// The draw, if it is known which one it is.
    pub const fn only(&self) -> Option<u32> {
        if self.count == 1 {
            Some(self.first)
        } else {
            None
        }
    }
}

/// How a failed pass is put into words.
pub(crate) struct FailedPassWords {
    pub(crate) text: fn(&FailedPass, &mut fmt::Formatter<'_>) -> fmt::Result,
    pub(crate) code: fn(&FailedPass, &mut dyn FnMut(u64)),
}

impl PartialEq for FailedPassWords {
    /// There is one way.
    fn eq(&self, _: &FailedPassWords) -> bool {
        true
    }
}

impl Eq for FailedPassWords {}

impl fmt::Display for FailedPass {
    /// `in the vertices of pass 1: draw 3, with pipeline 7`, and what it was concluded from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.words.text)(self, f)
    }
}

impl fmt::Debug for FailedPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
