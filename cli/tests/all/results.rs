//! Results of lists: parts on several machines, merged; files that are written when a run is told to end.

use crate::eitri::{command, eitri};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn names(results: &Value) -> Vec<String> {
    let cases = results["cases"].as_array().unwrap().iter();
    let mut names: Vec<String> = cases
        .map(|case| case["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn parts_of_a_list_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let whole = ["validate", "--seeded-faults", "core-"];
    let run = |more: &[&str]| {
        let output = eitri(&[&whole[..], more].concat(), b"");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    run(&["--results", &file("all.json")]);
    let parts = [file("1.json"), file("2.json")];
    run(&["--shard", "1/2", "--results", &parts[0]]);
    run(&["--shard", "2/2", "--results", &parts[1]]);
    let merged = file("merged.json");
    let output = eitri(&["merge", &parts[0], &parts[1], "--results", &merged], b"");
    assert_eq!(output.status.code(), Some(0));
    let (all, merged) = (read(file("all.json").as_ref()), read(merged.as_ref()));
    assert!(names(&all).len() > 1);
    assert_eq!(names(&merged), names(&all));
    // A part that nobody gave fails the whole.
    let output = eitri(&["merge", &parts[0]], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("FAIL part 2 of 2"));
    let output = eitri(&["merge", &parts[0], &parts[0]], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn validate_writes_what_console_writes() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (junit, results) = (file("junit.xml"), file("results.json"));
    let arguments = [
        "validate",
        "--only",
        "registers.",
        "--junit",
        &junit,
        "--results",
        &results,
    ];
    assert!(eitri(&arguments, b"").status.success());
    let junit = std::fs::read_to_string(junit).unwrap();
    for part in [
        "<testsuite name=\"eitri.model\"",
        "timestamp=\"20",
        "classname=\"eitri.registers\"",
    ] {
        assert!(junit.contains(part), "no {part} in {junit}");
    }
    let results = read(results.as_ref());
    assert_eq!(results["interrupted"], false);
    let timed = results["cases"].as_array().unwrap().iter();
    assert!(
        timed.into_iter().all(|case| case["seconds"].is_number()),
        "{results}"
    );
}

/// A run that CI cancels leaves what it has seen, and nothing else.
/// Sends a process SIGTERM.
fn tell_to_end(child: &Child) {
    let id = child.id().to_string();
    let killed = Command::new("sh")
        .args(["-c", "kill -s TERM $0", &id])
        .status()
        .unwrap();
    assert!(killed.success());
}

#[test]
fn a_run_that_is_told_to_end_leaves_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let arguments = [
        "validate",
        "--soak",
        "1000000",
        "--results",
        path.to_str().unwrap(),
    ];
    let mut child = command(&arguments)
        .env("TMPDIR", &temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The plan is out, so the suite runs.
    let mut first = [0; 16];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    tell_to_end(&child);
    let begun = Instant::now();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(128 + 15));
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(read(&path)["interrupted"], true);
    assert_eq!(
        std::fs::read_dir(&temporary).unwrap().count(),
        0,
        "temporary files are left"
    );
}

/// A script whose shader ends at once, and one whose shader never does.
fn loops(ends: bool) -> String {
    let body = if ends {
        ""
    } else {
        "while (n < 8) { n = n & 7; }"
    };
    format!(
        "#!amber
SHADER compute c GLSL
#version 450
layout(set = 0, binding = 0) buffer B {{ uint n; }};
void main() {{ {body} }}
END
BUFFER b DATA_TYPE uint32 DATA 1 END
PIPELINE compute p
  ATTACH c
  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 1 1 1
"
    )
}

#[test]
fn scripts_that_are_told_to_end_leave_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (name, ends) in [("a.amber", true), ("b.amber", false)] {
        std::fs::write(folder.path().join(name), loops(ends)).unwrap();
    }
    let mut child = command(&["amber", ".", "-j", "1", "-f", "600000", "-o", "left"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The first has passed.
    let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("a.amber") {
        line.clear();
        assert_ne!(
            std::io::BufRead::read_line(&mut said, &mut line).unwrap(),
            0
        );
    }
    tell_to_end(&child);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    let rows = std::fs::read_to_string(folder.path().join("left/results.csv")).unwrap();
    assert!(rows.starts_with("a.amber,Pass,"), "{rows}");
    assert_eq!(rows.lines().count(), 1, "{rows}");
}

#[test]
fn results_on_standard_output_are_alone_there() {
    let arguments = ["validate", "--seeded-faults", "core-", "--results", "-"];
    let output = eitri(&arguments, b"");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(names(&value).len() > 1);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("caught"), "{errors}");
}
