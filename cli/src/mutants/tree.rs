//! A copy of the workspace with mutants in it, built.
//!
//! Guarantees: the workspace itself is not touched; a mutant that doesn't compile is left out, whatever the reason.

use super::find::{Change, Found, find};
use super::rewrite::{Place, rewrite};
use super::{Mutant, Subject};
use crate::outcome::{Failure, FileError};
use crate::progress;
use crate::workspace::Workspace;
use miette::Diagnostic;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// As the long tests are built: tests run often, and are built once.
const PROFILE: &str = "--profile=soak";
/// Rounds of compiling and leaving out. Each finds all that one phase of the compiler refuses.
const MOST_ROUNDS: usize = 40;

/// The switch, at the end of each crate that has mutants.
const SWITCH: &str = include_str!("switch.rs.txt");

/// A workspace with mutants.
pub(crate) struct Tree {
    root: PathBuf,
    target: PathBuf,
    /// Text of each file that has mutants, as it was when these were found.
    texts: BTreeMap<String, String>,
    /// By number. Those that don't compile are among them.
    found: Vec<Found>,
    /// Numbers of mutants that don't compile.
    left_out: BTreeSet<usize>,
}

#[derive(Debug, Error, Diagnostic)]
enum TreeError {
    #[error("{file} can't be read as Rust: {cause}")]
    Syntax { file: String, cause: syn::Error },
    #[error("the workspace doesn't compile with mutants, and which of them is at fault is unclear")]
    #[diagnostic(help("{0}"))]
    Unclear(String),
    #[error("`{command}` failed")]
    #[diagnostic(help("{output}"))]
    Failed { command: String, output: String },
}

impl Tree {
    /// Copies the workspace, puts all mutants of `subjects` in, and leaves out those that don't compile.
    pub(crate) fn grow(workspace: &Workspace, subjects: &[&Subject]) -> Result<Tree, Failure> {
        let folder = workspace.target_folder().join("eitri/mutants");
        let mut tree = Tree {
            root: folder.join("tree"),
            target: folder.join("target"),
            texts: BTreeMap::new(),
            found: Vec::new(),
            left_out: BTreeSet::new(),
        };
        let files = copied(workspace, &tree.root)?;
        link_facts(workspace, &folder)?;
        for subject in subjects {
            let sources = format!("{}/", subject.sources());
            for file in files
                .iter()
                .filter(|file| file.starts_with(&sources) && file.ends_with(".rs"))
            {
                let text = read(&workspace.root().join(file))?;
                let found = find(file, &text).map_err(|cause| {
                    Failure::refused(TreeError::Syntax {
                        file: file.clone(),
                        cause,
                    })
                })?;
                tree.found.extend(found);
                tree.texts.insert(file.clone(), text);
            }
        }
        let step = progress::start("building with mutants");
        let built = tree.settle(workspace, subjects);
        step.finish(built.is_ok());
        built.map(|()| tree)
    }

    /// The mutants that compile, with their numbers.
    pub(crate) fn mutants(&self) -> Vec<(usize, Mutant)> {
        let numbered = self.found.iter().enumerate();
        let kept = numbered.filter(|(number, _)| !self.left_out.contains(number));
        kept.map(|(number, found)| (number, found.mutant.clone()))
            .collect()
    }

