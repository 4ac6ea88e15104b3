//! Platform: what the runtime asks of its host.
//!
//! On a board these are pointers, the GIC and the generic timer; in host tests they are the model. The runtime is
//! generic over it, so it costs nothing once compiled for one.
//!
//! Needs: the GPU's clocks and power domain are on.  Guarantees to the platform: registers are accessed aligned, one
//! 32-bit word at a time; memory only inside what [`Platform::allocate`] gave.
//! Facts: hardware/csf-mmio.md sections 1 and 3, boards.md section 3.

use core::fmt;
use core::ops::{BitOr, Range};
use core::time::Duration;

/// An address on the bus, as the GPU's page tables hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalAddress(pub u64);

impl PhysicalAddress {
    /// The address `bytes` further on (wrapping; addresses have at most 48 bits, so none does).
    pub const fn offset(self, bytes: u64) -> PhysicalAddress {
        PhysicalAddress(self.0.wrapping_add(bytes))
    }

    /// The `bytes` from here on.
    pub const fn span(self, bytes: u64) -> Range<PhysicalAddress> {
        self..self.offset(bytes)
    }
}

impl fmt::Display for PhysicalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A moment on the platform's monotonic clock: time since some fixed moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub Duration);

impl Instant {
    /// The moment `time` later.
    pub const fn after(self, time: Duration) -> Instant {
        Instant(self.0.saturating_add(time))
    }

    /// Time from `earlier` to here; zero if it is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// A set of the GPU's three interrupt lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Lines {
    /// The JOB line: firmware wants attention.
    pub job: bool,
    /// The MMU line: page faults.
    pub mmu: bool,
    /// The GPU line: reset, power, caches, faults.
    pub gpu: bool,
}

impl Lines {
    /// No line.
    pub const NONE: Lines = Lines {
        job: false,
        mmu: false,
        gpu: false,
    };
    /// The JOB line.
    pub const JOB: Lines = Lines {
        job: true,
        ..Lines::NONE
    };
    /// The MMU line.
    pub const MMU: Lines = Lines {
        mmu: true,
        ..Lines::NONE
    };
    /// The GPU line.
    pub const GPU: Lines = Lines {
        gpu: true,
        ..Lines::NONE
    };
    /// All three.
    pub const ALL: Lines = Lines {
        job: true,
        mmu: true,
        gpu: true,
    };

    /// These lines but for those of `others`.
    pub const fn without(self, others: Lines) -> Lines {
        Lines {
            job: self.job && !others.job,
            mmu: self.mmu && !others.mmu,
            gpu: self.gpu && !others.gpu,
        }
    }

    /// Whether there is any.
    pub const fn any(self) -> bool {
        self.job || self.mmu || self.gpu
    }
}

impl BitOr for Lines {
    type Output = Lines;

    fn bitor(self, other: Lines) -> Lines {
        Lines {
            job: self.job || other.job,
            mmu: self.mmu || other.mmu,
            gpu: self.gpu || other.gpu,
        }
    }
}

/// How the GPU and the CPU see each other's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemCoherency {
    /// Not at all: caches are kept up by [`Platform::clean`] and [`Platform::invalidate`].
    None,
    /// The GPU sees the CPU's caches through ACE-Lite.
    AceLite,
}

/// What the runtime asks of its host.
pub trait Platform {
    /// Reads the 32-bit register at `offset` bytes into the GPU's window; a multiple of 4.
    fn read32(&mut self, offset: u32) -> u32;

    /// Writes the 32-bit register at `offset`. Writes to memory made before are visible to the GPU first: on Arm, a
    /// `DSB` precedes the store.
    fn write32(&mut self, offset: u32, value: u32);

    /// Contiguous zeroed memory that the GPU can reach: `bytes` is a multiple of 4096, `alignment` a power of two of
    /// at least 4096. `None` when there is no more. It is never given back: the runtime reuses it itself.
    ///
    /// The CPU maps it non-cacheable, or cacheable with [`Platform::clean`] and [`Platform::invalidate`] doing their
    /// work; the firmware's interface lies in it too, and is polled with both.
    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<PhysicalAddress>;

    /// Reads the word at an address that is a multiple of 4: one volatile load.
    fn load32(&mut self, address: PhysicalAddress) -> u32;

    /// Writes the word at an address that is a multiple of 4: one volatile store.
    fn store32(&mut self, address: PhysicalAddress, value: u32);

    /// Makes what the CPU wrote to `range` visible to the GPU. Nothing to do on memory that is not cached, or on a
    /// coherent system.
    fn clean(&mut self, range: Range<PhysicalAddress>);

    /// Makes the CPU read from memory in `range` what the GPU wrote. Nothing to do as for [`Platform::clean`].
    fn invalidate(&mut self, range: Range<PhysicalAddress>);

    /// The monotonic clock.
    fn now(&mut self) -> Instant;

    /// The rate of the system counter that the GPU sees too (`CNTFRQ_EL0`), in hertz; 0 if not known.
    fn counter_hertz(&self) -> u64;

    /// Waits until one of the `wanted` lines is high or the moment `until` has come, and tells which lines are high.
    /// May return early with none. With no line wanted it is a delay.
    ///
    /// Lines are levels: a line stays high until the runtime has cleared its cause in the GPU. A handler of the
    /// interrupt therefore disables it at the interrupt controller, and the next `wait` enables it again.
    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines;

    /// How the system keeps caches coherent.
    fn coherency(&self) -> SystemCoherency {
        SystemCoherency::None
    }

    /// Values for the L2 slice hash registers, where the SoC needs its own (v11 and later).
    fn slice_hash(&self) -> Option<[u32; 3]> {
        None
    }

    /// Shader cores that a fuse of the SoC leaves usable, where there is one.
    fn fused_cores(&self) -> Option<u64> {
        None
    }

    /// Copies `bytes` to an address that is a multiple of 4. A faster version may replace it.
    fn write_bytes(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        let mut at = address;
        for chunk in bytes.chunks(4) {
            let old = if chunk.len() < 4 { self.load32(at) } else { 0 };
            let mut word = old.to_le_bytes();
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.store32(at, u32::from_le_bytes(word));
            at = at.offset(4);
        }
    }

    /// Fills `bytes` from an address that is a multiple of 4. A faster version may replace it.
    fn read_bytes(&mut self, address: PhysicalAddress, bytes: &mut [u8]) {
        let mut at = address;
        for chunk in bytes.chunks_mut(4) {
            let word = self.load32(at).to_le_bytes();
            for (to, from) in chunk.iter_mut().zip(word) {
                *to = from;
            }
            at = at.offset(4);
        }
    }

    /// Zeroes `bytes` (a multiple of 4) from an address that is a multiple of 4. A faster version may replace it.
    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        let mut done = 0;
        while done < bytes {
            self.store32(address.offset(done), 0);
            done = done.wrapping_add(4);
        }
    }
}
