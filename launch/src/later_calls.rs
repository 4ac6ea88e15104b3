//! Cargo is heard on the first call alone: it fetches its index and compiles this launcher, and nobody else is there yet to
//! say so. `.cargo/config.toml` includes the file that is written here, if it is there.

use eitri_launch::workspace::Workspace;
use std::fs;

/// What `cargo eitri` means from now on.
const ALIAS: &str = "[alias]\neitri = \"run --quiet --package eitri-launch --\"\n";

/// Makes later calls quiet. Where the file can't be written, cargo goes on to say what it does: no harm.
pub(crate) fn quieten(workspace: &Workspace) {
    // Where `.cargo/config.toml` looks for it, whatever CARGO_TARGET_DIR says.
    let folder = workspace.root().join("target/eitri");
    let file = folder.join("later-calls.toml");
    if fs::read_to_string(&file).is_ok_and(|text| text == ALIAS) {
        return;
    }
    let _ = fs::create_dir_all(folder);
    let _ = fs::write(file, ALIAS);
}
