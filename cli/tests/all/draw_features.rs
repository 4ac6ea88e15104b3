//! Scenes by features of Vulkan: what those that have one must draw, and how those end that ask for one that is not there.

use crate::drawn_scene::{COVER, Scene, WHITE, findings, samples, scene};
use serde_json::{Value, json};

/// Colours as words of R8G8B8A8_UNORM.
const CLEARED: u32 = 0xFF00_0000;
const DRAWN: u32 = 0xFFFF_FFFF;

/// Draws a scene, which must leave this colour everywhere in image `t`.
#[track_caller]
fn leaves(vertex: &str, fragment: &str, color: u32, change: impl Fn(&mut Value)) {
    let near = json!({"rule": "units", "max": 1});
    leaves_compared(vertex, fragment, (color, near), change);
}

/// As [`leaves`], to the last bit.
#[track_caller]
fn leaves_exactly(vertex: &str, fragment: &str, color: u32, change: impl Fn(&mut Value)) {
    leaves_compared(vertex, fragment, (color, json!({"rule": "exact"})), change);
}

#[track_caller]
fn leaves_compared(
    vertex: &str,
    fragment: &str,
    (color, compare): (u32, Value),
    change: impl Fn(&mut Value),
) {
    let changed = |it: &mut Value| {
        change(it);
        let expectations = it["expect"].as_array_mut().expect("it is a list");
        expectations.push(json!({
            "image": "t", "data": {"fill": color}, "from": "computed", "compare": compare,
        }));
    };
    let folder = tempfile::tempdir().expect("there is room");
    // It fails if what is drawn is not what is expected.
    let scene: Scene<'_> = scene(vertex, fragment, changed);
    let (found, text) = findings(folder.path(), &scene);
    assert!(found.is_empty(), "{text}");
}

/// A triangle over everything at this depth.
fn at_depth(depth: f32) -> String {
    COVER.replace("0.5, 1.0);", &format!("{depth:?}, 1.0);"))
}

#[test]
fn depth_is_clipped_and_clamped_apart() {
    // By default primitives are clipped unless depths are clamped.
    for (clamp, clip, color, depth) in [
        (false, None, CLEARED, 1.0),
        (false, Some(true), CLEARED, 1.0),
        (false, Some(false), DRAWN, 1.0),
        (true, None, DRAWN, 0.75),
        (true, Some(false), DRAWN, 0.75),
        (true, Some(true), CLEARED, 1.0),
    ] {
        leaves(&at_depth(2.0), WHITE, color, |it| {
            it["features"] = json!(["depthClamp", "depthClipEnable"]);
            let pipeline = &mut it["pipelines"][0];
            pipeline["depth"] = json!({"test": true, "write": true, "compare": "always"});
            pipeline["raster"] = json!({"depth_clamp": clamp});
            if let Some(clip) = clip {
                pipeline["raster"]["depth_clip"] = json!(clip);
            }
            let pass = &mut it["steps"][0];
            pass["depth"] =
                json!({"view": "d", "load": "clear", "store": "store", "clear_depth": 1.0});
            pass["draws"][0]["viewports"] = json!([[0, 0, 16, 16, 0.0, 0.75]]);
            it["expect"] = json!([{
                "image": "d", "aspect": "depth", "data": {"fill": f32::to_bits(depth)}, "from": "computed",
                "compare": {"rule": "exact"},
            }]);
        });
    }
}

#[test]
fn primitives_that_are_discarded_draw_nothing() {
    for (discard, color) in [(true, CLEARED), (false, DRAWN)] {
        leaves(COVER, WHITE, color, |it| {
            it["pipelines"][0]["raster"] = json!({"discard": discard});
        });
    }
}

/// Samples the middle between two texels at a level.
const BETWEEN: &str = "#version 450
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 color;
void main() {
    color = textureLod(image, vec2(0.5), LEVEL);
}
";

