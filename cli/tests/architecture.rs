//! The invariants of docs/architecture.md that a test can hold.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each of our crates may depend on, of our crates. A row that is no longer needed in full fails too.
#[rustfmt::skip]
const ARROWS: &[(&str, &[&str])] = &[
    ("eitri-arch",        &[]),
    ("eitri-isa",         &["eitri-arch"]),
    ("eitri-ir3-isa",     &[]),
    ("eitri-ir3-interp",  &["eitri-ir3-isa", "eitri-ir3-program", "eitri-texels"]),
    ("eitri-cs",          &["eitri-arch"]),
    ("eitri-descriptors", &["eitri-arch"]),
    ("eitri-csf",         &["eitri-arch"]),
    ("eitri-program",     &["eitri-arch", "eitri-program-file"]),
    ("eitri-ir3-program", &["eitri-program-file"]),
    ("eitri-program-file", &[]),
    ("eitri-texels",      &[]),
    ("eitri-checks",      &["eitri-shaderc"]),
    ("eitri-code-checks", &["eitri-checks", "eitri-isa", "eitri-model"]),
    ("eitri-waits",       &["eitri-isa"]),
    ("eitri-debugger",    &["eitri-csf", "eitri-model", "eitri-shaderc", "eitri-texels"]),
    ("eitri-amber",       &[]),
    ("eitri-amber-device", &["eitri-amber", "eitri-descriptors", "eitri-drawing", "eitri-job", "eitri-player", "eitri-program", "eitri-runtime"]),
    ("eitri-testdata",    &[]),
    ("eitri-compute-cases", &[]),
    ("eitri-drawing",     &[]),
    ("eitri-draw-scenes", &["eitri-compute-cases", "eitri-drawing", "eitri-texels"]),
    ("eitri-gltf-scenes", &["eitri-draw-scenes"]),
    ("eitri-random-scenes", &[]),
    ("eitri-random-kernels", &[]),
    ("eitri-player",      &["eitri-descriptors", "eitri-drawing", "eitri-job", "eitri-program", "eitri-runtime"]),
    ("eitri-launch",      &[]),
    ("eitri-runtime",     &["eitri-cs", "eitri-csf", "eitri-descriptors", "eitri-dump", "eitri-program"]),
    ("eitri-model",       &["eitri-cs", "eitri-csf", "eitri-descriptors", "eitri-isa"]),
    ("eitri-dump",        &["eitri-cs", "eitri-csf", "eitri-descriptors", "eitri-isa", "eitri-program-file"]),
    ("eitri-mmio",        &["eitri-runtime"]),
    ("eitri-c-interface", &["eitri-dump", "eitri-mmio", "eitri-program", "eitri-runtime"]),
    ("eitri-c-library",   &["eitri-c-interface"]),
    ("eitri-cache-line",  &[]),
    ("eitri-host-code",   &["eitri-model"]),
    ("eitri-on-model",    &["eitri-cache-line", "eitri-dump", "eitri-model", "eitri-runtime"]),
    ("eitri-draw-programs", &["eitri-isa", "eitri-program"]),
    ("eitri-driver-tests", &["eitri-cs", "eitri-csf", "eitri-descriptors", "eitri-draw-programs", "eitri-dump", "eitri-frames", "eitri-isa", "eitri-model", "eitri-program", "eitri-runtime"]),
    ("eitri-validation",  &["eitri-cs", "eitri-csf", "eitri-descriptors", "eitri-draw-programs", "eitri-isa", "eitri-program", "eitri-runtime"]),
    ("eitri-shaderc",     &["eitri-descriptors", "eitri-ir3-isa", "eitri-ir3-program", "eitri-isa", "eitri-program", "eitri-program-file", "eitri-texels"]),
    ("eitri-job",         &["eitri-descriptors", "eitri-dump", "eitri-program", "eitri-runtime"]),
    ("eitri-boards",       &[]),
    ("eitri-aarch64",      &[]),
    ("eitri-picture",      &[]),
    ("eitri-kernel",       &["eitri-aarch64", "eitri-boards", "eitri-picture"]),
    ("eitri-linker",       &["eitri-boards"]),
    ("eitri-on-board",     &["eitri-boards", "eitri-csf", "eitri-frames", "eitri-job", "eitri-kernel", "eitri-mmio", "eitri-picture", "eitri-runtime"]),
    ("eitri-image",        &["eitri-boards", "eitri-kernel", "eitri-linker", "eitri-on-board"]),
    ("eitri-amber-image",  &["eitri-amber-device", "eitri-boards", "eitri-kernel", "eitri-linker", "eitri-on-board"]),
    ("eitri-draw-image",   &["eitri-amber-device", "eitri-boards", "eitri-drawing", "eitri-job", "eitri-kernel", "eitri-linker", "eitri-on-board", "eitri-player"]),
    ("eitri-validation-image", &["eitri-amber-device", "eitri-boards", "eitri-kernel", "eitri-linker", "eitri-on-board", "eitri-runtime", "eitri-validation"]),
    ("eitri-uefi",         &["eitri-aarch64", "eitri-boards", "eitri-linker"]),
    ("eitri-kernel-tests", &["eitri-aarch64", "eitri-boards", "eitri-csf", "eitri-kernel", "eitri-linker", "eitri-on-board", "eitri-picture", "eitri-runtime"]),
    ("eitri-wrong-power",  &["eitri-boards", "eitri-kernel", "eitri-linker"]),
    ("eitri-frames",       &["eitri-runtime"]),
    ("eitri-embassy",      &["eitri-mmio", "eitri-runtime"]),
    ("eitri-embassy-example", &["eitri-boards", "eitri-embassy", "eitri-kernel", "eitri-linker", "eitri-mmio", "eitri-program", "eitri-runtime"]),
    ("eitri-embed",        &["eitri-boards", "eitri-kernel", "eitri-linker", "eitri-mmio", "eitri-program", "eitri-runtime"]),
    ("eitri-cube",         &["eitri-boards", "eitri-kernel", "eitri-linker", "eitri-on-board", "eitri-program", "eitri-runtime"]),
    ("eitri-bench",        &["eitri-boards", "eitri-descriptors", "eitri-kernel", "eitri-linker", "eitri-mmio", "eitri-on-board", "eitri-program", "eitri-runtime"]),
    ("eitri-driver-tests-image", &["eitri-boards", "eitri-driver-tests", "eitri-kernel", "eitri-linker", "eitri-model", "eitri-on-board", "eitri-runtime"]),
    ("eitri-mailbox",      &[]),
    ("eitri-host-gpu",     &["eitri-csf", "eitri-mailbox", "eitri-model"]),
    ("eitri-monitor",      &["eitri-aarch64", "eitri-boards", "eitri-cache-line", "eitri-csf", "eitri-dump", "eitri-kernel", "eitri-linker", "eitri-mailbox", "eitri-model"]),
    ("eitri-vulkan-runner", &["eitri-compute-cases", "eitri-draw-scenes"]),
    ("eitri-no-panic",     &["eitri-dump", "eitri-program", "eitri-runtime"]),
    ("eitri",             &["eitri-aarch64", "eitri-amber", "eitri-amber-device", "eitri-boards", "eitri-checks", "eitri-code-checks", "eitri-compute-cases", "eitri-cs", "eitri-csf", "eitri-debugger", "eitri-descriptors", "eitri-draw-scenes", "eitri-drawing", "eitri-dump", "eitri-gltf-scenes", "eitri-host-code", "eitri-host-gpu", "eitri-ir3-interp", "eitri-ir3-isa", "eitri-ir3-program", "eitri-isa", "eitri-job", "eitri-launch", "eitri-model", "eitri-on-model", "eitri-picture", "eitri-player", "eitri-program", "eitri-program-file", "eitri-random-kernels", "eitri-random-scenes", "eitri-runtime", "eitri-shaderc", "eitri-validation", "eitri-waits"]),
];

