//! Registers, words of the firmware interface and exception codes as pages.

use super::{Code, Family, Page, Part};
use eitri_csf::explain::{Topic, blocks, find};
use eitri_csf::fault::exception::EXCEPTIONS;
use eitri_csf::fault::{Exception, ExceptionRow};
use eitri_csf::table::{Block, FieldRow, Place, Register, Role};

pub(super) fn pages() -> Vec<Page> {
    let of = |block: &'static Block| block.registers.iter().map(move |row| page(block, row));
    blocks().flat_map(of).collect()
}

/// The page of one of a repeated register: `AS3_STATUS`, `DOORBELL[2]`.
pub(crate) fn numbered(name: &str) -> Option<Page> {
    match find(name)? {
        Topic::Register { block, register } => Some(page(block, &register)),
        _ => None,
    }
}

/// The page of a register.
pub(super) fn page(block: &Block, row: &Register) -> Page {
    let place = match block.place {
        Place::Window => format!("{:#x}", row.offset),
        Place::Shared => format!("{:#x} in {} (shared memory)", row.offset, block.name),
    };
    let repeat = match row.count {
        1 => String::new(),
        count => format!("{count} of them, {:#x} bytes apart", row.stride),
    };
    let mut page = Page::new(Family::Register, row.name, row.about)
        .fact("block", block.name)
        .fact("offset", place)
        .fact("bits", (row.width.bytes() * 8).to_string())
        .fact("access", row.access.to_string())
        .fact("since", row.since.to_string())
        .fact("repeated", repeat);
    if row.reserved_bits() != 0 {
        page = page.fact("reserved bits", format!("{:#x}", row.reserved_bits()));
    }
    page.bits = row.width.bytes() * 8;
    page.parts = row.fields.iter().chain(row.also).map(part).collect();
    page
}

pub(super) fn part(field: &FieldRow) -> Part {
    let role = match field.role {
        Role::Plain => "",
        Role::Toggle => " (request by toggling: done when ACK equals REQ)",
        Role::Level => " (level: done when ACK equals it)",
        Role::Event => " (event: raised while ACK differs from REQ)",
    };
    let width = u32::from(field.high - field.low) + 1;
    let mut part = Part::new(
        field.low.into(),
        width,
        field.name,
        format!("{}{role}", field.about),
    );
    let code = |value: &eitri_csf::table::Value| Code {
        number: value.number,
        name: value.name.to_owned(),
        about: value.about.to_owned(),
    };
    part.codes = field.values.iter().map(code).collect();
    part
}

pub(super) fn exceptions() -> Vec<Page> {
    let codes = |row: &'static ExceptionRow| {
        (row.first..=row.last).map(move |code| exception(Exception(code), row))
    };
    EXCEPTIONS.iter().flat_map(codes).collect()
}

/// The page of an exception code.
pub(super) fn exception(code: Exception, row: &ExceptionRow) -> Page {
    let from = [
        (row.from.address_space, "an address space"),
        (row.from.gpu, "the GPU"),
        (row.from.cs_fault, "a stream, which can go on"),
        (row.from.cs_fatal, "a stream, for good"),
    ];
    let from: Vec<_> = from
        .into_iter()
        .filter(|(reports, _)| *reports)
        .map(|(_, who)| who)
        .collect();
    let mut page = Page::new(Family::Exception, code.to_string(), row.about)
        .fact("code", format!("{:#04x}", code.0))
        .fact("reported by", from.join("; "));
    page.aliases = vec![row.name.to_owned(), format!("{:#04x}", code.0)];
    if !row.help.is_empty() {
        page.notes.push(format!("Look at: {}", row.help));
    }
    page
}
