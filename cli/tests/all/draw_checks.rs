//! Checkers of `eitri draw`: scenes in pairs, one broken and its clean twin. Of the broken one rule, level and source line must be
//! reported; of the clean one nothing.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A triangle that covers everything.
pub(crate) const COVER: &str = "#version 450
void main() {
    vec2 at = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(at * 2.0 - 1.0, 0.5, 1.0);
}
";

/// What is the same everywhere.
const WHITE: &str = "#version 450
layout(location = 0) out vec4 color;
void main() {
    color = vec4(1.0);
}
";

/// A scene: shaders, and what differs from one white triangle on 16 x 16 pixels.
pub(crate) struct Scene<'s> {
    vertex: &'s str,
    fragment: &'s str,
    change: Box<dyn Fn(&mut Value) + 's>,
}

pub(crate) fn scene<'s>(
    vertex: &'s str,
    fragment: &'s str,
    change: impl Fn(&mut Value) + 's,
) -> Scene<'s> {
    let change = Box::new(change);
    Scene {
        vertex,
        fragment,
        change,
    }
}

/// What must be reported.
pub(crate) struct Wanted {
    pub(crate) rule: &'static str,
    pub(crate) level: &'static str,
    /// Stage and line; none if the error is in the draw and not in a shader.
    pub(crate) places: &'static [(&'static str, u64)],
}

fn same(_: &mut Value) {}

fn base() -> Value {
    json!({
        "format": 1,
        "name": "scene",
        "class": "checks",
        "description": "",
        "features": ["fragmentStoresAndAtomics"],
        "shaders": [
            {"name": "v", "stage": "vertex", "source": "s.vert", "spirv": "s.vert.spv", "spirv_opt": "s.vert.spv", "entry": "main"},
            {"name": "f", "stage": "fragment", "source": "s.frag", "spirv": "s.frag.spv", "spirv_opt": "s.frag.spv", "entry": "main"},
        ],
        "buffers": [{"name": "b", "bytes": 1024, "init": {"fill": 3}}],
        "images": [
            {"name": "t", "type": "2d", "format": "r8g8b8a8_unorm", "extent": [16, 16, 1], "levels": 1, "layers": 1, "samples": 1,
             "usage": ["color", "sampled"]},
            {"name": "o", "type": "2d", "format": "r8g8b8a8_unorm", "extent": [16, 16, 1], "levels": 1, "layers": 1, "samples": 1,
             "usage": ["color", "sampled"], "init": [{"level": 0, "layer": 0, "layers": 1, "data": {"fill": 77}}]},
            {"name": "d", "type": "2d", "format": "d32_sfloat", "extent": [16, 16, 1], "levels": 1, "layers": 1, "samples": 1,
             "usage": ["depth_stencil", "sampled"]},
        ],
        "views": [
            {"name": "t", "image": "t", "type": "2d", "levels": 1, "layers": 1},
            {"name": "o", "image": "o", "type": "2d", "levels": 1, "layers": 1},
            {"name": "d", "image": "d", "type": "2d", "levels": 1, "layers": 1, "aspect": "depth"},
        ],
        "samplers": [{"name": "n", "mag": "nearest", "min": "nearest", "mip": "nearest"}],
        "sets": [],
        "pipelines": [{"name": "p", "stages": [{"shader": "v"}, {"shader": "f"}]}],
        "steps": [{
            "op": "pass",
            "color": [{"view": "t", "load": "clear", "store": "store", "clear": {"float": [0, 0, 0, 1]}}],
            "draws": [{"op": "draw", "pipeline": "p", "vertices": 3}],
        }],
        // What is drawn is not the question here.
        "expect": [],
    })
}

fn binds(scene: &mut Value, kind: &str, what: Value) {
    let mut binding = json!({"binding": 0, "kind": kind});
    for (key, value) in what.as_object().expect("it is an object") {
        binding[key] = value.clone();
    }
    scene["sets"] = json!([{"name": "s", "bindings": [binding]}]);
    scene["pipelines"][0]["sets"] = json!(["s"]);
}

