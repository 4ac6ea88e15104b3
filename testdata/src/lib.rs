//! Where tests find the hardware facts: beside the clone, or the copies kept here.
//!
//! Needs: nothing.  Guarantees: a test that cannot find its facts is *reported* as skipped, never silently passed;
//! with `CI=true` it fails instead.  Never: used outside tests.
//!
//! ```
//! if let Some(text) = eitri_testdata::read_shared("hardware/data/isa-cases.txt") {
//!     assert!(!text.is_empty());
//! }
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of facts beside the workspace (`../shared`), whether it exists or not.
fn shared_root() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate's folder lies inside the workspace");
    workspace.join("../shared")
}

/// The path of `relative` under `../shared`, or `None` (and a report of a skipped test) where there is no such folder.
///
/// # Panics
/// With `CI=true` in the environment a missing file is an error; so is a missing file in a folder that exists.
pub fn shared(relative: &str) -> Option<PathBuf> {
    let root = shared_root();
    let path = root.join(relative);
    if path.exists() {
        return Some(path);
    }
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(
        !ci && !root.is_dir(),
        "{} is missing: the facts must lie beside the clone",
        path.display()
    );
    report_skipped(relative);
    None
}

/// The text of `relative` under `../shared`; `None` as for [`shared`].
///
/// # Panics
/// As [`shared`], and when the file exists but is not readable text.
pub fn read_shared(relative: &str) -> Option<String> {
    let path = shared(relative)?;
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// The path of a vector file that this crate keeps a copy of (`testdata/data/…`), so that users have it too.
pub fn kept(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(relative)
}

/// Whether tests that have a longer form run that one: `cargo eitri test --long` sets `EITRI_LONG=1`.
///
/// ```
/// let seeds = if eitri_testdata::long() { 10_000 } else { 100 };
/// assert!(seeds >= 100);
/// ```
pub fn long() -> bool {
    std::env::var_os("EITRI_LONG").is_some_and(|value| value == "1")
}

/// Says on standard error, and in the file that `EITRI_SKIPPED` names, that the running test was skipped.
pub fn report_skipped(what: &str) {
    let thread = std::thread::current();
    let line = format!(
        "skipped: {} (needs {what})\n",
        thread.name().unwrap_or("test")
    );
    eprint!("{line}");
    if let Some(path) = std::env::var_os("EITRI_SKIPPED") {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        if let Ok(mut file) = file {
            // One write of one line: test binaries append to this file side by side.
            let _ = file.write_all(line.as_bytes());
        }
    }
}
