//! Checkers of machine code, as a person sees them: beside `run`, `kernel` and `validate`.

use crate::checks::{Folder, RACE, mended};

/// Workgroups read what others have written.
const BETWEEN_WORKGROUPS: &str = "
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
    let i = g.x;
    o[i] = i;
    o[64u + i] = o[63u - i];
}
";

/// Workgroups count, and the last one reads what all have left.
const COUNTED: &str = "
struct Data { count: atomic<u32>, sum: atomic<u32>, seen: array<u32, 64> }
@group(0) @binding(0) var<storage, read_write> d: Data;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
    atomicAdd(&d.sum, g.x);
    d.seen[g.x] = atomicAdd(&d.count, 1u);
}
";

/// Runs a shader with the checkers of machine code alone; its status, and what it says on standard error.
fn run(folder: &Folder, shader: &str, more: &[&str]) -> (Option<i32>, String) {
    folder.file("shader.wgsl", shader);
    let fixed = [
        "run",
        "shader.wgsl",
        "--buffer",
        "0=zero:512",
        "--check",
        "none",
        "--check-code",
        "all",
    ];
    let output = folder.eitri(&[&fixed[..], more].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr)
}

#[test]
fn a_race_between_warps_names_both_instructions() {
    let folder = Folder::new();
    let (status, stderr) = run(&folder, RACE, &[]);
    assert_eq!(status, Some(1), "{stderr}");
    for part in [
        "data race on byte 0x",
        "of the shared memory of workgroup (0, 0, 0)",
        "STORE.i32",
        "LOAD.i32",
        "write by invocation",
        "read by invocation",
        "(lane ",
    ] {
        assert!(stderr.contains(part), "no {part:?} in {stderr}");
    }
    let (status, stderr) = run(&folder, &mended(), &[]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_is_found_of_machine_code_goes_into_the_same_files() {
    let folder = Folder::new();
    let more = ["--sarif", "found.sarif", "--findings", "found.json"];
    let (status, told) = run(&folder, RACE, &more);
    assert_eq!(status, Some(1), "{told}");
    for file in ["found.sarif", "found.json"] {
        let text = std::fs::read_to_string(folder.path(file)).unwrap();
        assert!(
            text.contains("race on") && text.contains("LOAD"),
            "{file} does not have what was reported: {told}\n{text}"
        );
    }
}

#[test]
fn every_engine_finds_the_same() {
    let folder = Folder::new();
    let found = |engine: &str, threads: &str| {
        let (status, stderr) = run(&folder, RACE, &["--engine", engine, "--threads", threads]);
        assert_eq!(status, Some(1), "{engine}: {stderr}");
        stderr
    };
    let interpreted = found("interpret", "1");
    for (engine, threads) in [("simd", "2"), ("jit", "1")] {
        assert_eq!(found(engine, threads), interpreted, "{engine}");
    }
}

#[test]
fn workgroups_are_ordered_by_atomics_alone() {
    let folder = Folder::new();
    let (status, stderr) = run(&folder, BETWEEN_WORKGROUPS, &["--groups", "4"]);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("data race on address 0x"), "{stderr}");
    let (status, stderr) = run(&folder, COUNTED, &["--groups", "4"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    // One workgroup races with nobody.
    let (status, stderr) = run(&folder, BETWEEN_WORKGROUPS, &[]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_is_told_of_machine_code_is_chosen() {
    let folder = Folder::new();
    std::fs::write(folder.path("shader.wgsl"), RACE).unwrap();
    let run = |check: &[&str]| {
        let fixed = ["run", "shader.wgsl", "--buffer", "0=zero:512", "--check"];
        let output = folder.eitri(&[&fixed[..], check].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    assert_eq!(run(&["none"]), (Some(0), String::new()));
    let chosen = ["none", "--check-code", "uninit"];
    assert_eq!(run(&chosen), (Some(0), String::new()));
    assert_eq!(run(&["none", "--check-code", "race"]).0, Some(1));
    let (status, stderr) = run(&["none", "--check-code", "rices"]);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("is no rule"), "{stderr}");
}

/// A script whose shader runs as one workgroup of 64 invocations.
fn script(body: &str) -> String {
    format!(
        "#!amber
SHADER compute kernel GLSL
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out {{ uint o[]; }};
shared uint s[64];
void main() {{
    uint i = gl_LocalInvocationIndex;
    s[i] = i + 1;
    {body}
    o[i] = s[63u - i];
}}
END
BUFFER out DATA_TYPE uint32 SIZE 64 FILL 0
PIPELINE compute pipeline
  ATTACH kernel
  BIND BUFFER out AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN pipeline 1 1 1
EXPECT out IDX 252 EQ 1
"
    )
}

/// What `validate` finds beside the suite's own step of bring-up and a script.
fn validated(body: &str, more: &[&str]) -> (Option<i32>, String) {
    let folder = Folder::new();
    std::fs::write(folder.path("case.amber"), script(body)).unwrap();
    let fixed = [
        "validate",
        "--only",
        "amber",
        "--suite",
        "case.amber",
        "--soak",
        "1",
    ];
    let output = folder.eitri(&[&fixed[..], more].concat());
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!stdout.contains("not ok"), "{stdout}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr)
}

#[test]
fn validate_checks_the_machine_code_that_it_runs() {
    let (status, stderr) = validated("", &[]);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("data race"), "{stderr}");
    let (status, stderr) = validated("barrier();", &[]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let (status, stderr) = validated("", &["--check", "none"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
}

/// Kernels that exchange something between invocations; all of them in the long form.
#[test]
fn kernels_have_no_findings() {
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/data/kernels");
    let folder = Folder::new();
    let filters: &[&str] = match eitri_testdata::long() {
        true => &[""],
        false => &["binary_rank", "haar"],
    };
    for filter in filters {
        let arguments = ["--check", "none", "--check-code", "all"];
        let case = ["kernel", kernels, "--filter", filter];
        let output = folder.eitri(&[&case[..], &arguments].concat());
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stdout}");
    }
}
