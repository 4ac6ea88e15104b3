//! Selections: which bytes, halves or words of a source an operation sees.
//!
//! A source is fetched as 32 or 64 bits, then the selection picks its lanes, then abs and neg apply. Each table of the
//! instruction set is one row here: what the field's value means, once.
//!
//! Facts: hardware/valhall-isa.md 7.3 (tables), 8.1 (order, extension).

/// How a narrow lane grows to a wide one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extend {
    /// With zeros.
    Zero,
    /// With copies of the sign.
    Sign,
}

/// A selection out of one source of 32 bits, giving 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Select {
    /// The bits as they stand.
    Identity,
    /// One byte, grown to 32 bits.
    Byte(u8, Extend),
    /// One half, grown to 32 bits.
    Half(u8, Extend),
    /// One half, converted from binary16 to binary32.
    HalfFloat(u8),
    /// Half lanes 0 and 1 are these halves.
    Halves(u8, u8),
    /// Half lanes 0 and 1 are these bytes, grown to 16 bits.
    BytesToHalves(u8, u8, Extend),
    /// Byte lanes 0 to 3 are these bytes.
    Bytes(u8, u8, u8, u8),
}

impl Select {
    /// The selected value of `bits`.
    #[inline]
    pub(crate) fn apply(self, bits: u32) -> u32 {
        match self {
            Select::Identity => bits,
            Select::Byte(index, extend) => extend_byte(byte(bits, index), extend),
            Select::Half(index, extend) => {
                let half = half(bits, index);
                match extend {
                    Extend::Zero => u32::from(half),
                    Extend::Sign => half as i16 as i32 as u32,
                }
            }
            Select::HalfFloat(index) => super::float::half_to_single(half(bits, index)).to_bits(),
            Select::Halves(low, high) => {
                u32::from(half(bits, low)) | u32::from(half(bits, high)) << 16
            }
            Select::BytesToHalves(low, high, extend) => {
                (extend_byte(byte(bits, low), extend) & 0xffff)
                    | extend_byte(byte(bits, high), extend) << 16
            }
            Select::Bytes(b0, b1, b2, b3) => u32::from_le_bytes([
                byte(bits, b0),
                byte(bits, b1),
                byte(bits, b2),
                byte(bits, b3),
            ]),
        }
    }

    /// The 32-bit integer table (`none h0 h1 b0 b1 b2 b3`); `None` for values that mean nothing.
    pub(crate) fn word(value: u32, extend: Extend) -> Option<Select> {
        Some(match value {
            0 => Select::Identity,
            2 | 3 => Select::Half(value as u8 - 2, extend),
            4..=7 => Select::Byte(value as u8 - 4, extend),
            _ => return None,
        })
    }

    /// The table of 32-bit float sources (`none h0 h1`).
    pub(crate) fn float_word(value: u32) -> Option<Select> {
        Some(match value {
            0 => Select::Identity,
            1 | 2 => Select::HalfFloat(value as u8 - 1),
            _ => return None,
        })
    }

    /// The table of 16-bit vector sources; `h01` is the identity.
    pub(crate) fn halves(value: u32, extend: Extend) -> Option<Select> {
        Some(match value {
            0 => Select::Halves(0, 0),
            1 => Select::Halves(1, 0),
            2 => Select::Identity,
            3 => Select::Halves(1, 1),
            4 => Select::BytesToHalves(0, 0, extend),
            5 => Select::BytesToHalves(2, 0, extend),
            6 => Select::BytesToHalves(0, 2, extend),
            7 => Select::BytesToHalves(2, 2, extend),
            8 => Select::BytesToHalves(1, 1, extend),
            9 => Select::BytesToHalves(3, 1, extend),
            10 => Select::BytesToHalves(1, 3, extend),
            11 => Select::BytesToHalves(3, 3, extend),
            12 => Select::BytesToHalves(0, 1, extend),
            13 => Select::BytesToHalves(2, 3, extend),
            _ => return None,
        })
    }

    /// The table of 8-bit vector sources.
    pub(crate) fn bytes(value: u32) -> Option<Select> {
        Some(match value {
            0 => Select::Identity,
            1 => Select::Bytes(3, 2, 1, 0),
            2 => Select::Bytes(0, 1, 0, 1),
            3 => Select::Bytes(2, 3, 2, 3),
            4 => Select::Bytes(0, 0, 0, 0),
            5 => Select::Bytes(1, 1, 1, 1),
            6 => Select::Bytes(2, 2, 2, 2),
            7 => Select::Bytes(3, 3, 3, 3),
            8 => Select::Bytes(2, 3, 0, 1),
            9 => Select::Bytes(1, 0, 3, 2),
            10 => Select::Bytes(0, 0, 1, 1),
            11 => Select::Bytes(2, 2, 3, 3),
            _ => return None,
        })
    }

    /// The shift amounts of a 16-bit vector: a byte a lane.
    pub(crate) fn half_shifts(value: u32) -> Option<Select> {
        let (low, high) = match value {
            0 => (0, 2),
            4..=7 => (value as u8 - 4, value as u8 - 4),
            10 => (0, 1),
            11 => (2, 3),
            _ => return None,
        };
        Some(Select::BytesToHalves(low, high, Extend::Zero))
    }

    /// Two of four bytes, as the byte-to-half conversions choose them (first in the low two bits).
    pub(crate) fn byte_pair(value: u32, extend: Extend) -> Select {
        Select::BytesToHalves((value & 3) as u8, ((value >> 2) & 3) as u8, extend)
    }
}

/// A selection out of a source of 64 bits, giving 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectWide {
    /// The 64 bits as they stand.
    Identity,
    /// The low word, grown to 64 bits.
    Word(Extend),
    /// The high word, grown to 64 bits.
    HighWord(Extend),
    /// A part of the low word, grown to 64 bits.
    Part(Select, Extend),
}

impl SelectWide {
    /// The 64-bit table (`none h0 h1 b0 b1 b2 b3 w0 w1`).
    pub(crate) fn table(value: u32, extend: Extend) -> Option<SelectWide> {
        Some(match value {
            0 => SelectWide::Identity,
            8 => SelectWide::Word(extend),
            9 => SelectWide::HighWord(extend),
            _ => SelectWide::Part(Select::word(value, extend)?, extend),
        })
    }

    /// Whether only a 32-bit register is read (so that it may be odd).
    pub(crate) fn reads_one_word(self) -> bool {
        !matches!(self, SelectWide::Identity | SelectWide::HighWord(_))
    }

    /// The selected value of `bits`.
    #[inline]
    pub(crate) fn apply(self, bits: u64) -> u64 {
        let (word, extend) = match self {
            SelectWide::Identity => return bits,
            SelectWide::Word(extend) => (bits as u32, extend),
            SelectWide::HighWord(extend) => ((bits >> 32) as u32, extend),
            SelectWide::Part(select, extend) => (select.apply(bits as u32), extend),
        };
        match extend {
            Extend::Zero => u64::from(word),
            Extend::Sign => word as i32 as i64 as u64,
        }
    }
}

/// Byte `index` (0 to 3) of `bits`.
#[inline]
pub(crate) fn byte(bits: u32, index: u8) -> u8 {
    (bits >> (8 * (index & 3))) as u8
}

/// Half `index` (0 or 1) of `bits`.
#[inline]
pub(crate) fn half(bits: u32, index: u8) -> u16 {
    (bits >> (16 * (index & 1))) as u16
}

fn extend_byte(byte: u8, extend: Extend) -> u32 {
    match extend {
        Extend::Zero => u32::from(byte),
        Extend::Sign => byte as i8 as i32 as u32,
    }
}
