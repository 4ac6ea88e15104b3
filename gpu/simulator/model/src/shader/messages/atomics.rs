//! Atomics that are direct messages: those whose lanes lie in one page of memory that the host lends. One lane after another reads,
//! computes and writes, as in [`super::transfer`], on the page's own bytes.
//!
//! Needs: as [`super::direct`].  Guarantees: registers, memory and counters are those of [`Memory::send`].

use super::access::alignment;
use super::direct::Around;
use super::places::Places;
use super::transfer::{new_of, set_old};
use super::{Memory, lines, staged};
use crate::memory::{PAGE, PAGE_BYTES};
use crate::mmu::{AccessKind, Request};
use crate::shader::instruction::Instruction;
use crate::shader::message::{Action, Atomic, AtomicOperand, Message};
use crate::shader::warp::{Warp, bits};

impl Memory {
    /// An atomic of all running lanes; `None`, with nothing done, if it is not a direct message.
    #[inline(never)]
    pub(super) fn atomics(
        around: &mut Around<'_>,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
    ) -> Option<()> {
        let Action::Atomic {
            bytes,
            operation,
            operand,
            offset,
        } = message.action
        else {
            return None;
        };
        let (lanes, kind) = (warp.lanes & !warp.helpers, AccessKind::Atomic);
        let mut places = Places::new();
        let way = (lanes, i32::try_from(offset).ok()?);
        let aligned = (bytes, alignment(kind, bytes));
        around.find(&mut places, warp, instruction, way, aligned)?;
        let request = Request {
            address: places.first,
            ..around.request(kind)
        };
        let frame = around.frame_of(request)?;
        let access = places.access(lanes);
        around.memory.page_to_read(frame, &access)?;
        let page = around.memory.page_to_write(frame, &access)?;
        let step = (operation, operand);
        let written = match bytes {
            4 => do_lanes::<4>(page, warp, message, (&places, lanes), step),
            _ => do_lanes::<8>(page, warp, message, (&places, lanes), step),
        };
        around
            .fabric
            .translated_by_cache(request, frame | (request.address % PAGE));
        let counted = lines::request_atomics(around.fabric, frame, &places, (lanes, written));
        let core = around.fabric.activity.core(around.place.core);
        core.atomics += 1;
        core.lines += counted.lines;
        core.read_beats += counted.read_beats;
        core.write_beats += counted.write_beats;
        Some(())
    }
}

/// Executes an atomic of 4 or 8 bytes in each lane; gives the lanes that have changed memory.
fn do_lanes<const BYTES: usize>(
    page: &mut [u8; PAGE_BYTES],
    warp: &mut Warp,
    message: &Message,
    (places, lanes): (&Places, u16),
    (operation, operand): (Atomic, AtomicOperand),
) -> u16 {
    let words = page.as_chunks_mut::<BYTES>().0;
    let mut written = 0;
    for lane in bits(lanes) {
        let word = &mut words[places.start_of(lane) / BYTES % (PAGE_BYTES / BYTES)];
        let mut old = [0; 8];
        old[..BYTES].copy_from_slice(word);
        let old = u64::from_le_bytes(old);
        let staged = staged(warp, message.read, lane);
        let new = new_of(operation, (operand, BYTES == 8), old, staged).to_le_bytes();
        written |= u16::from(new[..BYTES] != *word) << lane;
        word.copy_from_slice(&new[..BYTES]);
        set_old(warp, message.write, lane, old);
    }
    written
}
