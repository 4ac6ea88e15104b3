//! Configuration: which product the model is, how long things take, what goes wrong.
//!
//! Facts: hardware/csf-mmio.md 4 and 5 (constants, published boot logs); command-stream.md 1.2 (stream limits).

use crate::clock::Nanoseconds;
use crate::injection::Injection;
use alloc::vec::Vec;
use eitri_csf::arch::Arch;
use eitri_csf::interface::control::Version;
use eitri_csf::product::{GpuId, PARTS, Part, find_product};
use eitri_csf::registers::identity::{gpu_features, mmu_features};

/// One part: what is known of its registers, and what it needs in its SoC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The registers of published boot logs.
    pub part: Part,
    /// `GPU_FEATURES`; 0 before v11.
    pub gpu_features: u64,
    /// The slice hash without which this part in its SoC cannot fetch anything.
    pub needs_hash: Option<[u32; 3]>,
}

impl Product {
    const fn of(part: Part) -> Product {
        Product {
            part,
            gpu_features: 0,
            needs_hash: None,
        }
    }

    /// A product of which no part was read out: the id and the cores, and the G610's registers else.
    // FACT: the feature registers of these products are not published (hardware/csf-mmio.md 5). Settled by a boot log of
    // each.
    fn stand_in(soc: &'static str, gpu_id: u32, shader_present: u64, features: u64) -> Product {
        Product {
            gpu_features: features,
            ..Product::of(Part {
                soc,
                gpu_id: GpuId(gpu_id),
                shader_present,
                ..PARTS[0]
            })
        }
    }

    /// The products that the model can be: those whose registers are published, and one each of v11 and v12.
    pub fn all() -> impl Iterator<Item = Product> {
        let shared = gpu_features::SHARED_SCOREBOARDS.set(0, true);
        let both = gpu_features::RAY_INTERSECTION.set(shared, true);
        let published = PARTS.iter().map(move |part| {
            let product = Product::of(*part);
            match product.arch() {
                Arch::V10 => product,
                _ => Product {
                    gpu_features: both,
                    needs_hash: Some([0xB, 0xE, 0]),
                    ..product
                },
            }
        });
        published.chain([
            Product::stand_in("G615", 0xB863_0000, 0x50005, shared),
            Product::stand_in("CIX CD8180", 0xC870_0000, 0x0055_0555, both),
        ])
    }

    /// The first product of [`Product::all`] with this name, as people write it: `G610`, `mali-g615`, `Immortalis-G925`.
    pub fn find(name: &str) -> Option<Product> {
        let wanted = find_product(name)?;
        Product::all().find(|product| product.name() == Some(wanted.name))
    }

    /// Its marketing name.
    pub fn name(&self) -> Option<&'static str> {
        let cores = self.part.shader_present.count_ones();
        let row = self.part.gpu_id.product(cores, self.gpu_features)?;
        Some(row.name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_found_by_name() {
        for product in Product::all() {
            let name = product.name().expect("every product has a name");
            assert_eq!(Product::find(name), Some(product), "{name}");
        }
        let arch = |name| Product::find(name).map(|product| product.arch());
        assert_eq!(arch("g610"), Some(Arch::V10));
        assert_eq!(arch("Mali-G615"), Some(Arch::V11));
        assert_eq!(arch("Immortalis-G720"), Some(Arch::V12));
        assert_eq!(arch("G925"), Some(Arch::V13));
        assert_eq!(arch("G1-Ultra"), None);
    }
}
