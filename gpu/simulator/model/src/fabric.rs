//! What all units share: time, interrupts, address translation, the agenda, the journal.
//!
//! Guarantees: every access to GPU memory in the model goes through [`Fabric::read`] and its siblings.

use crate::activity::Activity;
use crate::clock::{Agenda, Clock, Nanoseconds};
use crate::config::Config;
use crate::defect::{Defects, Line};
use crate::diagnosis::{Journal, MmuMisuse};
use crate::fidelity::Fidelity;
use crate::first_level::FirstLevel;
use crate::injection::{GraphicsUnit, Injection, Injections, MemoryUnit, Occasion};
use crate::irq::{Interrupts, Lines};
use crate::l2::{CACHED, L2, LINE, Requester};
use crate::l2_tags::Tags;
use crate::memory::{Accessor, BusError, PAGE, PhysicalMemory};
use crate::mmu::{AccessKind, Mmu, Refusal, Request, Source};
use crate::pace::{LATENCY, Pace, numbers};
use crate::random::Random;
use crate::shader::DecodedWords;
use crate::trace::Event;
use crate::undefined::UndefinedMemory;
use alloc::boxed::Box;
use eitri_csf::interface::control::Version;
use eitri_csf::registers::control::gpu_faultstatus;
use eitri_csf::registers::interrupts::gpu_irq;
use eitri_csf::registers::power::Domain;
use eitri_isa::rates::WARP;
use recording::Recording;

mod caches;
pub(crate) mod recording;

/// What the agenda holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A reset completes.
    Reset,
    /// Power changes of a domain complete.
    Power(Domain),
    /// A cache flush by GPU_COMMAND completes.
    Flush,
    /// A command to an address space completes.
    AddressSpace(u8),
    /// The microcontroller finishes its boot.
    Boot,
    /// The microcontroller has stopped.
    Stop,
    /// The firmware looks at its doorbell.
    Doorbell,
    /// A stream's own doorbell arrives.
    UserDoorbell(u8),
    /// All groups have been idle for IDLE_TIMER.
    Idle,
    /// Idle shader cores lose power.
    CoresOff,
    /// Cache flushes by streams complete.
    StreamFlush,
    /// A sample of the performance counters is taken.
    Sample,
    /// The microcontroller wakes.
    Wake,
    /// The firmware has booted again after protected mode.
    LeaveProtected,
}

/// The fault recorded in GPU_FAULTSTATUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GpuFault {
    pub(crate) status: u32,
    pub(crate) address: u64,
}

/// Time, interrupts, translation, agenda, journal.
#[derive(Clone)]
pub(crate) struct Fabric {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) irq: Interrupts,
    pub(crate) mmu: Mmu,
    pub(crate) agenda: Agenda<Due>,
    pub(crate) journal: Journal,
    pub(crate) activity: Activity,
    /// The levels of the lines when they were last noted.
    lines: Lines,
    pub(crate) injections: Injections,
    pub(crate) defects: Defects,
    pub(crate) gpu_fault: Option<GpuFault>,
    /// The interface version that the firmware speaks: that of the image which was booted.
    pub(crate) interface: Version,
    /// LATEST_FLUSH, 24 bits.
    pub(crate) latest_flush: u32,
    /// How far each core is with its work.
    pub(crate) pace: Pace,
    /// What the L2 has, for counting.
    tags: Tags,
    /// The L2, if it is modelled.
    l2: Option<L2>,
    /// The read-only caches of the cores, if they are modelled.
    first_level: Option<Box<FirstLevel>>,
    /// How far results can be trusted, where that is asked for.
    pub(crate) fidelity: Fidelity,
    /// What nobody wrote of the memory of workgroups, where that is followed.
    pub(crate) undefined: UndefinedMemory,
    /// Whether turns of workgroups are not cut short: the host asks for no exact number of instructions.
    pub(crate) whole_turns: bool,
    /// Whether a turn that begins a job does no more: a debugger inspects the job before its first instruction.
    pub(crate) begins_apart: bool,
    /// Events so far after which memory may hold something else than what workgroups have written to it: stores by
    /// [`Fabric::store`], turns of several jobs, calls of [`crate::Gpu::run`].
    pub(crate) changes: u64,
    /// Turns that were executed ahead, and those of them that were taken over.
    pub(crate) turns_ahead: u64,
    pub(crate) turns_taken: u64,
    /// Descriptors that were read so far.
    pub(crate) lookups: u64,
    /// Words of code that were decoded so far.
    pub(crate) decoded: DecodedWords,
    /// The random numbers of [`Config::reorder`], if that is set.
    reorder: Option<Random>,
    /// Where effects are noted, if this is a fabric apart.
    recording: Option<Box<Recording>>,
}

