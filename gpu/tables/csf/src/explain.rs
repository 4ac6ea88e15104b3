//! Explanations: finds what the tables know by the names that people write, and prints it.
//!
//! Guarantees: every name of [`names`] is found; a value never makes it panic.  Never: knows what a command line is.
//!
//! ```
//! use eitri_csf::explain::{Topic, find, find_value};
//!
//! assert!(matches!(find("l2_ready"), Some(Topic::Register { .. })));
//! assert!(matches!(find("G610"), Some(Topic::Product(_))));
//! let text = find_value("MCU_STATUS", 3).map(|topic| topic.to_string());
//! assert_eq!(text.as_deref(), Some("MCU_STATUS (0x704) = 0x3: STATE 3 Fatal"));
//! ```

use crate::fault::exception::EXCEPTIONS;
use crate::fault::{Exception, ExceptionRow};
use crate::page_table::{Decoded as Meaning, Entry, Level};
use crate::product::{GpuId, PRODUCTS, Product, find_product};
use crate::registers::identity::GPU_ID;
use crate::table::{Block, Decoded, FieldRow, Place, Register, Role};
use crate::{interface, registers};
use core::fmt;

/// Something that the tables know.
#[derive(Clone, Copy, Debug)]
pub enum Topic {
    /// A register, or a word in shared memory.
    Register {
        /// Its block.
        block: &'static Block,
        /// Its row; with the offset of one of a repeated register, if a number was given.
        register: Register,
    },
    /// A field: `GPU_STATUS.PAGE_FAULT`.
    Field {
        /// Its register.
        register: Register,
        /// Its row.
        field: &'static FieldRow,
    },
    /// A block of registers.
    Block(&'static Block),
    /// An exception code.
    Exception(Exception, &'static ExceptionRow),
    /// A product.
    Product(&'static Product),
    /// A register with a value.
    Value(Decoded),
    /// The value of `GPU_ID`.
    GpuId(GpuId),
    /// A page-table entry.
    PageTableEntry(Entry),
}

/// All blocks: of the window, and of shared memory.
pub fn blocks() -> impl Iterator<Item = &'static Block> {
    registers::BLOCKS.into_iter().chain(interface::BLOCKS)
}

/// The names by which something is found: blocks, registers, exceptions, products. To suggest the nearest from.
pub fn names() -> impl Iterator<Item = &'static str> {
    let rows = blocks().flat_map(|block| block.registers);
    let registers = blocks()
        .map(|block| block.name)
        .chain(rows.map(|row| row.name));
    let products = PRODUCTS.iter().map(|row| row.name);
    registers
        .chain(EXCEPTIONS.iter().map(|row| row.name))
        .chain(products)
}

/// What has this name, in any case: a block, a register (`AS_STATUS`, `AS3_STATUS`, `DOORBELL[2]`), a field
/// (`GPU_STATUS.PAGE_FAULT`), an exception (by name or code, `0x48`), a product (`G610`).
pub fn find(name: &str) -> Option<Topic> {
    if let Some(block) = blocks().find(|block| block.name.eq_ignore_ascii_case(name)) {
        return Some(Topic::Block(block));
    }
    if let Some((block, register)) = find_register(name) {
        return Some(Topic::Register { block, register });
    }
    if let Some((register, field)) = name.split_once('.')
        && let Some((_, register)) = find_register(register)
        && let Some(field) = register.field(field)
    {
        return Some(Topic::Field { register, field });
    }
    let code = number(name)
        .and_then(|number| u8::try_from(number).ok())
        .map(Exception);
    if let Some(exception) = code.or_else(|| Exception::from_name(name))
        && let Some(row) = exception.row()
    {
        return Some(Topic::Exception(exception, row));
    }
    // A run of codes is found by its name without the number too, as its first.
    if let Some(row) = EXCEPTIONS
        .iter()
        .find(|row| row.name.eq_ignore_ascii_case(name))
    {
        return Some(Topic::Exception(Exception(row.first), row));
    }
    find_product(name).map(Topic::Product)
}

/// The row of the register or word of this very name.
pub fn register(name: &str) -> Option<&'static Register> {
    let mut rows = blocks().flat_map(|block| block.registers);
    rows.find(|row| row.name == name)
}