fn storage(scene: &mut Value) {
    binds(scene, "storage_buffer", json!({"buffer": "b"}));
}

fn uniform(scene: &mut Value) {
    binds(scene, "uniform_buffer", json!({"buffer": "b"}));
}

pub(crate) fn samples(scene: &mut Value, view: &str) {
    binds(
        scene,
        "combined_image_sampler",
        json!({"view": view, "sampler": "n"}),
    );
}

/// A vertex buffer of so many bytes that gives location 0 two floats.
fn vertices(scene: &mut Value, bytes: u64, init: Value) {
    scene["buffers"] = json!([{"name": "b", "bytes": bytes}]);
    if !init.is_null() {
        scene["buffers"][0]["init"] = init;
    }
    let pipeline = &mut scene["pipelines"][0];
    pipeline["vertex_bindings"] = json!([{"binding": 0, "stride": 8}]);
    pipeline["attributes"] =
        json!([{"location": 0, "binding": 0, "format": "r32g32_sfloat", "offset": 0}]);
    let buffer = json!([{"binding": 0, "buffer": "b", "offset": 0}]);
    scene["steps"][0]["draws"][0]["vertex_buffers"] = buffer;
}

/// Writes a scene, and gives its findings.
#[track_caller]
pub(crate) fn findings(folder: &Path, scene: &Scene<'_>) -> (Vec<Value>, String) {
    for (name, text) in [("s.vert", scene.vertex), ("s.frag", scene.fragment)] {
        std::fs::write(folder.join(name), text).expect("the folder is ours");
        let compiled = Command::new("glslangValidator")
            .current_dir(folder)
            .args([
                "-V",
                "--target-env",
                "vulkan1.2",
                "-gVS",
                "--quiet",
                name,
                "-o",
            ])
            .arg(format!("{name}.spv"))
            .output()
            .expect("glslangValidator is there");
        assert!(compiled.status.success(), "{compiled:?}");
    }
    let mut value = base();
    (scene.change)(&mut value);
    std::fs::write(folder.join("scene.json"), value.to_string()).expect("the folder is ours");
    let output = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .current_dir(folder)
        .args([
            "draw",
            "scene.json",
            "--findings",
            "findings.json",
            "--sarif",
            "sarif.json",
        ])
        .env("NO_COLOR", "1")
        .output()
        .expect("the command is there");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let json = std::fs::read_to_string(folder.join("findings.json"));
    let json = json.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let value: Value = serde_json::from_str(&json).expect("it is JSON");
    let all = value["findings"].as_array().expect("it is a list").clone();
    let failed = all.iter().any(|finding| finding["level"] == "error");
    assert_eq!(output.status.code(), Some(failed.into()), "{text}");
    assert!(!text.contains("not checked"), "{text}");
    (all, text)
}

#[track_caller]
pub(crate) fn check(broken: &Scene<'_>, wanted: &Wanted, clean: &Scene<'_>) {
    let folder = tempfile::tempdir().expect("there is room");
    let (found, text) = findings(folder.path(), broken);
    let is_wanted = |finding: &Value| {
        let places = finding["places"].as_array().expect("it is a list");
        let places: Vec<(String, u64)> = places
            .iter()
            .filter_map(|place| {
                let file = place["file"].as_str()?.rsplit('.').next()?.to_owned();
                Some((file, place["line"].as_u64()?))
            })
            .collect();
        let lines = wanted.places.iter();
        finding["rule"] == wanted.rule
            && finding["level"] == wanted.level
            && lines
                .clone()
                .all(|(stage, line)| places.contains(&((*stage).to_owned(), *line)))
    };
    assert!(found.iter().any(is_wanted), "{text}\n{found:#?}");
    let (found, text) = findings(folder.path(), clean);
    assert!(found.is_empty(), "{text}\n{found:#?}");
}

