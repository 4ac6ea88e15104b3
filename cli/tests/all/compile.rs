//! `eitri compile` and `eitri reflect`, as a person runs them.

use crate::eitri::eitri;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

const DOUBLE: &str = "\
struct Data { values: array<u32> }
@group(0) @binding(3) var<storage, read_write> data: Data;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    data.values[id.x] = data.values[id.x] * 2u;
}
";
const LOOP: &str = "\
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1)
fn main() {
    var sum = 0u;
    for (var i = 0u; i < data[0]; i++) { sum += data[i]; }
    data[0] = sum;
}
";
const BAD: &str = "@compute fn main() {";

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn good(arguments: &[&str]) -> String {
    let output = eitri(arguments, b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    stdout(&output)
}

fn workspace() -> (tempfile::TempDir, String, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let double = write(folder.path(), "double.wgsl", DOUBLE);
    let endless = write(folder.path(), "loop.wgsl", LOOP);
    let bad = write(folder.path(), "bad.wgsl", BAD);
    (folder, double, endless, bad)
}

#[test]
fn a_program_has_its_lines_behind_it_unless_they_are_stripped() {
    let (folder, double, ..) = workspace();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (whole, stripped) = (path("whole.eprg"), path("stripped.eprg"));
    good(&["compile", &double, "-o", &whole]);
    good(&["compile", &double, "--strip", "-o", &stripped]);
    let [whole_bytes, stripped_bytes] = [&whole, &stripped].map(|it| std::fs::read(it).unwrap());
    assert!(whole_bytes.starts_with(&stripped_bytes));
    assert!(whole_bytes.len() > stripped_bytes.len());
    // From the binary alone: the module and its source are gone.
    std::fs::remove_file(&double).unwrap();
    let text = good(&["disasm", &whole]);
    assert!(text.contains(&format!("# {double}:5")), "{text}");
    let text = good(&["disasm", &stripped]);
    assert!(!text.contains("double.wgsl"), "{text}");
    good(&["waitcheck", &whole, &stripped]);
    // A damaged table is an error with a reason; the program before it is as good as it was.
    let mut damaged = whole_bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let path = path("damaged.eprg");
    std::fs::write(&path, &damaged).unwrap();
    let output = eitri(&["disasm", &path], b"");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("its CRC-32 is"), "{stderr}");
}

#[test]
fn a_listing_is_the_same_each_time_and_names_lines() {
    let (_folder, double, ..) = workspace();
    let listing = good(&["compile", &double]);
    assert_eq!(listing, good(&["compile", &double, "--emit", "asm"]));
    assert!(listing.contains(&format!("; {double}:5")), "{listing}");
    assert!(
        listing.contains("STORE.i32") || listing.contains("ST"),
        "{listing}"
    );
}

#[test]
fn hex_is_what_disasm_reads() {
    let (_folder, double, ..) = workspace();
    let hex = good(&["compile", &double, "--emit", "hex"]);
    let text = eitri(&["disasm"], hex.as_bytes());
    assert_eq!(text.status.code(), Some(0));
    assert_eq!(stdout(&text).lines().count(), hex.lines().count());
}

#[test]
fn what_a_pass_leaves_goes_where_programs_go_and_a_bad_shader_stops_no_other() {
    let (folder, double, endless, bad) = workspace();
    let out = folder.path().to_str().unwrap();
    let shaders = [&*bad, &double, &endless];
    let stop = ["--stop-after", "select", "-o", out];
    let output = eitri(&[&["compile"], &shaders[..], &stop].concat(), b"");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("2 compiled, 1 refused"), "{stderr}");
    let ir = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(ir("double.wgsl.ir").contains("STORE"), "no machine IR");
    assert!(!ir("loop.wgsl.ir").is_empty());

    // Nothing more is known of what was not compiled to its end.
    for figures in ["--report", "--stats-json", "--time-passes"] {
        let output = eitri(
            &["compile", &double, figures, "--stop-after", "select"],
            b"",
        );
        assert_eq!(output.status.code(), Some(2), "{figures}");
    }
}

