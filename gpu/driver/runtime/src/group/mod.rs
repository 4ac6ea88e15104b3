//! Groups: streams that share an address space, a priority and a suspend buffer. A group has a slot of the firmware only while
//! the scheduler gives it one.
//!
//! Every request to the firmware is a state with a deadline; nothing here waits.
//! Facts: hardware/csf-scheduling.md sections 2 and 3.

mod events;
mod residency;
mod termination;

pub(crate) use events::{Reported, SlotWords, Whom};
pub(crate) use residency::{Off, Residency, Saved, Seated, Stage};
pub(crate) use termination::{Ending, SpaceFault, Termination};

use crate::access::RegisterAccess;
use crate::device::Entry;
use crate::fault::{Cause, Recovery, StreamStatus};
use crate::firmware::{ANSWER, Channel, Global, Interface, RequestIgnored, SlotBlocks};
use crate::graphics::TilerBinding;
use crate::handle::Queue;
use crate::hw::Hw;
use crate::mmu::AddressSpace;
use crate::platform::{Instant, Platform};
use crate::queue::{Ended, Job, Stream, Waiting};
use crate::scheduler::Priority;
use crate::slab::{Key, Slab};
use crate::vm::Mapping;
use eitri_cs::SubQueue;
use eitri_csf::interface::control::Version;
use eitri_csf::interface::group::{
    CSG_ACK_IRQ_MASK, CSG_ALLOW_COMPUTE, CSG_ALLOW_FRAGMENT, CSG_ALLOW_OTHER, CSG_CONFIG,
    CSG_DB_ACK, CSG_DB_REQ, CSG_EP_REQ, CSG_EP_REQ2, CSG_PROTM_SUSPEND_BUF, CSG_SUSPEND_BUF,
    CsgState, csg_config, csg_req, ep_req,
};

/// Streams of a group.
pub(crate) const STREAMS: usize = SubQueue::ALL.len();

/// Which units a group may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoints {
    /// Shader cores.
    pub(crate) cores: u64,
    /// Tilers.
    pub(crate) tilers: u64,
}

/// Memory of a group.
#[derive(Debug)]
pub(crate) struct GroupMemory {
    /// Rings, in its own space, where the GPU only reads them.
    pub(crate) rings: Mapping,
    /// Sync objects, in its own space: its streams write them.
    pub(crate) syncs: Mapping,
    /// User pages, in the firmware's.
    pub(crate) pages: Mapping,
    /// Where the firmware saves it, in the firmware's.
    pub(crate) suspend: Mapping,
    /// The same for protected mode.
    pub(crate) protected: Option<Mapping>,
}

/// A group.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) priority: Priority,
    /// The units that it may use.
    pub(crate) endpoints: Endpoints,
    /// Its address space, and whether that goes with it.
    pub(crate) space: Key,
    pub(crate) owns_space: bool,
    pub(crate) streams: [Stream; STREAMS],
    pub(crate) memory: GroupMemory,
    pub(crate) residency: Residency,
    /// Raw commands of the owner may rely on what is in the streams' registers.
    pub(crate) relies_on_registers: bool,
    /// What its render passes tile into.
    pub(crate) tiler: Option<TilerBinding>,
    /// The smaller, the longer the group has waited for a slot.
    pub(crate) stamp: u64,
    /// The list that the group is in while it is on no slot.
    pub(crate) backlog: Entry,
    /// The end of the group, once it has to go for good.
    pub(crate) ending: Option<Ending>,
}

impl Group {
    /// Whether jobs are in flight.
    pub(crate) fn is_busy(&self) -> bool {
        self.streams.iter().any(Stream::is_busy)
    }

    /// Whether it would make use of a slot.
    pub(crate) fn is_ready(&self) -> bool {
        let could_run = match &self.residency {
            Residency::Off(off) => off.blocked.is_none(),
            Residency::Seated(seated) => !seated.idle,
            Residency::Dead => false,
        };
        could_run && self.ending.is_none() && self.is_busy()
    }

    /// Whether nothing of it is on a slot.
    pub(crate) const fn is_off(&self) -> bool {
        self.residency.seated().is_none()
    }

    /// Whether the group was saved while all that it has to do waits for sync objects.
    pub(crate) const fn is_blocked(&self) -> bool {
        matches!(&self.residency, Residency::Off(off) if off.blocked.is_some())
    }

    /// Whether the group is on its way to or from a slot, or has to leave it.
    pub(crate) const fn moves(&self) -> bool {
        match self.residency.seated() {
            Some(seated) => !seated.is_running() || self.ending.is_some(),
            None => false,
        }
    }

