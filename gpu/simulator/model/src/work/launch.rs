//! Launch of a compute job: reads what the staging registers point to and checks it.
//!
//! Facts: hardware/command-stream.md 4.1 and 8 (32, 33); descriptors.md 2, 3, 11 to 13.

use super::stage::{Reader, StagePointers};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::shader::{Environment, JobFault, WARP};
use crate::stream::{Dispatch, Identity, Tasks};
use eitri_descriptors::shader::ShaderStage;
use eitri_isa::Arch;

/// Sizes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// Threads of a workgroup in x, y, z.
    pub(super) size: [u32; 3],
    /// Number of the first workgroup.
    pub(super) offset: [u32; 3],
    /// Workgroups.
    pub(super) count: [u32; 3],
    pub(super) tasks: Tasks,
}

/// A job that can run.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    pub(super) owner: Identity,
    pub(super) arch: Arch,
    pub(super) grid: Grid,
    pub(super) entry: u64,
    /// Bit k: r(48 + k) is preloaded.
    pub(super) preload: u16,
    /// Whether a thread has 32 registers rather than 64.
    pub(super) half_registers: bool,
    pub(super) environment: Environment,
}

/// Reads descriptors and uniforms; reports and refuses what is not valid.
pub(super) fn launch(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    owner: Identity,
    dispatch: &Dispatch,
) -> Result<Launch, Refused<JobFault>> {
    let staging = |register: usize| dispatch.staging.get(register).copied().unwrap_or(0);
    let pair =
        |register: usize| u64::from(staging(register + 1)) << 32 | u64::from(staging(register));
    let [srt, fau, spd, tsd] = dispatch.selects.map(|select| 2 * usize::from(select & 3));
    let reader = Reader { owner };
    let grid = grid(fabric, &reader, dispatch)?;
    let pointers = StagePointers {
        resources: pair(srt),
        uniforms: pair(8 + fau),
        program: pair(16 + spd),
        storage: pair(24 + tsd),
    };
    let stage = reader.stage(fabric, memory, pointers, ShaderStage::Compute)?;
    if stage.environment.wls_bytes != 0 && staging(33) >> 31 != 0 {
        reader.report(fabric, StreamMisuse::MergedWithSharedMemory);
    }
    Ok(Launch {
        owner,
        arch: fabric.config.product.arch(),
        grid,
        entry: stage.entry,
        preload: stage.preload,
        half_registers: stage.half_registers,
        environment: stage.environment,
    })
}

fn grid(
    fabric: &mut Fabric,
    reader: &Reader,
    dispatch: &Dispatch,
) -> Result<Grid, Refused<JobFault>> {
    let staging = |register: usize| dispatch.staging.get(register).copied().unwrap_or(0);
    let word = staging(33);
    let size = [word & 0x3ff, word >> 10 & 0x3ff, word >> 20 & 0x3ff].map(|size| size + 1);
    let threads = size.iter().map(|size| u64::from(*size)).product::<u64>();
    if threads > fabric.config.product.part.limits.max_workgroup.into() {
        reader.report(fabric, StreamMisuse::WorkgroupTooLarge { threads });
        return Err(reader.fail(word.into()));
    }
    let triple = |first: usize| [0, 1, 2].map(|axis| staging(first + axis));
    Ok(Grid {
        size,
        offset: triple(34),
        count: triple(37),
        tasks: dispatch.tasks,
    })
}

impl Launch {
    /// Threads of a workgroup.
    pub(super) fn threads(&self) -> u32 {
        self.grid.size.iter().product()
    }

    /// Warps of a workgroup.
    pub(super) fn warps(&self) -> u32 {
        self.threads().div_ceil(WARP as u32)
    }
}
