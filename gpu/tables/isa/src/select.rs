//! Selections: which halves or bytes of a source an instruction reads.
//!
//! A selection names lanes from lane 0 upwards: `H10` puts half 1 in lane 0 and half 0 in lane 1. Each source has a
//! [`SelectTable`] of the selections it can encode and of their words in both dialects.
//! Facts: hardware/valhall-isa.md sections 7.3, 8.1 and 19.2.

macro_rules! selects {
    ($($(#[$doc:meta])* $name:ident)*) => {
        /// How a source is read before abs and neg.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Select {
            $($(#[$doc])* $name,)*
        }
    };
}

selects! {
    /// As it is: all 32 or 64 bits, or every lane in its place (`h01`, `b0123`).
    #[default]
    Identity
    /// One half, widened.
    H0
    /// One half, widened.
    H1
    /// One byte, widened.
    B0
    /// One byte, widened.
    B1
    /// One byte, widened.
    B2
    /// One byte, widened.
    B3
    /// The low word of a 64-bit source, widened; the source may then be an odd register.
    W0
    /// The high word of a 64-bit source, widened.
    W1
    /// Halves, two lanes.
    H00
    /// Halves, two lanes.
    H10
    /// Halves, two lanes.
    H11
    /// Bytes, two lanes.
    B00
    /// Bytes, two lanes.
    B10
    /// Bytes, two lanes.
    B20
    /// Bytes, two lanes.
    B30
    /// Bytes, two lanes.
    B01
    /// Bytes, two lanes.
    B11
    /// Bytes, two lanes.
    B21
    /// Bytes, two lanes.
    B31
    /// Bytes, two lanes.
    B02
    /// Bytes, two lanes.
    B12
    /// Bytes, two lanes.
    B22
    /// Bytes, two lanes.
    B32
    /// Bytes, two lanes.
    B03
    /// Bytes, two lanes.
    B13
    /// Bytes, two lanes.
    B23
    /// Bytes, two lanes.
    B33
    /// Bytes, four lanes.
    B3210
    /// Bytes, four lanes.
    B0101
    /// Bytes, four lanes.
    B2323
    /// Bytes, four lanes.
    B0000
    /// Bytes, four lanes.
    B1111
    /// Bytes, four lanes.
    B2222
    /// Bytes, four lanes.
    B3333
    /// Bytes, four lanes.
    B2301
    /// Bytes, four lanes.
    B1032
    /// Bytes, four lanes.
    B0011
    /// Bytes, four lanes.
    B2233
    /// Matrices of halves: the first four rows or columns.
    F0
    /// Matrices of halves: the last four rows or columns.
    F1
    /// Branches: true only when every bit is set.
    And
    /// Branches: bits 3 to 20 are not all equal (purpose not established).
    LowBits
}

/// What a selection takes from the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Everything, in place.
    Identity,
    /// One half, 0 or 1.
    Half(u8),
    /// One byte, 0 to 3.
    Byte(u8),
    /// One word of a 64-bit source, 0 or 1.
    Word(u8),
    /// A half for each of two lanes.
    Halves([u8; 2]),
    /// A byte for each of two lanes.
    Bytes2([u8; 2]),
    /// A byte for each of four lanes.
    Bytes4([u8; 4]),
    /// A part of a matrix, 0 or 1.
    Submatrix(u8),
    /// A test of a branch condition, see [`Select::And`] and [`Select::LowBits`].
    Test,
}

impl Select {
    /// The lanes that it takes.
    pub const fn lanes(self) -> Lanes {
        match self {
            Self::Identity => Lanes::Identity,
            Self::H0 => Lanes::Half(0),
            Self::H1 => Lanes::Half(1),
            Self::B0 => Lanes::Byte(0),
            Self::B1 => Lanes::Byte(1),
            Self::B2 => Lanes::Byte(2),
            Self::B3 => Lanes::Byte(3),
            Self::W0 => Lanes::Word(0),
            Self::W1 => Lanes::Word(1),
            Self::H00 => Lanes::Halves([0, 0]),
            Self::H10 => Lanes::Halves([1, 0]),
            Self::H11 => Lanes::Halves([1, 1]),
            Self::B00 => Lanes::Bytes2([0, 0]),
            Self::B10 => Lanes::Bytes2([1, 0]),
            Self::B20 => Lanes::Bytes2([2, 0]),
            Self::B30 => Lanes::Bytes2([3, 0]),
            Self::B01 => Lanes::Bytes2([0, 1]),
            Self::B11 => Lanes::Bytes2([1, 1]),
            Self::B21 => Lanes::Bytes2([2, 1]),
            Self::B31 => Lanes::Bytes2([3, 1]),
            Self::B02 => Lanes::Bytes2([0, 2]),
            Self::B12 => Lanes::Bytes2([1, 2]),
            Self::B22 => Lanes::Bytes2([2, 2]),
            Self::B32 => Lanes::Bytes2([3, 2]),
            Self::B03 => Lanes::Bytes2([0, 3]),
            Self::B13 => Lanes::Bytes2([1, 3]),
            Self::B23 => Lanes::Bytes2([2, 3]),
            Self::B33 => Lanes::Bytes2([3, 3]),
            Self::B3210 => Lanes::Bytes4([3, 2, 1, 0]),
            Self::B0101 => Lanes::Bytes4([0, 1, 0, 1]),
            Self::B2323 => Lanes::Bytes4([2, 3, 2, 3]),
            Self::B0000 => Lanes::Bytes4([0, 0, 0, 0]),
            Self::B1111 => Lanes::Bytes4([1, 1, 1, 1]),
            Self::B2222 => Lanes::Bytes4([2, 2, 2, 2]),
            Self::B3333 => Lanes::Bytes4([3, 3, 3, 3]),
            Self::B2301 => Lanes::Bytes4([2, 3, 0, 1]),
            Self::B1032 => Lanes::Bytes4([1, 0, 3, 2]),
            Self::B0011 => Lanes::Bytes4([0, 0, 1, 1]),
            Self::B2233 => Lanes::Bytes4([2, 2, 3, 3]),
            Self::F0 => Lanes::Submatrix(0),
            Self::F1 => Lanes::Submatrix(1),
            Self::And | Self::LowBits => Lanes::Test,
        }
    }
}

/// One selection that a source can encode.
#[derive(Clone, Copy, Debug)]
pub struct SelectRow {
    /// The field's value.
    pub value: u8,
    /// The selection.
    pub select: Select,
    /// Its word in Mesa 24.1 text; empty if it prints nothing.
    pub mesa24: &'static str,
    /// Its word in Mesa 26.2 text; `reserved` where that tool does not know it.
    pub mesa26: &'static str,
}

/// The selections of one kind of source.
#[derive(Debug)]
pub struct SelectTable {
    /// What the field is, for people.
    pub name: &'static str,
    /// Its values, ascending.
    pub rows: &'static [SelectRow],
    /// Further words of Mesa 24.1 text that are read, never printed.
    pub also_read: &'static [SelectRow],
}

impl SelectTable {
    /// The row of a field's value.
    pub fn by_value(&self, value: u8) -> Option<&'static SelectRow> {
        // Most tables have no gaps, so the value is the index.
        match self.rows.get(value as usize) {
            Some(row) if row.value == value => Some(row),
            _ => self.rows.iter().find(|row| row.value == value),
        }
    }

    /// The row of a selection.
    pub fn by_select(&self, select: Select) -> Option<&'static SelectRow> {
        self.rows.iter().find(|row| row.select == select)
    }

    /// What stands when nothing is written.
    pub fn default(&self) -> Option<&'static SelectRow> {
        self.rows
            .iter()
            .find(|row| row.select as u8 == Select::Identity as u8)
    }
}
