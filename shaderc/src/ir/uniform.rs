//! Uniforms: words that all invocations of a dispatch or of a draw find the same, without an instruction.
//!
//! Needs: nothing.  Guarantees: which stages have one is said here. Where the words stand is a back end's affair.
//! Facts: hardware/graphics-compiler.md 1.2, 1.4.
use super::stage::Stages;
use super::{Axis, BindingId};

/// Words that a whole dispatch or draw has in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Uniform {
    /// The push-constant word at this byte offset, a multiple of 4.
    PushConstant(u32),
    /// Number of workgroups of the dispatch.
    NumWorkgroups(Axis),
    /// A word of an element of a binding of uniform buffers, at this byte offset, a multiple of 4; 0 outside of the buffer.
    BufferWord(BindingId, u32, u32),
    /// The draw's first vertex, or the number that it adds to each index.
    BaseVertex,
    /// The draw's first instance.
    BaseInstance,
    /// The view that is drawn to.
    ViewIndex,
    /// The factor of the viewport transform along an axis, a float.
    ViewportScale(Axis),
    /// What the viewport transform adds along an axis, a float.
    ViewportOffset(Axis),
    /// A component of the draw's blend constants, 0 to 3, a float.
    BlendConstant(u8),
}

impl Uniform {
    /// The stages that have it.
    pub fn stages(self) -> Stages {
        match self {
            Uniform::PushConstant(_) | Uniform::BufferWord(..) => Stages::ALL,
            Uniform::NumWorkgroups(_) => Stages::COMPUTE,
            Uniform::BaseVertex
            | Uniform::BaseInstance
            | Uniform::ViewIndex
            | Uniform::ViewportScale(_)
            | Uniform::ViewportOffset(_) => Stages::VERTEX,
            Uniform::BlendConstant(_) => Stages::FRAGMENT,
        }
    }
}
