//! Direct messages whose lanes lie in several pages: each page's lanes are done at once.
//!
//! Lanes are taken as single steps take them: a page is translated where it is another one than the lane's before. A message that
//! comes back to a page, or has more than a few, is left to a single step, with nothing done.

use super::Memory;
use super::direct::{Accessed, Around, move_bytes};
use super::lines::{self, Counted};
use super::places::Places;
use crate::memory::{PAGE, PhysicalMemory};
use crate::mmu::AccessKind;
use crate::shader::instruction::Instruction;
use crate::shader::lanes::{WARP, WideLanes};
use crate::shader::message::{Action, Message};
use crate::shader::warp::{Warp, bits};

/// Most pages of a message.
const MOST: usize = 4;

/// The lanes that access a page.
struct Part {
    lanes: u16,
    places: Places,
    frame: u64,
}

/// The lanes from the first of `rest` on that are in its page, up to the first that is not.
fn run_of(addresses: &WideLanes, rest: u16) -> u16 {
    let page = |lane: usize| addresses[lane % WARP] / PAGE;
    let first = page(rest.trailing_zeros() as usize);
    let run = bits(rest).take_while(|lane| page(*lane) == first);
    run.fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Whether the host lends the page to the accesses of a part.
fn is_lent(memory: &mut dyn PhysicalMemory, kind: AccessKind, part: &Part) -> bool {
    let access = part.places.access(part.lanes);
    match kind {
        AccessKind::Write => memory.page_to_write(part.frame, &access).is_some(),
        _ => memory.page_to_read(part.frame, &access).is_some(),
    }
}

impl Memory {
    /// Loads or stores page by page; `None`, with nothing done, if that takes a single step.
    #[inline(never)]
    pub(super) fn access_pages(
        &self,
        around: &mut Around<'_>,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
        accessed: &Accessed,
    ) -> Option<()> {
        if accessed.lanes == 0 {
            return None;
        }
        let addresses = self.all_addresses(around, warp, instruction, message, accessed)?;
        let mut parts: [Option<Part>; MOST] = [const { None }; MOST];
        let (mut rest, mut count) = (accessed.lanes, 0);
        while rest != 0 {
            let part = around.part_of(&addresses, run_of(&addresses, rest), accessed)?;
            let page = part.places.page();
            let mut before = parts.iter().flatten();
            if before.any(|known| known.places.page() == page)
                || !is_lent(around.memory, accessed.request.kind, &part)
            {
                return None;
            }
            rest &= !part.lanes;
            *parts.get_mut(count)? = Some(part);
            count += 1;
        }
        let running = warp.lanes;
        for part in parts.iter().flatten() {
            warp.lanes = part.lanes;
            let moved = (part.frame, &part.places, part.lanes);
            // It is lent.
            move_bytes(around.memory, warp, (message, accessed.moves), moved);
        }
        warp.lanes = running;
        around.count_parts(&parts, accessed, running == u16::MAX);
        Some(())
    }

    /// Where each lane accesses memory; of a load from a buffer `None` unless each is inside of it.
    fn all_addresses(
        &self,
        around: &mut Around<'_>,
        warp: &Warp,
        instruction: &Instruction,
        message: &Message,
        accessed: &Accessed,
    ) -> Option<WideLanes> {
        let offset = match message.action {
            Action::Load { offset, .. } | Action::Store { offset, .. } => Some(offset.into()),
            Action::LoadConverted { offset, .. } => Some(offset.into()),
            _ => None,
        };
        if let Some(offset) = offset {
            let from = instruction.wide[0].from;
            let journal = &mut around.fabric.journal;
            let wide = around
                .environment
                .fetch_wide(journal, warp, around.place, from, false);
            return Some(wide.map(|base| base.wrapping_add_signed(offset)));
        }
        let view = self.known_view(around, warp, &instruction.sources[1])?;
        let last = view.size.checked_sub(accessed.aligned.0.into())?;
        let mut buffer = [0; WARP];
        let offsets = around.operand(warp, &instruction.sources[0], &mut buffer)?;
        let mut lanes = bits(accessed.lanes);
        let inside = lanes.all(|lane| u64::from(offsets[lane]) <= last);
        inside.then(|| offsets.map(|offset| view.address.wrapping_add(offset.into())))
    }
}

impl Around<'_> {
    /// The places of lanes in their page; `None` unless all of their bytes are in it, and a cached translation answers.
    fn part_of(&self, addresses: &WideLanes, lanes: u16, accessed: &Accessed) -> Option<Part> {
        let mut places = Places::new();
        places.find_in_page(addresses, lanes, accessed.aligned)?;
        let frame = self.frame_of(accessed.request_of(&places))?;
        Some(Part {
            lanes,
            places,
            frame,
        })
    }

    /// Counts what the parts of a message have touched: all translations, then all lines.
    fn count_parts(&mut self, parts: &[Option<Part>], accessed: &Accessed, whole: bool) {
        for part in parts.iter().flatten() {
            let request = accessed.request_of(&part.places);
            let physical = part.frame | (request.address % PAGE);
            self.fabric.translated_by_cache(request, physical);
        }
        let kind = accessed.request.kind;
        let mut all = Counted::default();
        for part in parts.iter().flatten() {
            let Part {
                frame,
                places,
                lanes,
            } = part;
            let write = kind == AccessKind::Write;
            let touched = lines::request(self.fabric, *frame, places, *lanes, write);
            all.lines += touched.lines;
            all.beats += touched.beats;
        }
        self.count(kind, all, whole);
    }
}
