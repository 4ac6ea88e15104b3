//! Accesses: what commands before a barrier do, and what those after it do.

use core::ops::BitOr;

/// A set of accesses. Each is made by one stage: shaders, the commands that copy, the dispatch that reads its counts, the host.
/// So stages need not be named beside them; reads before a barrier only order.
///
/// ```
/// use eitri_runtime::Accesses;
///
/// let written = Accesses::SHADER_WRITE | Accesses::TRANSFER_WRITE;
/// assert!(written.any_of(Accesses::TRANSFER_WRITE));
/// assert!(!written.any_of(Accesses::HOST_READ));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Accesses(u8);

#[rustfmt::skip]
impl Accesses {
    /// None: a barrier with none on a side does nothing.
    pub const NONE:           Accesses = Accesses(0);
    /// Shaders read buffers.
    pub const SHADER_READ:    Accesses = Accesses(1 << 0);
    /// Shaders write buffers.
    pub const SHADER_WRITE:   Accesses = Accesses(1 << 1);
    /// A dispatch reads its counts from a buffer.
    pub const INDIRECT_READ:  Accesses = Accesses(1 << 2);
    /// A copy reads.
    pub const TRANSFER_READ:  Accesses = Accesses(1 << 3);
    /// A copy, a fill, an update or a query writes.
    pub const TRANSFER_WRITE: Accesses = Accesses(1 << 4);
    /// The host reads, after the job.
    pub const HOST_READ:      Accesses = Accesses(1 << 5);
    /// The host writes, before the job: a submission sees to it by itself.
    pub const HOST_WRITE:     Accesses = Accesses(1 << 6);
    /// Whatever commands can do.
    pub const ALL:            Accesses = Accesses(0x7F);
}

impl Accesses {
    /// Whether one of these is among them.
    pub const fn any_of(self, others: Accesses) -> bool {
        self.0 & others.0 != 0
    }
}

impl BitOr for Accesses {
    type Output = Accesses;

    fn bitor(self, other: Accesses) -> Accesses {
        Accesses(self.0 | other.0)
    }
}