    /// How many mutants don't compile.
    pub(crate) fn left_out(&self) -> usize {
        self.left_out.len()
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes mutants and compiles until nothing is refused any more.
    fn settle(&mut self, workspace: &Workspace, subjects: &[&Subject]) -> Result<(), Failure> {
        let mut packages: Vec<String> = subjects
            .iter()
            .map(|subject| format!("-p={}", subject.package))
            .collect();
        packages.sort();
        packages.dedup();
        let mut places = self.write(workspace, subjects)?;
        for _ in 0..MOST_ROUNDS {
            let mut command = self.cargo(
                workspace,
                &["check", PROFILE, "--keep-going", "--message-format=json"],
            );
            command.args(&packages);
            let (good, messages, talk) = messages(&mut command)?;
            if good {
                return Ok(());
            }
            let before = self.left_out.len();
            self.left_out
                .extend(messages.iter().flat_map(|message| guilty(message, &places)));
            if self.left_out.len() == before {
                let suspects: Vec<usize> = messages
                    .iter()
                    .flat_map(|message| self.suspects(message, &places))
                    .collect();
                self.left_out.extend(suspects);
            }
            if self.left_out.len() == before {
                return Err(Failure::check(TreeError::Unclear(rendered(
                    &messages, &talk,
                ))));
            }
            places = self.write(workspace, subjects)?;
        }
        Err(Failure::check(TreeError::Unclear(format!(
            "{MOST_ROUNDS} rounds were not enough"
        ))))
    }

    /// The mutants that leave out a statement of the function that an error is about: what the compiler refuses may be a borrow whose
    /// end was left out, which it does not name.
    fn suspects(&self, message: &Value, places: &Places) -> Vec<usize> {
        let error = &message["message"];
        if error["level"] != "error" {
            return Vec::new();
        }
        let mut spans = Vec::new();
        collect_spans(error, &mut spans);
        let nearest = spans.iter().find_map(|(file, span)| {
            let distance = |place: &Place| place.whole.start.abs_diff(span.start);
            let mutants = places.get(file)?.iter();
            let (number, _) = mutants.min_by_key(|(_, place)| distance(place))?;
            self.found.get(*number)
        });
        let Some(Found { mutant, .. }) = nearest else {
            return Vec::new();
        };
        let numbered = self.found.iter().enumerate();
        let of_function = numbered.filter(|(_, found)| {
            found.change == Change::Without
                && (&found.mutant.file, &found.mutant.function) == (&mutant.file, &mutant.function)
        });
        of_function.map(|(number, _)| number).collect()
    }

    /// Writes every file that has mutants; gives where they stand now.
    fn write(&self, workspace: &Workspace, subjects: &[&Subject]) -> Result<Places, Failure> {
        let mut by_file: BTreeMap<&str, Vec<(usize, &Found)>> = BTreeMap::new();
        for (number, found) in self.found.iter().enumerate() {
            let mutants = by_file.entry(found.mutant.file.as_str()).or_default();
            if !self.left_out.contains(&number) {
                mutants.push((number, found));
            }
        }
        // The switch goes to the crate's root whether that has mutants or not.
        let roots: Vec<String> = subjects
            .iter()
            .map(|subject| format!("{}/src/lib.rs", subject.folder))
            .collect();
        for root in &roots {
            by_file.entry(root).or_default();
        }
        let mut places = Places::new();
        for (file, mutants) in by_file {
            let mut new = match self.texts.get(file) {
                Some(text) => rewrite(text, &mutants),
                None => rewrite(&read(&workspace.root().join(file))?, &mutants),
            };
            if roots.iter().any(|root| root == file) {
                new.text
                    .push_str(&SWITCH.replace("NUMBER", &self.found.len().to_string()));
            }
            keep(&self.root.join(file), new.text.as_bytes())?;
            let numbers = mutants.iter().map(|(number, _)| *number);
            places.insert(file.to_owned(), numbers.zip(new.places).collect());
        }
        Ok(places)
    }

    /// Builds test programs; gives each with the folder of its package.
    pub(super) fn test_programs(
        &self,
        workspace: &Workspace,
        package: &str,
        target: &[&str],
    ) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
        let mut command = self.cargo(
            workspace,
            &["test", PROFILE, "--no-run", "--message-format=json"],
        );
        command.arg(format!("-p={package}")).args(target);
        let step = progress::start(&format!("building tests of {package}"));
        let built = messages(&mut command);
        step.finish(built.as_ref().is_ok_and(|(good, ..)| *good));
        let (good, messages, talk) = built?;
        if !good {
            let output = rendered(&messages, &talk);
            return Err(Failure::check(TreeError::Failed {
                command: format!("{command:?}"),
                output,
            }));
        }
        let program = |message: &Value| {
            let is_test = message["profile"]["test"].as_bool()?;
            let file = PathBuf::from(message["executable"].as_str()?);
            let folder = Path::new(message["manifest_path"].as_str()?)
                .parent()?
                .to_owned();
            is_test.then_some((file, folder))
        };
        Ok(messages.iter().filter_map(program).collect())
    }

    fn cargo(&self, workspace: &Workspace, arguments: &[&str]) -> Command {
        let mut command = workspace.cargo(arguments);
        command.current_dir(&self.root);
        command.env("CARGO_TARGET_DIR", &self.target);
        // Nobody reads what lints say of mutants; `forbid` would refuse some.
        command.env("RUSTFLAGS", "--cap-lints=allow");
        command
    }
}

/// For each file, the numbers of its mutants and where they stand in the new text.
type Places = BTreeMap<String, Vec<(usize, Place)>>;

/// Runs cargo; gives whether it went well, its messages, and what it said besides.
fn messages(command: &mut Command) -> Result<(bool, Vec<Value>, String), Failure> {
    let failed = |cause| {
        Failure::missing(FileError {
            action: "run",
            path: "cargo".to_owned(),
            cause,
        })
    };
    let output = command.output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((output.status.success(), messages, talk))
}

/// The compiler's errors as a person reads them, or what cargo said where there are none.
fn rendered(messages: &[Value], talk: &str) -> String {
    let errors = messages
        .iter()
        .filter(|message| message["message"]["level"] == "error");
    let text: String = errors
        .filter_map(|message| message["message"]["rendered"].as_str())
        .collect();
    if text.is_empty() {
        talk.to_owned()
    } else {
        text
    }
}

