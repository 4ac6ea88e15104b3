//! `--gpu` and `--trace`: which GPU the model is, and the timeline of what happened inside of it.

use crate::eitri;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Each thread stores three times its number.
const TRIPLE: &str = "#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer B { uint numbers[]; };
void main() { numbers[gl_GlobalInvocationID.x] = 3u * gl_GlobalInvocationID.x; }
";

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let shader = folder.join("triple.comp");
    std::fs::write(&shader, TRIPLE).unwrap();
    let first = ["run", shader.to_str().unwrap(), "--buffer", "0=zero:1024"];
    let output = eitri::command(&[&first[..], arguments].concat())
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), talk)
}

/// The events of a file, which must be what the tools that open it expect.
#[track_caller]
fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let events = document["traceEvents"].as_array().unwrap().clone();
    // What begins on a track ends there, and time goes on.
    let mut open: BTreeMap<(u64, u64), (i64, f64)> = BTreeMap::new();
    for event in &events {
        let track = (
            event["pid"].as_u64().expect("a process"),
            event["tid"].as_u64().expect("a track"),
        );
        let time = event["ts"].as_f64().expect("a time");
        let (depth, last) = open.entry(track).or_default();
        match event["ph"].as_str().expect("a phase") {
            "B" => *depth += 1,
            "E" => *depth -= 1,
            "M" | "i" | "b" | "e" => {}
            "C" => {
                let number = |name: &str| event["args"][name].as_f64().expect("a number");
                assert!((0.0..=number("peak")).contains(&number("used")), "{event}");
            }
            "X" => assert!(event["dur"].as_f64().expect("a duration") >= 0.0),
            other => panic!("phase {other}"),
        }
        assert!((0..=1).contains(depth), "{event}");
        // A workgroup is told of when it ends.
        if event["ph"] != "X" {
            assert!(time >= *last, "{event} after {last}");
            *last = time;
        }
    }
    assert!(open.values().all(|(depth, _)| *depth == 0), "{open:?}");
    events
}

/// How many events have names that begin so.
fn count(events: &[Value], start: &str) -> usize {
    let begins = |event: &&Value| {
        event["name"]
            .as_str()
            .is_some_and(|name| name.starts_with(start))
    };
    events.iter().filter(begins).count()
}

/// The tracks of all processes.
fn tracks(events: &[Value]) -> Vec<String> {
    let names = events.iter().filter(|event| event["name"] == "thread_name");
    names
        .map(|event| event["args"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_run_is_a_timeline_of_firmware_streams_cores_and_interrupts() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--on", "host", "--groups", "8", "--trace", "t.json"];
    let (status, talk) = run(folder.path(), &arguments);
    assert_eq!(status, Some(0), "{talk}");
    let events = events(&folder.path().join("t.json"));
    let tracks = tracks(&events);
    for track in [
        "firmware",
        "interrupt job",
        "slot 0",
        "slot 0 stream 0",
        "core 0",
        "core 18",
    ] {
        assert!(
            tracks.iter().any(|it| it == track),
            "no {track} in {tracks:?}"
        );
    }
    assert_eq!(count(&events, "workgroup "), 8);
    let dispatch = "dispatch 1: 8x1x1 workgroups";
    assert_eq!(count(&events, dispatch), 2, "it begins and ends");
    assert!(
        count(&events, "core 0: load/store (% of peak)") >= 2,
        "how busy the unit is, and its ceiling"
    );
    assert!(count(&events, "request: PING") > 0 && count(&events, "acknowledge: PING") > 0);
    assert_eq!(count(&events, "resident"), 1);
    assert!(count(&events, "asserted") > 0);
    assert_eq!(count(&events, "FATAL") + count(&events, "FAULT"), 0);
}

#[test]
fn a_job_that_fails_leaves_its_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "--on", "host", "--robust", "off", "--groups", "2000", "--trace", "t.json",
    ];
    let (status, talk) = run(folder.path(), &arguments);
    assert_ne!(status, Some(0), "{talk}");
    let events = events(&folder.path().join("t.json"));
    assert!(count(&events, "Write of 0x") > 0, "the page fault");
}

#[test]
fn dispatches_of_scripts_are_processes() {
    let folder = tempfile::tempdir().unwrap();
    let script = "#!amber
SHADER compute double GLSL
#version 430
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer B { uint numbers[]; };
void main() { numbers[gl_GlobalInvocationID.x] *= 2; }
END
BUFFER numbers DATA_TYPE uint32 DATA 1 2 3 4 END
PIPELINE compute p
  ATTACH double
  BIND BUFFER numbers AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 1 1 1
RUN p 1 1 1
EXPECT numbers IDX 0 EQ 4 8 12 16
";
    let answers = |tool| Command::new(tool).arg("--version").output().is_ok();
    if !answers("glslangValidator") || !answers("spirv-val") {
        return eitri_testdata::report_skipped("glslangValidator and spirv-val");
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let scripts = ["a.amber", "b.amber"].map(path);
    for name in &scripts {
        std::fs::write(name, script).unwrap();
    }
    let arguments = [
        "amber",
        &scripts[0],
        &scripts[1],
        "--trace",
        &path("t.json"),
    ];
    let output = eitri::eitri(&arguments, b"");
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    let events = events(&folder.path().join("t.json"));
    let mut names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "process_name")
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    let ends = [
        "a.amber dispatch 0",
        "a.amber dispatch 1",
        "b.amber dispatch 0",
        "b.amber dispatch 1",
    ];
    assert_eq!(names.len(), ends.len());
    for (name, end) in names.iter().zip(ends) {
        assert!(name.ends_with(end), "{name}");
    }
}

#[test]
fn a_gpu_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (status, talk) = run(folder.path(), &["--gpu", "G6100"]);
    assert_eq!(status, Some(2), "{talk}");
    let part = "the model can't be a `G6100`: did you mean `G610`?";
    assert!(talk.contains(part), "{talk}");
}
