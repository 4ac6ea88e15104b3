//! `eitri amber`: verdicts, reports, and that no script can take others down.

use crate::eitri;
use std::path::Path;
use std::process::Command;

/// Doubles four numbers; `{EXPECT}` is what follows the run.
const DOUBLE: &str = "#!amber
SHADER compute double_it GLSL
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { uint v[]; };
layout(set = 0, binding = 1) buffer Unused { uint u[]; };
void main() { v[gl_WorkGroupID.x] *= 2; }
END
BUFFER data DATA_TYPE uint32 SIZE 4 SERIES_FROM 1 INC_BY 1
BUFFER other DATA_TYPE uint32 SIZE 4 FILL 7
PIPELINE compute p
  ATTACH double_it
  BIND BUFFER data AS storage DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER other AS storage DESCRIPTOR_SET 0 BINDING 1
END
RUN p 4 1 1
";

const GRAPHICS: &str = "#!amber
SHADER vertex v PASSTHROUGH
PIPELINE graphics p
  ATTACH v
END
CLEAR p
";

/// Whether the tools are there that compile a script's shaders.
fn tools() -> bool {
    let answers = |tool| Command::new(tool).arg("--version").output().is_ok();
    let there = answers("glslangValidator") && answers("spirv-val");
    if !there {
        eitri_testdata::report_skipped("glslangValidator and spirv-val");
    }
    there
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Exit status, standard output, standard error.
fn amber(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = eitri::command(&[&["amber"], arguments].concat())
        .current_dir(folder)
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn every_verdict_has_its_line_and_the_counts_come_last() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(
        at,
        "s/a.amber",
        &format!("{DOUBLE}EXPECT data IDX 0 EQ 2 4 6 8\nEXPECT other IDX 4 EQ 7\n"),
    );
    write(
        at,
        "s/b.amber",
        &format!("{DOUBLE}EXPECT data IDX 0 EQ 2 4 7 9\n"),
    );
    write(at, "s/c.amber", GRAPHICS);
    write(at, "s/d.amber", "#!amber\nHELLO\n");
    write(
        at,
        "s/e.expect_fail.amber",
        &format!("{DOUBLE}EXPECT data EQ_BUFFER other\n"),
    );
    write(at, "s/f.expect_fail.amber", DOUBLE);
    write(at, "s/g.amber", &DOUBLE.replace("*= 2", "*= two"));
    write(
        at,
        "s/h.amber",
        &format!("{DOUBLE}EXPECT data EQ_BUFFER other\n"),
    );
    let (status, out, err) = amber(
        at,
        &[
            "s",
            "--jobs",
            "2",
            "--junit",
            "j.xml",
            "--status",
            "status.md",
            "--keep",
            "kept",
        ],
    );
    assert_eq!(status, 1, "{out}{err}");
    let expected = [
        "pass a.amber",
        "FAIL b.amber: s/b.amber:17: data: uint32 6 EQ 7 does not hold at index 2, byte 8 (2 of 4 values differ)",
        "skip c.amber: skipped: graphics: no fragment shader",
        "FAIL d.amber: s/d.amber:2:1: `HELLO` is no statement",
        "pass e.expect_fail.amber",
        "FAIL f.expect_fail.amber: it passes, but its name says that it must fail",
        "FAIL g.amber: pipeline",
        "FAIL h.amber: s/h.amber:17: data is not other: uint32 2, not 7, in element 0, component 0, byte 0 (4 bytes differ)",
        "2 passed, 5 failed, 1 skipped",
    ];
    let lines: Vec<&str> = out.lines().collect();
    for line in expected.iter().filter(|line| !line.contains("pipeline")) {
        assert!(lines.contains(line), "no {line:?} in\n{out}");
    }
    assert_eq!(lines.last(), expected.last());
    // The tool's message has the script's own line.
    assert!(
        out.contains("s/g.amber:7: 'two' : undeclared identifier"),
        "{out}"
    );
    let junit = std::fs::read_to_string(at.join("j.xml")).unwrap();
    assert!(
        junit.contains("tests=\"8\" failures=\"5\" errors=\"0\" skipped=\"1\""),
        "{junit}"
    );
    let page = std::fs::read_to_string(at.join("status.md")).unwrap();
    for part in [
        "2 passed, 5 failed, 1 skipped",
        "### graphics: no fragment shader\n\n- `c.amber`",
        "- `b.amber`: Fail: b.amber:17: data:",
    ] {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
    for kept in [
        "p.spv",
        "p.program",
        "p.asm",
        "0-0-0-in.bin",
        "0-0-0-out.bin",
    ] {
        assert!(
            at.join("kept/b.amber").join(kept).is_file(),
            "{kept} is not kept"
        );
    }
}

/// Lanes read what others of the workgroup write, and nothing orders them.
const RACE: &str = "#!amber
SHADER compute race GLSL
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer B { uint v[]; };
shared uint s[32];
void main() {
    uint i = gl_LocalInvocationID.x;
    s[i] = v[i];
    {BARRIER}
    v[i] = s[31 - i];
}
END
BUFFER data DATA_TYPE uint32 SIZE 32 FILL 7
PIPELINE compute p
  ATTACH race
  BIND BUFFER data AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 1 1 1
{EXPECT}";

#[test]
fn a_race_is_told_and_fails_a_script_that_is_to_be_checked() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let script = |barrier, expect| {
        RACE.replace("{BARRIER}", barrier)
            .replace("{EXPECT}", expect)
    };
    write(at, "race.amber", &script("", ""));
    write(
        at,
        "good.amber",
        &script("barrier();", "EXPECT data IDX 0 EQ 7\n"),
    );
    write(at, "wrong.amber", &script("", "EXPECT data IDX 0 EQ 8\n"));
    let (status, out, err) = amber(at, &["race.amber"]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(err.contains("race.amber: dispatch 0: race: "), "{err}");
    let (status, out, _) = amber(at, &["race.amber", "--check", "errors"]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("FAIL race.amber: dispatch "), "{out}");
    assert!(out.contains("race: "), "{out}");
    // What does not hold comes first, and then why it may not.
    let (_, out, _) = amber(at, &["wrong.amber"]);
    assert!(out.contains("FAIL wrong.amber: wrong.amber:20: "), "{out}");
    assert!(out.contains("\ndispatch 0: "), "{out}");
    // What is asked for reaches the process of the script.
    for (script, check) in [
        ("race.amber", "none"),
        ("race.amber", "uninit"),
        ("good.amber", "all"),
    ] {
        let (status, out, err) = amber(at, &[script, "--check", check]);
        assert_eq!(status, 0, "{script} {check}: {out}{err}");
    }
    let (status, _, err) = amber(at, &["race.amber", "--check", "races"]);
    assert_eq!(status, 2, "{err}");
}

#[test]
fn a_script_that_never_ends_is_stopped_and_others_run() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(
        at,
        "a.amber",
        &DOUBLE.replace("*= 2;", "*= 2; while (v[0] != 77u) { v[1]++; }"),
    );
    // Nothing of it takes time, however busy the machine is.
    let text = "#!amber\nBUFFER b DATA_TYPE uint32 SIZE 1 FILL 1\nEXPECT b IDX 0 EQ 1\n";
    write(at, "b.amber", text);
    let (status, out, _) = amber(at, &["a.amber", "b.amber", "--timeout", "5", "--tap"]);
    assert_eq!(status, 1, "{out}");
    let expected = "TAP version 13\n1..2\nnot ok 1 - a.amber\n# Timeout: stopped after 5 s\nok 2 - b.amber\n# 1 passed, 1 failed, 0 skipped\n# done\n";
    assert_eq!(out, expected);
}

#[test]
fn a_script_that_takes_all_memory_is_told_as_a_crash() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A buffer at its largest is 256 MiB.
    let text = "#!amber\nBUFFER b DATA_TYPE uint32 SIZE 67108864 FILL 1\n";
    write(folder.path(), "a.amber", text);
    let (status, out, _) = amber(folder.path(), &["a.amber", "--memory", "256"]);
    assert_eq!(status, 1, "{out}");
    assert!(
        out.starts_with("CRASH a.amber: its process ended with signal"),
        "{out}"
    );
    assert!(
        out.contains("memory allocation of") && out.ends_with("0 passed, 1 failed, 0 skipped\n"),
        "{out}"
    );
}