    /// Whether the suspend buffer holds a state.
    pub(crate) const fn has_saved_state(&self) -> bool {
        match &self.residency {
            Residency::Off(Off { saved, .. }) | Residency::Seated(Seated { saved, .. }) => {
                !matches!(saved, Saved::Nothing)
            }
            Residency::Dead => false,
        }
    }

    /// The group's slot, from start to end of its stay.
    pub(crate) fn slot(&self) -> Option<usize> {
        self.residency.seated().map(|seated| seated.slot)
    }

    /// The blocks of the group's slot.
    pub(crate) fn blocks<'i>(&self, interface: &'i Interface) -> Option<&'i SlotBlocks> {
        interface.slots.get(self.slot()?)
    }

    /// The group has work again; gives its slot if it runs there.
    #[inline]
    pub(crate) fn wake(&mut self) -> Option<usize> {
        match &mut self.residency {
            Residency::Off(off) => off.blocked = None,
            Residency::Seated(seated) => {
                seated.idle = false;
                return seated.is_running().then_some(seated.slot);
            }
            Residency::Dead => {}
        }
        None
    }

    /// Asks the firmware to start or resume the group on its slot.
    pub(crate) fn request_start<P: Platform>(
        &self,
        platform: &mut P,
        interface: &Interface,
        space: u32,
    ) {
        let (version, endpoints) = (interface.version, self.endpoints);
        let Some(seated) = self.residency.seated() else {
            return;
        };
        let Some(slot) = interface.slots.get(seated.slot) else {
            return;
        };
        let input = slot.input;
        discard_events(platform, slot);
        for (stream, blocks) in self.streams.iter().zip(&slot.streams) {
            // Doorbell 0 is the global one; all streams of slot g share g + 1.
            stream.prepare_start(platform, blocks, doorbell(slot));
        }
        input.write(platform, CSG_ALLOW_COMPUTE, endpoints.cores);
        input.write(platform, CSG_ALLOW_FRAGMENT, endpoints.cores);
        input.write(platform, CSG_ALLOW_OTHER, endpoints.tilers);
        write_endpoints(platform, slot, version, endpoints, seated.number);
        input.write(platform, CSG_CONFIG, csg_config::JASID.set(0, space));
        let memory = &self.memory;
        input.write(platform, CSG_SUSPEND_BUF, memory.suspend.address().0);
        let protected = memory.protected.as_ref();
        let protected = protected.map_or(0, |buffer| buffer.address().0);
        input.write(platform, CSG_PROTM_SUSPEND_BUF, protected);
        input.write(platform, CSG_ACK_IRQ_MASK, u64::from(u32::MAX));
        doorbells(slot).toggle(platform, ALL_STREAMS);
        let state = match seated.saved {
            Saved::Nothing => CsgState::Start,
            Saved::State | Saved::Uncertain => CsgState::Resume,
        };
        request_state(platform, slot, state);
        slot.requests().toggle(platform, csg_req::EP_CFG.mask32());
        ring(platform, &interface.global, slot);
    }

    /// The points that its streams have reached.
    pub(crate) fn reached<P: Platform>(&self, platform: &mut P) -> [u64; STREAMS] {
        let mut points = [0; STREAMS];
        for (point, stream) in points.iter_mut().zip(&self.streams) {
            *point = stream.reached(platform);
        }
        points
    }

    /// The sync objects that the streams of a group wait for which was saved, if they have nothing else to do.
    pub(crate) fn blocked_on<P: Platform>(
        &self,
        platform: &mut P,
        slot: &SlotBlocks,
        space: &AddressSpace,
    ) -> Option<[Option<Waiting>; STREAMS]> {
        let mut waiting = [None; STREAMS];
        for (waiting, blocks) in waiting.iter_mut().zip(&slot.streams) {
            *waiting = Waiting::read(platform, blocks);
        }
        (self.is_busy() && self.still_waits(platform, space, &waiting)).then_some(waiting)
    }

    /// Whether every stream waits for its sync object still, or has nothing to do.
    fn still_waits<P: Platform>(
        &self,
        platform: &mut P,
        space: &AddressSpace,
        waiting: &[Option<Waiting>; STREAMS],
    ) -> bool {
        let mut streams = self.streams.iter().zip(waiting);
        let still = |waiting: &Waiting, platform: &mut P| {
            let object = space.translate(platform, waiting.pointer);
            object.is_some_and(|(object, _)| !waiting.is_over(platform, object))
        };
        streams.all(|(stream, waiting)| {
            let waits = waiting.as_ref().is_some_and(|it| still(it, platform));
            !stream.is_busy() || waits
        })
    }

    /// Checks again whether a blocked group still is; without a space it is not.
    pub(crate) fn recheck_blocked<P: Platform>(
        &mut self,
        platform: &mut P,
        space: Option<&AddressSpace>,
    ) {
        let Residency::Off(Off { blocked, .. }) = self.residency else {
            return;
        };
        let waits = blocked.zip(space);
        let waits = waits.is_some_and(|(on, space)| self.still_waits(platform, space, &on));
        if !waits {
            self.wake();
        }
    }

    /// Takes the next job out of flight that the hardware has completed, of the streams from `number` on; `late` as
    /// [`Stream::retire`] has it.
    pub(crate) fn retire<P: Platform>(
        &mut self,
        number: &mut usize,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        late: Option<Recovery>,
    ) -> Option<Ended> {
        while let Some(stream) = self.streams.get_mut(*number) {
            let ended = stream.retire(platform, jobs, late);
            if ended.is_some() {
                return ended;
            }
            *number = number.wrapping_add(1);
        }
        None
    }

    /// Takes the next job out of flight, whatever became of it. If nothing was reported of it, it failed for `cause`.
    pub(crate) fn abandon(
        &mut self,
        jobs: &mut Slab<'_, Job>,
        cause: Cause,
        recovery: Recovery,
    ) -> Option<Ended> {
        let mut streams = self.streams.iter_mut();
        streams.find_map(|stream| stream.abandon(jobs, cause, recovery))
    }

    /// Answers what the slot reports in its words, if the group has one; rings for the answer if the firmware `lives`.
    pub(crate) fn take_reports<P: Platform>(
        &mut self,
        hw: &mut Hw<P>,
        jobs: &mut Slab<'_, Job>,
        words: SlotWords,
        queue: Queue,
        lives: bool,
        whom: Whom,
    ) -> Reported {
        let Some(slot) = self.blocks(&hw.interface) else {
            return Reported::NOTHING;
        };
        let reported = self.process_events(&mut hw.platform, jobs, queue, slot, words, whom);
        if reported.answered && lives {
            ring(&mut hw.platform, &hw.interface.global, slot);
        }
        reported
    }

    /// Whether the firmware has done what `request` asks the slot for.
    ///
    /// # Errors
    /// If it has not, and it is `late`.
    pub(crate) fn answered<P: Platform>(
        &self,
        hw: &mut Hw<P>,
        request: Request,
        late: bool,
    ) -> Result<bool, RequestIgnored> {
        let limit = hw.scaled(ANSWER);
        let Some(slot) = self.blocks(&hw.interface) else {
            return Ok(true);
        };
        let (requests, Request { what, mask }) = (slot.requests(), request);
        if requests.is_answered(&mut hw.platform, mask) {
            return Ok(true);
        }
        if late {
            return Err(requests.ignored(&mut hw.platform, what, mask, limit));
        }
        Ok(false)
    }

    /// The firmware has started the group: rings for what came into the rings since the start was requested.
    pub(crate) fn started<P: Platform>(&mut self, hw: &mut Hw<P>, now: Instant) {
        let slot = self.blocks(&hw.interface);
        let Some(seated) = self.residency.seated_mut() else {
            return;
        };
        seated.start_running(now);
        let unseen = core::mem::replace(&mut seated.unseen, false);
        if let Some(slot) = slot
            && unseen
            && self.has_words(&mut hw.platform)
        {
            hw.platform.ring(doorbell(slot));
        }
    }

    /// Asks the firmware to save or to drop the group; false if the group has no slot.
    pub(crate) fn request<P: Platform>(
        &mut self,
        hw: &mut Hw<P>,
        state: CsgState,
        stage: Stage,
    ) -> bool {
        let slot = self.blocks(&hw.interface);
        let (Some(seated), Some(slot)) = (self.residency.seated_mut(), slot) else {
            return false;
        };
        request_state(&mut hw.platform, slot, state);
        ring(&mut hw.platform, &hw.interface.global, slot);
        seated.stage = stage;
        true
    }

    /// Marks the streams of the slot as stopped, which the group leaves to its next user.
    pub(crate) fn mark_stopped<P: Platform>(&self, hw: &mut Hw<P>) {
        for blocks in self.blocks(&hw.interface).iter().flat_map(|it| &it.streams) {
            Stream::mark_stopped(&mut hw.platform, blocks);
        }
    }

    /// Whether a ring holds what was not consumed.
    pub(crate) fn has_words<P: Platform>(&self, platform: &mut P) -> bool {
        self.streams.iter().any(|stream| stream.has_words(platform))
    }

    /// Whether one of its jobs in flight has a fault.
    pub(crate) fn has_fault(&self, jobs: &Slab<'_, Job>, queue: Key) -> bool {
        let mut all = jobs.iter();
        all.any(|(_, job)| job.fence.queue.0 == queue && !job.over && job.fault.is_some())
    }

    /// A stream.
    pub(crate) fn stream(&self, sub_queue: SubQueue) -> Option<&Stream> {
        self.streams.get(sub_queue as usize)
    }

    /// A stream, to be changed.
    pub(crate) fn stream_mut(&mut self, sub_queue: SubQueue) -> Option<&mut Stream> {
        self.streams.get_mut(sub_queue as usize)
    }

    /// What a stream is doing, by the words that the firmware stored last.
    pub(crate) fn stream_status<P: Platform>(
        &self,
        platform: &mut P,
        slot: &SlotBlocks,
        sub_queue: SubQueue,
        fresh: bool,
    ) -> Option<StreamStatus> {
        let blocks = slot.streams.get(sub_queue as usize)?;
        Some(self.stream(sub_queue)?.poll(platform, blocks, fresh))
    }
}

