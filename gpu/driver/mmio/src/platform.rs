//! The platform itself.

use crate::upkeep::{self, Caching, Upkeep};
use crate::{Clock, Interrupts, words};
use core::fmt;
use core::ops::Range;
use core::ptr::NonNull;
use eitri_runtime::{
    DmaRegion, Instant, Lines, PageAllocator, PhysicalAddress, Platform, SystemCoherency,
};
use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadWrite;

/// Bytes of a page.
const PAGE: usize = 4096;

/// What a system on chip is, besides addresses. The default is most. `K` keeps the CPU's caches up: [`Caching`], or a kernel's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soc<K = Caching> {
    /// How the GPU sees the CPU's caches.
    pub coherency: SystemCoherency,
    /// How the CPU maps the memory that the two share.
    pub caching: K,
    /// How many times slower than usual the GPU is clocked: see [`Platform::slowdown`].
    pub slowdown: u32,
    /// Values for the L2 slice hash registers: see [`Platform::slice_hash`].
    pub slice_hash: Option<[u32; 3]>,
    /// Cores that a fuse leaves usable: see [`Platform::fused_cores`].
    pub fused_cores: Option<u64>,
}

impl Default for Soc {
    fn default() -> Soc {
        Soc {
            coherency: SystemCoherency::None,
            caching: Caching::None,
            slowdown: 1,
            slice_hash: None,
            fused_cores: None,
        }
    }
}

/// Why there is no platform of these parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// The window is at address 0, is empty, or does not begin and end at a multiple of 4.
    Window,
    /// The memory is not whole pages of 4096 bytes, here or on the bus, or its map is too short.
    Memory,
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misplaced::Window => "the GPU's window is at address 0, empty, or not aligned",
            Misplaced::Memory => "the GPU's memory is not whole pages, or its map is too short",
        })
    }
}

impl core::error::Error for Misplaced {}

/// A GPU on the bus: `M` holds a bit for each page of its memory, `C` is the clock, `I` the interrupt lines, `K` keeps caches up.
pub struct Mmio<M, C, I, K = Caching> {
    window: UniqueMmioPointer<'static, [ReadWrite<u32>]>,
    /// The memory's first address on the bus, and its bytes: whole pages, which begin at the CPU's address `start`.
    bus: u64,
    bytes: u64,
    start: usize,
    pages: PageAllocator<M>,
    clock: C,
    interrupts: I,
    soc: Soc<K>,
    lent: Range<u64>,
}

impl<M: AsRef<[u64]> + AsMut<[u64]>, C: Clock, I: Interrupts> Mmio<M, C, I> {
    /// A GPU whose registers are at `window`, and that is given `memory` to work with; both are addresses, which are the
    /// same for the CPU and on the bus. `map` has [`PageAllocator::words`] words.
    ///
    /// # Errors
    /// [`Misplaced`].
    ///
    /// # Safety
    /// For as long as the platform lives:
    ///
    /// - `window` is the register window of a GPU whose clock runs, mapped as device memory, and nothing else uses it;
    /// - `memory` is RAM that nothing else uses, mapped at these addresses for reading and writing. The GPU may write to all
    ///   of it, also after the platform is gone if the GPU was not stopped ([`eitri_runtime::Device::shutdown`]).
    pub unsafe fn new(
        window: Range<usize>,
        memory: Range<usize>,
        map: M,
        clock: C,
        interrupts: I,
    ) -> Result<Mmio<M, C, I>, Misplaced> {
        let bus = PhysicalAddress(memory.start as u64);
        // SAFETY: the caller's promise.
        unsafe { Mmio::new_at(window, memory, bus, map, clock, interrupts) }
    }

