//! Revision: what is checked out where images are built from.

use eitri_launch::workspace::Workspace;
use std::process::Command;

/// The revision as `git describe` has it, with `-dirty` behind it if files were changed; `None` where there is no git.
pub(crate) fn of(workspace: &Workspace) -> Option<String> {
    let mut git = Command::new("git");
    git.current_dir(workspace.root())
        .args(["describe", "--always", "--dirty", "--abbrev=12"]);
    let output = git.output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
