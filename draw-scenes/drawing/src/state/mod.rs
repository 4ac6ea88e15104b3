//! State of draws: what pipelines, passes, samplers and copies are set to.
//!
//! The names are Vulkan's, in the form of `shared/scenes/README.md`: the scenes' files are read straight into these types.

mod blend;
mod depth_stencil;
mod descriptors;
mod images;
mod pass;
mod raster;
mod regions;
mod vertex_input;

pub use blend::*;
pub use depth_stencil::*;
pub use descriptors::*;
pub use images::*;
pub use pass::*;
pub use raster::*;
pub use regions::*;
pub use vertex_input::*;

/// The number of most things: layers, levels, instances.
pub const fn one() -> u32 {
    1
}
