//! Platform: what the runtime asks of its host.
//!
//! On a board these are pointers, the GIC and the generic timer; in host tests they are the model. The runtime is
//! generic over it, so it costs nothing once compiled for one.
//!
//! Needs: the GPU's clocks and power domain are on, or are switched by [`Platform::begin_supply`].  Guarantees to the platform: registers are accessed aligned, one
//! 32-bit word at a time; memory only inside what [`Platform::allocate`] gave and was not given back.
//! Facts: hardware/csf-mmio.md sections 1 and 3, csf-firmware.md section 6 (access rules), boards.md section 3.1
//! (barriers, attributes).

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
    #[inline]
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

/// A change of power: of a domain of the GPU, or of its supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerChange {
    /// Power on.
    On,
    /// Power off.
    Off,
}

impl fmt::Display for PowerChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PowerChange::On => "up",
            PowerChange::Off => "down",
        })
    }
}

/// A clock of the GPU, and the voltage that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatingPoint {
    /// The clock, in hertz.
    pub hertz: u64,
    /// The voltage, in microvolts.
    pub microvolts: u32,
}

/// How the GPU and the CPU see each other's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemCoherency {
    /// Not at all: caches are kept up by [`Platform::clean`] and [`Platform::invalidate`].
    None,
    /// The GPU sees the CPU's caches through ACE-Lite.
    AceLite,
}

impl fmt::Display for SystemCoherency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SystemCoherency::None => "none",
            SystemCoherency::AceLite => "ACE-Lite",
        })
    }
}

/// Contiguous memory that the GPU can reach, and that one owner has: what [`Platform::allocate`] gives and
/// [`Platform::free`] takes back.
///
/// It is a value, not a pointer: what makes it real is the promise of the platform that gives it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "memory that is dropped is not given back"]
pub struct DmaRegion {
    start: PhysicalAddress,
    bytes: u64,
}

impl DmaRegion {
    /// The `bytes` bytes from `start` on.
    pub const fn new(start: PhysicalAddress, bytes: u64) -> DmaRegion {
        DmaRegion { start, bytes }
    }

    /// Its first address.
    pub const fn start(&self) -> PhysicalAddress {
        self.start
    }

    /// Its length in bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its addresses.
    pub const fn span(&self) -> Range<PhysicalAddress> {
        self.start.span(self.bytes)
    }
}

/// What the runtime asks of its host.
///
/// Three things are kept apart, because hardware keeps them apart:
///
/// - *access*: a load or a store of one word, never torn ([`Platform::load64`] is one access);
/// - *order*: [`Platform::publish`] and [`Platform::observe`]. They are barriers and are needed on every platform, also
///   where memory is not cached and where the GPU is coherent. The runtime calls them where order matters, not once a
///   word;
/// - *caches*: [`Platform::clean`] and [`Platform::invalidate`]. They do nothing where memory is not cached, or where the
///   GPU sees the caches.
///
/// # Safety
/// The GPU writes where the runtime tells it to, so memory safety rests on these rules:
///
/// - [`Platform::read32`] and [`Platform::write32`] reach the registers of one GPU that nothing else drives while the
///   platform lives. Who has the platform must not let safe code reach those registers another way.
/// - [`Platform::allocate`] gives memory that no Rust reference and no other device refers to, until it came back through
///   [`Platform::free`]. Both the CPU and the GPU may write to it at any time.
/// - Loads, stores, [`Platform::write_bytes`], [`Platform::read_bytes`] and [`Platform::zero`] touch the memory at the
///   address that they are given and nothing else. They are volatile: the GPU may be writing.
///
/// A platform that is dropped while its GPU runs leaves the GPU running: see [`crate::Device`] for who stops it.
#[expect(
    unsafe_code,
    reason = "the declaration is where the promise is asked for; nothing here relies on it being kept"
)]
pub unsafe trait Platform {
    /// Reads the 32-bit register at `offset` bytes into the GPU's window; a multiple of 4.
    fn read32(&mut self, offset: u32) -> u32;

    /// Writes the 32-bit register at `offset`. Writes to registers stay in order; what orders them against memory is
    /// [`Platform::publish`].
    fn write32(&mut self, offset: u32, value: u32);

    /// Contiguous memory that the GPU can reach, zeroed by [`Platform::zero`] or at first: `bytes` is a multiple of 4096,
    /// `alignment` a power of two of at least 4096. `None` when there is no more.
    ///
    /// The CPU maps it non-cacheable, or cacheable with [`Platform::clean`] and [`Platform::invalidate`] doing their
    /// work; the firmware's interface lies in it too, and is polled with both. [`crate::PageAllocator`] is an allocator
    /// that a platform may use.
    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion>;

