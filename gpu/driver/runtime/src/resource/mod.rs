//! Resources: what shaders read and write, as the GPU finds it: images, their views, samplers, and the descriptor sets that name
//! them.
//!
//! Facts: hardware/descriptors.md sections 4, 5, 8 to 11 and 13, compiler-abi.md section 1.

// What there is.
mod image;
mod image_view;

// How it is described.
mod descriptors;
mod image_descriptors;

// Where shaders find it.
mod bind;
mod descriptor_set;

pub use bind::{BindingElement, BufferRange};
pub use descriptor_set::DynamicOffset;
pub(crate) use descriptor_set::{BoundSet, SetPart};
pub(crate) use descriptors::{
    DESCRIPTOR_BYTES, RESOURCE_BYTES, RESOURCE_WORDS, ThreadStorage, WorkgroupStorage, buffer,
    local_storage, pack, resource, resource_entries, shader_program, workgroup_size,
};
pub use image::{Aspect, ImageError, ImageInfo, ImageRange, ImageUses, Placement, Tiling};
pub(crate) use image::{
    IMPORTED, ImagePlane, Level, NO_HOST, NOT_IMPORTED, NOT_PLACED, OTHER_CHANNELS, SUPERBLOCK,
    TILE_BYTES, in_tile,
};
pub use image_descriptors::SamplerInfo;
pub(crate) use image_descriptors::{FETCHES, PlanePart, planes, sampler};
pub(crate) use image_view::CheckedView;
pub use image_view::{Component, ViewInfo};
