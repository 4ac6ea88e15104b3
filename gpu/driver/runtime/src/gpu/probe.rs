//! Probe: what the GPU is, from its constant registers. Legal before reset and power-up.
//!
//! Facts: hardware/csf-mmio.md sections 4, 5, 16.1 and 17.

use super::timer_clock::TimerClock;
use crate::access::RegisterAccess;
use crate::platform::{Platform, SystemCoherency};
use core::fmt;
use eitri_csf::Arch;
use eitri_csf::product::{GpuId, first_group_cores};
use eitri_csf::registers::identity::{
    AS_PRESENT, COHERENCY_FEATURES, CORE_FEATURES, CSF_ID, GPU_FEATURES, GPU_ID, L2_FEATURES,
    L2_PRESENT, MEM_FEATURES, MMU_FEATURES, REVIDR, SHADER_PRESENT, TEXTURE_FEATURES,
    THREAD_FEATURES, THREAD_MAX_BARRIER_SIZE, THREAD_MAX_THREADS, THREAD_MAX_WORKGROUP_SIZE,
    THREAD_TLS_ALLOC, TILER_FEATURES, TILER_PRESENT, mmu_features, thread_features,
};
use thiserror::Error;

/// What the GPU is and has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// `GPU_ID`.
    pub id: GpuId,
    /// Its architecture.
    pub arch: Arch,
    /// `REVIDR`.
    pub revision: u32,
    /// `CSF_ID`.
    pub csf_id: u32,
    /// `L2_FEATURES`.
    pub l2_features: u32,
    /// `CORE_FEATURES`.
    pub core_features: u32,
    /// `TILER_FEATURES`.
    pub tiler_features: u32,
    /// `MEM_FEATURES`.
    pub mem_features: u32,
    /// `COHERENCY_FEATURES`.
    pub coherency_features: u32,
    /// `GPU_FEATURES`; 0 on v10.
    pub gpu_features: u64,
    /// `TEXTURE_FEATURES`: a bit for each compressed texture format.
    pub texture_features: [u32; 4],
    /// Bits of a virtual address.
    pub va_bits: u32,
    /// Bits of a physical address.
    pub pa_bits: u32,
    /// Bit n: address space n exists.
    pub address_spaces: u32,
    /// Usable shader cores: those present, not fused off, in the first core group.
    pub cores: u64,
    /// Tilers.
    pub tilers: u64,
    /// L2 caches.
    pub l2: u64,
    /// Threads that a core holds at once.
    pub threads_per_core: u32,
    /// Threads per core to size thread-local memory for.
    pub scratch_threads_per_core: u32,
    /// Threads per workgroup at most.
    pub max_workgroup: u32,
    /// Threads that may meet at a barrier at most.
    pub max_barrier: u32,
    /// Registers of a core.
    pub registers_per_core: u32,
    /// Counter that the firmware's timers use.
    pub timers: TimerClock,
}

impl Properties {
    /// Marketing name; `None` for a product that the tables don't know.
    pub fn name(&self) -> Option<&'static str> {
        let product = self.id.product(self.core_count(), self.gpu_features);
        product.map(|product| product.name)
    }

    /// How many shader cores are usable.
    pub const fn core_count(&self) -> u32 {
        self.cores.count_ones()
    }

    /// Threads that a core holds at once when each has `registers` registers.
    pub const fn threads_at_once(&self, registers: u32) -> u32 {
        match self.registers_per_core.checked_div(registers) {
            Some(fit) if fit > 0 && fit < self.threads_per_core => fit,
            _ => self.threads_per_core,
        }
    }

    /// One more than the number of the highest usable core: what per-core memory is sized by.
    pub const fn core_range(&self) -> u32 {
        u64::BITS - self.cores.leading_zeros()
    }
}

impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name().unwrap_or("unknown product");
        let cores = self.core_count();
        write!(
            f,
            "GPU_ID {:#010x}: {name}, {}, {cores} cores {:#x}",
            self.id.0, self.id, self.cores
        )
    }
}

