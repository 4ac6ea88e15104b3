//! What a row of the register tables is: registers, fields, named values.
//!
//! The same rows describe registers in the GPU's window and words of the interface in memory that firmware and host
//! share.  Guarantees: rows stand in the order of their offsets and neither registers nor fields overlap; a table
//! that breaks this does not compile.  Columns of a register row:
//!
//! `offset name bits access since mark fields "about"`
//!
//! - *access*: `C` constant, `R` read-only, `W` write-only, `RW`. For shared memory it is the host's access.
//! - *since*: the first architecture (`V10`..) or firmware interface (`I1_1`..) that has it.
//! - *mark*: `Modelled`, or `Known`: it exists, is documented, and nothing here acts on it.
//! - *fields*: a module of fields, or `-` where the whole word is one value. Bits of a register with fields that are
//!   in no field are reserved; offsets without a row are reserved.
//! - `(V)` in a text: known from the vendor's driver only. `(?)`: not established.

mod field;
mod macros;

pub use field::{Event, Field, FieldRow, FieldType, Level, Role, Toggle, Value, role_mask};
pub(crate) use macros::{fields, registers, values};

use crate::arch::Arch;
use core::fmt;

/// Who may do what with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads always give the same value.
    C,
    /// Read-only.
    R,
    /// Write-only: reads give nothing of use.
    W,
    /// Read and write.
    RW,
}

impl Access {
    /// Whether a host may write it.
    pub const fn writable(self) -> bool {
        matches!(self, Access::W | Access::RW)
    }

    /// Whether a host may read it.
    pub const fn readable(self) -> bool {
        !matches!(self, Access::W)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::C => "constant",
            Access::R => "read-only",
            Access::W => "write-only",
            Access::RW => "read/write",
        })
    }
}

/// The first architecture or firmware interface that has a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From this architecture on.
    Arch(Arch),
    /// From this firmware interface version (major, minor) on, whatever the architecture.
    Interface(u8, u8),
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Since::Arch(arch) => write!(f, "{arch}"),
            Since::Interface(major, minor) => write!(f, "interface {major}.{minor}"),
        }
    }
}

/// The `since` column's words.
pub(crate) mod since {
    use super::{Arch, Since};
    pub(crate) const V10: Since = Since::Arch(Arch::V10);
    pub(crate) const V11: Since = Since::Arch(Arch::V11);
    pub(crate) const V12: Since = Since::Arch(Arch::V12);
    pub(crate) const V14: Since = Since::Arch(Arch::V14);
    pub(crate) const I1_1: Since = Since::Interface(1, 1);
    pub(crate) const I3_2: Since = Since::Interface(3, 2);
    pub(crate) const I4_0: Since = Since::Interface(4, 0);
}

/// How much of a register anything acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Drivers use it and a model of the GPU must act on it.
    Modelled,
    /// It exists and is documented; drivers get by without it.
    Known,
}

/// How wide a register is. A 64-bit one is two 32-bit words, the low word first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One 32-bit word.
    Bits32,
    /// Two 32-bit words.
    Bits64,
}

impl Width {
    pub(crate) const fn from_bits(bits: u32) -> Width {
        match bits {
            32 => Width::Bits32,
            64 => Width::Bits64,
            _ => panic!("a register has 32 or 64 bits"),
        }
    }

    /// Size in bytes: 4 or 8.
    pub const fn bytes(self) -> u32 {
        match self {
            Width::Bits32 => 4,
            Width::Bits64 => 8,
        }
    }

    /// The bits that exist.
    pub const fn mask(self) -> u64 {
        match self {
            Width::Bits32 => 0xFFFF_FFFF,
            Width::Bits64 => u64::MAX,
        }
    }
}

/// A register in the GPU's window, or a word of the interface in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Name, upper case, unique in the crate.
    pub name: &'static str,
    /// Byte offset: of the window for registers, of its block for words in shared memory. Of number 0 if repeated.
    pub offset: u32,
    /// 32 or 64 bits.
    pub width: Width,
    /// What a host may do.
    pub access: Access,
    /// The first architecture or interface that has it.
    pub since: Since,
    /// Whether anything acts on it.
    pub mark: Mark,
    /// How many there are; 1 for most.
    pub count: u32,
    /// Bytes from one to the next where `count` is not 1.
    pub stride: u32,
    /// Fields, lowest bit first; empty where the whole word is one value.
    pub fields: &'static [FieldRow],
    /// Other readings of the same bits (another version's, another part's).
    pub also: &'static [FieldRow],
    /// What it is.
    pub about: &'static str,
}

impl PartialEq for Register {
    /// Two registers are the same if their names are: names are unique.
    fn eq(&self, other: &Register) -> bool {
        self.name == other.name
    }
}

impl Eq for Register {}

impl Register {
    /// The register's offset when it is number `index` of a repeated one; number 0 where there is no such number.
    pub const fn at(&self, index: u32) -> Register {
        let mut it = *self;
        if index < self.count {
            it.offset += index * self.stride;
        }
        it
    }

    /// Bits in no field: a host writes them as zero. None for a register whose whole word is one value.
    pub const fn reserved_bits(&self) -> u64 {
        if self.fields.is_empty() {
            return 0;
        }
        let mut used = 0;
        let mut i = 0;
        while i < self.fields.len() {
            used |= self.fields[i].mask();
            i += 1;
        }
        i = 0;
        while i < self.also.len() {
            used |= self.also[i].mask();
            i += 1;
        }
        !used & self.width.mask()
    }

