//! Lab: how those who run many boards reach one.
//!
//! Facts: hardware/boards-labs.md 2.3, 3.1 and 6.

/// A board in a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lab {
    /// Its name there: for folders of the server, and for jobs.
    pub name: &'static str,
    /// The console's speed, in baud, 8N1.
    pub baud: u32,
    /// Seconds without power after which its rails have discharged.
    pub off_seconds: u32,
    /// What LAVA calls such a board.
    pub lava: DeviceType,
}

/// A device type of LAVA's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceType {
    /// One that LAVA ships.
    Shipped(&'static str),
    /// One that LAVA does not have: it is written beside the job.
    Own(&'static str),
}

impl DeviceType {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceType::Shipped(name) | DeviceType::Own(name) => name,
        }
    }
}
