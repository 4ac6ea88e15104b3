//! What is left of a script to carry out: buffers, samplers, descriptors and commands, without texts of shaders, files or
//! anything that only a parser or a compiler needs. So it goes to a machine that has neither.

#[cfg(feature = "host")]
use crate::contents;
use crate::script::{
    Buffer, BufferId, ColorAttachment, Command, Descriptor, FixedState, PipelineId, Sampler,
    SamplerId, VertexBuffer,
};
#[cfg(feature = "host")]
use crate::script::{PipelineKind, Script};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[cfg(feature = "host")]
pub use contents::{ContentsError, Files, FillError};

/// A script as far as it is carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Buffers and images, by [`BufferId`]. What a file holds stands in its place.
    pub buffers: Vec<Buffer>,
    /// Samplers, by [`SamplerId`].
    pub samplers: Vec<Sampler>,
    /// Pipelines, by [`PipelineId`].
    pub pipelines: Vec<Bindings>,
    /// What is done, in order.
    pub commands: Vec<Command>,
}

/// What a pipeline's shader reads and writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bindings {
    /// Resources.
    pub descriptors: Vec<Descriptor>,
    /// Push constants.
    pub push_constants: Option<BufferId>,
    /// What it draws on and with, of a graphics pipeline.
    pub graphics: Option<Graphics>,
}

/// What a graphics pipeline draws on and with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Graphics {
    /// In order of location.
    pub colors: Vec<ColorAttachment>,
    /// Depth and stencil.
    pub depth_stencil: Option<BufferId>,
    /// The n-th pairs with the n-th color attachment.
    pub resolves: Vec<BufferId>,
    /// Vertex data.
    pub vertices: Vec<VertexBuffer>,
    /// Indices of vertices.
    pub indices: Option<BufferId>,
    /// Width and height of the framebuffer.
    pub framebuffer: (u32, u32),
    /// How it draws.
    pub state: FixedState,
}

impl Plan {
    /// The plan of a script; files that it names are read.
    ///
    /// # Errors
    /// A [`FillError`] for the first buffer whose file gives it nothing.
    #[cfg(feature = "host")]
    pub fn new(script: &Script, files: &mut dyn Files) -> Result<Plan, FillError> {
        let buffers = script.buffers.iter();
        let pipelines = script.pipelines.iter().map(|pipeline| Bindings {
            descriptors: pipeline.descriptors.clone(),
            push_constants: pipeline.push_constants,
            graphics: (pipeline.kind == PipelineKind::Graphics).then(|| Graphics {
                colors: pipeline.colors.clone(),
                depth_stencil: pipeline.depth_stencil,
                resolves: pipeline.resolves.clone(),
                vertices: pipeline.vertices.clone(),
                indices: pipeline.indices,
                framebuffer: pipeline.framebuffer,
                state: pipeline.state.clone(),
            }),
        });
        Ok(Plan {
            buffers: buffers
                .map(|buffer| contents::read(buffer, files))
                .collect::<Result<_, _>>()?,
            samplers: script.samplers.clone(),
            pipelines: pipelines.collect(),
            commands: script.commands.clone(),
        })
    }

    /// A buffer of the script.
    pub fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        self.buffers.get(id.0)
    }

    /// A sampler of the script.
    pub fn sampler(&self, id: SamplerId) -> Option<&Sampler> {
        self.samplers.get(id.0)
    }

    /// What a pipeline of the script binds.
    pub fn pipeline(&self, id: PipelineId) -> Option<&Bindings> {
        self.pipelines.get(id.0)
    }
}
