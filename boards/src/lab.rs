//! Lab: how those who run many boards reach one.
//!
//! Facts: hardware/boards-labs.md 2.3, 3.1 and 6.

/// A board in a lab, where U-Boot starts what a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lab {
    /// Its name there: for folders of the server, and for jobs.
    pub name: &'static str,
    /// The console's speed, in baud, 8N1.
    pub baud: u32,
    /// U-Boot's prompt.
    pub prompt: &'static str,
    /// What U-Boot has to be told before it finds its network.
    pub before_network: &'static [&'static str],
    /// Milliseconds between two characters: faster typing loses some.
    pub character_ms: u32,
    /// Seconds without power after which its rails have discharged.
    pub off_seconds: u32,
    /// The device type that LAVA ships for it.
    pub lava: &'static str,
}