    /// The same where the CPU's addresses are not those on the bus: the memory's first address there is `bus`. It is contiguous for
    /// both.
    ///
    /// # Errors
    /// [`Misplaced`].
    ///
    /// # Safety
    /// As [`Mmio::new`]; and the bus has this memory at `bus`.
    pub unsafe fn new_at(
        window: Range<usize>,
        memory: Range<usize>,
        bus: PhysicalAddress,
        map: M,
        clock: C,
        interrupts: I,
    ) -> Result<Mmio<M, C, I>, Misplaced> {
        let words = NonNull::new(window.start as *mut ReadWrite<u32>);
        let words = words.filter(|words| words.is_aligned() && window.end.is_multiple_of(4));
        let words = words.filter(|_| !window.is_empty());
        let words = words.ok_or(Misplaced::Window)?;
        let bytes = memory
            .end
            .checked_sub(memory.start)
            .filter(|_| memory.start != 0 && memory.start.is_multiple_of(PAGE));
        let bytes = bytes.ok_or(Misplaced::Memory)? as u64;
        let pages = PageAllocator::new(bus, bytes, map).ok_or(Misplaced::Memory)?;
        let words = NonNull::slice_from_raw_parts(words, window.len() / 4);
        Ok(Mmio {
            // SAFETY: the caller's promise: they are there, and this is the only pointer to them.
            window: unsafe { UniqueMmioPointer::new(words) },
            bus: bus.0,
            bytes,
            start: memory.start,
            pages,
            clock,
            interrupts,
            soc: Soc::default(),
            lent: 0..0,
        })
    }
}

impl<M, C, I, K> Mmio<M, C, I, K> {
    /// The same, on a system on chip that is not like most.
    #[must_use]
    pub fn with_soc<L>(self, soc: Soc<L>) -> Mmio<M, C, I, L> {
        Mmio {
            window: self.window,
            bus: self.bus,
            bytes: self.bytes,
            start: self.start,
            pages: self.pages,
            clock: self.clock,
            interrupts: self.interrupts,
            soc,
            lent: self.lent,
        }
    }

    /// The same with memory that it lends for images and buffers that are imported: a display's, by its addresses on the bus. The
    /// platform does not reach it by itself: the host reads and writes it where it has it.
    ///
    /// # Safety
    /// The GPU may read and write all of it for as long as something is imported there.
    #[must_use]
    pub unsafe fn with_lent(self, memory: Range<PhysicalAddress>) -> Mmio<M, C, I, K> {
        Mmio {
            lent: memory.start.0..memory.end.0,
            ..self
        }
    }

    /// A pointer to the word of memory at `address`; `None` if it is not there, or not aligned.
    #[inline(always)]
    fn word<T>(&self, address: PhysicalAddress) -> Option<*mut T> {
        const { assert!(size_of::<T>().is_power_of_two() && size_of::<T>() <= PAGE) };
        let offset = address.0.wrapping_sub(self.bus);
        // Both sides begin at whole pages, so the offset is aligned as the address is. One comparison finds all that is wrong:
        // rotated, the low bits of an offset that is not aligned make it larger than any memory. An aligned word that begins in
        // whole pages ends in them.
        let shift = const { size_of::<T>().trailing_zeros() };
        let inside = offset.rotate_right(shift) < self.bytes >> shift;
        // It is less than the bytes of the memory, which fit into a `usize`.
        inside.then(|| self.start.wrapping_add(offset as usize) as *mut T)
    }

    /// A pointer to the first of `count` double words at `address`; `None` if they are not all there, or not aligned.
    #[inline(always)]
    fn words(&self, address: PhysicalAddress, count: usize) -> Option<*mut u64> {
        let first = self.word(address)?;
        let left = self.bytes.wrapping_sub(address.0.wrapping_sub(self.bus));
        (count as u64 <= left / size_of::<u64>() as u64).then_some(first)
    }

    /// The part of a range that is memory of the GPU's.
    fn inside(&self, range: Range<PhysicalAddress>) -> Range<usize> {
        let clamp = |address: PhysicalAddress| {
            let offset = address.0.saturating_sub(self.bus).min(self.bytes);
            self.start.wrapping_add(offset as usize)
        };
        clamp(range.start)..clamp(range.end)
    }
}

