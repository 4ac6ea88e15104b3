//! Random kernels, of which another implementation of Vulkan has computed what is expected.
//!
//! For [`SEEDS`] the module that glslang made and the bytes that came out are kept (`testdata/data/random-kernels`). Where the generator changes,
//! both are made again with `EITRI_BLESS=1`, which needs glslang, SPIRV-Tools and lavapipe; then `eitri kernel` must still pass.

use crate::eitri::command;
use eitri_random_kernels::{expect_files, kernel, name};
use std::path::{Path, PathBuf};

/// Kernels with small modules and outputs.
#[rustfmt::skip]
const SEEDS: &[u64] = &[
    2, 3, 4, 6, 11, 17, 28, 30, 38, 43, 44, 50, 51, 67, 71, 75, 77, 80, 87, 98, 101, 110, 114, 120, 127, 134, 138, 140, 141,
    143, 150, 153, 160, 161, 168, 175, 176, 179, 194,
];
/// So many of them, from the first on, run on a later generation, too.
const LATER: usize = 20;

fn kept(file: &str) -> PathBuf {
    eitri_testdata::kept(&format!("random-kernels/{file}"))
}

/// The files of a kernel: their names in its folder, and where they are kept.
fn files(seed: u64) -> Vec<(String, PathBuf)> {
    let mut case = kernel(seed).case;
    let outputs = expect_files(&mut case).into_iter();
    let outputs = outputs.map(|(number, file)| (file, kept(&format!("{seed}-{number}.bin"))));
    let module = (format!("{}.spv", name(seed)), kept(&format!("{seed}.spv")));
    std::iter::once(module).chain(outputs).collect()
}

/// Writes a kernel's case and its files.
fn write(folder: &Path, seed: u64) {
    let folder = folder.join(name(seed));
    std::fs::create_dir_all(&folder).unwrap();
    let mut case = kernel(seed).case;
    expect_files(&mut case);
    // One module is kept.
    case["shader"]["spirv_opt"] = case["shader"]["spirv"].clone();
    for (file, from) in files(seed) {
        std::fs::copy(from, folder.join(file)).unwrap();
    }
    let path = folder.join(format!("{}.json", name(seed)));
    std::fs::write(path, case.to_string()).unwrap();
}

/// Makes the module and lets lavapipe run it, and keeps both.
fn bless(folder: &Path, seed: u64) {
    let seed_text = seed.to_string();
    let arguments = ["kernels", "-o", folder.to_str().unwrap(), "--count", "1"];
    let mut made = command(&[&arguments[..], &["--seed", &seed_text]].concat());
    let made = made.output().unwrap();
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{said}");
    for (file, to) in files(seed) {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(folder.join(name(seed)).join(file), to).unwrap();
    }
}

#[track_caller]
fn check(seeds: &[u64], arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    seeds.iter().for_each(|seed| write(folder.path(), *seed));
    let folder = folder.path().to_str().unwrap();
    let mut kernels = command(&[&["kernel", folder], arguments].concat());
    let ran = kernels.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let failed: Vec<&str> = said
        .lines()
        .filter(|line| !line.starts_with("ok "))
        .collect();
    let passed = format!("{} passed, 0 failed", seeds.len());
    assert!(
        matches!(failed[..], [last] if last.starts_with(&passed)),
        "{arguments:?}: {failed:#?}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn random_kernels_compute_what_lavapipe_computes() {
    if std::env::var_os("EITRI_BLESS").is_some() {
        let folder = tempfile::tempdir().unwrap();
        SEEDS.iter().for_each(|seed| bless(folder.path(), *seed));
    }
    check(SEEDS, &["--gpu", "G610"]);
}

#[test]
fn random_kernels_compute_the_same_on_a_later_generation() {
    check(&SEEDS[..LATER], &["--gpu", "G720"]);
}

#[test]
fn random_kernels_compute_the_same_on_an_adreno() {
    check(SEEDS, &["--target", "a6xx"]);
}
