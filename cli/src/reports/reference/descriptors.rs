//! Descriptors and their enumerations as pages.

use super::{Code, Family, Page, Part, arch_text};
use eitri_descriptors::names::NAMES;
use eitri_descriptors::{
    AGGREGATES, Arch, ENUMS, EnumTable, Kind, LAYOUTS, Layout, Modifier, Row, SUPPORTED,
};

pub(super) fn pages() -> Vec<Page> {
    LAYOUTS
        .iter()
        .chain(AGGREGATES)
        .map(|layout| page(layout))
        .collect()
}

pub(super) fn enumerations() -> Vec<Page> {
    ENUMS
        .iter()
        .chain(NAMES)
        .map(|table| enumeration(table))
        .collect()
}

fn page(layout: &'static Layout) -> Page {
    let sizes: Vec<(u32, Vec<Arch>)> = runs(|arch| layout.size(arch));
    let there: Vec<Arch> = sizes
        .iter()
        .flat_map(|(_, arches)| arches.iter().copied())
        .collect();
    let size = match sizes.as_slice() {
        [(bytes, _)] => format!("{bytes} bytes"),
        several => {
            let of = |(bytes, arches): &(u32, Vec<Arch>)| {
                let places: Vec<_> = arches.iter().map(Arch::to_string).collect();
                format!("{bytes} bytes on {}", places.join(", "))
            };
            several.iter().map(of).collect::<Vec<_>>().join("; ")
        }
    };
    let align = layout.align.map_or_else(
        || "as the structure around it".to_owned(),
        |bytes| format!("{bytes} bytes"),
    );
    let mut page = Page::new(Family::Descriptor, layout.name, layout.about)
        .fact("size", size)
        .fact("alignment", align)
        .fact(
            "exists on",
            arch_text(SUPPORTED.iter(), |arch| layout.size(arch).is_some()),
        )
        .fact(
            "facts",
            format!("hardware/descriptors.md {}", layout.section),
        );
    page.bits = sizes.iter().map(|(bytes, _)| bytes * 8).max().unwrap_or(0);
    for row in layout.rows {
        for ((start, width), arches) in runs(|arch| {
            let present = row.archs.contains(arch) && layout.size(arch).is_some();
            present.then(|| (row.at(arch).start, row.at(arch).width))
        }) {
            let mut part = Part::new(start, width, row.name, about(row));
            part.arches = arch_text(there.iter().copied(), |arch| arches.contains(&arch));
            if let Kind::Enum(table) = row.kind {
                part.codes = codes(table);
            }
            page.parts.push(part);
        }
    }
    page.parts.sort_by_key(|part| part.low);
    page
}

/// The values of `of`, each with the architectures that have it.
fn runs<T: PartialEq>(of: impl Fn(Arch) -> Option<T>) -> Vec<(T, Vec<Arch>)> {
    let mut runs: Vec<(T, Vec<Arch>)> = Vec::new();
    for arch in SUPPORTED.iter() {
        let Some(value) = of(arch) else { continue };
        match runs.iter_mut().find(|(known, _)| *known == value) {
            Some((_, arches)) => arches.push(arch),
            None => runs.push((value, vec![arch])),
        }
    }
    runs
}

fn about(row: &Row) -> String {
    let mut parts = Vec::new();
    if !row.about.is_empty() {
        parts.push(row.about.to_owned());
    }
    match row.kind {
        Kind::Struct(nested) => parts.push(format!("see {}", nested.name)),
        Kind::Enum(table) => parts.push(table.name.to_owned()),
        Kind::PixelFormat => parts.push("pixel format".to_owned()),
        Kind::Swizzle => parts.push("component swizzle".to_owned()),
        Kind::Ulod => parts.push("unsigned fixed point, 8 fraction bits".to_owned()),
        Kind::Slod => parts.push("signed fixed point, 8 fraction bits".to_owned()),
        Kind::Float => parts.push("binary32".to_owned()),
        Kind::Int => parts.push("signed".to_owned()),
        _ => {}
    }
    match row.modifier {
        Modifier::Plain => {}
        Modifier::Minus(amount) => parts.push(format!("stored less {amount}")),
        Modifier::Shr(bits) => parts.push(format!("stored >> {bits}")),
        Modifier::Log2 => parts.push("stored as log2".to_owned()),
        Modifier::Align(bytes) => parts.push(format!("stored rounded up to a multiple of {bytes}")),
    }
    if row.fixed {
        parts.push(format!("always {}", row.default));
    } else if row.default != 0 {
        parts.push(format!("default {}", row.default));
    }
    parts.join("; ")
}

fn enumeration(table: &'static EnumTable) -> Page {
    let mut page = Page::new(Family::Enumeration, table.name, table.about);
    page = page.fact(
        "exists on",
        arch_text(SUPPORTED.iter(), |arch| table.values(arch).next().is_some()),
    );
    page.codes = codes(table);
    page
}

fn codes(table: &EnumTable) -> Vec<Code> {
    let there: Vec<Arch> = SUPPORTED
        .iter()
        .filter(|arch| table.values(*arch).next().is_some())
        .collect();
    let code = |row: &eitri_descriptors::EnumRow| Code {
        number: row.value.into(),
        name: row.name.to_owned(),
        about: arch_text(there.iter().copied(), |arch| row.archs.contains(arch)),
    };
    table.rows.iter().map(code).collect()
}
