//! Products and architectures as pages.

use super::{Family, Page};
use eitri_csf::Arch;
use eitri_csf::product::{PARTS, PRODUCTS, Part, Product};
use eitri_csf::registers::identity::{gpu_features, l2_features, mem_features, thread_features};
use eitri_isa::rates::{Rates, WARP};

pub(super) fn pages() -> Vec<Page> {
    let mut arches: Vec<Arch> = PRODUCTS.iter().map(|row| row.arch).collect();
    arches.dedup();
    PRODUCTS
        .iter()
        .map(product)
        .chain(arches.into_iter().map(architecture))
        .collect()
}

/// The page of a product.
pub(super) fn product(row: &Product) -> Page {
    let cores = match row.cores_from {
        0 => String::new(),
        cores => format!("{cores} and more"),
    };
    let mut page = Page::new(
        Family::Product,
        row.name,
        format!("A GPU of architecture {}.", row.arch),
    )
    .fact("architecture", row.arch.to_string())
    .fact("product number", row.number.to_string())
    .fact("codename", row.codename)
    .fact("shader cores", cores)
    .fact("a core's cycle", rates_of(row))
    .fact(
        "ray intersection",
        if row.ray_intersection { "yes" } else { "" },
    );
    for part in parts(row) {
        page = page.fact("on", of_part(part));
    }
    // G610 for Mali-G610.
    page.aliases = row
        .name
        .split_once('-')
        .map(|(_, short)| short.to_owned())
        .into_iter()
        .collect();
    if !row.codename.is_empty() {
        page.aliases.push(row.codename.to_owned());
    }
    page
}

/// What a core does in a cycle.
fn rates_of(row: &Product) -> String {
    if row.arch > Arch::V13 {
        return String::new();
    }
    let rates = Rates::of(row.arch);
    format!(
        "{} lanes of FMA, {} of CVT, {} of SFU; {} message, or line of the cache that it touches; {} texels; {} components of 16 bits; {} pixels",
        rates.fma,
        rates.cvt,
        rates.sfu,
        rates.messages,
        rates.texels,
        rates.components,
        rates.pixels
    )
}

/// The parts of a product whose registers were read.
fn parts(row: &Product) -> impl Iterator<Item = &'static Part> {
    PARTS.iter().filter(move |part| {
        let cores = part.shader_present.count_ones();
        // Whether a part has ray intersection was not read: its name says so.
        let features = gpu_features::RAY_INTERSECTION.set(0, row.ray_intersection);
        part.gpu_id.product(cores, features) == Some(row)
    })
}

/// Cores, threads and caches, as the registers of a part say.
fn of_part(part: &Part) -> String {
    let cores = part.shader_present.count_ones();
    let slices = mem_features::L2_SLICES_MINUS_1.get(part.mem_features) + 1;
    let kib = 1u64 << l2_features::CACHE_SIZE.get(part.l2_features) >> 10;
    let line = 1u64 << l2_features::LINE_SIZE.get(part.l2_features);
    let bus = 1u64 << l2_features::BUS_WIDTH.get(part.l2_features);
    let threads = part.limits.max_threads;
    let registers = thread_features::REGISTERS.get(part.limits.thread_features);
    let plural = if cores == 1 { "" } else { "s" };
    format!(
        "{}: {cores} core{plural}; a core holds {threads} threads ({} warps of {WARP}, half as many with more than 32 registers) and \
         {registers} registers; L2 of {slices} x {kib} KiB, lines of {line} bytes, bus of {bus} bits",
        part.soc,
        threads / WARP
    )
}

fn architecture(arch: Arch) -> Page {
    let products = PRODUCTS
        .iter()
        .filter(|row| row.arch == arch)
        .map(|row| row.name);
    let mut names: Vec<_> = products.collect();
    names.dedup();
    Page::new(
        Family::Architecture,
        arch.to_string(),
        format!("A generation: {}.", names.join(", ")),
    )
    .fact("products", names.join(", "))
}
