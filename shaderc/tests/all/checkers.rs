//! Checkers of finished programs name none of the passes that they check: what both took from one place would be wrong in both.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A checker: its back end, its files, and the modules of the back end that passes decide by.
struct Checker {
    back_end: &'static str,
    files: &'static [&'static str],
    analyses: &'static [&'static str],
}

const CHECKERS: &[Checker] = &[
    Checker {
        back_end: "ir3",
        files: &["check"],
        analyses: &["reconvergence", "units"],
    },
    Checker {
        back_end: "valhall",
        files: &["waits/check_waits"],
        analyses: &["waits/scoreboard", "order/graph"],
    },
];

/// The files of a path, but those of tests.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries =
        std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let is_test = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("tests")
    };
    paths.filter(|path| !is_test(path)).collect()
}

/// The modules that hold passes, from the list of passes.
fn passes(back_end: &Path) -> BTreeSet<String> {
    let list = std::fs::read_to_string(back_end.join("passes.rs")).expect("each back end has one");
    // The last part of a path is the pass, or several in braces.
    let module = |line: &str| {
        let path = line.strip_prefix("use super::")?;
        path.rsplit("::").nth(1).map(str::to_owned)
    };
    let names = list.lines().filter_map(module);
    let names: BTreeSet<String> = names.filter(|name| name != "mir").collect();
    assert!(names.len() > 3, "{} has another form", back_end.display());
    names
}

#[test]
fn checkers_name_no_pass() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for checker in CHECKERS {
        let back_end = src.join(checker.back_end);
        let mut forbidden = passes(&back_end);
        for analysis in checker.analyses {
            let file = back_end.join(format!("{analysis}.rs"));
            assert!(file.exists(), "{} is gone: drop it here", file.display());
            let name = analysis.rsplit('/').next().unwrap_or(analysis);
            forbidden.insert(name.to_owned());
        }
        for path in checker
            .files
            .iter()
            .flat_map(|file| sources(&back_end.join(file)))
        {
            let text = std::fs::read_to_string(&path).expect("it can be read");
            // Unit tests run the passes.
            let code = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or_default();
            for (number, line) in code.lines().enumerate() {
                let line = line.split("//").next().unwrap_or_default();
                let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                if let Some(word) = words.find(|word| forbidden.contains(*word)) {
                    wrong.push(format!("{}:{}: `{word}`", path.display(), number + 1));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "checkers name passes:\n{}",
        wrong.join("\n")
    );
}
