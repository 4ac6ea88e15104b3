//! The ring buffer of a stream: where the host puts instructions, by offsets that only grow.
//!
//! Facts: hardware/csf-firmware.md 10 (user pages), csf-scheduling.md 11 item 9.

/// A ring and how far it is filled and consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    /// GPU address.
    pub(crate) base: u64,
    /// Bytes, a power of two.
    pub(crate) size: u32,
    /// Address of the page with INSERT, in address space 0.
    pub(crate) user_input: u64,
    /// Address of the page with EXTRACT, in address space 0.
    pub(crate) user_output: u64,
    /// Offset of the next instruction.
    pub(crate) position: u64,
    /// INSERT as it was last looked at.
    pub(crate) insert: u64,
    /// EXTRACT as it was last published.
    pub(crate) published: u64,
}

impl Ring {
    /// GPU address of the next instruction.
    pub(crate) fn address(&self) -> u64 {
        self.base
            .wrapping_add(self.position & u64::from(self.size.wrapping_sub(1)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.position >= self.insert
    }

    /// Whether the registers describe a ring at all.
    pub(crate) fn is_valid(&self) -> bool {
        self.size.is_power_of_two() && self.size >= 64 && self.base.is_multiple_of(64)
    }

    /// Whether `insert` is a position that the ring can be filled up to.
    pub(crate) fn accepts(&self, insert: u64) -> bool {
        insert.is_multiple_of(8)
            && insert >= self.position
            && insert - self.position <= u64::from(self.size)
    }

    /// Moves by whole instructions; `None` if that leaves what the ring holds.
    pub(crate) fn jumped(&self, from: u64, instructions: i64) -> Option<u64> {
        let oldest = self.insert.saturating_sub(self.size.into());
        let target = from.checked_add_signed(instructions * 8)?;
        (oldest..=self.insert).contains(&target).then_some(target)
    }
}
