//! Display: where an image for a board finds one.
//!
//! Facts: hardware/boards.md section 4 (fw_cfg).

use crate::region::RegisterBase;

/// What an image that has a picture to show looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Display {
    /// The memory that the boot loader left a display reading: a `simple-framebuffer` of its device tree.
    #[default]
    OfLoader,
    /// The same if the boot loader left one, such as UEFI firmware; else QEMU's `ramfb`, which reads whatever memory it is told of through
    /// QEMU's configuration device.
    Ramfb {
        /// Registers of QEMU's `fw_cfg` device.
        fw_cfg: RegisterBase,
    },
}