#[test]
fn an_image_of_one_level_is_magnified_and_minified() {
    // Of two texels, 0 and white: the middle is the second for the nearest, and grey for both.
    let grey = 0x8080_8080;
    for (level, mag, min, color) in [
        ("0.0", "nearest", "linear", DRAWN),
        ("1.0", "nearest", "linear", grey),
        ("0.0", "linear", "nearest", grey),
        ("1.0", "linear", "nearest", DRAWN),
    ] {
        let fragment = BETWEEN.replace("LEVEL", level);
        leaves(COVER, &fragment, color, |it| {
            samples(it, "o");
            let image = &mut it["images"][1];
            image["extent"] = json!([2, 1, 1]);
            image["init"][0]["data"] = json!({"u32": [0, DRAWN]});
            it["samplers"][0]["mag"] = json!(mag);
            it["samplers"][0]["min"] = json!(min);
        });
    }
}

/// The colour of a level that [`has_levels`] makes.
fn of_level(level: u32) -> u32 {
    0xFF00_0000 | (40 * level)
}

/// The image that is sampled has all levels of 16 by 16 texels, each of one colour, and so many layers.
fn has_levels(scene: &mut Value, layers: u32) {
    let image = &mut scene["images"][1];
    image["extent"] = json!([16, 16, 1]);
    image["layers"] = json!(layers);
    image["levels"] = json!(5);
    let init = (0..5).map(|level| {
        json!({"level": level, "layer": 0, "layers": layers, "data": {"fill": of_level(level)}})
    });
    image["init"] = init.collect();
    let view = &mut scene["views"][1];
    view["layers"] = json!(layers);
    view["levels"] = json!(5);
}

/// Samples so that a pixel is eight texels wide and one high.
const WIDE: &str = "#version 450
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 color;
void main() {
    vec2 at = gl_FragCoord.xy * vec2(8.0, 1.0) / 16.0;
    color = COLOR;
}
";

#[test]
fn anisotropic_samples_take_a_finer_level_and_queries_give_it() {
    for color in [
        "texture(image, at)",
        "textureLod(image, at, textureQueryLod(image, at).x)",
    ] {
        // The level of eight texels, 3, of which four probes take two each.
        leaves(COVER, &WIDE.replace("COLOR", color), of_level(1), |it| {
            samples(it, "o");
            it["features"] = json!(["samplerAnisotropy"]);
            it["samplers"][0]["max_anisotropy"] = json!(4);
            it["samplers"][0]["u"] = json!("repeat");
            has_levels(it, 1);
        });
    }
}

/// On each face a direction that is twice as long, and a step by which its place there moves by four texels of 16; then one that leaves
/// it where it is. The result is white if both samples are those of their level.
const CUBE_GRADIENTS: &str = "#version 450
layout(set = 0, binding = 0) uniform samplerCube image;
layout(location = 0) out vec4 color;
void main() {
    bool good = true;
    for (int face = 0; face < 6; face++) {
        int axis = face / 2;
        vec3 largest = vec3(axis == 0, axis == 1, axis == 2) * (face % 2 == 0 ? 1.0 : -1.0);
        for (int turn = 1; turn < 3; turn++) {
            vec3 along = vec3((axis + turn) % 3 == 0, (axis + turn) % 3 == 1, (axis + turn) % 3 == 2);
            vec3 other = cross(largest, along);
            vec3 at = 2.0 * largest + 0.5 * along - 0.3 * other;
            // Moving outwards brings it nearer to the middle of the face, by a part of what it moves along.
            vec3 part = 0.8 * largest + 1.2 * along - 0.12 * other;
            vec4 moved = textureGrad(image, at, 3.0 * at, part);
            vec4 still = textureGrad(image, at, -5.0 * at, at);
            good = good && moved == textureLod(image, at, 2.0) && still == textureLod(image, at, 0.0);
        }
    }
    color = vec4(good ? 1.0 : 0.0);
}
";

