//! The instruction table: one row an instruction, one file a family.
//!
//! A row is, in columns: the instruction, its name, its mnemonic in Mesa 26.2 text (`=` the same, `-` unknown to that
//! tool), opcode, secondary opcodes, unit, kind, type of the result, generations, destination, staging ranges, sources,
//! immediates, modifiers in the order of the text; then, rarely, what is particular to it. What rows share
//! stands once: [`sources`], [`staging`], [`fields`]. Everything else in this crate derives from these rows.
//! Facts: hardware/valhall-isa.md sections 1, 14, 15 and 18; data/valhall-isa.json.

mod atomics;
mod attributes;
mod bitwise;
mod control;
mod conversions;
mod fields;
mod float;
mod functions;
mod index;
mod integer;
mod lanes;
mod memory;
mod moves;
mod selects;
mod sources;
mod staging;
mod textures;
mod tile;
mod varyings;

pub(crate) use index::{find, find_mnemonic, find_mnemonic_with_word, masks};

use crate::arch::{Arch, ArchSet};
use crate::row::{DestKind, IssueChange, Layout, Match, Row, Unit};

// Generations, as rows name them.
const ALL: ArchSet = ArchSet::ALL;
const TO_V9: ArchSet = ArchSet::until(Arch::V9);
const TO_V10: ArchSet = ArchSet::until(Arch::V10);
const TO_V13: ArchSet = ArchSet::until(Arch::V13);
const V10_ON: ArchSet = ArchSet::since(Arch::V10);
const V11_ON: ArchSet = ArchSet::since(Arch::V11);
const V12_ON: ArchSet = ArchSet::since(Arch::V12);
const V14_ON: ArchSet = ArchSet::since(Arch::V14);

// Secondary opcodes, as rows name them.

/// Class R1 and D1: bits 16..20.
const fn r1(value: u64) -> Match {
    Match::bits(16, 0x1F, value)
}

/// Class R2 and D2: bits 16..19.
const fn r2(value: u64) -> Match {
    Match::bits(16, 0xF, value)
}

/// Logic operation in bits 24..25, kind of shift in bits 32..34.
const fn shift(value: u64) -> Match {
    Match::bits(24, 0x703, value)
}

/// Bits 24..25.
const fn at24(value: u64) -> Match {
    Match::bits(24, 0x3, value)
}

/// Bit 24.
const fn bit24(value: u64) -> Match {
    Match::bits(24, 0x1, value)
}

/// Bit 25.
const fn at25(value: u64) -> Match {
    Match::bits(25, 0x1, value)
}

/// Memory width, bits 27..29.
const fn width(value: u64) -> Match {
    Match::bits(27, 0x7, value)
}

/// Attribute or texture, bits 37..38.
const fn at37(value: u64) -> Match {
    Match::bits(37, 0x3, value)
}

/// Direction of the registers, bits 46..47.
const fn at46(value: u64) -> Match {
    Match::bits(46, 0x3, value)
}

/// Bits 34..35, which conversions between integers and floats ignore (section 1).
const ROUNDING_TAIL: u64 = 0b11 << 34;

/// The page, of messages that have no source to read from it.
const UNREAD_PAGE: u64 = 0b11 << 57;

// Layouts of some generations.
const VARYING_OFFSET_F32: &[Layout] = &[Layout {
    archs: TO_V10,
    fields: &[
        fields::SLOT,
        fields::VECTOR_SIZE,
        fields::SOURCE_FORMAT_F32,
        fields::SAMPLE_MODE,
        fields::UPDATE_MODE,
    ],
    immediates: &[fields::INDEX_AT16],
}];
const VARYING_OFFSET_F16: &[Layout] = &[Layout {
    fields: &[
        fields::SLOT,
        fields::VECTOR_SIZE,
        fields::SOURCE_FORMAT_F16,
        fields::SAMPLE_MODE,
        fields::UPDATE_MODE,
    ],
    ..VARYING_OFFSET_F32[0]
}];
const CHECKED_LOAD: &[Layout] = &[Layout {
    archs: V14_ON,
    fields: &[
        fields::ACCESS,
        fields::MEMORY_WIDTH_V14,
        fields::OOB_IGNORE_V14,
        fields::SLOT,
    ],
    immediates: &[],
}];
const CHECKED_LOAD_IMM: &[Layout] = &[Layout {
    immediates: &[fields::OFFSET12],
    ..CHECKED_LOAD[0]
}];
const CHECKED_STORE: &[Layout] = &[Layout {
    archs: V14_ON,
    fields: &[fields::ACCESS, fields::MEMORY_WIDTH_V14, fields::SLOT],
    immediates: &[],
}];
const CHECKED_STORE_IMM: &[Layout] = &[Layout {
    immediates: &[fields::OFFSET12],
    ..CHECKED_STORE[0]
}];

// Unit and cost where a generation changed them.
const CLPER: &[IssueChange] = &[change(V11_ON, Unit::Cvt, 2)];
const FROUND: &[IssueChange] = &[change(V11_ON, Unit::Fma, 2)];
const BITWISE: &[IssueChange] = &[change(V11_ON, Unit::Cvt, 1)];

