//! Performance counters: the ring of samples in memory, and which counter is which of the device's numbers.
//!
//! Guarantees: memory first, then INSERT, then ACK. A counter that the model has no number for stays 0.
//!
//! Facts: hardware/csf-perfcnt.md 1 to 4 and 7.

use super::interface::{Interface, Stop, Words};
use crate::activity::{Activity, CoreActivity, SliceActivity, State};
use crate::clock::Clock;
use crate::config::Product;
use crate::diagnosis::FirmwareMisuse;
use crate::fabric::Access;
use crate::injection::Injection;
use crate::l2::LINE;
use crate::mmu::{Refusal, Source};
use crate::stream::Work;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use eitri_csf::counters::{self, BlockKind, HEADER_WORDS, SampleLayout, header};
use eitri_csf::interface::global::{
    GLB_PRFCNT_BASE, GLB_PRFCNT_CONFIG, GLB_PRFCNT_CSF_EN, GLB_PRFCNT_EXTRACT, GLB_PRFCNT_INSERT,
    GLB_PRFCNT_JASID, GLB_PRFCNT_MMU_L2_EN, GLB_PRFCNT_SHADER_EN, GLB_PRFCNT_STATUS,
    GLB_PRFCNT_TILER_EN, glb_req, prfcnt_config, prfcnt_jasid, prfcnt_status,
};
use eitri_csf::registers::identity::l2_features;

/// What the host asked for when it switched the counters on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setup {
    space: u8,
    base: u64,
    samples: u32,
    set: u32,
    enables: Enables,
}

/// The enable words, a bit four words of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Enables {
    front_end: u32,
    tiler: u32,
    memory_system: u32,
    shader_core: u32,
}

impl Enables {
    fn of(self, kind: BlockKind) -> u32 {
        match kind {
            BlockKind::FrontEnd => self.front_end,
            BlockKind::Tiler => self.tiler,
            BlockKind::MemorySystem => self.memory_system,
            BlockKind::ShaderCore => self.shader_core,
        }
    }
}

/// Counters that are on.
#[derive(Clone, Debug)]
struct Running {
    setup: Setup,
    places: Vec<Place>,
    /// What was counted at the last sample.
    before: Activity,
}

/// The counters.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    running: Option<Box<Running>>,
    /// Samples taken since the counters were switched on.
    insert: u32,
    status: u32,
    /// A sample that was asked for is being taken.
    pub(super) pending: bool,
}

/// What a sample led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampled {
    /// It is in memory, or failed for good: these global events are to be raised.
    Done(u32),
    /// Memory waits for a change of the address space.
    Later,
}

impl Counters {
    pub(super) fn is_on(&self) -> bool {
        self.running.is_some()
    }

    /// PRFCNT_ENABLE became 1: takes the words that count from here on.
    pub(super) fn switch_on(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
    ) -> Result<(), Stop> {
        let input = interface.input;
        let config = words.get32(input, GLB_PRFCNT_CONFIG)?;
        let setup = Setup {
            space: prfcnt_jasid::JASID.get(words.get32(input, GLB_PRFCNT_JASID)?) as u8,
            base: words.get(input, GLB_PRFCNT_BASE)?,
            samples: prfcnt_config::SAMPLES.get(config),
            set: prfcnt_config::SET.get(config),
            enables: Enables {
                front_end: words.get32(input, GLB_PRFCNT_CSF_EN)?,
                tiler: words.get32(input, GLB_PRFCNT_TILER_EN)?,
                memory_system: words.get32(input, GLB_PRFCNT_MMU_L2_EN)?,
                shader_core: words.get32(input, GLB_PRFCNT_SHADER_EN)?,
            },
        };
        check(words, setup);
        let product = words.fabric.config.product;
        self.running = Some(Box::new(Running {
            setup,
            places: places(&product, setup.set),
            before: words.fabric.activity.clone(),
        }));
        (self.insert, self.status, self.pending) = (0, 0, false);
        words.set32(interface.output, GLB_PRFCNT_STATUS, 0)?;
        words.set32(interface.output, GLB_PRFCNT_INSERT, 0)
    }

