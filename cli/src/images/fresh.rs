//! Fresh: whether a program that cargo has built is up to date, without asking cargo, which takes a tenth of a second and more for it.
//!
//! A stamp is a text of what cargo decides by: the command, the variables that it reads, and the length and the time of the program and of
//! each file that it is made of, as cargo lists them beside it. A program is fresh if its stamp is the one that was kept when cargo had
//! built it. Guarantees: where a file was changed while cargo ran no stamp is kept, so that cargo is asked the next time.

use eitri_launch::images;
use eitri_launch::workspace::Workspace;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Beginnings of the names of variables that cargo and the compiler read.
const VARIABLES: &[&str] = &[
    "CARGO_BUILD_",
    "CARGO_ENCODED_",
    "CARGO_HOME",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "DEFMT_",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTUP_",
];

/// Files of the whole workspace that builds depend on, whatever is built.
const OF_ALL: &[&str] = &["Cargo.lock", "rust-toolchain.toml", ".cargo/config.toml"];

/// The stamp of one program.
pub(super) struct Stamp {
    /// Where it is kept.
    path: PathBuf,
    /// The command and its variables.
    key: String,
    program: PathBuf,
    root: PathBuf,
    target: PathBuf,
}

impl Stamp {
    /// The stamp of what `command` builds of a package.
    pub(super) fn new(
        workspace: &Workspace,
        package: &str,
        command: &Command,
        program: &Path,
    ) -> Stamp {
        let mut key = format!("{command:?}\n");
        for (name, value) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if VARIABLES.iter().any(|begin| name.starts_with(begin)) {
                key += &format!("{name}={value:?}\n");
            }
        }
        let target = workspace.target_folder();
        Stamp {
            path: target.join("eitri/fresh").join(package),
            key,
            program: program.to_owned(),
            root: workspace.root().to_owned(),
            target,
        }
    }

    /// Whether the program is as cargo would make it.
    pub(super) fn is_fresh(&self) -> bool {
        let kept = fs::read_to_string(&self.path);
        kept.is_ok_and(|kept| self.text(None) == Some(kept))
    }

    /// Keeps the stamp of what cargo, called at that time, has found to be up to date.
    pub(super) fn keep(&self, since: SystemTime) {
        let folder = self.path.parent().unwrap_or(&self.target);
        let written = match self.text(Some(since)) {
            Some(text) => fs::create_dir_all(folder).and_then(|()| fs::write(&self.path, text)),
            None => fs::remove_file(&self.path),
        };
        // Without a stamp cargo is asked.
        let _ = written;
    }

    /// The stamp as it is now; none where something is missing, or a source is younger than `since`.
    fn text(&self, since: Option<SystemTime>) -> Option<String> {
        let mut text = self.key.clone();
        text += &self.line(&self.program)?;
        for file in self.files()? {
            text += &self.line(&file)?;
            let is_source = !file.starts_with(&self.target);
            if let Some(since) = since.filter(|_| is_source)
                && fs::metadata(&file).ok()?.modified().ok()? >= since
            {
                return None;
            }
        }
        Some(text)
    }

    fn line(&self, file: &Path) -> Option<String> {
        let about = fs::metadata(file).ok()?;
        let (seconds, rest, bytes) = (about.mtime(), about.mtime_nsec(), about.size());
        Some(format!("{} {seconds}.{rest} {bytes}\n", file.display()))
    }

    /// The files that the program is made of: those that cargo lists, and the manifests above them.
    fn files(&self) -> Option<BTreeSet<PathBuf>> {
        let listed = fs::read_to_string(self.program.with_extension("d")).ok()?;
        let (_, listed) = listed.split_once(": ")?;
        let mut files: BTreeSet<PathBuf> = names(listed).map(PathBuf::from).collect();
        let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
        let above = folders.into_iter().flat_map(Path::ancestors);
        let inside: BTreeSet<&Path> = above
            .filter(|folder| folder.starts_with(&self.root))
            .collect();
        let manifests = inside.into_iter().map(|folder| folder.join("Cargo.toml"));
        let mut more: Vec<PathBuf> = manifests.filter(|it| it.is_file()).collect();
        more.extend(OF_ALL.iter().map(|name| self.root.join(name)));
        let of_home = images::cargo_home().map(|home| home.join("config.toml"));
        more.extend(of_home.filter(|it| it.is_file()));
        files.extend(more);
        Some(files)
    }
}

/// The names in a list of make's, in which a space inside of a name has a backslash before it.
fn names(list: &str) -> impl Iterator<Item = String> {
    let mut rest = list.trim_end();
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let mut name = String::new();
        let mut characters = rest.char_indices();
        let mut end = rest.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => name.extend(characters.next().map(|(_, next)| next)),
                ' ' | '\n' => {
                    end = at;
                    break;
                }
                other => name.push(other),
            }
        }
        rest = rest.get(end..).unwrap_or_default();
        (!name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn names_of_a_list_may_have_spaces_inside() {
        let found: Vec<String> = names(" /a/b.rs /c\\ d/e.rs\n").collect();
        assert_eq!(found, ["/a/b.rs", "/c d/e.rs"]);
    }

    #[test]
    fn a_program_is_fresh_until_something_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let put = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        for name in OF_ALL {
            put(name, "");
        }
        put("part/Cargo.toml", "");
        let source = put("part/src/main.rs", "fn main() {}");
        let program = put("target/release/it", "program");
        put(
            "target/release/it.d",
            &format!("{}: {}\n", program.display(), source.display()),
        );
        let workspace = Workspace::at(root.to_owned());
        let mut command = Command::new("cargo");
        let of = |command: &Command| Stamp::new(&workspace, "it", command, &program);
        let later = SystemTime::now() + Duration::from_secs(60);
        let stamp = of(&command);
        assert!(!stamp.is_fresh(), "nothing is kept");
        stamp.keep(later);
        assert!(stamp.is_fresh());
        assert!(!of(command.env("EITRI_BOARD", "rk3588")).is_fresh());
        for changed in ["part/src/main.rs", "part/Cargo.toml", "target/release/it"] {
            put(changed, "something else");
            assert!(!stamp.is_fresh(), "{changed}");
            stamp.keep(later);
            assert!(stamp.is_fresh());
        }
        stamp.keep(SystemTime::UNIX_EPOCH);
        assert!(!stamp.is_fresh(), "a source was changed while cargo ran");
    }
}
