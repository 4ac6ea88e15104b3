//! `eitri debug SCRIPT.amber`: which RUN, what its buffers hold, lines of its shaders, draws; what is refused.

use crate::debug_client::Client;
use crate::debug_scene::in_order;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Output};

/// Each RUN makes `3 * old + 1` of every word; the first expectation does not hold.
const DISPATCHES: &str = "#!amber
SHADER compute grow GLSL
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Data { uint words[]; } data;
void main() {
    uint old = data.words[gl_GlobalInvocationID.x];
    data.words[gl_GlobalInvocationID.x] = old * 3u + 1u;
}
END
BUFFER data DATA_TYPE uint32 SIZE 4 FILL 1
PIPELINE compute pipe
  ATTACH grow
  BIND BUFFER data AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN pipe 1 1 1
EXPECT data IDX 0 EQ 5
REPEAT 2
RUN pipe 1 1 1
END
RUN pipe 0 1 1
";

/// A clear, then a draw over the left half.
const DRAW: &str = "#!amber
SHADER vertex place PASSTHROUGH
SHADER fragment shade SPIRV-ASM
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %main \"main\" %color
               OpExecutionMode %main OriginUpperLeft
               OpDecorate %color Location 0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
      %float = OpTypeFloat 32
       %vec4 = OpTypeVector %float 4
%ptr_color = OpTypePointer Output %vec4
      %color = OpVariable %ptr_color Output
          %1 = OpConstant %float 1
        %red = OpConstantComposite %vec4 %1 %1 %1 %1
       %main = OpFunction %void None %function
      %start = OpLabel
               OpStore %color %red
               OpReturn
               OpFunctionEnd
END
BUFFER frame FORMAT B8G8R8A8_UNORM
PIPELINE graphics pipe
  ATTACH place
  ATTACH shade
  FRAMEBUFFER_SIZE 8 8
  BIND BUFFER frame AS color LOCATION 0
END
CLEAR pipe
RUN pipe DRAW_RECT POS 0 0 SIZE 4 8
";

/// A folder with a script; none without the tools that make its shaders.
fn folder(script: &str) -> Option<tempfile::TempDir> {
    for tool in ["glslangValidator", "spirv-as", "spirv-val"] {
        if Command::new(tool).arg("--version").output().is_err() {
            eitri_testdata::report_skipped(tool);
            return None;
        }
    }
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("scripts")).unwrap();
    std::fs::write(root.path().join("scripts/s.amber"), script).unwrap();
    Some(root)
}

fn debug(folder: &Path, arguments: &[&str], commands: &str) -> Output {
    std::fs::write(folder.join("commands"), commands).unwrap();
    let mut debug = Command::new(env!("CARGO_BIN_EXE_eitri"));
    debug.current_dir(folder).env("NO_COLOR", "1");
    debug.args(["debug", "scripts/s.amber", "--commands", "commands"]);
    debug.args(arguments).output().unwrap()
}

/// What a session prints: results, and what it says.
#[track_caller]
fn session(folder: &Path, arguments: &[&str], commands: &str) -> (String, String) {
    let output = debug(folder, arguments, commands);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}\n{stdout}");
    (stdout, stderr)
}

#[test]
fn a_run_has_what_those_before_it_have_left() {
    let Some(folder) = folder(DISPATCHES) else {
        return;
    };
    let folder = folder.path();
    let (first, says) = session(folder, &[], "break 8\ncontinue\nassert old == 1\n");
    in_order(
        &first,
        &[
            "breakpoint 1\n",
            "s.amber:8 in main\n    8      data.words",
            "> assert",
        ],
    );
    let listed = "RUN 1 of 4, at line 16; `--run N` chooses of those at lines 16, 19 (2 times), 21";
    assert!(says.contains(listed), "no {listed:?} in {says}");
    let commands = "break 8
        continue
        assert old == 13
        continue
        reverse-continue
        assert old == 13
        reverse-next
        ";
    let (third, says) = session(folder, &["--run", "3"], commands);
    assert!(says.contains("RUN 3 of 4, at line 19;"), "{says}");
    in_order(
        &third,
        &["end: the dispatch has ended", "s.amber:7 in main"],
    );
}

