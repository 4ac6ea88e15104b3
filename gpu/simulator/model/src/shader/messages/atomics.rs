//! Atomics that are direct messages: those whose lanes lie in one page of memory that the host lends. One lane after another reads,
//! computes and writes, as in [`super::transfer`], on the page's own bytes.
//!
//! Needs: as [`super::direct`].  Guarantees: registers, memory and counters are those of [`Memory::send`].

use super::access::alignment;
use super::direct::Around;
use super::places::Places;
use super::transfer::{new_of, set_old};
use super::{Memory, lines, staged};
use crate::l2::CACHED;
use crate::memory::{PAGE, PAGE_BYTES, PhysicalMemory};
use crate::mmu::{AccessKind, Request};
use crate::shader::instruction::Instruction;
use crate::shader::message::{Action, Atomic, AtomicOperand, Message};
use crate::shader::warp::{Warp, bits};

/// What each lane does.
#[derive(Clone, Copy)]
struct Step {
    /// 4 or 8.
    bytes: usize,
    operation: Atomic,
    operand: AtomicOperand,
}

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
        // What the L2 caches lies elsewhere.
        let frame = around.fabric.mmu.cached_frame(request)?;
        if frame & CACHED != 0 {
            return None;
        }
        let step = Step {
            bytes: bytes.into(),
            operation,
            operand,
        };
        let written = do_all(around.memory, warp, message, (frame, &places, lanes), step)?;
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

/// Does what an atomic does in each lane; the lanes that have changed memory. `None`, with nothing done, if the host does not lend the
/// page.
fn do_all(
    memory: &mut dyn PhysicalMemory,
    warp: &mut Warp,
    message: &Message,
    (frame, places, lanes): (u64, &Places, u16),
    step: Step,
) -> Option<u16> {
    let access = places.access(lanes);
    memory.page_to_read(frame, &access)?;
    let page = memory.page_to_write(frame, &access)?;
    Some(match step.bytes {
        4 => do_words(page, warp, message, (places, lanes), step),
        _ => do_wide(page, warp, message, (places, lanes), step),
    })
}

fn do_words(
    page: &mut [u8; PAGE_BYTES],
    warp: &mut Warp,
    message: &Message,
    (places, lanes): (&Places, u16),
    step: Step,
) -> u16 {
    let words = page.as_chunks_mut::<4>().0;
    let mut written = 0;
    for lane in bits(lanes) {
        let word = &mut words[places.start_of(lane) / 4 % (PAGE_BYTES / 4)];
        let old = u32::from_le_bytes(*word);
        let staged = staged(warp, message.read, lane);
        let new = new_of(step.operation, (step.operand, false), old.into(), staged) as u32;
        written |= u16::from(new != old) << lane;
        *word = new.to_le_bytes();
        set_old(warp, message.write, lane, old.into());
    }
    written
}

fn do_wide(
    page: &mut [u8; PAGE_BYTES],
    warp: &mut Warp,
    message: &Message,
    (places, lanes): (&Places, u16),
    step: Step,
) -> u16 {
    let words = page.as_chunks_mut::<8>().0;
    let mut written = 0;
    for lane in bits(lanes) {
        let word = &mut words[places.start_of(lane) / 8 % (PAGE_BYTES / 8)];
        let old = u64::from_le_bytes(*word);
        let staged = staged(warp, message.read, lane);
        let new = new_of(step.operation, (step.operand, true), old, staged);
        written |= u16::from(new != old) << lane;
        *word = new.to_le_bytes();
        set_old(warp, message.write, lane, old);
    }
    written
}
