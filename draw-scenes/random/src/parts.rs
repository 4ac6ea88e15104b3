//! The parts of a scene that its steps name.

use crate::random::Random;
use crate::shaders::{self, Shader};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) buffers: Vec<Value>,
    pub(crate) samplers: Vec<Value>,
    pub(crate) sets: Vec<Value>,
    pub(crate) pipelines: Vec<Value>,
    features: Vec<&'static str>,
    shaders: Vec<Shader>,
}

impl Parts {
    /// Notes what devices must have.
    pub(crate) fn needs(&mut self, features: &[&'static str]) {
        for feature in features {
            if !self.features.contains(feature) {
                self.features.push(feature);
            }
        }
    }

    /// Notes that a pipeline has a shader.
    pub(crate) fn uses(&mut self, shader: Shader) {
        if !self.shaders.contains(&shader) {
            self.shaders.push(shader);
        }
    }

    pub(crate) fn features(&self) -> &[&'static str] {
        &self.features
    }

    pub(crate) fn shaders(&self) -> Vec<Value> {
        self.shaders.iter().map(shaders::described).collect()
    }

    /// The name of a set with a texture, a sampler and a table: one that is there, or a new one.
    pub(crate) fn set(&mut self, random: &mut Random) -> String {
        let number = self.sets.len();
        if number > 0 && random.once_in(2) {
            return format!("set{}", random.between(0, number as u32 - 1));
        }
        let sampler = format!("sampler{number}");
        let modes = [
            "repeat",
            "mirrored_repeat",
            "clamp_to_edge",
            "clamp_to_border",
        ];
        let filter = random.of(&["nearest", "nearest", "linear"]);
        self.samplers.push(json!({
            "name": sampler,
            "mag": filter,
            "min": filter,
            "mip": random.of(&["nearest", "linear"]),
            "u": random.of(&modes),
            "v": random.of(&modes),
            "border": random.of(&["float_transparent_black", "float_opaque_black", "float_opaque_white"]),
            "lod_bias": random.of(&[0.0, 0.0, 1.0]),
            "max_lod": random.of(&[1000.0, 1000.0, 1.0]),
        }));
        let table = format!("table{number}");
        let rows: Vec<f32> = (0..80).map(|_| random.eighths()).collect();
        self.buffers
            .push(json!({"name": table, "bytes": 320, "init": {"f32": rows}}));
        let name = format!("set{number}");
        self.sets.push(json!({"name": name, "bindings": [
            {"binding": 0, "kind": "combined_image_sampler", "view": random.of(&["texture", "turned"]), "sampler": sampler},
            {"binding": 1, "kind": "uniform_buffer", "buffer": table, "offset": random.of(&[0, 256]), "bytes": 64},
        ]}));
        name
    }
}

/// Bytes as a scene has them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