/// What the value of a register, an exception, `GPU_ID` or a page-table entry (`pte`) means.
pub fn find_value(name: &str, value: u64) -> Option<Topic> {
    if name.eq_ignore_ascii_case("pte") {
        return Some(Topic::PageTableEntry(Entry(value)));
    }
    let (_, register) = find_register(name)?;
    if register == GPU_ID {
        return u32::try_from(value).ok().map(|id| Topic::GpuId(GpuId(id)));
    }
    Some(Topic::Value(register.decode(value)))
}

/// A number as people write it: decimal, or hexadecimal with `0x`; `_` between digits is passed over.
pub fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let mut value: Option<u64> = None;
    for letter in digits.chars().filter(|letter| *letter != '_') {
        let digit = u64::from(letter.to_digit(radix)?);
        value = Some(
            value
                .unwrap_or(0)
                .checked_mul(radix.into())?
                .checked_add(digit)?,
        );
    }
    value
}

fn find_register(name: &str) -> Option<(&'static Block, Register)> {
    let rows = || blocks().flat_map(|block| block.registers.iter().map(move |row| (block, row)));
    let named = |name: &str| rows().find(|(_, row)| row.name.eq_ignore_ascii_case(name));
    if let Some((block, row)) = named(name) {
        return Some((block, *row));
    }
    // DOORBELL[2]
    if let Some((stem, index)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        let (block, row) = named(stem)?;
        return numbered(block, row, index.parse().ok()?);
    }
    // AS3_STATUS
    let rest = name.get(2..).filter(|_| {
        name.get(..2)
            .is_some_and(|head| head.eq_ignore_ascii_case("AS"))
    })?;
    let (index, word) = rest.split_once('_')?;
    let index = index.parse().ok()?;
    let (block, row) = rows().find(|(_, row)| {
        row.name
            .strip_prefix("AS_")
            .is_some_and(|name| name.eq_ignore_ascii_case(word))
    })?;
    numbered(block, row, index)
}

fn numbered(
    block: &'static Block,
    row: &Register,
    index: u32,
) -> Option<(&'static Block, Register)> {
    (index < row.count).then(|| (block, row.at(index)))
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Topic::Register { block, register } => explain_register(f, block, register),
            Topic::Field { register, field } => {
                write!(f, "{}.{}, ", register.name, field.name)?;
                explain_field(f, field)
            }
            Topic::Block(block) => explain_block(f, block),
            Topic::Exception(exception, row) => explain_exception(f, *exception, row),
            Topic::Product(product) => explain_product(f, product),
            Topic::Value(decoded) => decoded.fmt(f),
            Topic::GpuId(id) => explain_id(f, *id),
            Topic::PageTableEntry(entry) => explain_entry(f, *entry),
        }
    }
}

fn explain_register(f: &mut fmt::Formatter<'_>, block: &Block, row: &Register) -> fmt::Result {
    let bits = row.width.bytes() * 8;
    let place = match block.place {
        Place::Window => "offset",
        Place::Shared => "in shared memory, offset in its block",
    };
    writeln!(
        f,
        "{} ({}, {place} {:#x}): {}",
        row.name, block.name, row.offset, row.about
    )?;
    write!(f, "  {bits} bits, {}, since {}", row.access, row.since)?;
    if row.count > 1 {
        write!(f, "; {} of them, {:#x} bytes apart", row.count, row.stride)?;
    }
    for field in row.fields {
        write!(f, "\n  ")?;
        explain_field(f, field)?;
    }
    if row.reserved_bits() != 0 {
        write!(
            f,
            "\n  bits {:#x} are reserved: write zero",
            row.reserved_bits()
        )?;
    }
    if !row.also.is_empty() {
        write!(f, "\n  other readings of the same bits:")?;
    }
    for field in row.also {
        write!(f, "\n  ")?;
        explain_field(f, field)?;
    }
    Ok(())
}

