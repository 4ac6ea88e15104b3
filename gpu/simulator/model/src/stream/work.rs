//! Work: what streams give to endpoints.
//!
//! Facts: hardware/command-stream.md 1.11 (resources), 3.6 (jobs).

/// The kinds of work that endpoints do. Only compute is carried out; the others are known to the firmware, which grants
/// endpoints for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Compute,
    Tiling,
    Fragment,
}

impl Work {
    pub(crate) const ALL: [Work; 3] = [Work::Compute, Work::Tiling, Work::Fragment];

    /// The bits of REQ_RESOURCE that ask for its endpoints.
    pub(crate) fn resources(self) -> u8 {
        match self {
            Work::Compute => 1,
            Work::Fragment => 2,
            // The tiler itself, and index-driven vertex shading, which feeds it.
            Work::Tiling => 4 | 8,
        }
    }
}

/// How a job is cut into tasks: the pieces that are handed to a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tasks {
    /// All workgroups along the axes below this one, so many along it, one along those above.
    Along { axis: usize, increment: u32 },
    /// About so many workgroups.
    Of(u32),
}

/// A compute job as a stream issues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IssuedJob {
    pub(crate) tasks: Tasks,
    /// The staging registers, r0 to r39.
    pub(crate) staging: [u32; 40],
    /// SRT, FAU, SPD, TSD select.
    pub(crate) selects: [u8; 4],
    /// The slot that counts it.
    pub(crate) slot: u8,
    /// Whether the stream's progress value grows when it completes.
    pub(crate) progress: bool,
}
