//! Groups: streams that share an address space, a priority and a suspend buffer. A group has a slot of the firmware only while
//! the scheduler gives it one.
//!
//! Every request to the firmware is a state with a deadline; nothing here waits.
//! Facts: hardware/csf-scheduling.md sections 2 and 3.

mod events;

use crate::device::Entry;
use crate::fault::{JobFault, StreamStatus};
use crate::firmware::{Channel, Global, SlotBlocks};
use crate::mmu::{AddressSpace, MmuFault};
use crate::platform::{Instant, Platform};
use crate::queue::{Job, Stream, Waiting};
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

/// Where a group is, and where it is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    /// On no slot: never started, or saved.
    Off,
    /// It has a slot, and waits for its address space to be in the hardware.
    Seating,
    /// To be started or resumed, by then.
    Starting {
        /// The firmware's deadline.
        until: Instant,
    },
    /// On its slot since then.
    On {
        /// When it came.
        since: Instant,
    },
    /// To be saved, by then.
    Suspending {
        /// The firmware's deadline.
        until: Instant,
    },
    /// To be dropped, by then.
    Terminating {
        /// The firmware's deadline.
        until: Instant,
    },
    /// It will never run again.
    Dead,
}

/// Why a group has to go for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doom {
    /// One of its streams can't go on.
    Stream,
    /// Its owner says so.
    Cancelled,
    /// It did not let itself be saved.
    NotSuspended,
    /// Its address space has a fault. Streams have until then to say which job did it; the points that they had reached.
    Space {
        /// The fault.
        fault: MmuFault,
        /// The end of the streams' time.
        until: Instant,
        /// Points of the streams.
        reached: [u64; STREAMS],
    },
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
    /// Its slot, from start to end of its stay.
    pub(crate) slot: Option<usize>,
    /// Its priority's number among slots.
    pub(crate) number: u32,
    /// Its state is in the suspend buffer.
    pub(crate) saved: bool,
    /// The firmware says that it has nothing to do now.
    pub(crate) idle: bool,
    /// Jobs came into its rings after it was asked to start.
    pub(crate) unseen: bool,
    /// Streams whose tiler heaps have no memory left, a bit for each: the device answers them.
    pub(crate) exhausted: u32,
    /// It was saved while all that it has to do waited for sync objects, and still does.
    pub(crate) blocked: bool,
    /// What its streams waited for then.
    pub(crate) waiting: [Option<Waiting>; STREAMS],
    /// What it was saved to may not have reached memory before the GPU was stopped.
    pub(crate) adrift: bool,
    /// Its streams were given work of another driver's, which may rely on what is in their registers.
    pub(crate) keeps_state: bool,
    /// The smaller, the longer it has waited for a slot.
    pub(crate) stamp: u64,
    /// The list that it is in while it is on no slot.
    pub(crate) backlog: Entry,
    /// It has to go for good.
    pub(crate) doom: Option<Doom>,
    /// What stopped it.
    pub(crate) stopped: Option<JobFault>,
    /// Its owner has given it up: its memory is given back when it is on no slot.
    pub(crate) leaving: bool,
}

impl Group {
    /// Whether jobs are in flight.
    pub(crate) fn is_busy(&self) -> bool {
        self.streams.iter().any(Stream::is_busy)
    }

    /// Whether it would make use of a slot.
    pub(crate) fn is_ready(&self) -> bool {
        let alive = self.doom.is_none() && self.residency != Residency::Dead;
        alive && self.is_busy() && !self.idle && !self.blocked
    }

    /// Whether nothing of it is on a slot.
    pub(crate) const fn is_off(&self) -> bool {
        matches!(self.residency, Residency::Off | Residency::Dead)
    }

