//! The platform as C gives it: addresses, and functions that the driver calls.

use core::ffi::c_void;
use core::ops::Range;
use core::ptr;
use core::time::Duration;
use eitri_mmio::{Clock, Interrupts, Mmio, Upkeep};
use eitri_runtime::{Instant, Lines, PhysicalAddress};

/// The GPU's JOB line: its firmware wants attention.
pub const EITRI_LINE_JOB: u32 = 1;
/// The GPU's MMU line: page faults.
pub const EITRI_LINE_MMU: u32 = 2;
/// The GPU's GPU line: reset, power, caches, faults.
pub const EITRI_LINE_GPU: u32 = 4;

/// What the driver needs of the machine. What may be zero or null is marked so. The driver copies the structure; it calls the
/// functions from inside of calls to it, on the caller's stack, and they must not call the driver themselves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriPlatform {
    /// Handed to every function below. May be null.
    pub context: *mut c_void,
    /// The GPU's register window, mapped as device memory. Its power domain is on, and its clock runs.
    pub registers: *mut c_void,
    /// Bytes of the window; usually 2 MiB.
    pub register_bytes: usize,
    /// Memory for the GPU, that nothing else uses: contiguous, aligned to 4096. Mapped non-cacheable; or cacheable, with `clean` and
    /// `invalidate`; or cacheable on a machine whose GPU sees the CPU's caches (`coherent`).
    pub memory: *mut c_void,
    /// Bytes of the memory: a multiple of 4096.
    pub memory_bytes: usize,
    /// Where the GPU has this memory: its physical address, a multiple of 4096.
    pub memory_bus_address: u64,
    /// Memory beside it that eitri_import_buffer() and eitri_import_image() may give the GPU, a display's: its physical address.
    pub lent_bus_address: u64,
    /// Bytes of it; 0: there is none.
    pub lent_bytes: u64,
    /// Hertz of the system counter, CNTFRQ_EL0. 0 if it is not known.
    pub counter_hertz: u64,
    /// How many times slower than usual the GPU is clocked; 0 is as 1.
    pub slowdown: u32,
    /// Not 0: the GPU sees the CPU's caches, by ACE-Lite.
    pub coherent: u32,
    /// Gives nanoseconds since some fixed moment; never goes back.
    pub now: Option<unsafe extern "C" fn(context: *mut c_void) -> u64>,
    /// Sleeps until one of the lines `wanted` (EITRI_LINE_…) is high or `now` has reached `until`, and gives those that are high. It may
    /// return early, with 0. Lines are levels: a handler disables the interrupt, and this function enables it again. May be null: then the
    /// driver asks the GPU again and again.
    pub wait: Option<unsafe extern "C" fn(context: *mut c_void, wanted: u32, until: u64) -> u32>,
    /// Writes back what the CPU's caches hold of this memory, to the point of coherency (DC CVAC). May be null: then the memory is not
    /// cached, or `coherent`.
    pub clean: Option<unsafe extern "C" fn(context: *mut c_void, start: *mut c_void, bytes: usize)>,
    /// Drops what the CPU's caches hold of this memory (DC IVAC, or CIVAC where that is not allowed). May be null, as `clean`.
    pub invalidate:
        Option<unsafe extern "C" fn(context: *mut c_void, start: *mut c_void, bytes: usize)>,
}

/// The platform's clock.
pub(crate) struct CClock {
    context: *mut c_void,
    now: unsafe extern "C" fn(*mut c_void) -> u64,
    hertz: u64,
}

impl Clock for CClock {
    fn now(&mut self) -> Instant {
        // SAFETY: who made the platform says that the function may be called with this context.
        Instant(Duration::from_nanos(unsafe { (self.now)(self.context) }))
    }

    fn hertz(&self) -> u64 {
        self.hertz
    }
}

/// The platform's interrupts.
pub(crate) struct CInterrupts {
    context: *mut c_void,
    wait: Option<unsafe extern "C" fn(*mut c_void, u32, u64) -> u32>,
}

impl Interrupts for CInterrupts {
    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        let Some(wait) = self.wait else {
            core::hint::spin_loop();
            return Lines::NONE;
        };
        // SAFETY: who made the platform says that the function may be called with this context.
        let high = unsafe { wait(self.context, bits(wanted), nanoseconds(until.0)) };
        Lines {
            job: high & EITRI_LINE_JOB != 0,
            mmu: high & EITRI_LINE_MMU != 0,
            gpu: high & EITRI_LINE_GPU != 0,
        }
    }
}

