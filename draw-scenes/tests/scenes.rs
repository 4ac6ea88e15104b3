//! Scenes are read whole, their expectations hold for themselves and for nothing else, and bad files are refused at their place.

use eitri_draw_scenes::{Rule, Scene, find};
use std::path::Path;

fn read(path: &Path) -> Scene {
    Scene::read(path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_scene_is_read_with_all_that_it_names() {
    let Some(folder) = eitri_testdata::shared("scenes") else {
        return;
    };
    let found = find(&folder).expect("scenes");
    assert!(found.len() >= 85, "{} scenes", found.len());
    for path in found {
        let scene = read(&path);
        assert!(!scene.expect.is_empty(), "{}", path.display());
        for shader in &scene.file.shaders {
            for optimised in [false, true] {
                let module = scene.spirv(shader, optimised).expect("SPIR-V");
                assert_eq!(module[..4], [3, 2, 0x23, 7], "{}", path.display());
            }
        }
        for buffer in &scene.file.buffers {
            let contents = scene.buffer_contents(buffer).expect("contents");
            assert_eq!(contents.is_some(), buffer.init.is_some());
        }
        for image in &scene.file.images {
            for init in &image.init {
                scene.image_contents(image, init).expect("contents");
            }
        }
    }
}

#[test]
fn what_is_expected_passes_and_what_is_far_from_it_does_not() {
    let Some(folder) = eitri_testdata::shared("scenes") else {
        return;
    };
    for path in find(&folder).expect("scenes") {
        for expectation in read(&path).expect {
            let Some(wanted) = expectation.contents() else {
                continue;
            };
            let place = format!("{}: {}", path.display(), expectation.target);
            assert_eq!(expectation.check(wanted), Ok(()), "{place}");
            let other: Vec<u8> = wanted.iter().map(|byte| byte ^ 0x55).collect();
            assert!(
                expectation.check(&other).is_err(),
                "{place}: {:?}",
                expectation.comparison.rule
            );
            if expectation.comparison.rule == Rule::Exact && expectation.comparison.mask.is_none() {
                let mut first = wanted.to_vec();
                first[0] ^= 1;
                assert!(expectation.check(&first).is_err(), "{place}: one bit");
            }
        }
    }
}

/// A scene of one image, with this in place of a part of it.
fn scene(from: &str, to: &str) -> String {
    let text = r#"{
  "format": 1, "name": "x", "class": "c", "description": "d",
  "shaders": [{"name": "v", "stage": "vertex", "source": "v.vert", "spirv": "v.spv", "spirv_opt": "v.spv", "entry": "main"}],
  "buffers": [{"name": "b", "bytes": 8, "init": {"u32": [1, 2]}}],
  "images": [{"name": "i", "type": "2d", "format": "r8_unorm", "extent": [4, 2, 1], "levels": 2, "layers": 1, "samples": 1, "usage": ["color"]}],
  "views": [{"name": "w", "image": "i", "swizzle": "r=01"}],
  "sets": [{"name": "s", "bindings": [{"binding": 0, "kind": "storage_buffer", "buffer": "b"}]}],
  "pipelines": [{"name": "p", "stages": [{"shader": "v"}], "sets": ["s"]}],
  "steps": [{"op": "pass", "color": [null, {"view": "w", "load": "clear", "clear": {"float": [0, 0, 0, 1]}}],
             "draws": [{"op": "draw", "pipeline": "p", "vertices": 3}]}],
  "expect": [{"image": "i", "level": 1, "data": {"hex": "0102"}, "compare": {"rule": "units", "max": 1}}]
}"#;
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

fn read_text(text: &str) -> Result<Scene, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.json");
    std::fs::write(&path, text).expect("a file");
    Scene::read(&path).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(from: &str, to: &str, part: &str) {
    let error = read_text(&scene(from, to)).expect_err(part);
    assert!(error.contains(part), "no {part:?} in {error:?}");
}

#[test]
fn a_small_scene_is_read() {
    let read = read_text(&scene("x", "x")).expect("a scene");
    assert_eq!(read.file.views[0].levels, 1);
    assert_eq!(read.expect[0].check(&[2, 1]), Ok(()));
    let error = read.expect[0].check(&[9, 2]).expect_err("9 is not 1");
    assert_eq!(
        error.to_string(),
        "image i, level 1: at 0: (9), expected (1); 1 of 2 differ"
    );
}

#[test]
fn bad_scenes_are_refused() {
    refused(
        r#""format": 1,"#,
        r#""format": 2,"#,
        "format 2 is not known",
    );
    refused(
        r#""load": "clear""#,
        r#""load": "klear""#,
        "unknown variant `klear`",
    );
    refused(
        r#""op": "pass""#,
        r#""op": "parse""#,
        "nothing is called `parse` here",
    );
    refused(
        r#""pipeline": "p","#,
        r#""pipeline": "q","#,
        "no pipeline is called `q`",
    );
    refused(r#""view": "w""#, r#""view": "u""#, "no view is called `u`");
    refused(
        r#""vertices": 3"#,
        r#""instances": 3"#,
        "a draw has `vertices`",
    );
    refused(
        r#""vertices": 3"#,
        r#""vertices": 3, "speed": 9"#,
        "unknown field `speed`",
    );
    refused(
        r#""stage": "vertex""#,
        r#""stage": "compute""#,
        "is not a graphics pipeline",
    );
    refused(r#""swizzle": "r=01""#, r#""swizzle": "rx01""#, "four of");
    refused(
        r#""format": "r8_unorm""#,
        r#""format": "r9_unorm""#,
        "format r9_unorm is not known",
    );
    refused(
        r#""level": 1, "data""#,
        r#""level": 2, "data""#,
        "no level 2",
    );
    refused(
        r#"{"hex": "0102"}"#,
        r#"{"hex": "01"}"#,
        "`hex` has 1 bytes, the binding 2",
    );
    refused(
        r#"{"hex": "0102"}"#,
        r#"{"file": "../x"}"#,
        "is not a file of the scene's folder",
    );
    refused(r#""buffer": "b"}"#, r#""view": "w"}"#, "needs a buffer");
    refused(
        r#""sets": ["#,
        r#""samplers": [{"name": "n", "max_anisotropy": 17}], "sets": ["#,
        "sampler n has a `max_anisotropy` of 17, not 1 to 16",
    );
    refused(
        r#""name": "b","#,
        r#""name": "b", "name": "b","#,
        "duplicate field",
    );
    refused("{", "", "x.json:2:10: invalid type");
}

#[test]
fn parts_of_a_pass_belong_together() {
    let part = |flags: &str, clear: &str| {
        format!(
            r#"{{"op": "pass", {flags}, "color": [null, {{"view": "w", "load": "clear", "clear": {{"float": [{clear}, 0, 0, 1]}}}}], "draws": []}}"#
        )
    };
    let steps = |parts: &[String]| {
        let text = scene("x", "x");
        let (before, rest) = text.split_once(r#""steps": ["#).expect("steps");
        let (_, behind) = rest.split_once("],\n  \"expect\"").expect("expectations");
        format!(
            r#"{before}"steps": [{}],{}"expect"{behind}"#,
            parts.join(", "),
            "\n"
        )
    };
    let (suspended, resumed) = (r#""suspending": true"#, r#""resuming": true"#);
    let both = format!("{suspended}, {resumed}");
    let good = [part(suspended, "0"), part(&both, "0"), part(resumed, "0")];
    let read = read_text(&steps(&good)).expect("a scene");
    assert_eq!(read.file.steps.len(), 3);
    let fill = r#"{"op": "fill_buffer", "buffer": "b", "bytes": 4, "value": 1}"#.to_owned();
    for (parts, what) in [
        (
            vec![part(resumed, "0")],
            "resumes a pass that is not suspended",
        ),
        (vec![part(suspended, "0")], "nothing resumes it"),
        (
            vec![part(suspended, "0"), part(resumed, "1")],
            "resumes a pass with other attachments",
        ),
        (
            vec![part(suspended, "0"), fill, part(resumed, "0")],
            "fill_buffer: a pass is suspended",
        ),
    ] {
        let error = read_text(&steps(&parts)).expect_err(what);
        assert!(error.contains(what), "no {what:?} in {error:?}");
    }
}
