//! Core dumps: the GPU as it is, written before whatever went wrong is answered and cleared.
//!
//! Guarantees: memory is read only where the platform gave it, whatever the GPU's registers say; nothing that a fault has left
//! is acknowledged.  Facts: hardware/csf-scheduling.md 7, csf-firmware.md 11 (STATUS_UPDATE).

use super::{Device, Kind};
use crate::access::RegisterAccess;
use crate::fault::Cause;
use crate::gpu::caches;
use crate::graphics::News;
use crate::group::{GroupMemory, STATUS, request_status, ring};
use crate::handle::Fence;
use crate::hw::Hw;
use crate::platform::{Lines, PhysicalAddress, Platform};
use crate::queue::{Ring, Status};
use crate::vm::Mapping;
use crate::wait::{Pace, ms, poll};
use core::convert::Infallible;
use core::fmt::{self, Write};
use core::time::Duration;
use eitri_csf::command::CacheFlush;
use eitri_csf::interface::group::csg_req;
use eitri_csf::interface::stream::{cs_fault, cs_req};
use eitri_csf::page_table::PAGE_BYTES;
use eitri_csf::registers::interrupts::{GPU_IRQ, MMU_IRQ, gpu_irq, mmu_irq};
use eitri_csf::registers::mcu::{MCU_STATUS, McuState, mcu_status};
use eitri_dump::note::{Fault, Label, NONE, Reporter, Submission};
use eitri_dump::{Memory, Region, Sink, Source, Summary, Unreadable, WriteError};
use heapless::{String, Vec};

/// How long the firmware may take to store what streams do.
const FRESH: Duration = ms(100);

impl<P: Platform> Device<'_, '_, P> {
    /// Whether the GPU reports a failure that [`Device::poll`] has not looked at yet: then is the time for
    /// [`Device::dump`], since `poll` answers it.
    pub fn has_news_of_a_fault(&mut self) -> bool {
        if !self.is_running() {
            return false;
        }
        if self.held_loss.is_some() {
            return true;
        }
        let it = &mut self.hw.platform;
        let of_gpu = gpu_irq::GPU_FAULT.mask() | gpu_irq::GPU_PROTECTED_FAULT.mask();
        let fatal = mcu_status::STATE.get(it.read(MCU_STATUS)) == Some(McuState::Fatal);
        let of_spaces = mmu_irq::PAGE_FAULT.mask();
        if fatal || it.read(GPU_IRQ.rawstat) & of_gpu != 0 {
            return true;
        }
        if it.read(MMU_IRQ.rawstat) & of_spaces != 0 {
            return true;
        }
        let slots = self.groups.iter().filter_map(|(_, group)| group.slot());
        let mut slots = slots.filter_map(|slot| self.hw.interface.slots.get(slot));
        slots.any(|slot| {
            let (req, ack) = slot.requests().read(it);
            let of_group = (req ^ ack) & csg_req::PROGRESS_TIMER_EVENT.mask32() != 0;
            let mut streams = slot.streams.iter();
            of_group
                || streams.any(|stream| {
                    let (req, ack) = stream.requests().read(it);
                    (req ^ ack) & (cs_req::FATAL.mask32() | cs_req::FAULT.mask32()) != 0
                })
        })
    }

    /// Lets [`Device::poll`] leave failures as they are, those that lose the GPU too, until this is taken back: so that whoever
    /// looks after the device has the time to write a [`Device::dump`]. [`Device::has_news_of_a_fault`] tells that there is one; the
    /// next `poll` after `hold_faults(false)` answers it.
    pub fn hold_faults(&mut self, hold: bool) {
        self.hold_faults = hold;
    }

    /// Whether there is one, and somebody wants to see it before it is answered.
    #[inline(always)]
    pub(super) fn holds_a_fault(&mut self) -> bool {
        self.hold_faults && self.has_news_of_a_fault()
    }

