//! Late messages: what a warp has asked of memory, and what is not done yet.
//!
//! Hardware does the messages of a warp in any order, each at the latest where its slot is waited for or its threads end
//! (hardware/valhall-isa.md 6). The model does each at once, which is one such order and the one that hides most mistakes. Where
//! [`crate::Config::reorder`] asks for another, messages that read or write memory are kept here and done in an order that is drawn.
//!
//! Sources and staging registers are those of the time at which the message was sent: hardware holds back whoever would write them.

use super::execute::Executor;
use super::instruction::Instruction;
use super::message::{Action, Message};
use super::registers::written_range;
use super::stopped::Stopped;
use super::warp::{Warp, bits, registers_of, slot_bit};
use alloc::vec::Vec;

/// Before one instruction of so many a message is done that nobody waits for yet.
const UNASKED: u64 = 4;

/// A message that is not done.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    instruction: Instruction,
    message: Message,
    /// The warp when it was sent.
    then: Warp,
    /// A lane that sent it has waited for its slot.
    waited_for: bool,
}

impl Late {
    /// Whether it must be done before the warp's next instruction: its slot was waited for, or a lane that sent it has ended. `live` are
    /// the lanes that have not ended.
    fn is_due(&self, live: u16) -> bool {
        self.waited_for || self.then.lanes & !live != 0
    }
}

/// The messages that a warp has sent and that are not done.
#[derive(Clone, Debug, Default)]
pub(crate) struct LateMessages(Vec<Late>);

impl LateMessages {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `lanes` have waited for the slots in `mask`.
    pub(super) fn waited(&mut self, lanes: u16, mask: u8) {
        for late in &mut self.0 {
            let slot = slot_bit(late.message.slot);
            late.waited_for |= late.then.lanes & lanes != 0 && mask & slot != 0;
        }
    }
}

/// Whether a message may be done later than it was sent: loads, stores and atomics of memory that shaders write. The others read what
/// no shader of the job writes, act on the thread's own pixel, or are ordered by slots of their own.
pub(super) fn may_be_late(action: &Action) -> bool {
    match action {
        Action::Load { .. }
        | Action::Store { .. }
        | Action::LoadBuffer { .. }
        | Action::LoadConverted { .. }
        | Action::StoreConverted { .. }
        | Action::LoadTexel { .. }
        | Action::Atomic { .. } => true,
        Action::ByteAddress
        | Action::ElementAddress { .. }
        | Action::TexelAddress { .. }
        | Action::FetchTexel(..)
        | Action::RequestTexture(..)
        | Action::LoadAttribute { .. }
        | Action::LoadVarying(..)
        | Action::Atest
        | Action::ZsEmit { .. }
        | Action::Blend { .. }
        | Action::LoadTile(..)
        | Action::StoreTile(..)
        | Action::Clock { .. }
        | Action::Barrier => false,
    }
}

/// Keeps a message of the running lanes for later.
pub(super) fn keep(warp: &mut Warp, instruction: &Instruction, message: Message) {
    let then = warp.seen_by_a_message();
    warp.late.0.push(Late {
        instruction: *instruction,
        message,
        then,
        waited_for: false,
    });
}

impl Executor<'_> {
    /// Does one message that is due; if none is, now and then one that is not. Returns whether more are due: then other warps may have a
    /// turn first.
    pub(super) fn catch_up(&mut self, warp: &mut Warp) -> Result<bool, Stopped> {
        let all = warp.late.0.iter().enumerate();
        let due = all.filter(|(_, late)| late.is_due(warp.live));
        let due: Vec<usize> = due.map(|(index, _)| index).collect();
        if let Some(drawn) = self.fabric.draw(due.len() as u64) {
            self.complete(warp, due[drawn as usize])?;
            return Ok(due.len() > 1);
        }
        if self.fabric.draw(UNASKED) == Some(0)
            && let Some(drawn) = self.fabric.draw(warp.late.0.len() as u64)
        {
            self.complete(warp, drawn as usize)?;
        }
        Ok(false)
    }

    /// Does a message. One that stalls or fails has done nothing and is still there.
    fn complete(&mut self, warp: &mut Warp, index: usize) -> Result<(), Stopped> {
        let around = (self.environment, self.place, self.program.arch());
        let late = &mut warp.late.0[index];
        self.memory_unit.send(
            self.fabric,
            self.memory,
            around,
            &mut late.then,
            &late.instruction,
            &late.message,
        )?;
        let late = warp.late.0.swap_remove(index);
        for register in registers_of(written_range(late.message.write)) {
            for lane in bits(late.then.lanes) {
                warp.registers[register][lane] = late.then.registers[register][lane];
            }
        }
        Ok(())
    }
}
