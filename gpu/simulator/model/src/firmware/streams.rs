//! Streams of a group on a slot: taken on, rung for, looked at, reported.
//!
//! Facts: hardware/csf-firmware.md 10 and 11, csf-scheduling.md 11 items 8, 9, 13 and 14.

use super::interface::{GroupBlocks, Stop, Words};
use super::slot::Slot;
use crate::diagnosis::FirmwareMisuse;
use crate::mmu::Refusal;
use crate::stream::{Blocked, HeapWait, Identity, Ring, Stream, exception};
use crate::trace::Event;
use alloc::boxed::Box;
use eitri_csf::interface::group::{CSG_DB_ACK, CSG_DB_REQ, CSG_IRQ_ACK, CSG_IRQ_REQ};
use eitri_csf::interface::handshake;
use eitri_csf::interface::stream::{
    CS_ACK, CS_ACK_IRQ_MASK, CS_BASE, CS_CONFIG, CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO,
    CS_REQ, CS_SIZE, CS_STATUS_CMD_PTR, CS_USER_INPUT, CS_USER_OUTPUT, CsState, cs_config, cs_req,
};
use eitri_csf::interface::user_pages::{CS_ACTIVE, CS_EXTRACT, CS_EXTRACT_INIT, CS_INSERT};
use eitri_csf::registers::doorbell::{DOORBELL, KERNEL_DOORBELL};
use eitri_csf::registers::interrupts::gpu_irq;
use eitri_csf::table::{Role, role_mask};

/// Events that a stream raises.
const STREAM_EVENTS: u32 = role_mask(cs_req::FIELDS, Role::Event);

impl Slot {
    /// Starts or stops a stream as CS_REQ says.
    pub(super) fn take_stream(
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
                if doorbell == KERNEL_DOORBELL || doorbell >= DOORBELL.count {
                    words.fabric.journal.report(FirmwareMisuse::NoSuchDoorbell {
                        group: group_number,
                        stream: stream_number,
                        number: doorbell,
                    });
                }
                let identity = Identity {
                    group: group_number,
                    stream: stream_number,
                    space: group.space,
                };
                let mut stream = Stream::new(words.fabric, identity, config, ring);
                stream.permits = group.permits;
                begin(words, &mut stream)?;
                *current = Some(Box::new(stream));
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

    /// Writes CS_ACK and, if the host wants to hear of the bits, makes its bit of IRQ_REQ differ from IRQ_ACK and interrupts. The
    /// bit of a host that has not answered yet differs already, and stays: a host looks at a stream only where the two differ.
    pub(super) fn acknowledge_stream(
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
        words.fabric.trace(Event::StreamAnswer {
            group: self.number,
            stream: index as u8,
            bits: changed,
        });
        words.set32(at.output, CS_ACK, ack)?;
        let mask = words.get32(at.input, CS_ACK_IRQ_MASK)?;
        // A change of STATE interrupts like an event, but only with all three bits of the mask.
        let state = cs_req::STATE.mask32();
        let reached = changed & state != 0 && mask & state == state;
        if reached || changed & mask & STREAM_EVENTS != 0 {
            let irq_ack = words.get32(blocks.input, CSG_IRQ_ACK)?;
            self.irq_req = handshake::raise(irq_ack, self.irq_req, 1 << index);
            words.set32(blocks.output, CSG_IRQ_REQ, self.irq_req)?;
            words.fabric.raise_job(1 << self.number);
        }
        Ok(())
    }

    /// START and RESUME: what was raised before counts as acknowledged; a cause that lasts raises its event anew.
    pub(super) fn forget_events(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        index: usize,
        req: u32,
    ) -> Result<(), Stop> {
        let ack = handshake::answer(req, self.stream_acks[index], STREAM_EVENTS);
        self.stream_acks[index] = ack;
        self.stream_raised[index] = 0;
        words.set32(blocks.streams[index].output, CS_ACK, ack)
    }

    /// PROTM_PEND of each stream that has come to a protected region: it waits, for ever without protected memory.
    pub(super) fn report_protected_regions(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
    ) -> Result<(), Stop> {
        let event = cs_req::PROTM_PEND.mask32();
        for index in 0..blocks.streams.len() {
            let group = self.group.as_mut();
            let Some(stream) = group.and_then(|group| group.streams[index].as_mut()) else {
                continue;
            };
            if stream.blocked != Blocked::Protected || stream.protected_reported {
                continue;
            }
            let req = words.get32(blocks.streams[index].input, CS_REQ)?;
            if handshake::pending(req, self.stream_acks[index], event) {
                continue;
            }
            stream.protected_reported = true;
            self.stream_raised[index] |= event;
            let ack = handshake::raise(req, self.stream_acks[index], event);
            self.acknowledge_stream(words, blocks, index, ack)?;
        }
        Ok(())
    }

    /// CSG_DB_REQ: streams that the host rang for.
    pub(super) fn stream_doorbells(
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
        let ack = self.stream_acks[index];
        let events = STREAM_EVENTS & (req ^ ack);
        words.defend(blocks.streams[index].output, CS_ACK, ack)?;
        let raised = &mut self.stream_raised[index];
        words.check_events(CS_REQ, req, ack, STREAM_EVENTS, raised);
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
        let asked = matches!(stream.heap_wait, Some(HeapWait::Asked(_)));
        look_at_insert(words, stream)?;
        let answered =
            !handshake::pending(req, self.stream_acks[index], cs_req::TILER_OOM.mask32());
        if asked && answered {
            self.take_heap_memory(words, blocks, index)?;
        }
        Ok(())
    }

    /// Looks at all rings, if doorbells may have been missed.
    pub(super) fn look_at_rings(&mut self, words: &mut Words<'_>) -> Result<(), Stop> {
        let Some(group) = self.group.as_mut().filter(|group| group.look_at_rings) else {
            return Ok(());
        };
        for stream in group.streams.iter_mut().flatten() {
            look_at_insert(words, stream)?;
        }
        group.look_at_rings = false;
        Ok(())
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

    /// Reports the oldest fault of each stream that has one the host has not heard of.
    pub(super) fn report_faults(
        &mut self,
        words: &mut Words<'_>,
        blocks: &GroupBlocks,
        protected: bool,
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
            words.fabric.journal.count_fault();
            words.fabric.trace(Event::Fault {
                group: self.number,
                stream: index as u8,
                exception: fault.exception,
                fatal: fault.fatal,
            });
            if protected {
                // No details leave protected mode.
                stream.reported = true;
                let irq = &mut words.fabric.irq.gpu;
                irq.raise(gpu_irq::GPU_PROTECTED_FAULT.mask32());
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
            self.stream_raised[index] |= event;
            words.set32(at.output, word, fault.exception.into())?;
            words.set(at.output, info, fault.info)?;
            words.set(at.output, CS_STATUS_CMD_PTR, address)?;
            let ack = handshake::raise(req, self.stream_acks[index], event);
            self.acknowledge_stream(words, blocks, index, ack)?;
        }
        Ok(())
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
pub(super) fn look_at_insert(words: &mut Words<'_>, stream: &mut Stream) -> Result<(), Stop> {
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
    let called = stream.handler_depth.unwrap_or(stream.frames.len());
    let extract = ring.position - if called == 0 { 0 } else { 8.min(ring.position) };
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
