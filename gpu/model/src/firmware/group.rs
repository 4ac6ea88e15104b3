//! Groups on slots: what the host asked for, what the firmware answered, and how streams are taken on.
//!
//! Facts: hardware/csf-firmware.md 9 to 11, csf-scheduling.md 3 and 11.

use super::interface::{GroupBlocks, Stop, Words};
use super::suspended::SuspendStore;
use crate::clock::Nanoseconds;
use crate::diagnosis::FirmwareMisuse;
use crate::injection::Injection;
use crate::mmu::{MCU_SPACE, Refusal};
use crate::stream::{Blocked, Identity, Ring, Stream, exception};
use alloc::vec::Vec;
use eitri_csf::interface::group::{
    CSG_ACK, CSG_ACK_IRQ_MASK, CSG_ALLOW_COMPUTE, CSG_ALLOW_FRAGMENT, CSG_CONFIG, CSG_DB_ACK,
    CSG_DB_REQ, CSG_EP_REQ, CSG_IRQ_REQ, CSG_REQ, CSG_STATUS_EP_CURRENT, CSG_STATUS_EP_REQ,
    CSG_STATUS_STATE, CSG_SUSPEND_BUF, CsgState, csg_config, csg_req, ep_req,
};
use eitri_csf::interface::handshake;
use eitri_csf::interface::stream::{
    CS_ACK, CS_ACK_IRQ_MASK, CS_BASE, CS_CONFIG, CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO,
    CS_HEAP_ADDRESS, CS_HEAP_FRAG_END, CS_HEAP_VT_END, CS_HEAP_VT_START, CS_REQ, CS_SIZE,
    CS_STATUS_BLOCKED_REASON, CS_STATUS_CMD_PTR, CS_STATUS_REQ_RESOURCE, CS_STATUS_SCOREBOARDS,
    CS_STATUS_WAIT, CS_STATUS_WAIT_SYNC_POINTER, CS_STATUS_WAIT_SYNC_VALUE,
    CS_STATUS_WAIT_SYNC_VALUE_HI, CS_USER_INPUT, CS_USER_OUTPUT, CsState, cs_config, cs_req,
};
use eitri_csf::interface::user_pages::{CS_ACTIVE, CS_EXTRACT, CS_EXTRACT_INIT, CS_INSERT};
use eitri_csf::table::{Role, role_mask};

/// Requests of a group that are answered by copying REQ into ACK.
const TOGGLES: u32 = role_mask(csg_req::FIELDS, Role::Toggle);
/// Events that a group raises.
const EVENTS: u32 = role_mask(csg_req::FIELDS, Role::Event);
/// Events that a stream raises.
const STREAM_EVENTS: u32 = role_mask(cs_req::FIELDS, Role::Event);

/// What a group on a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its streams run.
    Active,
    /// Its streams have stopped; jobs in flight finish, then it is saved.
    Suspending,
}

/// A group on a slot.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) space: u8,
    pub(super) allow_compute: u64,
    pub(super) endpoints: u32,
    suspend_buffer: u64,
    pub(super) streams: Vec<Option<Stream>>,
    pub(super) phase: Phase,
    /// Events that wait to be raised.
    pub(super) pending_events: u32,
    /// Whether IDLE was reported since it last worked.
    pub(super) idle_reported: bool,
    /// When it last made progress.
    pub(super) last_progress: Nanoseconds,
    pub(super) progress_reported: bool,
}

