//! `eitri pack` and `eitri unpack`, as a person runs them.

use crate::eitri::eitri;
use std::process::Output;

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn prints(arguments: &[&str], expected: &str) {
    let output = eitri(arguments, b"");
    assert_eq!(
        stdout(&output),
        expected,
        "eitri {arguments:?}: {}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(0), "eitri {arguments:?}");
}

#[track_caller]
fn refuses(arguments: &[&str], says: &[&str]) {
    let output = eitri(arguments, b"");
    let words = stderr(&output)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for part in says {
        assert!(
            words.contains(part),
            "eitri {arguments:?}: expected `{part}` in: {words}"
        );
    }
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(2), String::new()),
        "eitri {arguments:?}"
    );
}

const BUFFER: &str = "1900000000100000000001004100000000000000000000000000000000000000\n";

#[test]
fn fields_are_packed_by_name() {
    prints(
        &[
            "pack",
            "buffer",
            "size=4096",
            "Address=0x4100010000",
            "buffer_type=simple",
        ],
        BUFFER,
    );
    prints(
        &[
            "pack",
            "Framebuffer pointer",
            "Render target count=2",
            "pointer=0x1000",
            "type=1",
        ],
        "0510000000000000\n",
    );
    prints(
        &[
            "pack",
            "texture",
            "width=1",
            "height=1",
            "levels=1",
            "format=R8G8B8A8_UNORM",
            "swizzle=RGBA",
            "sample-count=1",
            "array_size=1",
            "depth=1",
        ],
        "0200c02e00000000880600000000000000000000000000000000000000000000\n",
    );
}

#[test]
fn defaults_are_asked_for() {
    prints(&["pack", "local storage"], &format!("{}\n", "0".repeat(64)));
    prints(
        &["pack", "local storage", "--defaults"],
        &format!("000000001f{}\n", "0".repeat(54)),
    );
}

#[test]
fn a_generation_has_its_own_fields() {
    prints(
        &["pack", "Viewport", "--arch", "v12", "Max X=1"],
        "00000000010000000000000000000000\n",
    );
    refuses(
        &["pack", "Viewport", "Max X=1"],
        &["`Viewport` does not exist in v10"],
    );
    refuses(
        &["pack", "Buffer", "Size hi=1"],
        &["`Buffer` has no such field in v10"],
    );
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    refuses(
        &["pack", "bufer"],
        &["no structure is called `bufer`", "did you mean `Buffer`?"],
    );
    refuses(
        &["pack", "buffer", "adress=1"],
        &["did you mean `Address`?"],
    );
    refuses(
        &["pack", "shader program", "preload.r48=1"],
        &["did you mean `Preload.R"],
    );
    refuses(
        &["pack", "sampler", "mipmap mode=linear"],
        &["values: Nearest (0), None (1), Performance Trilinear (2), Trilinear (3)"],
    );
}

#[test]
fn values_that_do_not_fit_are_refused() {
    refuses(
        &["pack", "buffer", "size=4294967296"],
        &["4294967296", "does not fit: the most is 4294967295"],
    );
    refuses(
        &["pack", "framebuffer pointer", "pointer=1"],
        &["0x1 is not a multiple of 0x40"],
    );
    refuses(&["pack", "texture", "width=0"], &["0 is below 1"]);
    refuses(
        &["pack", "texture", "sample count=3"],
        &["3 is not a power of two"],
    );
    refuses(
        &["pack", "buffer", "stride=4", "packet stride=64"],
        &["stride=4", "shares bits with another field"],
    );
    refuses(&["pack", "buffer", "size"], &["`size` is not FIELD=VALUE"]);
}

#[test]
fn values_that_mean_nothing_are_refused() {
    refuses(
        &["pack", "buffer", "type=8"],
        &["8 is not 9, its only legal value"],
    );
    refuses(
        &["pack", "attribute", "offset=2147483648"],
        &["2147483648 does not fit 32 signed bits"],
    );
    refuses(
        &["pack", "sampler", "wrap mode r=1"],
        &["1 is no value of `Wrap Mode`", "values: Repeat (8)"],
    );
    refuses(
        &["pack", "blend", "equation=1"],
        &["`Equation` is a structure: name one of its fields after a dot"],
    );
    refuses(
        &["pack", "blend", "enable.x=1"],
        &["`Enable` is no structure: nothing can follow it"],
    );
    refuses(
        &["pack", "sampler", "srgb override=maybe"],
        &["`sRGB override` takes true or false"],
    );
}

#[test]
fn a_descriptor_is_printed() {
    let output = eitri(&["unpack", "buffer", BUFFER.trim()], b"");
    let text = stdout(&output);
    for line in [
        "Buffer:",
        "  Type: Buffer (9)",
        "  Size: 4096 (0x1000)",
        "  Address: 0x4100010000",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "no line `{line}` in\n{text}"
        );
    }
}

