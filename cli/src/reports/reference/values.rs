//! Values explained: registers, instruction words, page-table entries, fault codes, GPU_ID, syndromes of the CPU.

use super::{Family, Page, Part, instructions, registers, streams};
use eitri_aarch64::Syndrome;
use eitri_csf::Arch;
use eitri_csf::explain::{Topic, find_value};
use eitri_csf::fault::{Exception, FaultSource};
use eitri_csf::page_table::{Decoded, Entry, Level};
use eitri_csf::registers::address_space::as_faultstatus;

/// What `NAME=VALUE` means on this generation; `None` if no register has the name.
pub(crate) fn register_value(name: &str, value: u64, arch: Arch) -> Option<Vec<Page>> {
    if ["exception", "fault"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word))
    {
        return Some(exception(value).into_iter().collect());
    }
    if ["ESR", "ESR_EL1", "ESR_EL2"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word))
    {
        return Some(vec![syndrome(name, value)]);
    }
    let topic = find_value(name, value)?;
    let mut page = topic_page(&topic, value);
    if let Topic::Value(decoded) = topic
        && ["AS_FAULTSTATUS", "GPU_FAULTSTATUS"].contains(&decoded.register.name)
    {
        let status = value as u32;
        let source = FaultSource {
            arch,
            id: as_faultstatus::SOURCE.get(status) as u16,
            // Two bits, four kinds: every number has one.
            access: as_faultstatus::ACCESS.get(status)?,
        };
        page.notes
            .push(format!("On {arch} the source is: {source}."));
    }
    // A fault's register names the exception by its code only.
    let codes = page
        .parts
        .iter()
        .filter(|part| part.name.starts_with("EXCEPTION"));
    let exceptions: Vec<Page> = codes.filter_map(|part| exception(part.value?)).collect();
    Some(std::iter::once(page).chain(exceptions).collect())
}

/// What a bare number may mean.
pub(crate) fn hexadecimal(value: u64, digits: usize, arch: Arch) -> Vec<Page> {
    let mut pages: Vec<Page> = exception(value).into_iter().collect();
    if (0x1_0000..=0xffff_ffff).contains(&value)
        && let Some(Topic::GpuId(id)) = find_value("GPU_ID", value)
        && id.arch().is_some()
    {
        pages.extend(register_value("GPU_ID", value, arch).into_iter().flatten());
    }
    if digits > 8 {
        pages.extend(instruction(value, arch));
        pages.extend(stream_instruction(value, arch));
        pages.extend(page_table_entry(value));
    }
    pages
}

/// A page-table entry, if it maps something at some level.
fn page_table_entry(value: u64) -> Option<Page> {
    let maps = |level| {
        matches!(
            Entry(value).decode(level),
            Decoded::Table { .. } | Decoded::Leaf { .. }
        )
    };
    let topic = find_value("pte", value).filter(|_| Level::ALL.into_iter().any(maps))?;
    Some(topic_page(&topic, value))
}

fn exception(value: u64) -> Option<Page> {
    let code = Exception(u8::try_from(value).ok()?);
    let row = code.row()?;
    Some(registers::exception(code, row))
}

/// A CPU exception's syndrome, as the crash of a small image prints it.
fn syndrome(name: &str, value: u64) -> Page {
    let name = format!("{}={value:#x}", name.to_ascii_uppercase());
    Page::new(Family::Value, name, Syndrome(value).to_string())
}

/// A value's page: the text of the tables line by line, and the fields with their numbers.
fn topic_page(topic: &Topic, value: u64) -> Page {
    let text = topic.to_string();
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default().to_owned();
    let decoded = match topic {
        Topic::Value(decoded) => Some(*decoded),
        Topic::GpuId(id) => Some(eitri_csf::registers::identity::GPU_ID.decode(id.0.into())),
        _ => None,
    };
    let name = decoded.map_or_else(
        || "page-table entry".to_owned(),
        |decoded| decoded.register.name.to_owned(),
    );
    let mut page = Page::new(Family::Value, format!("{name}={value:#x}"), first);
    page.notes = lines.map(str::to_owned).collect();
    if let Some(decoded) = decoded {
        page.bits = decoded.register.width.bytes() * 8;
        page.parts = decoded
            .fields()
            .map(|(field, number)| Part {
                value: Some(number),
                ..registers::part(field)
            })
            .collect();
        if decoded.reserved() != 0 {
            page.notes
                .push(format!("Reserved bits {:#x} are set.", decoded.reserved()));
        }
    }
    page
}

/// A shader instruction's word.
fn instruction(word: u64, arch: Arch) -> Option<Page> {
    let instr = eitri_isa::Instr::decode(word, arch).ok()?;
    let mut page = instructions::page(instr.op().row());
    fill(&mut page, word);
    page.about = format!(
        "{} {}",
        instr.display(arch, eitri_isa::Syntax::Mesa24),
        page.about
    );
    page.family = Family::Instruction;
    page.name = format!("{} {word:#018x}", page.name);
    Some(page)
}

/// A command-stream instruction's word.
fn stream_instruction(word: u64, arch: Arch) -> Option<Page> {
    let instr = eitri_cs::Instr::decode(word, arch).ok()?;
    let mut page = streams::page(instr.info());
    page.parts = instr
        .info()
        .spans(arch)
        .map(|span| streams::part(span.low, span.high, span.what))
        .collect();
    page.parts.reverse();
    fill(&mut page, word);
    page.name = format!("{} {word:#018x}", page.name);
    Some(page)
}

/// Gives each part its number in a word.
fn fill(page: &mut Page, word: u64) {
    for part in &mut page.parts {
        let mask = if part.width >= 64 {
            u64::MAX
        } else {
            (1 << part.width) - 1
        };
        part.value = Some(word >> part.low & mask);
    }
}