/// The mutants that an error of the compiler is about.
fn guilty(message: &Value, places: &Places) -> Vec<usize> {
    let error = &message["message"];
    if error["level"] != "error" {
        return Vec::new();
    }
    let mut spans = Vec::new();
    collect_spans(error, &mut spans);
    let in_own = |(file, span): &(String, Range<usize>)| -> Vec<usize> {
        let mutants = places.get(file).into_iter().flatten();
        let hit = |place: &Place| {
            place.own.start < span.end.max(span.start + 1) && span.start < place.own.end
        };
        mutants
            .filter(|(_, place)| hit(place))
            .map(|(number, _)| *number)
            .collect()
    };
    let own: Vec<usize> = spans.iter().flat_map(in_own).collect();
    if !own.is_empty() {
        return own;
    }
    let innermost = |(file, span): &(String, Range<usize>)| -> Option<usize> {
        let around = |place: &Place| place.whole.start <= span.start && span.end <= place.whole.end;
        let mutants = places.get(file)?.iter().filter(|(_, place)| around(place));
        mutants
            .min_by_key(|(_, place)| place.whole.len())
            .map(|(number, _)| *number)
    };
    spans.iter().find_map(innermost).into_iter().collect()
}

/// All places that an error names, those that it is about first.
fn collect_spans(error: &Value, spans: &mut Vec<(String, Range<usize>)>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut named = list(&error["spans"]);
    named.sort_by_key(|span| !span["is_primary"].as_bool().unwrap_or_default());
    for mut span in named {
        // A place in a macro's text is that of its call, too.
        while span.is_object() {
            let byte = |name: &str| {
                span[name]
                    .as_u64()
                    .and_then(|byte| usize::try_from(byte).ok())
            };
            if let (Some(file), Some(start), Some(end)) = (
                span["file_name"].as_str(),
                byte("byte_start"),
                byte("byte_end"),
            ) {
                spans.push((file.to_owned(), start..end));
            }
            span = span["expansion"]["span"].clone();
        }
    }
    for child in list(&error["children"]) {
        collect_spans(&child, spans);
    }
}

/// Copies what git knows of the workspace, and what it would; gives the files' names.
fn copied(workspace: &Workspace, to: &Path) -> Result<Vec<String>, Failure> {
    let mut git = Command::new("git");
    git.current_dir(workspace.root());
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let failed = |cause| {
        Failure::missing(FileError {
            action: "run",
            path: "git".to_owned(),
            cause,
        })
    };
    let output = git.output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut files = BTreeSet::new();
    for file in text.split('\0').filter(|file| !file.is_empty()) {
        let from = workspace.root().join(file);
        // Deleted, and not yet known to be.
        if from.is_file() {
            let bytes = std::fs::read(&from).map_err(|cause| Failure::unreadable(&from, cause))?;
            keep(&to.join(file), &bytes)?;
            files.insert(file.to_owned());
        }
    }
    remove_others(to, to, &files)?;
    Ok(files.into_iter().collect())
}

/// Removes files that an earlier state of the workspace had.
fn remove_others(root: &Path, folder: &Path, files: &BTreeSet<String>) -> Result<(), Failure> {
    let unreadable = |cause| Failure::unreadable(folder, cause);
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            remove_others(root, &path, files)?;
            continue;
        }
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .into_owned();
        if !files.contains(&name) {
            std::fs::remove_file(&path).map_err(|cause| Failure::unwritable(&path, cause))?;
        }
    }
    Ok(())
}

/// Tests look for the facts beside their clone.
fn link_facts(workspace: &Workspace, folder: &Path) -> Result<(), Failure> {
    let link = folder.join("shared");
    // Absent is as good as old.
    let _ = std::fs::remove_file(&link);
    let facts = workspace.root().join("../shared");
    match facts.canonicalize() {
        Ok(facts) => std::os::unix::fs::symlink(&facts, &link)
            .map_err(|cause| Failure::unwritable(&link, cause)),
        // Nothing to link to: those tests are skipped.
        Err(_) => Ok(()),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|cause| Failure::unreadable(path, cause))
}

/// Writes a file unless it holds these bytes: cargo builds again what is newer than its result.
fn keep(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, bytes)
    };
    write().map_err(|cause| Failure::unwritable(path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(start: usize, end: usize) -> Value {
        let span = serde_json::json!({
            "file_name": "a.rs", "byte_start": start, "byte_end": end, "is_primary": true, "expansion": null
        });
        serde_json::json!({ "message": { "level": "error", "spans": [span], "children": [] } })
    }

    #[test]
    fn an_error_is_the_innermost_mutants() {
        let place = |own: Range<usize>, whole: Range<usize>| Place { own, whole };
        let mut places = Places::new();
        let inner = (1, place(20..30, 20..60));
        places.insert("a.rs".to_owned(), vec![(0, place(0..10, 0..100)), inner]);
        assert_eq!(guilty(&error(5, 6), &places), [0]);
        assert_eq!(guilty(&error(25, 26), &places), [1]);
        assert_eq!(guilty(&error(50, 51), &places), [1]);
        assert_eq!(guilty(&error(70, 71), &places), [0]);
        assert!(guilty(&error(200, 201), &places).is_empty());
    }
}
