//! Random scenes, of which another implementation of Vulkan has drawn what is expected.
//!
//! The pictures of [`SEEDS`] are kept (`testdata/data/random-scenes`). Where the generator changes, lavapipe draws them again with
//! `EITRI_BLESS=1`; then `eitri draw` must still pass.

use crate::eitri::command;
use std::path::{Path, PathBuf};

/// Scenes with small pictures.
#[rustfmt::skip]
const SEEDS: &[u64] = &[
    19, 21, 28, 33, 40, 49, 52, 54, 56, 60, 62, 77, 87, 89, 97, 99, 102, 108, 110, 112, 133, 139, 141, 145, 150, 164, 168, 170,
    180, 183, 189, 197, 217, 219, 228, 259, 268, 280, 293, 295,
];
/// Each later generation draws so many of them.
const LATER: usize = 12;

fn kept(seed: u64, number: usize) -> PathBuf {
    eitri_testdata::kept(&format!("random-scenes/{seed}-{number}.bin"))
}

/// Writes a scene, its files and its pictures.
fn write(folder: &Path, seed: u64) {
    let name = eitri_random_scenes::name(seed);
    let folder = folder.join(&name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut scene = eitri_random_scenes::scene(seed);
    for (file, bytes) in eitri_random_scenes::files(&scene) {
        std::fs::write(folder.join(file), bytes).unwrap();
    }
    let files = eitri_random_scenes::expect_files(&mut scene);
    for (number, file) in files.iter().enumerate() {
        std::fs::copy(kept(seed, number), folder.join(file)).unwrap();
    }
    let path = folder.join(format!("{name}.json"));
    std::fs::write(path, scene.to_string()).unwrap();
}

/// Lets lavapipe draw a scene, and keeps its pictures.
fn bless(folder: &Path, seed: u64) {
    let output = ["scenes", "-o", folder.to_str().unwrap(), "--count", "1"];
    let seed_text = seed.to_string();
    let arguments = [&output[..], &["--seed", &seed_text]].concat();
    let ran = command(&arguments).output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let folder = folder.join(eitri_random_scenes::name(seed));
    let files = eitri_random_scenes::expect_files(&mut eitri_random_scenes::scene(seed));
    for (number, file) in files.iter().enumerate() {
        let kept = kept(seed, number);
        std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
        std::fs::copy(folder.join(file), kept).unwrap();
    }
}

#[track_caller]
fn check(seeds: &[u64], gpu: &str, arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    seeds.iter().for_each(|seed| write(folder.path(), *seed));
    let folder = folder.path().to_str().unwrap();
    let mut draw = command(&[&["draw", folder, "--gpu", gpu], arguments].concat());
    let drawn = draw.output().unwrap();
    let said = String::from_utf8_lossy(&drawn.stdout);
    let failed: Vec<&str> = said
        .lines()
        .filter(|line| !line.starts_with("ok "))
        .collect();
    assert_eq!(
        failed,
        [format!("{} passed, 0 failed, 0 skipped", seeds.len())],
        "on a {gpu}; {}",
        String::from_utf8_lossy(&drawn.stderr)
    );
}

#[test]
fn random_scenes_are_drawn_as_lavapipe_draws_them() {
    if std::env::var_os("EITRI_BLESS").is_some() {
        let folder = tempfile::tempdir().unwrap();
        SEEDS.iter().for_each(|seed| bless(folder.path(), *seed));
    }
    check(SEEDS, "G610", &[]);
}

#[test]
fn random_scenes_are_drawn_alike_by_later_generations() {
    let (first, last) = SEEDS.split_at(LATER);
    check(first, "G720", &["--opt"]);
    check(&last[..LATER], "G925", &[]);
}