    /// As [`Device::wait`], but ends with `None` as soon as a failure is reported that nobody has answered. Whoever has
    /// dumped it goes on with [`Device::wait`].
    pub fn wait_or_fault(&mut self, fence: Fence, limit: Duration) -> Option<Status> {
        // What strikes while `poll` is at work is left alone, too.
        let held = core::mem::replace(&mut self.hold_faults, true);
        let over = poll(
            self,
            |device| &mut device.hw.platform,
            |device| device.due,
            Pace::new(Lines::ALL, limit),
            |device, now| {
                if device.has_news_of_a_fault() {
                    return Ok::<_, Infallible>(Some(None));
                }
                device.poll(now);
                let status = device.status(fence);
                Ok((status != Status::Pending).then_some(Some(status)))
            },
        );
        self.hold_faults = held;
        match over {
            Ok(over) => over.unwrap_or(Some(Status::Pending)),
            Err(never) => match never {},
        }
    }

    /// Writes a core dump of the GPU into `sink`: registers, the firmware's interface, every page that is mapped, and the
    /// jobs in flight (docs/core-dumps.md). `overdue` names a job that has run out of time, if that is why.
    ///
    /// Asks the firmware for fresh status words, and waits for them for 100 ms at most; lets the GPU write its caches back.
    /// `room` is for the list of memory regions: some hundred are plenty. Nothing is acknowledged or cleared.
    ///
    /// # Errors
    /// Those of the sink; and if what was there changes meanwhile.
    pub fn dump<K: Sink>(
        &mut self,
        overdue: Option<Fence>,
        room: &mut [Region],
        sink: &mut K,
    ) -> Result<Summary, WriteError<K::Error>> {
        self.wait_for_mmu();
        if self.is_running() {
            self.refresh();
        }
        self.hw.platform.observe();
        for index in 0..self.groups.capacity() {
            if let Some(key) = self.groups.key_at(index) {
                self.name_failed(News::Reports(key));
            }
        }
        let mut source = Dumped {
            device: self,
            overdue,
            last: None,
            tables: Vec::new(),
        };
        eitri_dump::collect(&mut source, room, sink)
    }

    /// Brings up to date what can be: what streams do, and memory. What can't be stays as it is.
    fn refresh(&mut self) {
        let Device { hw, groups, .. } = self;
        let Hw {
            platform,
            interface,
            ..
        } = hw;
        let on_slots = groups.iter().filter_map(|(_, group)| group.slot());
        for slot in on_slots.filter_map(|slot| interface.slots.get(slot)) {
            request_status(platform, slot);
            ring(platform, &interface.global, slot);
            let requests = slot.requests();
            let _ = poll(
                platform,
                |it| it,
                |_| None,
                Pace::new(Lines::JOB, FRESH),
                |it, _| Ok::<_, Infallible>(requests.is_answered(it, STATUS).then_some(())),
            );
        }
        let _ = caches::flush(platform, CacheFlush::ALL);
    }

    /// Whether a page of memory is one of what was made, and not destroyed.
    fn owns(&self, page: u64) -> bool {
        let within = |mapping: &Mapping| {
            let offset = page.checked_sub(mapping.memory().0);
            offset.is_some_and(|offset| offset < mapping.bytes())
        };
        let of_group = |memory: &GroupMemory| {
            let GroupMemory {
                rings,
                syncs,
                pages,
                suspend,
                protected,
            } = memory;
            let mut all = [rings, syncs, pages, suspend].into_iter().chain(protected);
            all.any(within)
        };
        self.image.owns(PhysicalAddress(page))
            || self.counters.iter().any(|ring| within(&ring.mapping))
            || self.groups.iter().any(|(_, group)| of_group(&group.memory))
            || self
                .objects
                .iter()
                .any(|(_, object)| within(&object.mapping))
    }

    /// Whether it holds a table of some space.
    fn has_table(&mut self, page: PhysicalAddress) -> bool {
        let it = &mut self.hw.platform;
        let mut spaces = self.spaces.iter();
        self.firmware_vm.space.has_table(it, page)
            || spaces.any(|(_, vm)| vm.space.has_table(it, page))
    }
}

/// Letters of a remark at most.
const REMARK: usize = 320;