/// Folders whose code may hold `unsafe`: the kernel, the boards, what runs on them, and the platform that is made of addresses,
/// with the example of who states them.
const MAY_BE_UNSAFE: &[&str] = &[
    "kernel",
    "boards",
    "qemu-tests",
    "gpu/driver/mmio",
    "gpu/simulator/host-code",
    "gpu/driver/c-interface",
    "gpu/driver/c-library",
    "examples",
];

/// Crates that deny `unsafe` but for these files: each declares or makes the promise of `Platform`, and holds nothing else
/// that is unsafe.
const PROMISES: &[(&str, &[&str])] = &[
    ("gpu/driver/runtime/src", &["platform.rs", "testing/mod.rs"]),
    (
        "gpu/simulator/on-model/src",
        &["machine.rs", "non_coherent.rs"],
    ),
    (
        "gpu/driver/driver-tests/src",
        &["machine.rs", "recording/mod.rs"],
    ),
];

/// The lower layers of the runtime, and what none of them may name: the layers above.
const LOWER_LAYERS: &[&str] = &["gpu", "mmu", "vm", "firmware"];
const UPPER_LAYERS: &[&str] = &["group", "queue", "command", "device"];

/// What of the compiler serves every machine: nothing there may be made for one.
const EVERY_MACHINE: &[&str] = &["spirv", "ir", "lower", "opt", "interp", "machine"];

