//! Slots: what the host asked of one, and what the firmware answered.
//!
//! Facts: hardware/csf-firmware.md 9 to 11, csf-scheduling.md 3 and 11.

use super::group::{Group, Phase};
use super::interface::{GroupBlocks, Stop, Words};
use super::status::EVENTS;
use super::suspended::SuspendStore;
use crate::clock::Nanoseconds;
use crate::diagnosis::FirmwareMisuse;
use crate::injection::Injection;
use crate::mmu::MCU_SPACE;
use crate::stream::{SLOTS, Work};
use crate::trace::Event;
use alloc::vec::Vec;
use eitri_csf::interface::control::Version;
use eitri_csf::interface::group::{
    CSG_ACK, CSG_ACK_IRQ_MASK, CSG_ALLOW_COMPUTE, CSG_ALLOW_FRAGMENT, CSG_ALLOW_OTHER, CSG_CONFIG,
    CSG_DB_ACK, CSG_DB_REQ, CSG_EP_REQ, CSG_EP_REQ2, CSG_IRQ_REQ, CSG_REQ, CSG_STATUS_EP_CURRENT,
    CSG_STATUS_EP_REQ, CSG_SUSPEND_BUF, CsgState, csg_config, csg_req, ep_current, ep_wanted,
};
use eitri_csf::interface::handshake;
use eitri_csf::interface::stream::{CS_ACK, CS_REQ};
use eitri_csf::table::{Role, role_mask};

/// Requests of a group that are answered by copying REQ into ACK.
pub(super) const TOGGLES: u32 = role_mask(csg_req::FIELDS, Role::Toggle);

/// A slot: what firmware has written to the words that it answers with.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) number: u8,
    pub(super) ack: u32,
    /// Events that were raised and not acknowledged.
    pub(super) raised: u32,
    pub(super) doorbell_ack: u32,
    pub(super) irq_req: u32,
    pub(super) stream_acks: Vec<u32>,
    /// The same for streams.
    pub(super) stream_raised: Vec<u32>,
    pub(super) group: Option<Group>,
    /// Since when a request is seen that no doorbell was rung for.
    pub(super) silent_since: Option<Nanoseconds>,
}

impl Slot {
    /// A slot after boot. After a warm boot nothing is pending; after a cold one all words are the image's.
    pub(super) fn new(
        words: &mut Words<'_>,
        number: u8,
        blocks: &GroupBlocks,
        warm: bool,
    ) -> Result<Slot, Stop> {
        let mut slot = Slot {
            number,
            ack: words.get32(blocks.output, CSG_ACK)?,
            doorbell_ack: words.get32(blocks.output, CSG_DB_ACK)?,
            irq_req: words.get32(blocks.output, CSG_IRQ_REQ)?,
            raised: 0,
            stream_acks: Vec::new(),
            stream_raised: alloc::vec![0; blocks.streams.len()],
            group: None,
            silent_since: None,
        };
        for stream in &blocks.streams {
            let mut ack = words.get32(stream.output, CS_ACK)?;
            if warm {
                ack = words.get32(stream.input, CS_REQ)?;
                words.set32(stream.output, CS_ACK, ack)?;
            }
            slot.stream_acks.push(ack);
        }
        if warm {
            slot.ack = words.get32(blocks.input, CSG_REQ)?;
            words.set32(blocks.output, CSG_ACK, slot.ack)?;
            slot.doorbell_ack = words.get32(blocks.input, CSG_DB_REQ)?;
            words.set32(blocks.output, CSG_DB_ACK, slot.doorbell_ack)?;
        }
        Ok(slot)
    }

    fn state(&self) -> Option<CsgState> {
        csg_req::STATE.get(self.ack)
    }

