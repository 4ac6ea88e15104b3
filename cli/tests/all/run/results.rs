//! What jobs compute, and what is printed of them.

use super::{DOUBLE, Folder, repository};
use crate::eitri::eitri;
use std::process::Command;

#[test]
fn a_store_outside_of_a_buffer_is_dropped() {
    let folder = Folder::new();
    let shader = folder.file(
        "oob.wgsl",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) g: vec3u) { o[g.x * 4096u] = 7u; }",
    );
    let arguments = ["--buffer", "0=zero:64", "--save", "0=out.bin"];
    let mut expected = [0; 16];
    expected[0] = 7;
    assert_eq!(folder.words(&shader, &arguments), expected);
}

#[test]
fn a_shader_doubles_a_buffer() {
    let folder = Folder::new();
    let shader = folder.file("double.wgsl", DOUBLE);
    let words = folder.words(
        &shader,
        &[
            "--buffer",
            "0=iota-u32:8",
            "--groups",
            "2",
            "--save",
            "0=out.bin",
        ],
    );
    assert_eq!(words, [0, 2, 4, 6, 8, 10, 12, 14]);
}

#[test]
fn users_shaders_compute_what_they_say() {
    let folder = Folder::new();
    let shader = |name: &str| repository(&format!("tests/shaders/{name}"));
    let sums = folder.words(
        &shader("prefix_sum.wgsl"),
        &[
            "--buffer",
            "0=fill-u32:3:512",
            "--buffer",
            "1=zero:2048",
            "--buffer",
            "2=zero:8",
            "--groups",
            "2",
            "--save",
            "1=out.bin",
        ],
    );
    let expected: Vec<u32> = (0..512).map(|index| 3 * (index % 256 + 1)).collect();
    assert_eq!(sums, expected);
    let steps = folder.words(
        &shader("collatz.wgsl"),
        &["--buffer", "0=iota-u32:32", "--save", "0=out.bin"],
    );
    assert_eq!(steps[..8], [u32::MAX, 0, 1, 7, 2, 5, 8, 16]);
    assert_eq!(steps[27], 111);
    let product = folder.words(
        &shader("matmul.comp"),
        &[
            "--buffer",
            "0=iota-f32:256",
            "--buffer",
            "1=fill-f32:1:256",
            "--buffer",
            "1:0=zero:1024",
            "--save",
            "1:0=out.bin",
        ],
    );
    let row = |index: u32| {
        (0..16)
            .map(|k| (index / 16 * 16 + k) as f32)
            .sum::<f32>()
            .to_bits()
    };
    assert_eq!(product, (0..256).map(row).collect::<Vec<_>>());
    let bins = folder.words(
        &shader("histogram.comp"),
        &[
            "--buffer",
            "0=fill-u32:0x01020301:64",
            "--buffer",
            "1=zero:1024",
            "--save",
            "1=out.bin",
        ],
    );
    assert_eq!(bins[..4], [0, 128, 64, 64]);
}

/// GLSL's own name for the size of a workgroup, whichever front end reads it.
#[test]
fn a_shader_knows_the_size_of_its_workgroup() {
    let folder = Folder::new();
    let shader = folder.file(
        "size.comp",
        "#version 450
         layout(local_size_x = 4, local_size_y = 2) in;
         layout(set = 0, binding = 0) buffer B { uint data[]; };
         void main() {
             uint i = gl_LocalInvocationID.y * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
             data[i] = gl_WorkGroupSize.x * 100u + gl_WorkGroupSize.y * 10u + i;
         }",
    );
    let found = folder.words(&shader, &["--buffer", "0=zero:32", "--save", "0=out.bin"]);
    assert_eq!(found, [420, 421, 422, 423, 424, 425, 426, 427]);
}