#[test]
fn reading_shows_the_place_of_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "a.amber", DOUBLE);
    write(
        at,
        "b.amber",
        "#!amber\nBUFFER b DATA_TYPE uint31 DATA 1 END\n",
    );
    let (status, out, err) = amber(at, &["-p", "a.amber", "b.amber"]);
    assert_eq!(status, 1);
    assert_eq!(
        out,
        "pass a.amber\nFAIL b.amber: b.amber:2:20: `uint31` is no type\n1 passed, 1 failed, 0 skipped\n"
    );
    assert!(
        err.contains("b.amber:2:20") && err.contains("here"),
        "{err}"
    );
    let (status, out, _) = amber(at, &["--list", "--shard", "2/2", "."]);
    assert_eq!((status, &out[..]), (0, "b.amber\n"));
}

#[test]
fn bad_requests_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["amber", "tests/shaders"][..],
        &["amber", "x", "--shard", "3/2"],
        &["amber", "x", "--target-env", "spv9"],
        &["amber"],
    ] {
        let output = eitri::eitri(arguments, b"");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
    }
    // What is not there was not tried: no script has failed.
    let (status, _, errors) = amber(folder.path(), &["-p", "missing.amber"]);
    assert_eq!(status, 2, "{errors}");
    assert!(errors.contains("can't read missing.amber"), "{errors}");
    // Standard output has the results: a listing there would be lost among them.
    std::fs::write(folder.path().join("some.amber"), "#!amber\n").unwrap();
    let (status, _, errors) = amber(folder.path(), &["some.amber", "-w", "-"]);
    assert_eq!(status, 2, "{errors}");
    assert!(
        errors.contains("`-w -`: standard output has the results"),
        "{errors}"
    );
}

