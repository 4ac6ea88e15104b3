//! The state of pipelines.

use crate::geometry::Mesh;
use crate::parts::Parts;
use crate::random::Random;
use crate::shaders::{self, Shader};
use crate::targets::{Class, Targets};
use serde_json::{Value, json};

#[rustfmt::skip]
const FACTORS: &[&str] = &[
    "zero", "one", "src_color", "one_minus_src_color", "dst_color", "one_minus_dst_color", "src_alpha", "one_minus_src_alpha",
    "dst_alpha", "one_minus_dst_alpha", "constant_color", "one_minus_constant_color", "constant_alpha",
    "one_minus_constant_alpha", "src_alpha_saturate",
];
/// Those that don't make a number larger and larger.
#[rustfmt::skip]
const BOUNDED: &[&str] = &[
    "zero", "one", "src_color", "one_minus_src_color", "src_alpha", "one_minus_src_alpha", "constant_color",
    "one_minus_constant_color", "constant_alpha", "one_minus_constant_alpha",
];
const SECOND: &[&str] = &[
    "src1_color",
    "one_minus_src1_color",
    "src1_alpha",
    "one_minus_src1_alpha",
    "one",
    "zero",
];
const EQUATIONS: &[&str] = &["add", "subtract", "reverse_subtract", "min", "max"];
#[rustfmt::skip]
const LOGIC: &[&str] = &[
    "clear", "and", "and_reverse", "copy", "and_inverted", "no_op", "xor", "or", "nor", "equivalent", "invert", "or_reverse",
    "copy_inverted", "or_inverted", "nand", "set",
];
#[rustfmt::skip]
const COMPARISONS: &[&str] =
    &["never", "less", "equal", "less_or_equal", "greater", "not_equal", "greater_or_equal", "always"];
#[rustfmt::skip]
const STENCIL: &[&str] = &[
    "keep", "zero", "replace", "increment_and_clamp", "decrement_and_clamp", "invert", "increment_and_wrap",
    "decrement_and_wrap",
];

/// What draws must know of a pipeline.
pub(crate) struct Pipeline {
    pub(crate) name: String,
    /// Whether its draws take a set with a texture.
    pub(crate) reads_textures: bool,
}

/// Adds a pipeline that draws a mesh to `scene`.
pub(crate) fn choose(
    random: &mut Random,
    targets: &Targets,
    mesh: &Mesh,
    scene: &mut Parts,
) -> Pipeline {
    let name = format!("p{}", scene.pipelines.len());
    let vertex = if random.once_in(8) {
        scene.needs(&["shaderClipDistance"]);
        shaders::CLIPPED
    } else {
        shaders::MESH
    };
    let fragment = fragment_shader(random, targets);
    let reads_textures = fragment == shaders::TEXTURED;
    let kind = match fragment {
        shaders::TEXTURED => random.between(7, 12),
        shaders::SIGNED | shaders::UNSIGNED => targets.largest_number(),
        _ => random.between(0, 6),
    };
    let kill = random.of(&[0, 0, 0, 1, 2, 3]);
    let mut value = json!({
        "name": name,
        "stages": [
            {"shader": vertex.name},
            {"shader": fragment.name, "spec": [{"id": 0, "value": kind}, {"id": 1, "value": kill}]},
        ],
        "push_bytes": 48,
        "raster": raster(random, mesh.is_flat, scene),
        "multisample": multisample(random, targets, scene),
        "blend": blend(random, targets, fragment == shaders::DUAL, scene),
    });
    if fragment == shaders::SAMPLED {
        scene.needs(&["sampleRateShading"]);
    }
    mesh.describe(&mut value);
    if targets.has_depth() && !random.once_in(4) {
        value["depth"] = json!({"test": !random.once_in(5), "write": random.once_in(2), "compare": random.of(COMPARISONS)});
    }
    if targets.has_stencil() && random.once_in(2) {
        value["stencil"] = json!({"front": stencil(random)});
        if random.once_in(2) {
            value["stencil"]["back"] = stencil(random);
        }
    }
    for shader in [vertex, fragment] {
        scene.uses(shader);
    }
    if reads_textures {
        value["sets"] = json!([scene.set(random)]);
    }
    scene.pipelines.push(value);
    Pipeline {
        name,
        reads_textures,
    }
}

