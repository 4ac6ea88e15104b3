//! `eitri doctor`.

use crate::eitri;

/// Standard output, and the exit status.
fn told(output: &std::process::Output) -> (String, i32) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text, output.status.code().unwrap())
}

#[test]
fn it_says_what_there_is() {
    let (text, _) = told(&eitri::eitri(&["doctor"], b""));
    for what in [
        "eitri",
        "machine",
        "rustc",
        "qemu-system-aarch64",
        "glslangValidator",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(what)),
            "no {what} in {text}"
        );
    }
    let (text, _) = told(&eitri::eitri(&["doctor", "--json"], b""));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema"], 1);
    assert!(json["findings"].as_array().unwrap().len() >= 8, "{text}");
}

#[test]
fn what_is_missing_is_said_with_its_remedy() {
    let (text, status) = told(
        &eitri::command(&["doctor"])
            .env("PATH", "/nowhere")
            .output()
            .unwrap(),
    );
    assert_eq!(status, 3, "{text}");
    assert!(
        text.contains("MISSING: apt-get install qemu-system-arm (images need it)"),
        "{text}"
    );
    // Whoever only runs shaders needs neither QEMU nor U-Boot.
    let (text, _) = told(
        &eitri::command(&["doctor", "--for", "run", "--json"])
            .env("PATH", "/nowhere")
            .output()
            .unwrap(),
    );
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let needed = |name: &str| {
        let finding = findings.iter().find(|it| it["what"] == name).unwrap();
        assert!(finding["found"].is_null(), "{finding}");
        finding["needed"].as_bool().unwrap()
    };
    assert!(needed("glslangValidator"), "{text}");
    assert!(
        !needed("qemu-system-aarch64") && !needed("mkimage"),
        "{text}"
    );
}