const STORES: &str = "#version 450
layout(std430, set = 0, binding = 0) buffer B { uint words[]; };
void main() {
    uvec2 p = uvec2(gl_FragCoord.xy);
    words[PLACE] = p.x;
}
";

#[test]
fn fragments_that_store_to_one_word_race() {
    let broken = STORES.replace("PLACE", "p.y");
    let clean = STORES.replace("PLACE", "p.y * 16 + p.x");
    let wanted = Wanted {
        rule: "race",
        level: "error",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, &broken, storage),
        &wanted,
        &scene(COVER, &clean, storage),
    );
}

#[test]
fn nothing_orders_the_stores_of_two_draws_but_a_step_between_them() {
    let fragment = "#version 450
layout(std430, set = 0, binding = 0) buffer B { uint words[]; };
layout(location = 0) out vec4 color;
void main() {
    uvec2 p = uvec2(gl_FragCoord.xy);
    words[p.y * 16 + p.x] += p.x + 1u;
    color = vec4(1.0);
}
";
    let broken = |scene: &mut Value| {
        storage(scene);
        let draw = scene["steps"][0]["draws"][0].clone();
        scene["steps"][0]["draws"] = json!([draw, draw]);
    };
    let clean = |scene: &mut Value| {
        storage(scene);
        let step = scene["steps"][0].clone();
        scene["steps"] = json!([step, step]);
    };
    let wanted = Wanted {
        rule: "race",
        level: "error",
        places: &[("frag", 6)],
    };
    check(
        &scene(COVER, fragment, broken),
        &wanted,
        &scene(COVER, fragment, clean),
    );
}

#[test]
fn a_colour_that_was_not_stored_is_undefined() {
    let broken = "#version 450
layout(location = 0) out vec4 color;
void main() {
    vec4 c;
    if (gl_FragCoord.x < 8.0) c = vec4(1.0);
    color = c * 0.5;
}
";
    let clean = broken.replace("vec4 c;", "vec4 c = vec4(0.0);");
    let wanted = Wanted {
        rule: "undefined-use",
        level: "error",
        places: &[("frag", 6)],
    };
    check(
        &scene(COVER, broken, same),
        &wanted,
        &scene(COVER, &clean, same),
    );
}

#[test]
fn a_varying_that_the_vertex_shader_did_not_store_is_undefined() {
    let vertex = "#version 450
layout(location = 0) out vec2 uv;
void main() {
    vec2 at = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    IF uv = at;
    gl_Position = vec4(at * 2.0 - 1.0, 0.5, 1.0);
}
";
    let fragment = "#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    color = vec4(uv * 0.25, 0.0, 1.0);
}
";
    let (broken, clean) = (
        vertex.replace("IF", "if (gl_VertexIndex > 0)"),
        vertex.replace("IF", ""),
    );
    let wanted = Wanted {
        rule: "undefined-use",
        level: "error",
        places: &[("frag", 5)],
    };
    check(
        &scene(&broken, fragment, same),
        &wanted,
        &scene(&clean, fragment, same),
    );
}

#[test]
fn a_buffer_that_nobody_wrote_holds_nothing() {
    let fragment = "#version 450
layout(std430, set = 0, binding = 0) readonly buffer B { float words[]; };
layout(location = 0) out vec4 color;
void main() {
    color = vec4(words[uint(gl_FragCoord.x)]);
}
";
    let broken = |scene: &mut Value| {
        storage(scene);
        scene["buffers"] = json!([{"name": "b", "bytes": 1024}]);
    };
    // Only the words that are read.
    let clean = |scene: &mut Value| {
        storage(scene);
        scene["buffers"] = json!([{"name": "b", "bytes": 1024}]);
        let pass = scene["steps"][0].clone();
        scene["steps"] = json!([{"op": "fill_buffer", "buffer": "b", "offset": 0, "bytes": 64, "value": 1}, pass]);
    };
    let wanted = Wanted {
        rule: "uninit",
        level: "error",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, fragment, broken),
        &wanted,
        &scene(COVER, fragment, clean),
    );
}