    /// Takes back what [`Platform::allocate`] gave or [`Platform::lend`] lent, whole. The GPU can't reach it any more.
    fn free(&mut self, region: DmaRegion);

    /// Lends memory that is not for [`Platform::allocate`] to give, for images and buffers that are imported: a display's, or another
    /// device's. The GPU may read and write all of it until it is taken back, beside whoever it belongs to. `memory` begins and ends at
    /// multiples of 4096. The runtime neither reads nor writes it itself, nor keeps caches of it. Most platforms have none to lend.
    fn lend(&mut self, memory: Range<PhysicalAddress>) -> Option<DmaRegion> {
        let _ = memory;
        None
    }

    /// Reads the word at an address that is a multiple of 4: one volatile load.
    fn load32(&mut self, address: PhysicalAddress) -> u32;

    /// Writes the word at an address that is a multiple of 4: one volatile store.
    fn store32(&mut self, address: PhysicalAddress, value: u32);

    /// Reads the double word at an address that is a multiple of 8: one volatile load, so that a counter that the GPU
    /// writes is never seen half old.
    fn load64(&mut self, address: PhysicalAddress) -> u64;

    /// Writes the double word at an address that is a multiple of 8: one volatile store, so that the GPU never sees half
    /// of it.
    fn store64(&mut self, address: PhysicalAddress, value: u64);

    /// Everything stored and cleaned before is visible to the GPU before anything that is stored, or written to a
    /// register, after. On Arm a `DSB`.
    fn publish(&mut self);

    /// Nothing loaded after is older than what was read from registers and memory before. On Arm a `DSB`, or a `DMB` of
    /// loads where memory is not cached.
    fn observe(&mut self);

    /// Writes what the CPU's caches hold of `range` to memory, where the GPU sees it after the next
    /// [`Platform::publish`]. Cache upkeep alone: it orders nothing.
    fn clean(&mut self, range: Range<PhysicalAddress>);

    /// Drops what the CPU's caches hold of `range`, so that it is read from memory next. Cache upkeep alone; no line of
    /// `range` has been written by the CPU since it was cleaned.
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

    /// How many times slower than usual the GPU may be clocked now, at least 1: the limits for answers of the hardware
    /// and the firmware are multiplied by it. Usual is some hundred megahertz; a GPU whose clock is still parked at
    /// 24 MHz wants 20 (hardware/boards-imx95.md section 7.3).
    fn slowdown(&self) -> u32 {
        1
    }

    /// Begins to switch the GPU's supply and clocks, where that is the platform's to do, and returns at once. They are asked
    /// for before anything else of the GPU, and to go when nothing in it runs; in between no register is accessed. What is on
    /// already stays on.
    fn begin_supply(&mut self, _change: PowerChange) {}

    /// Whether supply and clocks are as was asked for last: registers may be accessed, or they are gone.
    fn supply_is_stable(&mut self) -> bool {
        true
    }

    /// Clocks the GPU otherwise from now on: it may be running. The voltage rises before the clock does, and falls after it;
    /// while it is on its way [`Platform::slowdown`] is that of the slower clock.
    fn set_operating_point(&mut self, _point: OperatingPoint) {}

    /// Values for the L2 slice hash registers, where the SoC needs its own (v11 and later).
    fn slice_hash(&self) -> Option<[u32; 3]> {
        None
    }

    /// Shader cores that a fuse of the SoC leaves usable, where there is one.
    fn fused_cores(&self) -> Option<u64> {
        None
    }

    /// Writes double words from an address that is a multiple of 8 on, each by one volatile store. A faster version may
    /// replace it.
    fn write_words(&mut self, address: PhysicalAddress, words: &[u64]) {
        let mut at = address;
        for word in words {
            self.store64(at, *word);
            at = at.offset(8);
        }
    }

    /// Reads double words from an address that is a multiple of 8 on, each by one volatile load. A faster version may
    /// replace it.
    fn read_words(&mut self, address: PhysicalAddress, words: &mut [u64]) {
        let mut at = address;
        for word in words {
            *word = self.load64(at);
            at = at.offset(8);
        }
    }

    /// Copies `bytes` to an address that is a multiple of 4, by volatile words. A faster version may replace it.
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

    /// Fills `bytes` from an address that is a multiple of 4, by volatile words. A faster version may replace it.
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

    /// Zeroes `bytes` (a multiple of 8) from an address that is a multiple of 8, by volatile words. A faster version may
    /// replace it.
    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        let mut done = 0;
        while done < bytes {
            self.store64(address.offset(done), 0);
            done = done.wrapping_add(8);
        }
    }
}
