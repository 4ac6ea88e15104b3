//! Lab: how those who run many boards reach one.
//!
//! Facts: hardware/boards-labs.md 2.3, 3.1 and 6.

use crate::Text;

/// A board in a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Lab {
    /// Its name there: for folders of the server, and for jobs.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub name: Text,
    /// The console's speed, in baud, 8N1.
    pub baud: u32,
    /// Seconds without power after which its rails have discharged.
    pub off_seconds: u32,
    /// What LAVA calls such a board.
    pub lava: DeviceType,
}

/// A device type of LAVA's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum DeviceType {
    /// One that LAVA ships.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    Shipped(Text),
    /// One that LAVA does not have: it is written beside the job.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    Own(Text),
}

impl DeviceType {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceType::Shipped(name) | DeviceType::Own(name) => name,
        }
    }
}
