//! Faults: what a guest may let go wrong in the GPU, by name, with the number that the monitor takes.

use super::initramfs::Archive;
use eitri_boards::qemu_virt::{CONTROL, control};
use eitri_model::Injection;

const PROGRAM: &str = include_str!("gpu-fault.sh");

/// Puts the program for it into the archive.
pub(super) fn put(archive: &mut Archive) {
    archive.program("bin/gpu-fault", PROGRAM.as_bytes());
    for (file, word) in [
        ("eitri/fault", control::FAULT),
        ("eitri/no-fault", control::NO_FAULT),
    ] {
        archive.file(file, format!("{:#x}\n", CONTROL.base + word).as_bytes());
    }
    archive.file("eitri/faults", list().as_bytes());
}

/// Name and number of each, a line each.
fn list() -> String {
    let all = Injection::ALL.iter().enumerate();
    all.map(|(number, injection)| format!("{} {number}\n", name(*injection)))
        .collect()
}

/// `terminate-ignored`: the variant's name as people write it.
fn name(injection: Injection) -> String {
    let variant = format!("{injection:?}");
    let mut name = String::new();
    for letter in variant.chars().take_while(char::is_ascii_alphanumeric) {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_has_a_name_of_its_own_that_can_be_typed() {
        let list = list();
        let names: BTreeSet<&str> = list
            .lines()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(names.len(), Injection::ALL.len());
        assert!(names.contains("l2-power-stuck"), "{list}");
        assert!(names.contains("stream-fault"), "{list}");
        let plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        assert!(names.iter().all(plain), "{list}");
    }
}
