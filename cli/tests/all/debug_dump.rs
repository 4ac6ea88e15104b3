//! `eitri debug DUMP`: a compute job of a dump, from the step that fails on.

use crate::debug::Editor;
use crate::dump::MISSED;
use crate::eitri::eitri;
use serde_json::json;
use std::io::Write;
use tempfile::NamedTempFile;

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Status, standard output and standard error of a session of the dump.
#[track_caller]
fn debug(options: &[&str], commands: &str) -> (Option<i32>, String, String) {
    let dump = file(&MISSED);
    let path = dump.path().to_str().unwrap();
    let arguments = [&["debug", path, "--commands", "-"], options].concat();
    let output = eitri(&arguments, commands.as_bytes());
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

#[test]
fn a_session_of_a_dump_begins_before_the_step_that_fails() {
    let (status, out, err) = debug(&[], "stepi\nreverse-stepi\ngoto 0\nassert $lane < 16\n");
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(err.contains("compute job 1 of the dump fails"), "{err}");
    let mut stops = out.split("> ");
    let first = stops.next().unwrap();
    let fault = "the next step fails: TRANSLATION_FAULT_2: a write of 0x";
    assert!(first.starts_with(fault), "{out}");
    assert!(
        first.contains("  STORE."),
        "the instruction that stores: {out}"
    );
    let step = stops.next().unwrap();
    assert!(step.contains("end: TRANSLATION_FAULT_2"), "{out}");
    let back = stops.next().unwrap();
    assert!(back.contains("  STORE."), "the same place again: {out}");
    let start = stops.next().unwrap();
    assert!(start.contains(", step 0\n"), "{out}");
}

#[test]
fn what_a_dump_does_not_have_is_refused() {
    let (status, _, err) = debug(&["--level", "source"], "");
    assert_eq!(status, Some(2), "{err}");
    assert!(err.contains("a dump has machine code alone"), "{err}");
    let (status, _, err) = debug(&["--job-number", "2"], "");
    assert_eq!(status, Some(2), "{err}");
    assert!(err.contains("start 1 compute jobs"), "{err}");
    let (status, out, err) = debug(&["--job-number", "1"], "");
    assert_eq!(status, Some(0), "{err}");
    assert!(out.starts_with("the next step fails"), "{out}");
    let shader = file(b"@compute @workgroup_size(1) fn main() {}");
    let path = shader.path().to_str().unwrap();
    let output = eitri(
        &["debug", path, "--language", "wgsl", "--job-number", "1"],
        b"",
    );
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("`--job-number` is for dumps"), "{err}");
    let cut = file(&MISSED[..100]);
    let output = eitri(&["debug", cut.path().to_str().unwrap()], b"");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("is no core dump of a GPU"), "{err}");
}

/// An editor that launches a dump is told of an exception at once, whatever it wants on entry.
#[test]
fn an_editor_is_told_what_fails() {
    let dump = file(&MISSED);
    let mut editor = Editor::start();
    editor.send("initialize", json!({ "adapterID": "eitri" }));
    editor.wait("command", "initialize");
    editor.send("launch", json!({ "program": dump.path() }));
    editor.wait("event", "initialized");
    editor.send("configurationDone", json!(null));
    let stop = editor.wait("event", "stopped");
    assert_eq!(stop["body"]["reason"], "exception", "{stop}");
    let text = stop["body"]["text"].as_str().unwrap_or_default();
    assert!(
        text.starts_with("TRANSLATION_FAULT_2: a write of 0x"),
        "{stop}"
    );
    editor.send("disconnect", json!(null));
    editor.wait("event", "terminated");
    assert!(editor.adapter.wait().unwrap().success());
}