const SAMPLES: &str = "#version 450
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 color;
void main() {
    color = texture(image, gl_FragCoord.xy / 16.0);
}
";

#[test]
fn an_image_that_nobody_wrote_holds_nothing() {
    let broken = |scene: &mut Value| {
        samples(scene, "o");
        scene["images"][1]
            .as_object_mut()
            .expect("it is an object")
            .remove("init");
    };
    let clean = |scene: &mut Value| samples(scene, "o");
    let wanted = Wanted {
        rule: "uninit",
        level: "error",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, SAMPLES, broken),
        &wanted,
        &scene(COVER, SAMPLES, clean),
    );
}

#[test]
fn an_image_that_is_rendered_to_must_not_be_read() {
    let wanted = Wanted {
        rule: "feedback-loop",
        level: "error",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, SAMPLES, |it| samples(it, "t")),
        &wanted,
        &scene(COVER, SAMPLES, |it| samples(it, "o")),
    );
}

#[test]
fn depth_that_is_not_written_may_be_read() {
    let with_depth = |scene: &mut Value| {
        samples(scene, "d");
        scene["steps"][0]["depth"] =
            json!({"view": "d", "load": "clear", "store": "store", "clear_depth": 1.0});
    };
    let broken = move |scene: &mut Value| {
        with_depth(scene);
        scene["pipelines"][0]["depth"] = json!({"test": true, "write": true, "compare": "less"});
    };
    let clean = move |scene: &mut Value| {
        with_depth(scene);
        scene["pipelines"][0]["depth"] = json!({"test": true, "write": false, "compare": "less"});
        // A step before has written it.
        let mut first = scene["steps"][0].clone();
        first["draws"] = json!([]);
        let mut pass = scene["steps"][0].clone();
        pass["depth"]["load"] = json!("load");
        scene["steps"] = json!([first, pass]);
    };
    let wanted = Wanted {
        rule: "feedback-loop",
        level: "error",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, SAMPLES, broken),
        &wanted,
        &scene(COVER, SAMPLES, clean),
    );
}

const FETCHED: &str = "#version 450
layout(location = 0) in vec2 at;
void main() {
    gl_Position = vec4(at * 2.0 - 1.0, 0.5, 1.0);
}
";

#[test]
fn attributes_lie_in_their_buffer() {
    let wanted = Wanted {
        rule: "out-of-bounds",
        level: "warning",
        places: &[("vert", 4)],
    };
    check(
        &scene(FETCHED, WHITE, |it| {
            vertices(it, 16, json!({"f32": [0, 0, 2, 0]}))
        }),
        &wanted,
        &scene(FETCHED, WHITE, |it| {
            vertices(it, 24, json!({"f32": [0, 0, 2, 0, 0, 2]}))
        }),
    );
}

#[test]
fn a_vertex_buffer_that_nobody_wrote_holds_nothing() {
    let wanted = Wanted {
        rule: "uninit",
        level: "error",
        places: &[("vert", 4)],
    };
    check(
        &scene(FETCHED, WHITE, |it| vertices(it, 24, Value::Null)),
        &wanted,
        &scene(FETCHED, WHITE, |it| {
            vertices(it, 24, Value::Null);
            let pass = it["steps"][0].clone();
            // (0, 0), (2, 0), (0, 2).
            let data = "000000000000000000000040000000000000000000000040";
            let update = json!({"op": "update_buffer", "buffer": "b", "offset": 0, "hex": data});
            it["steps"] = json!([update, pass]);
        }),
    );
}

