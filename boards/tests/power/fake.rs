//! A machine that remembers what was done, and answers as a chip's model says.

use eitri_boards::steps::{Action, Found, Log, Machine, SmcCall};
use embedded_hal::delay::DelayNs;
use std::collections::BTreeMap;

/// What a chip makes of accesses.
pub trait Chip {
    /// A register is read; `kept` is what was written there last.
    fn read(&mut self, at: usize, kept: u32) -> u32 {
        let _ = at;
        kept
    }

    /// A register is written; gives what is kept.
    fn write(&mut self, at: usize, kept: u32, value: u32) -> u32 {
        let _ = (at, kept);
        value
    }

    /// The firmware is called.
    fn smc(&mut self, call: SmcCall) -> u64 {
        panic!("no call of the firmware belongs here: {call:?}")
    }
}

/// The machine.
pub struct Fake<C> {
    pub chip: C,
    pub registers: BTreeMap<usize, u32>,
    /// Every write, in order.
    pub writes: Vec<(usize, u32)>,
    pub nanoseconds: u64,
}

impl<C: Chip> Fake<C> {
    pub fn new(chip: C) -> Fake<C> {
        Fake {
            chip,
            registers: BTreeMap::new(),
            writes: Vec::new(),
            nanoseconds: 0,
        }
    }

    fn kept(&self, at: usize) -> u32 {
        self.registers.get(&at).copied().unwrap_or(0)
    }
}

impl<C> DelayNs for Fake<C> {
    fn delay_ns(&mut self, nanoseconds: u32) {
        self.nanoseconds += u64::from(nanoseconds);
    }
}

impl<C: Chip> Machine for Fake<C> {
    fn read(&mut self, at: usize) -> u32 {
        let kept = self.kept(at);
        self.chip.read(at, kept)
    }

    fn write(&mut self, at: usize, value: u32) {
        self.writes.push((at, value));
        let kept = self.kept(at);
        let value = self.chip.write(at, kept, value);
        self.registers.insert(at, value);
    }

    fn smc(&mut self, call: SmcCall) -> u64 {
        self.chip.smc(call)
    }
}

/// What was said: each action before it is done, and what it found.
#[derive(Default)]
pub struct Said(pub Vec<String>);

impl Log for Said {
    fn begin(&mut self, action: &Action) {
        self.0.push(action.what.to_owned());
    }

    fn done(&mut self, action: &Action, found: Found) {
        self.0.push(format!("{}: {found}", action.what));
    }
}
