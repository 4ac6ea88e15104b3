//! `eitri.h` is what the source says, and C and C++ compilers take it.

use cbindgen::{Builder, Config, DocumentationStyle, EnumConfig, Language, RenameRule};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The sources, in the order of the header.
const SOURCES: &[&str] = &[
    "status.rs",
    "platform.rs",
    "handles.rs",
    "draw_handles.rs",
    "device.rs",
    "memory.rs",
    "compute.rs",
    "record.rs",
    "transfers.rs",
    "events.rs",
    "semaphores.rs",
    "queries.rs",
    "dump.rs",
    "images.rs",
    "imports.rs",
    "image_commands.rs",
    "comparison.rs",
    "stencil.rs",
    "samplers.rs",
    "pipelines.rs",
    "passes.rs",
    "pass_state.rs",
    "indirect.rs",
    "pass_queries.rs",
    "draws.rs",
    "failed.rs",
];

const BEFORE: &str = "\
/* The driver for C. Generated from gpu/driver/c-interface by its test `header`: change the source, not this file.
 *
 * Every function answers an EitriStatus; eitri_error_text() says why. A device is used by one thread at a time. docs/c.md has the
 * steps from nothing to a triangle. */";

const AFTER: &str = "\
/* Bytes of the memory of eitri_open() for so many bytes of the GPU's memory: a bit for each page of those, besides the device. */
#define EITRI_DEVICE_BYTES(gpu_memory_bytes) \\
    (EITRI_DEVICE_FIXED_BYTES + (((size_t)(gpu_memory_bytes) / 4096 + 63) / 64) * 8)";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The header, as the sources say it.
fn generated() -> String {
    let config = Config {
        language: Language::C,
        header: Some(BEFORE.to_owned()),
        trailer: Some(AFTER.to_owned()),
        include_guard: Some("EITRI_H".to_owned()),
        cpp_compat: true,
        usize_is_size_t: true,
        style: cbindgen::Style::Both,
        documentation_style: DocumentationStyle::C99,
        // What a compiler without a library has.
        no_includes: true,
        sys_includes: ["stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        enumeration: EnumConfig {
            rename_variants: RenameRule::ScreamingSnakeCase,
            prefix_with_name: true,
            ..EnumConfig::default()
        },
        ..Config::default()
    };
    let mut builder = Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(folder().join("src").join(source));
    }
    let mut bytes = Vec::new();
    builder
        .generate()
        .expect("the sources are read")
        .write(&mut bytes);
    String::from_utf8(bytes).expect("a text")
}

#[test]
fn the_header_is_what_the_source_says() {
    let path = folder().join("eitri.h");
    let wanted = generated();
    if std::env::var_os("EITRI_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let line = wanted
        .lines()
        .zip(found.lines())
        .position(|(wanted, found)| wanted != found);
    assert!(
        wanted == found,
        "eitri.h is not what the source says from line {:?} on: EITRI_BLESS=1 cargo test --manifest-path gpu/driver/c-interface/header/Cargo.toml writes it",
        line.map(|line| line + 1)
    );
}

/// Every source that has a function for C is in the list, and every function in the header.
#[test]
fn nothing_is_left_out_of_the_header() {
    let header = generated();
    for entry in std::fs::read_dir(folder().join("src")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a source");
        for after in text.split("extern \"C\" fn eitri_").skip(1) {
            let name = after.split('(').next().unwrap_or_default();
            assert!(
                header.contains(&format!("eitri_{name}(")),
                "{} is not in the header: is {} in SOURCES?",
                name,
                path.display()
            );
        }
    }
}

/// Whether a compiler takes the header by itself, without a warning; `None` if it is not on this machine.
fn compiles(compiler: &str, arguments: &[&str], file: &Path) -> Option<Result<(), String>> {
    let output = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"])
        .args(arguments)
        .arg(file)
        .output();
    let output = output.ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(output.status.success().then_some(()).ok_or(text))
}

#[test]
fn compilers_of_c_and_of_cpp_take_the_header() {
    let header = std::env::temp_dir().join(format!("eitri-{}.h", std::process::id()));
    std::fs::write(&header, generated()).expect("written");
    // `cc` links every Rust program here: it is there.
    let c: [&[&str]; 2] = [&["-x", "c", "-std=c99"], &["-x", "c", "-std=c11"]];
    for arguments in c {
        match compiles("cc", arguments, &header) {
            Some(result) => assert_eq!(result, Ok(()), "cc {arguments:?}"),
            None => panic!("there is no cc"),
        }
    }
    match compiles("c++", &["-x", "c++", "-std=c++11"], &header) {
        Some(result) => assert_eq!(result, Ok(()), "c++"),
        None => eprintln!("skipped: there is no c++"),
    }
    let _ = std::fs::remove_file(&header);
}