fn fragment_shader(random: &mut Random, targets: &Targets) -> Shader {
    match targets.class {
        Class::Signed => return shaders::SIGNED,
        Class::Unsigned => return shaders::UNSIGNED,
        Class::Real => {}
    }
    let mut all = vec![
        shaders::PLAIN,
        shaders::PLAIN,
        shaders::TEXTURED,
        shaders::TEXTURED,
    ];
    if targets.colours.len() == 1 {
        all.push(shaders::DUAL);
    }
    if targets.has_depth() {
        all.push(shaders::DEEP);
    }
    if targets.samples > 1 {
        all.extend([shaders::MASKED, shaders::SAMPLED]);
    }
    random.of(&all)
}

fn raster(random: &mut Random, is_flat: bool, scene: &mut Parts) -> Value {
    let mut raster = json!({
        "cull": random.of(&["none", "none", "none", "front", "back"]),
        "front": random.of(&["counter_clockwise", "clockwise"]),
        "provoking": "first",
    });
    if random.once_in(6) {
        scene.needs(&["depthClamp"]);
        raster["depth_clamp"] = json!(true);
    }
    // Its unit is that of the largest depth of a primitive, which clipping changes.
    if is_flat && random.once_in(4) {
        raster["depth_bias"] =
            json!({"constant": random.signed(-4, 4) as f32 * 1024.0, "slope": 0.0, "clamp": 0.0});
    }
    raster
}

fn multisample(random: &mut Random, targets: &Targets, scene: &mut Parts) -> Value {
    let mut state = json!({"samples": targets.samples});
    if random.once_in(6) {
        // Lavapipe doesn't ask for the mask of one sample.
        let least = u32::from(targets.samples == 1);
        state["mask"] = json!(random.between(1, 15) | least);
    }
    if targets.class == Class::Real && random.once_in(10) {
        scene.needs(&["alphaToOne"]);
        state["alpha_to_one"] = json!(true);
    }
    state
}

fn blend(random: &mut Random, targets: &Targets, dual: bool, scene: &mut Parts) -> Value {
    let logical = targets.colours.iter().all(|format| format.has_logic);
    let mut state = json!({"constants": random.colour()});
    let uses_logic = logical && !dual && random.once_in(6);
    if uses_logic {
        scene.needs(&["logicOp"]);
        state["logic_op"] = json!(random.of(LOGIC));
    }
    if targets.colours.len() > 1 {
        scene.needs(&["independentBlend"]);
    }
    if dual {
        scene.needs(&["dualSrcBlend"]);
    }
    let blends = targets.class == Class::Real && !uses_logic;
    let attachments = targets.colours.iter().map(|format| {
        let factors = match (dual, format.is_float()) {
            (true, _) => SECOND,
            (false, true) => BOUNDED,
            (false, false) => FACTORS,
        };
        let mut attachment = json!({});
        if blends && (dual || random.once_in(2)) {
            attachment["color"] =
                json!([random.of(factors), random.of(factors), random.of(EQUATIONS)]);
            attachment["alpha"] = match random.once_in(2) {
                true => attachment["color"].clone(),
                false => json!([random.of(factors), random.of(factors), random.of(EQUATIONS)]),
            };
        }
        if random.once_in(4) {
            attachment["write"] = json!(random.of(&["r", "rg", "gba", "a", "rb", ""]));
        }
        attachment
    });
    state["attachments"] = attachments.collect();
    state
}

fn stencil(random: &mut Random) -> Value {
    json!({
        "fail": random.of(STENCIL),
        "depth_fail": random.of(STENCIL),
        "pass": random.of(STENCIL),
        "compare": random.of(COMPARISONS),
        "compare_mask": random.of(&[255, 255, 15, 3]),
        "write_mask": random.of(&[255, 255, 240, 1]),
        "reference": random.of(&[0, 1, 2, 127, 255]),
    })
}
