//! A run that is told to end.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Workgroups that each take a while, in a number that takes hours.
const LONG: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(workgroup_id) id: vec3<u32>) {
        for (var i = 0u; i < 20000u; i++) { data[(id.x + i) % 64u] = i; }
    }";

#[test]
fn a_job_that_is_told_to_end_leaves_its_dump_and_its_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.wgsl"), LONG).unwrap();
    let arguments = [
        "run",
        "a.wgsl",
        "--buffer",
        "0=zero:256",
        "--groups",
        "65535,64",
        "--check",
        "none",
        "--dump",
        "a.core",
        "--trace",
        "a.json",
    ];
    let mut command = crate::eitri::command(&arguments);
    command.current_dir(at);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let said = BufReader::new(child.stderr.take().unwrap());
    // It says how far it is, so the job runs.
    let mut lines = said.lines();
    let far = lines.find(|line| line.as_ref().is_ok_and(|it| it.contains("workgroups")));
    assert!(far.is_some(), "it ended without a word of its workgroups");
    let id = child.id().to_string();
    let killed = Command::new("sh")
        .args(["-c", "kill -s INT $0", &id])
        .status();
    assert!(killed.unwrap().success());
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(128 + 2), "{rest:?}");
    let text = super::show(&[], &std::fs::read(at.join("a.core")).expect("a dump"));
    assert!(text.contains("RUN_COMPUTE"), "{text}");
    let timeline = std::fs::read_to_string(at.join("a.json")).expect("a timeline");
    assert!(timeline.contains("traceEvents"), "{timeline}");
}
