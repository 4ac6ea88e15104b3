//! Drawn scenes of a seed: meshes, formats, the state of pipelines, passes, clears and copies at random, in the format of shared/scenes.
//!
//! What is drawn is chosen so that implementations of Vulkan agree: vertices stand on sixteenths of a pixel of targets whose sizes are powers
//! of two, depths are flat or differ by much, textures are read at the centres of texels or of eighths of them. What is free
//! all the same has a tolerance. A scene has no expected pictures of its own: another implementation draws them.
//!
//! ```
//! let scene = eitri_random_scenes::scene(7, "random_7");
//! assert_eq!(scene, eitri_random_scenes::scene(7, "random_7"));
//! assert_eq!(scene["name"], "random_7");
//! ```
//!
//! Facts: shared/scenes/README.md.

#![forbid(unsafe_code)]

mod draws;
mod geometry;
mod parts;
mod pipelines;
mod random;
mod shaders;
mod steps;
mod targets;

use parts::Parts;
use random::Random;
use serde_json::{Value, json};
use targets::Targets;

/// The files that a scene names: their names and contents.
pub fn files(scene: &Value) -> Vec<(&'static str, &'static [u8])> {
    shaders::files(scene)
}

/// A scene of a seed: a scene file without contents for what it expects, and its files ([`files`]) are beside it.
pub fn scene(seed: u64, name: &str) -> Value {
    let mut random = Random::new(seed);
    let targets = Targets::choose(&mut random);
    let mut scene = Parts::default();
    let steps = steps::choose(&mut random, &targets, &mut scene);
    json!({
        "format": 1,
        "name": name,
        "class": "random",
        "description": format!("draws of seed {seed}: {}", targets.description()),
        "features": scene.features(),
        "shaders": scene.shaders(),
        "buffers": scene.buffers,
        "images": targets.images(&mut random),
        "views": targets.views(),
        "samplers": scene.samplers,
        "sets": scene.sets,
        "pipelines": scene.pipelines,
        "steps": steps,
        "expect": targets.expectations(),
    })
}