    /// Writes CSG_ACK and tells the host of the bits that it wants to hear of.
    pub(super) fn acknowledge(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        ack: u32,
    ) -> Result<(), Stop> {
        let changed = self.ack ^ ack;
        if changed == 0 {
            return Ok(());
        }
        self.ack = ack;
        words.fabric.trace(Event::Answer {
            slot: Some(self.number),
            bits: changed,
        });
        words.set32(blocks.output, CSG_ACK, ack)?;
        let mask = words.get32(blocks.input, CSG_ACK_IRQ_MASK)?;
        if changed & mask != 0 {
            words.fabric.raise_job(1 << self.number);
        }
        Ok(())
    }

    /// What the host asked of the slot since the last doorbell for it.
    pub(super) fn process(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        store: &mut SuspendStore,
    ) -> Result<Change, Stop> {
        let req = words.get32(blocks.input, CSG_REQ)?;
        words.defend(blocks.output, CSG_ACK, self.ack)?;
        let requests = (req ^ self.ack) & (TOGGLES | csg_req::STATE.mask32());
        if requests != 0 {
            words.fabric.trace(Event::Request {
                slot: Some(self.number),
                bits: requests,
            });
        }
        self.check_request(words, req);
        let mut ack = self.ack;
        let mut change = Change::None;
        let wanted = csg_req::STATE.get(req);
        if wanted != self.state() {
            change = self.change_state(words, blocks, store, req)?;
        }
        if handshake::pending(req, self.ack, csg_req::EP_CFG.mask32()) {
            self.take_endpoints(words, blocks)?;
        }
        if handshake::pending(req, self.ack, csg_req::STATUS_UPDATE.mask32()) {
            self.store_status(words, blocks)?;
        }
        self.stream_doorbells(words, blocks)?;
        ack = handshake::answer(req, ack, TOGGLES);
        if change == Change::Done
            && let Some(state) = wanted
        {
            ack = csg_req::STATE.set32(ack, state);
        }
        if change == Change::Done
            && let Some(state) = wanted
        {
            self.trace_state(words, state);
        }
        self.acknowledge(words, blocks, ack)?;
        Ok(change)
    }

    /// Tells whoever traces that the group of the slot has reached a state.
    pub(super) fn trace_state(&self, words: &mut Words<'_>, state: CsgState) {
        words.fabric.trace(Event::Group {
            group: self.number,
            state,
        });
    }

    /// Reports reserved bits, and events acknowledged that were never raised.
    fn check_request(&mut self, words: &mut Words<'_>, req: u32) {
        words.check_events(CSG_REQ, req, self.ack, EVENTS, &mut self.raised);
        let reserved = CSG_REQ.reserved_bits() as u32 & req;
        if reserved != 0 {
            words.fabric.journal.report(FirmwareMisuse::ReservedBits {
                word: CSG_REQ.name,
                value: req,
                reserved,
            });
        }
    }

    fn change_state(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        store: &mut SuspendStore,
        req: u32,
    ) -> Result<Change, Stop> {
        let group = self.number;
        let value = req & csg_req::STATE.mask32();
        let Some(wanted) = csg_req::STATE.get(req) else {
            let misuse = FirmwareMisuse::GroupStateUnknown { group, value };
            words.fabric.journal.report(misuse);
            return Ok(Change::None);
        };
        let from = if self.group.is_some() {
            "on the slot"
        } else {
            "not on the slot"
        };
        let wrong = match wanted {
            CsgState::Start | CsgState::Resume => self.group.is_some(),
            CsgState::Suspend => self.group.is_none(),
            CsgState::Terminate => false,
        };
        if wrong {
            words
                .fabric
                .journal
                .report(FirmwareMisuse::GroupState { group, from, value });
        }
        let ignored = match wanted {
            CsgState::Terminate => Some(Injection::TerminateIgnored),
            CsgState::Suspend => Some(Injection::SuspendIgnored),
            CsgState::Start | CsgState::Resume => None,
        };
        let ignores = |it| (Some(it) == ignored).then_some(());
        if words.fabric.strike_at(Some(group), None, ignores).is_some() {
            return Ok(Change::None);
        }
        match wanted {
            CsgState::Terminate => {
                self.group = None;
                Ok(Change::Done)
            }
            CsgState::Suspend => match &mut self.group {
                Some(group) => {
                    group.phase = Phase::Suspending;
                    Ok(Change::Later)
                }
                None => Ok(Change::Done),
            },
            // From START to RESUME and back with the group still there: the words are taken as they are.
            CsgState::Start | CsgState::Resume if self.group.is_some() => Ok(Change::Done),
            CsgState::Start => {
                self.start(words, blocks)?;
                Ok(Change::Done)
            }
            CsgState::Resume => {
                self.start(words, blocks)?;
                self.resume(words, blocks, store)?;
                Ok(Change::Done)
            }
        }
    }