#[test]
fn gradients_of_cubes_are_those_on_the_face() {
    leaves(COVER, CUBE_GRADIENTS, 0xFFFF_FFFF, |it| {
        samples(it, "o");
        has_levels(it, 6);
        it["images"][1]["cube"] = json!(true);
        it["views"][1]["type"] = json!("cube");
    });
}

/// Samples with a least level below and above that of the derivatives, which is 2. The result is white if all are those of their
/// levels.
const LEAST_LEVELS: &str = "#version 450
#extension GL_ARB_sparse_texture_clamp : require
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 color;
void main() {
    bool good = true;
    vec2 at = vec2(0.3, 0.6);
    vec2 four = vec2(4.0, 0.0) / 16.0;
    vec2 two = vec2(0.0, 2.0) / 16.0;
    for (int least = 0; least < 5; least++) {
        vec4 wanted = textureLod(image, at, max(least, 2));
        good = good && textureGradClampARB(image, at, four, two, least) == wanted
            && textureGradClampARB(image, at, two, four, least) == wanted
            && textureGradOffsetClampARB(image, at, two, four, ivec2(1, -1), least)
                == textureLodOffset(image, at, max(least, 2), ivec2(1, -1))
            && textureGradClampARB(image, at, vec2(0.0), vec2(0.0), least) == textureLod(image, at, least);
        vec4 implied = textureClampARB(image, gl_FragCoord.xy * 4.0 / 16.0, least);
        good = good && implied == textureLod(image, gl_FragCoord.xy * 4.0 / 16.0, max(least, 2));
    }
    color = vec4(good ? 1.0 : 0.0);
}
";

#[test]
fn samples_have_least_levels() {
    leaves(COVER, LEAST_LEVELS, 0xFFFF_FFFF, |it| {
        samples(it, "o");
        it["samplers"][0]["u"] = json!("repeat");
        it["samplers"][0]["v"] = json!("repeat");
        has_levels(it, 1);
    });
    // For a cube, the level follows from the change of the place on its face.
    let of_cube = CUBE_GRADIENTS
        .replace(
            "#version 450",
            "#version 450\n#extension GL_ARB_sparse_texture_clamp : require",
        )
        .replace(
            "textureGrad(image, at, 3.0 * at, part)",
            "textureGradClampARB(image, at, 3.0 * at, part, 3.0)",
        )
        .replace(
            "textureGrad(image, at, -5.0 * at, at)",
            "textureGradClampARB(image, at, -5.0 * at, at, 1.0)",
        )
        .replace("at, 2.0)", "at, 3.0)")
        .replace("at, 0.0)", "at, 1.0)");
    leaves(COVER, &of_cube, 0xFFFF_FFFF, |it| {
        samples(it, "o");
        has_levels(it, 6);
        it["images"][1]["cube"] = json!(true);
        it["views"][1]["type"] = json!("cube");
    });
}

/// Flat colours go from vertex to fragment as halves, which must not round them over the border between two values of the target.
#[test]
fn flat_colours_are_as_their_target_rounds_them() {
    // The halves here are an eighth of a value apart. Both are nearer to a border than that.
    for (share, wanted) in [(200.47, 200), (200.53, 201), (131.48, 131), (131.52, 132)] {
        let vertex = COVER
            .replace("void main() {", "layout(location = 0) flat out vec4 shade;\nvoid main() {")
            .replace(
                "vec4(at * 2.0 - 1.0, 0.5, 1.0);",
                &format!("vec4(at * 2.0 - 1.0, 0.5, 1.0);\n    shade = vec4({share:?} / 255.0) * float(gl_InstanceIndex + 1);"),
            );
        let fragment = "#version 450
layout(location = 0) flat in vec4 shade;
layout(location = 0) out vec4 color;
void main() {
    color = shade;
}
";
        leaves_exactly(&vertex, fragment, wanted * 0x0101_0101, |_| {});
    }
}

