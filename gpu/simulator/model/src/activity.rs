//! What the device has done so far, counted: the numbers behind the performance counters.
//!
//! Counting goes on whether or not anybody samples, since it costs an addition; `firmware/counters` says which counter is
//! which number. Guarantees: numbers only grow, for as long as the device has power.
//!
//! Facts: hardware/csf-perfcnt.md 4 (what each counter counts).

use crate::clock::Nanoseconds;
use crate::l2::LINE;
use crate::l2_tags::{Moved, place_of};
use crate::pace::Parts;
use crate::stream::Work;
use alloc::vec;
use alloc::vec::Vec;

/// Stream interfaces that have counters.
pub(crate) const INTERFACES: usize = 6;

/// Bytes that pass between a core and the L2 in one beat.
pub(crate) const BEAT: u64 = 16;

/// The first state of a queue.
const QUEUES: usize = 5;

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
    /// Jobs of a kind are queued.
    Queued(Work),
    /// Jobs of a kind are queued, and none can go on.
    QueueBlocked(Work),
    /// Jobs of any kind are queued.
    AnyQueued,
    /// A stream is on this stream interface.
    Interface(u8),
    /// That stream waits.
    InterfaceBlocked(u8),
}

impl State {
    const COUNT: usize = QUEUES + 2 * Work::ALL.len() + 2 * INTERFACES;

    fn index(self) -> usize {
        let interface = |number: u8| usize::from(number) % INTERFACES;
        match self {
            State::Gpu => 0,
            State::Mcu => 1,
            State::Interrupt => 2,
            State::Flush => 3,
            State::AnyQueued => 4,
            State::Queued(work) => QUEUES + work as usize,
            State::QueueBlocked(work) => QUEUES + Work::ALL.len() + work as usize,
            State::Interface(number) => QUEUES + 2 * Work::ALL.len() + interface(number),
            State::InterfaceBlocked(number) => {
                QUEUES + 2 * Work::ALL.len() + INTERFACES + interface(number)
            }
        }
    }
}

/// What a shader core has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoreActivity {
    /// Time with work on it, with fragments, and with anything else.
    pub(crate) busy: Nanoseconds,
    pub(crate) fragment: Nanoseconds,
    pub(crate) other: Nanoseconds,
    /// Tasks and warps of compute and vertex work.
    pub(crate) tasks: u64,
    pub(crate) warps: u64,
    pub(crate) fragments: FragmentActivity,
    /// Warps of programs with more than 32 registers.
    pub(crate) large_warps: u64,
    /// Warps without an empty lane.
    pub(crate) full_warps: u64,
    /// Cycles of issue.
    pub(crate) fma: u64,
    pub(crate) cvt: u64,
    pub(crate) sfu: u64,
    /// Lines that messages to memory have touched, each message at least one, and components of 16 bits that were interpolated.
    pub(crate) lines: u64,
    pub(crate) interpolated: u64,
    /// What its warps can't do any faster, in parts of a cycle.
    pub(crate) latency: Parts,
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

/// What a shader core has drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FragmentActivity {
    pub(crate) tiles: u64,
    pub(crate) warps: u64,
    /// Primitives of the lists of tiles, and those of them that cover a sample of their tile.
    pub(crate) primitives: u64,
    pub(crate) rasterised: u64,
    /// Quads with a covered sample, and those of them that do not cover all of their pixels.
    pub(crate) quads: u64,
    pub(crate) partial_quads: u64,
    /// Quads that came to their early tests.
    pub(crate) queued: u64,
    /// Pixels of primitives with a covered sample.
    pub(crate) pixels: u64,
    /// Quads for which older fragments of a pixel were killed.
    pub(crate) killer_quads: u64,
    /// Calls of blend shaders.
    pub(crate) blend_calls: u64,
    /// Loads of varyings and of attributes.
    pub(crate) varyings: u64,
    pub(crate) attributes: u64,
}

impl core::ops::AddAssign for CoreActivity {
    fn add_assign(&mut self, other: CoreActivity) {
        let CoreActivity {
            busy,
            fragment,
            other: others,
            tasks,
            warps,
            fragments,
            large_warps,
            full_warps,
            fma,
            cvt,
            sfu,
            lines,
            interpolated,
            latency,
            diverged,
            full_reads,
            short_reads,
            full_writes,
            short_writes,
            atomics,
            textures,
            read_beats,
            write_beats,
        } = other;
        self.busy += busy;
        self.fragment += fragment;
        self.other += others;
        self.tasks += tasks;
        self.warps += warps;
        self.fragments += fragments;
        self.large_warps += large_warps;
        self.full_warps += full_warps;
        self.fma += fma;
        self.cvt += cvt;
        self.sfu += sfu;
        self.lines += lines;
        self.interpolated += interpolated;
        self.latency += latency;
        self.diverged += diverged;
        self.full_reads += full_reads;
        self.short_reads += short_reads;
        self.full_writes += full_writes;
        self.short_writes += short_writes;
        self.atomics += atomics;
        self.textures += textures;
        self.read_beats += read_beats;
        self.write_beats += write_beats;
    }
}

