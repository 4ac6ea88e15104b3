//! `eitri boot`: what it refuses. What it boots is a check in QEMU (`eitri test --filter boot`).

use crate::eitri::eitri;

fn refused(arguments: &[&str], parts: &[&str]) {
    let output = eitri(arguments, b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    for part in parts {
        assert!(errors.contains(part), "no {part:?} in {errors}");
    }
}

#[test]
fn what_is_no_image_is_refused_before_anything_is_built() {
    refused(&["boot", "/nowhere.elf"], &["can't read /nowhere.elf"]);
    let manifest = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    refused(
        &["boot", &manifest],
        &["neither an ELF file for AArch64 nor an arm64 `Image`"],
    );
    // This program itself is for the host.
    let host = std::env::current_exe().unwrap();
    if cfg!(target_arch = "x86_64") {
        refused(
            &["boot", host.to_str().unwrap()],
            &["another machine than AArch64 (e_machine 62)"],
        );
    }
    refused(
        &["boot", &manifest, "--board", "rk3589"],
        &["there is no board `rk3589`"],
    );
}

#[test]
fn the_help_says_what_machine_there_is() {
    let output = eitri(&["boot", "--help"], b"");
    let text = String::from_utf8_lossy(&output.stdout);
    let board = &eitri_boards::qemu_virt::BOARD;
    for address in [
        board.gpu.window.base,
        board.memory.image.base,
        board.console.base().address(),
        board.gic.distributor().address(),
        board.gic.of_cpus().address(),
    ] {
        assert!(
            text.contains(&format!("0x{address:08x}")),
            "no {address:#x} in {text}"
        );
    }
    let lines = format!(
        "JOB {}, MMU {}, GPU {}",
        board.gpu.job.0, board.gpu.mmu.0, board.gpu.gpu.0
    );
    assert!(text.contains(&lines), "no {lines} in {text}");
}
