//! Configuration: which product the model is, how long things take, what goes wrong.
//!
//! Facts: hardware/csf-mmio.md 4 and 5 (constants, published boot logs); command-stream.md 1.2 (stream limits).

use crate::clock::Nanoseconds;
use crate::injection::Injection;
use alloc::vec::Vec;
use eitri_csf::arch::Arch;
use eitri_csf::interface::control::Version;
use eitri_csf::product::{PARTS, Part};
use eitri_csf::registers::identity::{gpu_features, mmu_features};

/// One part: what is published of its registers, and what the model adds where nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The registers of published boot logs.
    pub part: Part,
    /// `CSF_ID`.
    pub csf_id: u32,
    /// `GPU_FEATURES`; 0 before v11.
    pub gpu_features: u64,
    /// `THREAD_MAX_THREADS`: threads a core holds at 32 registers each.
    pub max_threads: u32,
    /// `THREAD_MAX_WORKGROUP_SIZE` and `THREAD_MAX_BARRIER_SIZE`.
    pub max_workgroup: u32,
    /// `THREAD_FEATURES`.
    pub thread_features: u32,
    /// `TEXTURE_FEATURES`.
    pub texture_features: [u32; 4],
    /// `COHERENCY_FEATURES`.
    pub coherency_features: u32,
    /// The slice hash without which this part in its SoC cannot fetch anything.
    pub needs_hash: Option<[u32; 3]>,
}

impl Product {
    /// A part with the model's own numbers where nothing is published.
    ///
    /// FACT: thread limits, CSF_ID and THREAD_FEATURES are not in the published logs. The sheets' worked example gives
    /// 2048 threads a core and 1024 a workgroup; 64 registers for half of the threads give the register count.
    const fn of(part: Part) -> Product {
        Product {
            part,
            csf_id: 0x0402_0411,
            gpu_features: 0,
            max_threads: 2048,
            max_workgroup: 1024,
            thread_features: 0x0001_0000 | 4 << 24,
            texture_features: [0x00FE_001E, 0xFFFF, 0x9FFF_FFFF, 0],
            coherency_features: 1,
            needs_hash: None,
        }
    }

    /// The products that the model can be: Mali-G610 in RK3588, Mali-G310 in i.MX95, Immortalis-G925 in MT8196.
    pub fn all() -> impl Iterator<Item = Product> {
        PARTS.iter().map(|part| {
            let product = Product::of(*part);
            match product.arch() {
                Arch::V10 => product,
                _ => Product {
                    gpu_features: gpu_features::RAY_INTERSECTION.set(0, true),
                    needs_hash: Some([0xB, 0xE, 0]),
                    ..product
                },
            }
        })
    }

    /// The Mali-G610 of RK3588: four cores.
    pub fn g610() -> Product {
        Product::of(PARTS[0])
    }

    /// The architecture, by `GPU_ID`; unknown ones count as the oldest.
    pub fn arch(&self) -> Arch {
        self.part.gpu_id.arch().unwrap_or(Arch::V10)
    }

    /// Bits of a virtual address.
    pub fn va_bits(&self) -> u32 {
        mmu_features::VA_BITS
            .get(self.part.mmu_features)
            .clamp(25, 48)
    }

    /// Bits of a physical address.
    pub fn pa_bits(&self) -> u32 {
        mmu_features::PA_BITS
            .get(self.part.mmu_features)
            .clamp(32, 48)
    }

    /// Registers of a stream.
    pub fn stream_registers(&self) -> usize {
        if self.arch() >= Arch::V12 { 128 } else { 96 }
    }

    /// Scoreboard slots of a stream.
    pub fn scoreboards(&self) -> usize {
        if self.arch() >= Arch::V11 { 16 } else { 8 }
    }

    /// What the firmware reports: the interface version of the image released for the architecture.
    pub fn interface(&self) -> Version {
        match self.arch() {
            Arch::V10 => Version::new(1, 1),
            Arch::V11 => Version::new(2, 8),
            _ => Version::new(3, 13),
        }
    }
}

/// How long things take, in nanoseconds of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// One register access.
    pub access: Nanoseconds,
    /// A power domain changing state.
    pub power: Nanoseconds,
    /// A reset.
    pub reset: Nanoseconds,
    /// A cache flush.
    pub flush: Nanoseconds,
    /// A command to an address space.
    pub address_space: Nanoseconds,
    /// The firmware's boot.
    pub boot: Nanoseconds,
    /// The microcontroller stopping.
    pub stop: Nanoseconds,
    /// From a doorbell to the firmware's answer.
    pub firmware: Nanoseconds,
    /// One instruction of a stream.
    pub stream: Nanoseconds,
    /// One instruction of a warp.
    pub warp: Nanoseconds,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies {
            access: 200,
            power: 20_000,
            reset: 50_000,
            flush: 5_000,
            address_space: 2_000,
            boot: 1_000_000,
            stop: 10_000,
            firmware: 5_000,
            stream: 20,
            warp: 4,
        }
    }
}

/// How the model is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which part it is.
    pub product: Product,
    /// How long things take.
    pub latencies: Latencies,
    /// Frequency of the GPU's clock in hertz.
    pub clock_hz: u64,
    /// Frequency of TIMESTAMP in hertz: that of the CPU's generic timer.
    pub timestamp_hz: u64,
    /// Whether the interrupt masks survive a reset. Not established for any part; a driver should not need it.
    pub masks_survive_reset: bool,
    /// What goes wrong, from the start.
    pub injections: Vec<Injection>,
    /// The firmware image that the host loads: if given, memory is compared with it before a cold boot.
    pub firmware: Option<Vec<u8>>,
}

impl Default for Config {
    /// A healthy Mali-G610 at 1 GHz with a 24 MHz timestamp.
    fn default() -> Config {
        Config {
            product: Product::g610(),
            latencies: Latencies::default(),
            clock_hz: 1_000_000_000,
            timestamp_hz: 24_000_000,
            masks_survive_reset: true,
            injections: Vec::new(),
            firmware: None,
        }
    }
}
