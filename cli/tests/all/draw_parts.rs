//! `eitri draw`: passes that are suspended, and resumed by the next steps.

use crate::draw::{check, draw};
use crate::draw_attachments::{VERTEX, glsl};
use std::path::Path;

/// The bits of the depth in the push constants.
const COLOR: &str = "#version 450
    layout(push_constant) uniform P { float z; };
    layout(location = 0) out uint o;
    void main() { o = floatBitsToUint(z); }";

/// A pass in three parts. The nearest draw of each pixel is seen, though the pass keeps no depth: what the first part has cleared and
/// drawn the others find.
const SCENE: &str = r#"{"format": 1, "name": "parts", "class": "passes", "description": "a pass in parts", "features": [],
    "shaders": [
        {"name": "v", "stage": "vertex", "source": "v.vert", "spirv": "v.spv", "spirv_opt": "v.spv", "entry": "main"},
        {"name": "f", "stage": "fragment", "source": "f.frag", "spirv": "f.spv", "spirv_opt": "f.spv", "entry": "main"}],
    "images": [
        {"name": "d", "type": "2d", "format": "d32_sfloat", "extent": [4, 1, 1], "levels": 1, "layers": 1, "samples": 1, "usage": ["depth_stencil"]},
        {"name": "c", "type": "2d", "format": "r32_uint", "extent": [4, 1, 1], "levels": 1, "layers": 1, "samples": 1, "usage": ["color"]}],
    "views": [{"name": "d", "image": "d"}, {"name": "c", "image": "c"}],
    "pipelines": [
        {"name": "p", "stages": [{"shader": "v"}, {"shader": "f"}], "depth": {"test": true, "compare": "less", "write": true}}],
    "steps": [
        {"op": "pass", "suspending": true, TARGETS, "draws": [
            {"op": "draw", "pipeline": "p", "vertices": 3, "push": "0000003e", "scissors": [[0, 0, 1, 1]]}]},
        {"op": "pass", "resuming": true, "suspending": true, TARGETS, "draws": [
            {"op": "draw", "pipeline": "p", "vertices": 3, "push": "0000003f", "scissors": [[0, 0, 2, 1]]}]},
        {"op": "pass", "resuming": true, TARGETS, "draws": [
            {"op": "draw", "pipeline": "p", "vertices": 3, "push": "0000803e", "scissors": [[1, 0, 2, 1]]},
            {"op": "draw", "pipeline": "p", "vertices": 3, "push": "0000403f"}]}],
    "expect": [{"image": "c", "from": "computed", "data": {"u32": [1040187392, 1048576000, 1048576000, 9]}, "compare": {"rule": "exact"}}]}"#;

const TARGETS: &str = r#""color": [{"view": "c", "load": "clear", "clear": {"uint": [9, 0, 0, 0]}}],
            "depth": {"view": "d", "load": "clear", "clear_depth": 0.625, "store": "dont_care"}"#;

fn shaders(folder: &Path) -> Option<()> {
    std::fs::create_dir_all(folder).unwrap();
    glsl(folder, "vert", "v", VERTEX)?;
    glsl(folder, "frag", "f", COLOR)
}

/// Also with every check of draws: what a part leaves counts as written in the next.
#[test]
fn passes_are_suspended_and_resumed() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("parts");
    if shaders(&folder).is_none() {
        return eitri_testdata::report_skipped("glslangValidator");
    }
    let scene = SCENE.replace("TARGETS", TARGETS);
    std::fs::write(folder.join("parts.json"), scene).unwrap();
    for gpu in ["g610", "g720", "g725"] {
        let output = draw(root.path(), &["--gpu", gpu]);
        check(&output, "ok parts\n1 passed, 0 failed, 0 skipped\n", 0);
    }
}
