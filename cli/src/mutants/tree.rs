//! A copy of the workspace with mutants in it, built.
//!
//! Only the mutants of a sample are put in: with all of them the compiler takes many times as long, and so does every test.
//! Guarantees: the workspace itself is not touched; a mutant that doesn't compile is left out, whatever the reason.

use super::copy::{keep, known_files, link_facts, read, remove_others};
use super::find::{Change, Found, find, test_modules};
use super::rewrite::{Place, rewrite};
use super::{Mutant, Subject};
use crate::outcome::{Failure, FileError};
use crate::progress;
use crate::workspace::Workspace;
use miette::Diagnostic;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// Rounds of compiling and leaving out. Each finds all that one phase of the compiler refuses.
const MOST_ROUNDS: usize = 40;

/// The switch, at the end of each crate that has mutants.
const SWITCH: &str = include_str!("switch.rs.txt");

/// A workspace with mutants.
pub(crate) struct Tree {
    root: PathBuf,
    target: PathBuf,
    /// Held while the copy is in use: another `mutants` would write other slips, and other programs, below this one.
    _lock: Option<File>,
    /// Text of each file that has mutants, as it was when these were found.
    texts: BTreeMap<String, String>,
    /// By number: all that the sources may have.
    found: Vec<Found>,
    /// Numbers of mutants that were put in. Those that don't compile are among them.
    planted: BTreeSet<usize>,
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
    #[error("another `eitri mutants` uses {}", folder.display())]
    #[diagnostic(help("wait for its end"))]
    InUse { folder: PathBuf },
    #[error("`{command}` failed")]
    #[diagnostic(help("{output}"))]
    Failed { command: String, output: String },
}

/// Where the copy and what is built of it lie.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target_folder().join("eitri/mutants")
}

/// Takes a copy's folder for this process.
fn locked(folder: PathBuf) -> Result<File, Failure> {
    let path = folder.join("lock");
    let file = std::fs::create_dir_all(&folder).and_then(|()| File::create(&path));
    let file = file.map_err(|cause| Failure::unwritable(&path, cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::refused(TreeError::InUse { folder })),
        Err(TryLockError::Error(cause)) => {
            Err(Failure::missing(FileError::at("lock", path, cause)))
        }
    }
}

impl Tree {
    /// Finds all mutants of `subjects`, and builds nothing.
    pub(crate) fn of(workspace: &Workspace, subjects: &[&Subject]) -> Result<Tree, Failure> {
        let folder = folder(workspace);
        let mut tree = Tree {
            root: folder.join("tree"),
            target: folder.join("target"),
            _lock: None,
            texts: BTreeMap::new(),
            found: Vec::new(),
            planted: BTreeSet::new(),
            left_out: BTreeSet::new(),
        };
        let files = known_files(workspace)?;
        for subject in subjects {
            tree.find_in(workspace, &files, subject)?;
        }
        Ok(tree)
    }

