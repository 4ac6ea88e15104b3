//! Generations (architectures) of Mali GPUs of the Valhall family: in order, in sets, as text.
//!
//! Facts: hardware/valhall-isa.md sections 1 and 14; hardware/csf-mmio.md section 5 (which product is of which).
//!
//! Later generations compare greater, so "v11 and later" is `arch >= Arch::V11`. A table's row names the generations that
//! have it by an [`ArchSet`]; so does a crate name those that it knows, and refuses the others with a typed error.
//!
//! ```
//! use eitri_arch::{Arch, ArchSet};
//!
//! const KNOWN: ArchSet = ArchSet::range(Arch::V10, Arch::V13);
//!
//! assert_eq!(KNOWN.parse("v10.8"), Ok(Arch::V10));
//! let refused = KNOWN.require(Arch::V14).unwrap_err();
//! assert_eq!(refused.to_string(), "v14 is not supported, only v10-v13");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod set;

use core::fmt;
use core::str::FromStr;
pub use set::{ArchSet, UnsupportedArch};

/// A generation. Its number is the major architecture version of `GPU_ID`; the minor one changes no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// v9: Mali-G57, G68, G77, G78. The last with a job manager in place of the command-stream front end.
    V9 = 9,
    /// v10: Mali-G310, G510, G610, G710.
    V10 = 10,
    /// v11: Mali-G615, G715.
    V11 = 11,
    /// v12: Mali-G620, G720.
    V12 = 12,
    /// v13: Mali-G625, G725, G925.
    V13 = 13,
    /// v14: Mali-G1. Power and reset go through `PWR_CONTROL`.
    V14 = 14,
}

impl Arch {
    /// Every generation, oldest first.
    pub const ALL: [Arch; 6] = [
        Arch::V9,
        Arch::V10,
        Arch::V11,
        Arch::V12,
        Arch::V13,
        Arch::V14,
    ];

    /// The number in the name: 10 for v10.
    pub const fn major(self) -> u32 {
        self as u32
    }

    /// Its place in [`Arch::ALL`], for tables that have an entry for each.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize - Arch::V9 as usize
    }

    /// The generation of that number, 9 to 14.
    pub const fn from_major(major: u32) -> Option<Arch> {
        match major {
            9..=14 => Some(Arch::ALL[major as usize - 9]),
            _ => None,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.major())
    }
}

/// A text that names no generation, or none of those asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownArch {
    /// The generations that could have been named.
    pub known: ArchSet,
}

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not one of the generations {}", self.known)
    }
}

impl core::error::Error for UnknownArch {}

impl FromStr for Arch {
    type Err = UnknownArch;

    /// Reads `v10`, `V10`, `10` and `10.8`: what follows the point is the minor version, which is not kept.
    fn from_str(text: &str) -> Result<Arch, UnknownArch> {
        ArchSet::ALL.parse(text)
    }
}

/// The generation that a text names.
fn parse(text: &str) -> Option<Arch> {
    let number = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(major) || !digits(minor) {
        return None;
    }
    Arch::from_major(major.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_people_write_them() {
        for text in ["v10", "V10", "10", "10.8", "v10.12"] {
            assert_eq!(text.parse(), Ok(Arch::V10), "{text}");
        }
        let known = ArchSet::ALL;
        for text in [
            "", "v", "v8", "15", "10.", ".8", "ten", "10.8.1", "+10", "v10 ", "266",
        ] {
            assert_eq!(text.parse::<Arch>(), Err(UnknownArch { known }), "{text}");
        }
    }

    #[test]
    fn numbers_names_and_order_agree() {
        for (older, newer) in Arch::ALL.iter().zip(&Arch::ALL[1..]) {
            assert!(older < newer && older.major() + 1 == newer.major());
        }
        for (place, arch) in Arch::ALL.iter().enumerate() {
            assert_eq!(arch.index(), place, "{arch}");
        }
        for major in 0..40 {
            let arch = Arch::from_major(major);
            assert_eq!(arch.is_some(), (9..=14).contains(&major), "{major}");
            assert!(arch.is_none_or(|arch| arch.major() == major), "{major}");
        }
    }
}

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
