//! Products and architectures as pages.

use super::{Family, Page};
use eitri_csf::Arch;
use eitri_csf::product::{PRODUCTS, Product};

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
    .fact(
        "ray intersection",
        if row.ray_intersection { "yes" } else { "" },
    );
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
