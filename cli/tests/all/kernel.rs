//! `eitri kernel`, as a person runs it.

use crate::eitri::eitri;
use std::path::Path;
use std::process::Output;

/// A shader that doubles every word.
const DOUBLE: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(1)
    fn main(@builtin(workgroup_id) group: vec3<u32>) { data[group.x] = data[group.x] * 2u; }";

/// A shader with what this hardware never has.
const DOUBLE_F64: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(1)
    fn main() { data[0] = u32(f64(data[0]) * 2.0lf); }";

/// WGSL as SPIR-V.
pub fn spirv(source: &str) -> Vec<u8> {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(source).unwrap();
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .unwrap();
    let options = naga::back::spv::Options {
        lang_version: (1, 3),
        ..Default::default()
    };
    let words = naga::back::spv::write_vec(&module, &info, &options, None).unwrap();
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Writes a case below `root`: words 5 and 6 before the dispatch, 10 and `second` after it.
fn case(root: &Path, name: &str, shader: &str, second: u32) {
    let folder = root.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("shader.spv"), spirv(shader)).unwrap();
    let expected: Vec<u8> = [10, second]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    std::fs::write(folder.join("expected.bin"), expected).unwrap();
    let text = format!(
        r#"{{"format": 1, "name": "{name}",
            "shader": {{"spirv": "shader.spv", "spirv_opt": "shader.spv", "entry": "main"}},
            "local_size": [1, 1, 1], "groups": [2, 1, 1], "push_constants": "", "spec_constants": [],
            "bindings": [{{"set": 0, "binding": 0, "name": "data", "kind": "ssbo", "bytes": 8,
                "init": {{"iota": {{"start": 5, "step": 1}}}}, "output": true,
                "expected": "expected.bin", "compare": {{"rule": "exact"}}}}]}}"#
    );
    std::fs::write(folder.join(format!("{name}.json")), text).unwrap();
}

fn kernel(root: &Path, arguments: &[&str]) -> Output {
    let mut all = vec!["kernel", root.to_str().unwrap()];
    all.extend(arguments);
    eitri(&all, b"")
}

#[track_caller]
fn expect(output: &Output, status: i32, stdout: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{stderr}");
    assert_eq!(output.status.code(), Some(status), "{stderr}");
}

#[test]
fn a_line_a_kernel_and_a_line_of_totals() {
    let root = tempfile::tempdir().unwrap();
    case(root.path(), "right", DOUBLE, 12);
    case(root.path(), "wrong", DOUBLE, 13);
    let all = kernel(root.path(), &["--jobs", "2"]);
    expect(
        &all,
        1,
        "ok right\n\
         FAIL wrong: data (0:0): element 1 (byte 0x4, u32): got 12, expected 13; 1 of 2 elements differ\n\
         1 passed, 1 failed, 0 skipped\n",
    );
    let right = kernel(root.path(), &["--filter", "right", "--opt"]);
    expect(&right, 0, "ok right\n1 passed, 0 failed, 0 skipped\n");
}

#[test]
fn a_value_for_a_spec_id_that_the_module_lacks_does_nothing() {
    let root = tempfile::tempdir().unwrap();
    case(root.path(), "right", DOUBLE, 12);
    let path = root.path().join("right/right.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let given = text.replace(
        "\"spec_constants\": []",
        "\"spec_constants\": [{\"id\": 9, \"value\": 1}]",
    );
    assert_ne!(given, text);
    std::fs::write(path, given).unwrap();
    let output = kernel(root.path(), &[]);
    expect(&output, 0, "ok right\n1 passed, 0 failed, 0 skipped\n");
}

