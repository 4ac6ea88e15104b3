//! Quads as warps: fragments of one primitive, four quads at a time, from early tests to the end of their program.
//!
//! One warp of a tile runs at a time, so that the fragments of each pixel take effect in the order of primitives. Fragments that
//! replace what is below them are tested a few ahead: those below that may be killed, and whose program has not run, are (forward
//! pixel kill).
//!
//! Facts: hardware/graphics-model.md 3.3, 4.2; valhall-isa.md 12.4, 13; graphics-raster.md 4.6, 4.10.

mod view;

use super::draw::LoadedDraw;
use super::forward_kill::{Tested, kill_older, lacks_replacement, replaces};
use super::stage::LoadedStage;
use crate::diagnosis::{FragmentPlace, Misuse, ShaderMisuse};
use crate::fabric::Fabric;
use crate::injection::GraphicsUnit;
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::raster::{Depths, Point, Quad};
use crate::shader::stage::{FragmentLane, FragmentStage, Geometry, Stage};
use crate::shader::{
    Executor, JobFault, Memory, Place, Program, Registers, Stopped, WARP, Warp, WarpTurn,
    cleared_registers, exception,
};
use crate::tile::{Framebuffer, TileBuffer};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_isa::Arch;

/// Quads of a warp.
const QUADS: usize = WARP / 4;
/// Batches that are tested before the oldest of them is shaded. How many hardware holds is not published, and nothing but shading
/// that is saved, and effects of shaders that may be killed, depends on it.
const AHEAD: usize = 16;

/// Fragments that wait to be shaded.
#[derive(Clone, Debug)]
struct Batch {
    draw: Arc<LoadedDraw>,
    geometry: Arc<Geometry>,
    lanes: Box<[FragmentLane; WARP]>,
    depths: Depths,
    quads: u8,
}

/// Fragments that are being shaded.
#[derive(Clone, Debug)]
struct Running {
    draw: Arc<LoadedDraw>,
    warp: Warp,
    /// Fragments after their early tests, with which the run for each sample begins; `None` of a program that runs once a pixel.
    begun: Option<Box<[FragmentLane; WARP]>>,
    /// Samples whose runs have not begun.
    samples: u16,
}

impl Running {
    /// Notes which draw, primitive and pixel a warp was shading when it failed: registers tell an address alone.
    fn note_fault(&self, fabric: &mut Fabric, unit: &Memory) {
        let Stage::Fragment(stage) = &unit.stage else {
            return;
        };
        let lane = self.warp.lanes.trailing_zeros() as usize;
        let pixel = stage.lanes.get(lane).map(|lane| lane.pixel);
        let fragment = FragmentPlace {
            draw: self.draw.words.instruction,
            primitive: stage.geometry.id,
            pixel: pixel.unwrap_or_default(),
        };
        let (address, misuse) = (self.warp.pc, ShaderMisuse::FragmentFault { fragment });
        fabric.journal.report(Misuse::Shader { address, misuse });
    }
}

/// Shades the fragments of a tile.
#[derive(Clone, Debug)]
pub(super) struct Shader {
    program: Program,
    unit: Memory,
    /// The core of the tile; `None` between tiles.
    place: Option<Place>,
    origin: [u32; 2],
    /// `None` while a warp has it.
    tile: Option<TileBuffer>,
    frame_argument: u64,
    layer: u32,
    waiting: VecDeque<Batch>,
    tested: VecDeque<Tested>,
    running: Option<Running>,
    /// The draw whose resources the unit remembers.
    remembered: Option<Arc<LoadedDraw>>,
    /// Registers of the last warp that has ended, cleared for the next one.
    registers: Option<Box<Registers>>,
    counted: Vec<(Arc<LoadedDraw>, u64)>,
}

impl Shader {
    pub(super) fn new(arch: Arch, framebuffer: &Framebuffer) -> Shader {
        Shader {
            program: Program::new(arch),
            unit: Memory::default(),
            place: None,
            origin: [0; 2],
            tile: Some(TileBuffer::new(framebuffer)),
            frame_argument: framebuffer.parameters.frame_argument,
            layer: framebuffer.parameters.internal_layer_index,
            waiting: VecDeque::new(),
            tested: VecDeque::new(),
            running: None,
            remembered: None,
            registers: None,
            counted: Vec::new(),
        }
    }

