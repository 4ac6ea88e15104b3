//! Checkers of `eitri draw`, and what they leave out of scripts.

use crate::drawn_scene::{
    COVER, WHITE, check, error, findings, same, samples, scene, storage, uniform, vertices, warning,
};
use serde_json::{Value, json};
use std::process::Command;

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
    check(
        &scene(COVER, &broken, storage),
        &error("race", &[("frag", 5)]),
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
    check(
        &scene(COVER, fragment, broken),
        &error("race", &[("frag", 6)]),
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
    check(
        &scene(COVER, broken, same),
        &error("undefined-use", &[("frag", 6)]),
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
    check(
        &scene(&broken, fragment, same),
        &error("undefined-use", &[("frag", 5)]),
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
    check(
        &scene(COVER, fragment, broken),
        &error("uninit", &[("frag", 5)]),
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
    check(
        &scene(COVER, SAMPLES, broken),
        &error("uninit", &[("frag", 5)]),
        &scene(COVER, SAMPLES, clean),
    );
}

#[test]
fn an_image_that_is_rendered_to_must_not_be_read() {
    check(
        &scene(COVER, SAMPLES, |it| samples(it, "t")),
        &error("feedback-loop", &[("frag", 5)]),
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
    check(
        &scene(COVER, SAMPLES, broken),
        &error("feedback-loop", &[("frag", 5)]),
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
    check(
        &scene(FETCHED, WHITE, |it| {
            vertices(it, 16, json!({"f32": [0, 0, 2, 0]}))
        }),
        &warning("out-of-bounds", &[("vert", 4)]),
        &scene(FETCHED, WHITE, |it| {
            vertices(it, 24, json!({"f32": [0, 0, 2, 0, 0, 2]}))
        }),
    );
}

#[test]
fn a_vertex_buffer_that_nobody_wrote_holds_nothing() {
    check(
        &scene(FETCHED, WHITE, |it| vertices(it, 24, Value::Null)),
        &error("uninit", &[("vert", 4)]),
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
    check(
        &scene(COVER, &broken, uniform),
        &warning("out-of-bounds", &[("frag", 5)]),
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
    check(
        &scene(COVER, &broken, same),
        &warning("arithmetic", &[("frag", 5)]),
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
    check(
        &scene(COVER, WHITE, broken),
        &error("uninit", &[]),
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
    check(
        &scene(COVER, WHITE, broken),
        &error("uninit", &[]),
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
    check(
        &scene(COVER, SAMPLES, broken),
        &error("uninit", &[("frag", 5)]),
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
    check(
        &scene(COVER, WHITE, broken),
        &warning("out-of-bounds", &[]),
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