#[test]
fn cubes_have_layers() {
    let fragment = "#version 450
layout(set = 0, binding = 0) uniform samplerCubeArray image;
layout(location = 0) out vec4 color;
void main() {
    color = texture(image, vec4(0.0, 1.0, 0.0, 1.0));
}
";
    // The third face of the second cube.
    let faces: Vec<u32> = (0..12).map(|face| 0xFF00_0000 | face).collect();
    leaves(COVER, fragment, faces[8], |it| {
        samples(it, "o");
        it["features"] = json!(["imageCubeArray"]);
        let image = &mut it["images"][1];
        image["extent"] = json!([1, 1, 1]);
        image["layers"] = json!(12);
        image["cube"] = json!(true);
        image["init"][0]["layers"] = json!(12);
        image["init"][0]["data"] = json!({"u32": faces});
        it["views"][1]["type"] = json!("cube_array");
        it["views"][1]["layers"] = json!(12);
    });
}

#[test]
fn parts_of_a_pass_resolve_what_they_draw() {
    // Every sample that has a bit of the mask is drawn to: half of them.
    leaves(COVER, WHITE, 0xFF80_8080, |it| {
        let mut four = it["images"][0].clone();
        four["name"] = json!("m");
        four["samples"] = json!(4);
        let images = it["images"].as_array_mut().expect("it is a list");
        images.push(four);
        let views = it["views"].as_array_mut().expect("it is a list");
        views.push(json!({"name": "m", "image": "m", "type": "2d", "levels": 1, "layers": 1}));
        it["pipelines"][0]["multisample"] = json!({"samples": 4, "mask": 5});
        let draws = it["steps"][0]["draws"].clone();
        let black = json!({"float": [0, 0, 0, 1]});
        it["steps"] = json!([{
            "op": "subpasses",
            "attachments": [
                {"view": "m", "load": "clear", "store": "dont_care", "clear": black},
                {"view": "t", "load": "dont_care", "store": "store"},
            ],
            "subpasses": [{"colors": [0], "resolves": [1], "draws": draws}],
        }]);
    });
}

#[test]
fn features_that_are_not_there_are_named() {
    let folder = tempfile::tempdir().expect("there is room");
    for (feature, told) in [
        ("geometryShader", "skipped scene: geometryShader"),
        (
            "noSuchFeature",
            "skipped scene: not done yet: noSuchFeature",
        ),
    ] {
        let asks = |it: &mut Value| it["features"] = json!([feature]);
        let scene = scene(COVER, WHITE, asks);
        let (_, text) = findings(folder.path(), &scene);
        assert!(text.contains(told), "{text}");
    }
}

/// A half, with an alpha that targets without alpha do not keep.
const HALF: &str = "#version 450
layout(location = 0) out vec4 color;
void main() {
    color = vec4(0.5, 0.5, 0.5, 0.75);
}
";

/// R8 and R8G8 have no alpha in memory, but their tiles hold one, which blending must not read. A word is four texels, or two.
#[test]
fn the_alpha_of_a_format_without_alpha_is_1() {
    let (half, three_quarters) = (0x8080_8080, 0xBFBF_BFBF);
    for (factors, color) in [
        (["dst_alpha", "zero", "add"], half),
        (["one_minus_dst_alpha", "zero", "add"], 0),
        (["src_alpha_saturate", "zero", "add"], 0),
        (["one", "dst_alpha", "add"], three_quarters),
        (["one", "one_minus_dst_alpha", "add"], half),
    ] {
        for format in ["r8_unorm", "r8g8_unorm"] {
            leaves(COVER, HALF, color, |it| {
                it["images"][0]["format"] = json!(format);
                it["pipelines"][0]["blend"] =
                    json!({"attachments": [{"color": factors, "alpha": factors}]});
                it["steps"][0]["color"][0]["clear"] = json!({"float": [0.25, 0.25, 0.25, 0.25]});
            });
        }
    }
}