impl core::ops::AddAssign for FragmentActivity {
    fn add_assign(&mut self, other: FragmentActivity) {
        let FragmentActivity {
            tiles,
            warps,
            primitives,
            rasterised,
            quads,
            partial_quads,
            queued,
            pixels,
            killer_quads,
            blend_calls,
            varyings,
            attributes,
        } = other;
        self.tiles += tiles;
        self.warps += warps;
        self.primitives += primitives;
        self.rasterised += rasterised;
        self.quads += quads;
        self.partial_quads += partial_quads;
        self.queued += queued;
        self.pixels += pixels;
        self.killer_quads += killer_quads;
        self.blend_calls += blend_calls;
        self.varyings += varyings;
        self.attributes += attributes;
    }
}

/// What became of primitives on their way to the tiles' lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TilerActivity {
    pub(crate) points: u64,
    pub(crate) lines: u64,
    pub(crate) triangles: u64,
    /// What is seen, by its side. What has no sides shows its front.
    pub(crate) front: u64,
    pub(crate) back: u64,
    /// What lies outside of the picture, has no extent, or shows a side that is culled.
    pub(crate) culled: u64,
    /// What lies beyond a depth that culls, or behind the eye.
    pub(crate) clipped: u64,
    /// Vertices whose position and whose varyings were asked for.
    pub(crate) positions: u64,
    pub(crate) varyings: u64,
}

impl core::ops::AddAssign for TilerActivity {
    fn add_assign(&mut self, other: TilerActivity) {
        self.points += other.points;
        self.lines += other.lines;
        self.triangles += other.triangles;
        self.front += other.front;
        self.back += other.back;
        self.culled += other.culled;
        self.clipped += other.clipped;
        self.positions += other.positions;
        self.varyings += other.varyings;
    }
}

/// What a device has drawn since it got power: a measure of its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Points, lines and triangles that were assembled.
    pub primitives: u64,
    /// Tiles that were rendered.
    pub tiles: u64,
    /// Pixels that primitives cover, each counted for every primitive over it.
    pub pixels: u64,
}

/// What jobs of a kind came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueActivity {
    pub(crate) jobs: u64,
    pub(crate) tasks: u64,
}

/// Cores with work, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusyCores {
    pub(crate) fragment: u64,
    /// Compute and vertex work.
    pub(crate) other: u64,
}

impl core::ops::BitOr for BusyCores {
    type Output = BusyCores;

    fn bitor(self, other: BusyCores) -> BusyCores {
        BusyCores {
            fragment: self.fragment | other.fragment,
            other: self.other | other.other,
        }
    }
}

/// What a slice of the memory system has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceActivity {
    pub(crate) translations: u64,
    /// Translations that the cached ones answered.
    pub(crate) hits: u64,
    /// Lines that were asked for.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// Lines that came from memory and went there.
    pub(crate) fetched: u64,
    pub(crate) evicted: u64,
}

/// Numbers of translations, by slice: MEM_FEATURES has room for 16.
pub(crate) type Translations = [u32; 16];

/// Everything that is counted.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    times: [Nanoseconds; State::COUNT],
    states: u32,
    busy_cores: BusyCores,
    /// Cores that were given work since time passed last: they may have done it by then.
    begun: BusyCores,
    /// Edges of the interrupt lines.
    pub(crate) interrupts: u64,
    pub(crate) flushes: u64,
    queues: [QueueActivity; Work::ALL.len()],
    pub(crate) tiler: TilerActivity,
    /// Time in which streams executed instructions, and loads, stores and sync objects among them.
    pub(crate) executing: Nanoseconds,
    pub(crate) accessing: Nanoseconds,
    cores: Vec<CoreActivity>,
    slices: Vec<SliceActivity>,
    external_lines: u64,
}

impl Activity {
    pub(crate) fn new(cores: u32, slices: u32) -> Activity {
        Activity {
            times: [0; State::COUNT],
            states: 0,
            busy_cores: BusyCores::default(),
            begun: BusyCores::default(),
            interrupts: 0,
            flushes: 0,
            queues: Default::default(),
            tiler: TilerActivity::default(),
            executing: 0,
            accessing: 0,
            cores: vec![CoreActivity::default(); cores.max(1) as usize],
            slices: vec![SliceActivity::default(); slices.max(1) as usize],
            external_lines: 0,
        }
    }

    /// From now on `state` holds, or does not.
    pub(crate) fn set(&mut self, state: State, holds: bool) {
        let bit = 1 << state.index();
        self.states = self.states & !bit | if holds { bit } else { 0 };
    }

