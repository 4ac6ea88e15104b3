//! `--reorder` and `EITRI_REORDER`: accesses to memory come late, and turns are drawn.

use crate::eitri::command;
use std::collections::BTreeSet;
use std::path::Path;

/// Each invocation reads what another one has written; `BARRIER` is between the two.
const SWAP: &str = "
var<workgroup> s: array<u32, 64>;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  s[i] = i + 1u;
  BARRIER
  data[i] = s[63u - i];
}
";

const SEEDS: std::ops::Range<u64> = 0..16;

/// The buffer that a run leaves.
#[track_caller]
fn run(folder: &Path, shader: &str, arguments: &[&str], variable: Option<u64>) -> Vec<u8> {
    let path = folder.join("swap.wgsl");
    std::fs::write(&path, shader).unwrap();
    let path = path.to_str().unwrap();
    let first = ["run", path, "--buffer", "0=zero:256", "--check", "none"];
    let mut command = command(&[&first[..], &["--save", "0=out"], arguments].concat());
    command.envs(variable.map(|seed| ("EITRI_REORDER", seed.to_string())));
    let output = command.current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    std::fs::read(folder.join("out")).unwrap()
}

#[test]
fn a_missing_barrier_shows_in_what_seeds_give() {
    let folder = tempfile::tempdir().unwrap();
    let of = |shader: &str| -> BTreeSet<Vec<u8>> {
        let seeds = SEEDS.map(|seed| seed.to_string());
        let runs = seeds.map(|seed| run(folder.path(), shader, &["--reorder", &seed], None));
        runs.collect()
    };
    let expected: Vec<u8> = (0..64u32).flat_map(|i| (64 - i).to_le_bytes()).collect();
    let with = of(&SWAP.replace("BARRIER", "workgroupBarrier();"));
    assert_eq!(with, BTreeSet::from([expected]));
    let without = of(&SWAP.replace("BARRIER", ""));
    assert!(without.len() > 1, "each seed gave the same");
}

#[test]
fn the_variable_says_what_the_option_says() {
    let folder = tempfile::tempdir().unwrap();
    let shader = SWAP.replace("BARRIER", "");
    for seed in SEEDS.step_by(4) {
        let option = run(
            folder.path(),
            &shader,
            &["--reorder", &seed.to_string()],
            None,
        );
        let variable = run(folder.path(), &shader, &[], Some(seed));
        assert_eq!(option, variable, "seed {seed}");
    }
}

#[test]
fn what_has_no_order_to_be_drawn_is_refused() {
    let cases: [(&[&str], &str); 2] = [
        (
            &["--on", "qemu"],
            "--reorder is for what runs on the host\n  help: leave out --on qemu",
        ),
        (
            &["--fidelity"],
            "--reorder and --fidelity exclude each other\n  help: run it twice, with one of them each",
        ),
    ];
    for (arguments, expected) in cases {
        let first = ["run", "swap.wgsl", "--reorder", "1"];
        let output = command(&[&first[..], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{said}");
    }
    let output = command(&["explain", "L2_READY"])
        .env("EITRI_REORDER", "-1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "EITRI_REORDER is no seed: `-1`\n  help: write a number of 0 or more";
    assert!(said.contains(expected), "{said}");
}
