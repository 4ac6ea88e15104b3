//! Buffers by their handles: which descriptor a handle names, and where loads from a buffer go.
//!
//! Facts: hardware/descriptors.md 4 and 5 (bounds).

use super::access::alignment;
use super::in_page::InPage;
use super::{Lanes, Lookup, Memory, REMEMBERED, Sender, Targets, View, look_up};
use crate::defect::ShaderDefect;
use crate::diagnosis::ShaderMisuse;
use crate::mmu::AccessKind;
use crate::shader::lanes::{spread, uniform};
use crate::shader::stopped::{JobFault, Stopped, exception};
use crate::shader::warp::{Warp, bits};

impl Memory {
    /// The buffer that a handle names.
    pub(super) fn view(&mut self, sender: &mut Sender<'_>, handle: u32) -> Result<View, Stopped> {
        // Lanes mostly ask for the buffer that the lane before has asked for.
        if let Some((_, view)) = self.views.iter().rev().find(|(known, _)| *known == handle) {
            return Ok(*view);
        }
        let access = sender.access(0);
        let environment = sender.environment;
        let tables = (environment.resources, environment.resource_count);
        let view = match look_up(sender.fabric, sender.memory, access, tables, handle)? {
            Lookup::Buffer(view) => view,
            Lookup::Absent => {
                sender.report(ShaderMisuse::NoSuchResource { handle });
                View::default()
            }
            Lookup::Wrong(kind) => {
                sender.report(ShaderMisuse::WrongDescriptor { handle, kind });
                return Err(JobFault {
                    exception: exception::DATA_INVALID_FAULT,
                    address: handle.into(),
                }
                .into());
            }
        };
        if self.views.len() == REMEMBERED {
            self.views.clear();
        }
        self.views.push((handle, view));
        Ok(view)
    }

    /// Where a load from a buffer goes that is the same for all running lanes, if each is inside of it and all are in one page.
    pub(super) fn buffer_in_page(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &Warp,
        (offsets, handles): (&Lanes, &Lanes),
        bytes: u8,
    ) -> Result<Option<InPage>, Stopped> {
        let Some(handle) = uniform(handles, warp.lanes) else {
            return Ok(None);
        };
        let view = self.view(sender, handle)?;
        let running = offsets.iter().zip(spread(warp.lanes));
        let furthest = running.fold(0, |most, (offset, runs)| most.max(offset & runs));
        let inside = view.size.checked_sub(bytes.into());
        if inside.is_none_or(|last| u64::from(furthest) > last) {
            return Ok(None);
        }
        let addresses = offsets.map(|offset| view.address.wrapping_add(offset.into()));
        let kind = AccessKind::Read;
        sender.in_page(addresses, warp.lanes, (bytes, alignment(kind, bytes)), kind)
    }

    /// Where a load from a buffer goes, lane by lane.
    pub(super) fn locate_in_buffers(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &Warp,
        (offsets, handles): (&Lanes, &Lanes),
        bytes: u8,
    ) -> Result<Targets, Stopped> {
        let mut targets = Targets::default();
        let mut page = None;
        for lane in bits(warp.lanes) {
            sender.touched.lane = lane as u8;
            let (offset, handle) = (offsets[lane], handles[lane]);
            let view = self.view(sender, handle)?;
            let left = view.size.saturating_sub(offset.into());
            let unbounded = sender
                .fabric
                .defects
                .shader_has(ShaderDefect::BoundsIgnored);
            let left = if unbounded { u64::from(u32::MAX) } else { left };
            // Words beyond the end read 0, also of a vector that begins inside; smaller values are all or nothing.
            let inside = if left >= bytes.into() {
                bytes
            } else if bytes < 4 {
                0
            } else {
                left as u8 & !3
            };
            // What a helper lane reads decides nothing, and its index may be anything.
            let counts = warp.helpers & 1 << lane == 0;
            if inside < bytes && view.size != 0 && counts {
                sender.report(ShaderMisuse::BufferOutOfRange { handle, offset });
            }
            let address = view.address.wrapping_add(offset.into());
            targets[lane] = sender.target(address, inside, AccessKind::Read, &mut page)?;
        }
        Ok(targets)
    }
}
