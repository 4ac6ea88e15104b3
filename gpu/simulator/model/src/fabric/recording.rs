//! Recording: a fabric apart, for workgroups that are executed ahead of their turn. What they do to what all units share is noted
//! instead of done.
//!
//! Guarantees: a recording that is not spoiled holds all effects on what is shared, but for memory and the core's own counters.

use super::{Fabric, Lines};
use crate::activity::Activity;
use crate::clock::{Agenda, Clock};
use crate::config::Config;
use crate::defect::Defects;
use crate::diagnosis::Journal;
use crate::fidelity::Fidelity;
use crate::injection::Injections;
use crate::irq::Interrupts;
use crate::l2_tags::Tags;
use crate::memory::{PAGE, PhysicalMemory};
use crate::mmu::{AccessKind, Mmu, Refusal, Request};
use crate::pace::Pace;
use crate::shader::DecodedWords;
use crate::undefined::UndefinedMemory;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// An address that was translated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Translated {
    pub(crate) address: u64,
    pub(crate) physical: u64,
    pub(crate) kind: AccessKind,
}

/// What was done to what all units share, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    pub(crate) translations: Vec<Translated>,
    /// Lines that were asked of the L2: twice the number, and 1 if it was written.
    pub(crate) lines: Vec<u64>,
    spoiled: bool,
}

impl Recording {
    /// The translations from `start` on, one for each page and kind of access.
    pub(crate) fn pages_since(&self, start: usize, pages: &mut Vec<Translated>) {
        let first = pages.len();
        for translated in self.translations.iter().skip(start) {
            let same = |it: &Translated| {
                it.address / PAGE == translated.address / PAGE && it.kind == translated.kind
            };
            let known = pages.iter().skip(first).rev().any(same);
            if !known {
                pages.push(*translated);
            }
        }
    }
}

/// What a fabric apart is made of.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    config: &'a Config,
    clock: &'a Clock,
    mmu: &'a Mmu,
}

impl Origin<'_> {
    /// A fabric apart that records.
    pub(crate) fn recorder(&self) -> Fabric {
        let config = Config {
            product: self.config.product,
            engine: self.config.engine.clone(),
            latencies: self.config.latencies,
            clock_hz: self.config.clock_hz,
            timestamp_hz: self.config.timestamp_hz,
            memory_bandwidth: self.config.memory_bandwidth,
            instruction_floor: self.config.instruction_floor,
            ..Config::default()
        };
        let product = config.product;
        let activity = Activity::new(product.samples().shader_positions, product.l2_slices());
        Fabric {
            pace: Pace::new(
                product.arch(),
                activity.cores().len(),
                config.memory_bandwidth,
            ),
            tags: Tags::unused(),
            activity,
            clock: self.clock.clone(),
            irq: Interrupts::default(),
            mmu: self.mmu.clone(),
            agenda: Agenda::new(),
            journal: Journal::default(),
            lines: Lines::default(),
            injections: Injections::new(&[]),
            defects: Defects::default(),
            gpu_fault: None,
            interface: config.interface_version(),
            latest_flush: 1,
            l2: None,
            first_level: None,
            fidelity: Fidelity::new(false),
            undefined: UndefinedMemory::default(),
            whole_turns: true,
            begins_apart: false,
            changes: 0,
            turns_ahead: 0,
            turns_taken: 0,
            lookups: 0,
            decoded: DecodedWords::default(),
            reorder: None,
            recording: Some(Box::default()),
            config,
        }
    }
}

impl Fabric {
    /// What a fabric apart is made of.
    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin {
            config: &self.config,
            clock: &self.clock,
            mmu: &self.mmu,
        }
    }

    /// Whether workgroups may be executed apart: everything that they touch can be recorded, and nobody hears of it one by one.
    pub(crate) fn can_record(&self) -> bool {
        self.l2.is_none()
            && self.first_level.is_none()
            && self.injections.is_empty()
            && self.config.defects.is_empty()
            && !self.fidelity.is_on()
            && !self.journal.traces_instructions()
            && !self.journal.traces_accesses()
            && self.config.overlap.is_none()
            && self.config.reorder.is_none()
    }

    /// What was recorded so far.
    pub(crate) fn recording(&mut self) -> &mut Recording {
        self.recording.get_or_insert_default()
    }

    /// Something happens that no recording holds: who records begins anew.
    pub(crate) fn spoil_recording(&mut self) {
        if let Some(recording) = &mut self.recording {
            recording.spoiled = true;
        }
    }

    /// Whether effects are recorded.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Whether something happened that the recording does not hold.
    pub(crate) fn is_recording_spoiled(&self) -> bool {
        let spoiled = self
            .recording
            .as_ref()
            .is_none_or(|recording| recording.spoiled);
        spoiled || !self.journal.is_silent()
    }

    /// Notes a line that is asked of the L2; whether it is recorded and not asked for.
    #[inline]
    pub(super) fn records_line(&mut self, line: u64, write: bool) -> bool {
        let Some(recording) = &mut self.recording else {
            return false;
        };
        recording.lines.push(line << 1 | u64::from(write));
        true
    }

    /// Notes a translation, if translations are recorded.
    #[inline]
    pub(super) fn note_translation(&mut self, request: Request, physical: u64) {
        if let Some(recording) = &mut self.recording {
            recording.translations.push(Translated {
                address: request.address,
                physical,
                kind: request.kind,
            });
        }
    }

    /// Translates without anybody's counting it, and notes it.
    pub(super) fn translate_recorded(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        request: Request,
    ) -> Result<u64, Refusal> {
        let Fabric {
            mmu,
            irq,
            journal,
            activity,
            recording,
            ..
        } = self;
        let translated = mmu.translate(memory, &mut irq.mmu, journal, request);
        let recording = recording.get_or_insert_default();
        match translated {
            Ok(physical) => {
                recording.translations.push(Translated {
                    address: request.address,
                    physical,
                    kind: request.kind,
                });
                activity.translated(request.address, true);
            }
            Err(_) => recording.spoiled = true,
        }
        translated
    }
}