/// Words of one family of machines: its names, and those of its parts, instructions and tables.
#[rustfmt::skip]
const WORDS_OF_MALI: &[&str] = &[
    "mali", "valhall", "bifrost", "csf", "panfrost", "panthor", "panvk", "g610", "g310", "eitri_isa",
    "fau", "srt", "clause", "clauses", "scoreboard", "message", "messages", "handle", "handles",
    "pka", "lea", "ld_buffer", "ld_cvt", "st_cvt", "ld_tex", "lea_tex", "tex_fetch", "tex_single", "tex_gather", "atest", "blend_descriptor",
    "compiler-abi", "valhall-isa",
];

/// Words of the other.
#[rustfmt::skip]
const WORDS_OF_ADRENO: &[&str] = &[
    "adreno", "ir3", "a5xx", "a6xx", "a7xx", "a650", "a660", "turnip", "freedreno", "eitri_ir3_isa", "eitri_ir3_program",
    "fiber", "fibers", "constlen", "const_file", "half_wave", "bindless", "ibo", "preamble", "rpt", "stib", "ldib", "ldc", "stc",
    "madsh", "mull", "cmps", "absneg", "cov", "getone", "movmsk", "brcst", "ir3-isa", "compiler-ir3",
];

/// Folders of crates that build for bare metal only, where an example could not run.
const BARE_METAL: &[&str] = &[
    "kernel/src",
    "kernel/image",
    "kernel/amber-image",
    "kernel/draw-image",
    "kernel/on-board",
    "kernel/validation",
    "kernel/uefi",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Our crates, and what each needs of our crates outside its tests.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |package: &Value| package["name"].as_str().unwrap().to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let needs = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let outside_tests = dependencies.filter(|dependency| dependency["kind"] != "dev");
        outside_tests
            .map(name)
            .filter(|name| ours.contains(name))
            .collect()
    };
    packages
        .iter()
        .map(|package| (name(package), needs(package)))
        .collect()
}

/// Crates that a release of a dependency brought in for what we don't use, and that a cold build waits for: the workspace's
/// table says how they are kept out.
#[test]
fn what_was_kept_out_of_cold_builds_stays_out() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for prefix in ["icu_", "zerovec"] {
        let line = format!("name = \"{prefix}");
        assert!(
            !lock.contains(&line),
            "Cargo.lock has {prefix}…: see Cargo.toml"
        );
    }
}

/// Every crate that these edges reach, with its features.
fn crates_and_features(arguments: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["tree", "--offline", "--prefix", "none"])
        .args(["--format", "{p} has [{f}]"])
        .args(arguments)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    // A crate that was printed before is marked.
    let line = |line: &str| line.trim_end_matches(" (*)").to_owned();
    text.lines().map(line).collect()
}

/// A crate that the tests want with other features than the command is compiled once more, and all that stand on it: with
/// the tables and the driver that was a minute of a cold run.
#[test]
fn the_tests_need_every_crate_as_the_command_has_it() {
    let command = crates_and_features(&["--package", "eitri", "--edges", "normal"]);
    let tests = crates_and_features(&["--edges", "normal,dev"]);
    assert!(command.len() > 50, "the command has lost its dependencies");
    let twice: Vec<&str> = command.difference(&tests).map(String::as_str).collect();
    assert!(
        twice.is_empty(),
        "the tests compile these with other features: let cli/Cargo.toml ask for the same\n{}",
        twice.join("\n")
    );
}

