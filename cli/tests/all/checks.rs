//! Checkers beside `eitri run`, as a person sees them: text, levels, SARIF, JSON; and `eitri broken`.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Lanes read what others have written, with nothing between: lines 5 and 6.
pub(crate) const RACE: &str = "var<workgroup> s: array<u32, 64>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    s[i] = i;
    o[i] = s[63u - i];
}
";

/// All lanes store the same to one word: line 4.
const SAME_VALUE: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    o[i & 1u] = 7u;
}
";

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn eitri(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_eitri"))
            .current_dir(self.0.path())
            .args(arguments)
            .env("NO_COLOR", "1")
            .output()
            .unwrap()
    }

    /// Runs a shader on the host; its status, and what it says on standard error.
    fn run(&self, shader: &str, more: &[&str]) -> (Option<i32>, String) {
        self.file("shader.wgsl", shader);
        let fixed = [
            "run",
            "shader.wgsl",
            "--on",
            "host",
            "--buffer",
            "0=zero:256",
        ];
        let output = self.eitri(&[&fixed[..], more].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    }

    fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap()
    }
}

/// The same with a barrier.
pub(crate) fn mended() -> String {
    RACE.replace("    o[i]", "    workgroupBarrier(); o[i]")
}

#[test]
fn a_race_is_an_error_with_both_lines() {
    let folder = Folder::new();
    let (status, stderr) = folder.run(RACE, &[]);
    assert_eq!(status, Some(1), "{stderr}");
    for part in [
        "data race",
        "s[i] = i;",
        "o[i] = s[63u - i];",
        "write by lane",
        "read by lane",
    ] {
        assert!(stderr.contains(part), "no {part:?} in {stderr}");
    }
    let (status, stderr) = folder.run(&mended(), &[]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_is_told_is_chosen() {
    let folder = Folder::new();
    for chosen in ["none", "uninit,out-of-bounds"] {
        let (status, stderr) = folder.run(RACE, &["--check", chosen]);
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{chosen}");
    }
    let (status, _) = folder.run(RACE, &["--check", "errors"]);
    assert_eq!(status, Some(1));
    let (status, stderr) = folder.run(SAME_VALUE, &[]);
    assert_eq!(status, Some(0), "a note is no failure: {stderr}");
    assert!(stderr.contains("nothing orders these stores"), "{stderr}");
    let (_, stderr) = folder.run(SAME_VALUE, &["--check", "errors"]);
    assert_eq!(stderr, "");
    let (status, stderr) = folder.run(RACE, &["--check", "rices"]);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("is no rule"), "{stderr}");
}

#[test]
fn findings_are_written_as_sarif_and_as_json() {
    let folder = Folder::new();
    let files = ["--sarif", "out.sarif", "--findings", "out.json"];
    folder.run(RACE, &files);
    let result = &folder.json("out.sarif")["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    assert_eq!(result["level"], "error");
    let line =
        |location: &serde_json::Value| location["physicalLocation"]["region"]["startLine"].as_u64();
    let lines = [&result["locations"][0], &result["relatedLocations"][0]].map(line);
    let mut lines = lines.map(Option::unwrap);
    lines.sort_unstable();
    assert_eq!(lines, [5, 6]);
    let finding = &folder.json("out.json")["findings"][0];
    assert_eq!(finding["space"], "shared");
    assert_eq!(finding["variable"], "s");
    folder.run(&mended(), &files);
    assert_eq!(folder.json("out.json")["findings"], serde_json::json!([]));
}

#[test]
fn what_the_host_has_not_written_is_told_where_it_decides() {
    let folder = Folder::new();
    let copy = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    if (o[i] == 3u) { o[i + 32u] = 1u; }
}
";
    let (status, stderr) = folder.run(copy, &["--unwritten", "0=64..68"]);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(
        stderr.contains("memory is read that nobody wrote"),
        "{stderr}"
    );
    let (status, stderr) = folder.run(copy, &["--unwritten", "0=128..256"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_race_hides_what_it_explains_and_nothing_else() {
    let folder = Folder::new();
    let unwritten = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    o[32u + (o[i] & 1u)] = i;
}
";
    // All store to one word, on the line on which what nobody wrote is read. The read itself is in no race.
    let (_, told) = folder.run(unwritten, &["--unwritten", "0=124..128"]);
    for part in ["race", "memory is read that nobody wrote"] {
        assert!(told.contains(part), "`{part}` is not told:\n{told}");
    }
}

#[test]
fn labelled_shaders_are_counted_by_what_is_told_of_them() {
    let folder = Folder::new();
    for (name, text) in [("bad", RACE.to_owned()), ("ok", mended())] {
        folder.file(&format!("{name}.wgsl"), &text);
        let spirv = folder.spirv(&text);
        folder.file(&format!("{name}.spv"), spirv);
    }
    let row = |name: &str, label: &str, findings: serde_json::Value| {
        serde_json::json!({
            "name": name, "class": "shared-race", "label": label, "findings": findings,
            "run": { "args": ["--buffer", "0=zero:256"] },
        })
    };
    let race =
        |lines: [u32; 2]| serde_json::json!([{ "kind": "race", "lines": lines, "binding": null }]);
    let index = |rows: Vec<serde_json::Value>| {
        folder.file("index.json", serde_json::Value::from(rows).to_string())
    };
    index(vec![
        row("bad", "broken", race([5, 6])),
        row("ok", "clean", serde_json::json!([])),
    ]);
    let output = folder.eitri(&["broken", "."]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert!(
        table.contains("shared-race                1 of 1"),
        "{table}"
    );
    // Other lines, and a clean shader that is called broken, are told.
    index(vec![
        row("bad", "broken", race([5, 7])),
        row("ok", "broken", race([5, 6])),
        row("bad", "clean", serde_json::json!([])),
    ]);
    let output = folder.eitri(&["broken", ".", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    crate::schema::check("broken", &value);
    let verdicts: Vec<&str> = value["shaders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["missed", "missed", "in vain"]);
}

impl Folder {
    /// The module of a WGSL text, with lines.
    fn spirv(&self, text: &str) -> Vec<u8> {
        use eitri_shaderc::build::shader_text::{Language, to_spirv};
        to_spirv(Language::Wgsl, "shader.wgsl", text).unwrap()
    }
}
