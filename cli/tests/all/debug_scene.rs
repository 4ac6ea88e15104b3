//! `eitri debug SCENE.json`, and `--level driver`: stops in a frame and at registers, steps back, pictures.

use crate::debug_client::Client;
use crate::draw_attachments::{VERTEX, glsl};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// A colour of the pixel's place.
const FRAGMENT: &str = "#version 450
    layout(location = 0) out vec4 o;
    void main() {
        float red = gl_FragCoord.x / 8.0;
        o = vec4(red, 0.25, 0.0, 1.0);
    }";

/// Two draws over halves of eight pixels.
const SCENE: &str = r#"{"format": 1, "name": "halves", "class": "passes", "description": "two halves", "features": [],
    "shaders": [
        {"name": "place", "stage": "vertex", "source": "v.vert", "spirv": "v.spv", "spirv_opt": "v.spv", "entry": "main"},
        {"name": "shade", "stage": "fragment", "source": "f.frag", "spirv": "f.spv", "spirv_opt": "f.spv", "entry": "main"}],
    "images": [
        {"name": "c", "type": "2d", "format": "r8g8b8a8_unorm", "extent": [8, 1, 1], "levels": 1, "layers": 1, "samples": 1, "usage": ["color"]}],
    "views": [{"name": "c", "image": "c"}],
    "pipelines": [{"name": "fill", "stages": [{"shader": "place"}, {"shader": "shade"}]}],
    "steps": [{"op": "pass",
        "color": [{"view": "c", "load": "clear", "clear": {"float": [0, 0, 1, 1]}}],
        "draws": [
            {"op": "draw", "pipeline": "fill", "vertices": 3, "push": "00000000", "scissors": [[0, 0, 4, 1]]},
            {"op": "draw", "pipeline": "fill", "vertices": 3, "push": "00000000", "scissors": [[4, 0, 3, 1]]}]}],
    "expect": [{"image": "c", "from": "computed", "data": {"u32": [0, 0, 0, 0, 0, 0, 0, 0]}, "compare": {"rule": "exact"}}]}"#;

/// A session of the scene in a folder: what it prints.
fn session(folder: &Path, commands: &str) -> String {
    std::fs::write(folder.join("commands"), commands).unwrap();
    let mut debug = Command::new(env!("CARGO_BIN_EXE_eitri"));
    debug.current_dir(folder).env("NO_COLOR", "1");
    debug.args(["debug", "halves.json", "--commands", "commands"]);
    let output = debug.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stderr}\n{stdout}");
    stdout
}

/// The folder of the scene; none if there is no compiler of GLSL.
fn scene() -> Option<tempfile::TempDir> {
    let root = tempfile::tempdir().unwrap();
    let written = glsl(root.path(), "vert", "v", VERTEX).is_some()
        && glsl(root.path(), "frag", "f", FRAGMENT).is_some();
    if !written {
        eitri_testdata::report_skipped("glslangValidator");
        return None;
    }
    std::fs::write(root.path().join("halves.json"), SCENE).unwrap();
    Some(root)
}

/// Whether these parts stand in a text, one behind the other.
#[track_caller]
pub(crate) fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let found = rest.split_once(part);
        let (_, behind) = found.unwrap_or_else(|| panic!("no {part:?} in its place in {text}"));
        rest = behind;
    }
}

#[test]
fn a_frame_is_stopped_at_a_draw_a_primitive_and_a_pixel() {
    let Some(folder) = scene() else { return };
    let out = session(
        folder.path(),
        "break draw 1
        continue
        next
        assert $vertex == $lane
        continue
        assert $draw == 1
        delete
        break primitive 0.0
        break pixel 5,0
        reverse-continue
        assert $draw == 0
        continue
        assert $x == 5 && $y == 0
        info threads
        stepi 2
        reverse-stepi 2
        delete
        continue
        ",
    );
    in_order(
        &out,
        &[
            "start\nthe machine, step 0\nnext: the driver ",
            "breakpoint 1: draw 1 begins: 3 vertices",
            "vertices of draw 1, lanes 0-2",
            "in place",
            "breakpoint 1: fragments of draw 1, primitive 0 begin in tile 0,0: 3 pixels",
            "fragments of draw 1, primitive 0, tile 0,0",
            "in shade",
            "breakpoint 2: fragments of draw 0, primitive 0 begin in tile 0,0: 4 pixels",
            "breakpoint 3: fragments of draw 1",
            "end: the driver has ended",
        ],
    );
}

/// The bytes of a picture, row by row.
fn pixels(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width, info.height, bytes)
}

#[test]
fn the_tile_and_the_attachments_are_pictures_at_any_step() {
    let Some(folder) = scene() else { return };
    let out = session(
        folder.path(),
        "break draw 1
        continue 2
        info pictures
        picture tile before.png
        picture color0 unwritten.png
        break firmware SYNC_UPDATE
        continue
        picture color0 after.png
        reverse-continue
        picture tile again.png
        ",
    );
    in_order(
        &out,
        &[
            "tile\ntile.color0\n",
            "color0\n",
            "tile: ",
            "color0: 8x1 pixels",
        ],
    );
    let (.., unwritten) = pixels(&folder.path().join("unwritten.png"));
    assert!(
        unwritten.iter().all(|byte| *byte == 0),
        "no tile is done yet"
    );
    let red = |x: u32| ((f64::from(x) + 0.5) / 8.0 * 255.0).round_ties_even() as u8;
    let half = |x: u32| [red(x), 64, 0, 255];
    let clear = [0, 0, 255, 255];
    let (width, _, tile) = pixels(&folder.path().join("before.png"));
    let at = |bytes: &[u8], x: u32| <[u8; 4]>::try_from(&bytes[4 * x as usize..][..4]).unwrap();
    assert!(width >= 8, "{width}");
    for x in 0..8 {
        let wanted = if x < 4 { half(x) } else { clear };
        assert_eq!(
            at(&tile, x),
            wanted,
            "pixel {x} of the tile before the second draw"
        );
    }
    let (width, height, memory) = pixels(&folder.path().join("after.png"));
    assert_eq!((width, height), (8, 1));
    for x in 0..8 {
        let wanted = if x < 7 { half(x) } else { clear };
        assert_eq!(at(&memory, x), wanted, "pixel {x} in memory at the end");
    }
    let again = std::fs::read(folder.path().join("again.png")).unwrap();
    assert_eq!(
        again,
        std::fs::read(folder.path().join("before.png")).unwrap()
    );
}

