//! Products: which GPU an id names, and what is known of parts that people have.
//!
//! Facts: hardware/csf-mmio.md section 5.

use crate::arch::{Arch, SUPPORTED};
use crate::registers::identity::{gpu_features, gpu_id};
use core::fmt;

/// The value of `GPU_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GpuId(pub u32);

impl GpuId {
    /// Architecture: major, minor, patch.
    pub fn arch_version(self) -> (u32, u32, u32) {
        (
            gpu_id::ARCH_MAJOR.get(self.0),
            gpu_id::ARCH_MINOR.get(self.0),
            gpu_id::ARCH_PATCH.get(self.0),
        )
    }

    /// Whether this marks a later id of 64 bits, one byte a field: then nothing here reads it.
    pub fn is_marker(self) -> bool {
        gpu_id::ARCH_MAJOR.get(self.0) == 15
    }

    /// The architecture; `None` for GPUs without a command-stream front end, or newer than these tables.
    pub fn arch(self) -> Option<Arch> {
        Arch::from_major(self.arch_version().0).filter(|arch| SUPPORTED.contains(*arch))
    }

    /// Product number within the architecture.
    pub fn product_number(self) -> u32 {
        gpu_id::PRODUCT.get(self.0)
    }

    /// Revision: the r, the p, and the release status.
    pub fn revision(self) -> (u32, u32, u32) {
        (
            gpu_id::VERSION_MAJOR.get(self.0),
            gpu_id::VERSION_MINOR.get(self.0),
            gpu_id::STATUS.get(self.0),
        )
    }

    /// The product that this id names on a part with `cores` shader cores and these `GPU_FEATURES`.
    pub fn product(self, cores: u32, features: u64) -> Option<&'static Product> {
        let ray = gpu_features::RAY_INTERSECTION.get(features);
        let arch = self.arch()?;
        let number = self.product_number();
        PRODUCTS.iter().find(|row| {
            (row.arch, row.number) == (arch, number)
                && cores >= row.cores_from
                && (ray || !row.ray_intersection)
        })
    }
}

impl fmt::Display for GpuId {
    /// Architecture and revision: `arch 10.8.6, product 7, r0p0 status 5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_marker() {
            return f.write_str("marker of a 64-bit id, which is not supported");
        }
        let (major, minor, patch) = self.arch_version();
        let (r, p, status) = self.revision();
        let product = self.product_number();
        write!(
            f,
            "arch {major}.{minor}.{patch}, product {product}, r{r}p{p} status {status}"
        )
    }
}

/// Products that people ask for, and that have a job manager in place of command streams: hardware/boards-others.md 2 and 3.
pub static WITH_JOB_MANAGER: &[&str] = &["Mali-G52", "Mali-G57", "Mali-G78"];

/// A product. Where core count or ray intersection decide the name, the first row that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Architecture.
    pub arch: Arch,
    /// Product number within the architecture (`GPU_ID` bits 19:16).
    pub number: u32,
    /// The vendor's codename, as in errata lists; empty where not known.
    pub codename: &'static str,
    /// Marketing name.
    pub name: &'static str,
    /// Fewest shader cores that bear this name.
    pub cores_from: u32,
    /// Whether the name needs ray intersection.
    pub ray_intersection: bool,
}

const fn row(
    arch: Arch,
    number: u32,
    codename: &'static str,
    name: &'static str,
    cores_from: u32,
    ray_intersection: bool,
) -> Product {
    Product {
        arch,
        number,
        codename,
        name,
        cores_from,
        ray_intersection,
    }
}

/// All products.
#[rustfmt::skip]
pub static PRODUCTS: &[Product] = &[
//      architecture no. codename name                 cores ray
    row(Arch::V10,   2, "TODX", "Mali-G710",            0, false),
    row(Arch::V10,   3, "TGRX", "Mali-G510",            0, false),
    row(Arch::V10,   4, "TVAX", "Mali-G310",            0, false),
    row(Arch::V10,   7, "LODX", "Mali-G610",            0, false),
    row(Arch::V11,   2, "TTUX", "Immortalis-G715",     11, true),
    row(Arch::V11,   2, "TTUX", "Mali-G715",            7, false),
    row(Arch::V11,   2, "TTUX", "Mali-G615",            0, false),
    row(Arch::V11,   3, "LTUX", "Mali-G615",            0, false),
    row(Arch::V12,   0, "TTIX", "Immortalis-G720",     10, true),
    row(Arch::V12,   0, "TTIX", "Mali-G720",            6, false),
    row(Arch::V12,   0, "TTIX", "Mali-G620",            0, false),
    row(Arch::V12,   1, "LTIX", "Mali-G620",            0, false),
    row(Arch::V13,   0, "TKRX", "Immortalis-G925",     10, true),
    row(Arch::V13,   0, "TKRX", "Mali-G725",            6, false),
    row(Arch::V13,   0, "TKRX", "Mali-G625",            0, false),
    row(Arch::V13,   1, "LKRX", "Mali-G625",            0, false),
    row(Arch::V14,   0, "",     "Mali-G1-Ultra",        0, false),
    row(Arch::V14,   1, "",     "Mali-G1-Premium",      0, false),
    row(Arch::V14,   3, "",     "Mali-G1-Pro",          0, false),
];