#[test]
fn an_index_lies_in_the_array_of_a_uniform_buffer() {
    let fragment = "#version 450
layout(std140, set = 0, binding = 0) uniform B { vec4 colors[8]; };
layout(location = 0) out vec4 color;
void main() {
    color = colors[uint(gl_FragCoord.x) / DIVISOR];
}
";
    let (broken, clean) = (
        fragment.replace("DIVISOR", "1"),
        fragment.replace("DIVISOR", "2"),
    );
    let wanted = Wanted {
        rule: "out-of-bounds",
        level: "warning",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, &broken, uniform),
        &wanted,
        &scene(COVER, &clean, uniform),
    );
}

#[test]
fn a_division_by_zero_becomes_no_colour() {
    let fragment = "#version 450
layout(location = 0) out vec4 color;
void main() {
    int x = int(gl_FragCoord.x);
    color = vec4(float(100 / (x - LESS)));
}
";
    let (broken, clean) = (
        fragment.replace("LESS", "5"),
        fragment.replace("LESS", "50"),
    );
    let wanted = Wanted {
        rule: "arithmetic",
        level: "warning",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, &broken, same),
        &wanted,
        &scene(COVER, &clean, same),
    );
}

#[test]
fn blending_reads_what_was_loaded() {
    let blended = |scene: &mut Value| {
        let equation = json!(["src_alpha", "one_minus_src_alpha", "add"]);
        scene["pipelines"][0]["blend"] =
            json!({"attachments": [{"color": equation, "alpha": equation}]});
    };
    let broken = move |scene: &mut Value| {
        blended(scene);
        scene["steps"][0]["color"][0]["load"] = json!("dont_care");
    };
    let wanted = Wanted {
        rule: "uninit",
        level: "error",
        places: &[],
    };
    check(
        &scene(COVER, WHITE, broken),
        &wanted,
        &scene(COVER, WHITE, blended),
    );
}

#[test]
fn a_depth_test_reads_what_was_loaded() {
    let tested = |scene: &mut Value| {
        scene["pipelines"][0]["depth"] =
            json!({"test": true, "write": true, "compare": "not_equal"});
        scene["steps"][0]["depth"] =
            json!({"view": "d", "load": "clear", "store": "store", "clear_depth": 1.0});
    };
    // Nobody has written what is loaded.
    let broken = move |scene: &mut Value| {
        tested(scene);
        scene["steps"][0]["depth"]["load"] = json!("load");
    };
    let wanted = Wanted {
        rule: "uninit",
        level: "error",
        places: &[],
    };
    check(
        &scene(COVER, WHITE, broken),
        &wanted,
        &scene(COVER, WHITE, tested),
    );
}

#[test]
fn what_was_not_stored_is_not_there_in_the_next_pass() {
    let twice = |scene: &mut Value| {
        samples(scene, "t");
        let mut first = scene["steps"][0].clone();
        first["draws"] = json!([]);
        let mut second = scene["steps"][0].clone();
        second["color"][0]["view"] = json!("o");
        scene["steps"] = json!([first, second]);
    };
    let broken = move |scene: &mut Value| {
        twice(scene);
        scene["steps"][0]["color"][0]["store"] = json!("dont_care");
    };
    let wanted = Wanted {
        rule: "uninit",
        level: "error",
        places: &[("frag", 5)],
    };
    check(
        &scene(COVER, SAMPLES, broken),
        &wanted,
        &scene(COVER, SAMPLES, twice),
    );
}

#[test]
fn indices_lie_in_their_buffer() {
    let indexed = |scene: &mut Value| {
        scene["buffers"] = json!([{"name": "b", "bytes": 8, "init": {"u32": [0x0001_0000, 2]}}]);
        let draw = &mut scene["steps"][0]["draws"][0];
        draw["index"] = json!({"buffer": "b", "type": "u16", "offset": 0});
        draw.as_object_mut()
            .expect("it is an object")
            .remove("vertices");
        draw["indices"] = json!(3);
    };
    let broken = move |scene: &mut Value| {
        indexed(scene);
        scene["steps"][0]["draws"][0]["indices"] = json!(6);
    };
    let wanted = Wanted {
        rule: "out-of-bounds",
        level: "warning",
        places: &[],
    };
    check(
        &scene(COVER, WHITE, broken),
        &wanted,
        &scene(COVER, WHITE, indexed),
    );
}

