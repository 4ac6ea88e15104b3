//! Loader: what puts an image into memory and starts it.
//!
//! Facts: hardware/boards.md 2.3 and 2.4; hardware/boards-labs.md 2.3, 3.1, 3.4 and 5.

use crate::Text;

/// What loads the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Loader {
    /// U-Boot, at whose prompt the lines are typed.
    UBoot(Prompt),
    /// UEFI firmware: the image is inside of an application, which it finds by its name.
    Uefi,
    /// Depthcharge, which takes an image tree with the image and a device tree, and sends both on.
    Depthcharge(Depthcharge),
}

/// What depthcharge says and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Depthcharge {
    /// Its first line.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub starts: Text,
    /// Its prompt.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub prompt: Text,
    /// Its last line.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub ends: Text,
}

/// U-Boot's prompt, and what is typed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Prompt {
    /// The prompt.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub text: Text,
    /// What it has to be told before it finds its network.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::texts"
        )
    )]
    pub before_network: &'static [&'static str],
    /// The number that it gives the SD card (`mmc dev N`); `None` where there is none.
    #[cfg_attr(feature = "files", serde(default))]
    pub card: Option<u32>,
    /// Milliseconds between two characters: faster typing loses some.
    #[cfg_attr(feature = "files", serde(default))]
    pub character_ms: u32,
}
