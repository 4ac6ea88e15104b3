//! Selections: which bytes, halves or words of a source an operation sees.
//!
//! A source is fetched as 32 or 64 bits, then the selection picks its parts, then abs and neg apply. Which value of a field
//! means which selection stands in the tables of `eitri_isa`; what a selection does stands here.
//!
//! Facts: hardware/valhall-isa.md 8.1 (order, extension).

use super::lanes::{Lanes, WideLanes};
use eitri_isa as isa;

/// How a narrow lane grows to a wide one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extend {
    /// With zeros.
    Zero,
    /// With copies of the sign.
    Sign,
}

/// A selection out of one source of 32 bits, giving 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
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
    #[inline(always)]
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

    /// Applies the selection to every lane; which one it is is decided once, not in each lane.
    #[inline]
    pub(crate) fn apply_all(self, lanes: &mut Lanes) {
        macro_rules! each {
            ($f:expr) => {
                for bits in lanes.iter_mut() {
                    *bits = $f(*bits);
                }
            };
        }
        match self {
            Select::Identity => {}
            Select::Byte(index, Extend::Zero) => each!(|bits| u32::from(byte(bits, index))),
            Select::Half(index, Extend::Zero) => each!(|bits| u32::from(half(bits, index))),
            Select::Half(index, Extend::Sign) => {
                each!(|bits| half(bits, index) as i16 as i32 as u32);
            }
            Select::Byte(index, Extend::Sign) => {
                each!(|bits| extend_byte(byte(bits, index), Extend::Sign));
            }
            Select::HalfFloat(index) => {
                each!(|bits| super::float::half_to_single(half(bits, index)).to_bits());
            }
            Select::Halves(0, 0) => each!(|bits| Select::Halves(0, 0).apply(bits)),
            Select::Halves(1, 1) => each!(|bits| Select::Halves(1, 1).apply(bits)),
            Select::Halves(1, 0) => each!(|bits| u32::rotate_left(bits, 16)),
            _ => each!(|bits| self.apply(bits)),
        }
    }

    /// What a 32-bit source with this selection gives. `float` sources of 32 bits convert a half; others grow by `extend`.
    ///
    /// `None` for selections that only 64-bit sources and branches have.
    pub(crate) fn of(lanes: isa::Lanes, float_word: bool, extend: Extend) -> Option<Select> {
        Some(match lanes {
            isa::Lanes::Identity => Select::Identity,
            isa::Lanes::Half(half) if float_word => Select::HalfFloat(half),
            isa::Lanes::Half(half) => Select::Half(half, extend),
            isa::Lanes::Byte(byte) => Select::Byte(byte, extend),
            isa::Lanes::Halves([low, high]) => Select::Halves(low, high),
            isa::Lanes::Bytes2([low, high]) => Select::BytesToHalves(low, high, extend),
            isa::Lanes::Bytes4([a, b, c, d]) => Select::Bytes(a, b, c, d),
            isa::Lanes::Word(_) | isa::Lanes::Submatrix(_) | isa::Lanes::Test => return None,
        })
    }
}

/// A selection out of a source of 64 bits, giving 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectWide {
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
    /// What a 64-bit source with this selection gives.
    pub(crate) fn of(lanes: isa::Lanes, extend: Extend) -> Option<SelectWide> {
        Some(match lanes {
            isa::Lanes::Identity => SelectWide::Identity,
            isa::Lanes::Word(0) => SelectWide::Word(extend),
            isa::Lanes::Word(_) => SelectWide::HighWord(extend),
            _ => SelectWide::Part(Select::of(lanes, false, extend)?, extend),
        })
    }

    /// Whether only a 32-bit register is read (so that it may be odd).
    pub fn reads_one_word(self) -> bool {
        !matches!(self, SelectWide::Identity | SelectWide::HighWord(_))
    }

    /// Applies the selection to every lane; which one it is is decided once, not in each lane.
    pub(crate) fn apply_all(self, lanes: &mut WideLanes) {
        macro_rules! each {
            ($f:expr) => {
                lanes.iter_mut().for_each(|bits| *bits = $f(*bits))
            };
        }
        match self {
            SelectWide::Identity => {}
            SelectWide::Word(Extend::Zero) => each!(|bits| bits & 0xffff_ffff),
            SelectWide::Word(Extend::Sign) => each!(|bits| extend_word(bits as u32, Extend::Sign)),
            SelectWide::HighWord(Extend::Zero) => each!(|bits| bits >> 32),
            SelectWide::HighWord(Extend::Sign) => {
                each!(|bits: u64| (bits.cast_signed() >> 32).cast_unsigned());
            }
            SelectWide::Part(select, extend) => {
                let mut words = lanes.map(|bits| bits as u32);
                select.apply_all(&mut words);
                *lanes = words.map(|word| extend_word(word, extend));
            }
        }
    }
}

#[inline(always)]
fn extend_word(word: u32, extend: Extend) -> u64 {
    match extend {
        Extend::Zero => u64::from(word),
        Extend::Sign => word as i32 as i64 as u64,
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