#[test]
fn helper_lanes_are_no_one() {
    // Lanes that only help, or were discarded, divide by zero, store and read outside: none of it counts.
    let fragment = "#version 450
layout(std430, set = 0, binding = 0) buffer B { uint words[]; };
layout(location = 0) out vec4 color;
void leave(uint x) {
    if (x >= 8u) discard;
}
void main() {
    uvec2 p = uvec2(gl_FragCoord.xy);
    leave(p.x);
    words[p.x * 16u + p.y] = p.x;
    color = vec4(dFdx(float(p.x)));
}
";
    let folder = tempfile::tempdir().expect("there is room");
    let small = |scene: &mut Value| {
        storage(scene);
        scene["buffers"][0]["bytes"] = json!(512);
    };
    let scene = scene(COVER, fragment, small);
    let (found, text) = findings(folder.path(), &scene);
    assert!(found.is_empty(), "{text}\n{found:#?}");
}

#[test]
fn what_is_reported_can_be_chosen() {
    let folder = tempfile::tempdir().expect("there is room");
    let broken = STORES.replace("PLACE", "p.y");
    let scene = scene(COVER, &broken, storage);
    let (found, text) = findings(folder.path(), &scene);
    assert!(text.contains("s.frag:5"), "{text}");
    assert!(text.contains("pixel ("), "{text}");
    assert!(!found.is_empty());
    let sarif = std::fs::read_to_string(folder.path().join("sarif.json")).expect("it was written");
    assert!(sarif.contains("\"ruleId\": \"race\""), "{sarif}");
    for (choice, status) in [("none", 0), ("uninit", 0), ("race", 1), ("errors", 1)] {
        let output = Command::new(env!("CARGO_BIN_EXE_eitri"))
            .current_dir(folder.path())
            .args(["draw", "scene.json", "--check", choice])
            .output()
            .expect("the command is there");
        assert_eq!(output.status.code(), Some(status), "--check {choice}");
    }
}

/// A script of so many draws.
fn script(draws: usize) -> String {
    let draw = "RUN p DRAW_RECT POS 0 0 SIZE 4 4\n";
    format!(
        "#!amber
SHADER vertex pass PASSTHROUGH
SHADER fragment white GLSL
#version 430
layout(location = 0) out vec4 result;
void main() {{ result = vec4(1.0); }}
END
BUFFER picture FORMAT R8G8B8A8_UNORM
PIPELINE graphics p
  ATTACH pass
  ATTACH white
  BIND BUFFER picture AS color LOCATION 0
  FRAMEBUFFER_SIZE 4 4
END
CLEAR p
{}",
        draw.repeat(draws)
    )
}

/// Draws that are not checked are counted, and named to whoever asks for checks.
#[test]
fn what_is_left_out_of_a_script_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let amber = |draws: usize, options: &[&str]| {
        std::fs::write(folder.path().join("many.amber"), script(draws)).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_eitri"))
            .current_dir(folder.path())
            .args(["amber", "many.amber"])
            .args(options)
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        stderr
    };
    let few = amber(2, &["--check", "errors"]);
    assert!(!few.contains("not checked"), "{few}");
    let usual = amber(18, &[]);
    assert!(
        usual.contains("the checkers left out parts of 1 scripts"),
        "{usual}"
    );
    assert!(!usual.contains("not checked"), "{usual}");
    let asked = amber(18, &["--check", "errors"]);
    assert!(
        asked.contains("many.amber: not checked: draw 16: the draws before it"),
        "{asked}"
    );
    assert!(asked.contains("not checked: draw 17: "), "{asked}");
    let none = amber(18, &["--check", "none"]);
    assert!(!none.contains("left out"), "{none}");
}
