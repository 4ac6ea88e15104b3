//! The next turn: the job whose turn comes next, and the warps that it runs, of compute jobs, of vertices and of fragments.

use super::{DispatchView, WarpView};
use crate::clock::Nanoseconds;
use crate::gpu::{Budget, Gpu, Progress};
use crate::memory::PhysicalMemory;
use crate::shader::Environment;
use crate::trace::StartedFragment;
use alloc::vec::Vec;
use eitri_csf::registers::power::Domain;

/// The job that the shader cores work on next.
#[derive(Clone, Debug)]
pub struct TurnView<'g> {
    /// Number of the job, over all streams.
    pub job: u64,
    /// Instructions and steps that the job has executed.
    pub executed: u64,
    /// The warps of its next instruction; none between warps.
    pub shading: Option<Shading<'g>>,
}

/// The warps of a job between two instructions.
#[derive(Clone, Debug)]
pub enum Shading<'g> {
    /// The workgroup of a compute job.
    Workgroup(DispatchView<'g>),
    /// A warp of a draw.
    Draw(DrawWarpView<'g>),
}

/// A warp of a draw between two instructions.
#[derive(Clone, Debug)]
pub struct DrawWarpView<'g> {
    /// Its address space.
    pub space: u8,
    /// Address of the program's first instruction.
    pub entry: u64,
    /// Registers that a thread has, a bit each.
    pub registers: u64,
    /// The words of the uniforms.
    pub uniforms: &'g [u32],
    /// The warp.
    pub warp: WarpView<'g>,
    /// What its lanes shade.
    pub lanes: DrawLanes,
}

/// What the lanes of a warp of a draw shade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawLanes {
    /// Vertices.
    Vertices {
        /// The number of each: the index, before the base is added.
        vertices: Vec<u32>,
        /// The instance, from 0.
        instance: u32,
    },
    /// Fragments of a primitive in a tile.
    Fragments {
        /// Number of the draw's job, over all streams; 0 of a rectangle that covers a tile.
        draw: u64,
        /// The number that the program sees of the primitive; none of a rectangle.
        primitive: Option<u32>,
        /// The upper left pixel of the tile.
        tile: [u32; 2],
        /// A fragment for each lane.
        fragments: Vec<StartedFragment>,
    },
}

impl<'g> DrawWarpView<'g> {
    pub(crate) fn new(
        environment: &'g Environment,
        entry: u64,
        warp: WarpView<'g>,
        lanes: DrawLanes,
    ) -> DrawWarpView<'g> {
        DrawWarpView {
            space: environment.space,
            entry,
            registers: environment.allocated,
            uniforms: &environment.uniforms,
            warp,
            lanes,
        }
    }
}

impl Gpu {
    /// The job whose turn is next in [`Gpu::run_turn`]; none if no job can go on.
    pub fn next_turn(&self) -> Option<TurnView<'_>> {
        self.mcu.cores().next_turn(&self.fabric, &self.power)
    }

    /// Runs one turn of at most one instruction, until `end` at the longest, and prepares the compute job for the next one. A turn
    /// that begins a job executes none of its instructions. A run of such turns goes the same way whoever inspects the device between
    /// them.
    pub fn run_turn(&mut self, memory: &mut dyn PhysicalMemory, end: Nanoseconds) -> Progress {
        let budget = Budget {
            time: end.saturating_sub(self.now()),
            instructions: 1,
        };
        self.fabric.begins_apart = true;
        let progress = self.run(memory, budget);
        self.fabric.begins_apart = false;
        self.settle_dispatch();
        progress
    }

    pub(super) fn ready_cores(&self) -> u64 {
        self.power.ready(Domain::Shader)
    }
}