    /// PRFCNT_ENABLE became 0. Samples in the ring stay.
    pub(super) fn switch_off(&mut self) {
        self.running = None;
        self.pending = false;
    }

    /// Takes a sample: writes the blocks of units that are on, and moves INSERT.
    pub(super) fn sample(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
        ready_cores: u64,
    ) -> Result<Sampled, Stop> {
        let Some(running) = &mut self.running else {
            return Ok(Sampled::Done(0));
        };
        let extract = words.get32(interface.input, GLB_PRFCNT_EXTRACT)?;
        let held = self.insert.wrapping_sub(extract);
        let samples = running.setup.samples.max(1);
        if held > samples {
            let insert = self.insert;
            let misuse = FirmwareMisuse::SampleExtract { extract, insert };
            words.fabric.journal.report(misuse);
        }
        if held >= samples || words.fabric.strikes(Injection::SampleLost) {
            return Ok(Sampled::Done(glb_req::PRFCNT_OVERFLOW.mask32()));
        }
        let written = running.write(words, self.insert % samples, ready_cores);
        match written {
            Ok(()) => self.insert = self.insert.wrapping_add(1),
            Err(Refusal::Stalled(_)) => return Ok(Sampled::Later),
            Err(Refusal::Fault(_) | Refusal::Bus(_)) => {
                self.status = prfcnt_status::FAILED.set32(self.status, true);
            }
        }
        running.before = words.fabric.activity.clone();
        words.set32(interface.output, GLB_PRFCNT_STATUS, self.status)?;
        words.set32(interface.output, GLB_PRFCNT_INSERT, self.insert)?;
        let half_full = written.is_ok() && held + 1 == samples.div_ceil(2);
        Ok(Sampled::Done(if half_full {
            glb_req::PRFCNT_THRESHOLD.mask32()
        } else {
            0
        }))
    }

    /// Samples from here on are affected by a change of power.
    pub(super) fn note_power_off(&mut self) {
        self.status = prfcnt_status::POWER_OFF.set32(self.status, true);
    }
}

/// Reports what the host asked for and cannot have.
fn check(words: &mut Words<'_>, setup: Setup) {
    let Setup { base, samples, .. } = setup;
    let journal = &mut words.fabric.journal;
    if !base.is_multiple_of(2048) {
        journal.report(FirmwareMisuse::SampleBase { base });
    }
    if !samples.is_power_of_two() || samples < 2 {
        journal.report(FirmwareMisuse::SampleCount { samples });
    }
    for kind in BlockKind::ALL {
        let enable = setup.enables.of(kind);
        if enable != 0 && enable & 1 == 0 {
            let kind = match kind {
                BlockKind::FrontEnd => "GLB_PRFCNT_CSF_EN",
                BlockKind::Tiler => "GLB_PRFCNT_TILER_EN",
                BlockKind::MemorySystem => "GLB_PRFCNT_MMU_L2_EN",
                BlockKind::ShaderCore => "GLB_PRFCNT_SHADER_EN",
            };
            journal.report(FirmwareMisuse::SampleHeaderOff { kind, enable });
        }
    }
}