/// A slot: what firmware has written to the words that it answers with.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) number: u8,
    ack: u32,
    doorbell_ack: u32,
    irq_req: u32,
    stream_acks: Vec<u32>,
    pub(super) group: Option<Group>,
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
            stream_acks: Vec::new(),
            group: None,
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
    fn acknowledge(
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
        self.acknowledge(words, blocks, ack)?;
        Ok(change)
    }

    /// Reports reserved bits, and events acknowledged that were never raised.
    fn check_request(&mut self, words: &mut Words<'_>, req: u32) {
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
        let injections = &words.fabric.injections;
        match wanted {
            CsgState::Terminate if injections.holds(Injection::TerminateIgnored) => {
                Ok(Change::None)
            }
            CsgState::Suspend if injections.holds(Injection::SuspendIgnored) => Ok(Change::None),
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
            endpoints: 0,
            suspend_buffer: words.get(blocks.input, CSG_SUSPEND_BUF)?,
            streams: blocks.streams.iter().map(|_| None).collect(),
            phase: Phase::Active,
            pending_events: 0,
            idle_reported: false,
            last_progress: words.fabric.clock.now(),
            progress_reported: false,
        });
        self.take_endpoints(words, blocks)?;
        for stream in 0..blocks.streams.len() {
            let req = words.get32(blocks.streams[stream].input, CS_REQ)?;
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
        group.endpoints = words.get32(blocks.input, CSG_EP_REQ)?;
        group.allow_compute = words.get(blocks.input, CSG_ALLOW_COMPUTE)?;
        let fragment = words.get(blocks.input, CSG_ALLOW_FRAGMENT)?;
        let present = words.fabric.config.product.part.shader_present;
        let absent = (group.allow_compute | fragment) & !present;
        if absent != 0 {
            let misuse = FirmwareMisuse::AllowAbsentCores {
                group: number,
                mask: absent,
            };
            words.fabric.journal.report(misuse);
        }
        words.set32(
            blocks.output,
            CSG_STATUS_EP_REQ,
            group.endpoints & 0x003f_ffff,
        )?;
        words.set32(
            blocks.output,
            CSG_STATUS_EP_CURRENT,
            group.endpoints & 0x000f_ffff,
        )
    }

    /// Starts or stops a stream as CS_REQ says.
    fn take_stream(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        index: usize,
        req: u32,
    ) -> Result<(), Stop> {
        let (group_number, stream_number) = (self.number, index as u8);
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        let at = blocks.streams[index];
        let current = &mut group.streams[index];
        match cs_req::STATE.get(req) {
            Some(CsState::Start) if current.is_none() => {
                let ring = Ring {
                    base: words.get(at.input, CS_BASE)?,
                    size: words.get32(at.input, CS_SIZE)?,
                    user_input: words.get(at.input, CS_USER_INPUT)?,
                    user_output: words.get(at.input, CS_USER_OUTPUT)?,
                    position: 0,
                    insert: 0,
                    published: 0,
                };
                let config = words.get32(at.input, CS_CONFIG)?;
                let doorbell = cs_config::DOORBELL.get(config);
                let identity = Identity {
                    group: group_number,
                    stream: stream_number,
                    space: group.space,
                };
                let mut stream = Stream::new(words.fabric, identity, doorbell, ring);
                begin(words, &mut stream)?;
                *current = Some(stream);
            }
            Some(CsState::Start) => {}
            Some(CsState::Stop) => *current = None,
            None => {
                words
                    .fabric
                    .journal
                    .report(FirmwareMisuse::StreamStateUnknown {
                        group: group_number,
                        stream: stream_number,
                        value: req & cs_req::STATE.mask32(),
                    });
                return Ok(());
            }
        }
        let state = cs_req::STATE.mask32() | cs_req::EXTRACT_EVENT.mask32();
        let ack = handshake::answer(req, self.stream_acks[index], state);
        self.acknowledge_stream(words, blocks, index, ack)
    }

    /// Writes CS_ACK and, if the host wants to hear of the bits, toggles IRQ_REQ and interrupts.
    fn acknowledge_stream(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        index: usize,
        ack: u32,
    ) -> Result<(), Stop> {
        let changed = self.stream_acks[index] ^ ack;
        if changed == 0 {
            return Ok(());
        }
        let at = blocks.streams[index];
        self.stream_acks[index] = ack;
        words.set32(at.output, CS_ACK, ack)?;
        let mask = words.get32(at.input, CS_ACK_IRQ_MASK)?;
        // FACT: whether STATE changes of a stream interrupt is not said; only events are reported through IRQ_REQ.
        if changed & mask & STREAM_EVENTS != 0 {
            self.irq_req ^= 1 << index;
            words.set32(blocks.output, CSG_IRQ_REQ, self.irq_req)?;
            words.fabric.raise_job(1 << self.number);
        }
        Ok(())
    }

    /// CSG_DB_REQ: streams that the host rang for.
    fn stream_doorbells(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let req = words.get32(blocks.input, CSG_DB_REQ)?;
        let rung = req ^ self.doorbell_ack;
        self.doorbell_ack = req;
        words.set32(blocks.output, CSG_DB_ACK, req)?;
        let absent = rung.checked_shr(blocks.streams.len() as u32).unwrap_or(0);
        if absent != 0 {
            words
                .fabric
                .journal
                .report(FirmwareMisuse::DoorbellOfAbsentStream {
                    group: self.number,
                    bits: absent << blocks.streams.len(),
                });
        }
        for index in 0..blocks.streams.len() {
            let stream_req = words.get32(blocks.streams[index].input, CS_REQ)?;
            if rung >> index & 1 != 0 {
                self.stream_doorbell(words, blocks, index, stream_req)?;
            }
        }
        Ok(())
    }

    fn stream_doorbell(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        index: usize,
        req: u32,
    ) -> Result<(), Stop> {
        let events = STREAM_EVENTS & (req ^ self.stream_acks[index]);
        self.take_stream(words, blocks, index, req)?;
        let Some(stream) = self
            .group
            .as_mut()
            .and_then(|group| group.streams[index].as_mut())
        else {
            return Ok(());
        };
        let acknowledged = events & cs_req::FAULT.mask32() == 0;
        if stream.blocked == Blocked::Fault && acknowledged {
            // The host has seen the oldest fault; the next one, if any, is reported before anything goes on.
            if !stream.faults.is_empty() && stream.reported {
                stream.faults.remove(0);
                stream.reported = false;
            }
            if stream.faults.is_empty() {
                stream.blocked = Blocked::No;
            }
        }
        look_at_insert(words, stream)
    }

    /// The stream whose own doorbell is `number` looks at its ring; whether there is one.
    pub(super) fn user_doorbell(
        &mut self,
        words: &mut Words<'_>,
        number: u32,
    ) -> Result<bool, Stop> {
        let Some(group) = &mut self.group else {
            return Ok(false);
        };
        let mut found = false;
        for stream in group.streams.iter_mut().flatten() {
            if stream.doorbell == number {
                look_at_insert(words, stream)?;
                found = true;
            }
        }
        Ok(found)
    }

    /// Stores what the streams are doing.
    pub(super) fn store_status(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let Some(group) = &self.group else {
            return Ok(());
        };
        let idle = u32::from(group.idle_reported);
        words.set32(blocks.output, CSG_STATUS_STATE, idle)?;
        for (stream, at) in group.streams.iter().zip(&blocks.streams) {
            let Some(stream) = stream else { continue };
            let (pointer, value) = match stream.blocked {
                Blocked::Sync(wait) => (wait.address, wait.reference),
                _ => (0, 0),
            };
            let out = at.output;
            words.set(out, CS_STATUS_CMD_PTR, stream.address())?;
            words.set32(out, CS_STATUS_WAIT, stream.wait_status())?;
            words.set32(out, CS_STATUS_REQ_RESOURCE, stream.resource_status())?;
            words.set(out, CS_STATUS_WAIT_SYNC_POINTER, pointer)?;
            words.set32(out, CS_STATUS_WAIT_SYNC_VALUE, value as u32)?;
            words.set32(out, CS_STATUS_WAIT_SYNC_VALUE_HI, (value >> 32) as u32)?;
            words.set32(out, CS_STATUS_SCOREBOARDS, stream.scoreboard_status())?;
            words.set32(out, CS_STATUS_BLOCKED_REASON, stream.blocked_reason())?;
            let [started, ended, fragment] = stream.heap_counters();
            words.set32(out, CS_HEAP_VT_START, started)?;
            words.set32(out, CS_HEAP_VT_END, ended)?;
            words.set32(out, CS_HEAP_FRAG_END, fragment)?;
            words.set(out, CS_HEAP_ADDRESS, stream.heap_address())?;
        }
        Ok(())
    }

    /// Reports the oldest fault of each stream that has one the host has not heard of.
    pub(super) fn report_faults(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        for index in 0..blocks.streams.len() {
            let Some(stream) = self
                .group
                .as_mut()
                .and_then(|group| group.streams[index].as_mut())
            else {
                continue;
            };
            let Some(fault) = stream.faults.first().copied() else {
                continue;
            };
            if stream.reported {
                continue;
            }
            let address = stream.address();
            let at = blocks.streams[index];
            let (word, info, event) = if fault.fatal {
                (CS_FATAL, CS_FATAL_INFO, cs_req::FATAL.mask32())
            } else {
                (CS_FAULT, CS_FAULT_INFO, cs_req::FAULT.mask32())
            };
            let req = words.get32(at.input, CS_REQ)?;
            if handshake::pending(req, self.stream_acks[index], event) {
                continue;
            }
            stream.reported = true;
            words.set32(at.output, word, fault.exception.into())?;
            words.set(at.output, info, fault.info)?;
            words.set(at.output, CS_STATUS_CMD_PTR, address)?;
            let ack = handshake::raise(req, self.stream_acks[index], event);
            self.acknowledge_stream(words, blocks, index, ack)?;
        }
        Ok(())
    }

    /// Raises the events that wait and whose last occurrence was acknowledged.
    pub(super) fn raise_events(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        if group.pending_events == 0 {
            return Ok(());
        }
        let req = words.get32(blocks.input, CSG_REQ)?;
        let free = group.pending_events & !(req ^ self.ack) & EVENTS;
        group.pending_events &= !free;
        let ack = handshake::raise(req, self.ack, free);
        self.acknowledge(words, blocks, ack)
    }

    /// Publishes how far rings are consumed, and whether streams work.
    pub(super) fn publish(&mut self, words: &mut Words<'_>) -> Result<(), Stop> {
        for stream in self
            .group
            .iter_mut()
            .flat_map(|group| group.streams.iter_mut())
            .flatten()
        {
            publish(words, stream)?;
        }
        Ok(())
    }

    /// Saves the group and frees the slot.
    pub(super) fn finish_suspend(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        store: &mut SuspendStore,
    ) -> Result<(), Stop> {
        self.store_status(words, blocks)?;
        self.publish(words)?;
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        let address = group.suspend_buffer;
        let record = store.keep(&mut words.fabric.journal, group.streams);
        if words.set_at(address, &record).is_err() {
            words.fabric.journal.report(FirmwareMisuse::SuspendBuffer {
                group: self.number,
                address,
            });
        }
        let ack = csg_req::STATE.set32(self.ack, CsgState::Suspend);
        self.acknowledge(words, blocks, ack)
    }

    /// Gives the streams of a group that was started again what the buffer saved.
    fn resume(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        store: &mut SuspendStore,
    ) -> Result<(), Stop> {
        let number = self.number;
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        let address = group.suspend_buffer;
        let saved = read_record(words, address).and_then(|record| store.take(&record));
        let Some(saved) = saved else {
            let misuse = FirmwareMisuse::StaleSuspendBuffer {
                group: number,
                address,
            };
            words.fabric.journal.report(misuse);
            for stream in group.streams.iter_mut().flatten() {
                stream.fatal(exception::CS_CONFIG_FAULT, address);
            }
            return Ok(());
        };
        debug_assert_eq!(blocks.streams.len(), group.streams.len());
        for (fresh, old) in group.streams.iter_mut().zip(saved) {
            if let (Some(fresh), Some(old)) = (fresh.as_mut(), old) {
                fresh.restore(old);
                look_at_insert(words, fresh)?;
            }
        }
        Ok(())
    }

    /// Whether a request of this slot or its streams is pending that no doorbell was rung for.
    pub(super) fn report_silent_requests(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let req = words.get32(blocks.input, CSG_REQ)?;
        let bits = (req ^ self.ack) & (TOGGLES | csg_req::STATE.mask32());
        let suspending = self
            .group
            .as_ref()
            .is_some_and(|group| group.phase == Phase::Suspending);
        if bits != 0 && !suspending {
            words
                .fabric
                .journal
                .report(FirmwareMisuse::PendingWithoutDoorbell {
                    word: CSG_REQ.name,
                    group: self.number,
                    bits,
                });
        }
        Ok(())
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

/// The first page of a suspend buffer.
fn read_record(words: &mut Words<'_>, address: u64) -> Option<[u8; 16]> {
    let low = words.get_at(address).ok()?;
    let high = words.get_at(address.wrapping_add(8)).ok()?;
    let mut record = [0; 16];
    record[..8].copy_from_slice(&low.to_le_bytes());
    record[8..].copy_from_slice(&high.to_le_bytes());
    Some(record)
}

/// A stream that was just taken on: its ring must make sense, and it starts reading at EXTRACT_INIT.
fn begin(words: &mut Words<'_>, stream: &mut Stream) -> Result<(), Stop> {
    let Identity {
        group,
        stream: number,
        ..
    } = stream.identity;
    let ring = stream.ring;
    if !ring.is_valid() {
        let size = ring.size;
        let base = ring.base;
        words
            .fabric
            .journal
            .report(if size.is_power_of_two() && size >= 64 {
                FirmwareMisuse::RingBase {
                    group,
                    stream: number,
                    base,
                }
            } else {
                FirmwareMisuse::RingSize {
                    group,
                    stream: number,
                    size,
                }
            });
        stream.fatal(exception::CS_CONFIG_FAULT, base);
        return Ok(());
    }
    let start = words.get_at(ring.user_input.wrapping_add(CS_EXTRACT_INIT.offset.into()));
    match start {
        Ok(start) => {
            stream.ring.position = start;
            stream.ring.insert = start;
            stream.ring.published = start;
        }
        Err(refusal) => return user_page_fault(words, stream, ring.user_input, refusal),
    }
    look_at_insert(words, stream)
}

fn user_page_fault(
    words: &mut Words<'_>,
    stream: &mut Stream,
    address: u64,
    refusal: Refusal,
) -> Result<(), Stop> {
    if matches!(refusal, Refusal::Stalled(_)) {
        return Err(Stop::Wait);
    }
    let Identity {
        group,
        stream: number,
        ..
    } = stream.identity;
    words.fabric.journal.report(FirmwareMisuse::UserPages {
        group,
        stream: number,
        address,
    });
    stream.fatal(exception::CS_CONFIG_FAULT, address);
    Ok(())
}

/// Looks at INSERT, and at whatever the stream waits for.
fn look_at_insert(words: &mut Words<'_>, stream: &mut Stream) -> Result<(), Stop> {
    if stream.blocked == Blocked::Fatal {
        return Ok(());
    }
    stream.look_at_sync = true;
    let at = stream.ring.user_input;
    let insert = match words.get_at(at.wrapping_add(CS_INSERT.offset.into())) {
        Ok(insert) => insert,
        Err(refusal) => return user_page_fault(words, stream, at, refusal),
    };
    if !stream.ring.accepts(insert) {
        let Identity {
            group,
            stream: number,
            ..
        } = stream.identity;
        words
            .fabric
            .journal
            .report(FirmwareMisuse::InsertOutOfRange {
                group,
                stream: number,
                insert,
                extract: stream.ring.position,
            });
        stream.fatal(exception::CS_CONFIG_FAULT, insert);
        return Ok(());
    }
    stream.ring.insert = insert;
    if stream.blocked == Blocked::Empty && !stream.ring.is_empty() {
        stream.blocked = Blocked::No;
        let active = stream
            .ring
            .user_output
            .wrapping_add(CS_ACTIVE.offset.into());
        if let Err(refusal) = words.set_at(active, &1u32.to_le_bytes()) {
            return user_page_fault(words, stream, active, refusal);
        }
    }
    Ok(())
}

fn publish(words: &mut Words<'_>, stream: &mut Stream) -> Result<(), Stop> {
    let ring = stream.ring;
    // While a called buffer runs, EXTRACT still names the CALL.
    let extract = ring.position
        - if stream.frames.is_empty() {
            0
        } else {
            8.min(ring.position)
        };
    if extract == ring.published || !ring.is_valid() {
        return Ok(());
    }
    stream.ring.published = extract;
    let at = ring.user_output.wrapping_add(CS_EXTRACT.offset.into());
    let mut written = words.set_at(at, &extract.to_le_bytes());
    if written.is_ok() && stream.blocked == Blocked::Empty {
        let active = ring.user_output.wrapping_add(CS_ACTIVE.offset.into());
        written = words.set_at(active, &0u32.to_le_bytes());
    }
    match written {
        Ok(()) => Ok(()),
        Err(refusal) => user_page_fault(words, stream, at, refusal),
    }
}

impl Group {
    /// Whether every stream is idle in the sense of its IDLE bits.
    pub(super) fn is_idle(
        &self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<bool, Stop> {
        for (stream, at) in self.streams.iter().zip(&blocks.streams) {
            let Some(stream) = stream else { continue };
            if !stream.is_drained() {
                return Ok(false);
            }
            let bit = match stream.blocked {
                Blocked::Empty => cs_req::IDLE_EMPTY.mask32(),
                Blocked::Sync(_) => cs_req::IDLE_SYNC_WAIT.mask32(),
                Blocked::Protected => cs_req::IDLE_PROTM_PEND.mask32(),
                Blocked::Fatal => continue,
                _ => return Ok(false),
            };
            if words.get32(at.input, CS_REQ)? & bit == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every stream that waits for a sync object looks again.
    pub(super) fn wake(&mut self) {
        for stream in self.streams.iter_mut().flatten() {
            stream.look_at_sync = true;
        }
    }

    /// Whether streams that wait at all wait for sync objects: such a group makes no progress, and is not stuck.
    pub(super) fn waits_for_sync_only(&self) -> bool {
        self.streams.iter().flatten().all(|stream| {
            matches!(
                stream.blocked,
                Blocked::Sync(_) | Blocked::Empty | Blocked::Fatal | Blocked::Fault
            )
        })
    }

    /// Lets streams go on whose awaited progress value was reached.
    pub(super) fn settle_progress_waits(&mut self) {
        for index in 0..self.streams.len() {
            let Some(Blocked::Progress { queue, value }) =
                self.streams[index].as_ref().map(|s| s.blocked)
            else {
                continue;
            };
            let reached = self
                .streams
                .get(usize::from(queue))
                .and_then(Option::as_ref)
                .is_some_and(|other| other.progress >= value);
            if reached && let Some(stream) = &mut self.streams[index] {
                stream.blocked = Blocked::No;
            }
        }
    }

    /// Priority among slots.
    pub(super) fn priority(&self) -> u32 {
        ep_req::PRIORITY.get(self.endpoints)
    }
}