#[test]
fn what_is_no_descriptor_is_refused() {
    refuses(
        &["unpack", "buffer", "19"],
        &["`Buffer` takes 32 bytes, but there are 1"],
    );
    refuses(&["unpack", "buffer", "1"], &["half a byte is missing"]);
    refuses(&["unpack", "buffer", "xy"], &["`x` is no hex digit"]);
    let reserved = BUFFER.trim().replacen("1900", "1901", 1);
    refuses(
        &["unpack", "buffer", &reserved],
        &["reserved bits 0x00000100 of word 0 are set (the lowest is bit 8)"],
    );
}

#[test]
fn vectors_are_checked_a_line_each() {
    let Some(path) = eitri_testdata::shared("hardware/data/descriptor-vectors.json") else {
        return;
    };
    let output = eitri(
        &[
            "pack",
            "--vectors",
            path.to_str().expect("the path is text"),
        ],
        b"",
    );
    let text = stdout(&output);
    assert!(
        text.lines()
            .any(|line| line == "ok shader-program-fragment"),
        "{text}"
    );
    assert_eq!(text.lines().last(), Some("28 passed, 0 failed"), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_vector_that_is_wrong_fails_alone() {
    let file = std::env::temp_dir().join(format!("eitri-vectors-{}.json", std::process::id()));
    let vectors = r#"{"vectors": [
        {"id": "good", "arch": 10, "size": 4, "parts": [{"offset": 0, "struct": "DCD Flags 1", "fields": {"Sample mask": 3}}], "hex": "03000000"},
        {"id": "bytes", "arch": 10, "size": 4, "parts": [{"offset": 0, "struct": "DCD Flags 1", "fields": {"Sample mask": 3}}], "hex": "03010000"},
        {"id": "field", "arch": 10, "size": 4, "parts": [{"offset": 0, "struct": "DCD Flags 1", "fields": {"Sample": 3}}], "hex": "03000000"},
        {"id": "shape", "arch": 10, "size": -1}
    ]}"#;
    std::fs::write(&file, vectors).expect("the temporary folder is writable");
    let output = eitri(
        &[
            "pack",
            "--vectors",
            file.to_str().expect("the path is text"),
        ],
        b"",
    );
    std::fs::remove_file(&file).expect("it was written");
    assert_eq!(
        stdout(&output),
        "ok good\n\
         FAIL bytes: packs to 03000000, expected 03010000 (the first difference is byte 1)\n\
         FAIL field: Sample: `DCD Flags 1` has no such field in v10\n\
         FAIL shape: `hex` is missing or is not a text\n\
         1 passed, 3 failed\n"
    );
    assert_eq!(output.status.code(), Some(1));
}

/// The bytes of a structure with these fields, as `eitri pack` prints them.
fn packed(structure: &str, fields: &[&str]) -> String {
    let output = eitri(&[&["pack", structure], fields].concat(), b"");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

#[test]
fn a_compressed_target_is_told_by_its_block_format() {
    let fields = ["Writeback Block Format=AFBC Tiled", "YUV Transform=true"];
    let target = packed("AFBC RGB Render Target", &fields);
    refuses(
        &["unpack", "rgb render target", &target],
        &[
            "reserved bits",
            "the block format is AFBC Tiled",
            "eitri unpack 'AFBC RGB Render Target'",
        ],
    );
    let output = eitri(&["unpack", "render target", &target], b"");
    let text = stdout(&output);
    for line in ["  RGB: (not this)", "    YUV Transform: true"] {
        assert!(
            text.lines().any(|found| found == line),
            "no `{line}` in\n{text}"
        );
    }
}

#[test]
fn a_framebuffer_is_printed_with_what_follows_it() {
    let framebuffer = |extension: &str| {
        let extension = format!("Parameters.Has ZS CRC Extension={extension}");
        packed(
            "framebuffer",
            &["Parameters.Render Target Count=2", &extension],
        )
    };
    let target = packed("RGB Render Target", &["Writeback Block Format=Linear"]);
    let extension = "00".repeat(64);
    let all = [framebuffer("true").as_str(), &extension, &target, &target].concat();
    let text = stdout(&eitri(&["unpack", "framebuffer", &all], b""));
    let titles: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    let expected = [
        "Framebuffer:",
        "ZS CRC Extension:",
        "Render Target:",
        "Render Target:",
    ];
    assert_eq!(titles, expected, "{text}");
    let without = [framebuffer("false").as_str(), &target].concat();
    refuses(
        &["unpack", "framebuffer", &without],
        &["`Framebuffer` takes 256 bytes, but there are 192"],
    );
    // Alone, as it was.
    let text = stdout(&eitri(
        &["unpack", "framebuffer", &framebuffer("true")],
        b"",
    ));
    assert!(text.starts_with("Framebuffer:\n"), "{text}");
}

#[test]
fn an_unused_attribute_is_no_fault_and_a_format_has_all_its_names() {
    let output = eitri(
        &[
            "unpack",
            "attribute",
            &["05".to_owned(), "00".repeat(31)].concat(),
        ],
        b"",
    );
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text.contains("Attribute type: 0 (not set)"), "{text}");
    let texture = packed("texture", &["Format=0x9b000"]);
    let text = stdout(&eitri(&["unpack", "texture", &texture], b""));
    for name in ["R8G8B8A8_USCALED", "R8G8B8A8_UINT", " or "] {
        assert!(text.contains(name), "no {name} in\n{text}");
    }
}
