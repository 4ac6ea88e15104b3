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
