//! Slot assignment: which slot each message signals.
//!
//! Barriers have slot 7. Messages without a result share slot 2, so that no reader waits for a store. Those with
//! results alternate between 0 and 1: all that are issued before the first use of one of them share a slot, so one
//! wait serves them all while the next group is already on its way. Where a fence is about one memory alone, stores to
//! shared memory have the slot that loads don't have then, so that it does not wait for stores to buffers.
//! Facts: hardware/compiler-backend.md 8.1, hardware/compiler-optimization.md 1.15.

use crate::valhall::mir::{Function, Instr, Instruction as _, Message, Space};
use crate::valhall::waits::scoreboard::register_mask;

/// The slot of barriers.
const BARRIER: u8 = 7;
/// The slot of tests.
const TEST: u8 = 0;
/// The slot of messages without a result.
const SILENT: u8 = 2;

/// Gives every message a slot.
pub(crate) fn assign_slots(function: &mut Function) {
    let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let apart = instrs.any(is_fence_of_one);
    let mut slot = 0;
    for block in &mut function.blocks {
        let mut pending = 0;
        for instr in &mut block.instrs {
            let touched = register_mask(instr.reads().chain(instr.dests.iter().copied()));
            if touched & pending != 0 {
                pending = 0;
                slot ^= 1;
            }
            match instr.op.message() {
                Message::No | Message::Fence => {}
                Message::Barrier => instr.slot = Some(BARRIER),
                // No other is legal.
                Message::Test => instr.slot = Some(TEST),
                Message::Address
                | Message::Load
                | Message::Store
                | Message::Atomic
                | Message::Pixel
                    if instr.dests.is_empty() =>
                {
                    instr.slot = match instr.space {
                        Some(Space::Shared) if apart => Some(slot ^ 1),
                        _ => Some(SILENT),
                    };
                }
                Message::Address
                | Message::Load
                | Message::Store
                | Message::Atomic
                | Message::Pixel => {
                    instr.slot = Some(slot);
                    pending |= register_mask(instr.dests.iter().copied());
                }
            }
        }
    }
}

/// Whether it orders one memory and says nothing about the others.
fn is_fence_of_one(instr: &Instr) -> bool {
    instr.op.message() == Message::Fence && instr.space.is_some()
}