/// Scripts of the corpus that a short run tries: one of each kind that runs.
const QUICK: &[&str] = &[
    "amber/buffer_rmse.amber",
    "amber/compute_dynamic_buffers.amber",
    "amber/compute_mat2x4_row_major_col_major.amber",
    "amber/compute_push_constant_and_ssbo.amber",
    "amber/draw_grid_with_two_vertex_data_attached.expect_fail.amber",
    "amber/shader_specialization.amber",
    "cts/builtin/precision/square_matrix/determinant_highp_mat_3x3.amber",
    "cts/graphicsfuzz/unreachable-barrier-in-loops.amber",
    "cts/spirv_assembly/instruction/compute/mul_extended/signed_32bit.amber",
    "cts/spirv_assembly/instruction/spirv1p4/opcopylogical/ssbo_to_ubo.amber",
];

/// A few scripts of the corpus; in the longer form all, of which those must pass that the status page says pass, and none
/// may fail but for a file that the corpus lacks.
#[test]
fn the_corpus_passes_as_the_status_page_says() {
    let Some(corpus) = eitri_testdata::shared("corpus/amber") else {
        return;
    };
    if !tools() {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/amber-status.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, passed) = page.split_once("## Passed\n").unwrap();
    let passed: Vec<&str> = passed
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`'))
        .collect();
    assert!(
        passed.len() >= 50,
        "the page names {} scripts that pass",
        passed.len()
    );
    if !eitri_testdata::long() {
        assert!(QUICK.iter().all(|name| passed.contains(name)));
        let (status, out, err) = amber(&corpus, &[&["--timeout", "300"], QUICK].concat());
        assert_eq!(status, 0, "{out}{err}");
        return;
    }
    let (_, out, err) = amber(&corpus, &[".", "--timeout", "600"]);
    let lines: Vec<&str> = out.lines().collect();
    for name in passed {
        assert!(
            lines.contains(&&format!("pass {name}")[..]),
            "{name} does not pass any more\n{out}{err}"
        );
    }
    for line in lines {
        let failed = ["FAIL ", "CRASH ", "TIMEOUT "]
            .iter()
            .any(|word| line.starts_with(word));
        let excused =
            line.contains("No such file or directory") || line.contains("cts/ldexp/template.amber");
        assert!(!failed || excused, "{line}");
    }
}

#[test]
fn known_failures_and_flakes_do_not_fail_a_run_and_what_passes_unexpectedly_does() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let wrong = format!("{DOUBLE}EXPECT data IDX 0 EQ 3\n");
    let right = format!("{DOUBLE}EXPECT data IDX 0 EQ 2\n");
    for (name, text) in [
        ("bad", &wrong),
        ("flaky", &wrong),
        ("good", &right),
        ("never", &wrong),
    ] {
        write(at, &format!("s/{name}.amber"), text);
    }
    write(at, "fails", "# what this target can't do\nbad.amber,Fail\n");
    write(at, "flakes", "^fla.y\n");
    write(at, "skips", "never\n");
    let lists = [
        "--baseline",
        "fails",
        "--flakes",
        "flakes",
        "--skips",
        "skips",
    ];
    let run = |more: &[&str]| amber(at, &[&["s"], &lists[..], more].concat());
    let (status, stdout, stderr) = run(&["-o", "results"]);
    assert_eq!(status, 0, "{stdout}{stderr}");
    for line in [
        "fail bad.amber: as the baseline says",
        "flake flaky.amber: listed in flakes:1: ",
        "skip never.amber: skipped: listed in skips:1",
        "3 passed, 0 failed, 1 skipped",
    ] {
        assert!(stdout.contains(line), "no {line:?} in {stdout}");
    }
    let read = |name: &str| std::fs::read_to_string(at.join("results").join(name)).unwrap();
    let table = read("results.csv");
    let statuses: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split(',').nth(1))
        .collect();
    assert_eq!(
        statuses,
        ["ExpectedFail", "Flake", "Pass", "Skip"],
        "{table}"
    );
    assert_eq!(read("failures.csv"), "");
    assert!(read("logs/bad.amber.log").contains("does not hold"));

    // The same as TAP: what is known is no news.
    let (_, stdout, _) = run(&["--tap"]);
    assert!(stdout.contains("not ok 1 - bad.amber # TODO"), "{stdout}");

    write(
        at,
        "fails",
        "good.amber,Fail\nbad.amber,Crash\ngone.amber,Fail\n",
    );
    let (status, stdout, stderr) = run(&["-o", "results"]);
    assert_eq!(status, 1, "{stdout}");
    assert!(stdout.contains("UNEXPECTEDPASS good.amber"), "{stdout}");
    assert!(stderr.contains("names gone.amber"), "{stderr}");
    assert_eq!(
        read("failures.csv"),
        "bad.amber,Fail\ngood.amber,UnexpectedPass\n"
    );
}

/// Where our own scripts lie.
const OURS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/amber");

#[test]
fn images_samplers_texels_arrays_and_shared_memory_are_what_scripts_expect() {
    if !tools() {
        return;
    }
    let (status, out, err) = amber(Path::new("."), &[OURS]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.ends_with("8 passed, 0 failed, 0 skipped\n"), "{out}");
}

#[test]
fn pictures_contents_and_listings_of_one_script_can_be_had() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let script = format!("{OURS}/images.amber");
    let wanted = [
        &script[..],
        "-i",
        "to.png",
        "-I",
        "to",
        "-i",
        "from.ppm",
        "-I",
        "from",
        "-b",
        "out.txt",
        "-B",
        "1:3",
        "-B",
        "p:1:2",
        "-w",
        "out.asm",
    ];
    let (status, out, err) = amber(at, &wanted);
    assert_eq!(status, 0, "{out}{err}");
    let png = std::fs::read(at.join("to.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, [204, 204, 204, 51].repeat(16));
    let ppm = std::fs::read(at.join("from.ppm")).unwrap();
    assert_eq!(ppm, [&b"P6\n4 4\n255\n"[..], &[51; 48]].concat());
    assert_eq!(
        std::fs::read_to_string(at.join("out.txt")).unwrap(),
        "sums uint32\n00000000: 104 103 102 101\nfew vec2<uint8>\n00000000: 0 1 0 2 0 3 0 4\n"
    );
    let listing = std::fs::read_to_string(at.join("out.asm")).unwrap();
    assert!(listing.starts_with("; pipeline p\n"), "{listing}");
    // What can't be had is named before or after the run.
    let refused = |arguments: &[&str], expected: &str| {
        let (status, out, err) = amber(at, arguments);
        assert_ne!(status, 0, "{arguments:?}");
        assert!(format!("{out}{err}").contains(expected), "{out}{err}");
    };
    refused(
        &[&script, "-i", "x.png"],
        "no buffer is called `framebuffer`",
    );
    refused(&[&script, "-b", "x", "-B", "7"], "binds no buffer to 7");
    refused(
        &[OURS, "-w", "x"],
        "scripts are chosen: outputs are those of one",
    );
}

#[test]
fn a_wrong_picture_is_kept_with_its_difference() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = std::fs::read_to_string(format!("{OURS}/images.amber")).unwrap();
    let wrong = script.replace("EQ_RGBA 204 204 204 51", "EQ_RGBA 200 204 210 51");
    write(folder.path(), "wrong.amber", &wrong);
    let (status, out, err) = amber(folder.path(), &["wrong.amber", "--keep", "kept"]);
    assert_eq!(status, 1, "{out}{err}");
    let told = "to: pixel 0, 0 at byte 0 is (204 204 204 51), not (200 204 210 51) (16 of 16 pixels differ)";
    assert!(out.contains(told), "{out}");
    // However the script is named, what is kept of it lies in the folder.
    let whole = folder.path().join("wrong.amber");
    let whole = whole.to_str().unwrap();
    let (status, out, err) = amber(folder.path(), &[whole, "--keep", "kept"]);
    assert_eq!(status, 1, "{out}{err}");
    assert!(out.contains(told), "{out}");
    for place in ["wrong.amber", whole.trim_start_matches('/')] {
        let kept = folder.path().join("kept").join(place);
        for name in [
            "to.png",
            "to-difference.png",
            "0-0-0-in.bin",
            "p.spv",
            "0.core",
        ] {
            assert!(kept.join(name).is_file(), "no {name} in {place}");
        }
    }
}

#[test]
fn what_the_hardware_lacks_is_named_as_vulkan_names_it() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let samples = std::fs::read_to_string(format!("{OURS}/samples.amber")).unwrap();
    write(
        folder.path(),
        "samples.amber",
        &samples.replace("SAMPLES 4", "SAMPLES 32"),
    );
    let (status, out, err) = amber(folder.path(), &["samples.amber"]);
    assert_eq!(status, 0, "{out}{err}");
    let told = "skip samples.amber: skipped: VK_SAMPLE_COUNT_32_BIT";
    assert!(out.contains(told), "{out}");
}

#[test]
fn hlsl_includes_virtual_files_and_those_beside_the_script() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "three.hlsl",
        "uint three(uint x) { return x * 3; }\n",
    );
    write(
        folder.path(),
        "h.amber",
        "#!amber
VIRTUAL_FILE lib/twice.hlsl
uint twice(uint x) { return x * 2; }
END
VIRTUAL_FILE lib/all.hlsl
#include \"twice.hlsl\"
END
SHADER compute s HLSL
#include \"lib/all.hlsl\"
#include \"three.hlsl\"
[[vk::binding(0, 0)]] RWStructuredBuffer<uint> data : register(u0);
[numthreads(1, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {
  data[id.x] = three(twice(data[id.x]));
}
END
BUFFER data DATA_TYPE uint32 SIZE 4 SERIES_FROM 1 INC_BY 1
PIPELINE compute p
  ATTACH s
  BIND BUFFER data AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 4 1 1
EXPECT data IDX 0 EQ 6 12 18 24
",
    );
    let (status, out, err) = amber(folder.path(), &["h.amber"]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("pass h.amber"), "{out}");
}