/// Writes lines as one: with a semicolon in place of an end, and no blanks behind it.
struct OneLine<'a>(&'a mut String<REMARK>);

impl Write for OneLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (number, line) in text.split('\n').enumerate() {
            let line = if number > 0 {
                self.0.push_str("; ").map_err(|_| fmt::Error)?;
                line.trim_start()
            } else {
                line
            };
            self.0.push_str(line).map_err(|_| fmt::Error)?;
        }
        Ok(())
    }
}

/// A device as what a dump is taken from.
struct Dumped<'a, 's, 'd, P> {
    device: &'a mut Device<'s, 'd, P>,
    overdue: Option<Fence>,
    /// The page that was asked for last, if it is the device's.
    last: Option<u64>,
    /// Pages of tables, which a walk comes back to after each entry.
    tables: Vec<u64, TABLES>,
}

/// Tables that are remembered: a walk has four at a time.
const TABLES: usize = 8;

impl<P: Platform> Dumped<'_, '_, '_, P> {
    /// Whether a page was taken from the platform and not given back.
    fn is_ours(&mut self, page: u64) -> bool {
        if self.last == Some(page) || self.tables.contains(&page) {
            return true;
        }
        if self.device.owns(page) {
            self.last = Some(page);
            return true;
        }
        let is_table = self.device.has_table(PhysicalAddress(page));
        if is_table && let Err(page) = self.tables.push(page) {
            self.tables.clear();
            let _ = self.tables.push(page);
        }
        is_table
    }
}

impl<P: Platform> Memory for Dumped<'_, '_, '_, P> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let unreadable = Unreadable { address };
        let page = address & !PAGE_BYTES.wrapping_sub(1);
        let inside = address
            .wrapping_sub(page)
            .saturating_add(bytes.len() as u64);
        if !address.is_multiple_of(4) || inside > PAGE_BYTES {
            return Err(unreadable);
        }
        if !self.is_ours(page) {
            return Err(unreadable);
        }
        let at = PhysicalAddress(address);
        let it = &mut self.device.hw.platform;
        it.invalidate(at.span(bytes.len() as u64));
        it.read_bytes(at, bytes);
        Ok(())
    }
}