impl Fabric {
    pub(crate) fn new(config: Config) -> Fabric {
        let defects = Defects::new(&config.defects);
        let config = defects.slowed(config);
        let product = config.product;
        let activity = Activity::new(product.samples().shader_positions, product.l2_slices());
        Fabric {
            pace: Pace::new(
                product.arch(),
                activity.cores().len(),
                config.memory_bandwidth,
            ),
            tags: Tags::new(product.part.l2_features, product.l2_slices()),
            activity,
            clock: Clock::new(config.clock_hz, config.timestamp_hz),
            irq: Interrupts::without(
                defects.lost_sources(Line::Job),
                defects.lost_sources(Line::Mmu),
                defects.lost_sources(Line::Gpu),
            ),
            mmu: Mmu::new(product.va_bits(), product.pa_bits(), config.l2, &defects),
            l2: config
                .l2
                .then(|| L2::new(&defects, config.has_first_level_caches())),
            first_level: config.has_first_level_caches().then(Box::default),
            agenda: Agenda::new(),
            journal: Journal::default(),
            lines: Lines::default(),
            injections: Injections::new(&config.injections),
            defects,
            gpu_fault: None,
            interface: config.interface_version(),
            latest_flush: 1,
            fidelity: Fidelity::new(config.fidelity),
            undefined: UndefinedMemory::default(),
            whole_turns: false,
            begins_apart: false,
            changes: 0,
            turns_ahead: 0,
            turns_taken: 0,
            lookups: 0,
            decoded: DecodedWords::default(),
            reorder: config.reorder.filter(|_| !config.fidelity).map(Random::new),
            recording: None,
            config,
        }
    }

    /// Whether memory accesses and turns of warps are reordered ([`Config::reorder`]).
    #[inline]
    pub(crate) fn reorders(&self) -> bool {
        self.reorder.is_some()
    }

    /// A random number below `end`; none if nothing is reordered, or `end` is 0.
    pub(crate) fn draw(&mut self, end: u64) -> Option<u64> {
        let reorder = self.reorder.as_mut().filter(|_| end != 0)?;
        Some(reorder.below(end))
    }

    /// Puts `due` on the agenda, `delay` from now.
    pub(crate) fn after(&mut self, delay: Nanoseconds, due: Due) {
        self.agenda.add(&self.clock, delay, due);
    }

    /// As [`Fabric::after`] for what the device itself causes: nobody needs to look at it first.
    pub(crate) fn later(&mut self, delay: Nanoseconds, due: Due) {
        self.agenda.add_internal(&self.clock, delay, due);
    }

    /// How far a core is with its work, in virtual time.
    pub(crate) fn reached(&self, core: u8) -> Nanoseconds {
        self.pace.reached(&self.activity, &self.clock, core)
    }

    /// A core is given work.
    pub(crate) fn begin_on(&mut self, core: u8) {
        self.pace.begin(&self.activity, &self.clock, core);
    }

    /// A core has executed instructions of warps, beside which so many others run: none of them goes faster than a warp can.
    pub(crate) fn charge_warps(&mut self, core: u8, executed: u64, beside: u64) {
        let most = u64::from(self.config.product.part.limits.max_threads) / u64::from(WARP);
        let beside = beside.clamp(1, most.max(1));
        self.activity.core(core).latency += executed * LATENCY / beside;
    }

