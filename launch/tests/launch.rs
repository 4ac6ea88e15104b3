//! `cargo eitri` on a machine that lacks something.

use std::process::Command;

#[test]
fn what_nobody_can_install_is_said_before_anything_is_built() {
    // With no program in reach nothing could be built: what is said is said before.
    let output = Command::new(env!("CARGO_BIN_EXE_eitri-launch"))
        .arg("demo")
        .env("PATH", "")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    for part in [
        "`qemu-system-aarch64`",
        "apt-get install qemu-system-arm",
        "--on host",
    ] {
        assert!(stderr.contains(part), "no {part:?} in {stderr}");
    }
    assert!(!stderr.contains("building"), "{stderr}");
    assert!(output.stdout.is_empty(), "stdout is for results");
}

#[test]
fn cargo_is_heard_on_the_first_call_alone() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |file: &str| {
        std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let later = "target/eitri/later-calls.toml";
    let config = read(".cargo/config.toml");
    assert!(
        config.contains(&format!("\"../{later}\", optional = true")),
        "cargo does not look for {later}"
    );
    // A run that comes to nothing, but gets that far.
    Command::new(env!("CARGO_BIN_EXE_eitri-launch"))
        .arg("demo")
        .env("PATH", "")
        .output()
        .unwrap();
    let quiet = read(".cargo/first-call.toml").replace("\"run ", "\"run --quiet ");
    let [quiet, later] = [quiet, read(later)].map(|text| {
        text.lines()
            .find(|line| line.starts_with("eitri"))
            .map(str::to_owned)
    });
    assert!(quiet.is_some());
    assert_eq!(later, quiet, "later calls do the same, quietly");
}
