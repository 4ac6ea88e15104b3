//! Drawn scenes of a seed: meshes, formats, the state of pipelines, passes, clears and copies at random, in the format of shared/scenes.
//!
//! Scenes avoid what Vulkan leaves to implementations, as far as that goes. Positions of vertices are multiples of a sixteenth of a pixel, and
//! the sizes of targets are powers of two. The depths of a mesh are equal or far apart. Textures are read at the centres of texels or of
//! eighths of them. Where results may differ all the same, there are tolerances. The expected pictures are not made here: another
//! implementation of Vulkan draws them.
//!
//! ```
//! let scene = eitri_random_scenes::scene(7);
//! assert_eq!(scene, eitri_random_scenes::scene(7));
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

/// What a scene of a seed is called.
pub fn name(seed: u64) -> String {
    format!("random_{seed}")
}

/// Takes the contents of files as what a scene expects, and gives the files' names, in the order of the expectations.
pub fn expect_files(scene: &mut Value) -> Vec<String> {
    let expect = scene.get_mut("expect").and_then(Value::as_array_mut);
    let entries = expect.into_iter().flatten().enumerate();
    let named = entries.map(|(number, entry)| {
        let file = format!("expected-{number}.bin");
        entry["data"] = json!({"file": file});
        entry["from"] = json!("lavapipe");
        file
    });
    named.collect()
}

/// A scene of a seed: a scene file that expects zeros ([`expect_files`] changes that), beside which its files lie ([`files`]).
pub fn scene(seed: u64) -> Value {
    let mut random = Random::new(seed);
    let targets = Targets::choose(&mut random);
    let mut scene = Parts::default();
    let steps = steps::choose(&mut random, &targets, &mut scene);
    json!({
        "format": 1,
        "name": name(seed),
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
