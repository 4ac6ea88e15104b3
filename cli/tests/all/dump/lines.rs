//! Lines of the source in dumps, in what the model reports, and in sessions of the debugger.

use crate::eitri::command;
use std::path::Path;
use std::process::Output;

/// Stores past its buffer in the seventh line.
const SCATTER: &str = "#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint out_words[]; };
layout(push_constant) uniform Push { uint stride; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    out_words[i * stride] = i;
}
";

/// The line that stores.
const LINE: &str = "scatter.comp:7";

/// What a command does in a folder: its status, standard output and standard error.
#[track_caller]
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command(arguments).current_dir(folder).output().unwrap();
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (status.code(), out, err)
}

/// A job that fails, without any line of the kernel being told to anybody but the command.
#[test]
fn a_fault_leads_to_the_line_in_every_way_that_it_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("scatter.comp"), SCATTER).unwrap();
    let job = [
        "run",
        "scatter.comp",
        "--buffer",
        "0=zero:4096",
        "--push",
        "stride=4096",
        "--groups",
        "4",
        "--robust",
        "off",
        "--check",
        "none",
        "--dump",
        "fault.core",
    ];
    let (status, _, err) = run(folder, &job);
    assert_ne!(status, Some(0), "{err}");
    let note = err.lines().find(|line| line.starts_with("model: note:"));
    let note = note.unwrap_or_else(|| panic!("no note: {err}"));
    assert!(
        note.contains("fails for the warp of workgroup (0, 0, 0)"),
        "{note}"
    );
    assert!(note.ends_with(&format!(", at {LINE}")), "{note}");

    let (_, text, _) = run(folder, &["dump", "show", "fault.core"]);
    let instruction = text
        .lines()
        .find(|line| line.starts_with("  instruction: "));
    let instruction = instruction.unwrap_or_else(|| panic!("no instruction: {text}"));
    assert!(instruction.ends_with(&format!(", {LINE}")), "{instruction}");
    assert!(
        text.contains(&format!("; {LINE}\n")),
        "its code has lines: {text}"
    );
    let (_, json, _) = run(folder, &["dump", "show", "fault.core", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["faults"][0]["candidates"][0]["source"], LINE);
    run(
        folder,
        &["dump", "show", "fault.core", "--html", "fault.html"],
    );
    let page = std::fs::read_to_string(folder.join("fault.html")).unwrap();
    assert!(page.contains(LINE), "{page}");

    std::fs::write(folder.join("none"), "break 7\n").unwrap();
    let (status, out, err) = run(folder, &["debug", "fault.core", "--commands", "none"]);
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains(&format!("{LINE} in compute job 1")), "{out}");
    assert!(
        out.contains("out_words[i * stride] = i;"),
        "the text beside the dump: {out}"
    );
    assert!(out.contains(&format!("breakpoint 1 at {LINE}")), "{out}");

    let (_, _, err) = run(
        folder,
        &["dump", "replay", "fault.core", "-o", "after.core"],
    );
    let (_, text, _) = run(folder, &["dump", "show", "after.core"]);
    assert!(
        text.contains(LINE),
        "a dump of the replay has the lines: {text}{err}"
    );
}

/// A dump of whoever knows no lines is shown without.
#[test]
fn without_lines_nothing_is_made_up() {
    let text = super::show(&[], &super::MISSED);
    let instruction = text
        .lines()
        .find(|line| line.starts_with("  instruction: "));
    let instruction = instruction.unwrap_or_else(|| panic!("no instruction: {text}"));
    let program = instruction.rsplit_once(", of the program at 0x").unwrap().1;
    assert!(u64::from_str_radix(program, 16).is_ok(), "{instruction}");
    let json = super::show(&["--json"], &super::MISSED);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let candidate = &json["faults"][0]["candidates"][0];
    assert!(candidate["source"].is_null(), "{candidate}");
}