    /// The fragments that wait or run access another address space from now on.
    pub(super) fn move_to(&mut self, space: u8) {
        let waiting = self.waiting.iter_mut().map(|batch| &mut batch.draw);
        let tested = self.tested.iter_mut().map(|tested| &mut tested.draw);
        let running = self.running.iter_mut().map(|running| &mut running.draw);
        for draw in waiting.chain(tested).chain(running) {
            if let Some(stage) = &mut Arc::make_mut(draw).stage {
                stage.environment.space = space;
            }
        }
        self.remembered = None;
    }

    /// The core of the tile.
    pub(super) fn place(&self) -> Option<Place> {
        self.place
    }

    /// The tile's pixels; `None` while a warp has them.
    pub(super) fn tile(&self) -> Option<&TileBuffer> {
        self.tile.as_ref()
    }

    /// Begins a tile, cleared, whose upper left pixel is `origin`.
    pub(super) fn begin_tile(&mut self, place: Place, origin: [u32; 2]) {
        self.place = Some(place);
        self.origin = origin;
        if let Some(tile) = &mut self.tile {
            tile.clear();
        }
    }

    pub(super) fn leave_tile(&mut self) {
        self.place = None;
    }

    /// Queues quads of a primitive and the depths of their samples, in order.
    pub(super) fn queue(
        &mut self,
        draw: &Arc<LoadedDraw>,
        geometry: &Arc<Geometry>,
        quads: &[Quad],
        depths: &Depths,
    ) {
        for (number, quads) in quads.chunks(QUADS).enumerate() {
            let first = number * QUADS;
            self.waiting.push_back(Batch {
                draw: draw.clone(),
                geometry: geometry.clone(),
                lanes: lanes_of(quads),
                depths: depths.of_quads(first..first + quads.len()),
                quads: quads.len() as u8,
            });
        }
    }

    /// The core that has the tile.
    pub(super) fn core(&self) -> u8 {
        self.place.unwrap_or_default().core
    }

