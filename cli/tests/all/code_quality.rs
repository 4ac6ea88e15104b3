//! The code that the compiler makes of the shared kernels: a kept file says what it costs, and a change that changes it is seen.
//!
//! `cargo eitri test --filter host --bless` writes the file anew; review the difference like code.

use std::path::Path;

use crate::eitri::eitri;

#[test]
fn the_figures_of_all_kernels_are_the_kept_ones() {
    if let Some(kernels) = eitri_testdata::shared("kernels") {
        compare(&kernels, "code-quality.txt");
    }
}

#[test]
fn the_figures_of_our_own_kernels_are_the_kept_ones() {
    compare(&eitri_testdata::kept("kernels"), "code-quality-own.txt");
}

/// Compares the figures of the kernels in a folder with those of a file below testdata/data.
fn compare(kernels: &Path, kept: &str) {
    let kept = eitri_testdata::kept(kept);
    let folder = tempfile::tempdir().unwrap();
    let now = folder.path().join("now.txt");
    let (kernels, kept_path) = (kernels.to_str().unwrap(), kept.to_str().unwrap());
    let mut arguments = vec!["bench", "code", kernels, "--save", now.to_str().unwrap()];
    if kept.exists() {
        arguments.extend(["--compare", kept_path]);
    }
    let output = eitri(&arguments, b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let now = std::fs::read_to_string(&now).unwrap();
    if std::env::var_os("EITRI_BLESS").is_some() {
        std::fs::write(&kept, now).unwrap();
        return;
    }
    let then = std::fs::read_to_string(&kept).unwrap_or_default();
    assert!(
        now == then,
        "the code of the kernels has changed; if that is meant, `cargo eitri test --filter host --bless` (or EITRI_BLESS=1 \
         cargo test -p eitri --test code_quality) writes {}\n{}",
        kept.display(),
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn bad_files_are_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "{}").unwrap();
    for option in ["--compare", "--against"] {
        let output = eitri(&["bench", "code", option, file.to_str().unwrap()], b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains("this is no") || stderr.contains("no file of"),
            "{stderr}"
        );
    }
}