    /// Of some cores, a bit each, the one that is least far with its work.
    pub(crate) fn least_far(&self, cores: u64) -> Option<(Nanoseconds, u8)> {
        // All that have nothing to do are equally far.
        let now = self.clock.now();
        let reached = |core| (self.reached(core).max(now), core);
        numbers(cores).map(reached).min()
    }

    /// Bytes at a physical address were read or written: the lines that they touch are asked of the L2.
    pub(crate) fn requested(&mut self, physical: u64, bytes: u64, write: bool) {
        let first = (physical & !CACHED) / LINE;
        let last = ((physical & !CACHED) + bytes.saturating_sub(1)) / LINE;
        for line in first..=last {
            self.line_requested(line, write);
        }
    }

    /// A line is asked of the L2.
    #[inline]
    pub(crate) fn line_requested(&mut self, line: u64, write: bool) {
        if self.records_line(line, write) {
            return;
        }
        let moved = self.tags.request(line, write);
        self.activity.requested(line, write, moved);
    }

    /// Lines are asked of the L2, one after the other.
    #[inline]
    pub(crate) fn lines_requested(&mut self, lines: impl Iterator<Item = u64>, write: bool) {
        if self.recording.is_some() {
            lines.for_each(|line| self.line_requested(line, write));
            return;
        }
        let Fabric { tags, activity, .. } = self;
        for line in lines {
            let moved = tags.request(line, write);
            activity.requested(line, write, moved);
        }
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, time: Nanoseconds) {
        self.activity.pass(time);
        self.clock.advance(time);
    }

    /// Counts and traces the edges of the interrupt lines.
    pub(crate) fn note_lines(&mut self, lines: Lines) {
        let before = core::mem::replace(&mut self.lines, lines);
        let levels = [
            ("job", before.job, lines.job),
            ("mmu", before.mmu, lines.mmu),
            ("gpu", before.gpu, lines.gpu),
        ];
        for (line, before, high) in levels {
            if before == high {
                continue;
            }
            self.activity.interrupts += u64::from(high);
            self.trace(Event::Line { line, high });
        }
    }

    /// Tells whoever traces that something happened at a moment that may be ahead: cores are not equally far.
    pub(crate) fn trace_at(&mut self, time: Nanoseconds, event: Event) {
        self.journal.set_time(time);
        self.journal.trace(event);
        self.journal.set_time(self.clock.now());
    }

    /// Tells whoever traces that something happened now.
    pub(crate) fn trace(&mut self, event: Event) {
        if self.journal.is_traced() {
            self.journal.set_time(self.clock.now());
            self.journal.trace(event);
        }
    }

    /// Tells whoever traces for how long the units of a core have been busy.
    pub(crate) fn trace_units(&mut self, core: u8) {
        if !self.journal.is_traced() {
            return;
        }
        let time = self.reached(core).max(self.clock.now());
        let busy = self.pace.unit_parts(&self.activity, core);
        let external_bytes = self.activity.external_bytes();
        let event = Event::Units {
            core,
            busy,
            external_bytes,
        };
        self.trace_at(time, event);
    }

    /// Tells whoever wants to hear of instructions that a core works for a draw from here on.
    pub(crate) fn trace_drawing(&mut self, core: u8, job: u64) {
        if self.journal.traces_instructions() {
            // What was done until now was done for another.
            self.trace_units(core);
            self.trace(Event::Drawing { job });
        }
    }

    /// Raises sources of the JOB line.
    pub(crate) fn raise_job(&mut self, bits: u32) {
        let slot = (bits.count_ones() == 1).then(|| bits.trailing_zeros() as u8);
        let wanted = |it| (it == Injection::JobInterruptLost).then_some(());
        if self.strike_at(slot, None, wanted).is_none() {
            self.irq.job.raise(bits);
        }
    }

    /// Whether `injection` strikes now, where no group is concerned.
    pub(crate) fn strikes(&mut self, injection: Injection) -> bool {
        self.strike_at(None, None, |it| (it == injection).then_some(()))
            .is_some()
    }

