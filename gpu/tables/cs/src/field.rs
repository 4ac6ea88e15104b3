//! Fields: where they stand in a word, what kind of value they hold, and how a value becomes bits.
//!
//! Guarantees: a value that does not fit is refused, never cut; decoding bits and encoding them again gives the same bits.
//! Facts: hardware/command-stream.md 1.5 and 3 (field tables).

use crate::arch::{Arch, ArchSet};
use crate::register::{Pair, Reg, RegMask};
use crate::scoreboard::{Slot, SlotMask};

/// A sentence of the tables; nothing, and no bytes of a row, without the feature `text`: a driver does not want them in its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence(#[cfg(feature = "text")] &'static str);

impl Sentence {
    #[cfg(feature = "text")]
    pub(crate) const fn new(text: &'static str) -> Sentence {
        Sentence(text)
    }

    #[cfg(not(feature = "text"))]
    pub(crate) const fn new(_: &'static str) -> Sentence {
        Sentence()
    }

    /// What it says.
    #[cfg(feature = "text")]
    pub const fn text(self) -> &'static str {
        self.0
    }

    /// What it says.
    #[cfg(not(feature = "text"))]
    pub const fn text(self) -> &'static str {
        ""
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// An unsigned number.
    Unsigned,
    /// A number in two's complement.
    Signed,
    /// 0 or 1.
    Bool,
    /// One of the named values; others are undefined.
    Enum(&'static EnumInfo),
    /// A 32-bit register.
    Reg,
    /// A 64-bit register pair, even.
    Pair,
    /// A mask of the registers from a base on.
    RegMask,
    /// A scoreboard slot.
    Slot,
    /// A mask of scoreboard slots.
    SlotMask,
    /// A number of bytes, stored as a number of 8-byte instructions.
    Bytes8,
}

/// A set of named values.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumInfo {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub note: Sentence,
    /// Its values, by rising code. Empty without the feature `text`.
    pub values: &'static [EnumValue],
}

/// A named value of a field.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// The bits.
    pub code: u64,
    /// Its name.
    pub name: &'static str,
    /// The word for it in an instruction's text.
    pub word: &'static str,
    /// What it says.
    pub note: &'static str,
}

/// Bits of the instruction word, and the architectures on which the field stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The highest bit.
    pub high: u8,
    /// The lowest bit.
    pub low: u8,
    /// Where it holds.
    pub archs: ArchSet,
}

impl Bits {
    /// The number of bits.
    #[inline]
    pub const fn width(self) -> u8 {
        self.high - self.low + 1
    }

    /// The largest value that the bits can hold.
    #[inline]
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    /// Ones where the field stands in the word.
    #[inline]
    pub const fn mask(self) -> u64 {
        self.max() << self.low
    }

    /// The field's bits of `word`.
    #[inline]
    pub const fn of(self, word: u64) -> u64 {
        word >> self.low & self.max()
    }
}

/// What an instruction does with the register that a field names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The field names no register.
    None,
    /// Reads it.
    Read,
    /// Writes it.
    Write,
}

/// How many registers a field names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As many as its kind says: one or two.
    Kind,
    /// Those of the mask in the named field.
    Mask(&'static str),
    /// As many as the named field counts.
    Count(&'static str),
}

/// When the register that a field names is used at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// When the named field has this value.
    Is(&'static str, u64),
    /// When the named field has another value.
    IsNot(&'static str, u64),
}

/// A field of an instruction: one row of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Where it stands; an architecture that no entry names does not have the field.
    pub bits: &'static [Bits],
    /// What else the row says.
    pub columns: &'static Columns,
    /// What it says.
    pub note: Sentence,
}

/// What a row says of a field beside where it stands. Most rows say one of a few things, which so are in an image once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The value that `Default` gives; written where the architecture has the field.
    pub default: u64,
    /// Whether the register it names is read or written.
    pub access: Access,
    /// How many registers it names.
    pub extent: Extent,
    /// When the register it names is used.
    pub when: When,
}

impl FieldInfo {
    pub(crate) const fn new(
        name: &'static str,
        kind: FieldKind,
        bits: &'static [Bits],
        note: &'static str,
        columns: &'static Columns,
    ) -> FieldInfo {
        FieldInfo {
            name,
            kind,
            bits,
            columns,
            note: Sentence::new(note),
        }
    }

    /// Where the field stands on `arch`; `None` where that has no such field.
    #[inline]
    pub const fn bits(&self, arch: Arch) -> Option<Bits> {
        let mut i = 0;
        while i < self.bits.len() {
            if self.bits[i].archs.contains(arch) {
                return Some(self.bits[i]);
            }
            i += 1;
        }
        None
    }
}

