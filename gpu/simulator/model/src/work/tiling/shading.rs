//! Vertices as warps: sixteen vertices of a segment at a time, from their registers to the end of their program.
//!
//! Facts: hardware/graphics-draw.md 3.7, 3.9; graphics-model.md 1.2.

use super::lists::fault;
use super::{Step, Tiling};
use crate::diagnosis::{Misuse, ShaderMisuse};
use crate::fabric::Fabric;
use crate::inspection::{DrawLanes, DrawWarpView, WarpView};
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::shader::stage::{Stage, VertexStage, VertexThread, preload_vertices};
use crate::shader::{Executor, JobFault, Place, Stopped, WARP, Warp, WarpTurn, exception};
use crate::trace::{StartedVertex, VertexWarp};

impl Tiling {
    /// Begins a warp of vertices; the step that follows.
    pub(super) fn begin_warp(
        &mut self,
        fabric: &mut Fabric,
        ready: u64,
        program: usize,
        first: usize,
    ) -> Step {
        let (Some(vertex_program), Some(batch)) = (self.programs.get(program), self.batch) else {
            self.place = None;
            return Step::Assemble(core::mem::take(&mut self.place_in_segment));
        };
        if first >= self.fresh.len() {
            return Step::Shade {
                program: program + 1,
                first: 0,
            };
        }
        let core = fabric.least_far(ready).map_or(0, |(_, core)| core);
        fabric.begin_on(core);
        self.used_cores |= 1 << core;
        let count = (self.fresh.len() - first).min(WARP);
        let threads = core::array::from_fn(|lane| {
            // Lanes beyond the last vertex do not run.
            let number = first + lane.min(count - 1);
            VertexThread {
                output: batch.index(number as u32),
                vertex: self.fresh[number],
                instance: self.instance,
            }
        });
        let stage = &vertex_program.stage;
        let mut warp = Warp::new(0, count as u32, stage.entry);
        preload_vertices(&mut warp, stage.preload, &threads, self.draw_id);
        if first == 0 {
            self.unit.forget_resources();
        }
        if program == 0
            && let Some(sink) = fabric.journal.shading_sink()
        {
            let started = (first..first + count).map(|number| StartedVertex {
                vertex: self.fresh[number],
                instance: self.instance,
                positions: (0..self.layout.views())
                    .filter_map(|view| batch.position(number as u32, view))
                    .collect(),
            });
            sink.vertices(VertexWarp {
                job: self.state.job,
                vertices: started.collect(),
            });
        }
        self.unit.stage = Stage::Vertex(VertexStage {
            batch,
            outputs: vertex_program.outputs,
        });
        let activity = fabric.activity.core(core);
        activity.tasks += 1;
        activity.warps += 1;
        activity.full_warps += u64::from(count == WARP);
        fabric.activity.begin_threads(core);
        let asked = &mut fabric.activity.tiler;
        match program {
            0 => asked.positions += count as u64,
            _ => asked.varyings += count as u64,
        }
        self.warps += 1;
        self.place = Some(Place { core });
        self.running = Some(warp);
        Step::Shade {
            program,
            first: first + count,
        }
    }

    /// The warp of vertices that runs, for a debugger.
    pub(in crate::work) fn view(&self) -> Option<DrawWarpView<'_>> {
        let Step::Shade { program, first } = self.step else {
            return None;
        };
        let stage = &self.programs.get(program)?.stage;
        let warp = WarpView::of(self.running.as_ref()?);
        // The step names the vertex behind those of the warp.
        let count = warp.started().count_ones() as usize;
        let vertices = self.fresh.get(first.saturating_sub(count)..first)?;
        let lanes = DrawLanes::Vertices {
            vertices: vertices.to_vec(),
            instance: self.instance,
        };
        Some(DrawWarpView::new(
            &stage.environment,
            stage.entry,
            warp,
            lanes,
        ))
    }

    /// Continues a warp; how many instructions were executed.
    pub(super) fn run(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> Result<u64, (u64, Refused<JobFault>)> {
        let Step::Shade { program, .. } = self.step else {
            return Ok(0);
        };
        // The step names the program of the warp that runs.
        let (Some(warp), Some(vertex_program)) = (&mut self.running, self.programs.get(program))
        else {
            return Ok(0);
        };
        let mut executor = Executor {
            program: &mut self.program,
            environment: &vertex_program.stage.environment,
            memory_unit: &mut self.unit,
            place: self.place.unwrap_or_default(),
            fabric,
            memory,
        };
        let (used, stopped) = executor.run(warp, WarpTurn::of(limit));
        // Beside it run the other warps of the segment.
        let beside = self.fresh.len().div_ceil(WARP) as u64;
        fabric.charge_warps(self.place.unwrap_or_default().core, used, beside);
        match stopped {
            Stopped::Turn => {}
            Stopped::Ended => self.running = None,
            Stopped::Barrier => {
                let address = warp.pc;
                let misuse = ShaderMisuse::BarrierDeadlock;
                fabric.journal.report(Misuse::Shader { address, misuse });
                return Err((used, fault(exception::INSTR_BARRIER_FAULT, address)));
            }
            Stopped::Refused(refused) => return Err((used, refused)),
        }
        Ok(used.max(1))
    }
}
