//! Configuration: which product the model is, how long things take, what goes wrong.
//!
//! Facts: hardware/csf-mmio.md 4 and 5 (constants, published boot logs); command-stream.md 1.2 (stream limits).

use crate::clock::Nanoseconds;
use crate::defect::Defect;
use crate::injection::Injection;
use crate::shader::engine::Engine;
use crate::workers::Workers;
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_csf::arch::{Arch, ArchSet};
use eitri_csf::counters::SampleLayout;
use eitri_csf::image::Release;
use eitri_csf::interface::control::Version;
use eitri_csf::product::{self as csf, GpuId, Limits, PARTS, Part, TileBuffers};
use eitri_csf::registers::identity::{
    core_features, gpu_features, gpu_id, mem_features, mmu_features, thread_features,
};

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

    /// A product of which no part was read out: its id, as many cores as its name asks for, and the G610's registers else.
    // FACT: no registers of these products are published but the ids' architecture and product fields
    // (hardware/csf-mmio.md 5); the rest of the id, the core masks and the features are the smallest that bear the name,
    // and the tasks that a core queues are those of the vendor's software dummies. Settled by a boot log of each.
    fn stand_in(row: &csf::Product) -> Product {
        let shared = gpu_features::SHARED_SCOREBOARDS.set(0, row.arch >= Arch::V11);
        let id = gpu_id::ARCH_MAJOR.word(row.arch.major());
        let id = gpu_id::PRODUCT.set32(gpu_id::ARCH_MINOR.set32(id, 8), row.number);
        let tasks = if row.arch >= Arch::V12 { 16 } else { 4 };
        let limits = PARTS[0].limits;
        Product {
            gpu_features: gpu_features::RAY_INTERSECTION.set(shared, row.ray_intersection),
            ..Product::of(Part {
                soc: row.name,
                gpu_id: GpuId(id),
                shader_present: (1 << row.cores_from.max(4)) - 1,
                limits: Limits {
                    thread_features: thread_features::TASK_QUEUE
                        .set32(limits.thread_features, tasks),
                    ..limits
                },
                ..PARTS[0]
            })
        }
    }

    /// `CORE_FEATURES`: the variant of the shader cores.
    // FACT: the register was not dumped on any part (hardware/csf-mmio.md 5). Mesa's table of models, which PanVK 26.2.6 looks a
    // GPU up in, has a variant for each row: 4 for product 0 of v12 and v13 (hardware/graphics-ops-products.md 9.1), and no row of
    // v11. With any other variant it lists no G720. Settled by reading it on a CD8180 or MT8196.
    pub fn core_features(&self) -> u32 {
        let id = self.part.gpu_id;
        let variant = match (self.arch(), id.product_number()) {
            (Arch::V12 | Arch::V13, 0) => 4,
            _ => 0,
        };
        core_features::VARIANT.word(variant)
    }

    /// The products whose registers are published, and one of which the id's upper half and the core mask are.
    fn published() -> impl Iterator<Item = Product> {
        let shared = gpu_features::SHARED_SCOREBOARDS.set(0, true);
        let both = gpu_features::RAY_INTERSECTION.set(shared, true);
        let parts = PARTS.iter().map(move |part| {
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
        let cix = Part {
            soc: "CIX CD8180",
            gpu_id: GpuId(0xC870_0000),
            shader_present: 0x0055_0555,
            ..PARTS[0]
        };
        parts.chain([Product {
            gpu_features: both,
            ..Product::of(cix)
        }])
    }

    /// The products that the model can be: those whose registers are published, then one of each other name.
    pub fn all() -> impl Iterator<Item = Product> {
        let modelled = ArchSet::range(Arch::V10, Arch::V13);
        let others = csf::PRODUCTS
            .iter()
            .enumerate()
            .filter(move |(index, row)| {
                let mut before = csf::PRODUCTS.iter().take(*index);
                modelled.contains(row.arch)
                    && !Product::published().any(|product| product.has_name(row.name))
                    && before.all(|other| other.name != row.name)
            });
        Product::published().chain(others.map(|(_, row)| Product::stand_in(row)))
    }

    /// Whether it is a product of which no part was read out.
    pub(crate) fn is_stand_in(&self) -> bool {
        !Product::published().any(|product| product == *self)
    }

    fn has_name(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    /// The product of [`Product::all`] with this name, as people write it: `G610`, `mali-g615`, `Immortalis-G925`.
    pub fn find(name: &str) -> Option<Product> {
        let wanted = csf::find_product(name)?;
        Product::all().find(|product| product.has_name(wanted.name))
    }

    /// Its marketing name.
    pub fn name(&self) -> Option<&'static str> {
        let cores = self.part.shader_present.count_ones();
        let row = self.part.gpu_id.product(cores, self.gpu_features)?;
        Some(row.name)
    }

    /// The tile buffers of a core; `None` where they are not published.
    pub fn tile_buffers(&self) -> Option<TileBuffers> {
        csf::tile_buffers(self.name()?)
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

    /// `PRFCNT_FEATURES`: blocks of 512 bytes on all products known. v10 lacks the register.
    pub fn prfcnt_features(&self) -> u32 {
        if self.arch() >= Arch::V11 { 2 } else { 0 }
    }

    /// Slices of the L2.
    pub fn l2_slices(&self) -> u32 {
        mem_features::L2_SLICES_MINUS_1.get(self.part.mem_features) + 1
    }

    /// How a sample of the performance counters is laid out. The firmware adds nothing of its own.
    pub fn samples(&self) -> SampleLayout {
        SampleLayout::new(
            self.arch(),
            self.prfcnt_features(),
            0,
            self.l2_slices(),
            self.part.shader_present,
        )
    }

    /// Streams that the hardware executes at the same time; the firmware shares them out.
    // FACT: v13 has more than 4 on some parts (hardware/csf-mmio.md 14); its counters name 6. Settled by reading CSHW
    // features on v11 to v13 boards.
    pub fn stream_interfaces(&self) -> usize {
        if self.arch() >= Arch::V13 { 6 } else { 4 }
    }

    /// The interface version of the first firmware image that was released for the architecture.
    pub fn released_interface(&self) -> Version {
        Release::first_of(self.arch()).map_or(Version::new(1, 1), |release| release.version)
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
    /// What a job does between its warps: a vertex or primitive that is read, assembled or entered.
    // FACT: no rate of the tiler is published; a cycle at 1 GHz. Settled by timing a draw of many small triangles, on any board.
    pub step: Nanoseconds,
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
            step: 1,
        }
    }
}

/// How the model is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which part it is.
    pub product: Product,
    /// The interface version that the firmware speaks; `None`: that of the image which is booted, if it is a released one, else
    /// that of the first one for the architecture.
    pub interface: Option<Version>,
    /// How long things take.
    pub latencies: Latencies,
    /// Frequency of the GPU's clock in hertz.
    pub clock_hz: u64,
    /// Bytes that memory moves in a second.
    pub memory_bandwidth: u64,
    /// Time that passes at least for each instruction of a warp, whatever the rates of the cores say. Beside an emulated CPU the
    /// model takes far longer than that itself: without a floor the firmware's answers, and all else that takes the GPU's time, would
    /// come too late for the CPU's.
    pub instruction_floor: Nanoseconds,
    /// Frequency of TIMESTAMP in hertz: that of the CPU's generic timer.
    pub timestamp_hz: u64,
    /// Whether the system has protected memory: without it, protected mode is asked for in vain.
    pub protected_memory: bool,
    /// Whether the L2 is modelled: what the GPU writes to memory that it caches is in memory only when it was cleaned, and what
    /// the host writes there is seen only when the line was not in the L2, or was invalidated. Without this all data is
    /// coherent.
    pub l2: bool,
    /// Whether the first-level caches of the cores are modelled; `None`: where the L2 is. A core reads a texel or a descriptor again
    /// as it read it first until the OTHER caches are invalidated, and, where the L2 is modelled, the load/store caches keep what they
    /// have when the L2 alone is flushed.
    pub first_level_caches: Option<bool>,
    /// Whether jobs that nothing orders overlap: then each has short turns, and from this seed is drawn whose comes next and how long
    /// it is. Without it, jobs of a stream run one after another in the order of issue, which hides that a driver lacks a wait
    /// between them.
    pub overlap: Option<u64>,
    /// A seed that reorders memory accesses of shaders and turns of warps, as hardware may (valhall-isa.md 6). An access is done at some
    /// time between its instruction and the wait for its slot; the seed decides when, in which order, and which warp has the next
    /// turn. So a missing wait or barrier gives wrong results for some seeds. Shaders are interpreted then, whatever the engine, and
    /// undefined memory is not followed. With [`Config::fidelity`], which follows values in the order of the program, nothing is
    /// reordered.
    pub reorder: Option<u64>,
    /// Whether varyings of very wide primitives drift where a draw has no depth bias, as measured of a G610 (graphics-model.md 3.1).
    /// Without it they are exact.
    pub wide_varyings_drift: bool,
    /// Whether the interrupt masks survive a reset. Not established for any part; a driver should not need it.
    pub masks_survive_reset: bool,
    /// What goes wrong, from the start.
    pub injections: Vec<Injection>,
    /// What is broken for good.
    pub defects: Vec<Defect>,
    /// How shaders are executed.
    pub engine: Engine,
    /// Threads by which workgroups are executed ahead of their turn, if the host lends some: nothing but the host's time depends on it.
    pub workers: Option<Arc<dyn Workers>>,
    /// Whether it is followed how far results can be trusted; shaders are interpreted then, whatever the engine.
    pub fidelity: bool,
    /// The firmware image that the host loads: if given, memory is compared with it before a cold boot.
    pub firmware: Option<Vec<u8>>,
}

