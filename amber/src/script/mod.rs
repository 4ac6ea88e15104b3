//! What a script says, whichever of the two dialects it is written in.
//!
//! Every name is resolved: shaders, buffers, samplers and pipelines are known by their place in the script's lists.

mod buffer;
mod command;
mod pipeline;
mod requirement;
mod sampler;
mod shader;
mod state;

pub use buffer::{Buffer, Contents, Dimension, FileKind};
pub use command::{
    Action, Command, Comparator, Draw, Expectation, PixelProbe, Run, Tolerance, Topology,
};
pub use pipeline::{
    AttachedShader, BoundBuffer, ColorAttachment, Descriptor, DescriptorKind, KernelArgument,
    Pipeline, PipelineKind, Resource, Slot, SpecializationConstant, Subgroup, SubgroupSize,
    VertexBuffer, VertexRate,
};
pub use requirement::{Feature, Property, Requirement};
pub use sampler::{AddressMode, BorderColor, Filter, Sampler};
pub use shader::{Language, Shader, ShaderSource, Stage, TargetEnvironment};
pub use state::{
    Blend, BlendFactor, BlendOperation, CompareOperation, DepthBias, FixedState, PolygonMode,
    StencilFace, StencilOperation, Switch, Viewport,
};

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident,)+) => {$(
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub struct $name(pub usize);
    )+};
}

ids! {
    /// A place in [`Script::shaders`].
    ShaderId,
    /// A place in [`Script::buffers`].
    BufferId,
    /// A place in [`Script::samplers`].
    SamplerId,
    /// A place in [`Script::pipelines`].
    PipelineId,
}

/// The two forms of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Starts with `#!amber`.
    AmberScript,
    /// The older form, in sections.
    VkScript,
}

/// A whole script.
#[derive(Clone, Debug)]
pub struct Script {
    /// Which form it was written in.
    pub dialect: Dialect,
    /// What the device must have, in order.
    pub requirements: Vec<Requirement>,
    /// Longest that a submission may take, if the script says it.
    pub fence_timeout: Option<Duration>,
    /// Texts in place of files, by path.
    pub virtual_files: BTreeMap<String, String>,
    /// Shaders, in order.
    pub shaders: Vec<Shader>,
    /// Buffers and images, in order.
    pub buffers: Vec<Buffer>,
    /// Samplers, in order.
    pub samplers: Vec<Sampler>,
    /// Pipelines, in order.
    pub pipelines: Vec<Pipeline>,
    /// Names of acceleration structures, in order. Nothing more of them is kept: no Mali of this family traces rays.
    pub acceleration_structures: Vec<String>,
    /// What is done, in order.
    pub commands: Vec<Command>,
}

impl Script {
    /// A shader of the script.
    pub fn shader(&self, id: ShaderId) -> Option<&Shader> {
        self.shaders.get(id.0)
    }

    /// A buffer of the script.
    pub fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        self.buffers.get(id.0)
    }

    /// A pipeline of the script.
    pub fn pipeline(&self, id: PipelineId) -> Option<&Pipeline> {
        self.pipelines.get(id.0)
    }
}