/// A bit for each stream.
const ALL_STREAMS: u32 = (1 << STREAMS) - 1;

/// A request of a slot whose answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    what: &'static str,
    /// The bits that are equal once it was answered.
    mask: u32,
}

impl Request {
    pub(crate) const START: Request = Request {
        what: "the start of a group",
        mask: csg_req::STATE.mask32() | csg_req::EP_CFG.mask32(),
    };
    pub(crate) const SUSPEND: Request = Request {
        what: "the suspension of a group",
        mask: csg_req::STATE.mask32(),
    };
    pub(crate) const TERMINATE: Request = Request {
        what: "the end of a group",
        mask: csg_req::STATE.mask32(),
    };
}

/// What a change of the priority waits for.
pub(crate) const CONFIGURED: u32 = csg_req::EP_CFG.mask32();

/// Asks for a state of the slot. The doorbell is the caller's.
pub(crate) fn request_state<P: Platform>(platform: &mut P, slot: &SlotBlocks, state: CsgState) {
    let mask = csg_req::STATE.mask32();
    slot.requests()
        .set(platform, mask, csg_req::STATE.word(state));
}

/// Asks for fresh status words. The doorbell is the caller's.
pub(crate) fn request_status<P: Platform>(platform: &mut P, slot: &SlotBlocks) {
    slot.requests().toggle(platform, STATUS);
}

