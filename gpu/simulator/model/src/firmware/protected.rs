//! Protected mode: one group at a time runs the regions of its streams that ask for it, while nobody else runs.
//!
//! Facts: hardware/csf-scheduling.md 8; command-stream.md 3.3 (PROT_REGION).

use super::Mcu;
use super::interface::{Stop, Words};
use crate::diagnosis::FirmwareMisuse;
use crate::fabric::{Due, Fabric};
use crate::stream::Blocked;
use eitri_csf::interface::global::glb_req;
use eitri_csf::interface::handshake;
use eitri_csf::interface::stream::{CS_REQ, cs_req};
use eitri_csf::registers::mcu::McuRequest;

/// Whether the GPU is in protected mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Protection {
    /// It is not.
    #[default]
    Off,
    /// The host has asked for it; normal work drains first.
    Entering(u8),
    /// The group on this slot runs.
    On(u8),
    /// The firmware resets the GPU and boots again.
    Leaving,
}

impl Mcu {
    /// Whether a stream may be executed as far as protected mode is concerned.
    pub(super) fn may_run(&self, slot: u8, in_region: bool) -> bool {
        match self.protection {
            Protection::Off => true,
            Protection::On(protected) => protected == slot && in_region,
            Protection::Entering(_) | Protection::Leaving => false,
        }
    }

    /// GPU_STATUS bit 7.
    pub(crate) fn is_protected(&self) -> bool {
        matches!(self.protection, Protection::On(_) | Protection::Leaving)
    }

    /// PROTM_ENTER: the group of highest priority may enter whose streams' PROTM_PEND was acknowledged.
    pub(super) fn enter_protected(&mut self, words: &mut Words<'_>) -> Result<(), Stop> {
        if !words.fabric.config.protected_memory {
            let misuse = FirmwareMisuse::ProtectedWithoutMemory;
            words.fabric.journal.report(misuse);
            return Ok(());
        }
        if self.protection != Protection::Off {
            return Ok(());
        }
        let Some(interface) = &self.interface else {
            return Ok(());
        };
        let mut best: Option<(u32, u8)> = None;
        for (slot, blocks) in self.slots.iter().zip(&interface.groups) {
            let Some(group) = &slot.group else { continue };
            for (index, at) in blocks.streams.iter().enumerate() {
                let Some(stream) = &group.streams[index] else {
                    continue;
                };
                let asks = stream.blocked == Blocked::Protected && stream.protected_reported;
                let req = words.get32(at.input, CS_REQ)?;
                let event = cs_req::PROTM_PEND.mask32();
                if asks && !handshake::pending(req, slot.stream_acks[index], event) {
                    best = best.max(Some((group.priority(), slot.number)));
                }
            }
        }
        match best {
            Some((_, slot)) => self.protection = Protection::Entering(slot),
            None => {
                let misuse = FirmwareMisuse::ProtectedForNobody;
                words.fabric.journal.report(misuse);
            }
        }
        Ok(())
    }

    /// Enters when normal work has drained, and leaves when the regions have ended.
    pub(super) fn settle_protected(&mut self, words: &mut Words<'_>) -> Result<(), Stop> {
        match self.protection {
            Protection::Entering(slot) if !self.cores.has_jobs() => {
                self.protection = Protection::On(slot);
                for stream in self.streams_of(slot) {
                    if stream.blocked == Blocked::Protected && stream.protected_reported {
                        stream.enter_region();
                    }
                }
                let Some(interface) = &self.interface else {
                    return Ok(());
                };
                let toggle = glb_req::PROTM_ENTER.mask32();
                self.global.answer(words, interface, toggle)
            }
            Protection::On(slot) => {
                let inside = self.streams_of(slot).any(|stream| stream.is_in_region());
                if !inside && !self.cores.has_jobs() {
                    self.leave_protected(words.fabric);
                }
                Ok(())
            }
            Protection::Off | Protection::Entering(_) | Protection::Leaving => Ok(()),
        }
    }

    /// A ping forces an exit: what is left of the regions asks again.
    pub(super) fn abandon_protected(&mut self, fabric: &mut Fabric) {
        if let Protection::On(slot) = self.protection {
            self.streams_of(slot)
                .for_each(crate::stream::Stream::interrupt_region);
            self.leave_protected(fabric);
        }
    }

    /// The firmware resets the GPU, and boots again if MCU_CONTROL lets it.
    fn leave_protected(&mut self, fabric: &mut Fabric) {
        self.protection = Protection::Leaving;
        if self.request == McuRequest::Auto {
            fabric.later(fabric.config.latencies.boot, Due::LeaveProtected);
        } else {
            self.crash(fabric);
        }
    }

    /// The firmware is up again.
    pub(super) fn left_protected(&mut self, words: &mut Words<'_>) -> Result<(), Stop> {
        self.protection = Protection::Off;
        let Some(interface) = &self.interface else {
            return Ok(());
        };
        self.global
            .raise(words, interface, glb_req::PROTM_EXIT.mask32())
    }

    fn streams_of(&mut self, slot: u8) -> impl Iterator<Item = &mut crate::stream::Stream> {
        let group = self.slots.get_mut(usize::from(slot));
        let group = group.and_then(|slot| slot.group.as_mut());
        group
            .into_iter()
            .flat_map(|group| group.streams.iter_mut().flatten())
            .map(|stream| &mut **stream)
    }
}