impl Columns {
    /// Of a field that names no register.
    pub(crate) const PLAIN: Columns = Columns {
        default: 0,
        access: Access::None,
        extent: Extent::Kind,
        when: When::Always,
    };

    pub(crate) const fn reads(mut self) -> Columns {
        self.access = Access::Read;
        self
    }

    pub(crate) const fn writes(mut self) -> Columns {
        self.access = Access::Write;
        self
    }

    pub(crate) const fn masked_by(mut self, field: &'static str) -> Columns {
        self.extent = Extent::Mask(field);
        self
    }

    pub(crate) const fn counted_by(mut self, field: &'static str) -> Columns {
        self.extent = Extent::Count(field);
        self
    }

    pub(crate) const fn when(mut self, field: &'static str, value: u64) -> Columns {
        self.when = When::Is(field, value);
        self
    }

    pub(crate) const fn unless(mut self, field: &'static str, value: u64) -> Columns {
        self.when = When::IsNot(field, value);
        self
    }

    pub(crate) const fn default(mut self, value: u64) -> Columns {
        self.default = value;
        self
    }
}

/// A value that a field can hold.
pub(crate) trait Value: Copy + Default {
    const KIND: FieldKind;

    /// The value as bits; a negative number is extended to all 64.
    fn to_bits(self) -> u64;

    /// The value that `width` bits stand for; `None` for bits that mean nothing.
    fn from_bits(bits: u64, width: u8) -> Option<Self>;
}

macro_rules! unsigned {
    ($($ty:ty)*) => { $(
        impl Value for $ty {
            const KIND: FieldKind = FieldKind::Unsigned;

            #[inline]
            fn to_bits(self) -> u64 {
                self.into()
            }

            #[inline]
            fn from_bits(bits: u64, _: u8) -> Option<Self> {
                bits.try_into().ok()
            }
        }
    )* };
}
unsigned!(u8 u16 u32 u64);

macro_rules! signed {
    ($($ty:ty)*) => { $(
        impl Value for $ty {
            const KIND: FieldKind = FieldKind::Signed;

            #[inline]
            fn to_bits(self) -> u64 {
                i64::from(self).cast_unsigned()
            }

            #[inline]
            fn from_bits(bits: u64, width: u8) -> Option<Self> {
                sign_extend(bits, width).try_into().ok()
            }
        }
    )* };
}
signed!(i16 i32);

/// The number that `width` bits in two's complement stand for. `width` is 1 to 64.
#[inline]
pub(crate) const fn sign_extend(bits: u64, width: u8) -> i64 {
    let unused = 64 - width as u32;
    (bits << unused).cast_signed() >> unused
}

/// A newtype over the field's bits: its constructor may refuse, its accessor gives the bits back.
macro_rules! newtype {
    ($($ty:ty, $kind:ident, $raw:ty, $new:expr, $get:expr;)*) => { $(
        impl Value for $ty {
            const KIND: FieldKind = FieldKind::$kind;

            #[inline]
            fn to_bits(self) -> u64 {
                let get: fn(Self) -> $raw = $get;
                get(self).into()
            }

            #[inline]
            fn from_bits(bits: u64, _: u8) -> Option<Self> {
                let new: fn($raw) -> Option<Self> = $new;
                new(bits.try_into().ok()?)
            }
        }
    )* };
}
#[rustfmt::skip]
newtype! {
    Reg,      Reg,      u8,  |bits| Some(Reg::new(bits)),      Reg::number;
    Pair,     Pair,     u8,  Pair::new,                        Pair::number;
    RegMask,  RegMask,  u16, |bits| Some(RegMask::new(bits)),  RegMask::bits;
    Slot,     Slot,     u8,  Slot::new,                        Slot::number;
    SlotMask, SlotMask, u16, |bits| Some(SlotMask::new(bits)), SlotMask::bits;
}

impl Value for bool {
    const KIND: FieldKind = FieldKind::Bool;

    fn to_bits(self) -> u64 {
        self.into()
    }

    fn from_bits(bits: u64, _: u8) -> Option<bool> {
        match bits {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

/// A number of bytes of instructions, a multiple of 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bytes8(u32);

impl Bytes8 {
    /// `bytes`; `None` where that is no multiple of 8.
    pub const fn new(bytes: u32) -> Option<Bytes8> {
        if bytes.is_multiple_of(8) {
            Some(Bytes8(bytes))
        } else {
            None
        }
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u32 {
        self.0
    }
}

impl Value for Bytes8 {
    const KIND: FieldKind = FieldKind::Bytes8;

    fn to_bits(self) -> u64 {
        (self.0 / 8).into()
    }

    fn from_bits(bits: u64, _: u8) -> Option<Bytes8> {
        let words = u32::try_from(bits).ok()?;
        words.checked_mul(8).map(Bytes8)
    }
}
