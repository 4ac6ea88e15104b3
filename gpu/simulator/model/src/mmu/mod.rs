//! The MMU: address spaces, their registers and commands, translation with a cache, faults.
//!
//! Guarantees: nothing programmed takes effect before UPDATE; a translation once cached stays until the host invalidates
//! it, so missing maintenance shows; a walk reads at most four entries, whatever the tables say.
//!
//! Facts: hardware/gpu-mmu.md, section 9 for the duties.

mod registers;
mod space;
mod walk;

pub use walk::{AccessKind, PageFault};

use crate::clock::Nanoseconds;
use crate::defect::{Defect, Defects};
use crate::diagnosis::{Journal, MmuMisuse};
use crate::irq::IrqBlock;
use crate::l2::CACHED;
use crate::memory::{BusError, PAGE, PhysicalMemory};
use eitri_csf::arch::Arch;
use eitri_csf::fault::source::{FaultSource, Unit, front_end, shader_core, tiler};
pub(crate) use space::{Space, Translation};
use walk::{Walker, walk};

/// Address spaces in the register map.
pub(crate) const SPACES: usize = 16;

/// The address space of the microcontroller.
pub(crate) const MCU_SPACE: u8 = 0;

/// A lock that an access has waited for so long is not released any more: a host holds one while it changes a table.
const LONGEST_LOCK: Nanoseconds = 100_000_000;

/// Why an access did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It waits until the host changes the address space; see [`Stall`].
    Stalled(Stall),
    /// It failed and the unit is told.
    Fault(PageFault),
    /// The translation is good but the host has no memory there.
    Bus(BusError),
}

/// Why work does not go on where one of its accesses did not happen, or what it reads makes no sense. `F` says how it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused<F> {
    /// It waits: the access is tried again.
    Stalled(Stall),
    /// It has failed.
    Failed(F),
}

impl Refusal {
    /// What becomes of the work: it waits too, or fails at `address`.
    pub(crate) fn at(self, address: u64) -> Refused<u64> {
        match self {
            Refusal::Stalled(stall) => Refused::Stalled(stall),
            Refusal::Fault(_) | Refusal::Bus(_) => Refused::Failed(address),
        }
    }
}

/// An access that waits for a command to its address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    pub(crate) space: u8,
    /// The space's generation when the access was refused.
    generation: u64,
    /// The access failed, and the host may still mend what it missed.
    pub(crate) faulted: bool,
}

/// All address spaces.
#[derive(Clone, Debug)]
pub(crate) struct Mmu {
    spaces: [Space; SPACES],
    walker: Walker,
    /// Translations that no cached one answered.
    walks: u64,
    /// Physical addresses tell whether the L2 caches them, by [`CACHED`].
    tells_cached: bool,
    wear: Wear,
}

/// What of it is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Wear {
    /// Bits of virtual addresses that count as 0, but in the firmware's space.
    ignored: u64,
    /// Accesses that are allowed whatever tables say.
    permitted: Option<AccessKind>,
    stale: bool,
    /// Whose accesses go through whose tables.
    mixed: Option<(u8, u8)>,
    /// Anything is.
    any: bool,
}

impl Wear {
    fn of(defects: &Defects) -> Wear {
        let ignored = defects.find(|it| match it {
            Defect::AddressBitIgnored { bit } => Some(1 << (bit & 63)),
            _ => None,
        });
        let wear = Wear {
            ignored: ignored.unwrap_or(0),
            permitted: defects.find(|it| match it {
                Defect::PermissionIgnored { kind } => Some(kind),
                _ => None,
            }),
            stale: defects.has(Defect::StaleTranslations),
            mixed: defects.find(|it| match it {
                Defect::SpacesMixed { from, to } => Some((from, to)),
                _ => None,
            }),
            any: false,
        };
        Wear {
            any: wear != Wear::default(),
            ..wear
        }
    }

    /// The access as the hardware takes it.
    fn misread(self, request: Request) -> Request {
        let mixed = self.mixed.filter(|(from, _)| *from == request.space);
        match request.space {
            MCU_SPACE => request,
            space => Request {
                space: mixed.map_or(space, |(_, to)| to),
                address: request.address & !self.ignored,
                ..request
            },
        }
    }
}

impl Mmu {
    pub(crate) fn new(va_bits: u32, pa_bits: u32, tells_cached: bool, defects: &Defects) -> Mmu {
        let wear = Wear::of(defects);
        Mmu {
            spaces: core::array::from_fn(|_| Space::new(wear.stale)),
            wear,
            walker: Walker {
                va_bits,
                pa_bits,
                gibibytes: !defects.has(Defect::NoGibibytes),
            },
            walks: 0,
            tells_cached,
        }
    }