    /// Whether fragments wait or run.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some() || !self.waiting.is_empty() || !self.tested.is_empty()
    }

    /// Whether later primitives may be tested before what waits is shaded.
    pub(super) fn looks_ahead(&self) -> bool {
        let tested = self.tested.iter().map(|tested| &tested.draw);
        let mut draws = self.waiting.iter().map(|batch| &batch.draw).chain(tested);
        self.running.is_none()
            && self.waiting.len() + self.tested.len() < AHEAD
            && draws.all(|draw| replaces(draw))
    }

    /// Samples counted by queries since the last call, by draw.
    pub(super) fn take_counted(&mut self) -> Vec<(Arc<LoadedDraw>, u64)> {
        core::mem::take(&mut self.counted)
    }

    /// Begins or continues a warp, for at most `limit` instructions; how many they were.
    pub(super) fn run(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> Result<u64, (u64, Refused<JobFault>)> {
        if self.running.is_none() {
            if let Some(exception) = fabric.unit_fails(None, None, GraphicsUnit::DepthStencil) {
                let address = 0;
                return Err((1, Refused::Failed(JobFault { exception, address })));
            }
            self.test_ahead(fabric);
            if let Some(tested) = self.tested.pop_front() {
                self.begin(fabric, tested);
            }
            // Early tests and set-up count as an instruction.
            return Ok(1);
        }
        let place = self.place.unwrap_or_default();
        let Some(running) = &mut self.running else {
            return Ok(0);
        };
        let Some(stage) = &running.draw.stage else {
            return Ok(0);
        };
        fabric.trace_drawing(place.core, running.draw.words.job);
        let mut executor = Executor {
            program: &mut self.program,
            environment: &stage.environment,
            memory_unit: &mut self.unit,
            place,
            fabric,
            memory,
        };
        let (used, stopped) = executor.run(&mut running.warp, WarpTurn::of(limit));
        // Beside it run those of the tile that wait here.
        fabric.charge_warps(
            place.core,
            used,
            1 + (self.waiting.len() + self.tested.len()) as u64,
        );
        match stopped {
            Stopped::Turn => {}
            Stopped::Ended => self.end(fabric),
            Stopped::Barrier => {
                let address = running.warp.pc;
                let misuse = ShaderMisuse::BarrierDeadlock;
                fabric.journal.report(Misuse::Shader { address, misuse });
                let exception = exception::INSTR_BARRIER_FAULT;
                return Err((used, Refused::Failed(JobFault { exception, address })));
            }
            Stopped::Refused(refused) => {
                let waits = matches!(refused, Refused::Stalled(stall) if !stall.faulted);
                if !waits {
                    running.note_fault(fabric, &self.unit);
                }
                return Err((used, refused));
            }
        }
        Ok(used.max(1))
    }

    /// Makes the early tests of the next fragments, and of those behind them that may replace them.
    fn test_ahead(&mut self, fabric: &mut Fabric) {
        while let Some(batch) = self.waiting.front() {
            let may_follow = |before: &Tested| {
                self.tested.len() < AHEAD && replaces(&before.draw) && replaces(&batch.draw)
            };
            if !self.tested.back().is_none_or(may_follow) {
                return;
            }
            fabric.trace_drawing(self.core(), batch.draw.words.job);
            fabric.activity.core(self.core()).fragments.queued += u64::from(batch.quads);
            let Some(mut tested) = self
                .waiting
                .pop_front()
                .and_then(|batch| self.test(fabric, batch))
            else {
                return;
            };
            if replaces(&tested.draw) {
                let quads = kill_older(&mut self.tested, &mut tested);
                fabric.activity.core(self.core()).fragments.killer_quads += quads;
            }
            self.tested.push_back(tested);
        }
    }

    /// Makes the early tests of a batch.
    fn test(&mut self, fabric: &mut Fabric, batch: Batch) -> Option<Tested> {
        let (lanes, depths) = (batch.lanes, batch.depths);
        let mut stage = self.stage(&batch.draw, &batch.geometry, lanes, depths)?;
        let has_program = batch.draw.stage.is_some();
        for lane in 0..WARP {
            let covered = stage.lanes[lane].covered;
            if covered == 0 {
                continue;
            }
            let before = stage.before(fabric, lane);
            let begun = stage.with_tests(lane, |order, _, tests| {
                if has_program {
                    order.begin(covered, tests)
                } else {
                    order.without_program(covered, tests)
                }
            });
            // Covered pixels lie in the tile.
            stage.lanes[lane].fragment = begun.unwrap_or_default();
            stage.tell_tested(fabric, before, batch.draw.words.job);
        }
        let (lanes, depths) = (stage.lanes, stage.depths);
        self.tile = Some(stage.tile);
        Some(Tested::new(batch.draw, batch.geometry, lanes, depths))
    }

    /// A stage of a draw's fragments that has the tile; `None` if a warp has it.
    fn stage(
        &mut self,
        draw: &LoadedDraw,
        geometry: &Arc<Geometry>,
        lanes: Box<[FragmentLane; WARP]>,
        depths: Depths,
    ) -> Option<FragmentStage> {
        Some(FragmentStage {
            tile: self.tile.take()?,
            origin: self.origin,
            draw: draw.state.clone(),
            geometry: geometry.clone(),
            lanes,
            depths,
            killers: 0,
            kept: [Point::default(); WARP],
            frame_argument: self.frame_argument,
        })
    }

    /// A warp runs if fragments are left after their early tests and have a program.
    fn begin(&mut self, fabric: &mut Fabric, batch: Tested) {
        let (lanes, depths) = (batch.lanes, batch.depths);
        let Some(mut stage) = self.stage(&batch.draw, &batch.geometry, lanes, depths) else {
            return;
        };
        stage.killers = batch.killers;
        let Some(program) = &batch.draw.stage else {
            self.tile = Some(self.count(&batch.draw, stage));
            return;
        };
        let alive = stage.lanes.iter();
        let alive = alive.fold(0, |mask, lane| mask | lane.fragment.coverage());
        if alive == 0 {
            self.tile = Some(self.count(&batch.draw, stage));
            return;
        }
        if !self.remembers(&batch.draw) {
            self.unit.forget_resources();
            self.remembered = Some(batch.draw.clone());
        }
        let (mut samples, mut begun) = (0, None);
        if stage.draw.per_sample {
            // What was counted early belongs to the pixel, not to a sample's run.
            self.count_early(&batch.draw, &stage);
            samples = alive & alive.wrapping_sub(1);
            let begun = begun.insert(stage.lanes.clone());
            take_sample(&mut stage, begun, alive.trailing_zeros() as u8);
        }
        let registers = self.registers.take().unwrap_or_else(cleared_registers);
        let warp = launch(&stage, program, registers);
        self.note_warp(fabric, &warp);
        let job = batch.draw.words.job;
        stage.tell_warp(fabric, (job, self.layer), warp.live);
        stage.tell_begins(fabric, job);
        self.unit.stage = Stage::Fragment(Box::new(stage));
        self.running = Some(Running {
            draw: batch.draw,
            warp,
            begun,
            samples,
        });
    }

    fn remembers(&self, draw: &Arc<LoadedDraw>) -> bool {
        let same = |known: &Arc<LoadedDraw>| Arc::ptr_eq(known, draw);
        self.remembered.as_ref().is_some_and(same)
    }

    fn note_warp(&self, fabric: &mut Fabric, warp: &Warp) {
        let activity = fabric.activity.core(self.core());
        activity.fragments.warps += 1;
        activity.full_warps += u64::from(warp.live == u16::MAX);
    }

    /// The warp has ended: the run of the next sample begins, or the tile is free again.
    fn end(&mut self, fabric: &mut Fabric) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        let Stage::Fragment(mut stage) = core::mem::take(&mut self.unit.stage) else {
            return;
        };
        let address = running.draw.stage.as_ref().map_or(0, |stage| stage.entry);
        let order = &stage.draw.order[stage.geometry.face & 1];
        if stage
            .lanes
            .iter()
            .any(|lane| order.end(&lane.fragment).is_err())
        {
            let reason = "no ATEST or ZS_EMIT makes the late tests";
            let misuse = ShaderMisuse::TestOrder { reason };
            fabric.journal.report(Misuse::Shader { address, misuse });
        }
        if lacks_replacement(&stage) {
            let reason = "it was discarded, or lost coverage";
            let misuse = ShaderMisuse::KilledInVain { reason };
            fabric.journal.report(Misuse::Shader { address, misuse });
        }
        let Some(begun) = running.begun.as_ref().filter(|_| running.samples != 0) else {
            self.tile = Some(self.count(&running.draw, *stage));
            self.registers = Some(running.warp.into_cleared_registers());
            return;
        };
        self.count_early(&running.draw, &stage);
        let sample = running.samples.trailing_zeros() as u8;
        running.samples &= running.samples - 1;
        take_sample(&mut stage, begun, sample);
        if let Some(program) = &running.draw.stage {
            let registers = running.warp.into_cleared_registers();
            running.warp = launch(&stage, program, registers);
            self.note_warp(fabric, &running.warp);
            let job = running.draw.words.job;
            stage.tell_warp(fabric, (job, self.layer), running.warp.live);
            stage.tell_begins(fabric, job);
        }
        self.unit.stage = Stage::Fragment(stage);
        self.running = Some(running);
    }

    /// Takes note of the samples that a query counts; gives the tile back.
    fn count(&mut self, draw: &Arc<LoadedDraw>, stage: FragmentStage) -> TileBuffer {
        self.count_early(draw, &stage);
        stage.tile
    }

    fn count_early(&mut self, draw: &Arc<LoadedDraw>, stage: &FragmentStage) {
        let lanes = stage.lanes.iter();
        let count: u64 = lanes.map(|lane| u64::from(lane.fragment.counted())).sum();
        if draw.counts() {
            self.counted.push((draw.clone(), count));
        }
    }
}