    fn start(&mut self, words: &mut Words<'_>, blocks: &GroupBlocks) -> Result<(), Stop> {
        let number = self.number;
        let space = csg_config::JASID.get(words.get32(blocks.input, CSG_CONFIG)?) as u8;
        let present = words.fabric.config.product.part.as_present >> space & 1 != 0;
        if space == MCU_SPACE || !present || words.fabric.mmu.space(space).is_unmapped() {
            let misuse = FirmwareMisuse::NoSuchSpace {
                group: number,
                space,
            };
            words.fabric.journal.report(misuse);
        }
        self.group = Some(Group {
            space,
            allow_compute: 0,
            allow_fragment: 0,
            allow_other: 0,
            endpoints: 0,
            permits: [0; Work::ALL.len()],
            suspend_buffer: words.get(blocks.input, CSG_SUSPEND_BUF)?,
            streams: blocks.streams.iter().map(|_| None).collect(),
            shared: [0; SLOTS],
            phase: Phase::Active,
            look_at_rings: false,
            pending_events: 0,
            idle_reported: false,
            last_progress: words.fabric.clock.now(),
            progress_reported: false,
        });
        self.take_endpoints(words, blocks)?;
        for stream in 0..blocks.streams.len() {
            let req = words.get32(blocks.streams[stream].input, CS_REQ)?;
            self.forget_events(words, blocks, stream, req)?;
            self.take_stream(words, blocks, stream, req)?;
        }
        Ok(())
    }

    /// Takes limits, masks and priority.
    fn take_endpoints(&mut self, words: &mut Words<'_>, blocks: &GroupBlocks) -> Result<(), Stop> {
        let number = self.number;
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        let newer = words.fabric.interface >= Version::EP_REQ2;
        let word = if newer { CSG_EP_REQ2 } else { CSG_EP_REQ };
        group.endpoints = words.get(blocks.input, word)? as u32;
        group.allow_compute = words.get(blocks.input, CSG_ALLOW_COMPUTE)?;
        group.allow_fragment = words.get(blocks.input, CSG_ALLOW_FRAGMENT)?;
        group.allow_other = words.get32(blocks.input, CSG_ALLOW_OTHER)?;
        let part = &words.fabric.config.product.part;
        let absent = (group.allow_compute | group.allow_fragment) & !part.shader_present;
        if absent != 0 {
            let misuse = FirmwareMisuse::AllowAbsentCores {
                group: number,
                mask: absent,
            };
            words.fabric.journal.report(misuse);
        }
        Ok(())
    }

    /// STATUS_EP_*: what the group wants and what it holds.
    pub(super) fn store_endpoints(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let Some(group) = &self.group else {
            return Ok(());
        };
        let fields = ep_wanted::FIELDS.iter();
        let wanted = fields.fold(0, |mask, field| mask | field.mask() as u32);
        words.set32(blocks.output, CSG_STATUS_EP_REQ, group.endpoints & wanted)?;
        let held = ep_current::COMPUTE.word(group.held(Work::Compute));
        let held = ep_current::FRAGMENT.set32(held, group.held(Work::Fragment));
        let held = ep_current::TILER.set32(held, group.held(Work::Tiling));
        words.set32(blocks.output, CSG_STATUS_EP_CURRENT, held)
    }
}

/// What a request to change the state led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// The state is reached.
    Done,
    /// It will be reached.
    Later,
}
