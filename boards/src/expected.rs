//! Expected: the GPU that a board has, compared with the one that is found.
//!
//! Facts: hardware/boards.md 5 (steps 11 and 12).

use crate::steps::Bits;
use core::fmt;

/// The GPU that a board has.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Expected {
    /// GPU_ID.
    pub gpu_id: Bits,
    /// SHADER_PRESENT, where every specimen has the same.
    #[cfg_attr(feature = "files", serde(default))]
    pub shader_present: Option<u64>,
}

/// What is not as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Another GPU, or none that answers: nothing that is known of the board can be trusted.
    Gpu {
        /// GPU_ID.
        found: u32,
        /// What it must be.
        wanted: Bits,
    },
    /// Other shader cores: a specimen that was harvested.
    Cores {
        /// SHADER_PRESENT.
        found: u64,
        /// What it usually is.
        wanted: u64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Gpu { found: 0, .. }
            | Difference::Gpu {
                found: u32::MAX, ..
            } => f.write_str("the GPU does not answer: it has no clock, or is isolated"),
            Difference::Gpu { found, wanted } => write!(
                f,
                "GPU_ID is {found:#010x}, and this board's is {:#010x}",
                wanted.value
            ),
            Difference::Cores { found, wanted } => write!(
                f,
                "SHADER_PRESENT is {found:#x}, and usually {wanted:#x} on this board"
            ),
        }
    }
}

impl Expected {
    /// What is not as expected, by the values of GPU_ID and SHADER_PRESENT.
    pub fn difference(&self, gpu_id: u32, shader_present: u64) -> Option<Difference> {
        if !self.gpu_id.are_in(gpu_id) {
            let (found, wanted) = (gpu_id, self.gpu_id);
            return Some(Difference::Gpu { found, wanted });
        }
        let wanted = self.shader_present?;
        (shader_present != wanted).then_some(Difference::Cores {
            found: shader_present,
            wanted,
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    const EXPECTED: Expected = Expected {
        gpu_id: Bits::word(0xA867_0005),
        shader_present: Some(0x5_0005),
    };

    #[track_caller]
    fn check(gpu_id: u32, shader_present: u64, text: &str) {
        let difference = EXPECTED.difference(gpu_id, shader_present);
        assert_eq!(difference.map(|it| it.to_string()), Some(text.to_string()));
    }

    #[test]
    fn the_boards_own_gpu_is_as_expected() {
        assert_eq!(EXPECTED.difference(0xA867_0005, 0x5_0005), None);
    }

    #[test]
    fn another_gpu_is_told() {
        check(
            0xAC74_0001,
            1,
            "GPU_ID is 0xac740001, and this board's is 0xa8670005",
        );
        let silent = "the GPU does not answer: it has no clock, or is isolated";
        check(0, 0, silent);
        check(u32::MAX, u64::MAX, silent);
    }

    #[test]
    fn harvested_cores_are_told() {
        check(
            0xA867_0005,
            0x1_0005,
            "SHADER_PRESENT is 0x10005, and usually 0x50005 on this board",
        );
    }
}
