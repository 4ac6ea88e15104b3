//! Command-stream instructions as pages.

use super::{Code, Family, Page, Part, arch_text};
use eitri_cs::field::{FieldInfo, FieldKind};
use eitri_cs::instr::INSTRUCTIONS;
use eitri_cs::staging::{StagingMap, StagingRegister, StagingWhen};
use eitri_cs::table::{Info, SpanKind};
use eitri_cs::{Arch, SUPPORTED};

pub(super) fn pages() -> Vec<Page> {
    INSTRUCTIONS.iter().map(|info| page(info)).collect()
}

/// The registers that jobs read.
pub(super) fn staging_registers() -> Vec<Page> {
    let rows = |map: StagingMap| map.rows().iter().map(move |row| staging_register(map, row));
    StagingMap::ALL.into_iter().flat_map(rows).collect()
}

fn staging_register(map: StagingMap, row: &StagingRegister) -> Page {
    let when = match row.when {
        StagingWhen::Always => "always".to_owned(),
        StagingWhen::Field(field, value) => format!("when {field} of the instruction is {value}"),
        StagingWhen::Registers(condition) => condition.to_owned(),
        StagingWhen::Never => "never: no instruction selects it".to_owned(),
    };
    let kind = if row.is_pair { "d" } else { "r" };
    let mut page = Page::new(Family::StagingRegister, row.name, row.note)
        .fact("register", format!("{kind}{}", row.register.number()))
        .fact("job", format!("{map:?}"))
        .fact("read", when)
        .fact(
            "exists on",
            arch_text(SUPPORTED.iter(), |arch| row.archs.contains(arch)),
        );
    if let Some(word) = row.word {
        let layout: Vec<_> = word.fields.iter().map(|field| field.name).collect();
        page = page.fact("layout", format!("{}: {}", word.name, layout.join(", ")));
    }
    page
}

/// The page of an instruction: its bits as on the oldest architecture, and fields that later ones have elsewhere.
pub(super) fn page(info: &'static Info) -> Page {
    let mut page = Page::new(Family::StreamInstruction, info.name, info.note.text())
        .fact("opcode", format!("{:#04x}", info.opcode))
        .fact("category", format!("{:?}", info.category))
        .fact("done", format!("{:?}", info.timing))
        .fact(
            "exists on",
            arch_text(SUPPORTED.iter(), |arch| info.archs.contains(arch)),
        )
        .fact("text", info.text.mesa26.text());
    page.bits = 64;
    page.aliases = SUPPORTED
        .iter()
        .map(|arch| info.mnemonic(arch).to_owned())
        .collect();
    page.aliases.dedup();
    let mut seen: Vec<(u8, u8, String)> = Vec::new();
    for arch in SUPPORTED.iter().filter(|arch| info.archs.contains(*arch)) {
        for span in info.spans(arch) {
            let part = part(span.low, span.high, span.what);
            let key = (span.low, span.high, part.name.clone());
            if part.name != "reserved" && !seen.contains(&key) {
                seen.push(key);
                page.parts.push(Part {
                    arches: existing(info, &part, span.low, span.high),
                    ..part
                });
            }
        }
    }
    page.parts.sort_by_key(|part| part.low);
    page
}

/// Where a part stands in these bits.
fn existing(info: &'static Info, part: &Part, low: u8, high: u8) -> String {
    let there: Vec<Arch> = SUPPORTED
        .iter()
        .filter(|arch| info.archs.contains(*arch))
        .collect();
    arch_text(there.iter().copied(), |arch| {
        info.spans(arch).any(|span| {
            (span.low, span.high) == (low, high)
                && self::part(low, high, span.what).name == part.name
        })
    })
}

/// The part that a span is.
pub(super) fn part(low: u8, high: u8, what: SpanKind) -> Part {
    let width = u32::from(high - low) + 1;
    let part = |name: &str, about: String| Part::new(low.into(), width, name, about);
    match what {
        SpanKind::Opcode(value) => part("opcode", format!("always {value:#04x}")),
        SpanKind::SubOpcode(sub) => part(
            "sub-opcode",
            format!("{}: always {:#04x}", sub.group.name(), sub.value),
        ),
        SpanKind::Reserved => part("reserved", "written as zero".to_owned()),
        SpanKind::Field(field) => {
            let mut part = part(field.name, about(field));
            if let FieldKind::Enum(info) = field.kind {
                let code = |value: &eitri_cs::field::EnumValue| Code {
                    number: value.code,
                    name: value.name.to_owned(),
                    about: value.note.to_owned(),
                };
                part.codes = info.values.iter().map(code).collect();
            }
            part
        }
    }
}

fn about(field: &FieldInfo) -> String {
    let kind = match field.kind {
        FieldKind::Unsigned => "unsigned",
        FieldKind::Signed => "signed",
        FieldKind::Bool => "flag",
        FieldKind::Enum(info) => info.name,
        FieldKind::Reg => "register",
        FieldKind::Pair => "register pair",
        FieldKind::RegMask => "mask of registers",
        FieldKind::Slot => "scoreboard slot",
        FieldKind::SlotMask => "mask of scoreboard slots",
        FieldKind::Bytes8 => "bytes, stored as a number of 8-byte instructions",
    };
    format!("{} ({kind})", field.note.text().trim())
}
