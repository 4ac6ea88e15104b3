//! What is particular to a board stands in this crate alone.

use eitri_boards::Target;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders that are made for one machine, and so may name its module.
const MADE_FOR_QEMU: &[&str] = &[
    "qemu-tests/monitor",
    "qemu-tests/kernel-tests",
    "qemu-tests/driver-tests",
    "cli/src",
];

/// What is there to be copied: whoever does states the addresses of a machine of their own.
const TO_COPY: &[&str] = &["examples/c/", "examples/standalone/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "testdata"].contains(&&*name) && !name.starts_with('.') {
            sources(&path, found);
        } else if name.ends_with(".rs") || name.ends_with(".ld") {
            found.push(path);
        }
    }
}

/// Every source outside of this crate, without its tests: its path in the tree, and its text.
fn outside() -> Vec<(String, String)> {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    let mut texts = Vec::new();
    for path in found {
        let inside = path.strip_prefix(root()).unwrap().display().to_string();
        let elsewhere =
            !inside.starts_with("boards/") && !TO_COPY.iter().any(|it| inside.starts_with(it));
        if elsewhere && !is_test(&inside) {
            let text = std::fs::read_to_string(path).unwrap();
            texts.push((inside, without_tests(&text)));
        }
    }
    texts
}

/// Whether a file holds tests alone. The numbers of a test are arbitrary: one that is some board's address means nothing.
fn is_test(path: &str) -> bool {
    path.split('/')
        .any(|part| ["tests", "tests.rs"].contains(&part))
}

/// A source without its module of tests.
fn without_tests(text: &str) -> String {
    let Some((before, tests)) = text.split_once("#[cfg(test)]\nmod tests {\n") else {
        return text.to_owned();
    };
    let after = tests.split_once("\n}\n").map_or("", |(_, after)| after);
    [before, after].concat()
}

#[test]
fn numbers_of_unit_tests_are_not_taken_for_addresses() {
    let text = "const A: u32 = 0x123;\n#[cfg(test)]\nmod tests {\n    const B: u32 = 0x456;\n}\nconst C: u32 = 0x789;\n";
    let found: Vec<u64> = numbers(&without_tests(text)).collect();
    assert_eq!(found, [0x123, 0x789]);
    assert!(is_test("gpu/driver/runtime/src/device/tests.rs") && is_test("cli/tests/all/main.rs"));
    assert!(!is_test("qemu-tests/monitor/src/main.rs"));
}

/// Addresses of a board that mean nothing else: those of at least three digits, zeros at the end apart.
fn addresses(target: Target) -> BTreeSet<u64> {
    let mut all = vec![target.gpu().window.base];
    match target {
        Target::Board(board) => {
            let memory = board.memory;
            all.extend([
                memory.image.base,
                memory.heap.base,
                memory.shared.base,
                board.console.base().address(),
                board.gic.distributor().address(),
                board.gic.of_cpus().address(),
            ]);
            all.extend(memory.devices.iter().map(|region| region.base));
        }
        Target::Outline(outline) => all.extend(outline.devices.iter().map(|region| region.base)),
    }
    let addresses = all.into_iter().map(|address| address as u64);
    addresses
        .filter(|address| address >> (address.trailing_zeros() / 4 * 4) >= 0x100)
        .collect()
}

/// The numbers in hexadecimal of a text.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split("0x").skip(1).filter_map(|rest| {
        let digits = rest.chars().filter(|character| *character != '_');
        let digits: String = digits.take_while(char::is_ascii_hexdigit).collect();
        u64::from_str_radix(&digits, 16).ok()
    })
}

#[test]
fn addresses_of_boards_stand_here_alone() {
    let sources = outside();
    assert!(
        sources.len() > 100,
        "the tree has {} sources",
        sources.len()
    );
    let mut wrong = Vec::new();
    for board in Target::all() {
        let addresses = addresses(board);
        assert!(!addresses.is_empty(), "{} has no address", board.name());
        for (path, text) in &sources {
            for number in numbers(text).filter(|number| addresses.contains(number)) {
                let name = board.name();
                wrong.push(format!("{path} has {number:#x}, an address of {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_of_boards_are_named_by_what_is_made_for_them() {
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for (path, text) in outside() {
        for board in Target::all() {
            let module = format!("eitri_boards::{}", board.name().replace('-', "_"));
            if !text.contains(&module) {
                continue;
            }
            match MADE_FOR_QEMU
                .iter()
                .find(|folder| path.starts_with(**folder))
            {
                Some(folder) if board.name() == "qemu-virt" => {
                    used.insert(folder);
                }
                _ => wrong.push(format!("{path} names {module}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for folder in MADE_FOR_QEMU {
        assert!(
            used.contains(folder),
            "{folder} names no board any more: drop its row"
        );
    }
}