    /// The field with this name, in any case.
    pub fn field(&self, name: &str) -> Option<&'static FieldRow> {
        let mut all = self.fields.iter().chain(self.also);
        all.find(|field| field.name.eq_ignore_ascii_case(name))
    }

    /// The value taken apart, for people: `MCU_STATUS (0x704) = 0x3: STATE 3 Fatal`.
    pub const fn decode(&self, value: u64) -> Decoded {
        Decoded {
            register: *self,
            value,
        }
    }
}

/// Whether tables hold sentences, and registers the names of their fields: a driver does not want them in its image.
pub(crate) const TEXT: bool = cfg!(feature = "text");

/// A sentence of the tables, or nothing.
pub(crate) const fn kept(text: &'static str) -> &'static str {
    if TEXT { text } else { "" }
}

/// A register with a value; `Display` takes it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The register.
    pub register: Register,
    /// Its value.
    pub value: u64,
}

impl Decoded {
    /// Each field with its number in the value, lowest bit first.
    pub fn fields(&self) -> impl Iterator<Item = (&'static FieldRow, u64)> + use<> {
        let value = self.value;
        self.register
            .fields
            .iter()
            .map(move |field| (field, field.raw(value)))
    }

    /// Bits set that are in no field.
    pub const fn reserved(&self) -> u64 {
        self.value & self.register.reserved_bits()
    }
}

impl fmt::Display for Decoded {
    /// Fields that are zero and have no name for zero are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Register { name, offset, .. } = self.register;
        write!(f, "{name} ({offset:#05x}) = {:#x}", self.value)?;
        if !TEXT {
            return Ok(());
        }
        let mut separator = ": ";
        for (field, number) in self.fields() {
            let named = field.value_name(self.value);
            if number == 0 && named.is_none() {
                continue;
            }
            f.write_str(separator)?;
            separator = ", ";
            match named {
                Some(value) => write!(f, "{} {} {}", field.name, number, value.name)?,
                None if field.low == field.high => f.write_str(field.name)?,
                None if number < 10 => write!(f, "{} {number}", field.name)?,
                None => write!(f, "{} {number:#x}", field.name)?,
            }
        }
        if self.reserved() != 0 {
            write!(f, "{separator}reserved bits {:#x}", self.reserved())?;
        }
        Ok(())
    }
}

/// A table of registers that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Name, upper case.
    pub name: &'static str,
    /// Where it is.
    pub place: Place,
    /// Registers in the order of their offsets.
    pub registers: &'static [Register],
    /// What it is for.
    pub about: &'static str,
}

/// Where a block of registers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the GPU's register window.
    Window,
    /// In memory shared with the firmware; offsets count from where the control blocks say.
    Shared,
}

/// Stops the build if rows are out of order or overlap.
pub(crate) const fn check_registers(registers: &[Register]) {
    let mut end = 0;
    let mut i = 0;
    while i < registers.len() {
        let it = &registers[i];
        assert!(it.offset >= end, "registers overlap or are out of order");
        assert!(it.offset.is_multiple_of(4), "a register is not aligned");
        end = it.offset + it.width.bytes();
        // Interleaved arrays (all registers of address space 0, then of 1) repeat beyond the next row.
        if it.stride == it.width.bytes() {
            end = it.offset + it.stride * it.count;
        }
        check_fields(it.fields, it.width);
        i += 1;
    }
}

const fn check_fields(fields: &[FieldRow], width: Width) {
    let mut next = 0;
    let mut i = 0;
    while i < fields.len() {
        let it = &fields[i];
        assert!(it.low >= next, "fields overlap or are out of order");
        assert!(it.high >= it.low, "a field ends before it begins");
        assert!(
            (it.high as u32) < width.bytes() * 8,
            "a field is outside its register"
        );
        next = it.high + 1;
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    values! {
        /// A test enumeration.
        Colour {
            1 Red  "warm";
            2 Blue "cold";
        }
    }

    fields! {
        /// A test layout.
        sample {
            0 ON: bool = "switch";
            3:1 COLOUR: Colour = "colour";
            15:8 COUNT: u32 = "number";
        }
    }

    registers! {
        /// A test block.
        block SAMPLE Window 0x100 = "for tests";
        0x00 PLAIN           64 RW V10 Modelled -      "one value";
        0x08 SAMPLES [4; 4]  32 R  V11 Known    sample "with fields";
    }

    #[test]
    fn fields_get_and_set_their_own_bits_only() {
        let word = sample::COUNT.set32(0xFFFF_FFFF, 0x12);
        assert_eq!(word, 0xFFFF_12FF);
        assert_eq!(sample::COUNT.get(word), 0x12);
        assert_eq!(sample::COLOUR.get(0b0100u32), Some(Colour::Blue));
        assert_eq!(sample::COLOUR.get(0b1110u32), None);
        assert!(sample::COUNT.fits(255) && !sample::COUNT.fits(256));
    }

    #[test]
    fn values_have_numbers_and_texts() {
        assert_eq!(Colour::from_number(2), Some(Colour::Blue));
        assert_eq!((Colour::Red.number(), Colour::Red.about()), (1, "warm"));
    }

    #[test]
    fn a_register_knows_its_place_and_reserved_bits() {
        assert_eq!(SAMPLES.at(3).offset, 0x114);
        assert_eq!(SAMPLES.at(4).offset, 0x108, "there is no number 4");
        assert_eq!(SAMPLES.reserved_bits(), 0xFFFF_00F0);
        assert_eq!(PLAIN.reserved_bits(), 0);
        assert_eq!(SAMPLE.registers.len(), 2);
    }

    #[test]
    fn a_value_is_printed_by_its_fields() {
        let text = std::format!("{}", SAMPLES.decode(0x4000_1205));
        assert_eq!(
            text,
            "SAMPLES (0x108) = 0x40001205: ON, COLOUR 2 Blue, COUNT 0x12, reserved bits 0x40000000"
        );
    }
}
