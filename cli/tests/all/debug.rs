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
        ("break draw 0", "`--level driver` has, and a scene"),
        ("break register GPU_IDD", "no register is called"),
        ("picture tile t.png", "there is no tile now"),
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

#[test]
fn registers_are_shown_on_the_model() {
    let output = debug(&machine(&["--commands", "machine.commands"]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    for part in [
        "breakpoint 1",
        "sum.wgsl:23 in main",
        "end: the dispatch has ended",
        "step 0",
    ] {
        assert!(stdout.contains(part), "no {part:?} in {stdout}");
    }
}

/// Bytes by the GPU's addresses are watched, forward and back.
#[test]
fn memory_is_watched_on_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let session = |commands: &str| {
        let path = folder.path().join("commands");
        std::fs::write(&path, commands).unwrap();
        let path = path.display().to_string();
        let output = debug(&machine(&["--commands", &path]));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        String::from_utf8(output.stdout).unwrap()
    };
    // The first words of the uniforms are the address of the buffer.
    let out = session("print/x $u0\n");
    let address = out.trim_end().rsplit_once("$u0 = 0x").unwrap().1;
    let address = u64::from_str_radix(address, 16).unwrap();
    // An element of the second workgroup, and two that are never stored to behind the buffer's end.
    let (element, beyond) = (address + 4 * 33, address + 4 * 64);
    let out = session(&format!(
        "watch gpu+{element:#x}\nwatch gpu+{beyond:#x} 8\ncontinue\nassert $group == 1\ncontinue\n\
         reverse-continue\nreverse-continue\n"
    ));
    let hit = format!("watch 1: gpu+{element:#x} of warp 0 at sum.wgsl:23: 0 -> ");
    assert_eq!(out.matches(&hit).count(), 2, "there and back: {out}");
    assert!(out.contains("end: the dispatch has ended"), "{out}");
    assert!(out.contains("start: no step is before it"), "{out}");
    assert!(!out.contains("watch 2: gpu+{beyond:#x} of"), "{out}");
    let out = session(&format!("rwatch gpu+{element:#x}\ncontinue\n"));
    assert!(
        out.contains("end: the dispatch has ended"),
        "nobody loads it: {out}"
    );
}

/// A checkpoint shares what has not changed.
#[test]
fn a_checkpoint_is_measured() {
    let output = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .args(["bench", "checkpoint"])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    assert!(
        stdout.contains(" 40 of them changed\n"),
        "1 % of 4096: {stdout}"
    );
    assert!(stdout.contains("  whole "), "{stdout}");
}

/// The arguments of the shader at the level of the machine.
fn machine<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let shader = ["sum.wgsl", "--level", "machine", "--buffer", "0=zero:256"];
    [&shader[..], &["--groups", "2"], more].concat()
}

/// A client of the protocol, as small as one can be.
pub(crate) struct Editor {
    pub(crate) adapter: std::process::Child,
    seq: u64,
}

impl Editor {
    pub(crate) fn start() -> Editor {
        let adapter = Command::new(env!("CARGO_BIN_EXE_eitri"))
            .args(["debug", "--dap"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        Editor { adapter, seq: 0 }
    }

    pub(crate) fn send(&mut self, command: &str, arguments: serde_json::Value) {
        use std::io::Write;
        self.seq += 1;
        let message = serde_json::json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        });
        let body = message.to_string();
        let input = self.adapter.stdin.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        input.flush().unwrap();
    }

    /// The next message with a member of that value; those before it are left out.
    #[track_caller]
    pub(crate) fn wait(&mut self, member: &str, value: &str) -> serde_json::Value {
        use std::io::Read;
        let output = self.adapter.stdout.as_mut().unwrap();
        loop {
            let mut header = String::new();
            while !header.ends_with("\r\n\r\n") {
                let mut byte = [0];
                output.read_exact(&mut byte).expect("the adapter goes on");
                header.push(byte[0].into());
            }
            let length = header.trim().rsplit(' ').next().unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            output.read_exact(&mut body).unwrap();
            let message: serde_json::Value = serde_json::from_slice(&body).unwrap();
            if message[member] == value {
                return message;
            }
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.adapter.kill();
        let _ = self.adapter.wait();
    }
}

/// The configuration that docs/debugging.md has for VS Code, as VS Code sends it.
fn documented_launch() -> serde_json::Value {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/debugging.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, rest) = text.split_once("```json\n").unwrap();
    let (json, _) = rest.split_once("```").unwrap();
    let folder = folder().display().to_string();
    let json = json.replace("${workspaceFolder}", &folder);
    let file: serde_json::Value = serde_json::from_str(&json).unwrap();
    file["configurations"][0].clone()
}

#[test]
fn the_launch_json_of_the_documentation_works() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/vscode/package.json");
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    let debugger = &manifest["contributes"]["debuggers"][0];
    let launch = documented_launch();
    assert_eq!(launch["type"], debugger["type"]);
    assert_eq!(
        debugger["runtimeArgs"],
        serde_json::json!(["debug", "--dap"])
    );
    let known = debugger["configurationAttributes"]["launch"]["properties"]
        .as_object()
        .unwrap();
    for (name, _) in launch.as_object().unwrap() {
        let of_vs_code = ["type", "request", "name"].contains(&name.as_str());
        assert!(of_vs_code || known.contains_key(name), "{name}");
    }
    let mut editor = Editor::start();
    editor.send("initialize", serde_json::json!({ "adapterID": "eitri" }));
    editor.wait("command", "initialize");
    editor.send("launch", launch);
    editor.wait("event", "initialized");
    editor.send("configurationDone", serde_json::Value::Null);
    let stop = editor.wait("event", "stopped");
    assert_eq!(stop["body"]["reason"], "entry", "{stop}");
    editor.send("stackTrace", serde_json::json!({ "threadId": 1 }));
    let trace = editor.wait("command", "stackTrace");
    let frame = &trace["body"]["stackFrames"][0];
    assert_eq!(
        (&frame["name"], &frame["line"]),
        (&"main".into(), &10.into())
    );
    editor.send("disconnect", serde_json::Value::Null);
    editor.wait("event", "terminated");
    assert!(editor.adapter.wait().unwrap().success());
}
