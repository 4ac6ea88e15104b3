//! Scenes in pairs for the checkers of draws, one broken and its clean twin. Of the broken one rule, level and source line must be
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
pub(crate) const WHITE: &str = "#version 450
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
    rule: &'static str,
    level: &'static str,
    /// Stage and line; none if the error is in the draw and not in a shader.
    places: &'static [(&'static str, u64)],
}

/// An error of a rule at stages and lines.
pub(crate) const fn error(rule: &'static str, places: &'static [(&'static str, u64)]) -> Wanted {
    Wanted {
        rule,
        level: "error",
        places,
    }
}

/// A warning of a rule at stages and lines.
pub(crate) const fn warning(rule: &'static str, places: &'static [(&'static str, u64)]) -> Wanted {
    Wanted {
        level: "warning",
        ..error(rule, places)
    }
}

pub(crate) fn same(_: &mut Value) {}

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

pub(crate) fn storage(scene: &mut Value) {
    binds(scene, "storage_buffer", json!({"buffer": "b"}));
}

pub(crate) fn uniform(scene: &mut Value) {
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
pub(crate) fn vertices(scene: &mut Value, bytes: u64, init: Value) {
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