/// Lines as C has them.
pub(crate) fn bits(lines: Lines) -> u32 {
    let bit = |high: bool, bit: u32| if high { bit } else { 0 };
    bit(lines.job, EITRI_LINE_JOB) | bit(lines.mmu, EITRI_LINE_MMU) | bit(lines.gpu, EITRI_LINE_GPU)
}

/// So many bytes from a physical address on.
pub(crate) fn on_bus(start: u64, bytes: u64) -> Range<PhysicalAddress> {
    PhysicalAddress(start)..PhysicalAddress(start.saturating_add(bytes))
}

/// A time as C has it; what lies beyond is as late as can be.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

type Maintain = unsafe extern "C" fn(*mut c_void, *mut c_void, usize);

/// The platform's caches.
pub(crate) struct CUpkeep {
    context: *mut c_void,
    clean: Option<Maintain>,
    invalidate: Option<Maintain>,
}

impl CUpkeep {
    fn call(&self, function: Option<Maintain>, range: &Range<usize>) {
        if let Some(function) = function.filter(|_| !range.is_empty()) {
            let start = ptr::with_exposed_provenance_mut(range.start);
            // SAFETY: who made the platform says that the function may be called with this context, for any part of the memory.
            unsafe { function(self.context, start, range.len()) };
        }
    }
}

impl Upkeep for CUpkeep {
    unsafe fn clean(&mut self, range: Range<usize>) {
        self.call(self.clean, &range);
    }

    unsafe fn invalidate(&mut self, range: Range<usize>) {
        self.call(self.invalidate, &range);
    }
}

/// The platform that the driver of a C program runs on.
pub(crate) type CPlatform = Mmio<&'static mut [u64], CClock, CInterrupts, CUpkeep>;

impl EitriPlatform {
    /// The driver's platform; or which part can't be.
    ///
    /// # Safety
    /// As [`Mmio::new_at`], of the window and the memory; as [`Mmio::with_lent`], of what is lent; and the functions may be called with the context for as long as the
    /// platform lives.
    pub(crate) unsafe fn platform(
        &self,
        map: &'static mut [u64],
    ) -> Result<CPlatform, &'static str> {
        let now = self.now.ok_or("platform.now is null")?;
        if self.clean.is_some() != self.invalidate.is_some() {
            return Err("platform.clean and platform.invalidate: both or none");
        }
        let clock = CClock {
            context: self.context,
            now,
            hertz: self.counter_hertz,
        };
        let interrupts = CInterrupts {
            context: self.context,
            wait: self.wait,
        };
        let range = |start: *mut c_void, bytes: usize| {
            let start = start.expose_provenance();
            start..start.saturating_add(bytes)
        };
        let window = range(self.registers, self.register_bytes);
        let memory = range(self.memory, self.memory_bytes);
        let bus = PhysicalAddress(self.memory_bus_address);
        // SAFETY: the caller's promise.
        let platform = unsafe { Mmio::new_at(window, memory, bus, map, clock, interrupts) };
        let platform = platform.map_err(|misplaced| match misplaced {
            eitri_mmio::Misplaced::Window => {
                "platform.registers is null, empty, or not aligned to 4"
            }
            eitri_mmio::Misplaced::Memory => {
                "platform.memory is null or not whole pages, or device_bytes is less than EITRI_DEVICE_BYTES says"
            }
        })?;
        let lent = on_bus(self.lent_bus_address, self.lent_bytes);
        // SAFETY: the caller's promise.
        let platform = unsafe { platform.with_lent(lent) };
        let coherency = match self.coherent {
            0 => eitri_runtime::SystemCoherency::None,
            _ => eitri_runtime::SystemCoherency::AceLite,
        };
        Ok(platform.with_soc(eitri_mmio::Soc {
            coherency,
            caching: CUpkeep {
                context: self.context,
                clean: self.clean,
                invalidate: self.invalidate,
            },
            slowdown: self.slowdown.max(1),
            slice_hash: None,
            fused_cores: None,
        }))
    }
}