    /// Translations that no cached one answered, so far.
    pub(crate) fn walks(&self) -> u64 {
        self.walks
    }

    /// All address spaces unmapped, as after a reset.
    pub(crate) fn reset(&mut self) {
        for space in &mut self.spaces {
            space.reset();
        }
    }

    pub(crate) fn space(&self, number: u8) -> &Space {
        &self.spaces[usize::from(number) % SPACES]
    }

    pub(crate) fn space_mut(&mut self, number: u8) -> &mut Space {
        &mut self.spaces[usize::from(number) % SPACES]
    }

    /// A flush by GPU_COMMAND begins that reaches the L2.
    pub(crate) fn flush_begins(&mut self) {
        self.spaces.iter_mut().for_each(Space::flush_begins);
    }

    /// It is complete; `all`: all caches were cleaned and invalidated.
    pub(crate) fn flush_completed(&mut self, all: bool) {
        for space in &mut self.spaces {
            space.flush_completed(all);
        }
    }

    /// The caches have lost what they had: their power is off.
    pub(crate) fn caches_lost(&mut self) {
        self.spaces.iter_mut().for_each(Space::caches_lost);
    }

    /// Tells of locks that accesses have waited for so long that they are not released any more: one that is does no harm
    /// (gpu-mmu.md 9 item 5).
    pub(crate) fn report_waits(&mut self, now: Nanoseconds, journal: &mut Journal) {
        for (number, space) in (0..).zip(&mut self.spaces) {
            if let Some((address, since)) = space.waits
                && now.saturating_sub(since) >= LONGEST_LOCK
            {
                space.waits = None;
                journal.report(MmuMisuse::WaitsForLock {
                    space: number,
                    address,
                });
            }
        }
    }

    /// Whether what an access waited for may have changed.
    pub(crate) fn may_retry(&self, stall: Stall) -> bool {
        self.space(stall.space).generation() != stall.generation
    }

    /// The physical address of `address` in a space, for an access that stays within a page.
    ///
    /// # Errors
    /// [`Refusal::Fault`] from the microcontroller's space and from unmapped ones, else [`Refusal::Stalled`].
    #[inline]
    pub(crate) fn translate(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        irq: &mut IrqBlock,
        journal: &mut Journal,
        request: Request,
    ) -> Result<u64, Refusal> {
        let request = self.wear.misread(request);
        let space = &mut self.spaces[usize::from(request.space) % SPACES];
        if let Some(cached) = space.cached(request.address)
            && cached.allows(request.kind)
            && !space.is_locked(request.address)
        {
            space.note_use();
            return Ok(cached.frame | (request.address % PAGE));
        }
        self.translate_slowly(memory, irq, journal, request)
    }

    /// The physical address of the page of an access, if a cached translation answers. Nothing is changed.
    #[inline]
    pub(crate) fn cached_frame(&self, request: Request) -> Option<u64> {
        // Where the MMU is broken, nothing is taken for granted.
        if self.wear.any {
            return None;
        }
        let space = &self.spaces[usize::from(request.space) % SPACES];
        let cached = space.cached(request.address)?;
        let answers = cached.allows(request.kind) && !space.is_locked(request.address);
        answers.then_some(cached.frame)
    }

    fn translate_slowly(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        irq: &mut IrqBlock,
        journal: &mut Journal,
        request: Request,
    ) -> Result<u64, Refusal> {
        self.walks += 1;
        let (walker, tells) = (self.walker, self.tells_cached);
        let permitted = self.wear.permitted;
        let space = self.space_mut(request.space);
        let stall = Stall {
            space: request.space,
            generation: space.generation(),
            faulted: false,
        };
        if space.is_locked(request.address) {
            space.waits.get_or_insert((request.address, journal.time()));
            return Err(Refusal::Stalled(stall));
        }
        let Request { address, kind, .. } = request;
        let walked = walk(&space.active, memory, address, kind, walker);
        let walked = match walked {
            // Whoever may read may do this too, on broken hardware.
            Err(_) if permitted == Some(kind) => {
                let reading = AccessKind::Read;
                walk(&space.active, memory, address, reading, walker)
            }
            walked => walked,
        };
        match walked {
            Ok(mut translation) => {
                if tells && translation.cached {
                    translation.frame |= CACHED;
                }
                space.cache(request.address, translation);
                space.note_use();
                Ok(translation.frame | (request.address % PAGE))
            }
            Err(walk::Failure::Exception(exception)) => {
                Err(self.refuse(irq, journal, request, stall, exception))
            }
            Err(walk::Failure::Bus(error)) => Err(Refusal::Bus(error)),
        }
    }

