//! `eitri validate`.

use crate::eitri;

fn told(arguments: &[&str]) -> (String, String, i32) {
    let output = eitri::eitri(arguments, b"");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

#[test]
fn a_good_gpu_passes_in_each_form() {
    for (form, first, passed) in [
        ("tap", "TAP version 14", "ok 1 registers.identity"),
        ("lava", "EITRI-START", "@R registers.identity pass"),
        ("plain", "", "passed   registers.identity"),
    ] {
        let (text, errors, status) = told(&["validate", "--only", "registers.", "--console", form]);
        assert_eq!(status, 0, "{text}{errors}");
        assert!(text.starts_with(first), "{text}");
        assert!(text.lines().any(|line| line == passed), "{text}");
        let last = text.lines().last().unwrap_or("");
        assert!(
            last.starts_with("# done: ") && last.contains(" 0 failed"),
            "{text}"
        );
    }
}

#[test]
fn a_broken_gpu_is_caught_by_name() {
    let (text, errors, status) = told(&["validate", "--seeded-faults", "gpu-id-product"]);
    assert_eq!(status, 0, "{text}{errors}");
    assert!(
        text.contains("ok 1 gpu-id-product-bit # caught by registers.identity: GPU_ID"),
        "{text}"
    );
}

#[test]
fn what_can_not_be_done_is_refused_by_name() {
    for (arguments, error) in [
        (
            ["validate", "--only", "nothing."],
            "no test's name begins with `nothing.`",
        ),
        (
            ["validate", "--seeded-faults", "nothing"],
            "no seeded fault's name begins with `nothing`",
        ),
        (["validate", "--console", "html"], "tap, lava and plain"),
        (
            ["validate", "--firmware", "/nowhere"],
            "can't read /nowhere",
        ),
    ] {
        let (_, errors, status) = told(&arguments);
        assert_eq!(status, 2, "{arguments:?}: {errors}");
        assert!(errors.contains(error), "{arguments:?}: {errors}");
    }
}

/// Every subcommand's options are apart from one another: a debug build says so at the first call.
#[test]
fn every_subcommand_has_options_of_its_own() {
    for command in ["amber", "console", "image", "kernel", "run", "validate"] {
        let (text, errors, status) = told(&[command, "--help"]);
        assert_eq!(status, 0, "{command}: {errors}");
        assert!(text.contains("Usage"), "{command}: {text}");
    }
}

#[test]
fn scripts_are_tests_of_the_suite() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/amber/memory.amber");
    let arguments = ["validate", "--only", "amber.", "--suite", script];
    let (text, errors, status) = told(&arguments);
    assert_eq!(status, 0, "{text}{errors}");
    let last = text
        .lines()
        .rfind(|line| line.starts_with("ok ") || line.starts_with("not ok "));
    let last = last.unwrap_or_default();
    assert!(
        last.contains(" amber.") && last.starts_with("ok "),
        "{text}"
    );
    assert!(last.ends_with("memory"), "{text}");
}