#[test]
fn programs_go_to_files_and_folders() {
    let (folder, double, endless, _) = workspace();
    let file: PathBuf = folder.path().join("out.eprg");
    good(&["compile", &double, "-o", file.to_str().unwrap()]);
    let program = std::fs::read(&file).unwrap();
    let program = eitri_program::Program::parse(&program).unwrap();
    assert_eq!(program.workgroup().x(), 64);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    good(&[
        "compile",
        &double,
        &endless,
        "--emit",
        "ir",
        "-o",
        out.to_str().unwrap(),
    ]);
    let ir = std::fs::read_to_string(out.join("double.wgsl.ir")).unwrap();
    assert!(out.join("loop.wgsl.ir").exists());
    assert!(ir.contains("b0"), "{ir}");
}

#[test]
fn a_bad_shader_does_not_stop_the_rest() {
    let (_folder, double, endless, bad) = workspace();
    let output = eitri(&["compile", "--stats", &bad, &double, &endless], b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("not valid WGSL"), "{stderr}");
    assert!(stderr.contains("2 compiled, 1 refused"), "{stderr}");
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    let [first, second] = lines.as_slice() else {
        panic!("{text}");
    };
    assert!(
        first.starts_with(&format!("{double} - compute shader: ")),
        "{first}"
    );
    assert!(
        second.starts_with(&format!("{endless} - compute shader: ")),
        "{second}"
    );
    for column in [
        "instrs", "cycles", "fma", "cvt", "sfu", "alu", "ls", "threads", "loops", "spills", "fills",
    ] {
        assert!(
            first.contains(&format!(" {column}")),
            "no {column} in {first}"
        );
    }
}

#[test]
fn json_holds_what_the_line_holds() {
    let (_folder, double, _, bad) = workspace();
    let output = eitri(&["compile", "--stats-json", &double, &bad], b"");
    assert_eq!(output.status.code(), Some(2));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], 1);
    let [good_one, bad_one] = json["shaders"].as_array().unwrap().as_slice() else {
        panic!("{json}");
    };
    let line = good(&["compile", "--stats", &double]);
    for column in [
        "instrs",
        "cycles",
        "fma",
        "cvt",
        "sfu",
        "alu",
        "v",
        "t",
        "ls",
        "threads",
        "loops",
        "spills",
        "fills",
        "registers",
        "uniforms",
    ] {
        let text = format!("{} {column}", good_one[column]);
        let text = text.replace(".0 ", " ");
        assert!(line.contains(&text), "no {text:?} in {line}");
    }
    assert!(
        bad_one["error"]
            .as_str()
            .unwrap()
            .contains("not valid WGSL")
    );
}

#[test]
fn the_report_has_the_layout_that_people_know() {
    let (_folder, double, endless, _) = workspace();
    let text = good(&["compile", "--report", &double]);
    let mut rest = text.as_str();
    for part in [
        "Configuration",
        "Hardware: Mali-G610",
        "Architecture: Valhall",
        "Driver: eitri",
        "Shader type: Compute",
        "Main shader",
        "Work registers: ",
        "Uniform registers: ",
        "Stack spilling: false",
        "16-bit arithmetic: ",
        "FMA",
        "CVT",
        "SFU",
        "LS",
        "Bound",
        "Total instruction cycles:",
        "Shortest path cycles:",
        "Longest path cycles:",
        "Shader properties",
        "Has side-effects: true",
        "are not measured",
    ] {
        let Some(at) = rest.find(part) else {
            panic!("no {part:?} where it should be in {text}");
        };
        rest = &rest[at + part.len()..];
    }
    let text = good(&["compile", "--report", &endless]);
    assert!(text.contains("N/A: unbounded loop"), "{text}");
    let json: Value = serde_json::from_str(&good(&["compile", "--report-json", &endless])).unwrap();
    assert_eq!(json["schema"]["name"], "performance");
    let variant = &json["shaders"][0]["variants"][0];
    let performance = &variant["performance"];
    let pipelines = performance["pipelines"].as_array().unwrap().len();
    for path in [
        "total_cycles",
        "shortest_path_cycles",
        "longest_path_cycles",
    ] {
        let counts = performance[path]["cycle_count"].as_array().unwrap();
        assert_eq!(counts.len(), pipelines, "{path}");
    }
    assert_eq!(performance["longest_path_cycles"]["why"], "unbounded loop");
    let total = &performance["total_cycles"];
    let of = |unit: &Value| {
        let mut units = performance["pipelines"].as_array().unwrap().iter();
        let number = units.position(|other| other == unit).unwrap();
        total["cycle_count"][number].as_f64().unwrap()
    };
    let bound = of(&total["bound_pipelines"][0]);
    for unit in performance["pipelines"].as_array().unwrap() {
        assert!(of(unit) <= bound, "{unit} takes longer in {total}");
    }
}