/// A compute job with the driver that runs it.
#[test]
fn a_compute_job_has_its_drivers_life() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debug");
    let commands = tempfile::NamedTempFile::new().unwrap();
    let text = "break firmware CS_ACK.STATE
        continue
        delete
        next
        assert $warp == 0 && $r55 == $lane
        break 23 if $lane == 5
        continue
        assert $group == 0
        reverse-continue
        goto 1000000
        ";
    std::fs::write(commands.path(), text).unwrap();
    let path = commands.path().display().to_string();
    let mut debug = Command::new(env!("CARGO_BIN_EXE_eitri"));
    debug.current_dir(&folder).env("NO_COLOR", "1");
    debug.args([
        "debug",
        "sum.wgsl",
        "--buffer",
        "0=zero:256",
        "--groups",
        "2",
    ]);
    debug.args(["--level", "driver"]);
    let output = debug.args(["--commands", &path]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let out = String::from_utf8(output.stdout).unwrap();
    in_order(
        &out,
        &[
            "start\nthe machine",
            "breakpoint 1: the firmware answers CS_ACK.STATE of stream 0 of group slot 0",
            "breakpoint 2 for lanes 5",
            "sum.wgsl:23 in main",
            "start: no step is before it",
        ],
    );
}

/// An editor stops at a pixel by the name of a function breakpoint, and writes a picture from its console.
#[test]
fn an_editor_stops_at_a_pixel_and_has_the_tile_as_a_picture() {
    let Some(folder) = scene() else { return };
    let mut client = Client::start(folder.path());
    client.ask("initialize", json!({}));
    let launched = client.ask("launch", json!({ "program": "halves.json" }));
    assert_eq!(launched["success"], true, "{launched}");
    let name = json!({ "breakpoints": [{ "name": "pixel 5,0", "condition": "$draw == 1" }] });
    let set = client.ask("setFunctionBreakpoints", name);
    assert_eq!(set["body"]["breakpoints"][0]["verified"], true, "{set}");
    let stopped = client.ask_for("configurationDone", json!({}), ("event", "stopped"));
    let text = stopped["body"]["text"].as_str().unwrap();
    assert!(text.contains("draw 1, primitive 0"), "{text}");
    assert_eq!(stopped["body"]["threadId"], 2);
    let threads = client.ask("threads", json!({}));
    let names = &threads["body"]["threads"];
    assert_eq!(names[0]["name"], "the machine");
    assert_eq!(
        names[1]["name"],
        "fragments of draw 1, primitive 0, tile 0,0"
    );
    let picture = json!({ "expression": "picture tile tile.png", "context": "repl" });
    let written = client.ask("evaluate", picture);
    assert_eq!(written["success"], true, "{written}");
    let (width, height, _) = pixels(&folder.path().join("tile.png"));
    assert!(width >= 8 && height >= 1, "{width}x{height}");
    // Back to where the driver begins.
    let thread = json!({ "threadId": 2 });
    let back = client.ask_for("reverseContinue", thread, ("event", "stopped"));
    assert_eq!(back["body"]["threadId"], 1, "{back}");
    client.end();
}

/// A scene is drawn by the driver alone.
#[test]
fn a_scene_has_one_level() {
    let Some(folder) = scene() else { return };
    let mut debug = Command::new(env!("CARGO_BIN_EXE_eitri"));
    debug.current_dir(folder.path());
    let output = debug
        .args(["debug", "halves.json", "--level", "machine"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("a scene is drawn by the driver"),
        "{stderr}"
    );
}

/// The text of a model's shaders is in no file beside it.
#[test]
fn a_model_is_a_scene_whose_shaders_have_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let commands = folder.path().join("commands");
    std::fs::write(
        &commands,
        "break draw 0\ncontinue 2\nnext 2\nassert $draw == 0\nlist 9\nreverse-continue\n",
    )
    .unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/box.gltf");
    let debug = |arguments: &[&str]| {
        let mut debug = Command::new(env!("CARGO_BIN_EXE_eitri"));
        debug.env("NO_COLOR", "1").arg("debug");
        let output = debug.args(arguments).arg("--commands").arg(&commands);
        output.output().unwrap()
    };
    let output = debug(&[model.to_str().unwrap(), "--size", "32x24"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    in_order(
        &String::from_utf8(output.stdout).unwrap(),
        &[
            "fragments of draw 0, primitive ",
            "opaque-b.wgsl:",
            "// A glTF model",
            "breakpoint 1: fragments of draw 0",
        ],
    );
    let output = debug(&["halves.json", "--size", "32x24"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--size is for glTF models"), "{stderr}");
}