/// Text goes to standard error in the order of the buffer's records, whatever else the shader does; twice if it is called from
/// two places; results stay what they are.
#[test]
fn what_a_shader_prints_is_told() {
    let folder = Folder::new();
    let shader = folder.file(
        "prints.comp",
        "#version 460
         #extension GL_EXT_debug_printf : enable
         layout(local_size_x = 4) in;
         layout(set = 0, binding = 0) buffer B { uint data[]; };
         float half_of(float x) { debugPrintfEXT(\"half of %.2f\", x); return x * 0.5; }
         void main() {
             uint i = gl_GlobalInvocationID.x;
             if (i % 4u == 3u) debugPrintfEXT(\"%u: %v3f\", i, vec3(i, i * 2u, half_of(float(i))));
             data[i] = i;
         }",
    );
    let arguments = [
        "--buffer",
        "0=zero:32",
        "--groups",
        "2",
        "--save",
        "0=out.bin",
    ];
    assert_eq!(folder.words(&shader, &arguments), [0, 1, 2, 3, 4, 5, 6, 7]);
    let told = String::from_utf8(folder.run(&shader, &arguments).stderr).unwrap();
    assert_eq!(
        told,
        "half of 3.00\n3: 3.000000, 6.000000, 1.500000\nhalf of 7.00\n7: 7.000000, 14.000000, 3.500000\n"
    );
    // 70,000 records of 4 words do not fit into 2^18 - 1.
    let endless = folder.file(
        "endless.comp",
        "#version 460
         #extension GL_EXT_debug_printf : enable
         layout(local_size_x = 100) in;
         void main() { for (int i = 0; i < 700; i++) debugPrintfEXT(\"%d %d %d\", i, 2, 3); }",
    );
    let output = folder.run(&endless, &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert_eq!(told.lines().count(), 65_535 + 1);
    assert!(told.ends_with("debugPrintf: there was no room for 17860 words more\n"));
}

#[test]
fn statistics_and_listing_are_printed_on_demand() {
    let folder = Folder::new();
    let shader = folder.file("double.wgsl", DOUBLE);
    let output = folder.run(&shader, &["--buffer", "0=zero:16", "--stats", "--disasm"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.starts_with("double.wgsl - compute shader: "),
        "{stdout}"
    );
    assert!(stdout.contains("STORE.i32"), "{stdout}");
    // One line for the same figures, whoever prints it.
    let compile = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .args(["compile", &shader, "--stats"])
        .output()
        .unwrap();
    let compiled = String::from_utf8_lossy(&compile.stdout).into_owned();
    let figures = |text: &str| {
        let line = text.lines().next().unwrap_or_default();
        line.split_once(" - ")
            .map(|(_, figures)| figures.to_owned())
    };
    assert_eq!(figures(&stdout), figures(&compiled), "{compiled}");
}

#[test]
fn what_was_executed_is_counted_by_unit() {
    let folder = Folder::new();
    let shader = folder.file("double.wgsl", DOUBLE);
    let executed = |groups: &str| -> Vec<f64> {
        let arguments = ["--buffer", "0=zero:4096", "--stats", "--groups", groups];
        let output = folder.run(&shader, &arguments);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = stdout.lines().nth(1).unwrap_or_default();
        let figures = line.strip_prefix("double.wgsl - executed: ");
        let figures = figures.unwrap_or_else(|| panic!("no second line: {stdout}"));
        assert!(
            figures.contains(" ls, ") && figures.contains(" clocks, "),
            "{line}"
        );
        let numbers = figures
            .split(", ")
            .map(|figure| figure.split(' ').next().unwrap());
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let (one, three) = (executed("1"), executed("3"));
    assert!(one[0] > 2.0 && one[1] > 0.0, "{one:?}");
    let times_three: Vec<f64> = one.iter().map(|figure| 3.0 * figure).collect();
    assert_eq!(three, times_three, "{one:?}");
}

#[test]
fn code_without_its_optimisations_computes_the_same() {
    let folder = Folder::new();
    let shader = folder.file("double.wgsl", DOUBLE);
    let run = |more: &[&str]| {
        let all = [
            "--buffer",
            "0=iota-u32:4",
            "--save",
            "0=out.bin",
            "--verify",
        ];
        folder.words(&shader, &[&all[..], more].concat())
    };
    let expected = [0, 2, 4, 6];
    assert_eq!(run(&["-O0"]), expected);
    assert_eq!(
        run(&["--skip", "algebra", "--skip", "share_values"]),
        expected
    );
}

#[test]
fn a_shader_that_never_ends_is_stopped() {
    let folder = Folder::new();
    let hang = folder.file(
        "hang.wgsl",
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
         @compute @workgroup_size(1) fn main() { while data[0] == 0u { data[1] += 1u; } }\n",
    );
    folder.refused(
        &hang,
        &[
            "--buffer",
            "0=zero:16",
            "--save",
            "0=out.bin",
            "--timeout",
            "1",
            // They would give it up, much later in a build that is not optimised.
            "--check",
            "none",
        ],
        &["was still running after 1s", "the shader may loop for ever"],
    );
}

#[test]
fn a_store_outside_of_every_buffer_is_a_fault_unless_access_is_robust() {
    let folder = Folder::new();
    let wild = folder.file(
        "wild.wgsl",
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
         @compute @workgroup_size(1) fn main() { data[data[0] + 100000000u] = 1u; }\n",
    );
    folder.refused(
        &wild,
        &[
            "--buffer",
            "0=zero:16",
            "--save",
            "0=out.bin",
            "--robust",
            "off",
        ],
        &["the address is not mapped", "a write of 0x"],
    );
}

#[test]
fn the_demo_needs_no_tool() {
    let output = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .args(["demo", "--on", "host"])
        .env("PATH", "")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert_eq!(stdout.matches(" words as on a CPU").count(), 3, "{stdout}");
}

#[test]
fn results_are_printed_and_compared() {
    let folder = Folder::new();
    let shader = folder.file("a.wgsl", DOUBLE);
    let buffer = ["--buffer", "0=iota-u32:4"];
    let output = folder.run(&shader, &[&buffer[..], &["--print", "0:u32[1..]"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "0:0 u32[1..4]: 2 4 6\n");
    folder.file("right.bin", [0, 2, 4, 6].map(u32::to_le_bytes).concat());
    folder.file("wrong.bin", [0, 2, 5, 6].map(u32::to_le_bytes).concat());
    let compare = |argument: &str| {
        let output = folder.run(&shader, &[&buffer[..], &["--compare", argument]].concat());
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert_eq!(compare("0=right.bin"), (Some(0), String::new()));
    let (status, text) = compare("0=wrong.bin:u32");
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("element 2 (byte 0x8, u32): got 4, expected 5"),
        "{text}"
    );
    assert_eq!(compare("0=wrong.bin:u32:1").0, Some(0));
}

#[test]
fn push_constants_go_by_the_shaders_names() {
    let folder = Folder::new();
    let saxpy = repository("demo/saxpy.comp");
    let buffers = [
        "--buffer",
        "0=iota-f32:64",
        "--buffer",
        "1=fill-f32:1:64",
        "--print",
        "1:f32[2..4]",
    ];
    let run = |push: &str| folder.run(&saxpy, &[&buffers[..], &["--push", push]].concat());
    for push in [
        "a=2.0,count=64",
        "count=0x40,a=2",
        "f32:2,u32:64",
        "0000004040000000",
    ] {
        let output = run(push);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            text, "0:1 f32[2..4]: 5.0 7.0\n",
            "{push}: {:?}",
            output.stderr
        );
    }
    folder.refused(
        &saxpy,
        &["--push", "b=1"],
        &["no push constant is called `b`"],
    );
}

/// The host is where jobs run if nobody says otherwise, and standard input a shader like others.
#[test]
fn a_shader_from_standard_input_runs_on_the_host() {
    let arguments = [
        "run",
        "-",
        "--language",
        "wgsl",
        "--buffer",
        "0=iota-u32:4",
        "--print",
        "0",
    ];
    let output = eitri(&arguments, DOUBLE.as_bytes());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "0:0 u32[0..4]: 0 2 4 6\n"
    );
    let output = eitri(&["run", "-"], DOUBLE.as_bytes());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("<stdin>: can't tell the language"),
        "{errors}"
    );
    let output = eitri(&["compile", "-", "--language", "wgsl"], b"fn main( {");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("<stdin>:1:"), "{errors}");
}

/// What a threshold on a function's result decides is not known of a board; what is computed of integers is.
#[test]
fn it_is_told_how_far_results_can_be_trusted() {
    let folder = Folder::new();
    let report = |body: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
             @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) g: vec3u) {{ {body} }}"
        );
        let shader = folder.file("fidelity.wgsl", &text);
        let arguments = ["run", &shader, "--buffer", "0=iota-u32:32", "--fidelity"];
        let output = eitri(&arguments, b"");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let exact = report("a[g.x] = 3u * a[g.x] + 1u;");
    assert!(exact.contains("all that was executed is exact"), "{exact}");
    let decided = report("if (exp2(f32(a[g.x])) > 100.0) { a[g.x + 16u] = 1u; }");
    for part in [
        "not exact: FEXP.f32",
        "have reached: branch",
        "function-table: once, first at",
    ] {
        assert!(decided.contains(part), "no `{part}` in {decided}");
    }
    let stored = report("a[g.x] = bitcast<u32>(exp2(f32(a[g.x])));");
    assert!(stored.contains("have reached: memory"), "{stored}");
}
