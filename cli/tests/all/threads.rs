//! `--threads` and `EITRI_THREADS`: on how many threads the model executes a dispatch.

use crate::eitri::command;
use std::path::Path;

/// Rounds enough that workgroups are executed ahead.
const MIX: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var x = data[id.x] + id.x;
  for (var i = 0u; i < 40u; i++) { x = x * 1664525u + 1013904223u; x ^= x >> 7u; }
  data[id.x] = x;
}
";

/// What a run prints, with counters, and the buffer that it leaves.
fn run(folder: &Path, arguments: &[&str]) -> (String, Vec<u8>) {
    let shader = folder.join("mix.wgsl");
    std::fs::write(&shader, MIX).unwrap();
    let shader = shader.to_str().unwrap();
    let first = ["run", shader, "--buffer", "0=zero:131072"];
    let rest = [
        "--groups",
        "512",
        "--check",
        "none",
        "--counters",
        "--save",
        "0=out",
    ];
    let output = command(&[&first[..], &rest, arguments].concat())
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let counters = String::from_utf8_lossy(&output.stdout).into_owned();
    (counters, std::fs::read(folder.join("out")).unwrap())
}

#[test]
fn a_dispatch_does_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let alone = run(folder.path(), &["--threads", "1"]);
    assert!(alone.0.contains("COMPUTE_WARPS"), "{}", alone.0);
    for threads in ["2", "3"] {
        let several = run(folder.path(), &["--threads", threads]);
        assert!(several == alone, "{threads}:\n{}\n{}", several.0, alone.0);
    }
}

#[test]
fn a_variable_that_is_no_number_is_refused() {
    for value in ["0", "two"] {
        let output = command(&["explain", "L2_READY"])
            .env("EITRI_THREADS", value)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        let expected = format!(
            "EITRI_THREADS is no number of threads: `{value}`\n  help: write a number of 1 or more"
        );
        assert!(said.contains(&expected), "{said}");
    }
}
