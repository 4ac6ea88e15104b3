//! Revision: what is checked out where images are built from, and what an image prints of itself.

use eitri_launch::workspace::Workspace;
use std::process::Command;
use std::sync::OnceLock;

/// The revision as `git describe` has it, with `-dirty` behind it if files were changed; `None` where there is no git. Git is asked once:
/// that takes it several hundredths of a second.
pub(crate) fn of(workspace: &Workspace) -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    FOUND.get_or_init(|| describe(workspace)).clone()
}

fn describe(workspace: &Workspace) -> Option<String> {
    let mut git = Command::new("git");
    git.current_dir(workspace.root())
        .args(["describe", "--always", "--dirty", "--abbrev=12"]);
    let output = git.output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// What an image is made of: `revision 0123456789ab, eitri-validation-image, with firmware+scripts`.
pub(super) fn about(workspace: &Workspace, package: &str, inside: &[&str]) -> String {
    let revision = of(workspace).unwrap_or_else(|| "unknown".to_owned());
    match inside {
        [] => format!("revision {revision}, {package}"),
        inside => format!("revision {revision}, {package}, with {}", inside.join("+")),
    }
}

/// Puts a text in place of the dots behind a mark, and cuts it to them; nothing where the linker made no such room.
pub(super) fn put_text(raw: &mut [u8], mark: &[u8], dots: usize, text: &str) {
    let room = [mark, &b".".repeat(dots)].concat();
    // Wherever the dots are, one of them is such a byte; comparing at all others takes an image's start several hundredths of a second.
    let samples = (0..raw.len()).step_by(dots.max(1));
    let mut places = samples
        .filter(|at| raw.get(*at) == Some(&b'.'))
        .flat_map(|at| at.saturating_sub(room.len())..=at);
    let is_room = |at: &usize| raw.get(*at..at + room.len()) == Some(&room);
    if let Some(at) = places.find(is_room) {
        let (text, at) = (text.as_bytes(), at + mark.len());
        let bytes = text.len().min(dots);
        raw[at..at + bytes].copy_from_slice(&text[..bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_takes_the_place_of_its_dots_and_no_more() {
        let mut raw = b"code mark ..... data".to_vec();
        put_text(&mut raw, b"mark ", 5, "ab");
        assert_eq!(raw, b"code mark ab... data");
        let mut raw = b"code mark ..... data".to_vec();
        put_text(&mut raw, b"mark ", 5, "abcdefgh");
        assert_eq!(raw, b"code mark abcde data");
        put_text(&mut raw, b"none ", 5, "abcdefgh");
        assert_eq!(raw, b"code mark abcde data");
        for before in 0..12 {
            let mut raw = [&b".".repeat(before)[..], b"mark ....."].concat();
            put_text(&mut raw, b"mark ", 5, "abcde");
            assert!(raw.ends_with(b"mark abcde"), "{before} bytes before it");
        }
    }
}