    /// From now on these cores have work.
    pub(crate) fn set_busy_cores(&mut self, cores: BusyCores) {
        self.busy_cores = cores;
    }

    /// A core is given fragments.
    pub(crate) fn begin_fragments(&mut self, core: u8) {
        self.begun.fragment |= 1 << (core & 63);
    }

    /// A core is given a workgroup, or vertices.
    pub(crate) fn begin_threads(&mut self, core: u8) {
        self.begun.other |= 1 << (core & 63);
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, time: Nanoseconds) {
        let mut states = self.states;
        while states != 0 {
            self.times[states.trailing_zeros() as usize] += time;
            states &= states - 1;
        }
        let begun = core::mem::take(&mut self.begun);
        let BusyCores { fragment, other } = self.busy_cores | begun;
        let mut cores = fragment | other;
        while cores != 0 {
            let number = cores.trailing_zeros();
            let has = |mask: u64| if mask >> number & 1 != 0 { time } else { 0 };
            let core = self.core(number as u8);
            core.busy += time;
            core.fragment += has(fragment);
            core.other += has(other);
            cores &= cores - 1;
        }
    }

    /// What jobs of a kind came to.
    pub(crate) fn queue(&self, work: Work) -> QueueActivity {
        self.queues[work as usize]
    }

    /// The same, to add to it.
    pub(crate) fn queue_mut(&mut self, work: Work) -> &mut QueueActivity {
        &mut self.queues[work as usize]
    }

    /// For how long a state has held in all.
    pub(crate) fn time(&self, state: State) -> Nanoseconds {
        self.times[state.index()]
    }

    /// The core with this number.
    #[inline]
    pub(crate) fn core(&mut self, number: u8) -> &mut CoreActivity {
        let (number, count) = (usize::from(number), self.cores.len());
        // A division takes longer than what is counted.
        let number = if number < count {
            number
        } else {
            number % count
        };
        &mut self.cores[number]
    }

    /// The cores, by number.
    pub(crate) fn cores(&self) -> &[CoreActivity] {
        &self.cores
    }

    /// What was drawn.
    pub(crate) fn drawn(&self) -> Drawn {
        let tiler = &self.tiler;
        let fragments = self.cores.iter().map(|core| &core.fragments);
        Drawn {
            primitives: tiler.points + tiler.lines + tiler.triangles,
            tiles: fragments.clone().map(|it| it.tiles).sum(),
            pixels: fragments.map(|it| it.pixels).sum(),
        }
    }

    /// Warps of compute and vertex work and tiles that were begun.
    pub(crate) fn work_begun(&self) -> u64 {
        let cores = self.cores.iter();
        cores.map(|core| core.warps + core.fragments.tiles).sum()
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
        &mut self.slices[place_of((physical / LINE) as usize, count)]
    }

    /// An address was translated.
    #[inline]
    pub(crate) fn translated(&mut self, address: u64, hit: bool) {
        let slice = self.slice(address);
        slice.translations += 1;
        slice.hits += u64::from(hit);
    }

    /// An address was translated so often, each time by a cached translation.
    #[inline]
    pub(crate) fn translated_often(&mut self, address: u64, count: u64) {
        let slice = self.slice(address);
        slice.translations += count;
        slice.hits += count;
    }

    /// How many addresses were translated on each slice.
    pub(crate) fn translations(&self) -> Translations {
        core::array::from_fn(|slice| {
            self.slices
                .get(slice)
                .map_or(0, |slice| slice.translations as u32)
        })
    }

    /// Addresses were translated, each by a cached translation.
    pub(crate) fn translated_by_cache(&mut self, translations: &Translations) {
        for (slice, count) in self.slices.iter_mut().zip(translations) {
            slice.translations += u64::from(*count);
            slice.hits += u64::from(*count);
        }
    }

    /// Forgets what slices have done.
    pub(crate) fn clear_slices(&mut self) {
        self.slices.fill(SliceActivity::default());
    }

    /// A line was read or written, and others moved between the L2 and memory for it.
    #[inline]
    pub(crate) fn requested(&mut self, line: u64, write: bool, moved: Moved) {
        let slice = self.slice(line * LINE);
        slice.writes += u64::from(write);
        slice.reads += u64::from(!write);
        if moved == Moved::default() {
            return;
        }
        slice.fetched += moved.read;
        slice.evicted += moved.written;
        self.external_lines += moved.read + moved.written;
    }

    /// A flush has moved lines to memory.
    // They count with the first slice: which slices had them is not kept.
    pub(crate) fn cleaned(&mut self, moved: Moved) {
        self.slice(0).evicted += moved.written;
        self.external_lines += moved.written;
    }

    /// Bytes that passed between the L2 and memory.
    pub(crate) fn external_bytes(&self) -> u64 {
        self.external_lines * LINE
    }
}

#[cfg(test)]
mod tests;
