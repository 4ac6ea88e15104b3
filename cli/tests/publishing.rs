//! What others build on: crates that can be published, and licences that they can live with.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Licences that what we depend on may have, exceptions by themselves: those of `cargo deny`.
fn allowed_licences() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let value: toml::Table = text.parse().unwrap();
    let rows = value["licenses"]["allow"].as_array().unwrap();
    let names = rows
        .iter()
        .flat_map(|row| row.as_str().unwrap().split(" WITH "));
    names.map(str::to_owned).collect()
}

/// All packages of the lock file, or those of the workspace alone.
fn packages(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// All that is compiled for this machine and for bare metal, with its licence; what other systems need need not be there.
fn licences() -> BTreeSet<(String, String)> {
    let tree = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args([
                "tree",
                "--offline",
                "--prefix",
                "none",
                "--format",
                "{p}|{l}",
            ])
            .args(arguments)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        String::from_utf8(output.stdout).unwrap()
    };
    let bare_metal = [
        "--package",
        "eitri-monitor",
        "--target",
        "aarch64-unknown-none",
    ];
    let lines = tree(&["--edges", "normal,build,dev"]) + &tree(&bare_metal);
    let row = |line: &str| {
        // A crate that was printed before is marked.
        let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
        Some((package.to_owned(), licence.to_owned()))
    };
    lines.lines().filter_map(row).collect()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

fn is_published(package: &Value) -> bool {
    // `publish = false` is an empty list of registries.
    package["publish"]
        .as_array()
        .is_none_or(|registries| !registries.is_empty())
}

#[test]
fn every_published_crate_says_what_a_registry_asks() {
    let all = packages(&["--no-deps"]);
    let published: Vec<&Value> = all.iter().filter(|it| is_published(it)).collect();
    assert!(published.len() > 20, "only {} are left", published.len());
    let mut wrong = Vec::new();
    for package in &published {
        let of = name(package);
        for field in ["description", "license", "readme", "rust_version"] {
            if package[field].as_str().is_none_or(str::is_empty) {
                wrong.push(format!("{of} has no {field}"));
            }
        }
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            if !manifest.with_file_name(file).is_file() {
                wrong.push(format!("{of} has no {file}"));
            }
        }
        let words = |field: &str| package[field].as_array().unwrap().len();
        // A registry takes no more of either.
        if !(1..=5).contains(&words("keywords")) || !(1..=5).contains(&words("categories")) {
            wrong.push(format!("{of}: one to five keywords and categories"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `eitri test --filter publishable` packages what stands in its list.
#[test]
fn every_published_crate_is_packaged_by_the_check() {
    let checks = std::fs::read_to_string(root().join("cli/src/checks/mod.rs")).unwrap();
    let list = checks.split("const PUBLISHABLE").nth(1).unwrap();
    let list = list.split("];").next().unwrap();
    for package in packages(&["--no-deps"])
        .iter()
        .filter(|it| is_published(it))
    {
        let row = format!("\"-p={}\"", name(package));
        assert!(
            list.contains(&row),
            "{} is in no row of PUBLISHABLE",
            name(package)
        );
    }
}

#[test]
fn published_crates_need_published_crates_by_version() {
    let all = packages(&["--no-deps"]);
    let ours: BTreeSet<&str> = all.iter().map(name).collect();
    let published: BTreeSet<&str> = all.iter().filter(|it| is_published(it)).map(name).collect();
    let mut wrong = Vec::new();
    for package in all.iter().filter(|it| is_published(it)) {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let outside_tests = dependencies.filter(|dependency| dependency["kind"] != "dev");
        for dependency in outside_tests.filter(|it| ours.contains(name(it))) {
            let (of, on) = (name(package), name(dependency));
            if !published.contains(on) {
                wrong.push(format!("{of} needs {on}, which is not published"));
            }
            if dependency["req"] == "*" {
                wrong.push(format!("{of} needs {on} without a version"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The alternatives of a licence expression, each a list of licences that all hold.
fn alternatives(expression: &str) -> Vec<Vec<String>> {
    // No expression of ours nests deeper than this: `(MIT OR Apache-2.0) AND Unicode-3.0`.
    let parts = expression.replace("WITH", "AND").replace('/', " OR ");
    let groups: Vec<Vec<String>> = parts
        .split(" AND ")
        .map(|group| {
            let group = group.replace(['(', ')'], " ");
            group.split(" OR ").map(|it| it.trim().to_owned()).collect()
        })
        .collect();
    match expression.contains('(') || !expression.contains(" OR ") {
        // A choice in each group.
        true => groups.iter().fold(vec![Vec::new()], |chosen, group| {
            let longer = |so_far: &Vec<String>| {
                let with = |it: &String| [so_far.as_slice(), std::slice::from_ref(it)].concat();
                group.iter().map(with).collect::<Vec<_>>()
            };
            chosen.iter().flat_map(longer).collect()
        }),
        // AND binds tighter than OR.
        false => parts
            .split(" OR ")
            .map(|group| {
                group
                    .split(" AND ")
                    .map(|it| it.trim().to_owned())
                    .collect()
            })
            .collect(),
    }
}

#[test]
fn what_we_depend_on_has_licences_that_allow_it() {
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    let licences_allowed = allowed_licences();
    let all = licences();
    assert!(all.len() > 100, "only {} are left", all.len());
    for (package, expression) in all {
        if expression.is_empty() {
            wrong.push(format!("{package} states no licence"));
            continue;
        }
        let allowed = |chosen: &&Vec<String>| {
            chosen
                .iter()
                .all(|licence| licences_allowed.contains(licence))
        };
        // The shortest choice: nothing more is promised than has to be.
        let choices = alternatives(&expression);
        match choices
            .iter()
            .filter(allowed)
            .min_by_key(|choice| choice.len())
        {
            Some(choice) => needed.extend(choice.clone()),
            None => wrong.push(format!("{package}: {expression}")),
        }
    }
    for unused in licences_allowed.difference(&needed) {
        wrong.push(format!("nothing is under {unused}: drop it from deny.toml"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    let all = |text: &str| {
        let found = alternatives(text);
        found.iter().map(|it| it.join("+")).collect::<Vec<_>>()
    };
    assert_eq!(all("MIT"), ["MIT"]);
    assert_eq!(all("MIT/Apache-2.0"), ["MIT", "Apache-2.0"]);
    assert_eq!(all("MIT AND BSD-3-Clause"), ["MIT+BSD-3-Clause"]);
    assert_eq!(
        all("Apache-2.0 WITH LLVM-exception OR MIT"),
        ["Apache-2.0+LLVM-exception", "MIT"]
    );
    assert_eq!(
        all("(MIT OR Apache-2.0) AND Unicode-3.0"),
        ["MIT+Unicode-3.0", "Apache-2.0+Unicode-3.0"]
    );
}

#[test]
fn the_changelog_has_the_version_that_is_being_made() {
    let text = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let newest = text.lines().find(|line| line.starts_with("## ")).unwrap();
    assert!(newest.contains(version), "{newest} is not {version}");
}