    /// Latches a fault and decides whether the access waits or fails.
    pub(crate) fn refuse(
        &mut self,
        irq: &mut IrqBlock,
        journal: &mut Journal,
        request: Request,
        stall: Stall,
        exception: u8,
    ) -> Refusal {
        let fault = PageFault {
            space: request.space,
            address: request.address,
            kind: request.kind,
            exception,
            source: request.source,
        };
        journal.count_fault();
        journal.trace(crate::trace::Event::PageFault(fault));
        let bit = 1u32 << (request.space % 16);
        let space = self.space_mut(request.space);
        space.note_fault();
        // The first fault counts until the host has cleared its bit.
        if irq.raw() & bit == 0 && !space.drains() {
            space.fault = Some(fault);
            irq.raise(bit);
        }
        if request.space == MCU_SPACE || space.is_unmapped() {
            Refusal::Fault(fault)
        } else {
            Refusal::Stalled(Stall {
                faulted: true,
                ..stall
            })
        }
    }

    /// The translation of a page, without any effect on the space; `None` if it has none.
    pub(crate) fn look(
        &self,
        memory: &mut dyn PhysicalMemory,
        space: u8,
        address: u64,
    ) -> Option<Translation> {
        let setup = &self.space(space).active;
        walk(setup, memory, address, AccessKind::Read, self.walker).ok()
    }

    /// The physical address that an access would be translated to, and whether a cached translation answers; `None` if it would wait or
    /// fail. Nothing is changed.
    pub(crate) fn would_translate(
        &self,
        memory: &mut dyn PhysicalMemory,
        request: Request,
    ) -> Option<(u64, bool)> {
        let space = self.space(request.space);
        if space.is_locked(request.address) {
            return None;
        }
        let cached = space.cached(request.address);
        let cached = cached.filter(|cached| cached.allows(request.kind));
        let frame = match cached {
            Some(cached) => cached.frame,
            None => {
                let Request { address, kind, .. } = request;
                let walked = walk(&space.active, memory, address, kind, self.walker).ok()?;
                match self.tells_cached && walked.cached {
                    true => walked.frame | CACHED,
                    false => walked.frame,
                }
            }
        };
        Some((frame | (request.address % PAGE), cached.is_some()))
    }

    /// Something is accessed through a space.
    pub(crate) fn note_use(&mut self, space: u8) {
        self.space_mut(space).note_use();
    }

    /// Whether caches may hold what was just translated so.
    pub(crate) fn is_cached(&self, request: Request) -> bool {
        let request = self.wear.misread(request);
        let cached = self.space(request.space).cached(request.address);
        cached.is_some_and(|translation| translation.cached)
    }

    /// The stall of an access to `space` that is refused now.
    pub(crate) fn stall(&self, space: u8) -> Stall {
        Stall {
            space,
            generation: self.space(space).generation(),
            faulted: false,
        }
    }
}

/// An access as a unit asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) space: u8,
    pub(crate) address: u64,
    pub(crate) kind: AccessKind,
    /// Which unit, for FAULTSTATUS.
    pub(crate) source: Source,
}

/// Units that access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The microcontroller.
    Mcu,
    /// Instruction fetch of a stream.
    StreamFetch {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
    },
    /// Loads, stores and sync objects of a stream.
    Stream {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
    },
    /// A shader core: instructions, and all that goes through its load/store cache.
    Core(u8),
    /// The texture unit of a shader core.
    Texture(u8),
    /// The tile buffer of a shader core, which writes back.
    TileBuffer(u8),
    /// The tiler.
    Tiler,
}

