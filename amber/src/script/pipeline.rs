//! Pipelines of a script.

use super::shader::Stage;
use super::state::FixedState;
use super::{BufferId, SamplerId, ShaderId};
use crate::literal::Literal;
use crate::types::{Format, Scalar};
use crate::words::words;
#[cfg(feature = "host")]
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

words! {
    /// Kind of a pipeline.
    PipelineKind, "a kind of pipeline":
    Compute    = "compute",
    Graphics   = "graphics",
    RayTracing = "raytracing" | "ray_tracing",
}

words! {
    /// What a descriptor makes of a buffer.
    DescriptorKind, "a descriptor type":
    Uniform              = "uniform",
    UniformDynamic       = "uniform_dynamic",
    Storage              = "storage",
    StorageDynamic       = "storage_dynamic",
    UniformTexelBuffer   = "uniform_texel_buffer",
    StorageTexelBuffer   = "storage_texel_buffer",
    StorageImage         = "storage_image",
    SampledImage         = "sampled_image",
    CombinedImageSampler = "combined_image_sampler",
}

impl DescriptorKind {
    /// Whether it is plain memory.
    pub fn is_buffer(self) -> bool {
        use DescriptorKind::{Storage, StorageDynamic, Uniform, UniformDynamic};
        matches!(self, Uniform | UniformDynamic | Storage | StorageDynamic)
    }

    /// Whether its offset is given when it is bound.
    pub fn is_dynamic(self) -> bool {
        matches!(
            self,
            DescriptorKind::UniformDynamic | DescriptorKind::StorageDynamic
        )
    }

    /// Whether shaders may write through it.
    pub fn is_writable(self) -> bool {
        use DescriptorKind::{Storage, StorageDynamic, StorageImage, StorageTexelBuffer};
        matches!(
            self,
            Storage | StorageDynamic | StorageTexelBuffer | StorageImage
        )
    }
}

words! {
    /// When vertex data advances.
    VertexRate, "a vertex rate":
    Vertex   = "vertex",
    Instance = "instance",
}

/// A specialisation constant of a pipeline's shader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpecializationConstant {
    /// Its SpecId.
    pub id: u32,
    /// Its type: an integer or float of 32 bits.
    pub scalar: Scalar,
    /// Its value.
    pub value: Literal,
}

impl SpecializationConstant {
    /// The value's bits.
    pub fn bits(&self) -> u32 {
        let mut bytes = [0; 4];
        self.scalar.store(self.value, &mut bytes);
        u32::from_le_bytes(bytes)
    }
}

/// A size that `SUBGROUP` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubgroupSize {
    /// Invocations: a power of two.
    Exactly(u32),
    /// The device's smallest.
    Min,
    /// The device's largest.
    Max,
}

/// What a pipeline asks of a shader's subgroups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subgroup {
    /// All invocations must be there.
    pub fully_populated: bool,
    /// The size may vary.
    pub varying_size: bool,
    /// The size, if it matters.
    pub size: Option<SubgroupSize>,
}

/// A shader in a pipeline.
#[derive(Clone, Debug)]
pub struct AttachedShader {
    /// Which.
    pub shader: ShaderId,
    /// Its stage here.
    pub stage: Stage,
    /// Name of its entry point.
    pub entry: String,
    /// In order of SpecId.
    pub specialization: Vec<SpecializationConstant>,
    /// Names of passes of spirv-opt, in order.
    pub optimizations: Vec<String>,
    /// Options for the compiler of OpenCL C.
    pub compile_options: Vec<String>,
    /// What is asked of its subgroups.
    pub subgroup: Subgroup,
}

/// An argument of an OpenCL kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelArgument {
    /// By its name.
    Name(String),
    /// By its place.
    Number(u32),
}

/// Where a resource is bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slot {
    /// By set and binding.
    Binding {
        /// The descriptor set.
        set: u32,
        /// The binding in it.
        binding: u32,
    },
    /// To a kernel's argument.
    Kernel(KernelArgument),
}