/// Memory of a shader core that holds the pixels of a tile. Two tiles are in it at a time, where each takes at most half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileBuffers {
    /// Bytes for colours.
    pub color: u32,
    /// Bytes for depth and stencil, which take four for each sample.
    pub depth: u32,
}

/// Tile buffers by name, where they are published (hardware/graphics-ops-products.md 9.2). Those of the Mali-G310 are another in
/// each of its variants.
#[rustfmt::skip]
static TILE_BUFFERS: &[(&str, TileBuffers)] = &[
    ("Mali-G610",       TileBuffers { color: 32 << 10, depth: 16 << 10 }),
    ("Mali-G710",       TileBuffers { color: 32 << 10, depth: 16 << 10 }),
    ("Mali-G615",       TileBuffers { color: 32 << 10, depth: 16 << 10 }),
    ("Mali-G715",       TileBuffers { color: 32 << 10, depth: 16 << 10 }),
    ("Immortalis-G715", TileBuffers { color: 32 << 10, depth: 16 << 10 }),
    ("Mali-G720",       TileBuffers { color: 64 << 10, depth: 32 << 10 }),
    ("Immortalis-G720", TileBuffers { color: 64 << 10, depth: 32 << 10 }),
    ("Mali-G725",       TileBuffers { color: 64 << 10, depth: 64 << 10 }),
];

/// The tile buffers of a product with this name, as [`PRODUCTS`] has it; `None` where they are not published.
pub fn tile_buffers(name: &str) -> Option<TileBuffers> {
    let row = TILE_BUFFERS.iter().find(|(of, _)| *of == name);
    row.map(|(_, buffers)| *buffers)
}

/// The first product with this name, as people write it: `G610`, `mali-g610`, `Immortalis-G925`, `G1-Ultra`, `LODX`. Where
/// two families have a model of the same name, the name in full tells them apart.
pub fn find_product(text: &str) -> Option<&'static Product> {
    let whole = |row: &&Product| same_name(row.name, text);
    let model = |row: &&Product| {
        same_name(row.codename, text) || same_name(model_name(row.name), model_name(text))
    };
    let mut rows = PRODUCTS.iter();
    rows.clone().find(whole).or_else(|| rows.find(model))
}

/// The name without the family words before it.
fn model_name(name: &str) -> &str {
    let mut rest = name;
    for family in ["arm", "mali", "immortalis"] {
        if let Some((head, tail)) = rest.split_at_checked(family.len())
            && head.eq_ignore_ascii_case(family)
        {
            rest = tail.trim_start_matches(['-', ' ', '_']);
        }
    }
    rest
}

/// Equal but for case and separators, and not empty.
fn same_name(a: &str, b: &str) -> bool {
    let letters = |text| {
        str::bytes(text)
            .filter(|c| !b"-_ ".contains(c))
            .map(|c| c.to_ascii_lowercase())
    };
    !a.is_empty() && letters(a).eq(letters(b))
}

/// Constants that boot logs don't show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `CSF_ID`.
    pub csf_id: u32,
    /// `THREAD_MAX_THREADS`: threads a core holds if none has more than 32 registers.
    pub max_threads: u32,
    /// `THREAD_MAX_WORKGROUP_SIZE`.
    pub max_workgroup: u32,
    /// `THREAD_MAX_BARRIER_SIZE`.
    pub max_barrier: u32,
    /// `THREAD_FEATURES`.
    pub thread_features: u32,
    /// `COHERENCY_FEATURES`.
    pub coherency_features: u32,
    /// `TEXTURE_FEATURES`.
    pub texture_features: [u32; 4],
}

/// Those of a G610, from a dump of one.
// FACT: TEXTURE_FEATURES 1 to 3 were not dumped (hardware/csf-mmio.md 5); 0 claims no further format. Settled by reading
// them on any board.
pub const G610_LIMITS: Limits = Limits {
    csf_id: 0x040A_0412,
    max_threads: 2048,
    max_workgroup: 1024,
    max_barrier: 1024,
    thread_features: 0x0401_0000,
    coherency_features: 0,
    texture_features: [0xC1FF_FF9E, 0, 0, 0],
};