impl Config {
    /// Behind a product's name: its varyings drift.
    pub const DRIFT: &'static str = "drift";

    /// The usual set-up of the product with this name, as for [`Product::find`]. `,drift` behind the name, as in `G610,drift`, lets
    /// varyings of very wide primitives drift ([`Config::wide_varyings_drift`]).
    pub fn named(text: &str) -> Option<Config> {
        let (name, drift) = match text.split_once(',') {
            Some((name, Config::DRIFT)) => (name, true),
            Some(_) => return None,
            None => (text, false),
        };
        Some(Config {
            product: Product::find(name)?,
            wide_varyings_drift: drift,
            ..Config::default()
        })
    }
}

impl Default for Config {
    /// A healthy Mali-G610 at 1 GHz with 27 GB/s of memory and a 24 MHz timestamp.
    fn default() -> Config {
        Config {
            product: Product::g610(),
            interface: None,
            latencies: Latencies::default(),
            clock_hz: 1_000_000_000,
            // As measured of an RK3588 (docs/how-true.md).
            memory_bandwidth: 27_000_000_000,
            instruction_floor: 0,
            timestamp_hz: 24_000_000,
            protected_memory: false,
            l2: false,
            first_level_caches: None,
            overlap: None,
            reorder: None,
            wide_varyings_drift: false,
            masks_survive_reset: true,
            injections: Vec::new(),
            defects: Vec::new(),
            engine: Engine::default(),
            workers: None,
            fidelity: false,
            firmware: None,
        }
    }
}

