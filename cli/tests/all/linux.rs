//! `eitri linux`: what it refuses before anything is fetched or built. What it boots is a check (`eitri test --long --filter linux`).

use crate::eitri::eitri;

fn refused(arguments: &[&str], part: &str) {
    let output = eitri(arguments, b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(errors.contains(part), "no {part:?} in {errors}");
}

#[test]
fn what_watches_the_model_needs_it_in_this_process() {
    for option in ["--dump", "--trace", "--record"] {
        let arguments = ["linux", "--model", "guest", option, "/nowhere/file"];
        refused(
            &arguments,
            &format!("`{option}` needs the model in this process"),
        );
    }
}

#[test]
fn a_disk_that_is_not_there_is_refused() {
    refused(
        &["linux", "--disk", "/nowhere/disk"],
        "can't read /nowhere/disk",
    );
}