#[test]
fn a_run_is_stepped_through_on_the_model() {
    let Some(folder) = folder(DISPATCHES) else {
        return;
    };
    let (out, _) = session(
        folder.path(),
        &["--run", "2", "--level", "machine"],
        "break 8\ncontinue\nreverse-stepi\n",
    );
    in_order(
        &out,
        &["breakpoint 1\n", "s.amber:8 in main", "s.amber:7 in main"],
    );
    let (out, _) = session(
        folder.path(),
        &["--level", "driver"],
        "break 8\ncontinue\nreverse-continue\n",
    );
    in_order(
        &out,
        &[
            "next: the driver reads GPU_ID",
            "s.amber:8 in main",
            "start: no step is before it",
        ],
    );
}

/// Assembly has its own lines, and the driver's clears are no draws.
#[test]
fn a_draw_is_stopped_at_its_pixels() {
    let Some(folder) = folder(DRAW) else { return };
    let (out, says) = session(
        folder.path(),
        &[],
        "break draw 0
        continue
        delete
        break pixel 3,7
        continue
        assert $draw == 0
        reverse-continue
        ",
    );
    assert!(says.contains("s.amber: the RUN at line 31"), "{says}");
    in_order(
        &out,
        &[
            "breakpoint 1: draw 0 begins: 4 vertices",
            "breakpoint 2: fragments of draw 0",
            "s.amber:20 in shade\n   20                 OpReturn",
            "start: no step is before it",
        ],
    );
}

#[test]
fn an_editor_debugs_a_run() {
    let Some(folder) = folder(DISPATCHES) else {
        return;
    };
    let mut client = Client::start(folder.path());
    client.ask("initialize", json!({}));
    let absent = json!({ "program": "scripts/s.amber", "args": ["--run", "5"] });
    let refused = client.ask("launch", absent);
    assert_eq!(refused["success"], false, "{refused}");
    let why = refused["message"].as_str().unwrap_or_default();
    assert!(why.contains("there is no RUN 5"), "{refused}");
    let third = json!({ "program": "scripts/s.amber", "args": ["--run", "3"] });
    let launched = client.ask("launch", third);
    assert_eq!(launched["success"], true, "{launched}");
    let path = folder.path().join("scripts/s.amber");
    let lines = json!({ "source": { "path": path }, "breakpoints": [{ "line": 8 }] });
    let set = client.ask("setBreakpoints", lines);
    assert_eq!(set["body"]["breakpoints"][0]["verified"], true, "{set}");
    client.ask_for("configurationDone", json!({}), ("event", "stopped"));
    let frames = client.ask("stackTrace", json!({ "threadId": 1 }));
    let frame = &frames["body"]["stackFrames"][0];
    assert_eq!(frame["line"], 8, "{frames}");
    let found = frame["source"]["path"].as_str().unwrap_or_default();
    assert_eq!(Path::new(found), path.canonicalize().unwrap());
    let old = json!({ "expression": "old", "frameId": frame["id"] });
    let value = client.ask("evaluate", old);
    assert_eq!(value["body"]["result"], "13", "{value}");
    client.end();
}

/// The status is 2, and the message has the reason.
#[track_caller]
fn refused(script: &str, arguments: &[&str], why: &str) {
    let Some(folder) = folder(script) else { return };
    let output = debug(folder.path(), arguments, "");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(why), "no {why:?} in {stderr}");
}

#[test]
fn a_script_without_a_job_is_refused() {
    refused(
        DISPATCHES,
        &["--run", "4"],
        "RUN 4, at line 21, has no workgroups",
    );
    refused(
        DISPATCHES,
        &["--run", "9"],
        "there is no RUN 9: it has 4, at lines 16, 19 (2 times), 21",
    );
    refused("#!amber\n", &[], "it has no RUN");
    refused("#!amber\nRUN\n", &[], "s.amber:2:");
    refused(
        DRAW,
        &["--level", "source"],
        "a draw has no level but that of the driver",
    );
    let doubles = DISPATCHES.replacen("SHADER", "DEVICE_FEATURE shaderFloat64\nSHADER", 1);
    refused(
        &doubles,
        &[],
        "it needs what is not supported: shaderFloat64",
    );
}

#[test]
fn other_subjects_have_no_run() {
    let shader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debug/sum.wgsl");
    let mut debug = Command::new(env!("CARGO_BIN_EXE_eitri"));
    let output = debug.arg("debug").arg(shader).args(["--run", "2"]).output();
    let output = output.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("`--run` is for Amber scripts"), "{stderr}");
}
