//! The shaders of random scenes: compiled from `shaders/*.vert` and `*.frag` by `shaders/compile.sh`.

use serde_json::{Value, json};

/// A shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shader {
    pub(crate) name: &'static str,
    stage: &'static str,
    source: &'static str,
    spirv: &'static [u8],
    optimised: &'static [u8],
}

macro_rules! shaders {
    ($($constant:ident $name:literal $stage:literal $source:literal;)*) => {
        $(pub(crate) const $constant: Shader = Shader {
            name: $name,
            stage: $stage,
            source: $source,
            spirv: include_bytes!(concat!("../shaders/", $name, ".spv")),
            optimised: include_bytes!(concat!("../shaders/", $name, "-opt.spv")),
        };)*
        /// All of them.
        pub(crate) const ALL: &[Shader] = &[$($constant),*];
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

/// The files of all shaders, by the names that [`described`] has.
pub(crate) fn files() -> impl Iterator<Item = (String, &'static [u8])> {
    let modules = ALL.iter().flat_map(|shader| {
        let name = shader.name;
        [
            (format!("{name}.spv"), shader.spirv),
            (format!("{name}-opt.spv"), shader.optimised),
        ]
    });
    let sources: [(&str, &[u8]); 2] = [
        ("mesh.vert", include_bytes!("../shaders/mesh.vert")),
        ("colour.frag", include_bytes!("../shaders/colour.frag")),
    ];
    modules.chain(sources.map(|(name, text)| (name.to_owned(), text)))
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
