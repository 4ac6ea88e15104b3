//! `eitri debug`: sessions by text, compared with files; what is refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debug")
}

fn debug(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eitri"))
        .current_dir(folder())
        .arg("debug")
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// Carries out NAME.commands, whose first line has the arguments, and compares what is printed with NAME.expected.
#[track_caller]
fn check(name: &str) {
    let file = format!("{name}.commands");
    let text = std::fs::read_to_string(folder().join(&file)).unwrap();
    let first = text.lines().next().unwrap_or_default();
    let arguments = first.strip_prefix("# arguments: ").unwrap();
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    arguments.extend(["--commands", &file]);
    let output = debug(&arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {stderr}");
    let got = String::from_utf8(output.stdout).unwrap();
    let expected = folder().join(format!("{name}.expected"));
    if std::env::var_os("EITRI_BLESS").is_some() {
        std::fs::write(&expected, &got).unwrap();
    }
    let expected = std::fs::read_to_string(&expected).unwrap_or_default();
    assert_eq!(
        got, expected,
        "{name}: `EITRI_BLESS=1` accepts what is printed"
    );
}

#[test]
fn breakpoints_steps_and_values_of_all_lanes() {
    check("steps");
}

#[test]
fn going_back_shows_what_was() {
    check("back");
}

/// The status of a session with one command, and what it says on standard error.
fn one(command: &str) -> (Option<i32>, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), command).unwrap();
    let path = file.path().display().to_string();
    let arguments = ["sum.wgsl", "--buffer", "0=zero:128", "--commands", &path];
    let output = debug(&arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr)
}

#[test]
fn what_can_not_be_done_is_said_with_its_line() {
    for (command, why) in [
        ("jump 3", "`jump` is no command"),
        ("break 99", "no code stands at `99`"),
        ("break nothing.wgsl:3", "no file is called"),
        ("print q", "nothing here is called `q`"),
        ("print s[99]", "has no part `99`"),
        ("print (1", "`)` is missing"),
        ("thread 7", "there are 2 threads"),
        ("watch 1 + 1", "a number, which does not change"),
        ("memory nowhere", "is no memory"),
    ] {
        let (status, stderr) = one(command);
        assert_eq!(status, Some(2), "{command}: {stderr}");
        let is_there = stderr.contains(why) && stderr.contains(":1:");
        assert!(is_there, "{command}: no {why:?} in {stderr}");
    }
    let (status, stderr) = one("assert i == 3");
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("does not hold in lane 0"), "{stderr}");
}