/// A buffer in a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundBuffer {
    /// Which.
    pub buffer: BufferId,
    /// Bytes, of a dynamic descriptor; 0 for others.
    pub dynamic_offset: u64,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Bytes; none for all that is left.
    pub range: Option<u64>,
}

/// What a descriptor is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resource {
    /// Buffers or images: more than one is an array.
    Buffers {
        /// What is made of them; none where an OpenCL kernel decides.
        kind: Option<DescriptorKind>,
        /// At least one.
        buffers: Vec<BoundBuffer>,
        /// Of combined image samplers.
        sampler: Option<SamplerId>,
        /// First level that an image's view has.
        base_mip_level: u32,
    },
    /// Samplers: more than one is an array.
    Samplers(Vec<SamplerId>),
    /// A place in [`super::Script::acceleration_structures`].
    AccelerationStructure(usize),
}

/// A resource in its slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Where.
    pub slot: Slot,
    /// What.
    pub resource: Resource,
}

/// A color attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColorAttachment {
    /// Which buffer.
    pub buffer: BufferId,
    /// Output of the fragment shader.
    pub location: u32,
    /// The level that is drawn to.
    pub base_mip_level: u32,
}

/// Vertex data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VertexBuffer {
    /// Which buffer.
    pub buffer: BufferId,
    /// Input of the vertex shader.
    pub location: u32,
    /// When it advances.
    pub rate: VertexRate,
    /// In place of the buffer's type.
    pub format: Option<Arc<Format>>,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Bytes from one vertex to the next, in place of the format's.
    pub stride: Option<u64>,
}

/// A pipeline.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: PipelineKind,
    /// Its shaders.
    pub shaders: Vec<AttachedShader>,
    /// In order of location.
    pub colors: Vec<ColorAttachment>,
    /// Depth and stencil.
    pub depth_stencil: Option<BufferId>,
    /// The n-th pairs with the n-th color attachment.
    pub resolves: Vec<BufferId>,
    /// Resources.
    pub descriptors: Vec<Descriptor>,
    /// Push constants.
    pub push_constants: Option<BufferId>,
    /// Vertex data.
    pub vertices: Vec<VertexBuffer>,
    /// Indices of vertices.
    pub indices: Option<BufferId>,
    /// Width and height of the framebuffer.
    pub framebuffer: (u32, u32),
    /// How it draws.
    pub state: FixedState,
    /// Values of an OpenCL kernel's arguments.
    pub kernel_values: Vec<(KernelArgument, Scalar, Literal)>,
    /// Names of shader groups, of a ray tracing pipeline.
    pub ray_groups: Vec<String>,
    /// Names of shader binding tables, of a ray tracing pipeline.
    pub ray_tables: Vec<String>,
}

#[cfg(feature = "host")]
impl Pipeline {
    pub(crate) fn new(name: &str, kind: PipelineKind) -> Pipeline {
        Pipeline {
            name: name.to_owned(),
            kind,
            shaders: Vec::new(),
            colors: Vec::new(),
            depth_stencil: None,
            resolves: Vec::new(),
            descriptors: Vec::new(),
            push_constants: None,
            vertices: Vec::new(),
            indices: None,
            framebuffer: (250, 250),
            state: FixedState::default(),
            kernel_values: Vec::new(),
            ray_groups: Vec::new(),
            ray_tables: Vec::new(),
        }
    }

    /// What `DERIVE_PIPELINE` takes over: language reference, section 9.5.
    pub(crate) fn derived(&self, name: &str) -> Pipeline {
        let is_copied =
            |descriptor: &&Descriptor| matches!(descriptor.resource, Resource::Buffers { .. });
        Pipeline {
            name: name.to_owned(),
            resolves: Vec::new(),
            push_constants: None,
            ray_groups: Vec::new(),
            ray_tables: Vec::new(),
            descriptors: self.descriptors.iter().filter(is_copied).cloned().collect(),
            ..self.clone()
        }
    }
}
