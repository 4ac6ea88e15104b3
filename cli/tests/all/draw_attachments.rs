//! `eitri draw`: parts of a pass that read what earlier ones left in the tile.

use crate::draw::{check, draw};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Covers everything, at the depth of the push constants.
pub(crate) const VERTEX: &str = "#version 450
    layout(push_constant) uniform P { float z; };
    void main() {
        gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, z, 1.0);
    }";
const NOTHING: &str = "#version 450
    void main() {}";
/// The bits of the depth at the pixel.
const READER: &str = "#version 450
    layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput depth;
    layout(location = 0) out uint o;
    void main() {
        vec4 v = subpassLoad(depth);
        o = v.gba == vec3(0.0, 0.0, 1.0) ? floatBitsToUint(v.r) : 7u;
    }";

/// The stencil value at the pixel.
const STENCIL_READER: &str = "#version 450
    layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput stencil;
    layout(location = 0) out uint o;
    void main() {
        uvec4 v = subpassLoad(stencil);
        o = v.gba == uvec3(0, 0, 1) ? v.r : 7u;
    }";

/// Writes a module of GLSL; none if there is no compiler.
pub(crate) fn glsl(folder: &Path, stage: &str, name: &str, source: &str) -> Option<()> {
    let text = folder.join(format!("{name}.{stage}"));
    std::fs::write(&text, source).unwrap();
    let module = folder.join(format!("{name}.spv"));
    let mut glslang = Command::new("glslangValidator");
    glslang.args(["--target-env", "vulkan1.2", "-o"]);
    let output = glslang.arg(module).arg(text).output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(())
}

/// Three draws at depths of their own, then a part of the pass without a depth attachment, which reads it.
const SCENE: &str = r#"{"format": 1, "name": "depth_input", "class": "passes", "description": "depth as input attachment", "features": [],
    "shaders": [
        {"name": "v", "stage": "vertex", "source": "v.vert", "spirv": "v.spv", "spirv_opt": "v.spv", "entry": "main"},
        {"name": "n", "stage": "fragment", "source": "n.frag", "spirv": "n.spv", "spirv_opt": "n.spv", "entry": "main"},
        {"name": "r", "stage": "fragment", "source": "r.frag", "spirv": "r.spv", "spirv_opt": "r.spv", "entry": "main"}],
    "images": [
        {"name": "d", "type": "2d", "format": "d32_sfloat", "extent": [4, 1, 1], "levels": 1, "layers": 1, "samples": 1, "usage": ["depth_stencil", "input"]},
        {"name": "c", "type": "2d", "format": "r32_uint", "extent": [4, 1, 1], "levels": 1, "layers": 1, "samples": 1, "usage": ["color"]}],
    "views": [{"name": "d", "image": "d"}, {"name": "c", "image": "c"}],
    "sets": [{"name": "s", "bindings": [{"binding": 0, "kind": "input_attachment", "view": "d"}]}],
    "pipelines": [
        {"name": "fill", "stages": [{"shader": "v"}, {"shader": "n"}], "depth": {"test": true, "compare": "less", "write": true}},
        {"name": "read", "stages": [{"shader": "v"}, {"shader": "r"}], "sets": ["s"], "depth": {"test": true, "compare": "never", "write": true}}],
    "steps": [{"op": "subpasses",
        "attachments": [
            {"view": "c", "load": "clear", "clear": {"uint": [9, 0, 0, 0]}},
            {"view": "d", "load": "clear", "clear_depth": 0.625, "store": "dont_care"}],
        "subpasses": [
            {"depth": 1, "draws": [
                {"op": "draw", "pipeline": "fill", "vertices": 3, "push": "0000003e", "scissors": [[0, 0, 1, 1]]},
                {"op": "draw", "pipeline": "fill", "vertices": 3, "push": "0000003f", "scissors": [[0, 0, 2, 1]]},
                {"op": "draw", "pipeline": "fill", "vertices": 3, "push": "0000403f", "scissors": [[2, 0, 1, 1]]}]},
            {"inputs": [1], "colors": [0], "draws": [
                {"op": "draw", "pipeline": "read", "vertices": 3, "push": "00000000", "scissors": [[0, 0, 3, 1]]}]}]}],
    "expect": [{"image": "c", "from": "computed", "data": {"u32": [1040187392, 1056964608, 1059061760, 9]}, "compare": {"rule": "exact"}}]}"#;

/// Draws the scene, whose last part has that fragment shader.
fn draws(reader: &str, scene: &str) {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("depth_input");
    std::fs::create_dir_all(&folder).unwrap();
    let shaders = [
        ("vert", "v", VERTEX),
        ("frag", "n", NOTHING),
        ("frag", "r", reader),
    ];
    for (stage, name, source) in shaders {
        if glsl(&folder, stage, name, source).is_none() {
            return eitri_testdata::report_skipped("glslangValidator");
        }
    }
    std::fs::write(folder.join("depth_input.json"), scene).unwrap();
    for gpu in ["g610", "g720", "g725"] {
        let output = draw(root.path(), &["--gpu", gpu]);
        check(
            &output,
            "ok depth_input\n1 passed, 0 failed, 0 skipped\n",
            0,
        );
    }
}

/// Depth as the draws before left it: the nearest of each pixel, else what the pass began with.
#[test]
fn depth_is_read_from_the_tile() {
    draws(READER, SCENE);
}