    /// Asks the firmware to start or resume the group on a slot. The doorbell is the caller's.
    pub(crate) fn request_start<P: Platform>(
        &self,
        platform: &mut P,
        slot: &SlotBlocks,
        version: Version,
        space: u32,
    ) {
        let endpoints = self.endpoints;
        let input = slot.input;
        discard_events(platform, slot);
        for (stream, blocks) in self.streams.iter().zip(&slot.streams) {
            // Doorbell 0 is the global one; all streams of slot g share g + 1.
            stream.prepare_start(platform, blocks, doorbell(slot));
        }
        input.write(platform, CSG_ALLOW_COMPUTE, endpoints.cores);
        input.write(platform, CSG_ALLOW_FRAGMENT, endpoints.cores);
        input.write(platform, CSG_ALLOW_OTHER, endpoints.tilers);
        write_endpoints(platform, slot, version, endpoints, self.number);
        input.write(platform, CSG_CONFIG, csg_config::JASID.set(0, space));
        let memory = &self.memory;
        input.write(platform, CSG_SUSPEND_BUF, memory.suspend.address().0);
        let protected = memory.protected.as_ref();
        let protected = protected.map_or(0, |buffer| buffer.address().0);
        input.write(platform, CSG_PROTM_SUSPEND_BUF, protected);
        input.write(platform, CSG_ACK_IRQ_MASK, u64::from(u32::MAX));
        doorbells(slot).toggle(platform, ALL_STREAMS);
        let state = match self.saved {
            true => CsgState::Resume,
            false => CsgState::Start,
        };
        request_state(platform, slot, state);
        slot.requests().toggle(platform, csg_req::EP_CFG.mask32());
    }

    /// The points that its streams have reached.
    pub(crate) fn reached<P: Platform>(&self, platform: &mut P) -> [u64; STREAMS] {
        let mut points = [0; STREAMS];
        for (point, stream) in points.iter_mut().zip(&self.streams) {
            *point = stream.reached(platform);
        }
        points
    }

    /// Takes in what the streams of a group that was saved wait for.
    pub(crate) fn note_waiting<P: Platform>(&mut self, platform: &mut P, slot: &SlotBlocks) {
        for (waiting, blocks) in self.waiting.iter_mut().zip(&slot.streams) {
            *waiting = Waiting::read(platform, blocks);
        }
    }

    /// Whether every stream of a group that was saved waits for a sync object or has nothing to do.
    pub(crate) fn waits<P: Platform>(&self, platform: &mut P, space: &AddressSpace) -> bool {
        let mut streams = self.streams.iter().zip(&self.waiting);
        let still = |waiting: &Waiting, platform: &mut P| {
            let object = space.translate(platform, waiting.pointer);
            object.is_some_and(|(object, _)| !waiting.is_over(platform, object))
        };
        streams.all(|(stream, waiting)| {
            let waits = waiting.as_ref().is_some_and(|it| still(it, platform));
            !stream.is_busy() || waits
        })
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
    pub(crate) fn look<P: Platform>(
        &self,
        platform: &mut P,
        slot: &SlotBlocks,
        sub_queue: SubQueue,
        fresh: bool,
    ) -> Option<StreamStatus> {
        let blocks = slot.streams.get(sub_queue as usize)?;
        Some(self.stream(sub_queue)?.look(platform, blocks, fresh))
    }

    /// Keeps what stopped the group: the first, or what costs most.
    pub(crate) fn stop(&mut self, fault: JobFault) {
        if self
            .stopped
            .is_none_or(|kept| kept.recovery < fault.recovery)
        {
            self.stopped = Some(fault);
        }
    }
}

/// A bit for each stream.
const ALL_STREAMS: u32 = (1 << STREAMS) - 1;

/// What a start waits for.
pub(crate) const STARTED: u32 = csg_req::STATE.mask32() | csg_req::EP_CFG.mask32();
/// What a suspend or a termination waits for.
pub(crate) const CHANGED: u32 = csg_req::STATE.mask32();
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
    let word = match version >= Version::EP_REQ2 {
        true => CSG_EP_REQ2,
        false => CSG_EP_REQ,
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