#[test]
fn bad_requests_are_refused() {
    let (folder, double, endless, _) = workspace();
    let refused = |arguments: &[&str], part: &str| {
        let output = eitri(arguments, b"");
        let stderr = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(part), "no {part:?} in {stderr}");
    };
    refused(
        &["compile", &double, &endless, "-o", &double],
        "several shaders, but",
    );
    let here = folder.path().to_str().unwrap();
    refused(
        &["compile", &double, &double, "-o", here],
        "would both be written to",
    );
    refused(
        &["compile", &double, "--report", "--stats"],
        "cannot be used with",
    );
    refused(&["compile"], "SHADER");
    refused(&["compile", &double, "--spec", "x"], "is not ID=VALUE");
}

#[test]
fn reflection_names_bindings_and_sizes() {
    let (_folder, double, ..) = workspace();
    let json: Value = serde_json::from_str(&good(&["reflect", "--json", &double])).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["entry"], "main");
    assert_eq!(json["workgroup_size"], serde_json::json!([64, 1, 1]));
    let binding = &json["bindings"][0];
    assert_eq!(binding["binding"], 3);
    assert_eq!(binding["name"], "data");
    assert_eq!(binding["kind"], "ssbo");
    assert_eq!(binding["writes"], true);
    let values = &binding["layout"]["members"][0];
    assert_eq!(values["name"], "values");
    assert_eq!(values["type"], "array<u32>");
    assert_eq!(values["stride"], 4);
    assert_eq!(values["count"], Value::Null);
}

#[test]
fn time_and_memory_are_told_for_each_shader() {
    let (_folder, double, ..) = workspace();
    let text = good(&["bench", "compile", "--runs", "1", &double]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].ends_with("double.wgsl"), "{text}");
    assert!(
        lines[1]
            .split_whitespace()
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap()
            > 0.0,
        "{text}"
    );
    assert!(lines[2].starts_with("1 shaders: median "), "{text}");
    // What can't be read is a matter of the request, not of this machine.
    let output = eitri(&["bench", "compile", "no/such/file.spv"], b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("can't read no/such/file.spv"), "{stderr}");
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(2), "")
    );
}

#[test]
fn a_folder_for_several_shaders_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/out");
    let demo = |name: &str| format!("{}/demo/{name}", env!("CARGO_MANIFEST_DIR"));
    let (one, two) = (demo("saxpy.comp"), demo("reduce.wgsl"));
    let output = eitri(&["compile", &one, &two, "-o", out.to_str().unwrap()], b"");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(out.join("saxpy.comp.eprg").is_file());
    assert!(out.join("reduce.wgsl.eprg").is_file());
}

#[test]
fn reflection_is_a_table_for_people() {
    let saxpy = format!("{}/demo/saxpy.comp", env!("CARGO_MANIFEST_DIR"));
    let output = eitri(&["reflect", &saxpy], b"");
    let text = String::from_utf8_lossy(&output.stdout);
    for line in [
        "0:1  ssbo  Y  read and write",
        "push constants, 8 bytes",
        "a: f32",
    ] {
        assert!(text.contains(line), "no {line} in {text}");
    }
    let output = eitri(&["reflect", &saxpy, "--spec", "9=1"], b"");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("no specialisation constant has SpecId 9"),
        "{errors}"
    );
}

