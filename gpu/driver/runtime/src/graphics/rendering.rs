//! What a render pass renders to, as its caller says it. Names and meaning are those of Vulkan's dynamic rendering.

use crate::handle::Image;
use eitri_descriptors::formats::VkFormat;

/// A level and layers of an image that passes render to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageView {
    /// The image.
    pub image: Image,
    /// Its level.
    pub level: u32,
    /// Its first layer, which the pass's layer 0 goes to; of an image of three dimensions its first slice.
    pub layer: u32,
    /// The format in which texels are rendered, with as many bytes as the image's; without one the image's own.
    pub format: Option<&'static VkFormat>,
}

impl ImageView {
    /// The first level from the first layer on.
    pub const fn of(image: Image) -> ImageView {
        ImageView {
            image,
            level: 0,
            layer: 0,
            format: None,
        }
    }
}

/// What an attachment holds when its pass begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadOp<C> {
    /// What it held before. It is read through caches that nothing keeps coherent: a barrier to [`crate::Accesses::COLOR_READ`] or
    /// [`crate::Accesses::DEPTH_STENCIL_READ`] comes after what has written it.
    Load,
    /// This value everywhere.
    Clear(C),
    /// Anything.
    DontCare,
}

/// What becomes of an attachment when its pass ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOp {
    /// It is kept.
    Store,
    /// It may hold anything.
    DontCare,
}

/// A colour to clear to, by what the components of the format are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClearColor {
    /// Red, green, blue, alpha of a normalised or float format.
    Float([f32; 4]),
    /// Of a format of integers with a sign.
    Int([i32; 4]),
    /// Of a format of integers without a sign.
    Uint([u32; 4]),
}

/// How samples become one. Names and meaning are Vulkan's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveMode {
    /// The first sample.
    SampleZero,
    /// The mean of all samples; not of integers.
    Average,
    /// The least value; of depth and stencil alone.
    Min,
    /// The greatest value; of depth and stencil alone.
    Max,
}

/// What the samples of an attachment become one in, when its pass ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// Where each pixel's value goes: of the attachment's format, with one sample.
    pub view: ImageView,
    /// How it is found.
    pub mode: ResolveMode,
}

impl Resolve {
    /// The mean of all samples.
    pub const fn average(view: ImageView) -> Resolve {
        Resolve {
            view,
            mode: ResolveMode::Average,
        }
    }
}

/// A colour attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorAttachment {
    /// What is rendered to.
    pub view: ImageView,
    /// What the samples become one in.
    pub resolve: Option<Resolve>,
    /// What it holds at first.
    pub load: LoadOp<ClearColor>,
    /// What becomes of it.
    pub store: StoreOp,
}

impl ColorAttachment {
    /// Cleared at first, and kept.
    pub const fn cleared(view: ImageView, color: ClearColor) -> ColorAttachment {
        ColorAttachment {
            view,
            resolve: None,
            load: LoadOp::Clear(color),
            store: StoreOp::Store,
        }
    }
}

/// A depth attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthAttachment {
    /// What is rendered to.
    pub view: ImageView,
    /// What it holds at first.
    pub load: LoadOp<f32>,
    /// What becomes of it.
    pub store: StoreOp,
}

impl DepthAttachment {
    /// Cleared at first, and not kept: depth that one pass alone needs.
    pub const fn transient(view: ImageView, depth: f32) -> DepthAttachment {
        DepthAttachment {
            view,
            load: LoadOp::Clear(depth),
            store: StoreOp::DontCare,
        }
    }
}

/// A stencil attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StencilAttachment {
    /// What is rendered to.
    pub view: ImageView,
    /// What it holds at first.
    pub load: LoadOp<u8>,
    /// What becomes of it.
    pub store: StoreOp,
}

/// Pixels from (`x`, `y`) on. x goes to the right, y down, from the first texel of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Pixels along x.
    pub width: u32,
    /// Pixels along y.
    pub height: u32,
}

/// What a render pass renders to. All attachments have the same size and number of samples. Without any the area is given, and
/// fragments do what else they do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RenderingInfo<'a> {
    /// The pixels that are rendered; without it all.
    pub area: Option<Rect>,
    /// Layers: 0 is as 1. Vertex shaders choose among several.
    pub layers: u32,
    /// Views, a bit each: every draw is drawn in each of them, into the layer of its number. 0 without multiview; then `layers`
    /// counts.
    pub view_mask: u32,
    /// Samples of a pixel where there are no attachments; 0 is as 1.
    pub samples: u32,
    /// Colours, by their location; at most 8.
    pub colors: &'a [Option<ColorAttachment>],
    /// Depth.
    pub depth: Option<DepthAttachment>,
    /// Stencil.
    pub stencil: Option<StencilAttachment>,
    /// What the samples of depth become one in.
    pub depth_resolve: Option<Resolve>,
    /// What the samples of stencil become one in.
    pub stencil_resolve: Option<Resolve>,
    /// Goes on with the pass that was suspended last, in these commands or in those that run before: attachments hold what they held
    /// then, and nothing is cleared or loaded. Attachments, area, layers and views are those of that pass.
    pub resuming: bool,
    /// The pass goes on later: attachments keep all that they hold, and nothing is resolved. The next pass resumes it.
    pub suspending: bool,
}

/// Where vertices go: their clip coordinates from -1 to 1 to `width` pixels from `x` on, and so on. A negative height turns the
/// picture over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Pixels along x.
    pub width: f32,
    /// Pixels along y.
    pub height: f32,
    /// Depth of what is nearest, and of what is furthest.
    pub depth: [f32; 2],
}

impl Viewport {
    /// A rectangle, with all depths.
    pub const fn of(width: u32, height: u32) -> Viewport {
        Viewport {
            x: 0.0,
            y: 0.0,
            width: width as f32,
            height: height as f32,
            depth: [0.0, 1.0],
        }
    }

    /// Whether it is another to the last bit.
    pub(super) const fn is(&self, other: &Viewport) -> bool {
        let [near, far] = self.depth;
        let [other_near, other_far] = other.depth;
        let differ = self.x.to_bits() ^ other.x.to_bits()
            | self.y.to_bits() ^ other.y.to_bits()
            | self.width.to_bits() ^ other.width.to_bits()
            | self.height.to_bits() ^ other.height.to_bits()
            | near.to_bits() ^ other_near.to_bits()
            | far.to_bits() ^ other_far.to_bits();
        differ == 0
    }
}
