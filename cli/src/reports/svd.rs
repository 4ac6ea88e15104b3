//! CMSIS-SVD: the GPU's registers in the form that debuggers read (probe-rs, VS Code's peripheral view, GDB, Trace32).
//!
//! A register of 64 bits is two of 32, as the bus has it: the GPU answers no wider access.
//! Facts: the tables of `eitri-csf`; a board's addresses and interrupts are the board's.

use crate::output::xml::escaped;
use eitri_boards::Gpu;
use eitri_csf::Arch;
use eitri_csf::registers::BLOCKS;
use eitri_csf::table::{Access, Block, FieldRow, Register, Since, Width};
use std::fmt::Write;

/// The whole file: one peripheral for each block of the window.
pub(crate) fn document(board: &str, gpu: &Gpu, arch: Arch) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <device schemaVersion=\"1.3\">\n\
         <vendor>Arm</vendor>\n\
         <name>Mali_{arch}</name>\n\
         <version>{}</version>\n\
         <description>Mali GPU with a command-stream front end, {arch}, as {} has it</description>\n\
         <addressUnitBits>8</addressUnitBits>\n\
         <width>32</width>\n\
         <size>32</size>\n\
         <peripherals>\n",
        env!("CARGO_PKG_VERSION"),
        escaped(board)
    );
    for (number, block) in BLOCKS.iter().enumerate() {
        peripheral(&mut text, block, gpu, arch, number == 0);
    }
    text.push_str("</peripherals>\n</device>\n");
    text
}

/// Whether registers of this architecture are meant; those that need a newer firmware interface are not of the window.
fn has(row: &Register, arch: Arch) -> bool {
    match row.since {
        Since::Arch(since) => since <= arch,
        Since::Interface(..) => true,
    }
}

fn peripheral(text: &mut String, block: &Block, gpu: &Gpu, arch: Arch, first: bool) {
    let rows: Vec<&Register> = block
        .registers
        .iter()
        .filter(|row| has(row, arch))
        .collect();
    if rows.is_empty() {
        return;
    }
    // Writing to a string does not fail, here and below.
    let _ = write!(
        text,
        "<peripheral>\n<name>{}</name>\n<baseAddress>{:#010x}</baseAddress>\n\
         <addressBlock><offset>0</offset><size>{:#x}</size><usage>registers</usage></addressBlock>\n",
        block.name, gpu.window.base, gpu.window.bytes
    );
    if first {
        for (name, line) in [("JOB", gpu.job), ("MMU", gpu.mmu), ("GPU", gpu.gpu)] {
            let _ = writeln!(
                text,
                "<interrupt><name>{name}</name><description>SPI</description><value>{}</value></interrupt>",
                line.0
            );
        }
    }
    text.push_str("<registers>\n");
    for row in rows {
        for index in 0..row.count {
            let numbered = match row.count {
                1 => row.name.to_owned(),
                _ => format!("{}_{index}", row.name),
            };
            let offset = row.at(index).offset;
            match row.width {
                Width::Bits32 => register(text, row, (&numbered, offset, 0)),
                Width::Bits64 => {
                    register(text, row, (&format!("{numbered}_LO"), offset, 0));
                    register(text, row, (&format!("{numbered}_HI"), offset + 4, 32));
                }
            }
        }
    }
    text.push_str("</registers>\n</peripheral>\n");
}

/// A word of 32 bits, which holds the bits of a register from `low` on.
fn register(text: &mut String, row: &Register, (name, offset, low): (&str, u32, u32)) {
    let access = match row.access {
        Access::C | Access::R => "read-only",
        Access::W => "write-only",
        Access::RW => "read-write",
    };
    let _ = write!(
        text,
        "<register><name>{}</name><description>{}</description><addressOffset>{offset:#x}</addressOffset>\
         <size>32</size><access>{access}</access>",
        plain(name),
        escaped(row.about)
    );
    let inside: Vec<&FieldRow> = row
        .fields
        .iter()
        .filter(|field| u32::from(field.low) < low + 32 && u32::from(field.high) >= low)
        .collect();
    if !inside.is_empty() {
        text.push_str("<fields>\n");
        inside.into_iter().for_each(|it| field(text, it, low));
        text.push_str("</fields>");
    }
    text.push_str("</register>\n");
}

fn field(text: &mut String, row: &FieldRow, low: u32) {
    let (from, to) = (u32::from(row.low), u32::from(row.high));
    let is_whole = from >= low && to < low + 32;
    let (lsb, msb) = (from.max(low) - low, to.min(low + 31) - low);
    let _ = write!(
        text,
        "<field><name>{}</name><description>{}</description><lsb>{lsb}</lsb><msb>{msb}</msb>",
        plain(row.name),
        escaped(row.about)
    );
    // The names of numbers are of the whole field.
    if is_whole && !row.values.is_empty() {
        text.push_str("<enumeratedValues>");
        for value in row.values {
            let _ = write!(
                text,
                "<enumeratedValue><name>{}</name><description>{}</description><value>{}</value></enumeratedValue>",
                plain(value.name),
                escaped(value.about),
                value.number
            );
        }
        text.push_str("</enumeratedValues>");
    }
    text.push_str("</field>\n");
}

/// A name of letters, digits and underscores.
fn plain(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(letter).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("_{name}"),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_boards::qemu_virt::BOARD;

    fn made(arch: Arch) -> String {
        document("a board", &BOARD.gpu, arch)
    }

    #[test]
    fn every_element_is_closed() {
        let text = made(Arch::V10);
        let mut open: Vec<String> = Vec::new();
        for tag in text.split('<').skip(2) {
            let tag = tag.split('>').next().unwrap();
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
                None => open.push(tag.split(' ').next().unwrap().to_owned()),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn registers_have_addresses_halves_fields_and_names_of_numbers() {
        let text = made(Arch::V10);
        for part in [
            "<baseAddress>0x0b000000</baseAddress>",
            "<interrupt><name>JOB</name><description>SPI</description><value>92</value></interrupt>",
            "<name>L2_READY_LO</name>",
            "<addressOffset>0x160</addressOffset>",
            "<name>L2_READY_HI</name>",
            "<addressOffset>0x164</addressOffset>",
            "<name>MCU_STATUS</name>",
            "<name>Fatal</name>",
            "<name>ARCH_MAJOR</name>",
            "<lsb>28</lsb><msb>31</msb>",
        ] {
            assert!(text.contains(part), "no {part}");
        }
    }

    #[test]
    fn a_later_generation_has_more() {
        let count = |arch| made(arch).matches("<register>").count();
        assert!(count(Arch::V14) > count(Arch::V10));
        let names = made(Arch::V14);
        let mut names: Vec<&str> = names
            .split("<register><name>")
            .skip(1)
            .map(|rest| rest.split('<').next().unwrap())
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "two registers have one name");
    }
}
