//! glTF 2.0 models as drawn scenes: what a file says, with a camera and a light, as passes and draws.
//!
//! [`Model::read`] reads a `.glb` or `.gltf` file with its buffers and pictures; [`Model::scene`] makes a [`Scene`] of it, which is
//! drawn as any other. Shaders are WGSL text, one fragment shader for each kind of material; who draws compiles them.
//!
//! Needs: the types of scenes.  Guarantees: bad input is an error that names the file; what is not drawn is named, in
//! [`ModelError::Unsupported`] where the picture would be another, in [`Model::notes`] where the file says that it may be left out.
//! Never: knows who draws.
//!
//! ```
//! use eitri_gltf_scenes::CameraChoice;
//!
//! assert_eq!("fit:45,10".parse(), Ok(CameraChoice::Fitted { yaw: 45.0, pitch: 10.0 }));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
mod model;
mod parts;
mod scene;

mod camera;
mod material;
mod mesh;
mod texture;

mod accessor;
mod extensions;
mod file;
mod members;

mod error;
mod matrix;

pub use camera::CameraChoice;
pub use error::ModelError;
pub use model::{Model, Shot, ToSpirv};

#[allow(unused_imports, reason = "for the links of the documentation")]
use eitri_draw_scenes::Scene;