/// Puts quads in lanes: pixels and covered samples.
fn lanes_of(quads: &[Quad]) -> Box<[FragmentLane; WARP]> {
    let mut lanes = Box::new([FragmentLane::default(); WARP]);
    for (quad, lanes) in quads.iter().zip(lanes.chunks_exact_mut(4)) {
        for (number, lane) in lanes.iter_mut().enumerate() {
            lane.pixel = quad.pixel(number);
            lane.covered = quad.coverage[number];
        }
    }
    lanes
}

/// Lets every lane run for one sample.
fn take_sample(stage: &mut FragmentStage, begun: &[FragmentLane; WARP], sample: u8) {
    for (lane, begun) in stage.lanes.iter_mut().zip(begun) {
        lane.fragment = begun.fragment.of_sample(sample.into());
        lane.sample = Some(sample);
    }
}

/// The warp of the fragments that are alive, with helper lanes if the program needs them; in these registers, which hold zeros.
fn launch(stage: &FragmentStage, program: &LoadedStage, registers: Box<Registers>) -> Warp {
    let alive = |lane: usize| stage.lanes[lane].fragment.coverage() != 0;
    let (mut live, mut helpers) = (0, 0);
    for lane in 0..WARP {
        let quad = lane & !3;
        if alive(lane) {
            live |= 1 << lane;
        } else if program.helpers && (quad..quad + 4).any(alive) {
            live |= 1 << lane;
            helpers |= 1 << lane;
        }
    }
    let mut warp = Warp::in_cleared_registers(registers, (0, live), program.entry);
    warp.helpers = helpers;
    stage.preload(&mut warp, program.preload);
    warp
}
