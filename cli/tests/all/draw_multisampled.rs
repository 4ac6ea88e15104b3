//! Checkers of `eitri draw` and images of several samples: what nobody wrote is reported where it is used, and what was written has
//! its values.

use crate::drawn_scene::{COVER, Wanted, check, error, findings, samples, scene, warning};
use serde_json::{Value, json};

/// Draws what sample 1 of an image of four samples holds.
const FETCHES: &str = "#version 450
layout(set = 0, binding = 0) uniform sampler2DMS image;
layout(location = 0) out vec4 color;
void main() {
    color = texelFetch(image, ivec2(gl_FragCoord.xy), 1);
}
";

const UNINIT: Wanted = error("uninit", &[("frag", 5)]);

/// The triangle is drawn with an image `m` of four samples.
fn with_image(scene: &mut Value) {
    let images = scene["images"].as_array_mut().expect("it is a list");
    images.push(json!({
        "name": "m", "type": "2d", "format": "r8g8b8a8_unorm", "extent": [16, 16, 1], "levels": 1, "layers": 1, "samples": 4,
        "usage": ["color", "sampled", "input"],
    }));
    let views = scene["views"].as_array_mut().expect("it is a list");
    views.push(json!({"name": "m", "image": "m", "type": "2d", "levels": 1, "layers": 1}));
    samples(scene, "m");
}

/// A pass before the draw stores the image; of these columns it clears something.
fn cleared_before(scene: &mut Value, columns: std::ops::Range<u32>) {
    with_image(scene);
    let rect = json!({"rect": [columns.start, 0, columns.len(), 16], "layer": 0, "layers": 1});
    let clear = json!({"index": 0, "clear": {"float": [0.5, 0.5, 0.5, 1]}});
    let pass = json!({
        "op": "pass",
        "color": [{"view": "m", "load": "dont_care", "store": "store"}],
        "draws": [{"op": "clear_attachments", "attachments": [clear], "rects": [rect]}],
    });
    let steps = scene["steps"].as_array_mut().expect("it is a list");
    steps.insert(0, pass);
}

#[test]
fn samples_that_nobody_wrote_hold_nothing() {
    check(
        &scene(COVER, FETCHES, with_image),
        &UNINIT,
        &scene(COVER, FETCHES, |it| cleared_before(it, 0..16)),
    );
}

/// Each texel has its four samples.
#[test]
fn the_texels_that_nobody_wrote_are_known() {
    let left = FETCHES.replace(
        "ivec2(gl_FragCoord.xy)",
        "ivec2(gl_FragCoord.xy) / ivec2(2, 1)",
    );
    check(
        &scene(COVER, FETCHES, |it| cleared_before(it, 0..8)),
        &UNINIT,
        &scene(COVER, &left, |it| cleared_before(it, 0..8)),
    );
}

/// A condition on a sample.
const DECIDES: &str = "#version 450
layout(set = 0, binding = 0) uniform sampler2DMS image;
layout(location = 0) out vec4 color;
void main() {
    float red = texelFetch(image, ivec2(gl_FragCoord.xy), 3).r;
    uint zero = uint(red * 2.0 + 0.1) - EXPECTED;
    color = vec4(1.0);
    if (zero == 0u) {
        color = vec4(float(8u / zero));
    }
}
";

#[test]
fn samples_that_nobody_wrote_decide_nothing() {
    let fragment = DECIDES.replace("EXPECTED", "7u");
    check(
        &scene(COVER, &fragment, with_image),
        &UNINIT,
        &scene(COVER, &fragment, |it| cleared_before(it, 0..16)),
    );
}

/// One of two halves is one: only what subtracts that divides by zero.
#[test]
fn samples_have_their_values() {
    let written = |it: &mut Value| cleared_before(it, 0..16);
    check(
        &scene(COVER, &DECIDES.replace("EXPECTED", "1u"), written),
        &warning("arithmetic", &[("frag", 9)]),
        &scene(COVER, &DECIDES.replace("EXPECTED", "0u"), written),
    );
}

/// Draws what the tile holds of an attachment of four samples.
const INPUT: &str = "#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS held;
layout(location = 0) out vec4 color;
void main() {
    color = subpassLoad(held, gl_SampleID);
}
";

#[test]
fn an_input_attachment_of_several_samples_holds_what_was_loaded_or_cleared() {
    let with_load = |load: &'static str| {
        move |scene: &mut Value| {
            with_image(scene);
            scene["images"][0]["samples"] = json!(4);
            scene["images"][0]["usage"] = json!(["color"]);
            scene["sets"] = json!([{"name": "s", "bindings": [{"binding": 0, "kind": "input_attachment", "view": "m"}]}]);
            scene["pipelines"][0]["multisample"] = json!({"samples": 4});
            let color = scene["steps"][0]["color"][0].clone();
            let mut input = color.clone();
            input["view"] = json!("m");
            input["load"] = json!(load);
            let draws = scene["steps"][0]["draws"].clone();
            scene["steps"] = json!([{
                "op": "subpasses",
                "attachments": [color, input],
                "subpasses": [{"inputs": [1], "colors": [0], "draws": draws}],
            }]);
        }
    };
    check(
        &scene(COVER, INPUT, with_load("load")),
        &UNINIT,
        &scene(COVER, INPUT, with_load("clear")),
    );
    let folder = tempfile::tempdir().expect("there is room");
    let (_, text) = findings(folder.path(), &scene(COVER, INPUT, with_load("dont_care")));
    let why = "an input attachment is read where nothing was loaded, cleared or drawn";
    assert!(text.contains(why), "no {why:?} in {text}");
}
