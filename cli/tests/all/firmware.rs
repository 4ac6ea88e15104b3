//! `eitri firmware`.

use crate::eitri::eitri;
use serde_json::Value;

#[test]
fn the_stub_is_a_firmware_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stub.bin");
    let path = path.to_str().unwrap();
    let output = eitri(&["firmware", "stub", "-o", path], b"");
    assert!(output.status.success());
    assert_eq!(std::fs::read(path).unwrap(), eitri_model::stub_firmware());
    let output = eitri(&["firmware", "show", path], b"");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["stub (runs on the model only)", "0x04000000..", "shared"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let output = eitri(&["firmware", "show", path, "--json"], b"");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sections = value["sections"].as_array().unwrap();
    let shared = sections
        .iter()
        .find(|section| section["start"] == 0x0400_0000);
    assert!(shared.is_some_and(|section| section["flags"].as_str().unwrap().contains("shared")));
}

#[test]
fn what_is_no_firmware_is_refused() {
    let manifest = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    let output = eitri(&["firmware", "show", &manifest], b"");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("mali_csffw.bin"), "{errors}");
}
