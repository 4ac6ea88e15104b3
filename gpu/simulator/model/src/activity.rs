//! What the device has done so far, counted: the numbers behind the performance counters.
//!
//! Counting goes on whether or not anybody samples, since it costs an addition; `firmware/counters` says which counter is
//! which number. Guarantees: numbers only grow, for as long as the device has power.
//!
//! Facts: hardware/csf-perfcnt.md 4 (what each counter counts).

use crate::clock::Nanoseconds;
use alloc::vec;
use alloc::vec::Vec;

/// Stream interfaces that have counters.
pub(crate) const INTERFACES: usize = 6;

/// Bytes that pass between a core and the L2 in one beat.
pub(crate) const BEAT: u64 = 16;

/// Something that holds or does not: counted by the time for which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Work is on the GPU.
    Gpu,
    /// The microcontroller has something to do.
    Mcu,
    /// An interrupt line is high.
    Interrupt,
    /// A cache flush is in progress.
    Flush,
    /// Compute jobs are queued.
    Compute,
    /// Compute jobs are queued, and no core can take them.
    ComputeBlocked,
    /// A stream is on this stream interface.
    Interface(u8),
    /// That stream waits.
    InterfaceBlocked(u8),
}

impl State {
    const COUNT: usize = 6 + 2 * INTERFACES;

    fn index(self) -> usize {
        let interface = |number: u8| usize::from(number) % INTERFACES;
        match self {
            State::Gpu => 0,
            State::Mcu => 1,
            State::Interrupt => 2,
            State::Flush => 3,
            State::Compute => 4,
            State::ComputeBlocked => 5,
            State::Interface(number) => 6 + interface(number),
            State::InterfaceBlocked(number) => 6 + INTERFACES + interface(number),
        }
    }
}

/// What a shader core has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoreActivity {
    /// Time with a workgroup on it.
    pub(crate) busy: Nanoseconds,
    pub(crate) tasks: u64,
    pub(crate) warps: u64,
    /// Warps of programs with more than 32 registers.
    pub(crate) large_warps: u64,
    /// Warps without an empty lane.
    pub(crate) full_warps: u64,
    /// Cycles of issue.
    pub(crate) fma: u64,
    pub(crate) cvt: u64,
    pub(crate) sfu: u64,
    /// Instructions that not all threads of the warp executed.
    pub(crate) diverged: u64,
    /// Messages of all 16 lanes, and of fewer.
    pub(crate) full_reads: u64,
    pub(crate) short_reads: u64,
    pub(crate) full_writes: u64,
    pub(crate) short_writes: u64,
    pub(crate) atomics: u64,
    pub(crate) textures: u64,
    pub(crate) read_beats: u64,
    pub(crate) write_beats: u64,
}

/// What a slice of the memory system has done. There is no cache in it: whatever reaches it goes on to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceActivity {
    pub(crate) translations: u64,
    /// Translations that the cached ones answered.
    pub(crate) hits: u64,
    pub(crate) reads: u64,
    pub(crate) read_bytes: u64,
    pub(crate) writes: u64,
    pub(crate) write_bytes: u64,
}

/// Everything that is counted.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    times: [Nanoseconds; State::COUNT],
    states: u32,
    busy_cores: u64,
    /// Edges of the interrupt lines.
    pub(crate) interrupts: u64,
    pub(crate) flushes: u64,
    pub(crate) jobs: u64,
    pub(crate) tasks: u64,
    /// Time in which streams executed instructions, and loads, stores and sync objects among them.
    pub(crate) executing: Nanoseconds,
    pub(crate) accessing: Nanoseconds,
    cores: Vec<CoreActivity>,
    slices: Vec<SliceActivity>,
}

impl Activity {
    pub(crate) fn new(cores: u32, slices: u32) -> Activity {
        Activity {
            times: [0; State::COUNT],
            states: 0,
            busy_cores: 0,
            interrupts: 0,
            flushes: 0,
            jobs: 0,
            tasks: 0,
            executing: 0,
            accessing: 0,
            cores: vec![CoreActivity::default(); cores.max(1) as usize],
            slices: vec![SliceActivity::default(); slices.max(1) as usize],
        }
    }

    /// From now on `state` holds, or does not.
    pub(crate) fn set(&mut self, state: State, holds: bool) {
        let bit = 1 << state.index();
        self.states = self.states & !bit | if holds { bit } else { 0 };
    }

    /// From now on these cores have work.
    pub(crate) fn set_busy_cores(&mut self, cores: u64) {
        self.busy_cores = cores;
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, time: Nanoseconds) {
        let mut states = self.states;
        while states != 0 {
            self.times[states.trailing_zeros() as usize] += time;
            states &= states - 1;
        }
        let mut cores = self.busy_cores;
        while cores != 0 {
            self.core(cores.trailing_zeros() as u8).busy += time;
            cores &= cores - 1;
        }
    }

    /// For how long a state has held in all.
    pub(crate) fn time(&self, state: State) -> Nanoseconds {
        self.times[state.index()]
    }

    /// The core with this number.
    #[inline]
    pub(crate) fn core(&mut self, number: u8) -> &mut CoreActivity {
        let count = self.cores.len();
        &mut self.cores[usize::from(number) % count]
    }

    /// The cores, by number.
    pub(crate) fn cores(&self) -> &[CoreActivity] {
        &self.cores
    }

    /// The slices, by number.
    pub(crate) fn slices(&self) -> &[SliceActivity] {
        &self.slices
    }

    /// Which slice an address goes to.
    // FACT: how addresses are spread over the slices is not published (hardware/csf-perfcnt.md 4 asks to add the blocks
    // up); lines of 64 bytes in turn. Settled by counters of a strided walk on a board with several slices.
    fn slice(&mut self, physical: u64) -> &mut SliceActivity {
        let count = self.slices.len();
        &mut self.slices[(physical / 64) as usize % count]
    }

    /// An address was translated.
    #[inline]
    pub(crate) fn translated(&mut self, address: u64, hit: bool) {
        let slice = self.slice(address);
        slice.translations += 1;
        slice.hits += u64::from(hit);
    }

    /// Memory was read.
    #[inline]
    pub(crate) fn read(&mut self, physical: u64, bytes: u64) {
        let slice = self.slice(physical);
        slice.reads += 1;
        slice.read_bytes += bytes;
    }

    /// Memory was written.
    #[inline]
    pub(crate) fn wrote(&mut self, physical: u64, bytes: u64) {
        let slice = self.slice(physical);
        slice.writes += 1;
        slice.write_bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_counts_for_as_long_as_it_holds() {
        let mut activity = Activity::new(20, 4);
        activity.pass(5);
        activity.set(State::Compute, true);
        activity.set(State::InterfaceBlocked(3), true);
        activity.set_busy_cores(1 << 2 | 1 << 18);
        activity.pass(10);
        activity.set(State::Compute, false);
        activity.set_busy_cores(1 << 18);
        activity.pass(100);
        assert_eq!(activity.time(State::Gpu), 0);
        assert_eq!(activity.time(State::Compute), 10);
        assert_eq!(activity.time(State::InterfaceBlocked(3)), 110);
        let busy = |core: usize| activity.cores()[core].busy;
        assert_eq!((busy(2), busy(18), busy(0)), (10, 110, 0));
    }
}
