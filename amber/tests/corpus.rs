//! Every script of the corpus is read; those that must fail say by their name that they do.

use eitri_amber::script::Dialect;
use std::path::{Path, PathBuf};

/// A generator's template with `{placeholders}`: no script (language reference, section 1).
const TEMPLATE: &str = "ldexp/template.amber";

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "amber")
        {
            found.push(path);
        }
    }
}

#[test]
fn every_script_of_the_corpus_is_read() {
    let Some(folder) = eitri_testdata::shared("corpus/amber") else {
        return;
    };
    let mut paths = Vec::new();
    scripts(&folder, &mut paths);
    paths.sort();
    let (mut amber, mut vk) = (0, 0);
    let mut wrong = Vec::new();
    for path in &paths {
        let source = std::fs::read_to_string(path).unwrap();
        let must_fail = path.to_string_lossy().contains(".expect_fail.");
        match eitri_amber::parse(&source) {
            Ok(script) => match script.dialect {
                Dialect::AmberScript => amber += 1,
                Dialect::VkScript => vk += 1,
            },
            Err(_) if must_fail || path.ends_with(TEMPLATE) => amber += 1,
            Err(error) => wrong.push(format!("{}:{error}", path.display())),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        paths.len(),
        wrong.join("\n")
    );
    assert!(amber > 700 && vk > 40, "{amber} AmberScript, {vk} VkScript");
}