impl Config {
    /// A floor that suits a model beside an emulated CPU.
    pub const FLOOR_BESIDE_EMULATED_CPU: Nanoseconds = 4;

    /// The interface version that firmware speaks which is none of the released images.
    pub fn interface_version(&self) -> Version {
        self.interface
            .unwrap_or_else(|| self.product.released_interface())
    }

    /// Whether the first-level caches of the cores are modelled.
    pub fn has_first_level_caches(&self) -> bool {
        self.first_level_caches.unwrap_or(self.l2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cores_variant_is_that_of_the_drivers_tables() {
        let features = |name| Product::find(name).map(|product| product.core_features());
        assert_eq!(features("G610"), Some(0));
        assert_eq!(features("G615"), Some(0));
        assert_eq!(features("Immortalis-G720"), Some(4));
        assert_eq!(features("G725"), Some(4));
    }

    #[test]
    fn a_name_may_say_that_varyings_drift() {
        let named = |text| Config::named(text).map(|it| (it.product, it.wide_varyings_drift));
        assert_eq!(named("G610"), Some((Product::g610(), false)));
        assert_eq!(named("mali-g610,drift"), Some((Product::g610(), true)));
        for unknown in [
            "G610,",
            "G610,drifts",
            "drift",
            "G610,drift,drift",
            "Z80,drift",
        ] {
            assert_eq!(named(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn products_are_found_by_name() {
        for product in Product::all() {
            let name = product.name().expect("every product has a name");
            assert_eq!(Product::find(name), Some(product), "{name}");
        }
        for row in csf::PRODUCTS {
            let found = Product::find(row.name).map(|product| product.arch());
            let wanted = (row.arch <= Arch::V13).then_some(row.arch);
            assert_eq!(found, wanted, "{}", row.name);
        }
        let arch = |name| Product::find(name).map(|product| product.arch());
        assert_eq!(arch("g610"), Some(Arch::V10));
        assert_eq!(arch("Mali-G615"), Some(Arch::V11));
        assert_eq!(arch("Immortalis-G720"), Some(Arch::V12));
        assert_eq!(arch("G925"), Some(Arch::V13));
        assert_eq!(arch("G1-Ultra"), None);
    }
}
