//! Each family of vectors has tests that run it on the whole device: none is left out, and none is listed that is not run.

mod vector_files;

use std::collections::BTreeSet;
use std::path::Path;
use vector_files::{BLOCKS, FAMILIES, FIRST, SECOND, file};

/// How tests name the files.
fn constant(file: &str) -> &'static str {
    match file {
        FIRST => "FIRST",
        SECOND => "SECOND",
        BLOCKS => "BLOCKS",
        other => panic!("no constant names {other}"),
    }
}

/// The text of a test file under `tests`.
fn source(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(file)
        .with_extension("rs");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_family_is_listed() {
    let listed: BTreeSet<(&str, &str)> = FAMILIES.iter().map(|it| (it.file, it.name)).collect();
    assert_eq!(listed.len(), FAMILIES.len(), "a family is listed twice");
    for name in [FIRST, SECOND, BLOCKS] {
        let whole = file(name);
        let members = whole.as_object().expect("an object of families");
        let lists = members.iter().filter(|(_, value)| value.is_array());
        for (family, vectors) in lists {
            assert!(
                listed.contains(&(name, family.as_str())),
                "{name}: no test of the device runs {family}"
            );
            assert_ne!(
                vectors.as_array().map(Vec::len),
                Some(0),
                "{name}: {family} is empty"
            );
        }
    }
    for (name, family) in listed {
        assert!(file(name)[family].is_array(), "{name} has no {family}");
    }
}

#[test]
fn every_listed_test_runs_its_family() {
    for family in FAMILIES {
        assert!(!family.tests.is_empty(), "{} has no test", family.name);
        for (file, test) in family.tests {
            let text = source(file);
            let header = format!("#[test]\nfn {test}() {{\n");
            let start = text
                .find(&header)
                .unwrap_or_else(|| panic!("{file} has no test {test}"));
            let body = &text[start + header.len()..];
            let body = &body[..body.find("\n}\n").expect("a test ends")];
            // The test reads the family itself, or names it to the check that does.
            let name = format!("\"{}\"", family.name);
            assert!(body.contains(&name), "{file}: {test} does not name {name}");
            let reads = format!("({}, ", constant(family.file));
            assert!(
                text.contains(&reads),
                "{file} reads nothing of {}",
                family.file
            );
        }
    }
}
