//! What can be wrong with a render pass, a graphics pipeline or a draw.

use core::fmt;
use thiserror::Error;

/// An attachment of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// A colour, by its location.
    Color(u8),
    /// Depth.
    Depth,
    /// Stencil.
    Stencil,
}

impl fmt::Display for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attachment::Color(location) => write!(f, "colour attachment {location}"),
            Attachment::Depth => f.write_str("the depth attachment"),
            Attachment::Stencil => f.write_str("the stencil attachment"),
        }
    }
}

/// What neither fixed functions nor this runtime do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A mean of integers, or the least or greatest of colours.
    ResolveMode,
    /// A blit of integers, depth or stencil with a linear filter.
    LinearBlit,
    /// A blend equation of this target that the hardware does not have: other factors, minimum, maximum, or a raw format.
    Blend,
    /// Two blend constants that differ, of which the hardware has one.
    BlendConstants,
    /// More layers than one tiler context has.
    Layers,
    /// A secondary command buffer with a render pass.
    Secondary,
    /// A query in draws of a secondary command buffer, or around them.
    SecondaryQuery,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsupported::ResolveMode => "this resolve mode for values of this kind",
            Unsupported::LinearBlit => "a linear filter for values of this kind",
            Unsupported::Blend => "a blend equation that is no fixed function",
            Unsupported::BlendConstants => "blend constants that differ",
            Unsupported::Layers => "more than 8 layers",
            Unsupported::Secondary => "a render pass in a secondary command buffer",
            Unsupported::SecondaryQuery => {
                "a query in draws of a secondary command buffer, or around them"
            }
        })
    }
}

/// What draws of a secondary command buffer inherit of the pass that calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherited {
    /// Whether there is such an attachment; a colour's format, too.
    Attachment(Attachment),
    /// Samples of a pixel.
    Samples,
    /// Pixels along x and y.
    Size,
    /// Layers.
    Layers,
    /// The view mask.
    Views,
}

impl fmt::Display for Inherited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inherited::Attachment(attachment) => attachment.fmt(f),
            Inherited::Samples => f.write_str("the number of samples"),
            Inherited::Size => f.write_str("the size"),
            Inherited::Layers => f.write_str("the number of layers"),
            Inherited::Views => f.write_str("the view mask"),
        }
    }
}

/// Why a render pass, a graphics pipeline or a draw is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GraphicsError {
    /// What can't be done.
    #[error("{what} is not supported{}", AtTarget(*target))]
    Unsupported {
        /// What.
        what: Unsupported,
        /// Of which attachment.
        target: Option<Attachment>,
    },
    /// A pass has no attachment, or more colours than there can be.
    #[error("a pass renders to 1 to {most} attachments of one size: {found} are given")]
    Attachments {
        /// How many are given.
        found: usize,
        /// Most colours.
        most: usize,
    },
    /// An attachment is of another size than the others, or has another number of samples.
    #[error("{attachment} differs from the others in size or samples")]
    Mismatch {
        /// The attachment.
        attachment: Attachment,
    },
    /// A format that can't be rendered to in this way.
    #[error("{attachment}: {format} can't be rendered to")]
    Format {
        /// The attachment.
        attachment: Attachment,
        /// Vulkan's name.
        format: &'static str,
    },
    /// The view's image has no such level or layer.
    #[error("{attachment}: the image has no level {level} of layer {layer}")]
    NoPart {
        /// The attachment.
        attachment: Attachment,
        /// Level.
        level: u32,
        /// Layer.
        layer: u32,
    },
    /// The colours of all samples of a pixel do not fit the tile buffer.
    #[error("the colours of a pixel take {bytes} bytes, which do not fit the tile buffer")]
    TileBuffer {
        /// Bytes of a pixel.
        bytes: u32,
    },
    /// A number of samples that there is not.
    #[error("{samples} samples")]
    Samples {
        /// How many.
        samples: u32,
    },
    /// The render area is empty, or leaves the attachments.
    #[error("the render area is empty, or leaves the attachments")]
    Area,
    /// A program of another stage.
    #[error("the program is no {wanted} shader")]
    Stage {
        /// The stage.
        wanted: &'static str,
    },
    /// The fragment shader reads a location that the vertex shader does not write where it is read.
    #[error(
        "input {location} of the fragment shader is not written by the vertex shader: compile both together"
    )]
    Input {
        /// The location.
        location: u8,
    },
    /// The vertex shader reads an attribute that the pipeline does not have.
    #[error("attribute {location} of the vertex shader is missing")]
    NoAttribute {
        /// Its location.
        location: u8,
    },
    /// An attribute that can't be: its location or binding is too large, its binding is missing, or vertices have no such format.
    #[error("attribute {location} of the pipeline can't be")]
    Attribute {
        /// Its location.
        location: u32,
    },
    /// More vertex bindings than there can be.
    #[error("vertex binding {binding}: there are {most}")]
    Binding {
        /// The binding.
        binding: u32,
        /// How many there are.
        most: usize,
    },
    /// A draw without a pipeline.
    #[error("no graphics pipeline is bound")]
    NoPipeline,
    /// A draw without what the pipeline's bindings read.
    #[error("no vertex buffer is bound to binding {binding}")]
    NoVertexBuffer {
        /// The binding.
        binding: u32,
    },
    /// A draw of indices without any.
    #[error("no index buffer is bound")]
    NoIndexBuffer,
    /// The pipeline was made for other attachments.
    #[error(
        "the pipeline was made for other attachments than the pass has: formats or samples differ"
    )]
    Compatible,
    /// A topology of another kind than the pipeline's.
    #[error("the pipeline's topology is of another kind: points, lines or triangles")]
    Topology,
    /// A pass begins while another is suspended.
    #[error("a pass is suspended: the one that resumes it comes next")]
    NotResumed,
    /// A pass of the same commands was leaked, neither ended nor dropped.
    #[error("a render pass was neither ended nor dropped")]
    PassLeaked,
    /// A barrier within a pass that names more than the pass's attachments.
    #[error(
        "a barrier within a pass orders accesses to its attachments at the same pixel alone: for others the pass ends first"
    )]
    BarrierInPass,
    /// Commands that a render pass can't run.
    #[error(
        "the commands were not recorded for render passes to run: `Device::record_draws` does that"
    )]
    NotDraws,
    /// Draws of a secondary command buffer outside of a render pass.
    #[error("the commands were recorded for render passes to run: `RenderPass::execute` does that")]
    OnlyDraws,
    /// Draws of a secondary command buffer were recorded for other passes.
    #[error("{what} of the pass is not what the draws were recorded for")]
    NotInherited {
        /// What differs.
        what: Inherited,
    },
    /// A query begins while another counts.
    #[error("a query counts samples already")]
    QueryBegun,
    /// A query ends where none counts.
    #[error("no query counts samples here")]
    NoQueryBegun,
    /// All draws of a pass have the same provoking vertex.
    #[error(
        "the draws of a pass take the first vertex of a primitive as its provoking one, or all take the last"
    )]
    ProvokingVertex,
}

impl GraphicsError {
    pub(crate) const fn unsupported(what: Unsupported) -> GraphicsError {
        GraphicsError::Unsupported { what, target: None }
    }
}

struct AtTarget(Option<Attachment>);

impl fmt::Display for AtTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(target) => write!(f, " ({target})"),
            None => Ok(()),
        }
    }
}