fn explain_field(f: &mut fmt::Formatter<'_>, field: &FieldRow) -> fmt::Result {
    match field.high == field.low {
        true => write!(f, "[{}] ", field.low)?,
        false => write!(f, "[{}:{}] ", field.high, field.low)?,
    }
    write!(f, "{}: {}", field.name, field.about)?;
    f.write_str(match field.role {
        Role::Plain => "",
        Role::Toggle => " (request by toggling: done when ACK equals REQ)",
        Role::Level => " (level: done when ACK equals it)",
        Role::Event => " (event: raised while ACK differs from REQ)",
    })?;
    for value in field.values {
        write!(
            f,
            "\n      {} {}: {}",
            value.number, value.name, value.about
        )?;
    }
    Ok(())
}

fn explain_block(f: &mut fmt::Formatter<'_>, block: &Block) -> fmt::Result {
    write!(f, "{}: {}", block.name, block.about)?;
    for row in block.registers {
        write!(f, "\n  {:#07x} {}: {}", row.offset, row.name, row.about)?;
    }
    Ok(())
}

fn explain_exception(
    f: &mut fmt::Formatter<'_>,
    code: Exception,
    row: &ExceptionRow,
) -> fmt::Result {
    write!(f, "{code} ({:#04x}): {}", code.0, row.about)?;
    let from = [
        (row.from.address_space, "an address space"),
        (row.from.gpu, "the GPU"),
        (row.from.cs_fault, "a stream, which can go on"),
        (row.from.cs_fatal, "a stream, for good"),
    ];
    let mut separator = "\n  reported by ";
    for (_, who) in from.into_iter().filter(|(reports, _)| *reports) {
        write!(f, "{separator}{who}")?;
        separator = ", ";
    }
    if !row.help.is_empty() {
        write!(f, "\n  help: {}", row.help)?;
    }
    Ok(())
}

fn explain_product(f: &mut fmt::Formatter<'_>, product: &Product) -> fmt::Result {
    write!(
        f,
        "{}: architecture {}, product {}",
        product.name, product.arch, product.number
    )?;
    if !product.codename.is_empty() {
        write!(f, ", codename {}", product.codename)?;
    }
    if product.cores_from > 0 {
        write!(f, ", from {} shader cores on", product.cores_from)?;
    }
    if product.ray_intersection {
        f.write_str(", with ray intersection")?;
    }
    Ok(())
}

fn explain_id(f: &mut fmt::Formatter<'_>, id: GpuId) -> fmt::Result {
    write!(f, "{}", GPU_ID.decode(id.0.into()))?;
    if let (Some(_), (major, minor, _)) = (id.arch(), id.arch_version()) {
        write!(
            f,
            "\n  {id}\n  firmware: arm/mali/arch{major}.{minor}/mali_csffw.bin"
        )?;
    }
    let number = id.product_number();
    for row in PRODUCTS
        .iter()
        .filter(|row| (Some(row.arch), row.number) == (id.arch(), number))
    {
        write!(f, "\n  ")?;
        explain_product(f, row)?;
    }
    Ok(())
}

