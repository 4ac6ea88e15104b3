//! The shaders of random scenes: compiled from `shaders/*.vert` and `*.frag` by `shaders/compile.sh`.

use serde_json::{Value, json};

/// A shader: its name, its stage, and the file of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shader {
    pub(crate) name: &'static str,
    stage: &'static str,
    source: &'static str,
}

macro_rules! shaders {
    ($($constant:ident $name:literal $stage:literal $source:literal;)*) => {
        $(pub(crate) const $constant: Shader = Shader {
            name: $name,
            stage: $stage,
            source: $source,
        };)*
        /// All files: sources, and modules before and after an optimiser.
        const FILES: &[(&str, &[u8])] = &[
            ("mesh.vert", include_bytes!("../shaders/mesh.vert")),
            ("colour.frag", include_bytes!("../shaders/colour.frag")),
            $(
                (concat!($name, ".spv"), include_bytes!(concat!("../shaders/", $name, ".spv"))),
                (concat!($name, "-opt.spv"), include_bytes!(concat!("../shaders/", $name, "-opt.spv"))),
            )*
        ];
    };
}

#[rustfmt::skip]
shaders! {
    MESH     "mesh"     "vertex"   "mesh.vert";
    CLIPPED  "clipped"  "vertex"   "mesh.vert";
    PLAIN    "plain"    "fragment" "colour.frag";
    TEXTURED "textured" "fragment" "colour.frag";
    DUAL     "dual"     "fragment" "colour.frag";
    SIGNED   "signed"   "fragment" "colour.frag";
    UNSIGNED "unsigned" "fragment" "colour.frag";
    DEEP     "deep"     "fragment" "colour.frag";
    MASKED   "masked"   "fragment" "colour.frag";
    SAMPLED  "sampled"  "fragment" "colour.frag";
}

/// The files that a scene's shaders name.
pub(crate) fn files(scene: &Value) -> Vec<(&'static str, &'static [u8])> {
    let named = scene["shaders"].as_array().into_iter().flatten();
    let names =
        named.flat_map(|shader| ["source", "spirv", "spirv_opt"].map(|key| shader[key].as_str()));
    let mut names: Vec<&str> = names.flatten().collect();
    names.sort_unstable();
    names.dedup();
    let found = names
        .into_iter()
        .filter_map(|name| FILES.iter().find(|file| file.0 == name));
    found.copied().collect()
}

/// A shader as a scene has it.
pub(crate) fn described(shader: &Shader) -> Value {
    let name = shader.name;
    json!({
        "name": name,
        "stage": shader.stage,
        "source": shader.source,
        "spirv": format!("{name}.spv"),
        "spirv_opt": format!("{name}-opt.spv"),
        "entry": "main",
    })
}
