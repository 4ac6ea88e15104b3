//! `eitri draw`, as a person runs it.

use crate::eitri::eitri;
use crate::kernel::spirv;
use std::path::Path;
use std::process::Output;

/// Doubles every word of a buffer, adds a uniform, and colours an image by the place.
const SHADER: &str = "
    @group(0) @binding(1) var<storage, read_write> data: array<u32>;
    @group(1) @binding(0) var<uniform> add: vec4<u32>;
    @group(0) @binding(2) var image: texture_storage_2d<rgba8unorm, write>;
    @compute @workgroup_size(4)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        data[id.x] = data[id.x] * 2u + add.x;
        textureStore(image, vec2<i32>(i32(id.x), 0), vec4<f32>(f32(id.x) / 255.0, 1.0, 0.0, 1.0));
        textureStore(image, vec2<i32>(i32(id.x), 1), vec4<f32>(0.0, 0.0, 1.0, 1.0));
    }";

/// Writes a scene below `root`: a fill, a copy and an update, then two dispatches one after the other. `first` is the first word that is
/// expected, `features` what the device must have.
fn scene(root: &Path, name: &str, first: u32, features: &str) {
    let folder = root.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("s.spv"), spirv(SHADER)).unwrap();
    let rows = [[0, 255, 0, 255], [0, 0, 255, 255]];
    let texels = (0..16_u8).map(|at| match at / 8 {
        0 => [at, 255, 0, 255],
        _ => rows[1],
    });
    let picture: Vec<u8> = texels.flatten().collect();
    std::fs::write(folder.join("picture.bin"), picture).unwrap();
    let text = format!(
        r#"{{"format": 1, "name": "{name}", "class": "transfers", "description": "steps without passes", "features": [{features}],
            "shaders": [{{"name": "s", "stage": "compute", "source": "s.wgsl", "spirv": "s.spv", "spirv_opt": "s.spv", "entry": "main"}}],
            "buffers": [
                {{"name": "a", "bytes": 32, "init": {{"u32": [1, 2, 3, 4, 5, 6, 7, 8]}}}},
                {{"name": "b", "bytes": 32}},
                {{"name": "u", "bytes": 16, "init": {{"u32": [100, 0, 0, 0]}}}}],
            "images": [{{"name": "i", "type": "2d", "format": "r8g8b8a8_unorm", "extent": [8, 2, 1], "levels": 1, "layers": 1, "samples": 1, "usage": ["storage"]}}],
            "views": [{{"name": "v", "image": "i"}}],
            "sets": [
                {{"name": "x", "bindings": [
                    {{"binding": 1, "kind": "storage_buffer", "buffer": "b"}},
                    {{"binding": 2, "kind": "storage_image", "view": "v"}},
                    {{"binding": 7, "kind": "storage_buffer", "buffer": "a"}}]}},
                {{"name": "y", "bindings": [{{"binding": 0, "kind": "uniform_buffer", "buffer": "u"}}]}}],
            "pipelines": [{{"name": "p", "stages": [{{"shader": "s"}}], "sets": ["x", "y"]}}],
            "steps": [
                {{"op": "fill_buffer", "buffer": "b", "bytes": 32, "value": 9}},
                {{"op": "copy_buffer", "src": "a", "src_offset": 4, "dst": "b", "dst_offset": 8, "bytes": 12}},
                {{"op": "update_buffer", "buffer": "b", "offset": 28, "hex": "07000000"}},
                {{"op": "dispatch", "pipeline": "p", "groups": [2, 1, 1]}},
                {{"op": "dispatch", "pipeline": "p", "groups": [2, 1, 1]}}],
            "expect": [
                {{"buffer": "b", "from": "computed", "data": {{"u32": [{first}, 336, 308, 312, 316, 336, 336, 328]}}, "compare": {{"rule": "exact"}}}},
                {{"image": "i", "from": "computed", "data": {{"file": "picture.bin"}}, "compare": {{"rule": "exact"}}}}]}}"#
    );
    std::fs::write(folder.join(format!("{name}.json")), text).unwrap();
}

pub(crate) fn draw(root: &Path, arguments: &[&str]) -> Output {
    let mut all = vec!["draw", root.to_str().unwrap()];
    all.extend(arguments);
    eitri(&all, b"")
}

#[track_caller]
pub(crate) fn check(output: &Output, lines: &str, status: i32) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stdout, lines, "stderr: {stderr}");
    assert_eq!(output.status.code(), Some(status), "{stderr}");
}

#[test]
fn each_scene_has_a_line_in_the_order_of_names() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path(), "good", 336, "");
    scene(folder.path(), "wrong", 337, "");
    scene(
        folder.path(),
        "lacking",
        336,
        r#""occlusionQueryPrecise", "fillModeNonSolid""#,
    );
    let expected = "ok good\n\
        skipped lacking: fillModeNonSolid\n\
        FAIL wrong: buffer b: at 0: 50, expected 51; 1 of 32 differ\n\
        1 passed, 1 failed, 1 skipped\n";
    for arguments in [&["--jobs", "1"][..], &["--opt", "--jobs", "3"]] {
        check(&draw(folder.path(), arguments), expected, 1);
    }
    let only = draw(folder.path(), &["--filter", "good"]);
    check(&only, "ok good\n1 passed, 0 failed, 0 skipped\n", 0);
}

#[test]
fn a_failed_scene_leaves_what_it_has_drawn() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path(), "wrong", 337, "");
    let kept = folder.path().join("kept");
    let output = draw(folder.path(), &["--keep", kept.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let words = std::fs::read(kept.join("wrong-0.bin")).unwrap();
    assert_eq!(words[..4], 336_u32.to_le_bytes());
    assert!(kept.join("wrong-1.png").is_file());
    assert!(!kept.join("wrong.core").exists(), "its commands went well");
}

#[test]
fn the_picture_is_that_of_the_first_image() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path(), "good", 336, "");
    let path = folder.path().join("out.png");
    let output = draw(folder.path(), &["-o", path.to_str().unwrap()]);
    check(&output, "ok good\n1 passed, 0 failed, 0 skipped\n", 0);
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (8, 2));
    assert_eq!(pixels[4..8], [1, 255, 0, 255]);
    assert_eq!(pixels[60..64], [0, 0, 255, 255]);
}

#[test]
fn a_request_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path(), "one", 336, "");
    scene(folder.path(), "two", 336, "");
    for (arguments, expected) in [
        (
            &["-o", "out.png"][..],
            "-o writes the picture of one scene, and there are 2",
        ),
        (
            &["--filter", "three"],
            "no scene's name contains `three`; there are one, two",
        ),
        (
            &["--on", "qemu", "--trace", "t.json"],
            "--trace is for scenes that are drawn on the host",
        ),
    ] {
        let output = draw(folder.path(), arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        assert!(stderr.contains(expected), "{stderr}");
        assert_eq!(output.status.code(), Some(2));
    }
    std::fs::write(folder.path().join("one/one.json"), "{").unwrap();
    assert_eq!(draw(folder.path(), &[]).status.code(), Some(2));
}
