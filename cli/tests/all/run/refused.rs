//! Every kind of wrong input, and how it is told.

use super::{DOUBLE, Folder, repository};
use crate::eitri::eitri;
use std::process::Command;

#[test]
fn a_typed_spec_id_that_the_shader_lacks_is_refused() {
    let folder = Folder::new();
    let shader = folder.file("a.wgsl", DOUBLE);
    folder.refused(
        &shader,
        &["--buffer", "0=zero:16", "--spec", "7=1"],
        &["no specialisation constant has SpecId 7"],
    );
}

#[test]
fn passes_are_listed_and_unknown_ones_are_refused() {
    let folder = Folder::new();
    let shader = folder.file(
        "a.wgsl",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(1) fn main() { o[0] = 1u; }",
    );
    let buffer = ["--buffer", "0=zero:16"];
    folder.refused(
        &shader,
        &[&buffer[..], &["--print-after", "bogus"]].concat(),
        &[
            "the compiler has no pass `bogus`",
            "eitri compile --list-passes",
        ],
    );
    folder.refused(
        &shader,
        &[&buffer[..], &["--print-after", "dead_cod"]].concat(),
        &[
            "the compiler has no pass `dead_cod`",
            "did you mean `dead_code`?",
        ],
    );
    folder.refused(
        &shader,
        &[&buffer[..], &["--stop-after", "dead_cod"]].concat(),
        &["did you mean `dead_code`?"],
    );
    folder.refused(
        &shader,
        &[&buffer[..], &["--skip", "allocate"]].concat(),
        &["the pass `allocate` can't be left out: there is no code without it"],
    );
    folder.refused(
        &shader,
        &[&buffer[..], &["--stop-after", "schedule"]].concat(),
        &["the pass `schedule` does not run for this shader"],
    );
    folder.refused(
        &shader,
        &[&buffer[..], &["-O1"]].concat(),
        &["`1` is no level: -O0 or -O2"],
    );
    let output = folder.run(
        &shader,
        &[&buffer[..], &["--stop-after", "select"]].concat(),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("STORE.i32 @%") && text.contains("  end"),
        "{text}"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .args(["run", "--list-passes"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for pass in ["robust_access", "dead_code", "select", "insert_waits"] {
        let line = text
            .lines()
            .find(|line| line.trim_start_matches(['*', ' ']).starts_with(pass));
        assert!(line.is_some(), "{pass} isn't in\n{text}");
    }
}

#[test]
fn files_that_are_no_shaders_are_refused() {
    let folder = Folder::new();
    folder.refused(
        "absent.comp",
        &[],
        &["can't read absent.comp", "No such file"],
    );
    let text = folder.file("text.spv", "hello, this is text.");
    folder.refused(&text, &[], &["not a SPIR-V module", "0x6c6c6568"]);
    let odd = folder.file("odd.spv", [3, 2, 35, 7, 0]);
    folder.refused(
        &odd,
        &[],
        &["5 bytes are not a whole number of 32-bit words"],
    );
    let cut = folder.file("cut.spv", [3, 2, 35, 7, 0, 3, 1, 0]);
    folder.refused(&cut, &[], &["cut.spv"]);
    let wgsl = folder.file("bad.wgsl", "fn main() { let x = ; }");
    folder.refused(&wgsl, &[], &["not valid WGSL", "bad.wgsl:1:21"]);
    let unknown = folder.file("shader.txt", "void main() {}");
    folder.refused(&unknown, &[], &["can't tell the language", ".wgsl"]);
}

#[test]
fn buffers_that_do_not_fit_are_named() {
    let folder = Folder::new();
    let saxpy = repository("demo/saxpy.comp");
    let saved: &[&str] = &["--save", "1=out.bin"];
    let with = |more: &[&'static str]| [more, saved].concat();
    let push = "--push";
    folder.refused(
        &saxpy,
        &with(&["--buffer", "0=zero:64", push, "0000004010000000"]),
        &["binding 0:1 (a storage buffer) is used by the shader"],
    );
    // All that is missing is named at once, with the options that give it.
    folder.refused(
        &saxpy,
        &[],
        &[
            "3 things are not given",
            "add --buffer 0:0=zero:4096 --buffer 0:1=zero:4096 --push 0000000000000000",
        ],
    );
    folder.refused(
        &saxpy,
        &with(&[
            "--buffer",
            "0=zero:64",
            "--buffer",
            "1=zero:64",
            "--buffer",
            "5=zero:4",
            push,
            "0000004010000000",
        ]),
        &["the shader has no binding 0:5; it has 0:0, 0:1"],
    );
    folder.refused(
        &saxpy,
        &with(&[
            "--buffer",
            "0=zero:64",
            "--buffer",
            "1=zero:64",
            "--buffer",
            "1=zero:64",
        ]),
        &["binding 0:1 is given twice"],
    );
    folder.refused(
        &saxpy,
        &with(&["--buffer", "0=zero:64", "--buffer", "1=zero:64", push, "00"]),
        &[
            "push constants of 1 bytes, but the shader has 8",
            "--push takes 16 hex digits",
        ],
    );
    let reduce = repository("demo/reduce.wgsl");
    folder.refused(
        &reduce,
        &with(&["--buffer", "0=zero:512", "--buffer", "1=zero:8"]),
        &["the buffer for binding 0:1 has 8 bytes, the shader's block needs at least 12"],
    );
    let endless = with(&["--buffer", "0=zero:64", "--buffer", "1=/dev/zero"]);
    folder.refused(&saxpy, &endless, &["the most is 268435456"]);
    folder.refused(
        &saxpy,
        &with(&["--buffer", "0=zero:64", "--buffer", "1=absent.bin"]),
        &["can't read absent.bin"],
    );
}

#[test]
fn a_wrong_command_line_is_refused() {
    let folder = Folder::new();
    folder.refused("x.comp", &["--buffer", "0"], &["`0` has no `=`"]);
    folder.refused(
        "x.comp",
        &["--buffer", "0=fill-f32:x:4"],
        &["`x` is not a number of 32-bit float"],
    );
    folder.refused(
        "x.comp",
        &["--push", "xyz"],
        &["`xyz` is not an even number of hex digits"],
    );
    folder.refused("x.comp", &["--groups", "0"], &["workgroups of at least 1"]);
    folder.refused(
        "x.comp",
        &["--save", "0=a", "--save", "0=b"],
        &["--save 0:0 is given twice"],
    );
    folder.refused("x.comp", &["--frobnicate"], &["unexpected argument"]);
}

#[test]
fn what_the_compiler_lacks_is_refused_by_name() {
    let folder = Folder::new();
    let two = DOUBLE.to_owned() + "@compute @workgroup_size(1) fn other() { data[0] = 0u; }\n";
    let two = folder.file("two.wgsl", two);
    folder.refused(&two, &["--buffer", "0=zero:16"], &["main", "other"]);
    folder.refused(
        &two,
        &["--entry", "none", "--buffer", "0=zero:16"],
        &["no compute entry point `none`"],
    );
    // Not the compiler's, but a word that goes with it: what a binding of another kind is given.
    let picture = folder.file(
        "picture.wgsl",
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n\
         @group(0) @binding(1) var picture: texture_2d<f32>;\n\
         @compute @workgroup_size(1) fn main() { data[0] = textureLoad(picture, vec2(0, 0), 0).x; }\n",
    );
    folder.refused(
        &picture,
        &["--buffer", "0=zero:16"],
        &["binding 0:1 (a sampled image)", "--image 0:1=zero:64x64"],
    );
}

#[test]
fn firmware_that_is_none_is_refused() {
    let folder = Folder::new();
    let shader = folder.file("double.wgsl", DOUBLE);
    let firmware = folder.file("firmware.bin", [0; 64]);
    folder.refused(
        &shader,
        &["--buffer", "0=zero:16", "--firmware", &firmware],
        &[
            "firmware.bin: firmware image, offset 0x0: not a firmware image",
            "mali_csffw.bin",
        ],
    );
}

#[test]
fn messages_have_the_form_that_is_asked_for() {
    let path = format!("/nowhere/{}.comp", "long-name-".repeat(20));
    let output = eitri(&["run", &path], b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(&path), "a name is cut in two: {errors}");
    let output = eitri(&["run", &path, "--message-format", "json"], b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    for line in errors.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["schema"], 1, "{line}");
        assert_eq!(value["level"], "error", "{line}");
        assert!(value["message"].as_str().unwrap().contains(&path), "{line}");
    }
    assert_eq!(errors.lines().count(), 1);
    let output = eitri(&["run", &path, "--color", "always"], b"");
    assert!(output.stderr.contains(&0x1b), "no colour");
}

/// Checkers see an empty buffer where none was given; that is no finding about the shader.
#[test]
fn what_is_missing_is_no_finding_of_the_checkers() {
    let folder = Folder::new();
    let shader = folder.file("a.wgsl", DOUBLE);
    let output = eitri(&["run", &shader], b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("no buffer is given"), "{errors}");
    assert!(!errors.contains("out-of-bounds"), "{errors}");
}
