//! The vendor's images that were released: which interface each speaks, and how it is told from the others once it is loaded.
//!
//! Facts: hardware/csf-firmware.md 5 (the five images), csf-v14.md 5 (links between their names).

use crate::arch::Arch;
use crate::interface::control::Version;

/// A released image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its folder in linux-firmware, and when it came.
    pub name: &'static str,
    /// The architecture that it is for.
    pub arch: Arch,
    /// The interface that it speaks.
    pub version: Version,
    /// The first word of its vectors: the initial stack pointer.
    pub stack: u32,
    /// The second: where the microcontroller begins.
    pub reset: u32,
}

const fn release(
    name: &'static str,
    arch: Arch,
    version: (u8, u8),
    stack: u32,
    reset: u32,
) -> Release {
    Release {
        name,
        arch,
        version: Version::new(version.0, version.1),
        stack,
        reset,
    }
}

/// All of them, the oldest of an architecture first.
#[rustfmt::skip]
pub static RELEASES: [Release; 5] = [
    release("arch10.8 of 2025-04",  Arch::V10, (1, 1),  0x0203_0000, 0x0080_1F8D),
    release("arch10.10 of 2026-09", Arch::V10, (1, 5),  0x0203_0000, 0x0080_1FBD),
    release("arch11.8 of 2026-09",  Arch::V11, (2, 8),  0x0203_3000, 0x0080_1FB5),
    release("arch12.8 of 2026-09",  Arch::V12, (3, 13), 0x0203_5000, 0x0080_1F6D),
    release("arch13.8 of 2026-09",  Arch::V13, (3, 13), 0x0203_7000, 0x0080_1F55),
];

impl Release {
    /// The one with these vectors, if it is one of them.
    pub fn of_vectors(stack: u32, reset: u32) -> Option<&'static Release> {
        RELEASES
            .iter()
            .find(|release| (release.stack, release.reset) == (stack, reset))
    }

    /// The first that was released for an architecture.
    pub fn first_of(arch: Arch) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.arch == arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_tell_them_apart() {
        for release in &RELEASES {
            let found = Release::of_vectors(release.stack, release.reset);
            assert_eq!(found, Some(release));
        }
        assert_eq!(Release::of_vectors(0x0203_0000, 0x0080_0001), None);
    }

    #[test]
    fn those_of_2026_know_what_the_facts_list() {
        // csf-v14.md 5.2: WAIT source, condition "greater or equal", DVS_BUF.
        let known = RELEASES.map(|release| {
            let version = release.version;
            (
                version.has_wait_source(),
                version.has_greater_equal(),
                version >= Version::DVS_BUF,
            )
        });
        let expected = [
            (false, false, false),
            (true, true, false),
            (true, true, false),
            (true, true, true),
            (true, true, true),
        ];
        assert_eq!(known, expected);
    }
}
