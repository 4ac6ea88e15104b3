//! `eitri compile --target`: the same command for a machine of another family.

use crate::eitri::eitri;
use serde_json::Value;

const DOUBLE: &str = "\
@group(0) @binding(3) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    data[id.x] = data[id.x] * 2u;
}
";

/// Standard output of `eitri compile` of a shader for a target, with more arguments.
#[track_caller]
fn compiled(target: &str, arguments: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let shader = folder.path().join("double.wgsl");
    std::fs::write(&shader, DOUBLE).unwrap();
    let mut all = vec!["compile", shader.to_str().unwrap(), "--target", target];
    all.extend(arguments);
    let output = eitri(&all, b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    output.stdout
}

#[track_caller]
fn text(target: &str, arguments: &[&str]) -> String {
    String::from_utf8(compiled(target, arguments)).unwrap()
}

#[test]
fn the_code_is_the_machines_in_every_form() {
    let listing = text("a6xx", &["--emit", "asm"]);
    assert!(listing.contains("ldib.b.untyped"), "{listing}");
    let hex = text("a6xx", &["--emit", "hex"]);
    let words: Vec<u64> = hex
        .lines()
        .map(|line| u64::from_str_radix(line, 16).unwrap())
        .collect();
    let program = compiled("a6xx", &["--emit", "program", "-o", "-"]);
    let program = eitri_ir3_program::Program::parse(&program).unwrap();
    assert_eq!(program.code().collect::<Vec<u64>>(), words);
    assert_eq!(program.workgroup().sides(), [64, 1, 1]);
    let ir = text("a6xx", &["--emit", "ir"]);
    assert!(ir.contains("\nlanes 64\n"), "{ir}");
}

#[test]
fn a_target_may_be_a_mali_too() {
    let hex = |target: &str| text(target, &["--emit", "hex"]);
    assert_eq!(hex("G610"), hex("v10"));
    assert!(!text("v10", &["--emit", "ir"]).contains("\nlanes"));
}

#[test]
fn figures_are_those_of_the_machine() {
    let line = text("a650", &["--stats"]);
    assert!(
        line.contains(" nops, ") && line.contains(" constlen, "),
        "{line}"
    );
    let json: Value = serde_json::from_slice(&compiled("a650", &["--stats-json"])).unwrap();
    let shader = &json["shaders"][0];
    for (column, name) in [
        ("instr", "instructions"),
        ("nops", "nops"),
        ("sstall", "ss_stalls"),
        ("systall", "sy_stalls"),
        ("full", "full_registers"),
    ] {
        let figure = format!("{} {column}", shader[name]);
        assert!(line.contains(&figure), "no {figure:?} in {line}");
    }
    let report = text("a650", &["--report"]);
    assert!(report.contains("Hardware: Adreno a650"), "{report}");
    assert!(!report.contains("FMA"), "{report}");
    let json: Value = serde_json::from_slice(&compiled("a650", &["--report-json"])).unwrap();
    assert_eq!(json["shaders"][0]["hardware"]["core"], "Adreno a650");
}

#[test]
fn passes_are_those_on_the_way_to_the_target() {
    let list = |target: &str| text(target, &["--list-passes"]);
    let (mali, adreno) = (list("v10"), list("a6xx"));
    for (pass, of) in [("insert_nops", &adreno), ("legalise_fau", &mali)] {
        assert!(of.contains(pass), "no {pass} in {of}");
    }
    assert!(!mali.contains("insert_nops") && !adreno.contains("legalise_fau"));
    let after = text("a6xx", &["--stop-after", "select"]);
    assert!(after.contains("ldib"), "{after}");
}

#[test]
fn what_is_no_machine_is_refused() {
    let output = eitri(&["compile", "--target", "a651", "x.wgsl"], b"");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("no machine `a651`") && stderr.contains("a650"),
        "{stderr}"
    );
}
