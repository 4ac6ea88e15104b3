//! Waiting: what a stream waits for whose group was saved, and whether it still does.
//!
//! Facts: hardware/csf-scheduling.md sections 3.3 and 3.7.

use crate::access::SharedBlock;
use crate::firmware::StreamBlocks;
use crate::platform::{PhysicalAddress, Platform};
use eitri_csf::interface::stream::{
    BlockedReason, CS_STATUS_BLOCKED_REASON, CS_STATUS_SCOREBOARDS, CS_STATUS_WAIT,
    CS_STATUS_WAIT_SYNC_POINTER, CS_STATUS_WAIT_SYNC_VALUE, CS_STATUS_WAIT_SYNC_VALUE_HI,
    SyncCondition, blocked_reason, status_wait,
};
use eitri_csf::interface::sync_object::{SYNC32_VALUE, SYNC64_VALUE};

/// A wait for a sync object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Where the stream's space has the object.
    pub(crate) pointer: u64,
    wide: bool,
    condition: SyncCondition,
    reference: u64,
}

impl Waiting {
    /// What a stream waits for with nothing of it in flight, by the words that a suspend has left.
    pub(crate) fn read<P: Platform>(platform: &mut P, blocks: &StreamBlocks) -> Option<Waiting> {
        let output = blocks.output;
        let blocked = output.read_word(platform, CS_STATUS_BLOCKED_REASON);
        let scoreboards = output.read_word(platform, CS_STATUS_SCOREBOARDS);
        let on_sync = blocked_reason::REASON.get(blocked) == Some(BlockedReason::Sync);
        if !on_sync || scoreboards != 0 {
            return None;
        }
        let wait = output.read_word(platform, CS_STATUS_WAIT);
        let low = output.read_word(platform, CS_STATUS_WAIT_SYNC_VALUE);
        let high = output.read_word(platform, CS_STATUS_WAIT_SYNC_VALUE_HI);
        let wide = status_wait::SYNC_64.get(wait);
        Some(Waiting {
            pointer: output.read(platform, CS_STATUS_WAIT_SYNC_POINTER),
            wide,
            condition: status_wait::CONDITION.get(wait)?,
            reference: u64::from(low) | if wide { u64::from(high) << 32 } else { 0 },
        })
    }

    /// Whether it is over, with the object there in memory.
    pub(crate) fn is_over<P: Platform>(&self, platform: &mut P, object: PhysicalAddress) -> bool {
        let block = SharedBlock::new(object);
        let value = if self.wide {
            block.read(platform, SYNC64_VALUE)
        } else {
            block.read(platform, SYNC32_VALUE)
        };
        match self.condition {
            SyncCondition::LessEqual => value <= self.reference,
            SyncCondition::Greater => value > self.reference,
            SyncCondition::GreaterEqual => value >= self.reference,
        }
    }
}