fn explain_entry(f: &mut fmt::Formatter<'_>, entry: Entry) -> fmt::Result {
    write!(f, "page-table entry {:#018x}", entry.0)?;
    for level in Level::ALL {
        write!(f, "\n  at level {}: ", level.number())?;
        match entry.decode(level) {
            Meaning::Invalid => f.write_str("nothing mapped")?,
            Meaning::Malformed => f.write_str("malformed: a translation fault")?,
            Meaning::Table { address } => write!(f, "the next table is at {address:#x}")?,
            Meaning::Leaf {
                address,
                attributes,
            } => {
                let mark = |set, letter| if set { letter } else { '-' };
                let (read, write) = (
                    mark(attributes.readable, 'R'),
                    mark(attributes.writable, 'W'),
                );
                let execute = mark(attributes.executable, 'X');
                write!(
                    f,
                    "{:#x} bytes at {address:#x}, {read}{write}{execute}",
                    level.bytes()
                )?;
                write!(f, ", attribute index {}", attributes.memory.number())?;
                write!(f, ", shareability {:?}", attributes.shareability)?;
                if !attributes.accessed {
                    f.write_str(", access flag clear: any access faults")?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn every_name_is_found_and_explained() {
        for name in names() {
            let topic = find(name).unwrap_or_else(|| panic!("{name} is not found"));
            assert!(!topic.to_string().is_empty());
        }
    }

    #[test]
    fn names_are_unique_but_for_products() {
        let mut seen = std::collections::BTreeSet::new();
        for name in names().filter(|name| find_product(name).is_none()) {
            assert!(seen.insert(name), "{name} twice");
        }
    }

    #[track_caller]
    fn check(topic: Option<Topic>, expected: &str) {
        assert_eq!(
            topic.map(|topic| format!("{topic}")).as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn what_people_see() {
        check(
            find("mcu_status"),
            "MCU_STATUS (MCU, offset 0x704): state of the MCU; halting has no other acknowledgement\n  \
             32 bits, read-only, since v10\n  \
             [1:0] STATE: what the MCU is doing\n      \
             0 Disabled: not running\n      \
             1 Enabled: running\n      \
             2 Halted: stopped in an orderly way by the firmware, or asleep\n      \
             3 Fatal: crashed: bad image, bad mapping, bus error, or a fault in address space 0\n  \
             bits 0xfffffffc are reserved: write zero",
        );
        check(
            find("0xC2"),
            "TRANSLATION_FAULT_2 (0xc2): the address is not mapped\n  \
             reported by an address space, a stream, which can go on\n  \
             help: the access is outside every buffer, or the buffer was freed",
        );
        check(
            find("mali-g610"),
            "Mali-G610: architecture v10, product 7, codename LODX",
        );
        check(
            find("GLB_REQ.PING"),
            "GLB_REQ.PING, [8] PING: answer only; in protected mode it forces an exit (request by toggling: done when ACK equals REQ)",
        );
        check(
            find_value("pte", 0x0060_0000_8000_0F47),
            "page-table entry 0x0060000080000f47\n  \
             at level 0: the next table is at 0x80000000\n  \
             at level 1: the next table is at 0x80000000\n  \
             at level 2: the next table is at 0x80000000\n  \
             at level 3: 0x1000 bytes at 0x80000000, RW-, attribute index 1, shareability Inner",
        );
        check(
            find_value("GPU_ID", 0xA867_0005),
            "GPU_ID (0x000) = 0xa8670005: STATUS 5, PRODUCT 7, ARCH_PATCH 6, ARCH_MINOR 8, ARCH_MAJOR 0xa\n  \
             arch 10.8.6, product 7, r0p0 status 5\n  \
             firmware: arm/mali/arch10.8/mali_csffw.bin\n  \
             Mali-G610: architecture v10, product 7, codename LODX",
        );
    }

    #[test]
    fn one_of_a_repeated_register_is_found_by_number() {
        let offset = |name| match find(name) {
            Some(Topic::Register { register, .. }) => Some(register.offset),
            _ => None,
        };
        assert_eq!(offset("AS3_STATUS"), Some(0x2400 + 3 * 0x40 + 0x28));
        assert_eq!(offset("doorbell[2]"), Some(0xA0000));
        assert_eq!(offset("AS16_STATUS"), None);
        assert_eq!(offset("AS_STATUS[16]"), None);
    }

    #[test]
    fn numbers_are_read_and_nonsense_is_not() {
        assert_eq!(number("0xFF_00"), Some(0xFF00));
        assert_eq!(number("12"), Some(12));
        for text in ["", "0x", "_", "12x", "0x1_0000_0000_0000_0000", "é", "-1"] {
            assert_eq!(number(text), None, "{text}");
        }
        for text in ["", "é", "AS", "AS_", "[]", ".", "GPU_STATUS.", "0x", "mali"] {
            assert!(find(text).is_none(), "{text}");
        }
    }

    #[test]
    fn no_value_makes_it_panic() {
        for value in [0, 1, u64::MAX, 0x5555_5555_5555_5555, 1 << 63] {
            for name in names().chain(["pte"]) {
                if let Some(topic) = find_value(name, value) {
                    assert!(!topic.to_string().is_empty());
                }
            }
        }
    }
}