// SAFETY: whoever made it (`Mmio::new`) says that its window is a GPU's and its memory for nobody else. Every access is
// checked to be inside, and is volatile.
unsafe impl<M, C, I, K> Platform for Mmio<M, C, I, K>
where
    M: AsRef<[u64]> + AsMut<[u64]>,
    C: Clock,
    I: Interrupts,
    K: Upkeep,
{
    fn read32(&mut self, offset: u32) -> u32 {
        // Outside of the window is what the window itself answers where no register is.
        let register = self.window.get(offset as usize / 4);
        register.map_or(0, |mut register| register.read())
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if let Some(mut register) = self.window.get(offset as usize / 4) {
            register.write(value);
        }
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let region = self.pages.allocate(bytes, alignment)?;
        self.zero(region.start(), region.bytes());
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        self.pages.free(region);
    }

    fn lend(&mut self, memory: Range<PhysicalAddress>) -> Option<DmaRegion> {
        let bytes = memory.end.0.checked_sub(memory.start.0)?;
        let inside = memory.start.0 >= self.lent.start && memory.end.0 <= self.lent.end;
        inside.then(|| DmaRegion::new(memory.start, bytes))
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        // SAFETY: aligned and inside of the memory.
        self.word(address)
            .map_or(0, |word| unsafe { words::load32(word) })
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        if let Some(word) = self.word(address) {
            // SAFETY: aligned and inside of the memory, which nothing refers to.
            unsafe { words::store32(word, value) };
        }
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        // SAFETY: aligned and inside of the memory.
        self.word(address)
            .map_or(0, |word| unsafe { words::load64(word) })
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        if let Some(word) = self.word(address) {
            // SAFETY: aligned and inside of the memory, which nothing refers to.
            unsafe { words::store64(word, value) };
        }
    }

    #[inline]
    fn write_words(&mut self, address: PhysicalAddress, words: &[u64]) {
        let Some(mut to) = self.words(address, words.len()) else {
            return;
        };
        let (fours, rest) = words.as_chunks::<4>();
        for four in fours {
            // SAFETY: aligned, and all of them are inside of the memory, which nothing refers to.
            unsafe { words::store_four(to, four) };
            to = to.wrapping_add(4);
        }
        let (two, one) = rest.as_chunks::<2>();
        if let [two] = two {
            // SAFETY: as above.
            unsafe { words::store_two(to, two) };
            to = to.wrapping_add(2);
        }
        if let [one] = one {
            // SAFETY: as above.
            unsafe { words::store64(to, *one) };
        }
    }

    #[inline]
    fn read_words(&mut self, address: PhysicalAddress, words: &mut [u64]) {
        let Some(mut from) = self.words(address, words.len()) else {
            return;
        };
        let (fours, rest) = words.as_chunks_mut::<4>();
        for four in fours {
            // SAFETY: aligned, and all of them are inside of the memory.
            *four = unsafe { words::load_four(from) };
            from = from.wrapping_add(4);
        }
        let (two, one) = rest.as_chunks_mut::<2>();
        if let [two] = two {
            // SAFETY: as above.
            *two = unsafe { words::load_two(from) };
            from = from.wrapping_add(2);
        }
        if let [one] = one {
            // SAFETY: as above.
            *one = unsafe { words::load64(from) };
        }
    }

    fn publish(&mut self) {
        upkeep::barrier();
    }

    fn observe(&mut self) {
        upkeep::barrier();
    }

    #[inline]
    fn clean(&mut self, range: Range<PhysicalAddress>) {
        if !self.soc.caching.is_needed() {
            return;
        }
        let range = self.inside(range);
        // SAFETY: it is inside of the memory, which is mapped.
        unsafe { self.soc.caching.clean(range) };
    }

    #[inline]
    fn invalidate(&mut self, range: Range<PhysicalAddress>) {
        if !self.soc.caching.is_needed() {
            return;
        }
        let range = self.inside(range);
        // SAFETY: it is inside of the memory, which is mapped; the runtime's promise of `Platform::invalidate`: no line
        // of it has been written since it was cleaned.
        unsafe { self.soc.caching.invalidate(range) };
    }

    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    fn counter_hertz(&self) -> u64 {
        self.clock.hertz()
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        if wanted.any() {
            return self.interrupts.wait(wanted, until);
        }
        // With no line wanted it is a delay.
        while self.clock.now() < until {
            self.interrupts.wait(Lines::NONE, until);
        }
        Lines::NONE
    }

    fn coherency(&self) -> SystemCoherency {
        self.soc.coherency
    }

    fn slowdown(&self) -> u32 {
        self.soc.slowdown
    }

    fn slice_hash(&self) -> Option<[u32; 3]> {
        self.soc.slice_hash
    }

    fn fused_cores(&self) -> Option<u64> {
        self.soc.fused_cores
    }
}