    /// What the injection that strikes a group or stream now has to say by `pick`.
    pub(crate) fn strike_at<T>(
        &mut self,
        slot: Option<u8>,
        stream: Option<u8>,
        pick: impl Fn(Injection) -> Option<T>,
    ) -> Option<T> {
        if self.injections.is_empty() {
            return None;
        }
        let now = self.clock.now();
        self.injections.strike(Occasion { now, slot, stream }, pick)
    }

    /// The exception with which a unit of the graphics pipeline fails now, if an injection says so.
    pub(crate) fn unit_fails(
        &mut self,
        slot: Option<u8>,
        stream: Option<u8>,
        unit: GraphicsUnit,
    ) -> Option<u8> {
        self.strike_at(slot, stream, |it| {
            (it == Injection::UnitFault { unit }).then_some(unit.exception())
        })
    }

    /// Records a fault of the GPU, unless one is recorded already: of an access, if it was one, to a physical address.
    pub(crate) fn record_gpu_fault(
        &mut self,
        exception: u8,
        kind: AccessKind,
        of: Option<(Request, u64)>,
    ) {
        if self.gpu_fault.is_some() {
            return;
        }
        let address = of.map(|(_, physical)| physical);
        let status = gpu_faultstatus::EXCEPTION.word(exception.into());
        let status = gpu_faultstatus::ACCESS.set32(status, kind);
        let status = gpu_faultstatus::ADDRESS_VALID.set32(status, address.is_some());
        let status = match of {
            None => status,
            Some((request, _)) => {
                let unit = request.source.id(self.config.product.arch(), kind);
                let status = gpu_faultstatus::JASID_VALID.set32(status, true);
                let status = gpu_faultstatus::JASID.set32(status, request.space.into());
                gpu_faultstatus::SOURCE.set32(status, unit.into())
            }
        };
        self.journal.count_fault();
        self.gpu_fault = Some(GpuFault {
            status,
            address: address.unwrap_or(0),
        });
        self.irq.gpu.raise(gpu_irq::GPU_FAULT.mask32());
    }

    /// The physical address of `address` for an access of this kind.
    ///
    /// # Errors
    /// As [`Mmu::translate`].
    #[inline]
    pub(crate) fn translate(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        request: Request,
    ) -> Result<u64, Refusal> {
        if self.recording.is_some() {
            return self.translate_recorded(memory, request);
        }
        memory.accessed_by(Accessor::Unit(request.source));
        if !self.injections.is_empty() {
            let space = request.space;
            let (slot, stream) = match request.source {
                Source::Stream { group, stream } | Source::StreamFetch { group, stream } => {
                    (Some(group), Some(stream))
                }
                _ => (None, None),
            };
            let wanted = |it| (it == Injection::BusError { space }).then_some(());
            if self.strike_at(slot, stream, wanted).is_some() {
                let address = request.address;
                return Err(self.bus_error(request, BusError { address }));
            }
            let unit = MemoryUnit::of(request.source);
            let wanted = |it| {
                let strikes = match it {
                    Injection::PageFault { space: of } => of == space,
                    Injection::UnitPageFault { unit: of } => Some(of) == unit,
                    _ => false,
                };
                strikes.then_some(())
            };
            if self.strike_at(slot, stream, wanted).is_some() {
                let stall = self.mmu.stall(space);
                let translation_fault = 0xC3;
                let irq = &mut self.irq.mmu;
                return Err(self.mmu.refuse(
                    irq,
                    &mut self.journal,
                    request,
                    stall,
                    translation_fault,
                ));
            }
        }
        let walks = self.mmu.walks();
        let translated = self
            .mmu
            .translate(memory, &mut self.irq.mmu, &mut self.journal, request);
        self.activity
            .translated(request.address, self.mmu.walks() == walks);
        translated.map_err(|refusal| match refusal {
            Refusal::Bus(error) => self.bus_error(request, error),
            other => other,
        })
    }