impl Running {
    /// Writes sample `number` of the ring.
    fn write(&self, words: &mut Words<'_>, number: u32, ready_cores: u64) -> Result<(), Refusal> {
        let layout = words.fabric.config.product.samples();
        let start = self.setup.base + u64::from(number) * u64::from(layout.bytes());
        let time = words.fabric.clock.timestamp();
        for kind in BlockKind::ALL {
            let enable = self.setup.enables.of(kind);
            for instance in (0..layout.count(kind)).filter(|_| enable != 0) {
                // Cores that are absent or have no power count nothing, and their blocks stay as they are.
                if kind == BlockKind::ShaderCore && ready_cores >> instance & 1 == 0 {
                    continue;
                }
                let Some(offset) = layout.offset(kind, instance) else {
                    continue;
                };
                let block = self.block(words, &layout, (kind, instance), enable, time);
                for (group, bytes) in (0..).zip(block.chunks_exact(16)) {
                    if enable.checked_shr(group).unwrap_or(0) & 1 == 0 {
                        continue;
                    }
                    let at = start + u64::from(offset) + 16 * u64::from(group);
                    let access = Access {
                        space: self.setup.space,
                        address: at,
                        source: Source::Mcu,
                    };
                    words.fabric.write(words.memory, access, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// The bytes of one block.
    fn block(
        &self,
        words: &Words<'_>,
        layout: &SampleLayout,
        (kind, instance): (BlockKind, u32),
        enable: u32,
        time: u64,
    ) -> Vec<u8> {
        let mut block = vec![0; layout.block_bytes as usize];
        let mut set = |index: u32, value: u32| {
            let at = 4 * index as usize;
            if let Some(word) = block.get_mut(at..at + 4) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        };
        set(header::TIMESTAMP_LOW, time as u32);
        set(header::TIMESTAMP_HIGH, (time >> 32) as u32);
        set(header::ENABLE_MASK, enable);
        let product = &words.fabric.config.product;
        let read = |activity| Reading {
            activity,
            clock: &words.fabric.clock,
            instance: instance as usize,
            bus_bytes: 1
                << (l2_features::BUS_WIDTH
                    .get(product.part.l2_features)
                    .clamp(3, 10)
                    - 3),
        };
        let (now, before) = (read(&words.fabric.activity), read(&self.before));
        for place in self.places.iter().filter(|place| place.kind == kind) {
            let counted = (place.number)(&now).saturating_sub((place.number)(&before));
            let counted = words.fabric.defects.counted(place.name, counted);
            let value = u32::try_from(counted >> place.shift).unwrap_or(u32::MAX);
            debug_assert!(u32::from(place.index) >= HEADER_WORDS);
            set(place.index.into(), value);
        }
        block
    }
}

/// The device's numbers, as one instance of a block sees them.
struct Reading<'a> {
    activity: &'a Activity,
    clock: &'a Clock,
    instance: usize,
    /// Bytes that the external bus moves in a beat.
    bus_bytes: u64,
}

impl Reading<'_> {
    fn state(&self, state: State) -> u64 {
        self.cycles(self.activity.time(state))
    }

    fn cycles(&self, time: u64) -> u64 {
        self.clock.cycles_of_time(time)
    }

    fn core(&self) -> CoreActivity {
        let cores = self.activity.cores();
        cores.get(self.instance).copied().unwrap_or_default()
    }

    /// Beats of the external bus that lines take.
    fn beats(&self, lines: u64) -> u64 {
        (lines * LINE).div_ceil(self.bus_bytes)
    }

    fn slice(&self) -> SliceActivity {
        let slices = self.activity.slices();
        slices.get(self.instance).copied().unwrap_or_default()
    }
}

type Number = fn(&Reading<'_>) -> u64;

/// Which number a counter is.
#[rustfmt::skip]
const NUMBERS: &[(&str, Number)] = &[
    ("GPU_ACTIVE",              |it| it.state(State::Gpu)),
    ("MCU_ACTIVE",              |it| it.state(State::Mcu)),
    ("GPU_ITER_ACTIVE",         |it| it.state(State::AnyQueued)),
    ("GPU_IRQ_ACTIVE",          |it| it.state(State::Interrupt)),
    ("GPU_IRQ_COUNT",           |it| it.activity.interrupts),
    ("CACHE_FLUSH_CYCLES",      |it| it.state(State::Flush)),
    ("CACHE_FLUSH",             |it| it.activity.flushes),
    ("ITER_TILER_ACTIVE",       |it| it.state(State::Queued(Work::Tiling))),
    ("ITER_TILER_JOB_COMPLETED", |it| it.activity.queue(Work::Tiling).jobs),
    ("ITER_TILER_IDVS_TASK_COMPLETED", |it| it.activity.queue(Work::Tiling).tasks),
    ("ITER_TILER_READY_BLOCKED", |it| it.state(State::QueueBlocked(Work::Tiling))),
    ("ITER_COMP_ACTIVE",        |it| it.state(State::Queued(Work::Compute))),
    ("ITER_COMP_JOB_COMPLETED", |it| it.activity.queue(Work::Compute).jobs),
    ("ITER_COMP_TASK_COMPLETED", |it| it.activity.queue(Work::Compute).tasks),
    ("ITER_COMP_READY_BLOCKED", |it| it.state(State::QueueBlocked(Work::Compute))),
    ("ITER_FRAG_ACTIVE",        |it| it.state(State::Queued(Work::Fragment))),
    ("ITER_FRAG_JOB_COMPLETED", |it| it.activity.queue(Work::Fragment).jobs),
    ("ITER_FRAG_TASK_COMPLETED", |it| it.activity.queue(Work::Fragment).tasks),
    ("ITER_FRAG_READY_BLOCKED", |it| it.state(State::QueueBlocked(Work::Fragment))),
    ("CEU_ACTIVE",              |it| it.cycles(it.activity.executing)),
    ("LSU_ACTIVE",              |it| it.cycles(it.activity.accessing)),
    ("CSHWIF0_ENABLED",         |it| it.state(State::Interface(0))),
    ("CSHWIF0_WAIT_BLOCKED",    |it| it.state(State::InterfaceBlocked(0))),
    ("CSHWIF1_ENABLED",         |it| it.state(State::Interface(1))),
    ("CSHWIF1_WAIT_BLOCKED",    |it| it.state(State::InterfaceBlocked(1))),
    ("CSHWIF2_ENABLED",         |it| it.state(State::Interface(2))),
    ("CSHWIF2_WAIT_BLOCKED",    |it| it.state(State::InterfaceBlocked(2))),
    ("CSHWIF3_ENABLED",         |it| it.state(State::Interface(3))),
    ("CSHWIF3_WAIT_BLOCKED",    |it| it.state(State::InterfaceBlocked(3))),
    ("CSHWIF4_ENABLED",         |it| it.state(State::Interface(4))),
    ("CSHWIF4_WAIT_BLOCKED",    |it| it.state(State::InterfaceBlocked(4))),
    ("CSHWIF5_ENABLED",         |it| it.state(State::Interface(5))),
    ("CSHWIF5_WAIT_BLOCKED",    |it| it.state(State::InterfaceBlocked(5))),

    ("TILER_ACTIVE",            |it| it.state(State::Queued(Work::Tiling))),
    ("TRIANGLES",               |it| it.activity.tiler.triangles),
    ("LINES",                   |it| it.activity.tiler.lines),
    ("POINTS",                  |it| it.activity.tiler.points),
    ("FRONT_FACING",            |it| it.activity.tiler.front),
    ("BACK_FACING",             |it| it.activity.tiler.back),
    ("PRIM_VISIBLE",            |it| it.activity.tiler.front + it.activity.tiler.back),
    ("PRIM_CULLED",             |it| it.activity.tiler.culled),
    ("PRIM_CLIPPED",            |it| it.activity.tiler.clipped),
    ("IDVS_POS_SHAD_REQ",       |it| it.activity.tiler.positions),
    ("IDVS_VAR_SHAD_REQ",       |it| it.activity.tiler.varyings),

    ("MMU_REQUESTS",            |it| it.slice().translations),
    ("MMU_HIT_L3",              |it| it.slice().hits),
    ("L2_RD_MSG_IN",            |it| it.slice().reads),
    ("L2_WR_MSG_IN",            |it| it.slice().writes),
    ("L2_ANY_LOOKUP",           |it| it.slice().reads + it.slice().writes),
    ("L2_READ_LOOKUP",          |it| it.slice().reads),
    ("L2_WRITE_LOOKUP",         |it| it.slice().writes),
    ("L2_EXT_READ",             |it| it.slice().fetched),
    ("L2_EXT_READ_BEATS",       |it| it.beats(it.slice().fetched)),
    ("L2_EXT_WRITE",            |it| it.slice().evicted),
    ("L2_EXT_WRITE_BEATS",      |it| it.beats(it.slice().evicted)),

    ("FRAG_ACTIVE",             |it| it.cycles(it.core().fragment)),
    ("FRAG_PRIMITIVES_OUT",     |it| it.core().fragments.primitives),
    ("FRAG_PRIM_RAST",          |it| it.core().fragments.rasterised),
    ("FRAG_WARPS",              |it| it.core().fragments.warps),
    ("FRAG_PARTIAL_QUADS_RAST", |it| it.core().fragments.partial_quads),
    ("FRAG_QUADS_RAST",         |it| it.core().fragments.quads),
    ("FRAG_PTILES",             |it| it.core().fragments.tiles),
    ("QUAD_FPK_KILLER",         |it| it.core().fragments.killer_quads),
    ("CALL_BLEND_SHADER",       |it| it.core().fragments.blend_calls),
    ("VARY_INSTR",              |it| it.core().fragments.varyings),
    ("ATTR_INSTR",              |it| it.core().fragments.attributes),
    ("COMPUTE_ACTIVE",          |it| it.cycles(it.core().other)),
    ("COMPUTE_TASKS",           |it| it.core().tasks),
    ("COMPUTE_WARPS",           |it| it.core().warps),
    ("WARP_REG_SIZE_64",        |it| it.core().large_warps),
    ("FULL_QUAD_WARPS",         |it| it.core().full_warps),
    ("EXEC_CORE_ACTIVE",        |it| it.cycles(it.core().busy)),
    ("EXEC_INSTR_FMA",          |it| it.core().fma),
    ("EXEC_INSTR_CVT",          |it| it.core().cvt),
    ("EXEC_INSTR_SFU",          |it| it.core().sfu),
    ("EXEC_INSTR_DIVERGED",     |it| it.core().diverged),
    ("TEX_MSGO_NUM_MSG",        |it| it.core().textures),
    ("LS_MEM_READ_FULL",        |it| it.core().full_reads),
    ("LS_MEM_READ_SHORT",       |it| it.core().short_reads),
    ("LS_MEM_WRITE_FULL",       |it| it.core().full_writes),
    ("LS_MEM_WRITE_SHORT",      |it| it.core().short_writes),
    ("LS_MEM_ATOMIC",           |it| it.core().atomics),
    ("SHADER_CORE_ACTIVE",      |it| it.cycles(it.core().busy)),
    ("BEATS_RD_LSC",            |it| it.core().read_beats),
    ("BEATS_RD_LSC_EXT",        |it| it.core().read_beats),
    ("BEATS_WR_LSC_WB",         |it| it.core().write_beats),
];

/// Where a product has a counter, and what it counts there.
#[derive(Clone, Copy, Debug)]
struct Place {
    kind: BlockKind,
    index: u8,
    shift: u8,
    name: &'static str,
    number: Number,
}

/// The counters of a product in one of its sets. Only the first set has public names.
fn places(product: &Product, set: u32) -> Vec<Place> {
    if set != 0 {
        return Vec::new();
    }
    let arch = product.arch();
    let place = |(name, number): &(&'static str, Number)| {
        let counter = counters::find(name, arch)?;
        Some(Place {
            kind: counter.block,
            index: counter.index,
            shift: counter.shift,
            name,
            number: *number,
        })
    };
    NUMBERS.iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_csf::arch::Arch;

    #[test]
    fn every_number_is_a_counter_of_some_product() {
        for (name, _) in NUMBERS {
            let known = Arch::ALL
                .iter()
                .any(|arch| counters::find(name, *arch).is_some());
            assert!(known, "{name} is no counter");
        }
    }
}