const VERTEX: &str = "#version 450
layout(location = 0) in vec4 place;
layout(location = 1) in vec2 given;
layout(location = 0) out vec2 coordinates;
layout(location = 1) out float unread;
void main() { gl_Position = place; coordinates = given; unread = given.x; }
";
const FRAGMENT: &str = "#version 450
layout(location = 0) in vec2 coordinates;
layout(location = 0) out vec4 color;
void main() { color = vec4(dFdx(coordinates), coordinates); }
";

#[test]
fn a_pipeline_is_reported_by_stage() {
    let folder = tempfile::tempdir().unwrap();
    let vertex = write(folder.path(), "a.vert", VERTEX);
    let fragment = write(folder.path(), "a.frag", FRAGMENT);
    let pipeline = |more: &[&str]| {
        let all = [&["compile", &vertex, "--fragment", &fragment], more].concat();
        good(&all)
    };
    let text = pipeline(&["--report"]);
    for line in [
        "Shader type: Vertex (main)",
        "Variant: position",
        "Variant: varying",
        "Varyings: 8 bytes",
        "Shader type: Fragment (main)",
        "Needs helper lanes: true",
        "Runs for each sample: false",
    ] {
        assert!(text.contains(line), "no `{line}` in {text}");
    }
    let lines = pipeline(&["--stats"]);
    let stages: Vec<&str> = lines
        .lines()
        .filter_map(|line| line.split(" - ").nth(1)?.split(" shader").next())
        .collect();
    assert_eq!(stages, ["position", "varying", "fragment"]);
    let json: Value = serde_json::from_str(&pipeline(&["--report-json"])).unwrap();
    let shaders = json["shaders"].as_array().unwrap();
    let names = |shader: &Value| -> Vec<String> {
        let variants = shader["variants"].as_array().unwrap().iter();
        variants
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&shaders[0]), ["Position", "Varying"]);
    assert_eq!(names(&shaders[1]), ["Main"]);
    assert_eq!(shaders[1]["shader"]["type"], "Fragment");
    let listing = pipeline(&[]);
    for program in ["a.vert position", "a.vert varying", "a.frag fragment"] {
        assert!(listing.contains(program), "{listing}");
    }
}

#[test]
fn a_pipeline_has_one_vertex_shader_and_no_single_program() {
    let folder = tempfile::tempdir().unwrap();
    let vertex = write(folder.path(), "a.vert", VERTEX);
    let fragment = write(folder.path(), "a.frag", FRAGMENT);
    for (arguments, expected) in [
        (
            vec!["compile", &vertex, &vertex, "--fragment", &fragment],
            "--fragment makes a pipeline of one vertex shader, and 2 are given",
        ),
        (
            vec!["compile", &vertex, "--fragment", &fragment, "-o", "-"],
            "a pipeline is several programs",
        ),
    ] {
        let output = eitri(&arguments, b"");
        let stderr = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        assert!(stderr.contains(expected), "{stderr}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn the_programs_of_a_pipeline_go_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let vertex = write(folder.path(), "a.vert", VERTEX);
    let fragment = write(folder.path(), "a.frag", FRAGMENT);
    let out = folder.path().to_str().unwrap();
    good(&["compile", &vertex, "--fragment", &fragment, "-o", out]);
    let stages = ["a.vert.eprg", "a.frag.eprg"].map(|name| {
        let program = std::fs::read(folder.path().join(name)).unwrap();
        let program = eitri_program::GraphicsProgram::parse(&program).unwrap();
        program.common().stage()
    });
    let expected = [eitri_program::Stage::Vertex, eitri_program::Stage::Fragment];
    assert_eq!(stages, expected);
}
