//! Groups: streams that share an address space, a priority and a suspend buffer, on a slot of the firmware.
//!
//! Facts: hardware/csf-scheduling.md sections 2 and 3.

mod events;

pub(crate) use events::Verdict;

use crate::fault::{JobFault, Recovery, StreamStatus};
use crate::firmware::{ANSWER, Channel, Global, MAX_STREAMS, RequestIgnored, SlotBlocks};
use crate::platform::Platform;
use crate::queue::{Stream, StreamMemory};
use crate::vm::Object;
use eitri_csf::interface::control::Version;
use eitri_csf::interface::group::{
    CSG_ACK_IRQ_MASK, CSG_ALLOW_COMPUTE, CSG_ALLOW_FRAGMENT, CSG_ALLOW_OTHER, CSG_CONFIG,
    CSG_DB_ACK, CSG_DB_REQ, CSG_EP_REQ, CSG_EP_REQ2, CSG_PROTM_SUSPEND_BUF, CSG_SUSPEND_BUF,
    CsgState, csg_config, csg_req, ep_req,
};
use heapless::Vec;

/// Groups at most: every queue is one.
pub(crate) const MAX_GROUPS: usize = 4;
/// Objects of a group at most.
pub(crate) const MAX_OBJECTS: usize = 2 + 3 * MAX_STREAMS;

/// Which units a group may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoints {
    /// Shader cores.
    pub(crate) cores: u64,
    /// Tilers.
    pub(crate) tilers: u64,
}

/// Whether a group takes work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupState {
    /// It is on its slot and runs.
    Active,
    /// It was terminated; its slot is free once the group is destroyed.
    Dead,
}

/// Identifies a group for as long as the device lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupId(pub(crate) u32);

/// Buffers into which the firmware saves a group.
#[derive(Debug)]
pub(crate) struct SuspendBuffers {
    pub(crate) normal: Object,
    pub(crate) protected: Option<Object>,
}

/// A group on a slot.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) id: GroupId,
    pub(crate) slot: SlotBlocks,
    pub(crate) streams: Vec<Stream, MAX_STREAMS>,
    pub(crate) state: GroupState,
    suspend: SuspendBuffers,
    priority: u32,
}

impl Group {
    /// A group that is not started yet. `priority` is its own among all slots: 15 is highest.
    pub(crate) fn new(
        id: GroupId,
        slot: SlotBlocks,
        streams: Vec<Stream, MAX_STREAMS>,
        suspend: SuspendBuffers,
        priority: u32,
    ) -> Group {
        Group {
            id,
            slot,
            streams,
            state: GroupState::Dead,
            suspend,
            priority,
        }
    }

    /// Puts the group onto its slot and waits until the firmware runs it.
    pub(crate) fn start<P: Platform>(
        &mut self,
        platform: &mut P,
        global: &Global,
        endpoints: Endpoints,
        space: u32,
    ) -> Result<(), RequestIgnored> {
        let input = self.slot.input;
        self.discard_events(platform);
        for (stream, blocks) in self.streams.iter().zip(&self.slot.streams) {
            // Doorbell 0 is the global one; all streams of slot g share g + 1.
            stream.prepare_start(platform, blocks, self.doorbell());
        }
        input.write(platform, CSG_ALLOW_COMPUTE, endpoints.cores);
        input.write(platform, CSG_ALLOW_FRAGMENT, endpoints.cores);
        input.write(platform, CSG_ALLOW_OTHER, endpoints.tilers);
        let most = ep_req::COMPUTE.set(0, endpoints.cores.count_ones());
        let most = ep_req::FRAGMENT.set(most, endpoints.cores.count_ones());
        let most = ep_req::TILER.set(most, endpoints.tilers.count_ones());
        let request = ep_req::PRIORITY.set(most, self.priority);
        let word = if global.version >= Version::EP_REQ2 {
            CSG_EP_REQ2
        } else {
            CSG_EP_REQ
        };
        input.write(platform, word, request);
        input.write(platform, CSG_CONFIG, csg_config::JASID.set(0, space));
        input.write(platform, CSG_SUSPEND_BUF, self.suspend.normal.address().0);
        let protected = self
            .suspend
            .protected
            .as_ref()
            .map_or(0, |buffer| buffer.address().0);
        input.write(platform, CSG_PROTM_SUSPEND_BUF, protected);
        input.write(platform, CSG_ACK_IRQ_MASK, u64::from(u32::MAX));

        self.doorbells().toggle(platform, self.all_streams());
        let requests = self.slot.requests();
        let (state, config) = (csg_req::STATE.mask32(), csg_req::EP_CFG.mask32());
        requests.set(platform, state, csg_req::STATE.word(CsgState::Start));
        requests.toggle(platform, config);
        global.ring_slots(platform, self.slot_bit());
        requests.answered(platform, "the start of a group", state | config, ANSWER)?;
        self.state = GroupState::Active;
        Ok(())
    }

