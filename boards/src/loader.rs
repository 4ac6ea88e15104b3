//! Loader: what puts an image into memory and starts it.
//!
//! Facts: hardware/boards.md 2.3 and 2.4; hardware/boards-labs.md 2.3, 3.1, 3.4 and 5.

/// What loads the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub struct Depthcharge {
    /// Its first line.
    pub starts: &'static str,
    /// Its prompt.
    pub prompt: &'static str,
    /// Its last line.
    pub ends: &'static str,
}

/// U-Boot's prompt, and what is typed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The prompt.
    pub text: &'static str,
    /// What it has to be told before it finds its network.
    pub before_network: &'static [&'static str],
    /// Milliseconds between two characters: faster typing loses some.
    pub character_ms: u32,
}