    /// Finds the mutants of a subject.
    fn find_in(
        &mut self,
        workspace: &Workspace,
        files: &BTreeSet<String>,
        subject: &Subject,
    ) -> Result<(), Failure> {
        let mut texts = BTreeMap::new();
        let mut for_tests = Vec::new();
        for file in files {
            if !subject.has(file) || !file.ends_with(".rs") {
                continue;
            }
            let text = read(&workspace.root().join(file))?;
            for_tests.extend(test_modules(file, &text).map_err(|cause| unreadable(file, cause))?);
            texts.insert(file, text);
        }
        let is_for_tests = |file: &str| {
            let inside = |module: &String| {
                let rest = file.strip_prefix(module.as_str());
                rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            for_tests.iter().any(inside)
        };
        for (file, text) in texts {
            // A part of another subject has its mutants already.
            if is_for_tests(file) || self.texts.contains_key(file) {
                continue;
            }
            let found = find(file, &text).map_err(|cause| unreadable(file, cause))?;
            self.found.extend(found);
            self.texts.insert(file.clone(), text);
        }
        Ok(())
    }

    /// All mutants, by number. Some may not compile.
    pub(crate) fn mutants(&self) -> Vec<Mutant> {
        self.found
            .iter()
            .map(|found| found.mutant.clone())
            .collect()
    }

    /// How many mutants were put in, and how many of them don't compile.
    pub(crate) fn planted(&self) -> (usize, usize) {
        (self.planted.len(), self.left_out.len())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Copies the workspace, and puts in the first `count` mutants of each list that compile; gives these.
    pub(crate) fn plant(
        &mut self,
        workspace: &Workspace,
        subjects: &[&Subject],
        lists: &[Vec<usize>],
        count: usize,
    ) -> Result<Vec<Vec<usize>>, Failure> {
        self._lock = Some(locked(folder(workspace))?);
        self.copy(workspace, subjects)?;
        let step = progress::start("building with mutants");
        let built = self.settle(workspace, subjects, lists, count);
        step.finish(built.is_ok());
        built
    }

    /// Copies all files but those that get mutants: those are written with them.
    fn copy(&self, workspace: &Workspace, subjects: &[&Subject]) -> Result<(), Failure> {
        let files = known_files(workspace)?;
        let roots = roots(subjects);
        for file in &files {
            if !self.texts.contains_key(file) && !roots.contains(file) {
                let from = workspace.root().join(file);
                let bytes =
                    std::fs::read(&from).map_err(|cause| Failure::unreadable(&from, cause))?;
                keep(&self.root.join(file), &bytes)?;
            }
        }
        remove_others(&self.root, &self.root, &files)?;
        link_facts(workspace, &self.root)
    }

    /// The first `count` of a list that compile, as far as is known.
    fn first(&self, list: &[usize], count: usize) -> Vec<usize> {
        let kept = list.iter().filter(|number| !self.left_out.contains(number));
        kept.take(count).copied().collect()
    }

    /// Puts mutants in and compiles until nothing is refused any more.
    fn settle(
        &mut self,
        workspace: &Workspace,
        subjects: &[&Subject],
        lists: &[Vec<usize>],
        count: usize,
    ) -> Result<Vec<Vec<usize>>, Failure> {
        let mut packages: Vec<String> = subjects
            .iter()
            .map(|subject| format!("-p={}", subject.package))
            .collect();
        packages.sort();
        packages.dedup();
        // Some more than are needed, so that those that don't compile cost no round of their own.
        let with_spare = count.saturating_add(count / 4);
        for list in lists {
            self.planted.extend(list.iter().take(with_spare));
        }
        let mut places = self.write(workspace, subjects)?;
        for _ in 0..MOST_ROUNDS {
            let mut command = self.cargo(
                workspace,
                &["check", "--keep-going", "--message-format=json"],
            );
            command.args(&packages);
            let (good, messages, talk) = messages(&mut command)?;
            let chosen: Vec<Vec<usize>> =
                lists.iter().map(|list| self.first(list, count)).collect();
            if good
                && chosen
                    .iter()
                    .flatten()
                    .all(|number| self.planted.contains(number))
            {
                return Ok(chosen);
            }
            if !good {
                self.leave_out(&messages, &talk, &places)?;
            }
            let needed: Vec<usize> = lists
                .iter()
                .flat_map(|list| self.first(list, count))
                .collect();
            self.planted.extend(needed);
            places = self.write(workspace, subjects)?;
        }
        Err(Failure::check(TreeError::Unclear(format!(
            "{MOST_ROUNDS} rounds were not enough"
        ))))
    }

    /// Leaves out the mutants that errors of the compiler are about.
    fn leave_out(
        &mut self,
        messages: &[Value],
        talk: &str,
        places: &Places,
    ) -> Result<(), Failure> {
        let before = self.left_out.len();
        self.left_out
            .extend(messages.iter().flat_map(|message| guilty(message, places)));
        if self.left_out.len() == before {
            let suspects: Vec<usize> = messages
                .iter()
                .flat_map(|message| self.suspects(message, places))
                .collect();
            self.left_out.extend(suspects);
        }
        if self.left_out.len() == before {
            return Err(Failure::check(TreeError::Unclear(rendered(messages, talk))));
        }
        Ok(())
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
        let of_function = numbered.filter(|(number, found)| {
            self.planted.contains(number)
                && found.change == Change::Without
                && (&found.mutant.file, &found.mutant.function) == (&mutant.file, &mutant.function)
        });
        of_function.map(|(number, _)| number).collect()
    }

    /// Writes every file that has mutants; gives where they stand now.
    fn write(&self, workspace: &Workspace, subjects: &[&Subject]) -> Result<Places, Failure> {
        let mut by_file: BTreeMap<&str, Vec<(usize, &Found)>> = BTreeMap::new();
        let roots = roots(subjects);
        // The switch goes to the crate's root whether that has mutants or not.
        for file in self.texts.keys().chain(&roots) {
            by_file.entry(file).or_default();
        }
        for number in self.planted.difference(&self.left_out) {
            if let Some(found) = self.found.get(*number) {
                let mutants = by_file.entry(found.mutant.file.as_str()).or_default();
                mutants.push((*number, found));
            }
        }
        let mut places = Places::new();
        for (file, mutants) in by_file {
            let mut new = match self.texts.get(file) {
                Some(text) => rewrite(text, &mutants),
                None => rewrite(&read(&workspace.root().join(file))?, &mutants),
            };
            if roots.contains(file) {
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
        let mut command = self.cargo(workspace, &["test", "--no-run", "--message-format=json"]);
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
        // By default rustc refuses arithmetic that always overflows. It finds that only when it makes machine code: too late to leave
        // such a mutant out, so it is built, and tests catch it.
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        let allowed = "-A arithmetic_overflow -A unconditional_panic";
        command.env("RUSTFLAGS", format!("{flags} {allowed}"));
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

fn unreadable(file: &str, cause: syn::Error) -> Failure {
    Failure::refused(TreeError::Syntax {
        file: file.to_owned(),
        cause,
    })
}

/// The file of each crate that gets the switch.
fn roots(subjects: &[&Subject]) -> BTreeSet<String> {
    subjects
        .iter()
        .map(|subject| format!("{}/src/lib.rs", subject.folder))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Status;

    fn error(start: usize, end: usize) -> Value {
        let span = serde_json::json!({
            "file_name": "a.rs", "byte_start": start, "byte_end": end, "is_primary": true, "expansion": null
        });
        serde_json::json!({ "message": { "level": "error", "spans": [span], "children": [] } })
    }

    #[test]
    fn a_copy_is_used_by_one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let copy = || locked(folder.path().join("copy"));
        let first = copy().unwrap();
        let second = copy().unwrap_err();
        assert_eq!(second.status(), Status::Refused);
        assert!(second.shown().contains("another `eitri mutants`"));
        drop(first);
        assert!(copy().is_ok(), "it is free again");
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