/// Why no GPU is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProbeError {
    /// Nothing answers.
    #[error(
        "GPU_ID (0x0) = {id:#x}: no GPU answers\n  help: is its power domain on, its clock running, the window's address right?"
    )]
    NoDevice {
        /// What was read.
        id: u32,
    },
    /// A GPU that is not driven.
    #[error("GPU_ID (0x0) = {:#x}: {id} is not driven, only v10 to v13 are", id.0)]
    Unsupported {
        /// What was read.
        id: GpuId,
    },
    /// The platform counts on coherency that the GPU does not offer.
    #[error(
        "COHERENCY_FEATURES = {features:#x}: the platform states coherency {system}, which this GPU does not speak\n  help: a platform that keeps the caches itself states none"
    )]
    NotCoherent {
        /// What the platform states.
        system: SystemCoherency,
        /// `COHERENCY_FEATURES`.
        features: u32,
    },
    /// A constant that can't be.
    #[error("{register} = {value:#x}, which can't be: unstable clock or power?")]
    Nonsense {
        /// The register.
        register: &'static str,
        /// What was read.
        value: u64,
    },
}

/// Reads what the GPU is.
///
/// # Errors
/// If there is none, it is not one that is driven, or its constants make no sense.
pub fn probe<P: Platform>(platform: &mut P) -> Result<Properties, ProbeError> {
    let id = GpuId(platform.read_word(GPU_ID));
    if id.0 == 0 || id.0 == u32::MAX {
        return Err(ProbeError::NoDevice { id: id.0 });
    }
    let arch = match id.arch() {
        Some(arch) if arch < Arch::V14 => arch,
        _ => return Err(ProbeError::Unsupported { id }),
    };
    let fused = platform.fused_cores().unwrap_or(u64::MAX);
    let l2 = platform.read(L2_PRESENT);
    let cores = first_group_cores(l2, platform.read(SHADER_PRESENT)) & fused;
    let gpu_features = if arch > Arch::V10 {
        platform.read(GPU_FEATURES)
    } else {
        0
    };
    let mmu = platform.read_word(MMU_FEATURES);
    let threads = platform.read_word(THREAD_MAX_THREADS);
    let scratch_threads = match platform.read_word(THREAD_TLS_ALLOC) {
        0 => threads,
        count => count,
    };
    let mut properties = Properties {
        id,
        arch,
        revision: platform.read_word(REVIDR),
        csf_id: platform.read_word(CSF_ID),
        l2_features: platform.read_word(L2_FEATURES),
        core_features: platform.read_word(CORE_FEATURES),
        tiler_features: platform.read_word(TILER_FEATURES),
        mem_features: platform.read_word(MEM_FEATURES),
        coherency_features: platform.read_word(COHERENCY_FEATURES),
        gpu_features,
        texture_features: [0, 1, 2, 3]
            .map(|number| platform.read_word(TEXTURE_FEATURES.at(number))),
        va_bits: mmu_features::VA_BITS.get(mmu),
        pa_bits: mmu_features::PA_BITS.get(mmu),
        address_spaces: platform.read_word(AS_PRESENT),
        cores,
        tilers: platform.read(TILER_PRESENT),
        l2,
        threads_per_core: threads,
        scratch_threads_per_core: scratch_threads,
        max_workgroup: platform.read_word(THREAD_MAX_WORKGROUP_SIZE),
        max_barrier: platform.read_word(THREAD_MAX_BARRIER_SIZE),
        registers_per_core: thread_features::REGISTERS.get(platform.read_word(THREAD_FEATURES)),
        timers: TimerClock::Timestamp { hertz: 0 },
    };
    check(&properties)?;
    properties.timers = TimerClock::find(platform);
    Ok(properties)
}

/// Refuses constants with which nothing after this could work.
fn check(it: &Properties) -> Result<(), ProbeError> {
    let nonsense = |register, value| Err(ProbeError::Nonsense { register, value });
    if it.l2 & 1 == 0 {
        return nonsense(L2_PRESENT.name, it.l2);
    }
    if it.cores == 0 {
        return nonsense(SHADER_PRESENT.name, it.cores);
    }
    if !(33..=48).contains(&it.va_bits) {
        return nonsense(MMU_FEATURES.name, u64::from(it.va_bits));
    }
    // Space 0 is the firmware's; jobs need another, whichever it is.
    if it.address_spaces & 1 == 0 || it.address_spaces & 0xFFFE == 0 {
        return nonsense(AS_PRESENT.name, u64::from(it.address_spaces));
    }
    Ok(())
}