    /// Counts an access that a cached translation has answered ([`Mmu::cached_frame`]).
    #[inline]
    pub(crate) fn translated_by_cache(&mut self, request: Request, physical: u64) {
        self.note_translation(request, physical);
        self.mmu.note_use(request.space);
        self.activity.translated(request.address, true);
    }

    /// Nothing answers at a physical address: the GPU records it.
    #[cold]
    pub(crate) fn bus_error(&mut self, request: Request, error: BusError) -> Refusal {
        self.journal.report(MmuMisuse::BusError {
            space: request.space,
            address: request.address,
            physical: error.address,
        });
        let gpu_bus_fault = 0x80;
        self.record_gpu_fault(gpu_bus_fault, request.kind, Some((request, error.address)));
        Refusal::Bus(error)
    }

    /// Reads bytes from a space; they may cross pages.
    ///
    /// # Errors
    /// As [`Fabric::translate`], or [`Refusal::Bus`].
    pub(crate) fn read(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        access: Access,
        bytes: &mut [u8],
    ) -> Result<(), Refusal> {
        let mut address = access.address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let request = access.at(address, AccessKind::Read);
            let physical = self.translate(memory, request)?;
            let room = (PAGE - address % PAGE).min(rest.len() as u64) as usize;
            let (now, later) = rest.split_at_mut(room);
            self.load(memory, access.requester(), physical, now)
                .map_err(|error| self.bus_error(request, error))?;
            self.requested(physical, room as u64, false);
            address = address.wrapping_add(room as u64);
            rest = later;
        }
        Ok(())
    }

    /// Writes bytes to a space; they may cross pages, but nothing is written unless all of it can be.
    ///
    /// # Errors
    /// As [`Fabric::read`].
    pub(crate) fn write(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        access: Access,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let last = access
            .address
            .wrapping_add(bytes.len().saturating_sub(1) as u64);
        self.translate(memory, access.at(last, AccessKind::Write))?;
        let mut address = access.address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let request = access.at(address, AccessKind::Write);
            let physical = self.translate(memory, request)?;
            let room = (PAGE - address % PAGE).min(rest.len() as u64) as usize;
            let (now, later) = rest.split_at(room);
            self.store(memory, access.requester(), physical, now)
                .map_err(|error| self.bus_error(request, error))?;
            self.requested(physical, room as u64, true);
            address = address.wrapping_add(room as u64);
            rest = later;
        }
        Ok(())
    }

    /// The 32-bit word at `access`.
    ///
    /// # Errors
    /// As [`Fabric::read`].
    pub(crate) fn read32(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        access: Access,
    ) -> Result<u32, Refusal> {
        let mut bytes = [0; 4];
        self.read(memory, access, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Notes what a word rests on that a stream has loaded, where that is followed.
    pub(crate) fn note_stream_load(&mut self, memory: &mut dyn PhysicalMemory, access: Access) {
        if !self.fidelity.is_on() {
            return;
        }
        let request = access.at(access.address, AccessKind::Read);
        if let Ok(physical) = self.translate(memory, request) {
            self.fidelity.stream_loads(physical & !CACHED, 4);
        }
    }

    /// The 64-bit word at `access`.
    ///
    /// # Errors
    /// As [`Fabric::read`].
    pub(crate) fn read64(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        access: Access,
    ) -> Result<u64, Refusal> {
        let mut bytes = [0; 8];
        self.read(memory, access, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// Where a unit accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) space: u8,
    pub(crate) address: u64,
    pub(crate) source: Source,
}

impl Access {
    fn at(self, address: u64, kind: AccessKind) -> Request {
        Request {
            space: self.space,
            address,
            kind,
            source: self.source,
        }
    }

    /// Whose caches it goes through.
    fn requester(self) -> Requester {
        match self.source {
            Source::Core(_) | Source::Texture(_) | Source::TileBuffer(_) | Source::Tiler => {
                Requester::LoadStore
            }
            Source::Mcu | Source::Stream { .. } | Source::StreamFetch { .. } => Requester::Other,
        }
    }

    /// The same unit and space at another address.
    pub(crate) fn to(self, address: u64) -> Access {
        Access { address, ..self }
    }
}