impl Source {
    /// The id in FAULTSTATUS bits 31:16 (gpu-mmu.md 8.1, "ids a model should use").
    // FACT: which micro-TLB the front end's requesters go through is known for its load/store unit alone; the others are
    // given micro-TLB 0 (hardware/gpu-mmu.md 8.1). Settled by a fault of a stream's fetch on any board.
    pub(crate) fn id(self, arch: Arch, access: AccessKind) -> u16 {
        let (unit, micro_tlb, requester) = match self {
            Source::Mcu => (Unit::FrontEnd, 0, front_end::MCU),
            Source::StreamFetch { .. } => (Unit::FrontEnd, 0, front_end::PREFETCH),
            Source::Stream { .. } => (Unit::FrontEnd, 1, front_end::LOAD_STORE),
            Source::Core(core) if access == AccessKind::Execute => {
                (Unit::ShaderCore(core), 0, shader_core::INSTRUCTIONS)
            }
            Source::Core(core) => (Unit::ShaderCore(core), 1, shader_core::LOAD_STORE),
            Source::Texture(core) | Source::TileBuffer(core) => {
                (Unit::ShaderCore(core), 0, shader_core::TEXTURE_OR_TILE)
            }
            Source::Tiler => (Unit::Tiler(0), 0, tiler::PRIMITIVE_CACHE),
        };
        FaultSource::new(arch, unit, micro_tlb, requester, access).id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_csf::registers::address_space::{TranslationMode, transcfg};

    #[test]
    fn a_lock_is_told_when_it_is_not_released() {
        for released in [true, false] {
            let mut mmu = Mmu::new(48, 40, false, &Defects::default());
            let mut journal = Journal::default();
            mmu.space_mut(1).lock(64);
            let request = Request {
                space: 1,
                address: 0x2000,
                kind: AccessKind::Read,
                source: Source::Core(0),
            };
            let mut memory = crate::memory::SparseMemory::new(1 << 20);
            let irq = &mut IrqBlock::default();
            let waits = mmu.translate(&mut memory, irq, &mut journal, request);
            assert!(matches!(waits, Err(Refusal::Stalled(_))), "{waits:?}");
            mmu.report_waits(LONGEST_LOCK - 1, &mut journal);
            assert!(journal.diagnoses().is_empty(), "not yet");
            if released {
                mmu.space_mut(1).unlock();
            }
            mmu.report_waits(LONGEST_LOCK, &mut journal);
            let told = journal.diagnoses().len();
            assert_eq!(told, usize::from(!released), "released: {released}");
        }
    }

    #[test]
    fn what_fails_after_a_fault_was_answered_latches_nothing() {
        let mut mmu = Mmu::new(48, 40, false, &Defects::default());
        let mut memory = crate::memory::SparseMemory::new(1 << 20);
        let (mut irq, mut journal) = (IrqBlock::default(), Journal::default());
        let mut translate = |mmu: &mut Mmu, irq: &mut IrqBlock, address: u64| {
            let request = Request {
                space: 1,
                address,
                kind: AccessKind::Read,
                source: Source::Core(0),
            };
            mmu.translate(&mut memory, irq, &mut journal, request)
        };
        let mapped = transcfg::MODE.set(0, TranslationMode::Aarch64K4);
        let mapped = transcfg::INPUT_SIZE.set(mapped, 7);
        let set_up = |mmu: &mut Mmu, transcfg: u64| {
            mmu.space_mut(1).programmed.transcfg = transcfg;
            mmu.space_mut(1).update();
        };
        // Tables without entries: the access waits, and the host hears of it.
        set_up(&mut mmu, mapped);
        let waits = translate(&mut mmu, &mut irq, 0x2000);
        assert!(matches!(waits, Err(Refusal::Stalled(_))), "{waits:?}");
        assert_eq!(irq.raw(), 1 << 1);
        // The host clears the bit and unmaps the space: this access and others fail, and the bit stays clear.
        irq.clear(1 << 1);
        set_up(&mut mmu, transcfg::MODE.set(0, TranslationMode::Unmapped));
        for address in [0x2000, 0x5000] {
            let fails = translate(&mut mmu, &mut irq, address);
            assert!(matches!(fails, Err(Refusal::Fault(_))), "{fails:?}");
            assert_eq!(irq.raw(), 0, "{address:#x}");
        }
        // Whoever has the space next hears of its own faults again.
        set_up(&mut mmu, mapped);
        let waits = translate(&mut mmu, &mut irq, 0x2000);
        assert!(matches!(waits, Err(Refusal::Stalled(_))), "{waits:?}");
        assert_eq!(irq.raw(), 1 << 1);
    }

    #[test]
    fn sources_have_the_ids_of_the_facts() {
        let (group, stream) = (1, 2);
        let read = [
            (Source::Mcu, 0x7CD0),
            (Source::StreamFetch { group, stream }, 0x7C00),
            (Source::Stream { group, stream }, 0x7DC0),
            (Source::Core(2), 0x0180 | 2 << 9),
            (Source::Texture(2), 0x00C0 | 2 << 9),
            (Source::Tiler, 0x6610),
        ];
        for (source, id) in read {
            assert_eq!(source.id(Arch::V10, AccessKind::Read), id, "{source:?}");
        }
        assert_eq!(Source::Core(2).id(Arch::V10, AccessKind::Execute), 2 << 9);
        let write_back = Source::TileBuffer(2).id(Arch::V10, AccessKind::Write);
        assert_eq!(write_back, 0x00C0 | 2 << 9);
    }
}