/// The stencil value that the draws before left: 3 where the nearest passed, 5 where one failed.
#[test]
fn stencil_is_read_from_the_tile() {
    let face = r#""stencil": {"front": {"compare": "always", "fail": "keep", "depth_fail": "replace", "pass": "increment_and_wrap",
        "reference": 5, "compare_mask": 255, "write_mask": 255}}, "depth": {"test": true, "compare": "less""#;
    let scene = SCENE
        .replace("d32_sfloat", "d24_unorm_s8_uint")
        .replace(
            r#""clear_depth": 0.625"#,
            r#""clear_depth": 0.625, "clear_stencil": 2"#,
        )
        .replace(r#""depth": {"test": true, "compare": "less""#, face)
        .replace("[1040187392, 1056964608, 1059061760, 9]", "[5, 3, 5, 9]");
    draws(STENCIL_READER, &scene);
}

/// What the checkers find in the scene with these fragment shaders; none if there is no compiler.
fn found(filler: &str, reader: &str, scene: &str) -> Option<Vec<String>> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    for (stage, name, source) in [
        ("vert", "v", VERTEX),
        ("frag", "n", filler),
        ("frag", "r", reader),
    ] {
        glsl(folder, stage, name, source)?;
    }
    let path = folder.join("depth_input.json");
    // What is computed is of no interest here.
    let scene: Value = serde_json::from_str(scene).unwrap();
    let mut scene = scene;
    scene["expect"] = json!([]);
    std::fs::write(&path, scene.to_string()).unwrap();
    let json = folder.join("findings.json");
    let output = draw(&path, &["--findings", json.to_str().unwrap()]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("not checked"), "{stderr}");
    let text = std::fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let value: Value = serde_json::from_str(&text).unwrap();
    let all = value["findings"].as_array().unwrap().iter();
    let rule = |finding: &Value| finding["rule"].as_str().unwrap_or_default().to_owned();
    Some(all.map(rule).collect())
}

/// Divides by what the pixel has in the tile, times 16, less a number.
fn divider(less: u32) -> String {
    READER.replace(
        "o = v.gba == vec3(0.0, 0.0, 1.0) ? floatBitsToUint(v.r) : 7u;",
        &format!("o = 8u / (uint(v.r * 16.0 + 0.01) - {less}u);"),
    )
}

/// The checkers shade fragments with what the tile holds: only the difference that is zero is reported.
#[test]
fn checkers_see_what_is_in_the_tile() {
    let color = SCENE
        .replace("d32_sfloat", "r8g8b8a8_unorm")
        .replace(r#"["depth_stencil", "input"]"#, r#"["color", "input"]"#)
        .replace(
            r#""clear_depth": 0.625"#,
            r#""clear": {"float": [1, 1, 1, 1]}"#,
        )
        .replace(r#"{"depth": 1, "draws""#, r#"{"colors": [1], "draws""#)
        .replace(
            r#", "depth": {"test": true, "compare": "less", "write": true}"#,
            "",
        );
    let filler = "#version 450
    layout(location = 0) out vec4 o;
    void main() { o = vec4(0.25); }";
    // Sixteen times the depth is 2, 8 and 10; sixteen times the colour 4; nowhere 0 or 1.
    for (filler, scene, held) in [(NOTHING, SCENE, 2), (filler, color.as_str(), 4)] {
        for less in [0, 1, held] {
            let Some(rules) = found(filler, &divider(less), scene) else {
                return eitri_testdata::report_skipped("glslangValidator");
            };
            let expected: &[&str] = if less == held { &["arithmetic"] } else { &[] };
            assert_eq!(rules, expected, "{less} of {held}");
        }
    }
}

/// The history of a pixel has each draw that covers it, its tests, and what becomes of the colour.
#[test]
fn a_pixel_has_a_history() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    for (stage, name, source) in [
        ("vert", "v", VERTEX),
        ("frag", "n", NOTHING),
        ("frag", "r", READER),
    ] {
        if glsl(folder, stage, name, source).is_none() {
            return eitri_testdata::report_skipped("glslangValidator");
        }
    }
    let path = folder.join("depth_input.json");
    std::fs::write(&path, SCENE).unwrap();
    let history = |pixel: &str| {
        let output = draw(&path, &["--pixel", pixel]);
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, history) = text.split_once("depth_input: pixel ").unwrap();
        history.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    // Covered by the first two draws, of which the second is behind, and read by the last.
    let lines = history("0,0");
    assert_eq!(lines[0], "(0, 0)");
    let draws: Vec<&String> = lines.iter().filter(|line| line.contains("draw ")).collect();
    assert_eq!(
        draws,
        [
            "  draw 0, primitive 0",
            "  draw 1, primitive 0",
            "  draw 3, primitive 0"
        ]
    );
    let has = |text: &str| lines.iter().any(|line| line == text);
    let nearer = "    early tests: samples 0x1, depth 0.625 -> 0.125, stencil 0";
    assert!(has(nearer), "{lines:#?}");
    let behind = "    early tests: samples 0x1 -> 0x0, depth 0.125, stencil 0";
    assert!(has(behind), "{lines:#?}");
    let written = "    colour 0: [1040187392, 0, 0, 0] replaces 0x9: 0x3e000000";
    assert!(has(written), "the bits of 0.125 for a nine: {lines:#?}");
    // The last pixel is covered by nothing.
    assert_eq!(history("3,0")[0], "(3, 0): no primitive covers it");
    let refused = draw(&path, &["--pixel", "3"]);
    assert_eq!(refused.status.code(), Some(2));
    let refused = draw(&path, &["--pixel", "0,0", "--on", "qemu"]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--pixel is for scenes"), "{stderr}");
}