#[test]
fn what_the_compiler_refuses_is_counted_apart() {
    let root = tempfile::tempdir().unwrap();
    case(root.path(), "doubles", DOUBLE_F64, 12);
    let output = kernel(root.path(), &[]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.starts_with("skipped doubles: "), "{stdout}");
    assert!(stdout.contains("Float64"), "{stdout}");
    assert!(
        stdout.ends_with("\n0 passed, 0 failed, 1 skipped\n"),
        "{stdout}"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn bad_requests_are_refused_with_their_place() {
    let root = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], part: &str| {
        let output = kernel(root.path(), arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        // A message may be broken into lines anywhere.
        let words = |text: &str| {
            text.replace('│', " ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(words(&stderr).contains(part), "no {part:?} in {stderr}");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert_eq!(output.stdout, b"");
    };
    refused(&[], "no case here: a case is a file NAME/NAME.json");
    case(root.path(), "good", DOUBLE, 12);
    refused(
        &["--filter", "bad"],
        "no kernel's name contains `bad`; there are good",
    );
    let file = root.path().join("good/good.json");
    std::fs::write(&file, "{\n  \"format\": 1,\n  oops").unwrap();
    refused(&[], "good.json:3:3: key must be a string");
}

#[test]
fn an_adreno_runs_the_interpreter() {
    let root = tempfile::tempdir().unwrap();
    case(root.path(), "right", DOUBLE, 12);
    case(root.path(), "wrong", DOUBLE, 13);
    case(root.path(), "wide", DOUBLE_F64, 12);
    let all = kernel(root.path(), &["--target", "a6xx"]);
    let stdout = String::from_utf8_lossy(&all.stdout).into_owned();
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "ok right", "{stdout}");
    assert!(lines[1].starts_with("refused wide: "), "{stdout}");
    assert!(
        lines[2].starts_with("FAIL wrong: data (0:0): element 1"),
        "{stdout}"
    );
    assert_eq!(lines[3], "1 passed, 1 failed, 1 refused");
    assert_eq!(all.status.code(), Some(1));
    let says = |arguments: &[&str], part: &str| {
        let output = kernel(root.path(), arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(part), "no `{part}` in {stderr}");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
    };
    says(
        &["--target", "v10"],
        "kernels for v10 run on the model of the GPU",
    );
    says(&["--target", "teapot"], "there is no machine `teapot`");
    says(&["--target", "a6xx", "--on", "qemu"], "cannot be used with");
}

/// The kernels of a folder.
fn folders(of: &std::path::Path) -> Vec<String> {
    let mut folders: Vec<String> = std::fs::read_dir(of)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.display().to_string())
        .collect();
    folders.sort();
    folders
}

#[test]
fn the_shared_kernels_are_right_on_the_interpreter_of_ir3() {
    let Some(kernels) = eitri_testdata::shared("kernels") else {
        return;
    };
    let folders = folders(&kernels);
    // In the short form every sixth one, with its optimised module; in the long form all, and the plain ones too, in several
    // orders of waves.
    let (step, runs): (usize, &[&[&str]]) = match eitri_testdata::long() {
        true => (
            1,
            &[
                &["--target", "a6xx", "--orders", "4", "--opt"],
                &["--target", "a6xx", "--orders", "4"],
            ],
        ),
        false => (6, &[&["--target", "a6xx", "--opt"]]),
    };
    let chosen: Vec<&str> = folders.iter().step_by(step).map(String::as_str).collect();
    for &arguments in runs {
        let all = eitri(&[&["kernel"][..], &chosen[..], arguments].concat(), b"");
        let stdout = String::from_utf8_lossy(&all.stdout);
        let of = |kind: &str| -> Vec<&str> {
            let lines = stdout.lines().filter_map(|line| line.strip_prefix(kind));
            lines
                .map(|line| line.split(':').next().unwrap_or(line).trim())
                .collect()
        };
        for kind in ["FAIL ", "refused "] {
            assert_eq!(of(kind), [""; 0], "{arguments:?}: {stdout}");
        }
        assert_eq!(of("ok ").len(), chosen.len(), "{arguments:?}: {stdout}");
    }
}

#[test]
fn own_kernels_and_those_of_other_compilers_are_right() {
    for (folder, count) in [("kernels", 40), ("producers", 7)] {
        let folders = folders(&eitri_testdata::kept(folder));
        assert!(folders.len() >= count, "{folders:?}");
        // Optimised modules all; in the short form every fourth of the others.
        let step = if eitri_testdata::long() { 1 } else { 4 };
        for (step, arguments) in [
            (step, &[][..]),
            (1, &["--opt"]),
            (step, &["--target", "a6xx", "--opt"]),
        ] {
            let chosen: Vec<&str> = folders.iter().step_by(step).map(String::as_str).collect();
            let all = eitri(&[&["kernel"], &chosen[..], arguments].concat(), b"");
            let stdout = String::from_utf8_lossy(&all.stdout);
            assert_eq!(all.status.code(), Some(0), "{arguments:?}: {stdout}");
            let right = stdout.lines().filter(|line| line.starts_with("ok "));
            assert_eq!(right.count(), chosen.len(), "{arguments:?}: {stdout}");
        }
    }
}

#[test]
fn it_is_told_how_far_outputs_can_be_trusted() {
    let kept = eitri_testdata::kept("kernels");
    let told = |name: &str| {
        let kernel = kept.join(name).display().to_string();
        let arguments = ["kernel", &kernel, "--opt", "--check", "none", "--fidelity"];
        let output = eitri(&arguments, b"");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let integers = told("subset_sums");
    assert!(
        integers.contains("all that was executed is exact"),
        "{integers}"
    );
    let distances = told("inverse_mod");
    assert!(distances.contains("fidelity on Mali-G610"), "{distances}");
}
