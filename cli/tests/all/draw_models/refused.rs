//! What is not drawn is named, and bad files are errors with a place, never a panic.

use super::FRONT;
use super::glb::{File, Without};
use super::scene::{plain, quad};
use crate::eitri::eitri;
use serde_json::{Value, json};

fn good() -> File {
    File::of(
        &[quad([1.0, 1.0], 1.0, plain([1.0; 4]))],
        &FRONT,
        Without::default(),
    )
}

/// Draws a file of these bytes; gives its status and what stands on stderr, in one line.
fn run(bytes: &[u8], options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.glb");
    std::fs::write(&path, bytes).unwrap();
    let picture = folder.path().join("picture.png");
    let mut arguments = vec![
        "draw",
        path.to_str().unwrap(),
        "--size",
        "8x8",
        "-o",
        picture.to_str().unwrap(),
    ];
    arguments.extend(options);
    let output = eitri(&arguments, b"");
    let stderr = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
    assert_eq!(picture.exists(), output.status.success(), "{stderr}");
    (output.status.code(), stderr)
}

/// A good file with a change is refused with these words.
#[track_caller]
fn refused(change: impl FnOnce(&mut Value), words: &str) {
    let mut file = good();
    change(&mut file.json);
    let (status, stderr) = run(&file.glb(), &[]);
    assert!(stderr.contains(words), "no {words:?} in {stderr}");
    assert_eq!(status, Some(2), "{stderr}");
}

#[test]
fn what_is_not_drawn_is_named() {
    refused(
        |json| {
            json["extensionsUsed"] = json!(["KHR_draco_mesh_compression", "KHR_materials_unlit"]);
            json["extensionsRequired"] = json!(["KHR_draco_mesh_compression", "EXT_other"]);
        },
        "KHR_draco_mesh_compression, EXT_other",
    );
    refused(
        |json| {
            json["skins"] = json!([{"joints": [0]}]);
            json["nodes"][0]["skin"] = json!(0);
        },
        "skinning (nodes[0])",
    );
    refused(
        |json| {
            json["meshes"][0]["weights"] = json!([0.5]);
            json["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": 0}]);
        },
        "morph targets (meshes[0])",
    );
    refused(
        |json| json["meshes"][0]["primitives"][0]["mode"] = json!(0),
        "mode POINTS",
    );
    refused(
        |json| json["asset"]["version"] = json!("1.0"),
        "version 1.0",
    );
}

#[test]
fn what_may_be_left_out_is_told() {
    let mut file = good();
    file.json["extensionsUsed"] = json!(["KHR_materials_clearcoat"]);
    let times = file.floats(&[[0.0], [1.0]]);
    let places = file.floats(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    file.json["animations"] = json!([{
        "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}],
        "samplers": [{"input": times, "output": places}]}]);
    // A matrix can't be animated.
    file.json["nodes"][0]
        .as_object_mut()
        .unwrap()
        .remove("matrix");
    let (status, stderr) = run(&file.glb(), &[]);
    assert!(
        stderr.contains("left out of the picture: KHR_materials_clearcoat, animations"),
        "{stderr}"
    );
    assert_eq!(status, Some(0), "{stderr}");
}

#[test]
fn bad_files_are_errors_with_a_place() {
    refused(
        |json| json["accessors"][0]["count"] = json!(5000),
        "accessors[0] ends behind its buffer view",
    );
    refused(
        |json| json["accessors"][0]["type"] = json!("VEC2"),
        "accessors[0] has 2 numbers an element, not 3",
    );
    refused(
        |json| json["bufferViews"][0]["byteLength"] = json!(1 << 20),
        "bufferViews[0] ends behind its buffer",
    );
    refused(
        |json| json["accessors"][0]["bufferView"] = json!(99),
        "bufferView",
    );
    refused(
        |json| json["meshes"][0]["primitives"][0]["indices"] = json!(0),
        "accessors[0]",
    );
    refused(
        |json| json["nodes"][0]["children"] = json!([0]),
        "their own children",
    );
    refused(
        |json| json["meshes"][0]["primitives"][0]["attributes"] = json!({"NORMAL": 1}),
        "POSITION",
    );
    refused(
        |json| json["scenes"][0]["nodes"] = json!([1]),
        "no triangles and no lines",
    );
    refused(
        |json| {
            json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(99);
        },
        "meshes[0] has an attribute in accessors[99], which is not there",
    );
    refused(
        |json| json["cameras"][0]["type"] = json!("orthographic"),
        "cameras[0] lacks `orthographic`",
    );
    refused(
        |json| json["images"] = json!([{"name": "nothing"}]),
        "images[0] has neither `uri` nor `bufferView`",
    );
    refused(
        |json| json["images"] = json!([{"bufferView": 0}]),
        "images[0] has a `bufferView` and no `mimeType`",
    );
    refused(
        |json| json["cameras"][0]["perspective"]["yfov"] = json!(0.0),
        "cameras[0] has no perspective",
    );
    refused(|json| json["nodes"] = json!("x"), "model.glb");
    let (status, stderr) = run(&good().glb(), &["--camera", "top"]);
    assert!(
        stderr.contains("there is no camera `top`; there are 0"),
        "{stderr}"
    );
    assert_eq!(status, Some(2));
}

#[test]
fn every_cut_of_a_file_is_an_error() {
    let bytes = good().glb();
    for length in (0..bytes.len()).step_by(97) {
        let (status, stderr) = run(&bytes[..length], &[]);
        assert_eq!(status, Some(2), "{length} bytes: {stderr}");
    }
}

#[test]
fn options_of_models_are_for_models() {
    let output = eitri(&["draw", "x.json", "--size", "8x8"], b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("--size is for glTF models, and there is none"),
        "{stderr}"
    );
    assert_eq!(output.status.code(), Some(2));
    for (option, value) in [
        ("--size", "8"),
        ("--size", "0x8"),
        ("--light", "0,0,0"),
        ("--samples", "3"),
        ("--camera", "fit:1"),
    ] {
        let (status, stderr) = run(&good().glb(), &[option, value]);
        assert_eq!(status, Some(2), "{option} {value}: {stderr}");
    }
}
