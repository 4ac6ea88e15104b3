//! A scripted platform for unit tests: registers that react as told, memory, a clock that a wait moves on.
//!
//! It knows nothing of GPUs: a test says which write has which effect; [`firmware`] says the effects that bring-up needs.
//! The whole path is tested on the model, elsewhere.

mod commented_words;
pub(crate) mod firmware;

pub(crate) use commented_words::check_commented_words;

use crate::page_allocator::PageAllocator;
use crate::platform::{DmaRegion, Instant, Lines, PhysicalAddress, Platform};
use core::ops::Range;
use core::time::Duration;
use eitri_csf::registers::control::TIMESTAMP;
use eitri_csf::registers::doorbell::DOORBELL;
use eitri_csf::table::Register;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

/// What a write sets off.
type Reaction = Box<dyn Fn(&mut BTreeMap<u32, u32>, u32)>;
/// What a doorbell sets off: it reads and writes memory too.
type Bell = fn(&mut Fake);

/// Where memory begins.
pub(crate) const MEMORY: u64 = 0x4000_0000;

pub(crate) struct Fake {
    pub(crate) registers: BTreeMap<u32, u32>,
    pub(crate) writes: Vec<(u32, u32)>,
    reactions: Vec<(u32, Reaction)>,
    memory: Vec<u32>,
    pages: PageAllocator<Vec<u64>>,
    used: u64,
    /// How much slower than usual the GPU's clock is.
    pub(crate) slowdown: u32,
    time: Duration,
    bell: Option<Bell>,
    /// Interrupt lines that are high, for ever.
    pub(crate) high: Lines,
    /// Loads from memory since the last load barrier.
    pub(crate) unobserved: usize,
    /// Parts of memory that were cleaned.
    pub(crate) cleaned: usize,
}

impl Fake {
    /// A platform with `bytes` of memory, on which every register reads 0, but for a TIMESTAMP that runs.
    pub(crate) fn new(bytes: u64) -> Fake {
        Fake {
            registers: BTreeMap::new(),
            writes: Vec::new(),
            reactions: Vec::new(),
            memory: std::vec![0; (bytes / 4) as usize],
            pages: PageAllocator::new(
                PhysicalAddress(MEMORY),
                bytes,
                std::vec![0; PageAllocator::words(bytes)],
            )
            .expect("whole pages"),
            used: 0,
            slowdown: 1,
            time: Duration::ZERO,
            bell: None,
            high: Lines::NONE,
            unobserved: 0,
            cleaned: 0,
        }
    }

    /// Gives a register its value.
    pub(crate) fn with(mut self, register: Register, value: u64) -> Fake {
        self.registers.insert(register.offset, value as u32);
        self.registers
            .insert(register.offset + 4, (value >> 32) as u32);
        self
    }

    /// Lets a write to `register` change others.
    pub(crate) fn on(
        mut self,
        register: Register,
        reaction: impl Fn(&mut BTreeMap<u32, u32>, u32) + 'static,
    ) -> Fake {
        self.reactions.push((register.offset, Box::new(reaction)));
        self
    }

    /// Lets the global doorbell have an effect.
    pub(crate) fn on_bell(mut self, bell: Bell) -> Fake {
        self.bell = Some(bell);
        self
    }

    /// Changes what the global doorbell does.
    pub(crate) fn set_bell(&mut self, bell: Option<Bell>) {
        self.bell = bell;
    }

    /// The bytes of memory that were given out.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// What was written to a register last.
    pub(crate) fn written(&self, register: Register) -> Option<u32> {
        let mut writes = self.writes.iter().rev();
        writes
            .find(|(offset, _)| *offset == register.offset)
            .map(|(_, value)| *value)
    }

    fn word(&mut self, address: PhysicalAddress) -> &mut u32 {
        assert!(address.0.is_multiple_of(4), "{address} is not aligned");
        let index = (address.0.checked_sub(MEMORY).expect("inside memory") / 4) as usize;
        &mut self.memory[index]
    }
}

/// A reaction: sets bits of another register.
pub(crate) fn sets(register: Register, bits: u32) -> impl Fn(&mut BTreeMap<u32, u32>, u32) {
    move |registers, _| *registers.entry(register.offset).or_default() |= bits
}

/// A reaction: clears the bits that are written from another register.
pub(crate) fn clears(register: Register) -> impl Fn(&mut BTreeMap<u32, u32>, u32) {
    move |registers, written| *registers.entry(register.offset).or_default() &= !written
}

#[expect(
    unsafe_code,
    reason = "its memory is a vector, which nothing but this type reaches"
)]
// SAFETY: registers are a map and memory a vector: there is no GPU that writes anywhere.
unsafe impl Platform for Fake {
    fn read32(&mut self, offset: u32) -> u32 {
        assert!(offset.is_multiple_of(4), "{offset:#x} is not aligned");
        if let Some(value) = self.registers.get(&offset) {
            return *value;
        }
        if offset == TIMESTAMP.offset {
            (self.time.as_micros() * 24) as u32
        } else {
            0
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        assert!(offset.is_multiple_of(4), "{offset:#x} is not aligned");
        self.writes.push((offset, value));
        let mut registers = std::mem::take(&mut self.registers);
        for (at, reaction) in &self.reactions {
            if *at == offset {
                reaction(&mut registers, value);
            }
        }
        self.registers = registers;
        if offset == DOORBELL.offset
            && let Some(bell) = self.bell
        {
            bell(self);
        }
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let region = self.pages.allocate(bytes, alignment)?;
        self.used = self.used.max(region.span().end.0 - MEMORY);
        self.zero(region.start(), region.bytes());
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        self.pages.free(region);
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        self.unobserved += 1;
        *self.word(address)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        *self.word(address) = value;
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        assert!(address.0.is_multiple_of(8), "{address} is not aligned");
        self.unobserved += 1;
        let low = u64::from(*self.word(address));
        low | u64::from(*self.word(address.offset(4))) << 32
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        assert!(address.0.is_multiple_of(8), "{address} is not aligned");
        *self.word(address) = value as u32;
        *self.word(address.offset(4)) = (value >> 32) as u32;
    }

    fn publish(&mut self) {}

    fn observe(&mut self) {
        self.unobserved = 0;
    }

    fn clean(&mut self, _: Range<PhysicalAddress>) {
        self.cleaned += 1;
    }

    fn invalidate(&mut self, _: Range<PhysicalAddress>) {}

    fn slowdown(&self) -> u32 {
        self.slowdown
    }

    fn now(&mut self) -> Instant {
        Instant(self.time)
    }

    fn counter_hertz(&self) -> u64 {
        24_000_000
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        // A wanted line that is high ends the wait before any time has passed.
        if !wanted.any() || !(self.high.without(self.high.without(wanted))).any() {
            self.time = self.time.max(until.0);
        }
        self.high
    }
}