/// What fresh status words wait for.
pub(crate) const STATUS: u32 = csg_req::STATUS_UPDATE.mask32();

/// Gives a group on a slot another number. The doorbell is the caller's.
pub(crate) fn request_number<P: Platform>(
    platform: &mut P,
    slot: &SlotBlocks,
    version: Version,
    endpoints: Endpoints,
    number: u32,
) {
    write_endpoints(platform, slot, version, endpoints, number);
    slot.requests().toggle(platform, CONFIGURED);
}

fn write_endpoints<P: Platform>(
    platform: &mut P,
    slot: &SlotBlocks,
    version: Version,
    endpoints: Endpoints,
    number: u32,
) {
    let most = ep_req::COMPUTE.set(0, endpoints.cores.count_ones());
    let most = ep_req::FRAGMENT.set(most, endpoints.cores.count_ones());
    let most = ep_req::TILER.set(most, endpoints.tilers.count_ones());
    let request = ep_req::PRIORITY.set(most, number);
    let word = if version >= Version::EP_REQ2 {
        CSG_EP_REQ2
    } else {
        CSG_EP_REQ
    };
    slot.input.write(platform, word, request);
}

/// Answers whatever a slot has to say of a group that is not on it any more, or not yet: its next user must not hear of it.
/// (hardware/csf-scheduling.md 3.4 step 4.)
pub(crate) fn discard_events<P: Platform>(platform: &mut P, slot: &SlotBlocks) {
    events::discard(platform, slot);
}

/// Number of the doorbell of a slot's streams.
pub(crate) const fn doorbell(slot: &SlotBlocks) -> u32 {
    slot.number.wrapping_add(1)
}

/// Makes the firmware look at the requests of a slot.
pub(crate) fn ring<P: Platform>(platform: &mut P, global: &Global, slot: &SlotBlocks) {
    global.ring_slots(platform, 1_u32.checked_shl(slot.number).unwrap_or(0));
}

/// Makes the firmware look at the requests of some streams of a slot.
pub(crate) fn ring_streams<P: Platform>(
    platform: &mut P,
    global: &Global,
    slot: &SlotBlocks,
    streams: u32,
) {
    doorbells(slot).toggle(platform, streams);
    ring(platform, global, slot);
}

fn doorbells(slot: &SlotBlocks) -> Channel {
    Channel {
        req: &CSG_DB_REQ,
        ack: &CSG_DB_ACK,
        ..slot.requests()
    }
}