const fn change(archs: ArchSet, unit: Unit, cycles: u8) -> IssueChange {
    IssueChange {
        archs,
        unit,
        cycles,
    }
}

impl Row {
    /// Adds what follows from the other columns: the opcode's bits and the placeholder.
    const fn complete(self, opcode: u64, secondary: &[Match]) -> Self {
        let mut mask = 0x1FF << 48;
        let mut value = opcode << 48;
        let mut index = 0;
        while index < secondary.len() {
            mask |= secondary[index].mask;
            value |= secondary[index].value;
            index += 1;
        }
        // An instruction with neither destination nor staging range carries r0 with a full mask, but for its fields' bits.
        let mut fixed = 0;
        if matches!(self.dest, DestKind::None) && self.staging.is_empty() {
            fixed = 0xFF << 40;
            index = 0;
            while index < self.fields.len() {
                fixed &= !self.fields[index].mask();
                index += 1;
            }
        }
        let fixed = Match {
            mask: fixed,
            value: fixed & (0xC0 << 40),
        };
        Self {
            matches: Match { mask, value },
            fixed,
            ..self
        }
    }

    /// Written in Mesa 24.1 text with another mnemonic and a word of its own.
    const fn mesa24(self, mnemonic: &'static str, word: &'static str) -> Self {
        Self {
            mesa24: mnemonic,
            mesa24_word: Some(word),
            ..self
        }
    }

    /// Only these bits of the primary opcode count; a field holds the others.
    const fn opcode_mask(self, mask: u64) -> Self {
        let matches = Match {
            mask: (self.matches.mask & !(0x1FF << 48)) | (mask << 48),
            ..self.matches
        };
        Self { matches, ..self }
    }

    const fn layouts(self, layouts: &'static [Layout]) -> Self {
        Self { layouts, ..self }
    }

    const fn ignores(self, ignored: u64) -> Self {
        Self { ignored, ..self }
    }

    const fn registers_only(self) -> Self {
        Self {
            registers_only: true,
            ..self
        }
    }

    const fn text_only(self) -> Self {
        Self {
            text_only: true,
            ..self
        }
    }

    /// A message without staging range that carries no placeholder.
    const fn no_placeholder(self) -> Self {
        Self {
            fixed: Match { mask: 0, value: 0 },
            ..self
        }
    }

    const fn changes(self, issue: &'static [IssueChange]) -> Self {
        Self { issue, ..self }
    }
}

/// Calls the macro of each family in turn, with the rows gathered so far, then `define!` with all of them.
macro_rules! gather {
    ({ $($rows:tt)* } []) => { define! { $($rows)* } };
    ({ $($rows:tt)* } [$family:ident $($rest:ident)*]) => {
        $family::$family! { gather_next { $($rows)* } [$($rest)*] }
    };
}

macro_rules! gather_next {
    ({ $($rows:tt)* } $rest:tt $($family:tt)*) => { gather! { { $($rows)* $($family)* } $rest } };
}

macro_rules! mesa26 {
    (= $name:literal) => {
        Some($name)
    };
    (- $name:literal) => {
        None
    };
    ($other:literal $name:literal) => {
        Some($other)
    };
}

macro_rules! define {
    ($(
        $op:ident $name:literal $mesa26:tt $opcode:literal [$($secondary:expr),*] $unit:ident $kind:ident $type:ident
        $archs:ident $dest:ident [$($staging:ident),*] [$($source:ident),*] [$($immediate:ident),*] [$($field:ident),*]
        $(.$method:ident($($argument:expr),*))*;
    )*) => {
        /// An instruction: one variant a row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`")] $op,)*
        }

        impl Op {
            /// Every instruction, family by family.
            pub const ALL: &'static [Self] = &[$(Self::$op),*];
        }

        /// The table.
        pub(crate) static ROWS: [Row; Op::ALL.len()] = [$(
            Row {
                op: Op::$op,
                name: $name,
                mesa24: $name,
                mesa24_word: None,
                mesa26: mesa26!($mesa26 $name),
                matches: Match { mask: 0, value: 0 },
                fixed: Match { mask: 0, value: 0 },
                unit: Unit::$unit,
                issue: &[],
                kind: crate::row::Kind::$kind,
                ty: crate::row::Type::$type,
                archs: $archs,
                dest: DestKind::$dest,
                staging: &[$(staging::$staging),*],
                sources: &[$(sources::$source),*],
                immediates: &[$(fields::$immediate),*],
                fields: &[$(fields::$field),*],
                layouts: &[],
                ignored: 0,
                does: crate::meaning::find($name),
                registers_only: false,
                text_only: false,
            }
            .complete($opcode, &[$($secondary),*])
            $(.$method($($argument),*))*
        ),*];
    };
}

gather! { {} [
    control moves conversions integer float functions bitwise selects lanes
    memory attributes varyings tile textures atomics
] }