    /// Takes the group off its slot at once. Its unfinished jobs are lost; what the slot still reports of them is theirs.
    ///
    /// # Errors
    /// If the firmware does not answer: only a restart of the GPU helps. The group counts as dead all the same.
    pub(crate) fn terminate<P: Platform>(
        &mut self,
        platform: &mut P,
        global: &Global,
    ) -> Result<(), RequestIgnored> {
        if self.state == GroupState::Dead {
            return Ok(());
        }
        let requests = self.slot.requests();
        let state = csg_req::STATE.mask32();
        requests.set(platform, state, csg_req::STATE.word(CsgState::Terminate));
        global.ring_slots(platform, self.slot_bit());
        let answered = requests.answered(platform, "the end of a group", state, ANSWER);
        for (stream, blocks) in self.streams.iter().zip(&self.slot.streams) {
            stream.mark_stopped(platform, blocks);
        }
        let _ = self.process_events(platform, global);
        self.discard_events(platform);
        self.end(platform, Recovery::NewQueue);
        answered
    }

    /// Says that nothing of the group runs any more. Jobs of which nothing was reported are lost with it; `recovery` is
    /// what their owner has to do.
    pub(crate) fn end<P: Platform>(&mut self, platform: &mut P, recovery: Recovery) {
        self.state = GroupState::Dead;
        for stream in &mut self.streams {
            stream.end(platform, recovery);
        }
    }

    /// What stopped the group's streams: the costliest.
    pub(crate) fn stopped(&self) -> Option<&JobFault> {
        let stopped = self.streams.iter().filter_map(Stream::stopped);
        stopped.max_by_key(|fault| fault.recovery)
    }

    /// What a stream is doing, refreshed by the firmware if it still answers.
    pub(crate) fn status<P: Platform>(
        &self,
        platform: &mut P,
        global: &Global,
        number: usize,
    ) -> Option<StreamStatus> {
        let requests = self.slot.requests();
        let update = csg_req::STATUS_UPDATE.mask32();
        requests.toggle(platform, update);
        global.ring_slots(platform, self.slot_bit());
        let fresh = requests
            .answered(platform, "a status update", update, ANSWER)
            .is_ok();
        let stream = self.streams.get(number)?;
        Some(stream.status(platform, self.slot.streams.get(number)?, fresh))
    }

    /// The group's memory, to be given back. It must be dead.
    pub(crate) fn into_objects(mut self) -> Vec<Object, MAX_OBJECTS> {
        let mut objects = Vec::new();
        // There is room for two suspend buffers and three objects a stream: MAX_OBJECTS.
        let mut keep = |object| drop(objects.push(object));
        while let Some(stream) = self.streams.pop() {
            let StreamMemory { ring, sync, pages } = stream.into_memory();
            [ring, sync, pages].into_iter().for_each(&mut keep);
        }
        keep(self.suspend.normal);
        self.suspend.protected.into_iter().for_each(&mut keep);
        objects
    }

    /// Its priority among slots.
    pub(crate) const fn priority(&self) -> u32 {
        self.priority
    }

    /// Number of the doorbell of the group's streams.
    pub(crate) const fn doorbell(&self) -> u32 {
        self.slot.number.wrapping_add(1)
    }

    /// The slot's bit in words that have one a slot.
    pub(crate) fn slot_bit(&self) -> u32 {
        1_u32.checked_shl(self.slot.number).unwrap_or(0)
    }

    fn doorbells(&self) -> Channel {
        Channel {
            req: CSG_DB_REQ,
            ack: CSG_DB_ACK,
            ..self.slot.requests()
        }
    }

    fn all_streams(&self) -> u32 {
        let count = u32::try_from(self.streams.len()).unwrap_or(0);
        1_u32.checked_shl(count).unwrap_or(0).wrapping_sub(1)
    }
}
