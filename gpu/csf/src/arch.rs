//! Architectures of CSF GPUs, ordered, so that "v11 and later" is a comparison.
//!
//! Facts: hardware/csf-host-interface.md section 3.

use core::fmt;
use core::str::FromStr;

/// A major architecture version. CSF begins at 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// Mali-G310, G510, G610, G710.
    V10,
    /// Mali-G615, G715.
    V11,
    /// Mali-G620, G720.
    V12,
    /// Mali-G625, G725, G925.
    V13,
    /// Mali-G1: power and reset through `PWR_CONTROL`.
    V14,
}

/// A text or number that names no architecture of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownArch;

impl Arch {
    /// All architectures, oldest first.
    pub const ALL: [Arch; 5] = [Arch::V10, Arch::V11, Arch::V12, Arch::V13, Arch::V14];

    /// The architecture with this major number, 10 to 14.
    pub const fn from_major(major: u32) -> Option<Arch> {
        match major {
            10 => Some(Arch::V10),
            11 => Some(Arch::V11),
            12 => Some(Arch::V12),
            13 => Some(Arch::V13),
            14 => Some(Arch::V14),
            _ => None,
        }
    }

    /// The major number, 10 to 14.
    pub const fn major(self) -> u32 {
        match self {
            Arch::V10 => 10,
            Arch::V11 => 11,
            Arch::V12 => 12,
            Arch::V13 => 13,
            Arch::V14 => 14,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.major())
    }
}

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an architecture with a command-stream front end (v10 to v14)")
    }
}

impl core::error::Error for UnknownArch {}

impl FromStr for Arch {
    type Err = UnknownArch;

    /// Reads `v10`, `V10`, `10` or, ignoring the minor version, `10.8`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let (major, minor) = digits.split_once('.').unwrap_or((digits, "0"));
        if minor.parse::<u32>().is_err() {
            return Err(UnknownArch);
        }
        let major = major.parse().map_err(|_| UnknownArch)?;
        Arch::from_major(major).ok_or(UnknownArch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_as_people_write_them() {
        for text in ["v10", "V10", "10", "10.8", "v10.12"] {
            assert_eq!(text.parse(), Ok(Arch::V10), "{text}");
        }
        for text in ["", "v9", "15", "10.", "ten", "10.8.1"] {
            assert_eq!(text.parse::<Arch>(), Err(UnknownArch), "{text}");
        }
    }
}
