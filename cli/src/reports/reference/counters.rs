//! Performance counters as pages: one a row, so a counter that moves between generations has several.

use super::{Family, Page, arch_text};
use eitri_csf::arch::SUPPORTED;
use eitri_csf::counters::{Counter, counters};

pub(super) fn pages() -> Vec<Page> {
    counters().map(page).collect()
}

fn page(row: &Counter) -> Page {
    let units = match row.shift {
        0 => row.unit.text().to_owned(),
        shift => format!("{} {}", 1u32 << shift, row.unit.text()),
    };
    let about = match row.about {
        "" => "Only its name is published.".to_owned(),
        about => format!("{about}."),
    };
    Page::new(Family::Counter, row.name, about)
        .fact("block", row.block.to_string())
        .fact("index", row.index.to_string())
        .fact("counts", units.trim())
        .fact(
            "exists on",
            arch_text(SUPPORTED.iter(), |arch| row.archs.contains(arch)),
        )
}