/// A part that people have, as its registers read in published boot logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The SoC.
    pub soc: &'static str,
    /// `GPU_ID`.
    pub gpu_id: GpuId,
    /// `L2_FEATURES`.
    pub l2_features: u32,
    /// `TILER_FEATURES`.
    pub tiler_features: u32,
    /// `MEM_FEATURES`.
    pub mem_features: u32,
    /// `MMU_FEATURES`.
    pub mmu_features: u32,
    /// `AS_PRESENT`.
    pub as_present: u32,
    /// `SHADER_PRESENT`.
    pub shader_present: u64,
    /// `L2_PRESENT`.
    pub l2_present: u64,
    /// `TILER_PRESENT`.
    pub tiler_present: u64,
    /// What the logs don't show.
    pub limits: Limits,
}

/// Parts whose registers are known in full.
// FACT: only the G610's limits were read out (hardware/csf-mmio.md 5); the other parts take them over, and the tools of
// v11 and v12 name the same thread counts. Settled by reading CSF_ID, THREAD_* and COHERENCY_FEATURES on those parts.
pub static PARTS: &[Part] = &[
    Part {
        soc: "RK3588",
        gpu_id: GpuId(0xA867_0005),
        l2_features: 0x0712_0306,
        tiler_features: 0x809,
        mem_features: 0x301,
        mmu_features: 0x2830,
        as_present: 0xFF,
        shader_present: 0x50005,
        l2_present: 1,
        tiler_present: 1,
        limits: G610_LIMITS,
    },
    Part {
        soc: "i.MX95",
        gpu_id: GpuId(0xAC74_0001),
        l2_features: 0x0711_0306,
        tiler_features: 0x809,
        mem_features: 0x001,
        mmu_features: 0x2830,
        as_present: 0xFF,
        shader_present: 0x1,
        l2_present: 1,
        tiler_present: 1,
        limits: G610_LIMITS,
    },
    Part {
        soc: "MT8196",
        gpu_id: GpuId(0xD830_0015),
        l2_features: 0x0813_0306,
        tiler_features: 0x809,
        mem_features: 0x301,
        mmu_features: 0x2830,
        as_present: 0xFF,
        shader_present: 0x00EE_0077,
        l2_present: 1,
        tiler_present: 1,
        limits: G610_LIMITS,
    },
];

/// Shader cores of the first core group: those below the second set bit of `L2_PRESENT`.
pub const fn first_group_cores(l2_present: u64, shader_present: u64) -> u64 {
    let others = l2_present & l2_present.wrapping_sub(1);
    if others == 0 {
        return shader_present;
    }
    let second = others & others.wrapping_neg();
    shader_present & (second - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[track_caller]
    fn check_id(id: u32, cores: u32, features: u64, name: Option<&str>) {
        let got = GpuId(id).product(cores, features).map(|row| row.name);
        assert_eq!(got, name, "{id:#x}, {cores} cores, features {features:#x}");
    }

    #[test]
    fn an_id_names_a_product() {
        check_id(0xA867_0005, 4, 0, Some("Mali-G610"));
        check_id(0xAC74_0001, 1, 0, Some("Mali-G310"));
        check_id(0xC870_0000, 10, 4, Some("Immortalis-G720"));
        check_id(0xC870_0000, 10, 0, Some("Mali-G720"));
        check_id(0xC870_0000, 5, 4, Some("Mali-G620"));
        check_id(0xB862_0000, 10, 4, Some("Mali-G715"));
        check_id(0xB862_0000, 11, 4, Some("Immortalis-G715"));
        check_id(0xD830_0015, 12, 4, Some("Immortalis-G925"));
        check_id(0xA86F_0000, 4, 0, None);
        check_id(0x9093_0000, 4, 0, None);
        assert_eq!(
            GpuId(0xA867_0005).to_string(),
            "arch 10.8.6, product 7, r0p0 status 5"
        );
        let marker = GpuId(0xF123_4567);
        assert_eq!(marker.arch(), None);
        assert_eq!(
            marker.to_string(),
            "marker of a 64-bit id, which is not supported"
        );
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        let number = |text| find_product(text).map(|row| (row.arch, row.number));
        for text in [
            "G610",
            "mali-g610",
            "Mali G610",
            "Arm Mali-G610",
            "lodx",
            "MALI_G610",
        ] {
            assert_eq!(number(text), Some((Arch::V10, 7)), "{text}");
        }
        assert_eq!(number("immortalis-g925"), Some((Arch::V13, 0)));
        assert_eq!(number("g1-ultra"), Some((Arch::V14, 0)));
        for text in ["", "mali", "G611", "G6100", "-"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn only_cores_of_the_first_group_count() {
        assert_eq!(first_group_cores(1, 0x50005), 0x50005);
        assert_eq!(first_group_cores(0x101, 0x0F0F), 0x0F);
        assert_eq!(first_group_cores(0, 0x50005), 0x50005);
    }
}