#[test]
fn crates_depend_downwards_only() {
    let mut wrong = Vec::new();
    let found = arrows();
    for (name, needs) in &found {
        let Some((_, allowed)) = ARROWS.iter().find(|(of, _)| of == name) else {
            wrong.push(format!(
                "{name} has no row in ARROWS: say what it may depend on"
            ));
            continue;
        };
        for need in needs
            .iter()
            .filter(|need| !allowed.contains(&need.as_str()))
        {
            wrong.push(format!(
                "{name} -> {need} is not an arrow of docs/architecture.md"
            ));
        }
        for unused in allowed.iter().filter(|allowed| !needs.contains(**allowed)) {
            wrong.push(format!(
                "{name} -> {unused} is allowed but not there: drop it from ARROWS"
            ));
        }
    }
    for (name, _) in ARROWS.iter().filter(|(name, _)| !found.contains_key(*name)) {
        wrong.push(format!("{name} has a row in ARROWS but is no crate"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn crate_roots() -> Vec<PathBuf> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let targets = packages
        .iter()
        .flat_map(|package| package["targets"].as_array().unwrap());
    let shipped = targets.filter(|target| {
        let kinds = target["kind"].as_array().unwrap();
        kinds.iter().any(|kind| kind == "lib" || kind == "bin")
    });
    shipped
        .map(|target| PathBuf::from(target["src_path"].as_str().unwrap()))
        .collect()
}

#[test]
fn unsafe_stands_only_where_it_may() {
    let root = root();
    for path in crate_roots() {
        let inside = path.strip_prefix(&root).unwrap();
        if MAY_BE_UNSAFE
            .iter()
            .any(|folder| inside.starts_with(folder))
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let promises = PROMISES.iter().any(|(src, _)| inside.starts_with(src));
        let wanted = if promises { "deny" } else { "forbid" };
        assert!(
            text.contains(&format!("#![{wanted}(unsafe_code)]")),
            "{} does not {wanted} unsafe code",
            inside.display()
        );
    }
}

#[test]
fn nothing_in_the_lower_layers_of_the_runtime_calls_upward() {
    let src = root().join("gpu/driver/runtime/src");
    let mut wrong = Vec::new();
    for (number, layer) in LOWER_LAYERS.iter().enumerate() {
        let mut found = Vec::new();
        sources(&src.join(layer), &mut found);
        let above = LOWER_LAYERS[number + 1..].iter().chain(UPPER_LAYERS);
        // Unit tests play the layers above.
        for path in found.iter().filter(|path| !path.ends_with("tests.rs")) {
            let text = std::fs::read_to_string(path).unwrap();
            for name in above
                .clone()
                .filter(|above| text.contains(&format!("crate::{above}")))
            {
                wrong.push(format!("{} names crate::{name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_serves_every_machine_has_no_word_of_one() {
    let src = root().join("shaderc/src");
    let mut wrong = Vec::new();
    for folder in EVERY_MACHINE {
        let mut found = Vec::new();
        sources(&src.join(folder), &mut found);
        assert!(found.len() > 3, "{folder} has moved");
        for path in found {
            let text = std::fs::read_to_string(&path).unwrap();
            for (number, line) in text.lines().enumerate() {
                let line = line.to_lowercase();
                let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                let whole = |word: &str| {
                    line.match_indices(word).any(|(start, _)| {
                        let before = line.as_bytes()[..start].last().copied();
                        let after = line.as_bytes().get(start + word.len()).copied();
                        !before.is_some_and(inside) && !after.is_some_and(inside)
                    })
                };
                let words = WORDS_OF_MALI.iter().chain(WORDS_OF_ADRENO);
                for word in words.filter(|word| whole(word)) {
                    let (path, line) = (path.display(), number + 1);
                    wrong.push(format!("{path}:{line}: `{word}` belongs to a back end"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_exception_to_denied_unsafe_code_is_a_platforms_promise() {
    for (src, excepted) in PROMISES {
        let src = root().join(src);
        let mut found = Vec::new();
        sources(&src, &mut found);
        for path in found {
            let inside = path.strip_prefix(&src).unwrap();
            let listed = excepted.iter().any(|file| inside == Path::new(file));
            let text = std::fs::read_to_string(&path).unwrap();
            let exceptions = text.matches("    unsafe_code,").count();
            let promises =
                text.matches("unsafe trait Platform").count() + text.matches("unsafe impl").count();
            assert_eq!(
                (exceptions, promises),
                if listed { (1, 1) } else { (0, 0) },
                "{}: exceptions to `unsafe_code`, and declarations or implementations of `Platform`",
                path.display()
            );
        }
    }
}

#[test]
fn every_shipped_crate_has_a_doc_example() {
    for path in crate_roots() {
        let inside = path.strip_prefix(root()).unwrap();
        let runs_here = !BARE_METAL.iter().any(|folder| inside.starts_with(folder));
        if path.ends_with("lib.rs") && runs_here {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                text.contains("//! ```"),
                "{} has no example that runs",
                path.display()
            );
        }
    }
}

/// Lines that each file of the tree may have before it needs a reason.
const MOST_LINES: usize = 800;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

#[test]
fn files_stay_small_and_their_names_say_something() {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    let mut wrong = Vec::new();
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        if lines > MOST_LINES {
            wrong.push(format!(
                "{} has {lines} lines: split it by subject",
                path.display()
            ));
        }
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if ["util", "utils", "common", "misc", "helper", "helpers"].contains(&stem.as_str()) {
            wrong.push(format!("{}: a name that says nothing", path.display()));
        }
        if text
            .lines()
            .next()
            .is_none_or(|line| !line.starts_with("//!") && !line.starts_with("#!"))
        {
            wrong.push(format!(
                "{} does not open with a line that says what it is",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The folders that a path in a page can start with.
const TOP: &[&str] = &[
    "boards",
    "cli",
    "docs",
    "examples",
    "gpu",
    "kernel",
    "launch",
    "linker",
    "qemu-tests",
    "shaderc",
    "testdata",
];

#[test]
fn pages_name_paths_that_exist() {
    let root = root();
    let pages = [
        "README.md",
        "docs/adding.md",
        "docs/architecture.md",
        "docs/boards/imx95.md",
        "docs/boards/rk3588.md",
        "docs/cli.md",
        "docs/porting.md",
        "docs/core-dumps.md",
        "docs/reviews.md",
        "docs/reviews-appendix.md",
        "qemu-tests/README.md",
    ];
    let mut wrong = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        // What stands between backticks, every other piece, is code.
        for code in text.split('`').skip(1).step_by(2) {
            // `…` and capitals stand for what the reader puts there.
            let path = code.split(['…', ' ']).next().unwrap();
            let made_up = path.split('/').any(|part| part.starts_with("NAME"));
            let ours = path.contains('/') && TOP.contains(&path.split('/').next().unwrap());
            if ours && !made_up && !root.join(path).exists() {
                wrong.push(format!("{page} names {path}, which does not exist"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn answers_to_reviews_name_tests_that_exist() {
    let root = root();
    let pages = ["docs/reviews.md", "docs/reviews-appendix.md"];
    let read = |page: &str| std::fs::read_to_string(root.join(page)).unwrap();
    let page = pages.map(read).join("\n");
    let is_test = |name: &str| {
        name.matches('_').count() >= 2
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let mut wrong = Vec::new();
    let mut tests = 0;
    for row in page.lines() {
        let mut file = String::new();
        for code in row.split('`').skip(1).step_by(2) {
            if code.ends_with(".rs") {
                file = std::fs::read_to_string(root.join(code)).unwrap_or_default();
            } else if is_test(code) {
                tests += 1;
                if !file.contains(&format!("fn {code}(")) {
                    wrong.push(format!("no test {code} in the file before it"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tests > 30, "only {tests} tests are named");
}

/// The one file that may write to standard output and standard error by itself.
const WRITES: &str = "cli/src/output/streams.rs";

#[test]
fn what_is_printed_minds_a_reader_that_has_gone_away() {
    let root = root();
    let mut found = Vec::new();
    sources(&root.join("cli/src"), &mut found);
    sources(&root.join("launch/src"), &mut found);
    let mut wrong = Vec::new();
    for path in found {
        if path == root.join(WRITES) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            // `println!` and its like panic when nobody reads.
            if code.contains("print!(") || code.contains("println!(") {
                let (path, line) = (path.display(), number + 1);
                wrong.push(format!("{path}:{line}: use what {WRITES} has"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_dependency_of_the_workspace_is_used() {
    let table = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let table = table.split("[workspace.dependencies]").nth(1).unwrap();
    let table = table.split("\n[").next().unwrap();
    let rows = table.lines().filter_map(|line| line.split_once(" = "));
    // Crates of ours are members, used or not.
    let foreign = rows.filter(|(name, what)| !name.starts_with('#') && !what.contains("path ="));
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let members: Vec<String> = packages
        .map(|package| std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap())
        .collect();
    for (name, _) in foreign {
        let forms = [
            format!("\n{name}.workspace = true"),
            format!("\n{name} = {{ workspace = true"),
        ];
        let used = members
            .iter()
            .any(|manifest| forms.iter().any(|form| manifest.contains(form)));
        assert!(used, "no crate uses {name}: drop its row in Cargo.toml");
    }
}