impl<P: Platform> Source for Dumped<'_, '_, '_, P> {
    fn register(&mut self, offset: u32) -> u32 {
        // A GPU without supply does not answer.
        if self.device.has_supply() {
            self.device.hw.platform.read32(offset)
        } else {
            0
        }
    }

    fn producer(&self) -> &str {
        concat!("Eitri ", env!("CARGO_PKG_VERSION"))
    }

    /// What was answered already, as far as jobs keep it, and what the device alone knows.
    fn faults(&mut self, tell: &mut dyn FnMut(Fault)) {
        let device = &*self.device;
        let slot_of = |fence: Fence| {
            let group = device.groups.get(fence.queue.0);
            let slot = group.and_then(|group| group.slot());
            slot.map_or(NONE, |slot| u32::try_from(slot).unwrap_or(NONE))
        };
        if let Some(fence) = self.overdue {
            tell(Fault {
                reporter: Reporter::Timeout,
                slot: slot_of(fence),
                stream: fence.sub_queue as u32,
                space: NONE,
                status: 0,
                address: 0,
            });
        }
        // Of jobs that are over, nothing is to be found in the dump.
        for (_, job) in device.jobs.iter().filter(|(_, job)| !job.over) {
            let Some(fault) = job.fault else { continue };
            let (slot, stream) = (slot_of(job.fence), job.fence.sub_queue as u32);
            let space = fault.mmu.map_or(NONE, |mmu| mmu.space);
            if let Cause::Exception(it) = fault.cause {
                let reporter = if it.fatal {
                    Reporter::StreamFatal
                } else {
                    Reporter::StreamFault
                };
                let code = u32::from(it.exception.0);
                tell(Fault {
                    reporter,
                    slot,
                    stream,
                    space,
                    status: cs_fault::DATA.set32(cs_fault::EXCEPTION.set32(0, code), it.data),
                    address: it.info,
                });
            }
        }
    }

    fn submissions(&mut self, tell: &mut dyn FnMut(Submission)) {
        for (_, job) in self.device.jobs.iter().filter(|(_, job)| !job.over) {
            let group = self.device.groups.get(job.fence.queue.0);
            let Some(group) = group else { continue };
            let stream = group.stream(job.fence.sub_queue);
            let (Some(slot), Some(stream)) = (group.slot(), stream) else {
                continue;
            };
            let span = job.span();
            let inside = span.start & Ring::BYTES.wrapping_sub(1);
            tell(Submission {
                slot: u32::try_from(slot).unwrap_or(NONE),
                stream: job.fence.sub_queue as u32,
                sequence: job.fence.point,
                position: span.start,
                bytes: span.end.wrapping_sub(span.start),
                start: stream.ring_address().offset(inside).0,
            });
        }
    }

    /// Where in their passes jobs have failed.
    fn remarks(&mut self, tell: &mut dyn FnMut(&str)) {
        let device = &*self.device;
        for (job, pass) in device.failed_passes() {
            let Some(job) = device.jobs.get(*job) else {
                continue;
            };
            let mut text: String<REMARK> = String::new();
            // What does not fit is left out.
            let _ = write!(OneLine(&mut text), "{}: {pass}", job.fence);
            tell(&text);
        }
    }

    /// Objects and the memory of queues, by the names that messages have for them.
    fn labels(&mut self, tell: &mut dyn FnMut(Label<'_>)) {
        let device = &*self.device;
        let number_of = |space| {
            let space = device.spaces.get(space);
            space.and_then(|vm| vm.space.holds())
        };
        for (key, object) in device.objects.iter() {
            let Some(space) = number_of(object.space) else {
                continue;
            };
            let bytes = match object.kind {
                Kind::Buffer { bytes, .. } => bytes,
                _ => object.mapping.bytes(),
            };
            tell(Label {
                space,
                number: u32::from(key.index() as u16),
                start: object.mapping.address().0,
                bytes,
                name: object.kind.thing().name(),
            });
        }
        for (key, group) in device.groups.iter() {
            let memory = &group.memory;
            let own = number_of(group.space);
            let parts = [
                (own, &memory.rings, "rings of queue"),
                (own, &memory.syncs, "sync objects of queue"),
                (Some(0), &memory.pages, "user pages of queue"),
                (Some(0), &memory.suspend, "suspend buffer of queue"),
            ];
            for (space, mapping, name) in parts {
                let Some(space) = space else { continue };
                tell(Label {
                    space,
                    number: u32::from(key.index() as u16),
                    start: mapping.address().0,
                    bytes: mapping.bytes(),
                    name,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Thing;
    use crate::testing::firmware::{control_blocks, device, image};

    /// A broken table may lead anywhere, such as to registers of another device.
    #[test]
    fn memory_of_others_is_not_read() {
        let firmware = image(&control_blocks());
        let mut device = device(&firmware);
        let space = device.create_space().expect("memory");
        let buffer = device.create_buffer(space, 4096).expect("memory");
        let object = device.object(buffer.0, Thing::Buffer).expect("there");
        let ours = object.mapping.memory().0;
        let address = 0xffff_ffff_f000;
        let mut dumped = Dumped {
            device: &mut device,
            overdue: None,
            last: None,
            tables: Vec::new(),
        };
        let mut word = [0; 4];
        for time in ["first", "after the other page"] {
            let refused = dumped.read(address, &mut word);
            assert_eq!(refused, Err(Unreadable { address }), "{time}");
            assert_eq!(dumped.read(ours, &mut word), Ok(()), "{time}");
        }
    }

    /// A remark has one line: several lines are joined.
    #[test]
    fn lines_are_joined() {
        let mut text: String<REMARK> = String::new();
        let written = OneLine(&mut text).write_str("first\n  second\nthird");
        assert_eq!(written, Ok(()));
        assert_eq!(text, "first; second; third");
    }
}
